"""Pictures of what is solid: colliders of the world and of bodies, planes, forces where bodies touch."""

import numpy as np
import pytest

from vigym import Box, Capsule, Mechanism, Plane, Simulator, Sphere
from vigym.view.pictures.arrows import MOST_ARROWS, visible
from vigym.view.pictures.picture import Arrows, Camera, Renderer

SIZE = {"width": 61, "height": 61}
DOWN = Camera(2.0, 90.0, -90.0)  # from 2 m above the origin
HERE, UPRIGHT = [[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0, 0.0]]
FAR = [[50.0, 0.0, 0.0]]


def ball(**options) -> Mechanism:
    m = Mechanism()
    m.add_body("ball", 1.0, inertia=[0.1] * 3, **{"collide": False} | options)
    return m


def same(a: Mechanism, b: Mechanism, x=HERE, **options) -> bool:
    """Both look alike, in colours and in depth."""
    r, s = (Renderer(m, camera=Camera(2.0, 30.0, -30.0), **SIZE, **options) for m in (a, b))
    return bool(
        (r.render(x, UPRIGHT) == s.render(x, UPRIGHT)).all() and (r.depth(x, UPRIGHT) == s.depth(x, UPRIGHT)).all()
    )


@pytest.mark.parametrize(
    "shape",
    [Box((0.4, 0.5, 0.6)), Sphere(0.3), Capsule(0.3, 0.2, orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0))],
    ids=lambda shape: type(shape).__name__,
)
def test_solids_of_the_world_are_drawn(shape):
    """Their upper side is 2 m - 0.3 m away from a camera above; nothing else is there, not even the plane z = 0."""
    m = ball(shapes=[Sphere(0.1)])
    m.add_collider("solid", "world", shape)
    depth = Renderer(m, camera=DOWN, **SIZE).depth(FAR, UPRIGHT)
    assert depth[30, 30] == pytest.approx(1.7, abs=1e-6)
    assert np.isinf(depth[0]).all()
    other = ball(shapes=[Sphere(0.1)])
    r, s = Renderer(m, camera=DOWN, **SIZE), Renderer(other, camera=DOWN, **SIZE, scenery=[shape], planes=[])
    assert (r.render(FAR, UPRIGHT) == s.render(FAR, UPRIGHT)).all()


def test_planes_of_the_world_are_the_ground():
    """As those of contacts: a slope through (0, 0, 0.2) is 1.8 m below a camera above that point."""
    turn = (np.cos(0.2), 0.0, np.sin(0.2), 0.0)
    m, other = ball(shapes=[Sphere(0.1)]), ball(shapes=[Sphere(0.1)])
    m.add_collider("slope", "world", Plane(position=(0, 0, 0.2), orientation=turn))
    assert Renderer(m, camera=DOWN, **SIZE).depth(FAR, UPRIGHT)[30, 30] == pytest.approx(1.8, abs=1e-6)
    other.add_contact("slope", "ball", normal=(np.sin(0.4), 0, np.cos(0.4)), offset=0.2 * np.cos(0.4))
    assert same(m, other)
    level = ball(shapes=[Sphere(0.1)])
    level.add_ground()
    assert same(level, ball(shapes=[Sphere(0.1)]))  # without anything in the world, the ground is z = 0 as well


def test_a_body_without_shapes_looks_like_its_colliders():
    m = ball()
    m.add_collider("core", "ball", Sphere(0.2))
    assert same(m, ball(shapes=[Sphere(0.2)]))


def test_colliders_that_bodies_do_not_look_like_are_drawn_if_asked():
    m, plain = ball(shapes=[Sphere(0.1)], collide=True), ball(shapes=[Sphere(0.1)])
    assert same(m, plain, colliders=True)  # it looks like its collider
    m.add_collider("bumper", "ball", Box((0.4, 0.4, 0.4)))
    assert same(m, plain)
    r = Renderer(m, camera=DOWN, **SIZE, colliders=True)
    assert r.depth(HERE, UPRIGHT)[30, 30] == pytest.approx(1.8, abs=1e-6)
    red, green, blue = r.render(HERE, UPRIGHT)[30, 30].astype(int)
    assert green > max(red, blue) + 30


def test_a_plane_of_a_body_is_a_plate():
    """Its upper side is the plane: 2 m - 0.15 m below the camera; it ends, as the ground does not."""
    m = ball(shapes=[Sphere(0.1)])
    m.add_collider("tray", "ball", Plane(position=(0, 0, 0.15)))
    r = Renderer(m, camera=DOWN, **SIZE, colliders=True, planes=[])
    depth = r.depth(HERE, UPRIGHT)
    assert depth[30, 30] == pytest.approx(1.85, abs=1e-6)
    assert np.isinf(depth[0, 0])


def test_a_floor_does_not_make_bodies_small():
    """A camera that chooses its place itself looks at bodies, and at things of about their size."""
    m = ball(shapes=[Sphere(0.1)])
    m.add_collider("floor", "world", Box((50, 50, 0.1), position=(0, 0, -0.2)))
    r = Renderer(m, **SIZE)
    r.render(HERE, UPRIGHT)
    near = r.camera.distance
    assert near < 1.0
    m.add_collider("post", "world", Sphere(0.1, position=(0.6, 0, 0)))
    r = Renderer(m, **SIZE)
    r.render(HERE, UPRIGHT)
    assert near < r.camera.distance < 3.0


def test_depths_of_a_stack():
    m = Mechanism()
    m.add_ground()
    for k in range(3):
        m.add_body(f"cube {k}", 1.0, shapes=[Box((0.2, 0.2, 0.2))], position=(0, 0, 0.1 + 0.2 * k), collide=True)
    sim = Simulator(m)
    sim.step(repeat=5)
    depth = Renderer(m, camera=DOWN, **SIZE).depth(sim.state.x[0], sim.state.q[0])
    assert depth[30, 30] == pytest.approx(2.0 - 0.6, abs=1e-6)
    assert depth[0, 0] == pytest.approx(2.0, abs=1e-5)


# -------------------- arrows


def test_arrows_are_where_bodies_touch():
    """Forces between a cube of 1 kg and one of 2 kg below it, and that of the ground: sums are weights."""
    m = Mechanism()
    m.add_ground()
    for name, mass, z in (("low", 2.0, 0.1), ("high", 1.0, 0.3)):
        m.add_body(name, mass, shapes=[Box((0.2, 0.2, 0.2))], position=(0, 0, z), collide=True)
    m.add_body("peg", 0.5, inertia=[1e-3] * 3, position=(1, 0, 0.2))
    m.add_contact("peg", "peg", (0, 0, -0.1), radius=0.1)
    sim = Simulator(m, num_envs=2)
    sim.step(repeat=20)
    arrows = Arrows.at_contacts(sim, env=1, scale=0.5)
    points, forces = np.asarray(arrows.points), np.asarray(arrows.vectors) / 0.5
    np.testing.assert_allclose(forces[0], [0, 0, 0.5 * 9.81], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(points[0], [1, 0, 0], atol=1e-9)
    for height, weight in ((0.0, 3.0), (0.2, 0.0)):  # between the cubes they are opposite
        at = (np.abs(points[:, 2] - height) < 1e-6) & (points[:, 0] < 0.5)
        np.testing.assert_allclose(forces[at].sum(0), [0, 0, 9.81 * weight], rtol=1e-8, atol=1e-8)
        assert np.abs(points[at, :2]).max() == pytest.approx(0.1, abs=1e-6)
    up = (np.abs(points[:, 2] - 0.2) < 1e-6) & (forces[:, 2] > 0)
    np.testing.assert_allclose(forces[up].sum(0), [0, 0, 9.81], rtol=1e-8, atol=1e-8)


def test_arrows_that_can_be_seen():
    n = 2 * MOST_ARROWS
    points = np.stack([np.arange(n), np.zeros(n), np.zeros(n)], -1).astype(float)
    forces = np.zeros((n, 3))
    forces[::4, 2] = 1e6  # too long: 0.4 of the distance
    forces[1::4, 2] = 20.0
    forces[2::4, 2] = 5.0
    forces[3::4, 2] = 0.1  # too short
    start, along = visible(points, forces, 0.01, 2.0)
    assert len(start) == MOST_ARROWS
    np.testing.assert_allclose(np.unique(along[:, 2]), [0.2, 0.8])
    start, along = visible(points[:8], forces[:8], 0.01, 2.0)
    assert start[:, 0].tolist() == [0, 1, 2, 4, 5, 6]
    assert len(visible(np.zeros((0, 3)), np.zeros((0, 3)), 1.0, 1.0)[0]) == 0
