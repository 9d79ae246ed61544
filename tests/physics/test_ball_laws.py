"""Laws of joints with three free rotations, against closed forms: they act on the relative angular velocity, and on
rotations the shorter way round (engine/kernels/ball.py)."""

from typing import Any

import numpy as np
import pytest
from scenes import advance, matrix, orders

from vigym import Mechanism, Simulator

J = 0.01  # kg m^2, of a body with equal moments: its angular velocity along its own axes obeys J w' = torque


def ball(inertia: Any = J, **options: Any) -> Mechanism:
    """A body that turns about its centre of mass."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("body", mass=1.0, inertia=np.broadcast_to(inertia, 3))
    m.add_joint("ball", "spherical", "world", "body", **options)
    return m


def directions(count: int, seed: int) -> np.ndarray:
    v = np.random.default_rng(seed).normal(size=(count, 3))
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


# -------------------- dampers


@pytest.mark.parametrize("law", ["damping", "kd"])
def test_damping_decays_over_many_turns(law):
    # J w' = -d w: w0 exp(-d t/J), whatever the axis and the angle from which it starts. Implicit, (1 + h d/J)^-n: a
    # relative error of T (d/J)^2 h/2; and (h w)^2/4 for the momentum of a wheel that turns far in a step.
    d, T, w0 = 0.005, 4.0, 30.0
    c = d / J
    angles = np.array([0.0, 0.5, 1.5, 2.5, 3.0, 3.0, 3.1, 0.0])
    start, spin = angles[:, None] * directions(8, 1), w0 * directions(8, 2)
    spin[-1], spin[-2] = [w0, 0, 0], w0 * start[-2] / 3.1  # about an axis, and along the rotation itself
    errors = []
    for h in (0.01, 0.005, 0.0025):
        sim = Simulator(ball(**{law: d}), dt=h, num_envs=8)
        sim.set_joint_state(start, spin)
        rate = advance(sim, round(T / h), sim.joint_velocities)
        turned = h * np.linalg.norm(rate, axis=-1).sum(0)
        assert turned.min() > 8 * 2 * np.pi  # w0 (1 - exp(-c T)) / c is 8.3 turns
        errors.append(np.abs(np.linalg.norm(rate[-1], axis=-1) / (w0 * np.exp(-c * T)) - 1).max())
        assert errors[-1] < 1.2 * T * c**2 * h / 2 + (h * w0) ** 2 / 4
        # along the body's axes it has the direction it had
        np.testing.assert_allclose(rate[-1] / np.linalg.norm(rate[-1], axis=-1, keepdims=True), spin / w0, atol=1e-6)
    assert (orders(errors) > 0.8).all()


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_damping_at_all_scales(scale):
    # the same motion if inertia and damping are scaled alike, and what counts as solved
    reference, sim = (
        Simulator(ball(k * np.array([0.01, 0.012, 0.014]), damping=k * 0.005), dt=0.005, tolerance=1e-8 * k)
        for k in (1.0, scale)
    )
    for each in (reference, sim):
        each.set_joint_state([[1.0, 2.0, -2.0]], [[3.0, 10.0, 4.0]])
        advance(each, 400)
    np.testing.assert_allclose(sim.joint_velocities(), reference.joint_velocities(), rtol=1e-4)


@pytest.mark.parametrize("kind", ["spherical", "custom"])
@pytest.mark.parametrize("law", ["damping", "kd"])
def test_the_torque_is_damping_times_angular_velocity(kind, law):
    # At rotations of any size, about any axis, with a damping of its own on each of the child's axes: the change of the
    # angular momentum is -h d w along these axes at the current pose. Solved to 1e-12 N m.
    d, h, n = np.array([1e-3, 4e-3, 2e-3]), 0.005, 64
    rng = np.random.default_rng(0)
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("body", mass=1.0, inertia=(0.01, 0.012, 0.014))
    free: dict[str, Any] = {"axis": (1, 2, 3), "constrained": (1, 0, 0, 0, 0, 0)} if kind == "custom" else {}
    slides = 2 if free else 0
    m.add_joint(
        "ball", kind, "world", "body", orientation=(0.5, 0.1, -0.7, 0.3), **free, **{law: [0.1] * slides + [*d]}
    )
    sim = Simulator(m, dt=h, num_envs=n, tolerance=1e-12)
    phi = np.linspace(0.0, 6.2, n)[:, None] * directions(n, 3)
    start, rates = (np.concatenate([rng.normal(size=(n, slides)), part], -1) for part in (phi, 10 * directions(n, 4)))
    sim.set_joint_state(start, rates)
    axes = m.joints[0].basis  # in the body's frame
    for _ in range(3):
        before = sim.momentum()[:, 3:] - np.cross(sim.state.x[:, 0], sim.momentum()[:, :3])
        R = matrix(sim.state.q[:, 0])
        advance(sim, 1)
        after = sim.momentum()[:, 3:] - np.cross(sim.state.x[:, 0], sim.momentum()[:, :3])
        torque = np.einsum("nji,nj->ni", R, (after - before) / h) @ axes.T
        np.testing.assert_allclose(torque, -d * sim.joint_velocities()[:, slides:], atol=1e-11)


def test_a_drive_follows_a_target_velocity():
    # J w' = kd (u - w): w = u in the end, along the child's axes, over many turns
    u = np.array([3.0, -8.0, 5.0])
    sim = Simulator(ball(kd=0.05, target_velocity=u), dt=0.01)
    advance(sim, 1000)
    np.testing.assert_allclose(sim.joint_velocities()[0], u, atol=1e-6)


def test_a_joint_that_closes_a_loop():
    # A body held at one point by two ball joints, one of which closes a loop: a law counts on either.
    def held(on: str) -> Simulator:
        m = Mechanism(gravity=(0, 0, 0))
        m.add_body("one", mass=1.0, inertia=(0.01, 0.012, 0.014))
        m.add_body("two", mass=1.0, inertia=(0.02, 0.03, 0.04))
        laws = {"damping": [0.01, 0.02, 0.03], "stiffness": [0.2, 0.4, 0.3], "friction": 0.01, "kp": 0.1, "kd": 0.01}
        laws |= {"target": [0.5, -1.0, 0.3], "effort_limit": 0.05}
        m.add_joint("tree", "spherical", "world", "one", **(laws if on == "tree" else {}))
        m.add_joint("weld", "fixed", "one", "two", parent_anchor=(0.1, 0, 0), child_anchor=(-0.1, 0, 0))
        if on == "loop":
            anchors = {"child_anchor": (-0.2, 0, 0)}
            m.add_joint("loop", "spherical", "world", "two", **anchors, **laws)
        sim = Simulator(m, dt=0.005, tolerance=1e-10)
        rates = [[4.0, 10.0, -3.0]] if on == "tree" else [[4.0, 10.0, -3.0] * 2]
        sim.set_joint_state(np.tile([[2.0, 1.0, -1.5]], len(rates[0]) // 3), rates)
        return sim

    tree, loop = held("tree"), held("loop")
    for _ in range(200):
        advance(tree, 1), advance(loop, 1)
        # rows that close loops give way by 1e-8 of the wrench (loop.py)
        np.testing.assert_allclose(loop.state.q, tree.state.q, atol=3e-4)
    assert np.abs(tree.joint_velocities()).max() < 9.0


# -------------------- dry friction


def test_dry_friction_stops_and_holds():
    # J w_k' = -f sign(w_k) along each of the child's axes, until w_k = 0 after J w_k/f, over many turns and at any
    # angle; (h w)^2/6 for the momentum of what turns far in a step, of its first and its last speed
    f, h = 0.02, 0.005
    speeds = np.array([[8.0, 0, 0], [0, -8.0, 0], [4.0, 6.0, -2.0], [8.0, 0.1, -4.0]])
    start = np.array([0.0, 3.0, 2.0, 3.1])[:, None] * directions(4, 5)
    sim = Simulator(ball(friction=f), dt=h, num_envs=4)
    sim.set_joint_state(start, speeds)
    for n in (200, 400, 600):
        advance(sim, 200)
        expected = np.sign(speeds) * np.maximum(np.abs(speeds) - f / J * n * h, 0.0)
        np.testing.assert_allclose(sim.joint_velocities(), expected, atol=8.0 * (8.0 * h) ** 2 / 3 + 1e-5)
    advance(sim, 400)  # all have stopped after 4 s
    advance(sim, 400)
    assert np.abs(sim.joint_velocities()).max() < 1e-6
    held = sim.state.q
    push = 0.99 * f * np.array([1.0, -1.0, 1.0])
    advance(sim, 100, effort=np.tile(push, (4, 1)))
    # what is left of the friction times the slip is 1e-8 N m rad/s at most: it creeps at 1e-8 / 0.01 f
    np.testing.assert_allclose(sim.state.q, held, atol=1e-8 / (0.01 * f) * 100 * h)
    advance(sim, 100, effort=np.tile(1.1 * f * np.array([1.0, -1.0, 1.0]), (4, 1)))
    np.testing.assert_allclose(np.abs(sim.joint_velocities()), 0.1 * f / J * 100 * h, rtol=0.01)


# -------------------- springs, drives and limits


def test_a_spring_passes_its_ridge():
    # Turning by v h a step about the direction of its rotation vector, the body passes half a turn with the potential
    # k pi^2/2, where the torque changes its sign from one step to the next. Each time the energy is off by
    # k pi (v h - 2 s), s in [0, v h] being how far beyond the ridge that step ends: first order, as often one way as
    # the other (unless turns take a whole number of steps, which energy that is lost or won soon changes). Bodies of 64
    # speeds pass it 19 times.
    k, n = 0.02, 64
    axis, speed = np.array([2.0, -1.0, 2.0]) / 3, np.linspace(6.0, 7.0, n)
    spreads = []
    for h in (0.01, 0.005, 0.0025):
        sim = Simulator(ball(stiffness=k, rest=0.4 * axis), dt=h, num_envs=n)
        sim.set_joint_state(np.tile(0.4 * axis, (n, 1)), speed[:, None] * axis)
        start = sim.energy()
        seen = advance(sim, round(20 / h), lambda sim=sim: np.linalg.norm(sim.joint_velocities(), axis=-1))
        assert (h * seen.sum(0) > 14 * 2 * np.pi).all()
        slowest = np.sqrt(speed**2 - k * np.pi**2 / J)  # on the ridge
        np.testing.assert_allclose(np.median(seen.min(0) / slowest), 1.0, rtol=0.05)
        once = k * np.pi * slowest * h
        off = (sim.energy() - start) / once
        assert abs(off.mean()) < 0.5  # 19 times a mean of zero, the standard deviation of the mean being 0.3 or so
        assert np.abs(off).max() < 19 / 2
        spreads.append(np.std(off * once))
    assert (orders(spreads) > 0.5).all()


def test_a_spring_pulls_the_shorter_way():
    # released 3 rad from rest, on either side of half a turn from zero: it swings through rest, not the long way
    axis = np.array([1.0, 2.0, -2.0]) / 3
    sim = Simulator(ball(stiffness=0.1, damping=0.03, rest=3.0 * axis), dt=0.01, num_envs=2)
    sim.set_joint_state([2.5 * axis, (3.5 - 2 * np.pi) * axis])
    rates = advance(sim, 2000, sim.joint_velocities)
    turned = sim.dt * (rates @ axis).sum(0)
    np.testing.assert_allclose(turned, [0.5, -0.5], atol=1e-6)
    np.testing.assert_allclose(sim.joint_positions(), np.tile(3.0 * axis, (2, 1)), atol=1e-6)


def test_a_drive_that_overshoots_half_a_turn_comes_back():
    # target 3 rad, from 2.6 at 8 rad/s: beyond pi, where the rotation vector jumps to -pi, the error goes on smoothly
    axis = np.array([2.0, 1.0, -2.0]) / 3
    sim = Simulator(ball(kp=1.0, kd=0.02), dt=0.005)
    sim.set_joint_state([2.6 * axis], [8.0 * axis])
    rates = advance(sim, 4000, sim.joint_velocities, target=[3.0 * axis])[:, 0] @ axis
    angle = 2.6 + sim.dt * np.cumsum(rates)
    assert np.pi + 0.2 < angle.max() < 4.0
    assert angle[-1] == pytest.approx(3.0, abs=1e-6)
    np.testing.assert_allclose(sim.joint_positions(), [3.0 * axis], atol=1e-6)


def test_a_drive_is_cut_as_a_torque_about_each_axis():
    # far from its target it pushes with its limit along each of the child's axes at the current pose
    h, limit = 0.005, np.array([0.03, 0.02, 0.05])
    sim = Simulator(ball((0.01, 0.012, 0.014), kp=500.0, kd=1.0, effort_limit=limit), dt=h, num_envs=8)
    start = np.linspace(0.0, 3.0, 8)[:, None] * directions(8, 6)
    sim.set_joint_state(start)
    target = np.array([1.5, -1.0, 2.0])
    for _ in range(5):
        before, R = sim.momentum()[:, 3:], matrix(sim.state.q[:, 0])
        advance(sim, 1, target=np.tile(target, (8, 1)))
        torque = np.einsum("nji,nj->ni", R, (sim.momentum()[:, 3:] - before) / h)
        assert (np.abs(torque) < limit + 1e-7).all()
        assert (np.abs(torque) > limit - 1e-5).mean() > 0.7


@pytest.mark.parametrize("options", [{}, {"stiffness": 0.5, "damping": 0.002}, {"friction": 0.005}])
def test_limits_hold(options):
    # pairs on the rotation vector at the next pose, thrown against them from all sides
    lower, upper = np.array([-0.8, -1.0, -0.5]), np.array([0.7, 0.6, 1.2])
    sim = Simulator(ball((0.01, 0.012, 0.014), lower=lower, upper=upper, **options), dt=0.005, num_envs=8)
    sim.set_joint_state(np.zeros((8, 3)), 20 * directions(8, 7))
    seen = advance(sim, 400, sim.joint_positions)
    assert (seen > lower - 1e-9).all()
    assert (seen < upper + 1e-9).all()
    assert np.ptp(seen, axis=0).min() > 0.1
    assert (np.abs(seen - lower).min((0, 1)) < 1e-6).all()  # and all of them are reached
    assert (np.abs(seen - upper).min((0, 1)) < 1e-6).all()


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (-1.0, 2.0),  # corners beyond half a turn, whose shorter way round is beyond the other limits
        (-2.0, 2.0),  # and is within them: there the joint turns on
        ([-1.0, -np.inf, -np.inf], [2.0, np.inf, np.inf]),
    ],
    ids=str,
)
def test_limits_beyond_half_a_turn_hold(lower, upper):
    # nothing is thrown about where the rotation vector is taken the other way round: without friction the energy falls
    # with every impact, and is kept otherwise
    sim = Simulator(ball((0.01, 0.012, 0.014), lower=lower, upper=upper), dt=0.005, num_envs=32)
    sim.set_joint_state(np.zeros((32, 3)), 10 * directions(32, 10))
    positions, energies = [], [sim.energy()]
    for _ in range(1000):
        advance(sim, 1)
        positions.append(sim.joint_positions())
        energies.append(sim.energy())
    assert (np.array(positions) > np.array(lower) - 1e-9).all()
    assert (np.array(positions) < np.array(upper) + 1e-9).all()
    assert (np.diff(energies, axis=0) < 1e-3 * energies[0]).all()
    assert np.linalg.norm(positions, axis=-1).max() > 3.0


# -------------------- all together


LAWS: list[dict[str, Any]] = [
    {},
    {"damping": 1e-4},
    {"friction": 1e-3},
    {"stiffness": 1e-6},
    {"stiffness": 0.02, "rest": [1.0, 0.5, -2.0]},
    {"kd": 1e-4, "effort_limit": 1.0},
    {"kp": 0.1, "kd": 1e-3, "effort_limit": 0.05, "target": [2.0, 2.0, -1.0]},
]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("h", [0.01, 0.002])
def test_no_step_fails(law, h):
    # four speeds at once, tumbling bodies, 5 s; `advance` looks at every step
    sim = Simulator(ball((0.01, 0.012, 0.014), **law), dt=h, num_envs=4)
    sim.set_joint_state(np.zeros((4, 3)), [[10, 0, 0], [10, 0.5, 0.3], [10, 3, 0], [3, 10, 4]])
    energy = advance(sim, round(5 / h), sim.energy)
    if not {"kp", "stiffness"} & law.keys():
        assert (np.diff(energy, axis=0) < 1e-7 + 1e-3 * h * energy[0]).all()
    assert np.linalg.norm(sim.joint_positions(), axis=-1).max() <= np.pi + 1e-12


def test_one_environment_is_as_many():
    # bit for bit, with everything that acts on an axis
    laws: dict[str, Any] = {"damping": 1e-3, "friction": 2e-3, "stiffness": 0.05, "rest": [1.0, 0.5, -2.0], "kp": 0.1}
    laws |= {"kd": 1e-3, "effort_limit": 0.05, "target": [2.0, 2.0, -1.0], "lower": -2.9, "upper": [2.9, 2.5, 2.9]}
    many = Simulator(ball((0.01, 0.012, 0.014), **laws), num_envs=7)
    start, rates = 1.4 * directions(7, 8), 10 * directions(7, 9)
    many.set_joint_state(start, rates)
    alone = [Simulator(ball((0.01, 0.012, 0.014), **laws)) for _ in range(7)]
    for k, sim in enumerate(alone):
        sim.set_joint_state(start[k : k + 1], rates[k : k + 1])
    for _ in range(150):
        many.step()
        for k, sim in enumerate(alone):
            sim.step()
            np.testing.assert_array_equal(many.state.q[k], sim.state.q[0])
            np.testing.assert_array_equal(many.joint_positions()[k], sim.joint_positions()[0])
    assert many.status.converged.all()


def test_positions_are_the_shorter_way_round():
    # set with more than half a turn, and passing half a turn
    axis = np.array([2.0, -1.0, 2.0]) / 3
    sim = Simulator(ball(damping=1e-9), dt=0.01, num_envs=2)
    sim.set_joint_state([4.0 * axis, 3.1 * axis], [0 * axis, 10.0 * axis])
    np.testing.assert_allclose(sim.joint_positions()[0], (4.0 - 2 * np.pi) * axis, atol=1e-12)
    advance(sim, 1)
    np.testing.assert_allclose(sim.joint_positions()[1], (3.2 - 2 * np.pi) * axis, atol=1e-6)
    np.testing.assert_allclose(sim.joint_velocities()[1], 10.0 * axis, atol=1e-5)
