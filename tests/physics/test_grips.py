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


def shaken(sim: Simulator, squeeze: float) -> np.ndarray:
    """Lift by 0.1 m, then shake with 5 g at 5 Hz from 1.2 s on; how far the cube has slipped in the fingers."""
    h, omega = sim.dt, 2 * np.pi * 5.0

    def target(k: int) -> list[float]:
        t = k * h
        wave = 5 * GRAVITY / omega**2 * (1 - np.cos(omega * max(t - 1.2, 0.0)))
        return [0.1 * min(t, 1.0) + wave, 0.0, 0.0]

    def slip() -> float:
        return sim.state.x[0, 3, 2] - sim.state.x[0, 1, 2]

    return follow(sim, round(2.0 / h), slip, target=target, effort=[0.0, squeeze, squeeze])


@pytest.mark.parametrize("margin", [0.95, 1.05])
def test_a_shaken_cube_is_held_or_dropped_at_the_predicted_force(margin):
    # 2 friction squeeze = mass (g + 5 g) is what the hardest moment takes; the drive of the hand follows to a percent
    mass, friction = 0.2, 0.5
    sim = Simulator(gripper(mass, friction=friction), dt=0.002)
    slip = shaken(sim, margin * mass * 6 * GRAVITY / (2 * friction))
    lifted, shaking = slip[:600], slip[600:]
    assert np.abs(lifted - lifted[0]).max() < CREEP * 0.05 * 600
    slipped = lifted[-1] - shaking[-1]
    if margin > 1:
        assert np.abs(slipped) < 1e-9
    else:
        assert slipped > 1e-5


@pytest.mark.parametrize(("mass", "finger"), [(1e-4, 0.1), (1e3, 0.1), (1e-4, 1e3), (1e3, 1e-4)])
def test_an_object_of_any_mass_in_a_grasp(mass, finger):
    # 0.1 g and 1 t, between the same fingers, and between some of the other mass: ratios of up to 1e7, both ways
    squeeze = 2.0 * (mass + finger) * GRAVITY / (2 * 0.5)
    sim, effort = Simulator(gripper(mass, finger=finger), dt=0.005), [0.0, squeeze, squeeze]
    follow(sim, 50, effort=effort)
    before = sim.state.x[0, 3] - sim.state.x[0, 1]
    follow(sim, 50, effort=effort)
    assert np.abs(sim.state.x[0, 3] - sim.state.x[0, 1] - before).max() < 1e-9 * 0.05 * 50
