"""Efforts that joints apply, as the read-outs of a step tell them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from mechanisms import DT, Scene, scenes

from vigym import Mechanism, Simulator
from vigym.engine.kernels import integrator
from vigym.engine.rotation import rotate


def hinge(**options) -> Mechanism:
    """A rod of 1 kg whose centre is 0.5 m from a hinge about y."""
    m = Mechanism()
    m.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.01))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), child_anchor=(0, 0, 0.5), **options)
    return m


def test_gravity_efforts_hold_an_arm():
    """At 0.3 rad, the weight pulls with m g l sin(0.3); the effort that carries it keeps the rod where it is."""
    sim = Simulator(hinge(), dt=0.01, num_envs=2)
    sim.set_joint_state([[0.3], [-1.0]])
    expected = 9.81 * 0.5 * np.sin([0.3, -1.0])
    for _ in range(100):
        effort = sim.gravity_efforts()
        np.testing.assert_allclose(effort[:, 0], expected, rtol=1e-9)
        sim.step(effort=effort)
        np.testing.assert_allclose(sim.joint_efforts(), effort, atol=1e-7)
    np.testing.assert_allclose(sim.joint_positions()[:, 0], [0.3, -1.0], atol=1e-9)


@pytest.mark.parametrize(
    ("options", "start", "law"),
    [
        ({"kp": 50.0, "kd": 5.0, "target": 0.5}, 0.1, lambda phi, rate: 50 * (0.5 - phi) - 5 * rate),
        ({"kp": 50.0, "kd": 5.0, "target": 0.5, "effort_limit": 3.0}, 0.1, lambda phi, rate: 3.0),
        ({"damping": 2.0}, 0.4, lambda phi, rate: -2.0 * rate),
        ({"friction": 0.2}, 0.4, lambda phi, rate: -0.2 * np.sign(rate)),
        ({"upper": 0.2, "lower": -0.2, "start": 0.2}, 0.2, None),  # hangs on its limit: it carries nothing there
    ],
)
def test_laws_are_what_is_told(options, start, law):
    """Drives, dampers and friction act at the end of the step, on the coordinate and the rate that are there."""
    sim = Simulator(hinge(**options), dt=0.005)
    sim.set_joint_state([start])
    assert not sim.joint_efforts().any()  # nothing has acted yet
    sim.step(repeat=3)
    phi, rate = sim.joint_positions()[0, 0], sim.joint_velocities()[0, 0]
    assert sim.status.substeps[0] == 3
    expected = law(phi, rate) if law else 0.0
    np.testing.assert_allclose(sim.joint_efforts()[0, 0], expected, atol=1e-5)
    sim.set_joint_state([start])
    assert not sim.joint_efforts().any()


def test_a_limit_carries():
    """A rod that would fall is held by its limit alone, which carries what the weight pulls with: m g l sin(phi)."""
    sim = Simulator(hinge(lower=1.0, upper=2.0), dt=0.005)
    sim.step(repeat=200)
    np.testing.assert_allclose(sim.joint_efforts()[0, 0], 9.81 * 0.5 * np.sin(1.0), rtol=1e-5)
    np.testing.assert_allclose(sim.gravity_efforts()[0, 0], 9.81 * 0.5 * np.sin(1.0), rtol=1e-9)


@given(scenes(laws=True, dry=True))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_efforts_explain_the_motion(scene: Scene):
    """All kinds of joints, with all laws: what changes the momenta of bodies, beside their weight, are the wrenches of
    joints; projected on the free axes at the pose before the step, only the efforts along these are left (Jourdain)."""
    m = scene.mechanism
    sim = Simulator(m, dt=DT, tolerance=1e-11, compiled=False)
    sim.set_state(*scene.state)
    begin, q = momenta(sim, integrator.momentum, sim.state.q), sim.state.q
    J = [sim.jacobian(body.name)[0] for body in m.bodies]
    rates = sim.joint_velocities()[0]
    sim.step(scene.effort)
    assume(sim.status.converged[0] and sim.status.substeps[0] == 1)
    assume(not sim._get("even")[0] and not sim._get("owed")[0])
    change = (momenta(sim, integrator.first_momentum, q) - begin) / DT
    forces = np.zeros(len(sim.velocity_names))
    for i, body in enumerate(m.bodies):
        wrench = change[i] - np.array([*(body.mass * m.gravity), 0, 0, 0])
        forces += J[i].T @ wrench
    n = len(sim.axis_names)
    rotors = -sim.parameter("armature")[0] * (sim.joint_velocities()[0] - rates) / DT  # what turns the rotors
    scale = 1 + np.abs(change).max()
    np.testing.assert_allclose(sim.joint_efforts()[0] + rotors, forces[len(forces) - n :], atol=1e-6 * scale)


def momenta(sim: Simulator, spin, q) -> np.ndarray:
    """Momentum of every body and its spin about the centre of mass, world (n, 6): as `spin` tells it of the last step,
    for one of its ends, at the orientations q there."""
    (_, _, v, w), h = sim.state, DT
    mass, inertia = sim.parameter("mass"), sim.parameter("inertia")
    J = [[inertia[..., j, k] for k in range(3)] for j in range(3)]
    own = np.stack(spin(h, J, [w[..., k] for k in range(3)]), -1)
    return np.concatenate([mass[..., None] * v, rotate(q, h * own)], -1)[0]
