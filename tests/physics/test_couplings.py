"""Couplings of joint axes: gears, racks, differentials, mimic joints; closed forms over scales, in trees and loops."""

import numpy as np
import pytest
from scenes import advance

from vigym import Capsule, Mechanism, MechanismError, Simulator, Sphere, inverse_kinematics
from vigym.engine import gradients
from vigym.engine.errors import InputError, StateError

DRIFT = 1e-9


def wheels(*inertias, gravity=(0, 0, 0)):
    """Wheels about their centres, side by side."""
    m = Mechanism(gravity=gravity)
    for k, J in enumerate(inertias):
        m.add_body(f"wheel {k}", mass=1.0, inertia=J * np.array([0.6, 0.6, 1.0]))
        m.add_joint(f"axle {k}", "revolute", "world", f"wheel {k}", parent_anchor=(k, 0, 0))
    return m


def arm(gravity=(0, 0, -9.81), **coupling):
    """A free base with an arm of two hinges and a slider; the second hinge and the slider may follow the first."""
    m = Mechanism(gravity=gravity)
    for k in range(4):
        m.add_body(f"b{k}", mass=1.0 - 0.15 * k, inertia=np.diag([0.01, 0.015, 0.02]) / (1 + k))
    ends = {"parent_anchor": (0.1, 0.02, -0.1), "child_anchor": (-0.1, 0.0, 0.12)}
    m.add_joint("j1", "revolute", "b0", "b1", axis=(0, 1, 0), **ends)
    m.add_joint("j2", "revolute", "b1", "b2", axis=(1, 0, 1), **ends)
    m.add_joint("j3", "prismatic", "b2", "b3", axis=(0, 1, 1), **ends)
    for name, options in coupling.items():
        m.add_coupling(f"{name} follows", name, **options)
    return m


def error(sim):
    """Error of the followers."""
    phi = sim.joint_positions()
    return max(
        np.abs(phi[:, c.follower] - c.law.followed(phi[:, c.leaders])[0]).max(initial=0.0) for c in sim.model.couplings
    )


# ------------------------------------------------------------------------------------------------ gears
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("ratio", [1.0, -4.0, 0.05, 100.0])
def test_geared_wheels_have_the_inertia_of_both(size, ratio):
    """(J1 + n^2 J2) dw/dt = tau1 + n tau2; the teeth pass (tau2 - n J2 dw/dt) on; no energy is lost."""
    m = wheels(0.2 * size, 0.05 * size)
    m.add_coupling("gear", "axle 1", "axle 0", ratio=ratio)
    sim = Simulator(m, dt=0.01, compiled=False)
    efforts = np.array([1.0 * size, -0.3 * size / ratio])
    advance(sim, 20, effort=efforts)
    acceleration = (efforts[0] + ratio * efforts[1]) / (0.2 * size + ratio**2 * 0.05 * size)
    np.testing.assert_allclose(sim.joint_velocities()[0], 0.2 * acceleration * np.array([1.0, ratio]), rtol=1e-7)
    teeth = 0.05 * size * ratio * acceleration - efforts[1]
    np.testing.assert_allclose(sim.coupling_efforts()[0, 0], teeth, rtol=1e-6)
    energy = 0.5 * (0.2 + ratio**2 * 0.05) * size * (0.2 * acceleration) ** 2
    np.testing.assert_allclose(sim.energy()[0], energy, rtol=1e-6)
    assert error(sim) < DRIFT * max(1.0, abs(ratio))


def test_a_rack_lifts_a_weight():
    """A pinion of radius r drives a rack of mass m: (J + m r^2) dw/dt = tau - m g r, exactly, and no drift."""
    m = wheels(0.2, gravity=(0, 0, -9.81))
    m.add_body("rack", mass=3.0, inertia=np.ones(3))
    m.add_joint("rail", "prismatic", "world", "rack", axis=(0, 0, 1))
    m.add_coupling("teeth", "rail", "axle 0", ratio=0.1, offset=0.05)
    sim = Simulator(m, dt=0.005, compiled=False)
    np.testing.assert_allclose(sim.joint_positions()[0, 1], 0.05, atol=1e-12)  # the follower starts where it must
    advance(sim, 40, effort=[4.0, 0.0])
    w = 0.2 * (4.0 - 3.0 * 9.81 * 0.1) / (0.2 + 3.0 * 0.01)
    np.testing.assert_allclose(sim.joint_velocities()[0], [w, 0.1 * w], rtol=1e-6)  # gaps of 1e-10 over the step
    assert error(sim) < DRIFT


def test_a_differential_shares_efforts_alike():
    """carrier = (left + right)/2: both sides get half of its torque, whatever they turn; closed form of two numbers."""
    J, tau = np.array([0.3, 0.1, 0.4]), np.array([1.0, 0.2, -0.1])  # carrier, left, right
    m = wheels(*J)
    m.add_coupling("differential", "axle 0", ["axle 1", "axle 2"], ratio=[0.5, 0.5])
    sim = Simulator(m, dt=0.01, compiled=False)
    advance(sim, 30, effort=tau)
    B = np.array([[0.5, 0.5], [1, 0], [0, 1]])  # speeds of all from those of both sides
    speeds = B @ np.linalg.solve(B.T @ np.diag(J) @ B, B.T @ tau) * 0.3
    np.testing.assert_allclose(sim.joint_velocities()[0], speeds, rtol=1e-7)
    assert error(sim) < DRIFT


def test_chains_of_gears_multiply():
    m = wheels(0.2, 0.1, 0.05)
    m.add_coupling("second", "axle 2", "axle 1", ratio=-3.0)
    m.add_coupling("first", "axle 1", "axle 0", ratio=2.0)
    sim = Simulator(m, dt=0.01, compiled=False)
    advance(sim, 10, effort=[1.0, 0.0, 0.0])
    w = 0.1 / (0.2 + 4 * 0.1 + 36 * 0.05)
    np.testing.assert_allclose(sim.joint_velocities()[0], [w, 2 * w, -6 * w], rtol=1e-7)
    sim.set_joint_state([0.5, 0.0, 0.0], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(sim.joint_positions()[0], [0.5, 1.0, -3.0])
    np.testing.assert_allclose(sim.joint_velocities()[0], [1.0, 2.0, -6.0], rtol=1e-9)


# ------------------------------------------------------------------------------------------------ motion
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_followers_in_a_tree_keep_momentum_energy_and_place(compiled):
    """A free robot without gravity: internal efforts change no momentum; energy drifts as the square of the step."""
    follow = {"j2": {"leader": "j1", "polynomial": (0.1, -1.5, 0.4)}, "j3": {"leader": "j1", "ratio": 0.2}}
    drifts = []
    for dt in (4e-3, 2e-3):
        sim = Simulator(arm((0, 0, 0), **follow), dt=dt, compiled=compiled, tolerance=1e-10)
        sim.set_joint_state([0.3, 0.0, 0.0], [2.0, 0.0, 0.0])
        sim.step()
        energy, momentum, worst = sim.energy()[0], sim.momentum()[0], 0.0
        for _ in range(round((0.2 if compiled else 0.08) / dt)):
            sim.step()
            worst = max(worst, abs(sim.energy()[0] - energy))
            assert error(sim) < DRIFT
        np.testing.assert_allclose(sim.momentum()[0], momentum, atol=1e-9)
        drifts.append(worst / energy)
    assert drifts[0] < 1e-2
    assert drifts[1] < 0.4 * drifts[0]


def test_accelerations_follow_from_the_mass_matrix():
    """M a + bias = efforts + J^T lam with J a = -J' u: the first step from rest, where J' u is zero."""
    sim = Simulator(arm(j2={"leader": "j1", "ratio": -1.5}, j3={"leader": "j2", "ratio": 0.3}), dt=1e-5, compiled=False)
    sim.set_joint_state([0.3, 0.0, 0.0])
    M, bias = sim.mass_matrix()[0], sim.bias_forces()[0]
    sim.step(effort=[0.5, -0.2, 1.0])
    J = np.zeros((2, 9))
    J[0, 6:8], J[1, 7:9] = (1.5, 1.0), (-0.3, 1.0)
    forces = np.array([0, 0, 0, 0, 0, 0, 0.5, -0.2, 1.0]) - bias
    K = np.block([[M, -J.T], [J, np.zeros((2, 2))]])
    expected = np.linalg.solve(K, np.concatenate([forces, np.zeros(2)]))
    np.testing.assert_allclose(
        sim.generalized_velocities()[0] / 1e-5, expected[:9], atol=1e-4 * np.abs(expected[:9]).max()
    )
    np.testing.assert_allclose(sim.coupling_efforts()[0], expected[9:], rtol=1e-4)


def crank(coupled):
    """A four-bar loop whose crank drives a wheel, by a gear; or alone, with the wheel's inertia as armature."""
    m = Mechanism()
    for name, length in (("crank", 0.2), ("rod", 0.5), ("rocker", 0.4)):
        m.add_body(name, mass=1.0, shapes=[Capsule(radius=0.02, length=length)], collide=False)
    y = {"axis": (0, 1, 0)}
    m.add_joint(
        "a", "revolute", "world", "crank", child_anchor=(0, 0, -0.1), **y, armature=0.0 if coupled else 9 * 0.02
    )
    m.add_joint("b", "revolute", "crank", "rod", parent_anchor=(0, 0, 0.1), child_anchor=(0, 0, -0.25), start=1.2, **y)
    m.add_joint("c", "revolute", "rod", "rocker", parent_anchor=(0, 0, 0.25), child_anchor=(0, 0, 0.2), **y)
    m.add_joint("d", "revolute", "world", "rocker", parent_anchor=(0.5, 0, 0), child_anchor=(0, 0, -0.2), **y)
    if coupled:
        m.add_body("wheel", mass=1.0, inertia=[0.02, 0.02, 0.02])
        m.add_joint("e", "revolute", "world", "wheel", axis=(0, 0, 1), parent_anchor=(0, 0, 2))
        m.add_coupling("gear", "e", "a", ratio=3.0)
    return m


@pytest.mark.parametrize(("compiled", "steps"), [(False, 12), pytest.param(True, 150, marks=pytest.mark.slow)])
def test_a_crank_in_a_loop_turns_a_wheel(compiled, steps):
    """A wheel behind a gear is an armature of n^2 J: the same motion, to what the tolerance leaves."""
    geared, plain = (
        Simulator(crank(coupled), dt=2e-3, tolerance=1e-10, compiled=compiled) for coupled in (True, False)
    )
    geared.set_joint_state([*plain.joint_positions()[0], 0.0])
    start = plain.joint_positions()[0, 0]
    for _ in range(steps):
        geared.step(effort=[0.4, 0, 0, 0, 0])
        plain.step(effort=[0.4, 0, 0, 0])
        assert error(geared) < DRIFT
        assert geared.joint_error().max() < 1e-8
    np.testing.assert_allclose(geared.joint_positions()[0, :4], plain.joint_positions()[0], atol=1e-6)
    assert abs(plain.joint_positions()[0, 0] - start) > 100 * 1e-6  # it has moved


def gripper(touching=True):
    """Two fingers on a slide each, one of which follows, and a ball between them that both hold."""
    m = Mechanism()
    for side, x in (("left", -0.06), ("right", 0.06)):
        m.add_body(side, mass=0.1, shapes=[Sphere(radius=0.03)], friction=1.0)
        m.add_joint(f"{side} slide", "prismatic", "world", side, axis=(1, 0, 0), parent_anchor=(x, 0, 1))
    m.add_coupling("mimic", "right slide", "left slide", ratio=-1.0)
    if touching:
        m.add_body("ball", mass=0.2, shapes=[Sphere(radius=0.03)], position=(0.0, 0, 1), friction=1.0)
    return m


@pytest.mark.parametrize(("compiled", "steps"), [(False, 25), pytest.param(True, 250, marks=pytest.mark.slow)])
def test_coupled_fingers_share_the_force_of_their_grip(compiled, steps):
    """10 N on the left finger: 5 N from each side; the ball is held against its weight, and fingers do not drift."""
    sim = Simulator(gripper(), dt=2e-3, compiled=compiled)
    advance(sim, steps, effort=[10.0, 0.0])
    assert error(sim) < DRIFT
    assert abs(sim.state.x[0, 2, 2] - 1.0) < 1e-3
    contacts = sim.contacts(env=0)
    np.testing.assert_allclose(np.abs(contacts.force[:, 0]), 5.0, rtol=1e-3)
    np.testing.assert_allclose(sim.coupling_efforts()[0, 0], -5.0, rtol=1e-3)


def test_batch_is_single_and_limits_of_leaders_hold_followers():
    m = wheels(0.2, 0.05)
    m.replace_joint("axle 0", lower=-0.1, upper=0.1)
    m.add_coupling("gear", "axle 1", "axle 0", ratio=2.0)
    sim = Simulator(m, dt=0.01, num_envs=3)
    efforts = np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 0.5]])
    for _ in range(40):
        sim.step(effort=efforts)
    np.testing.assert_allclose(sim.joint_positions(), [[0.1, 0.2], [0.1, 0.2], [-0.1, -0.2]], atol=1e-7)
    for k in range(3):
        alone = Simulator(m, dt=0.01)
        for _ in range(40):
            alone.step(effort=efforts[k])
        np.testing.assert_array_equal(alone.state.q[0], sim.state.q[k])


# ------------------------------------------------------------------------------------------------ gradients
def test_gradients_go_through_couplings():
    """Derivatives of a step by the efforts, against central differences."""
    m = arm(j2={"leader": "j1", "polynomial": (0.1, -1.5, 0.4)})
    sim = Simulator(m, dt=0.01, compiled=False, tolerance=1e-12)

    sim.set_joint_state([0.3, 0.0, 0.1], [1.0, 0.0, -0.5])
    start = sim.save()

    def after(effort):
        sim.restore(start)
        sim.step(effort=effort)
        return np.concatenate([sim.state.x[0], sim.state.v[0], sim.state.w[0]], -1).ravel()

    at = np.array([0.5, -0.3, 0.8])
    after(at)
    found = sim.gradients().effort[0].reshape(4, 12, 3)[:, [0, 1, 2, 6, 7, 8, 9, 10, 11]].reshape(-1, 3)
    for k in range(3):
        step = 1e-4 * np.eye(3)[k]
        np.testing.assert_allclose(found[:, k], (after(at + step) - after(at - step)) / 2e-4, atol=2e-7)
    assert gradients.gradients(sim, ["state"], np.arange(1))["state"].shape == (1, 48, 48)


# ------------------------------------------------------------------------------------------------ states and errors
def test_states_must_agree_with_couplings():
    m = wheels(0.2, 0.05)
    m.add_coupling("gear", "axle 1", "axle 0", ratio=3.0)
    sim = Simulator(m, dt=0.01, compiled=False)
    advance(sim, 60, effort=[20.0, 0.0])
    assert sim.joint_positions()[0, 1] > 2 * np.pi
    sim.set_state(x=sim.state.x, q=sim.state.q, v=sim.state.v, w=sim.state.w)  # full turns are those of before
    sim.step(effort=[1.0, 0.0])
    assert sim.status.converged.all()
    assert error(sim) < DRIFT
    q = sim.state.q.copy()
    q[0, 1] = [1.0, 0.0, 0.0, 0.0]
    with pytest.raises(StateError, match=r"'axle 1' of environment 0 .* coupling 'gear'"):
        sim.set_state(q=q)


def test_couplings_are_copied_merged_and_checked():
    m = wheels(0.2, 0.05)
    m.add_coupling("gear", "axle 1", "axle 0", ratio=3.0)
    pair = wheels(0.2, 0.05)
    pair.merge(m, prefix="other ", position=(0, 1, 0))
    assert pair.couplings[0].name == "other gear"
    assert pair.couplings[0].follower.joint == "other axle 1"
    assert [c.name for c in m.copy().couplings] == ["gear"]
    with pytest.raises(MechanismError, match="'gear'"):
        m.add_coupling("gear", "axle 0", "axle 1")
    for arguments, message in (
        (("a", "axle 2", "axle 0"), "follower 'axle 2' is no free axis"),
        (("a", "axle 0", "axle 0"), "couples an axis with itself"),
        (("a", "axle 0", []), "leader must be"),
        (("a", "axle 0", "axle 1", np.nan), "ratio"),
        (("a", "axle 0", "axle 1", [1.0, 2.0]), "ratio must be"),
        (("a", "axle 1", "axle 0"), "follows in coupling 'gear' already"),
        (("a", "axle 0", "axle 1"), "leads itself"),
    ):
        with pytest.raises(MechanismError, match=message):
            m.add_coupling(*arguments)
    with pytest.raises(MechanismError, match="polynomial must be"):
        wheels(1.0, 1.0).add_coupling("a", "axle 0", "axle 1", polynomial=[0.0] * 6)
    with pytest.raises(MechanismError, match="leave them out"):
        wheels(1.0, 1.0).add_coupling("a", "axle 0", "axle 1", 2.0, polynomial=[0.0, 1.0])
    with pytest.raises(MechanismError, match="coupling 'gear': joint 'axle 0' turns freely about three axes"):
        m.replace_joint("axle 0", kind="spherical")
    with pytest.raises(InputError, match="nor couplings"):
        inverse_kinematics(m, "wheel 0", position=(0, 0, 0))
