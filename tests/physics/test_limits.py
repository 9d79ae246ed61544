"""Position limits beside dry friction and the floor: both may carry a load, and nothing says how much each.

What runs into its limit stays there, no step is lost, and it leaves as freely as it came.
"""

import numpy as np
import pytest
from scenes import GRAVITY, advance

from vigym import Capsule, Mechanism, Simulator

ROD = Capsule(radius=0.03, length=0.5)


def slider(mass: float, friction: float, dt: float) -> Simulator:
    """Eight level sliders with limits at -1 m and 1 m that move from the middle at 2 to 5 m/s."""
    m = Mechanism()
    m.add_body("slider", mass=mass, inertia=mass * np.array([0.05, 0.07, 0.1]))
    m.add_joint("rail", "prismatic", "world", "slider", axis=(0, 1, 0), lower=-1.0, upper=1.0, friction=friction)
    sim = Simulator(m, dt=dt, num_envs=8)
    sim.set_joint_state(np.zeros((8, 1)), np.linspace(2.0, 5.0, 8)[:, None])
    return sim


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("part", [1e-4, 1e-3, 0.01, 0.1])
@pytest.mark.parametrize("dt", [0.02, 0.01, 0.004])
def test_a_slider_with_dry_friction_rests_at_its_limit(mass, part, dt):
    weight = GRAVITY * mass
    sim = slider(mass, part * weight, dt)
    advance(sim, round(1.0 / dt))
    np.testing.assert_allclose(sim.joint_positions(), 1.0, atol=1e-7)
    # pulled back: (F - friction) t^2 / 2 m, and half a step more
    steps = round(0.4 / dt)
    advance(sim, steps, effort=[-0.3 * weight])
    travel = (0.3 - part) * GRAVITY * dt**2 * steps * (steps + 1) / 2
    np.testing.assert_allclose(1.0 - sim.joint_positions(), travel, rtol=1e-6)


@pytest.mark.parametrize("friction", [0.01, 0.1])
@pytest.mark.parametrize("axis", [(0, 1, 0), (1, 0, 0)])
def test_an_arm_with_dry_friction_hangs_at_its_limits(friction, axis):
    arm = Mechanism()
    arm.add_body("upper", mass=1.0, shapes=[ROD])
    arm.add_body("lower", mass=0.5, shapes=[ROD])
    law = {"child_anchor": (0, 0, 0.25), "damping": 0.1, "friction": friction}
    arm.add_joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0), lower=0.2, upper=2.0, **law)
    elbow = {"axis": axis, "parent_anchor": (0, 0, -0.25), "lower": -2.0, "upper": -0.1}
    arm.add_joint("elbow", "revolute", "upper", "lower", **elbow, **law)
    sim, rng = Simulator(arm, dt=0.005, num_envs=16), np.random.default_rng(0)
    sim.set_joint_state(np.c_[rng.uniform(0.3, 1.9, 16), rng.uniform(-1.9, -0.2, 16)], rng.normal(size=(16, 2)))
    advance(sim, 1200)
    np.testing.assert_allclose(sim.joint_positions()[:, 0], 0.2, atol=1e-7)
    assert np.abs(sim.joint_velocities()).max() < 1e-6


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
@pytest.mark.parametrize("size", [0.01, 1.0])
def test_an_arm_lies_on_the_floor(tolerance, size):
    """Its elbow at its limit, the arm is one link from the world to the floor: friction holds it there, and how much
    the floor carries is not determined. It is about the weight, and nothing moves."""
    arm, rod = Mechanism(), Capsule(radius=0.03 * size, length=0.5 * size)
    arm.add_body("upper", mass=1.0, shapes=[rod])
    arm.add_body("lower", mass=0.5, shapes=[rod])
    law = {"axis": (0, 1, 0), "child_anchor": (0, 0, 0.25 * size), "damping": 0.1 * size**1.5}
    arm.add_joint(
        "shoulder", "revolute", "world", "upper", lower=0.2, upper=2.0, parent_anchor=(0, 0, 0.7 * size), **law
    )
    arm.add_joint(
        "elbow", "revolute", "upper", "lower", lower=-2.0, upper=-0.1, parent_anchor=(0, 0, -0.25 * size), **law
    )
    arm.add_contact("hand", "lower", point=(0, 0, -0.25 * size), radius=0.03 * size, friction=0.6)
    sim, rng = Simulator(arm, dt=0.005 * size**0.5, num_envs=32, tolerance=tolerance), np.random.default_rng(0)
    rates = 0.3 * rng.normal(size=(32, 2)) / size**0.5
    sim.set_joint_state(np.c_[rng.uniform(1.3, 1.9, 32), rng.uniform(-1.0, -0.2, 32)], rates)
    advance(sim, 600)
    assert np.abs(sim.joint_velocities()).max() < 1e-6 / size**0.5
    load = sim.contact_forces()[..., 2] / (1.5 * GRAVITY)
    assert load.min() > 0.1
    assert load.max() < 1.5
