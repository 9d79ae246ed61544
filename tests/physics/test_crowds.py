"""Many bodies at once: two robots that fight, and things that are dropped into a box."""

import numpy as np
import pytest
from apart import follow

from vigym import Simulator
from vigym.assets import unitree_a1
from vigym.benchmarks.touching.parts import GRAVITY
from vigym.benchmarks.touching.piles import dropped, needles
from vigym.benchmarks.touching.robots import fight

SECOND = 13  # body of the second robot that is its trunk


def outer_force(sim: Simulator) -> np.ndarray:
    """Force of the world on all bodies together (3,): those between bodies cancel each other."""
    return sim.net_contact_forces()[0].sum(0)


@pytest.mark.parametrize("steps", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_two_robots_fight(steps):
    # pushed against each other, legs beating: all links keep apart, joints stay closed, and the momentum of both
    # together changes by what comes from outside alone
    sim, h = Simulator(fight(), dt=0.005), 0.005
    sim.set_joint_state(np.tile(unitree_a1.STANDING, 2))
    mass, rates = sim.parameter("mass")[0], np.linspace(1.0, 3.0, 24)
    force = np.zeros((1, 26, 3))
    force[0, [0, SECOND], 0] = 100.0, -100.0
    colliders = sim.model.colliders
    foreign = np.array([[a.name[:3] + b.name[:3] for b in colliders] for a in colliders])
    momentum, strokes = np.zeros(3), 0

    def look() -> float:
        nonlocal momentum, strokes
        before, momentum = momentum, mass @ sim.state.v[0]
        found = sim.contacts()
        between = np.isin(foreign[tuple(found.collider.T)], ["redblu", "blured"])
        strokes += int((np.linalg.norm(found.force[between], axis=-1) > 10.0).any())
        outside = outer_force(sim) - [0, 0, mass.sum() * GRAVITY]
        scale = np.abs(found.force).sum() + mass.sum() * GRAVITY
        return float(np.abs((momentum - before) / h - outside).max() / scale)

    def target(k: int) -> np.ndarray:
        return np.tile(unitree_a1.STANDING, 2) + 0.5 * np.sin(2 * np.pi * rates * k * h + np.arange(24))

    imbalance = follow(sim, steps, look, target=target, force=force, whole=False)
    assert imbalance.max() < 1e-6  # forces are solved to 1e-8 of those of each body
    assert strokes > 20
    assert sim.joint_error().max() < 1e-9


@pytest.mark.parametrize("steps", [120, pytest.param(1000, marks=pytest.mark.slow)])
def test_forty_things_are_dropped_into_a_box(steps):
    # 20 balls and 20 boxes; what the box carries is their weight and what changes their momentum. It takes 2.6 s until
    # the last one arrives: then, on average, the box carries all
    sim = Simulator(dropped(), dt=0.01)
    mass = sim.parameter("mass")[0]
    forces = follow(sim, steps, lambda: outer_force(sim), whole=False)
    impulse = 0.01 * forces.sum(0) - [0, 0, 0.01 * steps * mass.sum() * GRAVITY]
    np.testing.assert_allclose(mass @ sim.state.v[0], impulse, atol=1e-5 * mass.sum() * GRAVITY * 0.01 * steps)
    if steps > 600:
        carried = forces[600:].mean(0)
        np.testing.assert_allclose(carried, [0, 0, mass.sum() * GRAVITY], atol=0.01 * mass.sum() * GRAVITY)
        assert np.abs(sim.state.x[0, :, :2]).max() < 0.4  # nothing went through a wall


def test_needles_fall_on_each_other():
    # 150 times as long as thick, parted by two edges that are others in every step; at rest, the ground carries them
    sim = Simulator(needles(), dt=0.005)
    forces = follow(sim, 300, lambda: outer_force(sim), whole=False)
    weight = sim.parameter("mass")[0].sum() * GRAVITY
    np.testing.assert_allclose(forces[-20:].mean(0), [0, 0, weight], atol=0.02 * weight)
