"""Limits of the velocity of free axes, and motors whose effort falls with speed: closed forms, over scales."""

import numpy as np
import pytest
from scenes import advance

from vigym import Mechanism, MechanismError, Simulator
from vigym.engine import gradients
from vigym.engine.errors import InputError


def wheel(inertia=0.2, **options):
    """A wheel about its centre, without gravity."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("wheel", mass=1.0, inertia=inertia * np.array([0.6, 0.6, 1.0]))
    m.add_joint("axle", "revolute", "world", "wheel", **options)
    return m


def cart(mass=1.0, **options):
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("cart", mass=mass, inertia=mass * np.ones(3))
    m.add_joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0), **options)
    return m


# ------------------------------------------------------------------------------------------------ velocity limits
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("limit", [0.3, 40.0])
def test_a_pushed_cart_keeps_to_its_speed(size, limit):
    """v = min(F t / m, limit), however it is pushed; F back takes it away again at once."""
    sim = Simulator(cart(size, velocity_limit=limit), dt=0.01, compiled=False)
    speeds = []
    for effort in (1.0, -1.0):
        for _ in range(8):
            sim.step(effort=[effort * size * limit / 0.045])  # reached in the fifth step
            speeds.append(sim.joint_velocities()[0, 0] / limit)
    expected = np.minimum([*range(1, 9), 3.5, 2.5, 1.5, 0.5, -0.5, -1.5, -2.5, -3.5], 4.5) / 4.5
    np.testing.assert_allclose(speeds, expected, atol=1e-6)
    advance(sim, 6, effort=[-size * limit / 0.045])
    np.testing.assert_allclose(sim.joint_velocities()[0, 0], -limit, rtol=1e-6)


def test_a_drive_moves_as_fast_as_it_may():
    """A stiff drive to 1 rad at 2 rad/s: there after half a second, without a swing beyond."""
    m = wheel(kp=1e4, kd=1e2, velocity_limit=2.0, armature=0.1)
    sim = Simulator(m, dt=0.01, compiled=False)
    for k in range(45):
        sim.step(target=[1.0])
        assert sim.joint_velocities()[0, 0] <= 2.0 + 1e-9
        if k > 4:
            np.testing.assert_allclose(sim.joint_velocities()[0, 0], 2.0, rtol=1e-6)
    advance(sim, 60, target=[1.0])
    np.testing.assert_allclose(sim.joint_positions()[0, 0], 1.0, atol=1e-4)


def test_momentum_is_kept_and_energy_only_falls():
    """A free body with an arm that is set too fast: the limit takes energy, and no momentum; gravity is off."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("trunk", mass=2.0, inertia=np.diag([0.1, 0.15, 0.2]))
    m.add_body("arm", mass=1.0, inertia=np.diag([0.02, 0.03, 0.01]))
    ends = {"parent_anchor": (0.2, 0, 0.1), "child_anchor": (0, -0.3, 0)}
    m.add_joint("hinge", "revolute", "trunk", "arm", axis=(0, 1, 1), velocity_limit=1.0, **ends)
    sim = Simulator(m, dt=2e-3, compiled=False, tolerance=1e-10)
    sim.set_joint_state([0.3], [4.0])
    momentum, energy = sim.momentum()[0], sim.energy()[0]
    sim.step()
    np.testing.assert_allclose(sim.joint_velocities()[0, 0], 1.0, atol=1e-9)
    np.testing.assert_allclose(sim.momentum()[0], momentum, atol=1e-9)
    # the least energy that this momentum and the rate 1 can have: that of the motion with the arm held, plus 1^2 of the
    # rest; M of the coordinates (trunk, arm) gives it: E = p^2 part + rate^2 / (2 inv(M)_aa)
    inverse = 1.0 / np.linalg.inv(sim.mass_matrix()[0])[-1, -1]
    lost = 0.5 * inverse * (4.0**2 - 1.0**2)
    np.testing.assert_allclose(energy - sim.energy()[0], lost, rtol=2e-2)  # to first order in the step
    before = sim.energy()[0]
    for _ in range(50):
        sim.step(effort=[0.0])
        assert sim.energy()[0] < before + 1e-5
    np.testing.assert_allclose(sim.momentum()[0], momentum, atol=1e-8)


def test_both_limits_of_an_axis_hold():
    """The position's limit stops what the velocity's limit let through; from beyond it the way back is no faster."""
    sim = Simulator(cart(lower=-0.05, upper=0.05, velocity_limit=1.0), dt=0.01, compiled=False)
    advance(sim, 20, effort=[1e3])
    np.testing.assert_allclose(sim.joint_positions()[0, 0], 0.05, atol=1e-7)
    sim.set_joint_state([0.5], [0.0], overlap="keep")
    for _ in range(100):
        sim.step()
        assert sim.joint_velocities()[0, 0] > -1.0
    assert sim.joint_positions()[0, 0] < 0.06


def test_limits_differ_between_environments_and_batch_is_single():
    sim = Simulator(cart(velocity_limit=1.0), dt=0.01, num_envs=3)
    limits = np.array([[0.5], [np.inf], [2.0]])
    sim.set_parameters(velocity_limit=limits)
    np.testing.assert_array_equal(sim.parameter("velocity_limit"), limits)
    advance(sim, 10, effort=[50.0])
    np.testing.assert_allclose(sim.joint_velocities()[:, 0], [0.5, 5.0, 2.0], rtol=1e-6)
    for k in (0, 2):
        alone = Simulator(cart(velocity_limit=limits[k, 0]), dt=0.01)
        advance(alone, 10, effort=[50.0])
        np.testing.assert_array_equal(alone.state.x[0], sim.state.x[k])


# ------------------------------------------------------------------------------------------------ DC motors
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("kp", [0.0, 1e3])
def test_a_motor_runs_up_to_its_no_load_speed(size, kp):
    """At full voltage J dw/dt = stall (1 - w/w0); implicit, w1 = (w0 + h stall/J) / (1 + h stall/(J w0))."""
    stall, top, dt = 0.5 * size, 30.0, 0.02
    sim = Simulator(wheel(0.2 * size, kp=kp * size, effort_limit=stall, no_load_speed=top), dt=dt, compiled=False)
    speed = 0.0
    for _ in range(12):
        sim.step(**({"target": [30.0]} if kp else {"effort": [9.0 * size]}))
        speed = (speed + dt * stall / (0.2 * size)) / (1 + dt * stall / (0.2 * size * top))
        np.testing.assert_allclose(sim.joint_velocities()[0, 0], speed, rtol=1e-5)
    np.testing.assert_allclose(sim.joint_efforts()[0, 0], stall * (1 - speed / top), rtol=1e-4)


def test_a_motor_brakes_what_is_faster_and_reverses():
    """Beyond its no-load speed a motor at full voltage brakes; reversed, it brakes by more than its stall effort."""
    m, dt = wheel(0.2, effort_limit=0.5, no_load_speed=10.0), 0.01
    for effort, sign in ((5.0, 1.0), (-5.0, -1.0)):
        sim = Simulator(m, dt=dt, compiled=False)
        sim.set_joint_state([0.0], [15.0])
        sim.step(effort=[effort])
        speed = (15.0 + sign * dt * 0.5 / 0.2) / (1 + dt * 0.5 / (0.2 * 10.0))
        np.testing.assert_allclose(sim.joint_velocities()[0, 0], speed, rtol=1e-7)
    sim.set_joint_state([0.0], [3.0])
    sim.step(effort=[0.1])  # within what the voltage allows: as any effort
    np.testing.assert_allclose(sim.joint_velocities()[0, 0], 3.0 + dt * 0.1 / 0.2, rtol=1e-7)


def test_curves_differ_between_environments():
    sim = Simulator(wheel(effort_limit=0.5, no_load_speed=10.0), dt=0.01, num_envs=2)
    sim.set_parameters(no_load_speed=[[10.0], [np.inf]])
    np.testing.assert_array_equal(sim.parameter("no_load_speed"), [[10.0], [np.inf]])
    sim.set_joint_state([0.0], [5.0])
    sim.step(effort=[3.0])
    expected = (5.0 + 0.01 * 2.5) / (1 + 0.01 * 0.25), 5.0 + 0.01 * 2.5
    np.testing.assert_allclose(sim.joint_velocities()[:, 0], expected, rtol=1e-7)


# ------------------------------------------------------------------------------------------------ gradients
def arm():
    m = Mechanism(gravity=(0, 0, -9.81))
    m.add_body("upper", mass=1.0, inertia=np.diag([0.02, 0.03, 0.01]))
    m.add_body("lower", mass=0.7, inertia=np.diag([0.01, 0.02, 0.01]))
    limits = {"velocity_limit": 2.0, "effort_limit": 3.0, "no_load_speed": 8.0, "kp": 20.0, "kd": 0.5}
    m.add_joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0), child_anchor=(0, 0, 0.3), **limits)
    ends = {"parent_anchor": (0, 0, -0.3), "child_anchor": (0, 0, 0.2)}
    m.add_joint("elbow", "revolute", "upper", "lower", axis=(1, 0, 0), **ends, **limits)
    return m


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_know_limits_of_speed(compiled):
    """At the velocity limit (shoulder) and on the motor's curve (elbow), against central differences."""
    names = "velocity_limit", "no_load_speed", "effort_limit", "target"
    sim = Simulator(arm(), dt=0.01, compiled=compiled, tolerance=1e-12)
    at = {name: sim.parameter(name)[0] for name in names[:3]} | {"target": np.array([9.0, 3.0])}
    start = np.array([-0.4, 0.2, 2.0, 0.5])

    def after(start, given):
        sim.set_parameters(**{name: given[name] for name in names[:3]})
        sim.set_joint_state(start[:2], start[2:])
        state = np.concatenate([part[0] for part in (sim.state.v, sim.state.w)], -1)
        sim.step(target=given["target"])
        return np.concatenate([sim.state.x[0].ravel(), sim.state.v[0].ravel(), sim.state.w[0].ravel()]), state

    after(start, at)
    assert abs(sim.joint_velocities()[0, 0] - 2.0) < 1e-6  # both are at work
    assert 0 < sim.joint_efforts()[0, 1] < 3.0
    found = sim.gradients(*names)
    slow = gradients.gradients(sim, ["state", *names], np.arange(1))  # as of mechanisms that the kernels do not cover
    for name, value in slow.items():
        close = 1e-5 * np.abs(value).max(initial=1e-2)
        np.testing.assert_allclose(found[name].reshape(value.shape), value, atol=close, err_msg=name)
    rows = np.concatenate([np.r_[12 * i + offset : 12 * i + offset + 3] for offset in (0, 6, 9) for i in range(2)])
    for name in names:
        for k in range(2):
            step = 1e-5 * np.eye(2)[k]
            up, down = (after(start, at | {name: at[name] + sign * step})[0] for sign in (1, -1))
            np.testing.assert_allclose(found[name][0, rows, k], (up - down) / 2e-5, atol=2e-6, err_msg=name)
    for k in range(2):  # rates before the step, along motions that keep the hinges closed
        step = 1e-5 * np.eye(4)[2 + k]
        (up, begun), (down, ended) = (after(start + sign * step, at) for sign in (1, -1))
        way = np.zeros(24)
        for i in range(2):
            way[12 * i + 6 : 12 * i + 12] = (begun - ended)[i] / 2e-5
        np.testing.assert_allclose((found.state[0] @ way)[rows], (up - down) / 2e-5, atol=1e-5)


# ------------------------------------------------------------------------------------------------ errors
def test_what_limits_of_speed_cannot_be():
    with pytest.raises(MechanismError, match="velocity_limit must be > 0"):
        wheel(velocity_limit=0.0)
    with pytest.raises(MechanismError, match="no_load_speed needs the motor's stall effort"):
        wheel(no_load_speed=3.0)
    m = Mechanism()
    m.add_body("a", mass=1.0, inertia=np.eye(3))
    with pytest.raises(MechanismError, match="velocity_limit is not available about three free rotations"):
        m.add_joint("ball", "spherical", "world", "a", velocity_limit=1.0)
    sim = Simulator(cart(), compiled=False)
    with pytest.raises(InputError, match=r"velocity_limit of 'rail' .* cannot be changed"):
        sim.set_parameters(velocity_limit=[1.0])
    assert wheel().replace_joint("axle", velocity_limit=2.0).velocity_limit.tolist() == [2.0]
