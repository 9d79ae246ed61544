"""States that may be set: joints closed, nothing in the ground, coordinates within limits, no impossible spin."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from vigym.engine import coordinates
from vigym.engine.errors import InputError, StateError
from vigym.engine.kernels.axis import HIGH, LOW
from vigym.engine.kernels.integrator import MOST_SPIN
from vigym.engine.kernels.step import TICKS
from vigym.engine.model import Model
from vigym.engine.rotation import Array
from vigym.engine.state import State
from vigym.engine.validation import choice, read_only

# What a state set from outside may miss joints (m, rad), gaps (m) and limits by; for small bodies, a part of their size
SLACK, PART = 1e-6, 1e-3
OVERLAP = ("error", "separate", "keep")  # what may be done about colliders and contacts that overlap


def checked_overlap(value: str) -> str:
    """One of OVERLAP; InputError for others."""
    return choice(value, OVERLAP, "overlap", InputError)


def check_state(
    model: Model,
    dt: float,
    state: State,
    limits: tuple[Array, Array] | None,
    env: NDArray[np.int64],
    phi: Array,
    *,
    closed: bool = False,
) -> None:
    """Raise a StateError that names the first thing wrong with the states of the environments numbered `env`.

    limits: bounds and flags of the free axes, as the kernels keep them (len(env), n_axes, ...); None if coordinates may
    be beyond them
    phi: joint coordinates (len(env), n_axes), with their full turns
    closed: the poses were made from joint coordinates, so that no joint can be open
    """
    x, q, _, w = state
    mechanism = model.mechanism
    for name, value in zip("xqvw", state, strict=True):
        for k, i, _ in first(~np.isfinite(value)):  # coordinates so large that poses overflow
            raise StateError(f"{name} of body {mechanism.bodies[i].name!r} of environment {env[k]} is not finite")
    spin, most = (w * w).sum(-1), MOST_SPIN * TICKS / dt
    for k, i in first(spin > most * most):
        raise StateError(
            f"w of body {mechanism.bodies[i].name!r} of environment {env[k]} is {np.sqrt(spin[k, i]):.4g} rad/s; "
            f"dt = {dt:g} s allows {most:.4g}"
        )
    if not closed:
        table = model.joint_table
        error = np.abs(coordinates.rows(table, x, q))
        for k, j, slot in first(~(error <= slot_slacks(model))):
            name = mechanism.joints[table.number[j]].name
            raise StateError(
                f"joint {name!r} of environment {env[k]} is open by {error[k, j, slot]:.3g} "
                f"{'m' if slot < 3 else 'rad'}: set poses that close it, or use set_joint_state"
            )
    g, _ = coordinates.coupling_rows(model, phi)
    slack = slot_slacks(model)[model.joint_table.free][[coupling.follower for coupling in model.couplings]]
    for k, c in first(~(np.abs(g) <= slack)):
        coupling = model.couplings[c]
        raise StateError(
            f"{model.axis_names[coupling.follower]!r} of environment {env[k]} is {g[k, c]:.3g} beyond where coupling "
            f"{coupling.law.name!r} puts it: set coordinates that agree, or use set_joint_state"
        )
    if limits is None:
        return
    bounds, bounded = limits
    allowed = slot_slacks(model)[model.joint_table.free]
    for side, pair, excess in (("lower", LOW, bounds[..., LOW] - phi), ("upper", HIGH, phi - bounds[..., HIGH])):
        for k, a in first((excess > allowed) & (bounded[..., pair] > 0)):
            raise StateError(
                f"{model.axis_names[a]!r} of environment {env[k]} is {excess[k, a]:.3g} beyond its {side} limit"
            )


def too_deep(model: Model, gap: Array) -> NDArray[np.int64]:
    """The first hard contact (row of `gap`, contact) that is deeper in the ground than it may start, if any."""
    return first(~((gap >= -contact_slacks(model)) | model.soft))


def once(function: Callable[[Model], Array]) -> Callable[[Model], Array]:
    """A function of a model that is called once for each, as models do not change."""
    found: WeakKeyDictionary[Model, Array] = WeakKeyDictionary()

    def remembered(model: Model) -> Array:
        if model not in found:
            found[model] = read_only(function(model))
        return found[model]

    return remembered


@once
def contact_slacks(model: Model) -> Array:
    """Allowed error of each contact, m (n_contacts,)."""
    return slacks(model)[[model.bodies[contact.body] for contact in model.mechanism.contacts]]


@once
def slacks(model: Model) -> Array:
    """Allowed error of each body, m; the world is the last one (n_bodies + 1,)."""
    sizes = [np.sqrt(np.trace(body.inertia) / body.mass) for body in model.mechanism.bodies]
    return np.minimum(SLACK, PART * np.array([*sizes, np.inf]))


@once
def slot_slacks(model: Model) -> Array:
    """Allowed error of each slot of the joints, m or rad (n_joints, 6), by the smaller body's size."""
    table, allowed = model.joint_table, slacks(model)
    lengths = np.minimum(allowed[table.child], allowed[table.parent])
    return np.repeat(np.stack([lengths, np.full_like(lengths, SLACK)], -1), 3, axis=-1)


def first(bad: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the indices of the first bad entry as one row, or no row."""
    return np.argwhere(bad)[:1] if np.count_nonzero(bad) else np.zeros((0, bad.ndim), np.int64)
