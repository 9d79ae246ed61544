"""Things held by friction do not creep, and are dropped at the force that statics predicts."""

import numpy as np
import pytest
from apart import follow

from vigym import Simulator
from vigym.benchmarks.touching.grips import gripper, pinch
from vigym.benchmarks.touching.parts import GRAVITY

CREEP = 1e-11  # of a length, what is held may move by in a step


@pytest.mark.parametrize("steps", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("margin", [20.0, 45.0, 95.0])
def test_a_pinched_capsule_does_not_creep(margin, steps):
    sim = Simulator(pinch(margin), dt=0.01)
    follow(sim, 20)
    before = sim.state.x[0, 2]
    follow(sim, steps)
    assert np.abs(sim.state.x[0, 2] - before).max() < CREEP * 0.15 * steps


@pytest.mark.parametrize("margin", [0.99, 1.01])
def test_a_capsule_is_dropped_at_the_static_margin(margin):
    sim, h, n = Simulator(pinch(margin), dt=0.01), 0.01, 20
    follow(sim, n)
    fallen = -sim.state.x[0, 2, 2]
    expected = 0.01 * GRAVITY * h * h * n * (n + 1) / 2 if margin < 1 else 0.0
    # plates need a step to press, in which it falls freely
    assert fallen == pytest.approx(expected, rel=0.1, abs=1e-9)


def shake(sim: Simulator, mass: float, most: float) -> np.ndarray:
    """Lift, then shake with 5 g at 5 Hz; how far the cube has slipped in the fingers, from the start of the shaking."""
    h, omega = sim.dt, 2 * np.pi * 5.0

    def target(k: int) -> list[float]:
        t = k * h
        up = 0.1 * min(t, 1.0) if t < 1.0 else 0.1
        wave = 5 * GRAVITY / omega**2 * (1 - np.cos(omega * max(t - 1.2, 0.0)))
        return [up + wave, most, most]

    def slip() -> float:
        return sim.state.x[0, 3, 2] - sim.state.x[0, 1, 2]

    return follow(sim, round(2.0 / h), slip, target=target)


@pytest.mark.parametrize("margin", [0.9, 1.05])
def test_a_shaken_cube_is_held_or_dropped_at_the_predicted_force(margin):
    # 2 friction squeeze = mass (g + 5 g) is what the hardest moment takes; the drive of the hand follows to a percent
    mass, friction = 0.2, 0.5
    squeeze = margin * mass * 6 * GRAVITY / (2 * friction)
    sim = Simulator(gripper(squeeze, mass, friction=friction), dt=0.002)
    slip = shake(sim, mass, 0.05)
    settled = slip[600]
    if margin > 1:
        assert np.abs(slip[600:] - settled).max() < 1e-8
    else:
        assert settled - slip[-1] > 1e-4
    # lifted without slip: static force is a sixth of this
    assert np.abs(slip[100:500] - slip[100]).max() < 1e-9


@pytest.mark.parametrize("mass", [1e-4, 1.0, 1e3])
def test_an_object_of_any_mass_in_the_same_grasp(mass):
    # fingers of 0.1 kg hold 0.1 g and 1 t: ratios of 1e3 and 1e4, both ways
    squeeze = 2.0 * mass * GRAVITY / (2 * 0.5)
    sim = Simulator(gripper(squeeze, mass), dt=0.005)
    follow(sim, 100)
    before = sim.state.x[0, 3] - sim.state.x[0, 1]
    follow(sim, 100)
    assert np.abs(sim.state.x[0, 3] - sim.state.x[0, 1] - before).max() < CREEP * 100


@pytest.mark.parametrize("others", [1e-4, 1e3])
def test_objects_of_very_different_mass_in_one_grasp(others):
    # a cube of 0.1 g between fingers of a ton, and one of a ton between fingers of 0.1 g (pressed hard enough)
    mass = 1e3 if others == 1e-4 else 1e-4
    squeeze = 2.0 * (mass + others) * GRAVITY / (2 * 0.5)
    sim = Simulator(gripper(squeeze, mass, finger=others), dt=0.005)
    follow(sim, 100)
    before = sim.state.x[0, 3] - sim.state.x[0, 1]
    follow(sim, 100)
    assert np.abs(sim.state.x[0, 3] - sim.state.x[0, 1] - before).max() < CREEP * 100
