"""Rays against solids of all kinds: MuJoCo's distances, closed forms, starts inside."""

from dataclasses import replace

import numpy as np
import pytest

from vigym import (
    Box,
    Capsule,
    Cylinder,
    HeightField,
    InputError,
    Mechanism,
    Mesh,
    Plane,
    RangeFinder,
    Simulator,
    Sphere,
)
from vigym.engine.collider import Collider
from vigym.engine.polyhedra import Hull
from vigym.engine.rays import _solids, cast
from vigym.engine.rotation import rotation_matrix
from vigym.formats.text import text

RNG = np.random.default_rng(0)
SOLIDS = [Sphere(0.3), Capsule(0.2, 0.5), Box((0.3, 0.5, 0.7)), Cylinder(0.3, 0.4)]
BOX = Box((0.3, 0.5, 0.7))


def turns(*shape: int) -> np.ndarray:
    q = RNG.normal(size=(*shape, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def units(*shape: int) -> np.ndarray:
    d = RNG.normal(size=(*shape, 3))
    return d / np.linalg.norm(d, axis=-1, keepdims=True)


def nearest(shapes, origins, directions, most=100.0):
    """Distances to shapes of the world."""
    solids = _solids([Collider("", "world", shape) for shape in shapes], {"world": 0})
    return cast(solids, np.zeros((1, 0, 3)), np.zeros((1, 0, 4)), origins[None], directions[None], most)[0]


def test_as_mujoco():
    """Twelve solids, a plane and a height field: the nearest of all along 2,000 rays from outside, to 1e-9; where the
    height field is the nearest, whose heights MuJoCo has with 32 bits, to 1e-6."""
    mujoco = pytest.importorskip("mujoco")
    places = RNG.uniform(-2, 2, (12, 3))
    shapes = [
        replace(SOLIDS[k % 4], position=tuple(place), orientation=tuple(q))
        for k, (place, q) in enumerate(zip(places, turns(12), strict=True))
    ]
    field = HeightField(RNG.uniform(0.0, 0.5, (7, 9)), (6.0, 5.0), position=(0.1, 0.2, -2.6))
    tilt = Plane(position=(0, 0, -4.0), orientation=(0.99, 0.1, 0.0, 0.0))
    kinds = ("sphere", "capsule", "box", "cylinder")
    sizes = ([0.3], [0.2, 0.25], [0.15, 0.25, 0.35], [0.3, 0.2])
    geoms = [
        f'<geom type="{kinds[k % 4]}" size="{text(sizes[k % 4])}" pos="{text(shape.position)}" '
        f'quat="{text(shape.orientation)}"/>'
        for k, shape in enumerate(shapes)
    ]
    low, high = field.heights.min(), field.heights.max()
    rows = text(((field.heights[::-1] - low) / (high - low)).ravel())
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset><hfield name="f" nrow="7" ncol="9" size="3 2.5 {float(high - low)!r} 9" '
        f'elevation="{rows}"/></asset>'
        f'<worldbody>{"".join(geoms)}<geom type="hfield" hfield="f" pos="0.1 0.2 {float(low - 2.6)!r}"/>'
        f'<geom type="plane" size="0 0 1" pos="0 0 -4" quat="{text(tilt.orientation)}"/></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    origins = 4.0 * units(2000) + [0.0, 0.0, 2.5]
    aims = RNG.uniform(-2, 2, (2000, 3)) - origins
    directions = aims / np.linalg.norm(aims, axis=-1, keepdims=True)
    found, geom = nearest([*shapes, field, tilt], origins, directions), np.zeros(1, np.int32)
    hits = {12: 0, 13: 0}
    for k in range(2000):
        expected = mujoco.mj_ray(model, data, origins[k], directions[k], None, 1, -1, geom)
        hits[int(geom[0])] = hits.get(int(geom[0]), 0) + 1
        on_field = geom[0] == 12
        end = origins[k] + expected * directions[k] - field.position
        if (on_field and (np.abs(end) / [3, 2.5, 99] > 0.999).any()) or end[2] < 0.0:
            continue  # MuJoCo's field has sides and a bottom
        if found[k] > 0.0:  # else it begins inside a solid, from which MuJoCo tells the way out
            expected = min(expected, 100.0) if expected >= 0 else 100.0
            assert abs(found[k] - expected) < (1e-6 if on_field else 1e-9)
    assert hits[12] > 100
    assert (found == 0.0).sum() < 50
    assert min(hits.get(g, 0) for g in range(12)) > 10


def test_along_axes_and_edges():
    """Directions with zeros, along faces, axes and edges of cells; starts inside tell 0, misses the maximum."""
    down, up, side = np.array([0, 0, -1.0]), np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
    field = HeightField(np.array([[0.0, 0.0, 0.2], [0.0, 0.0, 0.2]]), (2.0, 1.0))
    cases = [
        (Box((2, 2, 2)), (1.0, 1.0, 3.0), down, 2.0),  # along an edge
        (Box((2, 2, 2)), (0.2, 0.0, 0.9), up, 0.0),
        (Box((2, 2, 2)), (0.0, 0.0, 3.0), up, 9.0),
        (Cylinder(0.5, 2.0), (0.0, 0.0, 3.0), down, 2.0),
        (Cylinder(0.5, 2.0), (-2.0, 0.0, 0.5), side, 1.5),
        (Cylinder(0.5, 2.0), (0.6, 0.0, 3.0), down, 9.0),
        (Capsule(0.5, 2.0), (0.0, 0.3, 3.0), down, 3.0 - 1.0 - 0.4),
        (Capsule(0.5, 2.0), (0.0, 0.0, 1.2), side, 0.0),
        (Sphere(0.5), (0.0, 0.0, -3.0), up, 2.5),
        (Plane(), (0.0, 0.0, 2.0), down, 2.0),
        (Plane(), (0.0, 0.0, 2.0), side, 9.0),
        (Plane(), (0.0, 0.0, -1.0), side, 0.0),
        (field, (0.0, 0.0, 1.0), down, 1.0),  # on the line between two cells
        (field, (0.5, 0.25, 1.0), down, 0.9),
        (field, (-3.0, 0.1, 0.1), side, 3.5),  # past a flat cell, into the slope
        (field, (-0.5, 0.0, -0.1), up, 0.0),
        (field, (1.5, 0.0, 1.0), down, 9.0),
    ]
    for shape, origin, way, expected in cases:
        found = nearest([shape], np.array([origin]), way[None], 9.0)[0]
        assert found == pytest.approx(expected, abs=1e-12), (shape, origin)


def test_meshes():
    # the triangles of a field are seen as the field is; from behind, there is nothing to see
    field = HeightField(RNG.uniform(0.0, 0.5, (7, 9)), (6.0, 5.0), position=(0.1, 0.2, 0.3), orientation=turns())
    mesh = Mesh(*field.triangles(), closed=False, position=field.position, orientation=field.orientation)
    up = rotation_matrix(np.array(field.orientation))[:, 2]
    origins = RNG.uniform(-2.0, 2.0, (300, 3))
    origins += (3.0 - origins @ up)[:, None] * up
    aims = RNG.uniform(-2, 2, (300, 3)) - origins
    directions = aims / np.linalg.norm(aims, axis=-1, keepdims=True)
    found = nearest([mesh], origins, directions)
    np.testing.assert_allclose(found, nearest([field], origins, directions), atol=1e-9)
    assert (found < 50).sum() > 100
    assert nearest([mesh], np.array([field.position]) - 0.3 * up, up[None])[0] == 0.0


def test_triangles_of_a_hull_are_those_of_the_box():
    corners = 0.5 * np.array([(x, y, z) for x in (-0.3, 0.3) for y in (-0.5, 0.5) for z in (-0.7, 0.7)])
    origins = 2.0 * units(300)
    aims = RNG.uniform(-0.4, 0.4, (300, 3)) - origins
    directions = aims / np.linalg.norm(aims, axis=-1, keepdims=True)
    place = {"position": (0.1, 0.2, 0.0), "orientation": tuple(turns())}
    hull = nearest([Hull(corners, **place)], origins, directions)
    np.testing.assert_allclose(hull, nearest([replace(BOX, **place)], origins, directions), atol=1e-9)
    assert (hull < 50).sum() > 50


def test_range_finders_turn_with_their_body():
    """Against bodies and ground, from a point of a turned body: closed forms. Its own colliders are not seen."""
    m = Mechanism()
    m.add_body("eye", 1.0, shapes=[Sphere(0.2)])
    m.add_body("ball", 1.0, shapes=[Sphere(0.5)])
    m.add_ground()
    sim = Simulator(m, num_envs=2, compiled=False)
    q = turns(2)
    R = rotation_matrix(q)
    point = np.array([0.1, 0.2, 0.3])
    eye = np.array([0.0, 0.0, 5.0]) - R @ point  # the sensor is 5 m over the ground, the ball above it
    x = np.stack([eye, np.broadcast_to([0.0, 0.0, 8.0], (2, 3))], 1)
    sim.set_state(
        x=x, q=np.stack([q, np.tile([1.0, 0, 0, 0], (2, 1))], 1), v=np.zeros((2, 2, 3)), w=np.zeros((2, 2, 3))
    )
    ways = np.swapaxes(R, -1, -2) @ [0.0, 0.0, 1.0]
    for env in range(2):
        finder = RangeFinder(sim, "eye", point, [ways[env], -2.0 * ways[env]], max_distance=20.0)
        np.testing.assert_allclose(finder()[env], [2.5, 5.0], atol=1e-12)
    blind = RangeFinder(sim, "eye", point, -ways[0], ignore=["world", "ball"], max_distance=20.0)
    assert blind().shape == (2, 1)
    assert blind()[0, 0] == 20.0
    for wrong in ({"directions": [0, 0, 0]}, {"body": "ey"}, {"max_distance": 0}, {"ignore": 3}, {"noise": -1}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            RangeFinder(sim, **{"body": "eye", **wrong})
