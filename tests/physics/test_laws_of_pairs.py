"""Colliders with laws of their own: friction on a slope, depth of a soft pair."""

import numpy as np
import pytest
from scenes import GRAVITY

from vigym import Box, Mechanism, Plane, Simulator, Sphere


@pytest.mark.parametrize("own", [None, 0.2, 0.6])
def test_a_block_slides_by_the_friction_of_the_pair(own):
    # down a slope of 0.3 rad: a = g (sin - cf cos), 0 if cf > tan = 0.309; without its own, cf = sqrt(0.5 * 0.5)
    angle, cf = 0.3, 0.5 if own is None else own
    turn = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
    m = Mechanism()
    m.add_collider("slope", "world", Plane(orientation=turn), friction=0.5)
    up = np.array([np.sin(angle), 0, np.cos(angle)])
    m.add_body("block", mass=2.0, shapes=[Box((0.2, 0.2, 0.1))], position=0.05 * up, orientation=turn, friction=0.5)
    if own is not None:
        m.set_pair("block", "slope", friction=own)
    sim = Simulator(m, dt=0.01)
    sim.step(repeat=50)
    expected = max(GRAVITY * (np.sin(angle) - cf * np.cos(angle)), 0.0) * 0.5
    np.testing.assert_allclose(np.linalg.norm(sim.state.v[0, 0]), expected, atol=1e-8)


@pytest.mark.parametrize("own", [None, 3e-4])
def test_a_soft_pair_sinks_by_its_compliance(own):
    # at rest: depth = weight times compliance; that of the pair, or the sum
    m = Mechanism()
    m.add_ground(compliance=1e-4, damping=50.0)
    m.add_body("ball", mass=2.0, shapes=[Sphere(0.1)], position=(0, 0, 0.1), compliance=1e-4)
    if own is not None:
        m.set_pair("ball", "ground", compliance=own, damping=80.0)
    sim = Simulator(m, dt=0.01)
    sim.step(repeat=400)
    expected = 2.0 * GRAVITY * (2e-4 if own is None else own)
    np.testing.assert_allclose(-sim.distance("ball", "world")[0], expected, rtol=1e-6)


def test_a_hard_pair_of_soft_colliders_does_not_sink():
    m = Mechanism()
    m.add_ground(compliance=1e-4, damping=50.0)
    m.add_body("ball", mass=2.0, shapes=[Sphere(0.1)], position=(0, 0, 0.1))
    m.set_pair("ball", "ground", compliance=0.0)
    sim = Simulator(m, dt=0.01)
    sim.step(repeat=100)
    assert abs(sim.distance("ball", "world")[0]) < 1e-9
