"""Bodies on a triangle mesh: inner edges are no obstacles, a closed one has all its sides, nothing goes through."""

import numpy as np
import pytest
from on_ground import SHAPES, G, motion, scaled, world

from vigym import HeightField, Hull, Mechanism, MechanismError, Mesh, Plane, Simulator, Sphere, StateError

SIDES = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]


def uneven(size=4.0, slope=0.0, n=9):
    """A flat open mesh whose inner vertices are anywhere, and whose triangles have all orders of corners."""
    rng = np.random.default_rng(0)
    field = HeightField(np.zeros((n, n)), (size, size))
    vertices, faces = (part.copy() for part in field.triangles())
    inner = (np.abs(vertices[:, :2]) < 0.49 * size).all(1)
    vertices[inner, :2] += rng.uniform(-0.2, 0.2, (inner.sum(), 2)) * size / (n - 1)
    vertices[:, 2] = slope * vertices[:, 0]
    return Mesh(vertices, [np.roll(face, rng.integers(3)) for face in faces], closed=False)


def solid(corners, holes=False):
    """A closed mesh with the corners of a box; counted as those of one."""
    faces = [(a, b, c) for side in SIDES for a, b, c in ((side[0], *side[1:3]), (side[0], *side[2:]))]
    return Mesh(corners, [face[::-1] for face in faces] if holes else faces)


def box_mesh(size):
    signs = np.array([[1 if number >> k & 1 else -1 for k in range(3)] for number in range(8)])
    return solid(0.5 * signs * np.array(size))


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("size", [0.01, 1.0])
def test_flat_mesh_is_a_plane(kind, size):
    # a thrown, tumbling, sliding, rolling body does the same on both, wherever it crosses edges
    for x, y in ((0.0, 0.0), (0.13, -0.37)):
        at = size * np.array([x, y, 0.25])
        start = {"x": at, "v": size**0.5 * np.array([1.0, 0.4, 0.0]), "w": size**-0.5 * np.array([3.0, 1.0, 1.0])}
        body, dt = scaled(SHAPES[kind], size), 0.01 * size**0.5
        found = [motion(world(body, ground, at), 120, dt, **start) for ground in (Plane(), uneven(4.0 * size))]
        assert np.abs(found[0][0][:, :3] - found[1][0][:, :3]).max() < 2e-9 * size
        assert np.abs(found[0][0][:, 3:7] - found[1][0][:, 3:7]).max() < 4e-9
        assert found[1][1].status.substeps.max() == 1


@pytest.mark.parametrize("kind", SHAPES)
def test_bodies_slide_over_edges_as_on_a_plane(kind):
    high = {"ball": 0.1, "box": 0.075, "rod": 0.05}[kind]
    lying = (0.5**0.5, 0.0, 0.5**0.5, 0.0) if kind == "rod" else (1.0, 0.0, 0.0, 0.0)
    start = {"x": (-1.3, 0.11, high), "v": (2.5, 0.3, 0.0), "q": lying}
    one, two = (motion(world(SHAPES[kind], g, friction=0.2), 100, **start)[0] for g in (Plane(), uneven()))
    assert one[-1, 0] - one[0, 0] > 1.0
    assert np.abs(one - two).max() < 1e-9


@pytest.mark.parametrize("kind", SHAPES)
def test_mesh_of_the_triangles_of_a_field_does_what_the_field_does(kind):
    field = HeightField(np.random.default_rng(0).uniform(0.0, 0.08, (17, 17)), (3.2, 3.2))
    mesh = Mesh(*field.triangles(), closed=False)
    start = {"x": (0.2, 0.1, 0.4), "v": (1.0, 0.5, 0.0), "w": (3.0, 1.0, -2.0)}
    one, two = (motion(world(SHAPES[kind], ground, (0, 0, 1)), 40, **start)[0] for ground in (field, mesh))
    assert np.abs(one - two)[:, :7].max() < 1e-7


@pytest.mark.parametrize("angle", [20.0, 45.0])
def test_ball_in_a_valley_and_on_a_ridge(angle):
    # each side of the valley carries G/2 upwards and G/2 tan(angle) inwards
    rise, r = np.tan(np.radians(angle)), 0.1
    points = [(x, y, 0.0) for x in (-2.0, 0.0, 2.0) for y in (-2.0, 2.0)]
    faces = [(0, 2, 3), (0, 3, 1), (2, 4, 5), (2, 5, 3)]
    high = r / np.cos(np.radians(angle))
    valley = Mesh([(x, y, rise * abs(x)) for x, y, _ in points], faces, closed=False)
    _, sim = motion(world(Sphere(r), valley, (0.0, 0.13, high + 1e-3), 0.0), 60)
    aside, found = G / 2 * rise, sim.contacts()
    assert np.allclose(found.force[np.argsort(found.force[:, 0])], [[-aside, 0, G / 2], [aside, 0, G / 2]], atol=1e-6)
    assert np.allclose(sim.state.x[0, 0], [0.0, 0.13, high], atol=1e-9)
    ridge = Mesh([(x, y, -rise * abs(x)) for x, y, _ in points], faces, closed=False)
    sim = Simulator(world(Sphere(r), ridge, (1e-3, 0.13, (r**2 - 1e-6) ** 0.5), 1.0), dt=0.005)
    slope = np.radians(angle)
    for _ in range(150):
        sim.step()
        x, _, z = sim.state.x[0, 0]
        around = x < r * np.sin(slope)
        assert abs((x**2 + z**2) ** 0.5 - r if around else x * np.sin(slope) + z * np.cos(slope) - r) < 1e-5
    assert not around


@pytest.mark.parametrize("kind", SHAPES)
def test_closed_mesh_of_a_box_is_a_table_and_a_ceiling(kind):
    # its top carries; thrown against it from below, at its sides and edges, nothing goes in
    table = box_mesh((0.5, 0.4, 0.02))
    high = {"ball": 0.1, "box": 0.075, "rod": 0.2}[kind]
    _, sim = motion(world(SHAPES[kind], table, (0.05, 0.02, 0.01 + high)), 10)
    assert abs(sim.state.x[0, 0, 2] - 0.01 - high) < 1e-9
    rng, n = np.random.default_rng(1), 8
    sim = Simulator(world(SHAPES[kind], table, (0, 0, 1)), dt=0.01, num_envs=n)
    x = rng.normal(size=(n, 1, 3))
    x *= 0.7 / np.linalg.norm(x, axis=-1, keepdims=True)
    sim.set_state(x=x, v=-4.0 * x + 0.3 * rng.normal(size=(n, 1, 3)), w=3.0 * rng.normal(size=(n, 1, 3)))
    for _ in range(60):
        sim.step()
        assert sim.status.converged.all()
        assert sim.distance("body", "world").min() > -1e-8


def wedge(size=1.0):
    around = 2 * np.pi * np.arange(3) / 3
    return Hull([(0.1 * size * np.cos(a), 0.1 * size * np.sin(a), z * size) for a in around for z in (-0.05, 0.05)])


@pytest.mark.parametrize("size", [0.01, 1.0])
def test_hull_slides_on_flat_ground_as_on_a_plane(size):
    # three corners: the forces of more of them are not unique
    at = size * np.array([-0.5, 0.07, 0.05])
    start = {"x": at, "v": size**0.5 * np.array([2.5, 0.4, 0.0]), "w": size**-0.5 * np.array([0.0, 0.0, 2.0])}
    grounds = Plane(), uneven(4.0 * size), HeightField(np.zeros((17, 17)), (4.0 * size, 4.0 * size))
    one, *others = (motion(world(wedge(size), g, at, 0.3), 100, 0.01 * size**0.5, **start)[0] for g in grounds)
    for other in others:
        assert np.abs(one - other)[:, :3].max() < 1e-9 * size
        assert np.abs(one - other)[:, 3:7].max() < 1e-9
    assert one[-1, 0] - one[0, 0] > 0.3 * size


def test_hull_with_the_corners_of_a_box_does_what_the_box_does():
    box = SHAPES["box"]
    corners = np.array(box_mesh(box.size).vertices)
    ground = HeightField(np.random.default_rng(0).uniform(0.0, 0.08, (17, 17)), (3.2, 3.2))
    start = {"x": (0.2, 0.1, 0.4), "v": (1.0, 0.5, 0.0), "w": (3.0, 1.0, -2.0)}
    one, two = (motion(world(shape, ground), 40, **start)[0] for shape in (box, Hull(corners)))
    assert np.abs(one - two)[:, :7].max() < 1e-7


def test_hulls_do_not_sink_into_rough_ground():
    rng, n = np.random.default_rng(1), 8
    around = rng.normal(size=(14, 3))
    stone = Hull(0.12 * around / np.linalg.norm(around, axis=1, keepdims=True))
    centred = Hull(np.array(stone.points) - stone.centre())
    ground = Mesh(*HeightField(rng.uniform(0.0, 0.1, (33, 33)), (3.2, 3.2)).triangles(), closed=False)
    sim = Simulator(world(centred, ground), dt=0.01, num_envs=n)
    x = np.concatenate([rng.uniform(-0.8, 0.8, (n, 1, 2)), np.full((n, 1, 1), 0.4)], -1)
    sim.set_state(x=x, v=rng.normal(size=(n, 1, 3)), w=3.0 * rng.normal(size=(n, 1, 3)))
    for _ in range(100):
        sim.step()
        assert sim.status.converged.all()
        assert sim.distance("body", "world").min() > -1e-8


def test_ball_stays_in_a_closed_room():
    # the same faces, looking inwards: a hole in a block, whose outside is far away
    signs = np.array([[1 if number >> k & 1 else -1 for k in range(3)] for number in range(8)], float)
    inner, outer = solid(0.5 * signs), solid(3.0 * signs)
    faces = [*outer.faces, *(tuple(8 + k for k in face[::-1]) for face in inner.faces)]
    room = Mesh(np.concatenate([outer.vertices, inner.vertices]), faces)
    m = Mechanism(gravity=(0, 0, 0))
    m.add_collider("room", "world", room, friction=0.0, restitution=1.0)
    m.add_body("ball", 1.0, shapes=[Sphere(0.1)], friction=0.0)
    sim = Simulator(m, dt=0.01)
    sim.set_state(v=[[[1.0, 0.7, 0.4]]])
    for _ in range(200):
        sim.step()
        assert np.abs(sim.state.x).max() < 0.4 + 1e-9
    assert np.allclose(np.abs(sim.state.v[0, 0]), [1.0, 0.7, 0.4], atol=1e-6)  # reflected by faces, edges pass it on


def test_environment_of_a_batch_does_what_it_does_alone():
    ground = Mesh(*HeightField(np.random.default_rng(4).uniform(0, 0.1, (9, 9)), (2, 2)).triangles(), closed=False)
    m, rng = world(SHAPES["box"], ground), np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-0.6, 0.6, (5, 1, 2)), np.full((5, 1, 1), 0.4)], -1)
    batch = Simulator(m, dt=0.01, num_envs=5)
    batch.set_state(x=x)
    batch.step(repeat=50)
    alone = Simulator(m, dt=0.01)
    alone.set_state(x=x[3:4])
    kept = alone.save()
    alone.step(repeat=50)
    assert np.array_equal(alone.state.x[0], batch.state.x[3])
    alone.restore(kept)
    alone.step(repeat=50)
    assert np.array_equal(alone.state.q[0], batch.state.q[3])


def test_start_inside():
    m = world(Sphere(0.1), box_mesh((2.0, 2.0, 2.0)), (0.1, 0.2, 0.85))
    with pytest.raises(StateError, match=r"'body'.*'ground'|'ground'.*'body'"):
        Simulator(m).step()
    assert Simulator(m, overlap="keep").distance("body", "world")[0] == pytest.approx(-0.25)
    assert -1e-9 <= Simulator(m, overlap="separate").distance("body", "world")[0] < 1e-6


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"faces": [(0, 1, 2), (0, 1, 3)]}, r"edge from vertex \d to \d has 2 face"),
        ({"faces": []}, "at least one"),
        ({"closed": 1}, "closed must be True or False"),
        ({"closed": True}, "at least four rows"),
    ],
)
def test_bad_meshes(given, words):
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 1)]
    with pytest.raises(MechanismError, match=words):
        Mesh(**({"vertices": points, "faces": [(0, 1, 2)], "closed": False} | given))


def test_meshes_that_cannot_be_what_is_asked():
    flat = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], closed=False)
    m = Mechanism()
    with pytest.raises(MechanismError, match="has no volume"):
        m.add_body("body", 1.0, shapes=[flat])
    m.add_body("body", 1.0, shapes=[box_mesh((1, 1, 1))])
    assert not m.colliders
    with pytest.raises(MechanismError, match=r"Mesh is ground of the 'world'.*'body'"):
        m.add_collider("mesh", "body", box_mesh((1, 1, 1)))
    thin = Mesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)], closed=False)
    with pytest.raises(MechanismError, match=r"'ground': face 0 of the Mesh, \[0, 1, 2\], has no area"):
        m.add_collider("ground", "world", thin)
