"""Colliders with laws of their own: friction on a slope, depth of a soft pair."""

import numpy as np
import pytest
from scenes import GRAVITY, matrix

from vigym import Box, Capsule, Mechanism, Plane, Simulator, Sphere

pytestmark = pytest.mark.usefixtures("judged")


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


@pytest.mark.parametrize("allowed", [False, True])
def test_a_folding_arm_stops_at_its_own_upper_arm_if_asked(allowed):
    # 1 N m closes the elbow: without contact it goes round; with it, the links rest against each other
    m = Mechanism(gravity=(0, 0, 0))
    for name, parent, anchor in (("upper", "world", (0, 0, 0)), ("lower", "upper", (0, 0, -0.4))):
        m.add_body(name, mass=1.0, shapes=[Capsule(0.05, 0.5)])
        options = {"damping": 0.5, "parent_anchor": anchor, "child_anchor": (0, 0, 0.4)}
        m.add_joint(name, "revolute", parent, name, axis=(0, 1, 0), **options)
    if allowed:
        m.allow_contact("upper", "lower")
    sim = Simulator(m, dt=0.01)
    sim.step(effort=[0.0, 1.0], repeat=2500)
    angle, rate = sim.joint_positions()[0, 1], sim.joint_velocities()[0, 1]
    if not allowed:
        assert angle > np.pi
        return
    assert abs(rate) < 1e-9
    # ends of the capsules' axes are 0.15 m from the elbow: 2 0.15 sin(angle') = 0.1 m, angle' half of what is left
    assert angle == pytest.approx(np.pi - 2 * np.arcsin(0.1 / (2 * 0.15)), abs=1e-6)
    # whatever friction adds, contacts carry the torque of the elbow
    found, (x, q, *_) = sim.contacts(), sim.state
    elbow = x[0, 1] + 0.4 * matrix(q[0, 1])[:, 2]
    assert np.cross(found.position - elbow, found.force).sum(0)[1] == pytest.approx(1.0, abs=1e-6)
