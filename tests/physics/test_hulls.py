"""Convex hulls touch as the solids that they are."""

import numpy as np
import pytest

from vigym import Box, Capsule, Cylinder, HeightField, Hull, Mechanism, MechanismError, Plane, Simulator, Sphere
from vigym.benchmarks.touching.parts import GRAVITY, about, add

SIGNS = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])


def scene(box) -> Mechanism:
    """Three boxes askew on each other, a ball and a capsule that fall on them; `box` makes boxes of half lengths."""
    m = Mechanism()
    m.add_ground(friction=0.5)
    for k in range(3):
        turn = np.array([1, 0.1 * k, 0.02, 0.3 * k])
        m.add_body(
            f"box {k}",
            mass=1.0,
            inertia=(0.01, 0.01, 0.01),
            position=(0.02 * k, 0.01 * k, 0.12 + 0.23 * k),
            orientation=turn / np.linalg.norm(turn),
        )
        m.add_collider(f"box {k}", f"box {k}", box((0.1, 0.1, 0.1)))
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.05)], position=(0.05, 0.02, 1.0))
    m.add_body("rod", mass=1.0, shapes=[Capsule(0.03, 0.3)], position=(0, 0, 1.3), orientation=about((1, 0, 0), 1.5))
    return m


@pytest.mark.parametrize(("steps", "compiled"), [(7, False), pytest.param(80, True, marks=pytest.mark.slow)])
def test_a_box_is_a_hull(steps, compiled):
    # the same scene of either: steps agree to rounding, until two ways of rounding have grown apart
    boxes = Simulator(scene(lambda half: Box(tuple(2 * np.array(half)))), dt=0.01, compiled=compiled)
    hulls = Simulator(scene(lambda half: Hull(SIGNS * half)), dt=0.01, compiled=compiled)
    for step in range(steps):
        boxes.step()
        hulls.step()
        assert hulls.status.converged.all()
        assert boxes.status.converged.all()
        for name in "xq":
            given, expected = getattr(hulls.state, name), getattr(boxes.state, name)
            np.testing.assert_allclose(given, expected, atol=1e-12 if step < 10 else 1e-5)
    for first, second in (("box 0", "box 1"), ("box 1", "ball"), ("rod", "box 2"), ("box 0", "world")):
        assert hulls.distance(first, second) == pytest.approx(boxes.distance(first, second), abs=1e-7)


@pytest.mark.parametrize("friction", [0.2, 0.6])
def test_a_wedge_on_a_slope(friction):
    # a prism with three sides slides with a = g (sin - cf cos), or rests where tan < cf
    slope, h, steps = 0.4, 0.01, 40
    tilt = about((0, 1, 0), slope)
    m = Mechanism()
    m.add_collider("slope", "world", Plane(orientation=tuple(tilt)), friction=friction)
    around = 2 * np.pi * np.arange(3) / 3
    wedge = Hull([(0.2 * np.cos(a), 0.2 * np.sin(a), z) for a in around for z in (-0.05, 0.05)])
    place = 0.05 * np.array([np.sin(slope), 0, np.cos(slope)])
    add(m, "wedge", wedge, place, tilt, mass=2.0, friction=friction)
    sim = Simulator(m, dt=h)
    for _ in range(steps):
        sim.step()
    pull = max(np.sin(slope) - friction * np.cos(slope), 0.0)
    along = np.array([np.cos(slope), 0, -np.sin(slope)])
    np.testing.assert_allclose(sim.state.v[0, 0], GRAVITY * pull * h * steps * along, atol=1e-7)
    np.testing.assert_allclose(sim.net_contact_forces()[0, 0, 1], 0.0, atol=1e-6)


@pytest.mark.slow
def test_stones_fall_on_each_other():
    rng = np.random.default_rng(0)
    m = Mechanism()
    m.add_ground(friction=0.5)
    for k in range(3):
        points = rng.normal(size=(30, 3))
        points = points / np.linalg.norm(points, axis=1, keepdims=True) * [0.1, 0.12, 0.08]
        m.add_body(
            f"stone {k}", mass=1.0, shapes=[Hull(points - Hull(points).centre())], position=(0.02 * k, 0, 0.2 + 0.3 * k)
        )
    m.add_collider("table", "world", Box((0.5, 0.5, 0.1), position=(0, 0, 0.05)))
    sim = Simulator(m, dt=0.01, num_envs=2)
    bad = 0
    for _ in range(150):
        sim.step()
        assert sim.status.converged.all()
        bad += int((sim.status.relaxed + (sim.status.substeps > 1)).sum())
        for first, second in (
            ("stone 0", "stone 1"),
            ("stone 1", "stone 2"),
            ("stone 0", "stone 2"),
            ("stone 0", "world"),
        ):
            assert sim.distance(first, second).min() > -1e-8
    assert bad < 6


def test_what_hulls_cannot_do_is_told():
    m = Mechanism()
    around = 2 * np.pi * np.arange(600) / 600
    many = Hull([*((np.cos(a), np.sin(a), 0.0) for a in around), (0, 0, 1), (0, 0, -1)])
    m.add_body("body", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 3))
    with pytest.raises(MechanismError, match="may have 512 corners, not 602"):
        m.add_collider("round", "body", many)
    m.add_collider("hill", "world", HeightField(np.zeros((3, 3)), (5, 5)))
    m.add_collider("drum", "body", Cylinder(0.1, 0.2))
    with pytest.raises(MechanismError, match="a Cylinder, cannot touch 'hill', a HeightField"):
        Simulator(m)
