"""Derivatives of the last step by the implicit function theorem: at the solution, K dy = -d(residual)/d(input).

This is the way that covers everything, and takes thousands of steps' time; derivatives.py asks for it where the
compiled kernels (linearised.py) do not know what a mechanism, or a step, has. The kernels run uncompiled here, with one
LANE per input: first on complex numbers, where an imaginary step of one input gives the derivative of every residual
exactly; then on real numbers, where the same elimination that solves a step solves for all inputs at once. One more
lane, without any step, is the zero that is subtracted.

A step with a rebound is three solves (kernels/impact.py): what depends on the unknowns of one is perturbed with them in
the next.
"""

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from vigym.engine.inputs import entries
from vigym.engine.inputs import size as size_of
from vigym.engine.kernels import body, cone, contact, impact, integrator, joint, layout
from vigym.engine.kernels.interior_point import even_arms, factorize, look_back, measure, residual, start, substitute
from vigym.engine.kernels.linear import blunt_axis, blunt_contact
from vigym.engine.kernels.quaternion import matrix, matvec, store
from vigym.engine.kernels.step import begin_step
from vigym.engine.kernels.store import Group
from vigym.engine.recalled import copy_contacts, recall_contacts
from vigym.engine.rotation import Array, conjugate, multiply, rotate, rotation_matrix
from vigym.engine.twin import Stepped

STEP = 1e-30
ROUNDING = 1e-6  # by so much, the solver's accuracy lowers rebounds with a restitution of 1
RESIDUALS = ("r", "delta", "rN", "cr", "lr")
MOST_LANES = 2048  # that run at once: what they need of memory grows with their number
BEFORE = ("x", "q", "v", "w", "h0", "angle", "rate", "struck")  # whose values before the last step are kept
UNKNOWNS = ("wrench", "ca", "cb", "la", "lb", "dry")

OF_MODEL = ("point", "radius")  # fields that all environments share

Step = tuple[str, int, int]  # one input: a field, an entity of it, a column
Stores = Sequence[tuple[Group, Group]]  # state and scratch: of complex numbers, of real ones
INTEGERS = ("room", "columns_of")  # of the state store, which are not of environments


def gradients(sim: Stepped, names: Sequence[str], envs: NDArray[np.int64]) -> dict[str, Array]:
    """Derivatives of the last step of the environments `envs` by "state" and by the inputs `names`: (len(envs),
    12 n_bodies + n_due, numbers of the input), each as the state store has it; of the next state, then of impulses of
    which a rebound is due after the step."""
    bodies, due = 12 * sim.model.n_bodies, size_of(sim.model, "due_impulse")
    steps = {name: entries(sim.model, name) for name in names if name != "state"}
    flat = [step for group in steps.values() for step in group]
    fields = {name: sim._get(name) for name in sim._lanes.store.fields if name not in INTEGERS}
    columns = np.zeros((len(envs), bodies + due, bodies + len(flat)))
    size = 1 if sim.model.touches else max(1, MOST_LANES // (columns.shape[-1] + 1))
    for first in range(0, len(envs), size):
        part = envs[first : first + size]
        some = {name: value[part] for name, value in fields.items()}
        columns[first : first + size] = _columns(sim, int(part[0]), some, flat)
    ends = np.cumsum([bodies, *map(len, steps.values())])
    return dict(zip(["state", *steps], np.split(columns, ends[:-1], axis=-1), strict=True))


def lowered(sim: Stepped) -> NDArray[np.bool_]:
    """Return whether the last rebound of each environment (num_envs,) was lowered by the guard of impact.py."""
    return (sim._get("rebounds") > 0) & (sim._get("factor") < 1.0 - ROUNDING).any((1, 2))


def _columns(sim: Stepped, first: int, fields: dict[str, Array], steps: Sequence[Step]) -> Array:
    """Derivatives of the next state of some environments, from number `first` on, by all inputs, (environments,
    12 n_bodies + n_due, inputs). Those whose bodies may touch come one at a time: each has contacts of its own."""
    model, envs = sim.model, len(fields["x"])
    n, inputs = model.n_bodies, 12 * model.n_bodies + len(steps)
    lanes = envs * (inputs + 1)
    m = sim._lanes.constants[0]
    stores = []
    for dtype in (complex, float):
        s = layout.state_store(model.features, model.sizes, lanes, 1, dtype)[0]
        t = layout.scratch_store(model.features, model.sizes, lanes, dtype)[0]
        before(s, fields, inputs + 1)
        stores.append((s, t))
    (s, t), (real_s, real_t) = stores
    if model.touches:
        recall_contacts(sim._lanes, first, m, real_s, real_t)
        copy_contacts(real_t, t)
    moved = perturb(m, s, steps)
    with np.errstate(all="ignore"):
        begin_step(m, s, t)
        move_coordinates(m, s, t)
        for phase in impact.SOLVES if fields["rebounds"].any() else impact.SOLVES[-1:]:
            differentiate((moved, m), stores, phase, sim.dt, fields, inputs + 1)
            if phase.prefix:
                pass_on(m, stores, phase.prefix, inputs + 1)
    out = np.zeros((lanes, n, 12))
    for i in range(n):
        out[:, i] = next_state(s, t, real_t, i)
    rows = [out.reshape(lanes, -1)]
    if model.features.bounce:
        contact.direct_contact(m, real_s, real_t)
        begun = lanes_of(fields["struck"], inputs + 1)[:, 0] > 0
        rows.append(np.where(begun, sim.dt * real_t.cda[:, cone.NORMAL], 0.0).T)
    columns = np.concatenate(rows, -1).reshape(envs, inputs + 1, -1)
    return np.swapaxes(columns[:, :-1] - columns[:, -1:], 1, 2)


def differentiate(
    models: Sequence[Group], stores: Stores, phase: impact.Phase, dt: float, fields: dict[str, Array], times: int
) -> None:
    """Solve for the changes of all unknowns, at the solution of one phase of the last step (of the step itself in
    environments without a rebound)."""
    (_, t), (real_s, real_t) = stores
    for m, (state, scratch) in zip(models, stores, strict=True):
        begin_step(m, state, scratch)
        scratch.h, scratch.live = dt, 1.0
        start(m, state, scratch)
        if m.features.bounce:
            scratch.phase = np.where(state.rebounds.real > 0, phase.number, impact.ORDINARY)
            impact.find_impacts(m, state, scratch)
            impact.start_rebound(m, state, scratch)
        at_solution(state, scratch, fields, times)
        if phase.prefix:
            at_kept(state, scratch, phase.prefix)
        residual(m, state, scratch)
        if scratch.even.any():
            look_back(m, state, scratch)
            even_arms(m, state, scratch)
        measure(m, state, scratch)
    for name in (*RESIDUALS, "touch_cr") if m.features.touches else RESIDUALS:
        setattr(real_t, name, getattr(t, name).imag / STEP)
    blunt_contact(m, real_s, real_t)
    blunt_axis(m, real_s, real_t)
    factorize(m, real_s, real_t)
    substitute(m, real_s, real_t)


def at_kept(s: Group, t: Group, prefix: str) -> None:
    """Put the unknowns where an earlier phase of a rebound found them."""
    rebounds = s.rebounds.real > 0
    for name in ("V", *UNKNOWNS):
        kept = getattr(s, f"{prefix}_{name}").real
        if name in ("la", "lb"):  # pairs that take no part are not kept
            kept = np.where(kept > 0, kept, 1.0)
        setattr(t, name, np.where(rebounds, kept, getattr(t, name)))
    for name in ("ca", "cb") if s.features.touches else ():
        kept = getattr(t, f"kept_{prefix}_{name}").real
        setattr(t, f"touch_{name}", np.where(rebounds, kept, getattr(t, f"touch_{name}")))


def pass_on(m: Group, stores: Stores, prefix: str, times: int) -> None:
    """Perturb what a phase has kept as its unknowns change: velocities, and the numbers of contacts."""
    (s, t), (real_s, real_t) = stores
    contact.direct_contact(m, real_s, real_t)
    V = np.array([body.tangent(real_t, i).rates(list(real_t.y[i])) for i in range(m.n_bodies)])
    for name, change in (("V", V), ("ca", real_t.cda), ("cb", real_t.cdb)):
        move(s, f"{prefix}_{name}", change, times)
    for name in ("ca", "cb") if m.features.touches else ():
        move(t, f"kept_{prefix}_{name}", getattr(real_t, f"touch_cd{name[1]}"), times)


def move(store: Group, name: str, change: Array, times: int) -> None:
    """Perturb a field by a change, less that of the lane without a perturbation."""
    by_env = change.reshape(*change.shape[:-1], change.shape[-1] // times, times)
    step = (by_env - by_env[..., -1:]).reshape(change.shape)
    setattr(store, name, getattr(store, name).real + 1j * STEP * step)


def lanes_of(value: Array, times: int) -> Array:
    """(environments, ...) repeated for every input, lane last."""
    return np.moveaxis(np.repeat(value, times, axis=0), 0, -1)


def before(s: Group, fields: dict[str, Array], times: int) -> None:
    """The state before the last step, and everything that went into it."""
    for name, value in fields.items():
        setattr(s, name, lanes_of(value, times))
    for name in BEFORE:
        setattr(s, name, getattr(s, f"old_{name}"))


def perturb(m: Group, s: Group, steps: Sequence[Step]) -> Group:
    """An imaginary step of input k in lane k of every environment; returns the model with those that are its."""
    inputs = 12 * len(s.x) + len(steps)
    for i in range(len(s.x)):
        for k in range(3):
            lanes = [slice(12 * i + part + k, None, inputs + 1) for part in (0, 3, 6, 9)]
            s.x[i, k, lanes[0]] += 1j * STEP
            half = 0.5 * np.eye(4)[1 + k]
            s.q[i, :, lanes[1]] += 1j * STEP * multiply(s.q[i, :, lanes[1]].real.T, half).T
            s.v[i, k, lanes[2]] += 1j * STEP
            s.w[i, k, lanes[3]] += 1j * STEP
    moved, lanes = copy(m), s.h0.size
    for k, (name, entity, column) in enumerate(steps):
        lane = slice(12 * len(s.x) + k, None, inputs + 1)
        if name == "h0":
            length = s.h0
            length[lane] += 1j * STEP
            s.h0 = length
        elif name in OF_MODEL:
            if getattr(moved, name) is getattr(m, name):
                moved.__dict__[name] = np.repeat(getattr(m, name)[..., None] + 0j, lanes, axis=-1)
            getattr(moved, name)[entity, column, lane] += 1j * STEP
        else:
            getattr(s, name)[entity, column, lane] += 1j * STEP
    return moved


def move_coordinates(m: Group, s: Group, t: Group) -> None:
    """Joint coordinates and rates before the step move with the perturbed state: steps begin from there. (Three free
    rotations are read from the poses by the kernels.)"""
    now = coordinates_at(m, t, s.x, s.q)
    poses = [pose_before(s, i) for i in range(m.n_bodies)]
    earlier = coordinates_at(m, t, [x for x, _ in poses], [q for _, q in poses])
    for a, coordinate in now.items():
        moved = np.imag(coordinate)
        s.angle[a, 0] += 1j * moved
        s.rate[a, 0] += 1j * (moved - np.imag(earlier[a])) / s.h0.real


def coordinates_at(m: Group, t: Group, x: Sequence[Array], q: Sequence[Array]) -> dict[int, Array]:
    """The joint coordinates at some poses, by axis, but those of three free rotations; angles are not unwound."""
    for i in range(m.n_bodies):
        t.xn[i], t.qn[i] = x[i], q[i]
        store(t.Rn[i], matrix(list(q[i])))
    found: dict[int, Array] = {}
    for i in range(m.n_joints):
        kind = int(m.joint_kind[i])
        if not joint.is_floating(kind):
            kt, kr, _ = joint.free(kind)
            _, _, lengths = joint.translation(kt, m, t, i)
            _, _, angles = joint.rotation(kr, True, m, t, i)
            found |= {m.first_axis[i] + k: value for k, value in enumerate(lengths + angles)}
    return found


def pose_before(s: Group, i: int) -> tuple[Array, Array]:
    """The pose from which body i came."""
    om = matvec(matrix(list(s.q[i])), list(s.w[i]))
    back = [-value for value in s.v[i]], [-value for value in om]
    x, q = integrator.advance(s.h0.real, (list(s.x[i]), list(s.q[i])), back)
    return np.array(x), np.array(q)


def at_solution(s: Group, t: Group, fields: dict[str, Array], times: int) -> None:
    """Put the unknowns where the last step found them."""
    for name in UNKNOWNS:
        setattr(t, name, getattr(s, name))
    if s.features.touches:
        t.touch_ca, t.touch_cb = t.kept_ca, t.kept_cb
    t.relax, t.even = 0.0, s.even.real
    t.V = lanes_of(np.concatenate([fields["v"], rotate(fields["q"], fields["w"])], -1), times)


def next_state(s: Group, t: Group, real: Group, i: int) -> Array:
    """d(x, rotation, v, w) of body i after the step, one row a lane: the direct part plus the one through V."""
    y, om = real.y[i], real.V[i, 3:]
    dV = np.array(body.tangent(real, i).rates(list(y)))
    q, dq = real.qn[i].T, t.qn[i].imag.T / STEP
    R = rotation_matrix(real.q[i].T)  # before the step
    dx = t.xn[i].imag / STEP + y[:3]
    direct = 2.0 * multiply(conjugate(q), dq)[:, 1:]
    turned = direct + rotate(conjugate(q), y[3:].T)
    # w = R^T om: R turns with the perturbation of q
    spin = np.einsum("kjl,jl->kl", t.R[i].imag.transpose(1, 0, 2) / STEP, om)
    dw = spin.T + np.einsum("lji,jl->li", R, dV[3:])
    return np.concatenate([dx.T, turned, dV[:3].T, dw], -1)
