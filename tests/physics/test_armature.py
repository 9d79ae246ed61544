"""Rotors on the free axes of joints: reflected inertia, in closed form, and against MuJoCo."""

import numpy as np
import pytest

import vigym
from vigym import Mechanism, MechanismError, Simulator
from vigym.engine.errors import InputError

ROTOR = 0.3


def pendulum(armature=ROTOR, **options):
    """A point-like bob of 1 kg at 0.5 m below the origin: inertia about the hinge 0.25 + 0.01 kg m^2."""
    m = Mechanism(gravity=(0, 0, -9.81))
    m.add_body("bob", mass=1.0, inertia=np.diag([0.01] * 3))
    hinge = {"axis": (0, 1, 0), "child_anchor": (0, 0, 0.5), "armature": armature}
    m.add_joint("hinge", "revolute", "world", "bob", **hinge, **options)
    return m


def tree(first=0.02, second=0.5):
    """A free base with an arm of two hinges, a slider and a ball joint."""
    m = Mechanism(gravity=(0, 0, -9.81))
    for k in range(5):
        m.add_body(f"b{k}", mass=1.0 - 0.15 * k, inertia=np.diag([0.01, 0.015, 0.02]) / (1 + k))
    ends = {"parent_anchor": (0.1, 0.02, -0.1), "child_anchor": (-0.1, 0.0, 0.12)}
    m.add_joint("j1", "revolute", "b0", "b1", axis=(0, 1, 0), armature=first, **ends)
    m.add_joint("j2", "revolute", "b1", "b2", axis=(1, 0, 1), armature=second, **ends)
    m.add_joint("j3", "prismatic", "b2", "b3", axis=(0, 1, 1), armature=3 * second, **ends)
    m.add_joint("j4", "spherical", "b3", "b4", armature=first, **ends)
    return m


def moving(m, dt, compiled=False, seed=0):
    rng = np.random.default_rng(seed)
    sim = Simulator(m, dt=dt, compiled=compiled, tolerance=1e-10)
    n = len(sim.axis_names)
    sim.set_joint_state(rng.uniform(-0.5, 0.5, n), rng.normal(size=n))
    return sim


def test_small_swings_have_the_period_of_both_inertias():
    """w^2 = m g l / (J + m l^2 + armature); 2 atan(h w / 2) a step is (h w)^2/12 from that."""
    sim = Simulator(pendulum(), dt=1e-3, compiled=False)
    w = np.sqrt(9.81 * 0.5 / (0.26 + ROTOR))
    sim.set_joint_state([1e-4])
    angles = []
    for _ in range(200):
        sim.step()
        angles.append(sim.joint_positions()[0, 0])
    times = 1e-3 * (np.arange(200) + 1)
    # started at rest over the step before: its turning point is half a step back
    expected = 1e-4 * (np.cos(w * times) - 0.5e-3 * w * np.sin(w * times))
    np.testing.assert_allclose(angles, expected, atol=1e-4 * 1e-5)


def test_a_driven_wheel_accelerates_by_both_inertias_exactly():
    """A wheel about its centre: rate = effort t / (J + armature), to rounding, at any step."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("wheel", mass=1.0, inertia=np.diag([0.1, 0.1, 0.2]))
    m.add_joint("axle", "revolute", "world", "wheel", armature=1.8)
    sim = Simulator(m, dt=0.02, compiled=False)
    for _ in range(10):
        sim.step(effort=[3.0])
    np.testing.assert_allclose(sim.joint_velocities()[0, 0], 3.0 * 0.2 / 2.0, rtol=1e-9)
    np.testing.assert_allclose(sim.joint_efforts()[0, 0], 3.0, rtol=1e-9)  # the rotor's inertia is no effort
    np.testing.assert_allclose(sim.energy(), 0.5 * 2.0 * 0.3**2, rtol=1e-9)


def test_a_slider_with_a_rotor_falls_by_its_share():
    m = Mechanism(gravity=(0, 0, -9.81))
    m.add_body("cart", mass=2.0, inertia=np.eye(3))
    m.add_joint("rail", "prismatic", "world", "cart", armature=6.0)
    sim = Simulator(m, dt=0.01, compiled=False)
    for _ in range(5):
        sim.step()
    np.testing.assert_allclose(sim.joint_velocities()[0, 0], -9.81 * 0.05 / 4, rtol=1e-9)


def test_energy_is_kept_to_second_order_and_momentum_exactly():
    """Drift of the energy over a given time falls by four with half the step; rotors exchange no momentum."""
    drifts = []
    for dt in (4e-3, 2e-3):
        m = tree()
        m.gravity = (0, 0, 0)
        sim = moving(m, dt)
        sim.step()
        energy, momentum = sim.energy()[0], sim.momentum()[0]
        worst = 0.0
        for _ in range(round(0.12 / dt)):
            sim.step()
            worst = max(worst, abs(sim.energy()[0] - energy))
        np.testing.assert_allclose(sim.momentum()[0], momentum, atol=1e-9)
        drifts.append(worst / energy)
    assert drifts[0] < 1e-3
    assert drifts[1] < 0.4 * drifts[0]


def test_mass_matrix_holds_the_energy_of_rotors():
    sim = moving(tree(), 1e-3)
    u, M = sim.generalized_velocities()[0], sim.mass_matrix()[0]
    plain = moving(tree(0.0, 0.0), 1e-3)
    rotors = [0.02, 0.5, 1.5, 0.02, 0.02, 0.02]
    np.testing.assert_allclose(M - plain.mass_matrix()[0], np.diag([0.0] * 6 + rotors), atol=1e-12)
    np.testing.assert_allclose((sim.energy() - plain.energy())[0], 0.5 * (rotors * u[6:] ** 2).sum(), rtol=1e-9)


@pytest.mark.parametrize("second", [0.5, 1e4])
def test_accelerations_are_those_of_mujoco(second):
    """At h = 1e-5 the change of the velocities over a step is mj_forward's acceleration; a rotor may be far heavier
    than the link that it drives."""
    mujoco = pytest.importorskip("mujoco")
    m, dt = tree(second=second), 1e-5
    sim = moving(m, dt)
    rates = sim.generalized_velocities()[0]
    M, bias = sim.mass_matrix()[0], sim.bias_forces()[0]
    model = mujoco.MjModel.from_xml_string(vigym.to_mjcf(m))
    np.testing.assert_allclose(np.sort(model.dof_armature), np.sort([0.0] * 6 + [0.02] * 4 + [second, 3 * second]))
    effort = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.1])
    sim.step(effort=effort)
    found = (sim.generalized_velocities()[0] - rates) / dt
    expected = np.linalg.solve(M, np.concatenate([np.zeros(6), effort]) - bias)
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())
    data = mujoco.MjData(model)
    x, q = sim.state.x[0], sim.state.q[0]
    data.qpos[:7] = [*x[0], *q[0]]
    names = [model.joint(k).name for k in range(model.njnt)]
    positions = sim.joint_positions()[0]
    for k, name in enumerate(n for n in names if n.split()[0] in ("j1", "j2", "j3")):
        data.joint(name).qpos[0] = positions[k]
    ball = vigym.engine.rotation.from_rotation_vector(positions[3:])
    data.joint(next(n for n in names if n.startswith("j4"))).qpos[:] = ball
    data.qvel[:6] = rates[:6]
    data.qvel[6:] = rates[6:]
    data.qfrc_applied[6:] = effort
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.qacc, expected, atol=1e-3 * np.abs(expected).max())


def test_rotors_differ_between_environments_and_batch_is_single():
    sim = Simulator(pendulum(), dt=0.01, num_envs=3)
    rotors = np.array([[0.1], [0.3], [2.0]])
    sim.set_parameters(armature=rotors)
    np.testing.assert_array_equal(sim.parameter("armature"), rotors)
    sim.set_joint_state([1.0])
    for _ in range(20):
        sim.step()
    for k, rotor in enumerate(rotors[:, 0]):
        alone = Simulator(pendulum(rotor), dt=0.01)
        alone.set_joint_state([1.0])
        for _ in range(20):
            alone.step()
        np.testing.assert_array_equal(alone.state.x[0], sim.state.x[k])
        np.testing.assert_array_equal(alone.energy()[0], sim.energy()[k])


def test_gradients_know_rotors():
    """Derivatives by the state, the effort and the armature, against central differences."""
    sim = Simulator(pendulum(damping=0.1), dt=0.01, compiled=False, tolerance=1e-12)

    def after(angle, rate, effort, rotor):
        sim.set_parameters(armature=[rotor])
        sim.set_joint_state([angle], [rate])
        sim.step(effort=[effort])
        return np.concatenate([sim.state.x[0, 0], sim.state.v[0, 0]])

    at = np.array([0.4, 1.5, 2.0, 0.3])
    after(*at)
    found = sim.gradients("armature")
    rows = [0, 1, 2, 6, 7, 8]
    for column, k in ((found.effort[0, rows, 0], 2), (found["armature"][0, rows, 0], 3)):
        step = 1e-5 * np.eye(4)[k]
        np.testing.assert_allclose(column, (after(*(at + step)) - after(*(at - step))) / 2e-5, atol=1e-7)
    # along a motion that keeps the hinge closed: rate by 1e-5
    step = np.array([0, 1e-5, 0, 0])
    states = []
    for one in (at + step, at - step):
        sim.set_joint_state(one[:1], one[1:2])
        states.append(np.concatenate([part[0, 0] for part in (sim.state.v, sim.state.w)]))
    way = np.concatenate([np.zeros(6), (states[0] - states[1]) / 2e-5])
    expected = (after(*(at + step)) - after(*(at - step))) / 2e-5
    np.testing.assert_allclose((found.state[0] @ way)[rows], expected, atol=1e-6)


def test_a_rebound_gives_back_what_the_rotor_has():
    """A smooth bob on a hinge strikes the ground, e = 0.5: it leaves with half of its rate, whatever the rotor has."""
    m = pendulum(ROTOR, start=1.2)
    m.add_contact("tip", "bob", (0, 0, 0), offset=-0.3, restitution=0.5, friction=0.0)
    m.gravity = (0, 0, 0)
    sim = Simulator(m, dt=1e-3, compiled=False)
    sim.set_joint_state([1.2], [-2.0])
    for _ in range(300):
        sim.step()
        if sim.joint_velocities()[0, 0] > 0:
            break
    for _ in range(3):
        sim.step()
    np.testing.assert_allclose(sim.joint_velocities()[0, 0], 1.0, rtol=1e-3)


def test_what_a_rotor_cannot_be():
    with pytest.raises(MechanismError, match="armature must be finite and >= 0"):
        pendulum(-1.0)
    m = Mechanism()
    m.add_body("a", mass=1.0, inertia=np.eye(3))
    with pytest.raises(MechanismError, match="the same about three free rotations"):
        m.add_joint("ball", "spherical", "world", "a", armature=(1.0, 1.0, 2.0))
    m.add_joint("ball", "spherical", "world", "a", armature=1.0)
    sim = Simulator(m, compiled=False)
    with pytest.raises(InputError, match=r"joint 'ball' .* the same about its three free rotations"):
        sim.set_parameters(armature=[1.0, 2.0, 1.0])
    with pytest.raises(InputError, match=r"armature of 'hinge' .* cannot be changed"):
        Simulator(pendulum(0.0), compiled=False).set_parameters(armature=[1.0])
    assert m.replace_joint("ball", armature=2.0).armature.tolist() == [2.0] * 3
