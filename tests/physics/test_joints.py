"""Free axes of joints: coordinates and rates, springs, dampers, drives, limits."""

import numpy as np
import pytest
from scenes import GRAVITY, KINDS, advance, angular_momentum, chain, hinge_and_slider, matrix, orders, pendulum
from scipy.spatial.transform import Rotation

from vigym import Mechanism, Simulator

MASS, INERTIA = 2.0, 0.3  # of the slider, and of the wheel about its hinge
BOTH = np.array([INERTIA, MASS])  # what resists on the two axes of hinge_and_slider


# -------------------- read-out


def test_a_read_out_does_not_change_afterwards():
    sim = Simulator(pendulum(), num_envs=4)
    sim.set_joint_state([[1.0]] * 4)
    seen = [sim.joint_positions(), sim.joint_velocities(), *sim.state, *sim.status, sim.joint_error(), sim.energy()]
    before = [np.array(values) for values in seen]
    advance(sim, 5)
    for values, copy in zip(seen, before, strict=True):
        np.testing.assert_array_equal(values, copy)


def test_a_hinge_counts_its_turns():
    # A step turns by h times the velocity that was set, which stays constant, forwards and backwards.
    h, steps = 0.01, 1000
    spin = np.array([10.0, -25.0, 60.0, 1.0])
    sim = Simulator(hinge_and_slider(), dt=h, num_envs=4)
    sim.set_joint_state(np.zeros((4, 2)), np.stack([spin, 0 * spin], -1))
    advance(sim, steps)
    turned = sim.joint_positions()[:, 0]
    np.testing.assert_allclose(turned, steps * h * spin, rtol=1e-9)
    assert np.abs(turned).max() > 50 * 2 * np.pi


def moving_chain(h: float) -> Simulator:
    """A chain with a joint of every kind that flies and turns, all axes moving."""
    sim = Simulator(chain(len(KINDS), KINDS, free=True, gravity=0.0), dt=h, num_envs=2)
    rng = np.random.default_rng(8)
    axes = len(sim.axis_names)
    sim.set_state(w=np.concatenate([rng.normal(size=(2, 1, 3)), np.zeros((2, len(KINDS), 3))], 1))
    sim.set_joint_state(0.3 * rng.normal(size=(2, axes)), rng.normal(size=(2, axes)))
    return sim


def spherical_axes(sim: Simulator) -> np.ndarray:
    """Axes of joints with three free rotations: their rates are not those of their coordinates."""
    prefixes = tuple(f"joint {KINDS.index(kind)}.r" for kind in ("spherical", "ball-slide"))
    return np.array([name.startswith(prefixes) for name in sim.axis_names])


def test_joint_velocities_are_those_that_were_set():
    sim = moving_chain(0.01)
    rng = np.random.default_rng(8)
    rng.normal(size=(2, 1, 3))
    rng.normal(size=(2, len(sim.axis_names)))
    np.testing.assert_allclose(sim.joint_velocities(), rng.normal(size=(2, len(sim.axis_names))), atol=1e-12)


def test_joint_velocities_are_rates_of_joint_positions():
    # (phi1 - phi0) / h, to 1e-15 / h. Slides on turning parents and both axes of the universal joint are among them.
    # Joints with three free rotations report the child's relative angular velocity.
    h = 0.004
    sim = moving_chain(h)
    plain = ~spherical_axes(sim)
    before, q0 = sim.joint_positions(), sim.state.q
    advance(sim, 1)
    rates = (sim.joint_positions() - before) / h
    np.testing.assert_allclose(sim.joint_velocities()[:, plain], rates[:, plain], atol=1e-12)
    for kind in ("spherical", "ball-slide"):
        k = KINDS.index(kind)
        parent, child = k, k + 1  # bodies, after the base
        e0, e1 = (matrix(q[:, parent]).transpose(0, 2, 1) @ matrix(q[:, child]) for q in (q0, sim.state.q))
        turn = Rotation.from_matrix(e0.transpose(0, 2, 1) @ e1).as_rotvec() / h
        rows = [name.startswith(f"joint {k}.r") for name in sim.axis_names]
        axes = sim.model.mechanism.joints[k].basis
        np.testing.assert_allclose(sim.joint_velocities()[:, rows], turn @ axes.T, atol=1e-11)
    # and a state read out and set again has the same velocities
    rates = sim.joint_velocities()
    sim.set_state(*sim.state)
    np.testing.assert_allclose(sim.joint_velocities(), rates, atol=1e-11)


@pytest.mark.parametrize("rate", [1.0, 10.0, 100.0])
def test_a_velocity_that_is_set_brings_its_own_energy(rate):
    # Two hinged links turn as one, without gravity: their energy is the same from the first step on, however far a step
    # turns. Velocities along the tangents at the step's end would gain (h rate)^2 / 4 at once, a quarter at 100 rad/s.
    # What is left is the links' own small motion against each other.
    sim = Simulator(chain(2, "revolute", gravity=0.0), dt=0.01)
    sim.set_joint_state([0.3, 0.0], [rate, 0.0])
    start = sim.energy()
    np.testing.assert_allclose(advance(sim, 20, sim.energy), np.broadcast_to(start, (20, 1)), rtol=1e-4)


def test_rate_of_a_slide_on_a_turntable():
    # An error of published codes. On a table that turns at W, a mass that slides at u along its track
    # has velocity v = u axis + W x r; the rate of the slide is (v - W x r) . axis = u. Without the parent's rotation
    # it would read v . axis = u + (W x r) . axis, which differs since the track does not point along the radius.
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("table", mass=1.0, inertia=(1, 1, 1))
    m.add_body("mass", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("bearing", "revolute", "world", "table", axis=(0, 0, 1))
    m.add_joint("track", "prismatic", "table", "mass", axis=(1, 0, 0), parent_anchor=(0, 0.5, 0))
    for h in (0.01, 0.001):
        sim = Simulator(m, dt=h)
        W, u, s = 2.0, 0.7, 0.4
        sim.set_joint_state([[0.3, s]], [[W, u]])
        c, d = np.cos(0.3), np.sin(0.3)
        r = np.array([s * c - 0.5 * d, s * d + 0.5 * c, 0.0])
        v = u * np.array([c, d, 0.0]) + np.cross([0, 0, W], r)
        np.testing.assert_allclose(sim.state.v[0, 1], v, atol=h * W * (W + u))  # over the step, not at its end
        np.testing.assert_allclose(sim.joint_velocities(), [[W, u]], atol=1e-12)
        before = sim.joint_positions()
        advance(sim, 1)
        rate = (sim.joint_positions() - before) / h
        np.testing.assert_allclose(sim.joint_velocities(), rate, atol=1e-12)


def test_a_universal_joint_transmits_torque_only_across_its_axes():
    # A body hung up at its centre of mass: the change of its angular momentum is h times the joint's torque, whose
    # parts about both axes (the first fixed in the world, the second in the body) are the efforts, and nothing else.
    J = np.array([[0.3, 0.02, -0.03], [0.02, 0.2, 0.01], [-0.03, 0.01, 0.25]])
    m = Mechanism()
    m.add_body("body", mass=1.0, inertia=J)
    m.add_joint("cross", "universal", "world", "body", axis=(1, 0, 0), axis2=(0, 1, 0))
    h = 0.005
    sim = Simulator(m, dt=h, num_envs=4)
    rng = np.random.default_rng(9)
    sim.set_joint_state(rng.uniform(-1, 1, (4, 2)), 3 * rng.normal(size=(4, 2)))
    across = []
    for _ in range(400):
        effort = rng.normal(size=(4, 2))
        L, second = angular_momentum(sim, J), matrix(sim.state.q[:, 0])[:, :, 1]
        advance(sim, 1, effort=effort)
        torque = (angular_momentum(sim, J) - L) / h
        # solved to 1e-8 of weight times radius of gyration, 8.5 N m, and more where it is turned; the difference of
        # momenta of 1 N m s costs 1e-15 / h
        np.testing.assert_allclose(torque[:, 0], effort[:, 0], atol=2e-7)
        np.testing.assert_allclose((torque * second).sum(-1), effort[:, 1], atol=2e-7)
        across.append(torque @ [0, 0, 1.0])
        assert np.abs(matrix(sim.state.q[:, 0])[:, 0, 1]).max() < 1e-9  # a1 . R a2: the axes stay perpendicular
    assert np.abs(across).max() > 0.1


# -------------------- springs, dampers, drives


def test_springs_oscillate_with_their_period():
    # T = 2 pi sqrt(m / k). The potential is taken in the middle of steps, m x'' = -k (x- + 2 x + x+)/4: the discrete
    # solution turns by 2 atan(h w / 2) a step, an error of (h w)^2 / 12, and keeps its size (test_springs.py).
    h, stiffness = 0.005, 30.0
    w = np.sqrt(stiffness / BOTH)
    sim = Simulator(hinge_and_slider(stiffness=stiffness, rest=0.2), dt=h)
    sim.set_joint_state([[0.3, 0.3]])
    steps = 500
    seen = advance(sim, steps, sim.joint_positions)[:, 0].T - 0.2
    for x, rate in zip(seen, w, strict=True):
        k = np.flatnonzero(x[:-1] * x[1:] < 0)
        crossings = h * (k + x[k] / (x[k] - x[k + 1]))
        period = 2 * (crossings[-1] - crossings[0]) / (len(k) - 1)
        # a crossing of a line instead of the curve: (h w)^2 / 8 of a step
        assert abs(period / (2 * np.pi / rate) - 1 - (h * rate) ** 2 / 12) < 0.02 * (h * rate) ** 2 + 1e-5
        peaks = np.abs(x).reshape(2, -1).max(1)
        # at rest is a velocity in the middle of the step before: the peak is (h w)^2 / 8 higher; seen in steps, lower
        np.testing.assert_allclose(peaks, 0.1, rtol=(h * rate) ** 2 / 8 + 1e-6)


def test_dampers_decay_at_first_order():
    # v = v0 exp(-d t / m); implicit: v0 (1 + h d / m)^-n.
    damping, T, v0 = 0.8, 1.0, np.array([2.0, 1.0])
    exact = v0 * np.exp(-damping / BOTH * T)
    errors = []
    for h in (0.02, 0.01, 0.005, 0.0025):
        sim = Simulator(hinge_and_slider(damping=damping), dt=h)
        sim.set_joint_state([[0.0, 0.0]], [v0])
        advance(sim, round(T / h))
        errors.append(np.abs(sim.joint_velocities()[0] - exact))
    # n log(1 + h c) = T c - T c^2 h / 2 + ...: the relative error is T c^2 h / 2, to (h c)^2
    c = damping / BOTH
    np.testing.assert_allclose(errors[-1] / exact, T * c**2 * 0.0025 / 2, rtol=0.05)
    np.testing.assert_allclose(orders(errors), 1.0, atol=0.06)


def test_drives_reach_their_targets():
    # m x'' = kp (target - x) - kd x' - m g: comes to rest at target - m g / kp (the slider is the one with weight).
    # Critically damped or more; the slowest time constant is kd / kp or less, 0.1 s: exp(-20).
    kp, kd = 100.0, 2 * np.sqrt(100.0 * MASS)
    sim = Simulator(hinge_and_slider(gravity=GRAVITY, kp=kp, kd=kd), dt=0.01, num_envs=4)
    target = np.array([[0.5, 0.2], [-2.0, -1.0], [3.0, 0.0], [7.0, 4.0]])  # 7 rad: more than a turn
    advance(sim, 800, target=target)
    np.testing.assert_allclose(sim.joint_positions(), target - [0, MASS * GRAVITY / kp], atol=1e-6)
    np.testing.assert_allclose(sim.joint_velocities(), 0.0, atol=1e-6)


def test_drives_follow_a_target_velocity():
    # kd alone: m v' = kd (u - v) reaches u with the time constant m / kd = 0.2 s. Rates are (phi1 - phi0) / h, exactly
    # u in the end, and so is the wheel's own w.
    h, u = 0.01, np.array([3.0, -2.0])
    sim = Simulator(hinge_and_slider(kd=10.0), dt=h)
    seen = advance(sim, 600, sim.joint_positions, target_velocity=u[None])[:, 0]
    np.testing.assert_allclose((seen[-1] - seen[-2]) / h, u, atol=1e-6)
    np.testing.assert_allclose(sim.joint_velocities()[0], u, atol=1e-6)
    np.testing.assert_allclose(np.abs(sim.state.w[0]).max(), u[0], atol=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("kp", "kd"), [(1e2, 1.0), (1e3, 10.0), (1e4, 10.0), (1e4, 100.0)])
def test_effort_limits_saturate(kp, kd, sign):
    # Far from its target a drive pushes with its limit, and an effort above the limit is cut to it: a constant
    # acceleration limit / m, so v = n h limit / m, for the wheel as for the slider.
    h, steps, limit = 0.01, 50, 1.5
    driven = Simulator(hinge_and_slider(kp=kp, kd=kd, effort_limit=limit), dt=h)
    advance(driven, steps, target=[[sign * 10.0, sign * 10.0]])
    pushed = Simulator(hinge_and_slider(effort_limit=limit), dt=h)
    advance(pushed, steps, effort=[[sign * 1e3, sign * 1e3]])
    expected = sign * limit / BOTH * steps * h
    for sim in (driven, pushed):
        np.testing.assert_allclose(sim.joint_velocities()[0], expected, rtol=1e-6)


def test_a_stiff_drive_is_stable():
    # kp 1e4, kd 1e2 on 0.003 kg m^2 at h = 0.02: explicit, kd h / J = 667 would have to be below 2. It is implicit:
    #   J (e1 - 2 e0 + e-1) / h^2 + kd (e1 - e0) / h + kp e1 = 0
    # in the error e, starting from rest, for the wheel as for the slider.
    h, J, kp, kd = 0.02, 0.003, 1e4, 1e2
    sim = Simulator(hinge_and_slider(inertia=J, mass=J, kp=kp, kd=kd), dt=h, num_envs=4)
    start = np.array([0.01, 0.1, -0.5, 1.0])
    sim.set_joint_state(start[:, None] + np.zeros(2))
    seen = advance(sim, 100, sim.joint_positions)
    last = now = start
    for k in range(10):
        a = J / h**2
        last, now = now, ((2 * a + kd / h) * now - a * last) / (a + kd / h + kp)
        np.testing.assert_allclose(seen[k], np.stack([now, now], -1), atol=1e-9)
    size = np.abs(seen)
    assert (size[1:] <= size[:-1] + 1e-12).all()
    assert size[-1].max() < 1e-9


def test_dry_friction_brakes_and_holds():
    # Moving, it brakes with its full effort: v = v0 - f / m t, until v = 0, where it stays. At rest it holds against
    # any effort up to f, and lets 1 % more through: v = (u - f) / m t.
    h, f = 0.01, 0.6
    sim = Simulator(hinge_and_slider(friction=f), dt=h, num_envs=2)
    v0 = np.array([[1.0, 0.2], [-1.0, -0.2]])
    sim.set_joint_state(np.zeros((2, 2)), v0)
    advance(sim, 20)
    moving = v0 - np.sign(v0) * f / BOTH * 20 * h
    np.testing.assert_allclose(sim.joint_velocities(), moving, atol=1e-6)
    advance(sim, 60)
    assert np.abs(sim.joint_velocities()).max() < 1e-6
    held = sim.joint_positions().copy()
    advance(sim, 50, effort=[[0.99 * f, -0.99 * f], [0.99 * f, 0.99 * f]])
    np.testing.assert_allclose(sim.joint_positions(), held, atol=1e-6)
    advance(sim, 50, effort=[[1.01 * f, -1.01 * f], [1.01 * f, 1.01 * f]])
    slow = 0.01 * f / BOTH * 50 * h
    np.testing.assert_allclose(np.abs(sim.joint_velocities()), [slow, slow], rtol=0.01)


# -------------------- limits


def test_limits_stop_a_hinge_and_a_slider():
    # Inequality on the next pose, like a contact: stops there, never beyond, and stays while something pushes.
    lower, upper = -0.4, 0.7
    sim = Simulator(hinge_and_slider(lower=lower, upper=upper), dt=0.01, num_envs=4)
    rates = np.array([[3.0, 2.0], [-5.0, -1.0], [40.0, 30.0], [-0.5, -0.2]])
    sim.set_joint_state(np.zeros((4, 2)), rates)
    push = np.sign(rates) * [0.5, 1.0]
    seen = advance(sim, 300, sim.joint_positions, effort=push)
    assert seen.min() > lower - 1e-9
    assert seen.max() < upper + 1e-9
    # complementary to the push: 1e-8 J / 0.5 N m
    np.testing.assert_allclose(seen[-1], np.where(rates > 0, upper, lower), atol=2e-8)
    assert np.abs(sim.joint_velocities()).max() < 1e-7
    # and lets go: pulled back for 1 s from rest, a = push / m
    advance(sim, 20, effort=-push)
    moved = np.abs(sim.joint_positions() - seen[-1])
    np.testing.assert_allclose(moved, np.abs(push) / BOTH * 0.2 * 0.21 / 2, rtol=1e-3)


def test_a_pendulum_rests_against_its_limit():
    # Hinge torque of the limit against gravity, swinging in from all heights.
    sim = Simulator(pendulum(lower=0.5, upper=2.5), dt=0.01, num_envs=4)
    sim.set_joint_state([[0.6], [1.2], [2.0], [2.5]])
    seen = advance(sim, 600, sim.joint_positions)
    assert seen.min() > 0.5 - 1e-9
    np.testing.assert_allclose(seen[-1], 0.5, atol=1e-8)
    assert np.abs(sim.joint_velocities()).max() < 1e-7


@pytest.mark.parametrize("angle", [0.5, 2.5, 4.5])
def test_damped_ball_joint_always_loses_energy(angle):
    """Whatever its angle, also beyond half a turn, and with different dampers on its axes."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("ball", mass=1.0, inertia=(0.2, 0.3, 0.25))
    m.add_joint("joint", "spherical", "world", "ball", damping=(0.2, 0.05, 0.1), friction=0.01)
    sim = Simulator(m, dt=0.002, num_envs=8)
    rng = np.random.default_rng(0)
    axis = rng.normal(size=(8, 3))
    sim.set_joint_state(angle * axis / np.linalg.norm(axis, axis=-1, keepdims=True), rng.normal(size=(8, 3)))
    energy = [sim.energy()]
    for _ in range(100):
        advance(sim, 1)
        energy.append(sim.energy())
    # first order: beside the dissipation, energy wobbles by (w h)^2 of itself
    assert (np.diff(energy, axis=0) < 1e-4 * np.array(energy[:-1])).all()
    assert (energy[-1] < 0.95 * energy[0]).all()
