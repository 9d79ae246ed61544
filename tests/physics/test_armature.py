"""Armature: inertia of the motion along an axis itself, as of a rotor behind a gear."""

import numpy as np
import pytest

import vigym
from vigym import Mechanism, MechanismError, Simulator

DT = 0.01


def arm(kind: str = "revolute", gravity: float = 0.0, **options: object) -> Simulator:
    """A body of 2 kg with moments of 0.3 kg m^2, on an axis along y at its centre of mass or 0.5 m from it."""
    m = Mechanism(gravity=(0, 0, -gravity))
    m.add_body("arm", 2.0, (0.3, 0.3, 0.3))
    anchor = (0.0, 0.0, 0.5) if gravity else (0.0, 0.0, 0.0)
    m.add_joint("axis", kind, "world", "arm", axis=(0, 1, 0), child_anchor=anchor, **options)
    return Simulator(m, dt=DT)  # closer than 1e-8, rounding of angles shows: armature eps / h^2


@pytest.mark.parametrize(("kind", "inertia"), [("revolute", 0.3), ("prismatic", 2.0)])
def test_an_effort_accelerates_body_and_rotor(kind, inertia):
    """(inertia + armature) acceleration = effort; the exact map of the integrator adds (h rate)^2 to a turn."""
    sim = arm(kind, armature=0.7)
    sim.step(effort=[[0.2]], repeat=10)
    assert sim.joint_velocities()[0, 0] == pytest.approx(10 * DT * 0.2 / (inertia + 0.7), rel=1e-6)
    assert sim.mass_matrix()[0, 0, 0] == pytest.approx(inertia + 0.7)
    rate = sim.joint_velocities()[0, 0]
    assert sim.energy()[0] == pytest.approx(0.5 * (inertia + 0.7) * rate**2, rel=1e-9)


def test_a_rotor_has_no_weight_and_keeps_energy():
    """A pendulum swings with the frequency sqrt(m g l / (J + m l^2 + armature)), without drift of its energy."""
    sim = arm(gravity=9.81, armature=5.0)
    sim.set_joint_state([[0.01]])
    frequency = np.sqrt(2.0 * 9.81 * 0.5 / (0.3 + 2.0 * 0.25 + 5.0))
    energies, angles = [], []
    for _ in range(1000):
        sim.step()
        energies.append(sim.energy()[0])
        angles.append(sim.joint_positions()[0, 0])
    t = DT * (np.arange(1, 1001) + 0.5)  # a state at rest is one to which a step at rest led
    np.testing.assert_allclose(angles, 0.01 * np.cos(frequency * t), atol=1e-5)
    swing = 0.5 * 2.0 * 9.81 * 0.5 * 0.01**2
    assert np.ptp(energies) < 1e-3 * swing


def test_gradients_have_the_rotor_in_them():
    """d(rate)/d(effort) = h / (inertia + armature), and d(rate)/d(rate before) = 1."""
    sim = arm(armature=0.7)
    sim.step(effort=[[0.2]])
    found = sim.gradients()
    assert found.effort[0, -2, 0] == pytest.approx(DT / 1.0, rel=1e-6)  # w_y of the only body


def test_a_rotor_as_mujoco_has_it():
    pytest.importorskip("mujoco", reason="compares with MuJoCo")
    sim = arm(gravity=9.81, armature=0.7)
    assert 'armature="0.7"' in vigym.to_mjcf(sim.model.mechanism)


@pytest.mark.parametrize("kind", ["spherical", "fixed"])
def test_axes_that_cannot_have_one(kind):
    with pytest.raises(MechanismError, match="armature"):
        arm(kind, armature=0.1)
    with pytest.raises(MechanismError, match="armature"):
        arm(armature=-1.0)
