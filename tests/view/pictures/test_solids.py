"""Every solid, and its shadow, is seen where an independent ray caster sees it, to the pixel."""

import numpy as np
import pytest
from pictures import exact
from scipy.spatial import ConvexHull

import vigym
from vigym import InputError
from vigym.engine.rotation import rotation_matrix
from vigym.view.pictures import solids
from vigym.view.pictures.hull import half_spaces
from vigym.view.pictures.picture import Camera, Renderer
from vigym.view.pictures.scene import Cast, Part

WIDTH, HEIGHT = 72, 56
SIZE = np.array([0.5, 0.3, 0.8])
CLOUD = np.random.default_rng(5).normal(size=(30, 3)) * [0.2, 0.3, 0.4]

SOLIDS = {
    "sphere": (vigym.Sphere(0.4), lambda o, d: exact.sphere(o, d, 0.4)),
    "box": (vigym.Box(tuple(SIZE)), lambda o, d: exact.box(o, d, SIZE)),
    "cylinder": (vigym.Cylinder(0.25, 0.7), lambda o, d: exact.cylinder(o, d, 0.25, 0.7)),
    "disc": (vigym.Cylinder(0.5, 0.04), lambda o, d: exact.cylinder(o, d, 0.5, 0.04)),
    "capsule": (vigym.Capsule(0.2, 0.6), lambda o, d: exact.capsule(o, d, 0.2, 0.6)),
    "hull": (CLOUD, lambda o, d: exact.polyhedron(o, d, _facets(CLOUD))),
    "cone": (None, lambda o, d: exact.cone(o, d, 0.3, 0.9)),
}


def _facets(points):
    equations = ConvexHull(points).equations
    return np.column_stack([equations[:, :3], -equations[:, 3]])


def renderer(name, camera, planes=(), **options):
    shape, _ = SOLIDS[name]
    m = vigym.Mechanism()
    if isinstance(shape, vigym.engine.shapes.Shape):
        m.add_body("body", mass=1.0, shapes=[shape])
        return Renderer(m, WIDTH, HEIGHT, camera, planes=planes, **options)
    m.add_body("body", mass=1.0, inertia=(1, 1, 1))
    r = Renderer(m, WIDTH, HEIGHT, camera, planes=planes, hulls={"body": CLOUD}, **options)
    if name == "cone":  # a part of arrows; no body has this shape
        r._cast = Cast([Part(solids.CONE, (0.3, 0.45, 0.0), np.zeros(3), np.eye(3), (1.0, 0.0, 0.0), 0)])
    return r


@pytest.mark.parametrize("name", SOLIDS)
def test_depth_of_a_solid(name):
    rng = np.random.default_rng(11)
    worst, hits = 0.0, 0
    for _ in range(12):
        camera = Camera(rng.uniform(1.2, 4.0), rng.uniform(0, 360), rng.uniform(-80, 80), tuple(rng.normal(0, 0.1, 3)))
        x, q = rng.normal(0, 0.3, 3), rng.normal(size=4)
        q /= np.linalg.norm(q)
        depth = renderer(name, camera).depth([x], [q])

        R = rotation_matrix(q)
        eye, d = exact.rays(camera, WIDTH, HEIGHT)
        expected = SOLIDS[name][1]((eye - x) @ R, d @ R)

        seen = np.isfinite(expected)
        # A ray that grazes the surface may fall on either side: no more than a pixel or two of a silhouette.
        assert (np.isfinite(depth) != seen).sum() <= 2
        both = seen & np.isfinite(depth)
        # float32 of distances of about 4 m: half a unit in the last place is 2.4e-7 m; tangential rays are the square
        # root of rounding away, sqrt(1e-16 * 1 m)
        worst = max(worst, np.abs(depth[both] - expected[both]).max(initial=0.0))
        hits += both.sum()
    assert hits > 1000
    assert worst < 1e-6


@pytest.mark.parametrize("name", SOLIDS)
def test_shadow_of_a_solid(name):
    """The ground is in shadow where a ray from it to the sun meets the solid; elsewhere nothing changes.

    The solid is high up: out of reach of the soft shade, which ends three half thicknesses from it.
    """
    rng, count = np.random.default_rng(13), 0
    for _ in range(4):
        camera = Camera(6.0, rng.uniform(0, 360), rng.uniform(-70, -20), (*rng.normal(0, 0.2, 2), 1.0))
        sun = np.array([*rng.normal(0, 0.25, 2), 1.0])
        x, q = np.array([*rng.normal(0, 0.2, 2), 2.5]), rng.normal(size=4)
        q /= np.linalg.norm(q)
        r = renderer(name, camera, planes=[((0, 0, 1), 0.0)], sun=sun, samples=1)
        image, blank = r.render([x], [q]).astype(int), r.render([np.add(x, [0, 0, 1e4])], [q]).astype(int)

        R = rotation_matrix(q)
        eye, d = exact.rays(camera, WIDTH, HEIGHT)
        floor = exact.ground(eye, d)
        visible = np.isfinite(floor) & np.isinf(SOLIDS[name][1]((eye - x) @ R, d @ R))
        p = eye + np.where(visible, floor, 1.0)[..., None] * d
        dark = np.isfinite(SOLIDS[name][1]((p - x) @ R, np.broadcast_to(sun @ R, p.shape)))
        changed = (image != blank).any(axis=-1)
        count += (dark & visible).sum()
        assert (changed != dark)[visible].sum() <= 2  # rays that graze it
    assert count > 50


@pytest.mark.parametrize("name", SOLIDS)
def test_normals(name):
    """At a point of the surface: the cross product of its changes with the ray, which another ray caster gives."""
    kind, size = {
        "sphere": (solids.SPHERE, (0.4, 0.0, 0.0)),
        "box": (solids.BOX, tuple(SIZE / 2)),
        "cylinder": (solids.CYLINDER, (0.25, 0.35, 0.0)),
        "disc": (solids.CYLINDER, (0.5, 0.02, 0.0)),
        "capsule": (solids.CAPSULE, (0.2, 0.3, 0.0)),
        "hull": (solids.HULL, (0.0, 0.0, 0.0)),
        "cone": (solids.CONE, (0.3, 0.45, 0.0)),
    }[name]
    facets = half_spaces(CLOUD)
    rng = np.random.default_rng(17)
    delta, off, tried = 1e-6, 0, 0
    for _ in range(6):
        camera = Camera(3.0, rng.uniform(0, 360), rng.uniform(-80, 80))
        eye, d = exact.rays(camera, 24, 24)
        steps = [d, d + delta * camera.axes()[0], d + delta * camera.axes()[1]]
        p, right, up = (eye + SOLIDS[name][1](eye, e)[..., None] * e for e in steps)
        with np.errstate(invalid="ignore"):
            n = np.cross(right - p, up - p)
            n /= np.linalg.norm(n, axis=-1, keepdims=True)
        for point, expected in zip(p[np.isfinite(n).all(-1)], n[np.isfinite(n).all(-1)], strict=True):
            *normal, _ = solids.normal.py_func(kind, (*size, facets, 0, len(facets)), tuple(point))
            # curvature 1/r turns it by delta * 3 m / (r cos^2) where the ray meets the normal at an angle: 1.5e-5 for
            # r = 0.2 m and cos = 1, 1e-3 for cos = 1/8
            off += np.abs(np.array(normal) - expected).max() > 1e-3
            tried += 1
    assert tried > 100
    assert off <= 0.01 * tried  # rays on both sides of an edge


@pytest.mark.parametrize("offset", [0.0, -0.3, 0.4])
def test_a_camera_inside_or_behind_sees_nothing_of_a_ball(offset):
    camera = Camera(1.0, 0.0, 0.0)
    m = vigym.Mechanism()
    m.add_body("ball", mass=1.0, shapes=[vigym.Sphere(0.5)])
    r = Renderer(m, 32, 32, camera, planes=[])
    assert np.isinf(r.depth([[-1.0 + offset, 0.0, 0.0]], [[1, 0, 0, 0]])).all()  # the eye is at x = -1
    assert np.isinf(r.depth([[-3.0, 0.0, 0.0]], [[1, 0, 0, 0]])).all()
    assert np.isfinite(r.depth([[1.0, 0.0, 0.0]], [[1, 0, 0, 0]])).any()


@pytest.mark.parametrize("seed", range(4))
def test_convex_hull(seed):
    """The same half spaces as SciPy's, for points in general position."""
    points = np.random.default_rng(seed).normal(size=(40, 3)) * [1.0, 2.0, 0.5]
    ours, theirs = half_spaces(points), _facets(points)
    assert len(ours) == len(theirs)
    distance = np.abs(ours[:, None] - theirs[None]).max(-1)
    assert distance.min(axis=0).max() < 1e-9
    assert distance.min(axis=1).max() < 1e-9


def test_convex_hull_of_a_box_with_points_inside_and_on_its_faces():
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3), -1).reshape(-1, 3)
    planes = half_spaces(grid * [1.0, 2.0, 3.0] + [5.0, 0.0, 0.0])
    expected = {(1, 0, 0, 6), (-1, 0, 0, -4), (0, 1, 0, 2), (0, -1, 0, 2), (0, 0, 1, 3), (0, 0, -1, 3)}
    assert {tuple(np.round(row, 9) + 0.0) for row in planes} == expected


@pytest.mark.parametrize("points", [[], [[0, 0, 0]] * 5, np.eye(3), [[0, 0, np.nan]] * 4, [1, 2, 3], np.zeros((0, 3))])
def test_points_without_a_hull(points):
    with pytest.raises(InputError, match="hull"):
        half_spaces(points)
