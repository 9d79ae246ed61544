"""Piles of boxes: they stand for as long as statics says that they do, and not a step longer."""

import numpy as np
import pytest
from apart import follow

from vigym import Simulator
from vigym.benchmarks.touching.parts import GRAVITY
from vigym.benchmarks.touching.piles import house_of_cards, leaning_pile, sloping_stack, stack

CREEP = 1e-11  # of a length, what stands may move by in a step
LONG = pytest.param(6000, marks=pytest.mark.slow)  # 60 s


@pytest.mark.parametrize("steps", [300, LONG])
@pytest.mark.parametrize(("shuffle", "shift", "yaw"), [(None, 0.0, 0.0), (1, 0.0, 0.0), (2, 1e-3, 0.0), (3, 0.0, 0.3)])
def test_a_stack_of_twenty_boxes_stands(shuffle, shift, yaw, steps):
    m = stack(20, shuffle=shuffle, shift=shift, yaw=yaw)
    sim = Simulator(m, dt=0.01)
    follow(sim, 20)
    before = sim.state.x
    follow(sim, steps)
    assert np.abs(sim.state.x - before).max() < CREEP * 0.2 * steps
    found = sim.contacts()
    # each box carries those above it
    for k in range(20):
        below = 0 if k == 0 else 1 + [body.name for body in m.bodies].index(f"box{k - 1}")
        own = 1 + [body.name for body in m.bodies].index(f"box{k}")
        rows = (found.collider == [own, below]).all(-1) | (found.collider == [below, own]).all(-1)
        assert np.abs(found.force[rows, 2].sum()) == pytest.approx((20 - k) * GRAVITY, abs=1e-5)


@pytest.mark.parametrize("steps", [300, LONG])
def test_a_house_of_cards_stands(steps):
    sim = Simulator(house_of_cards(3), dt=0.01)
    follow(sim, 20)
    before = sim.state.x
    follow(sim, steps)
    assert np.abs(sim.state.x - before).max() < CREEP * 0.09 * steps


def test_a_house_of_cards_falls_without_friction():
    # a pair needs tan(18 degrees)/2 = 0.16 at its feet
    sim = Simulator(house_of_cards(1, friction=0.1), dt=0.01)
    follow(sim, 50)
    assert sim.state.x[0, :, 2].max() < 0.5 * 0.045


@pytest.mark.parametrize("weakest", [0, 1, 2])
@pytest.mark.parametrize("part", [0.99, 1.01])
def test_a_stack_slides_where_and_when_friction_ends(weakest, part):
    # down a slope of tan 0.3, friction 0.5 but between two of the boxes (or the lowest one and the ground): what is
    # above moves at g (sin - cf cos), what is below stays
    slope, h, n = np.arctan(0.3), 0.005, 100
    friction = [0.5] * 3
    friction[weakest] = 0.3 / part
    sim = Simulator(sloping_stack(3, slope, friction), dt=h)
    start = sim.state.x
    follow(sim, n)
    way = (sim.state.x - start)[0, :, 0]
    a = max(0.0, GRAVITY * (np.sin(slope) - friction[weakest] * np.cos(slope)))
    expected = np.where(np.arange(3) >= weakest, a * h * h * n * (n + 1) / 2, 0.0)
    # within a percent of the cone, forces that are 1e-8 of the weight off are 1e-8 g h^2 n^2/2 = 1e-8 m
    np.testing.assert_allclose(way, expected, atol=2e-8)


@pytest.mark.parametrize("n", [1, 2, 4, 8])
@pytest.mark.parametrize("part", [0.999, 1.001])
def test_a_leaning_pile_reaches_out_as_far_as_the_harmonic_series(n, part):
    # n bricks of length L reach L/2 (1 + 1/2 + ... + 1/n) beyond the edge of the table; then the pile tips
    sim = Simulator(leaning_pile(n, part), dt=0.005)
    start = sim.state.x
    top = start[0, -1, 0] + 0.2
    assert top == pytest.approx(part * 0.2 * sum(1 / k for k in range(1, n + 1)))
    follow(sim, 400)
    moved = np.abs(sim.state.x - start).max()
    assert moved < 1e-9 if part < 1 else moved > 1e-3
