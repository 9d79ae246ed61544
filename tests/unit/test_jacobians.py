"""Every derivative in the kernels against complex steps through the kernels' own source, run on NumPy lanes."""

import numpy as np
import pytest
from hypothesis import given, settings
from mechanisms import DT, Scene, scenes
from rows_of_joints import joint_rows

from vigym import Mechanism, Simulator
from vigym.engine import coordinates
from vigym.engine.joint_table import joint_table
from vigym.engine.kernels import axis, body, circle, contact, integrator, joint, layout, ldu, loop
from vigym.engine.kernels.interior_point import even_arms, factorize, look_back, residual, start, substitute
from vigym.engine.kernels.step import begin_step
from vigym.engine.kernels.store import Group
from vigym.engine.rotation import multiply

STEP = 1e-30
UNKNOWNS = ("V", "wrench", "ca", "cb", "la", "lb", "dry")
FEW = settings(max_examples=25)


def stores(sim: Simulator, lanes: int, dtype: type) -> tuple[Group, Group, Group]:
    """Model, state and scratch with the state of environment 0 in every lane, ready for a first guess."""
    model = sim.model
    m = sim._lanes.constants[0]
    s = layout.state_store(model.features, model.sizes, lanes, 1, dtype)[0]
    t = layout.scratch_store(model.features, model.sizes, lanes, dtype)[0]
    for name in sim._lanes.store.fields:
        setattr(s, name, sim._get(name)[0][..., None])
    begin_step(m, s, t)
    t.h, t.live = sim.dt, 1.0
    start(m, s, t)
    return m, s, t


def simulator(scene: Scene, cone: str = "exact") -> Simulator:
    sim = Simulator(scene.mechanism, dt=DT, cone=cone, compiled=False)
    x, q, v, w = scene.state
    sim.set_state(x=x, q=q, v=v, w=w)
    sim._lanes.set("effort", scene.effort[None, :, None])
    sim._lanes.set("force", scene.force[None])
    sim._lanes.set("torque", scene.torque[None])
    return sim


def newton_direction(m: Group, s: Group, t: Group) -> dict[str, np.ndarray]:
    """The affine direction of all unknowns: what a full step changes."""
    before = {name: getattr(t, name).copy() for name in UNKNOWNS}
    factorize(m, s, t)
    substitute(m, s, t)
    t.lk[...] = 0.0
    t.alpha = 1.0
    contact.direct_contact(m, s, t)
    axis.direct_axis(m, s, t)
    joint.update_joint(m, s, t)
    if m.features.loops:
        ldu.update_loops(m, s, t)
    body.update_body(m, s, t)
    direction = {name: getattr(t, name) - before[name] for name in ("V", "wrench")}
    return direction | {"ca": t.cda, "cb": t.cdb, "la": t.lda, "lb": t.ldb, "dry": t.ddry}


def residuals(m: Group, s: Group, t: Group, even: float) -> None:
    """All residuals, with the arms of joints as even as that."""
    t.even = even
    residual(m, s, t)
    if even:
        look_back(m, s, t)
        even_arms(m, s, t)


def check_newton(scene: Scene, cone: str, even: float = 0.0) -> None:
    """residual + d(residual) direction = 0, row by row; a b + a db + b da = 0, pair by pair (or U o W, circle.py)."""
    sim = simulator(scene, cone)
    m, s, t = stores(sim, 2, float)
    residuals(m, s, t, even)
    before = {name: getattr(t, name).copy() for name in (*UNKNOWNS, "r", "rN", "cr", "lr")}
    g = joint_rows(sim, t)[0]
    d = newton_direction(m, s, t)
    _, complex_s, complex_t = stores(sim, 2, complex)
    for name in UNKNOWNS:
        getattr(complex_t, name)[...] = before[name] + 1j * STEP * d[name]
    residuals(m, complex_s, complex_t, even)
    n = sim.model.n_bodies
    for name in ("r", "rN", "cr", "lr"):
        change = getattr(complex_t, name).imag / STEP
        expected = -before[name]
        if name == "r":  # the last one belongs to the world
            change, expected = change[:n], expected[:n]
        scale = 1.0 + np.abs(expected).max(initial=0.0) + np.abs(d["wrench"]).max() + np.abs(d["ca"]).max(initial=0.0)
        np.testing.assert_allclose(change, expected, rtol=0, atol=1e-8 * scale, err_msg=name)
    # rows that close loops give way by EPSILON h^2 / J of the wrench (loop.py)
    least = min(np.trace(body.inertia) for body in scene.mechanism.bodies)
    give = 2 * loop.EPSILON * DT**2 / least * np.abs(d["wrench"]).max() if m.features.loops else 0.0
    change = joint_rows(sim, complex_t)[0].imag / STEP
    np.testing.assert_allclose(change, -g, rtol=0, atol=1e-8 * (1 + np.abs(d["V"]).max()) + give)
    for a, b, flags in (("ca", "cb", np.ones_like(before["ca"])), ("la", "lb", s.bounded)):
        rough = s.friction[:, 0] > 0 if a == "ca" else None
        if rough is not None:
            flags[:, 1:] = rough[:, None]
        if a == "ca" and cone == "exact":
            numbers = [list(before[a].swapaxes(0, 1)), list(before[b].swapaxes(0, 1))]
            steps = [list(1j * STEP * d[name].swapaxes(0, 1)) for name in (a, b)]
            moved = [[x + dx for x, dx in zip(*pair, strict=True)] for pair in zip(numbers, steps, strict=True)]
            product = np.stack(circle.products(*numbers), 1)
            product = product + np.stack(circle.products(*moved), 1).imag / STEP
        else:
            product = before[a] * before[b] + before[a] * d[b] + before[b] * d[a]
        scale = 1.0 + np.abs(before[a] * d[b]).max(initial=0.0)
        np.testing.assert_allclose(flags * product, 0.0, atol=1e-9 * scale)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"contacts": True},
        {"laws": True},
        {"laws": True, "dry": True},
        {"loops": True},
        {"loops": True, "laws": True, "dry": True},
    ],
    ids=str,
)
def test_newton_direction_solves_the_linearised_equations(parts):
    run = FEW(given(scenes(**parts, consistent=True))(lambda scene: check_newton(scene, "pyramid")))
    run()


@pytest.mark.parametrize("relax", [0.0, 1.0])
def test_newton_direction_of_the_exact_cone(relax, monkeypatch):
    def relaxed(m, s, t):
        begin(m, s, t)
        t.relax = relax

    begin = globals()["begin_step"]
    monkeypatch.setitem(globals(), "begin_step", relaxed)
    run = FEW(given(scenes(contacts=True, consistent=True))(lambda scene: check_newton(scene, "exact")))
    run()


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
def test_newton_direction_far_from_the_first_guess(cone, monkeypatch):
    """Pairs anywhere inside their cones, relaxed contacts."""

    def scattered(m, s, t):
        begin(m, s, t)
        rng = np.random.default_rng(0)
        for name in ("ca", "cb"):
            numbers = getattr(t, name)
            numbers[...] *= rng.uniform(0.5, 2.0, numbers.shape[:-1])[..., None]
        if cone == "exact":
            t.ca[:, 2:] = 0.4 * t.cb[:, 1:2] * rng.uniform(-1, 1, (*t.ca[:, 2:].shape[:-1], 1))
            t.cb[:, 2:] = 0.4 * t.ca[:, 1:2] * rng.uniform(-1, 1, (*t.cb[:, 2:].shape[:-1], 1))
        t.relax = 1.0

    begin = globals()["start"]
    monkeypatch.setitem(globals(), "start", scattered)
    run = FEW(given(scenes(contacts=True, consistent=True))(lambda scene: check_newton(scene, cone)))
    run()


@pytest.mark.parametrize("parts", [{}, {"loops": True}, {"contacts": True}], ids=str)
def test_newton_direction_with_even_arms(parts, monkeypatch):
    """Joints pull, and their forces act at a mean place."""

    def pulled(m, s, t):
        begin(m, s, t)
        t.wrench[...] = 10.0 * np.random.default_rng(0).normal(size=t.wrench.shape[:-1])[..., None]

    begin = globals()["start"]
    monkeypatch.setitem(globals(), "start", pulled)
    run = FEW(given(scenes(**parts, consistent=True))(lambda scene: check_newton(scene, "exact", even=0.7)))
    run()


def test_newton_direction_with_everything():
    run = FEW(
        given(scenes(contacts=True, laws=True, loops=True, consistent=True))(
            lambda scene: check_newton(scene, "pyramid")
        )
    )
    run()


def test_body_block_is_the_derivative_of_its_residual():
    """D of body.move_body, column by column, for a fast spin and a full inertia tensor."""
    mechanism = Mechanism()
    mechanism.add_body("body", mass=1.3, inertia=[[0.3, 0.02, -0.01], [0.02, 0.2, 0.03], [-0.01, 0.03, 0.25]])
    sim = Simulator(mechanism, dt=0.05, compiled=False)
    sim.set_state(q=[[0.5, 0.5, -0.5, 0.5]], v=[[1.0, 2.0, 3.0]], w=[[8.0, -5.0, 11.0]])
    m, s, t = stores(sim, 6, complex)
    for k in range(6):  # lane k moves the next pose along axis k
        om = t.V[0, 3:, k].real
        y = np.eye(6)[k]
        t.V[0, :, k] += 1j * STEP * np.array(integrator.tangent(sim.dt, list(om)).rates(list(y)))
    residual(m, s, t)
    np.testing.assert_allclose(t.r[0].imag / STEP, t.D[0, :, :, 0].real, rtol=1e-12, atol=1e-9)
    # and y is the change of the pose: d(x+) = dx, d(q+) = dth q+ / 2
    np.testing.assert_allclose(t.xn[0].imag / STEP, np.eye(3, 6), atol=1e-14)
    q = t.qn[0, :, 0].real
    for k in range(3):
        np.testing.assert_allclose(t.qn[0, :, 3 + k].imag / STEP, multiply(np.eye(4)[1 + k], q) / 2, atol=1e-14)


@given(scenes(laws=True))
@FEW
def test_joint_directions_span_what_the_joint_leaves_free(scene):
    """S: moving the child along it changes no row of g, and changes the coordinates at rate one."""
    sim = simulator(scene)
    m, s, t = stores(sim, 2, float)
    residual(m, s, t)
    n = sim.model.n_bodies
    for i, tree_joint in enumerate(sim.model.tree.joints):
        if tree_joint is None or not tree_joint.n_free:
            continue
        kt, kr, _ = joint.free(int(m.joint_kind[i]))
        if kr == 3:
            continue  # all rotations are free, S is not stored
        for k in range(tree_joint.n_free):
            y = np.zeros(6)
            S, rho = t.S[i, k, :, 0], t.rho[i, :, 0]
            y[:3] = S if k < kt else -np.cross(S, rho)
            y[3:] = 0 if k < kt else S
            _, cs, ct = stores(sim, 2, complex)
            om = t.V[i, 3:, 0]
            ct.V[i] += 1j * STEP * np.array(integrator.tangent(DT, list(om)).rates(list(y)))[:, None]
            residual(m, cs, ct)
            x, q = np.moveaxis(ct.xn[:n], -1, 0), np.moveaxis(ct.qn[:n], -1, 0)
            rows = coordinates.rows(joint_table([tree_joint], [0], sim.model.bodies, sim.model.first_axis), x, q)
            np.testing.assert_allclose(rows.imag / STEP, 0.0, atol=1e-12)
