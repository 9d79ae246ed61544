"""Distances from ground of triangles, against brute force over all of them."""

import numpy as np
import pytest
from nearest import least_norm

from vigym import Box, Capsule, HeightField, Hull, Mechanism, Mesh, Simulator, Sphere
from vigym.engine.rotation import rotation_matrix


def cores(shape):
    """Corners of the core of a shape, and the radius around it."""
    if isinstance(shape, Sphere):
        return np.zeros((1, 3)), shape.radius
    if isinstance(shape, Capsule):
        return np.array([[0, 0, -0.5], [0, 0, 0.5]]) * shape.length, shape.radius
    if isinstance(shape, Hull):
        return np.array(shape.points), 0.0
    signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return signs * shape.size, 0.0


STONE = Hull(0.3 * np.random.default_rng(1).normal(size=(12, 3)))
SHAPES = [Sphere(0.1), Capsule(0.07, 0.4), Box((0.3, 0.2, 0.5)), STONE]


@pytest.mark.parametrize("is_mesh", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: type(s).__name__)
def test_against_all_triangles(shape, is_mesh):
    rng = np.random.default_rng(5)
    turn = rng.normal(size=4)
    field = HeightField(rng.uniform(0, 0.5, (7, 6)), (3.0, 2.5), position=(0.3, -0.2, 0.1), orientation=turn)
    vertices, faces = field.triangles()
    if is_mesh:
        field = Mesh(vertices, faces, closed=False, position=field.position, orientation=field.orientation)
    vertices = vertices @ rotation_matrix(np.array(field.orientation)).T + field.position
    m = Mechanism()
    m.add_collider("hill", "world", field)
    m.add_body("body", 1.0, inertia=(1, 1, 1), shapes=[shape], position=(0, 0, 9))
    n = 40
    sim = Simulator(m, num_envs=n, overlap="keep")
    up = rotation_matrix(np.array(field.orientation))
    local = np.stack([rng.uniform(-2, 2, n), rng.uniform(-1.7, 1.7, n), rng.uniform(0.2, 1.5, n)], -1)
    x, q = local @ up.T + field.position, rng.normal(size=(n, 1, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    sim.set_state(x=x[:, None], q=q, overlap="keep")
    found, (core, radius) = sim.distance("world", "body"), cores(shape)
    apart = 0
    for k in range(n):
        points = core @ rotation_matrix(q[k, 0]).T + x[k]
        want = min(least_norm((points[:, None] - vertices[face]).reshape(-1, 3)) for face in faces)
        if found[k] > 1e-6 - radius and want > 1e-6:  # neither goes through the surface
            apart += 1
            assert found[k] == pytest.approx(want - radius, abs=1e-9)
    assert apart > n // 2


def test_depth_in_a_closed_mesh():
    # a point on either side of all faces, edges and corners of a solid that is not convex: an L
    side = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    vertices = [(x, y, z) for z in (0.0, 1.0) for x, y in side]
    caps = [(0, 1, 3), (1, 2, 3), (0, 3, 5), (3, 4, 5)]
    walls = [face for k in range(6) for j in [(k + 1) % 6] for face in ((k, j, 6 + j), (k, 6 + j, 6 + k))]
    shape = Mesh(vertices, [(a + 6, b + 6, c + 6) for a, b, c in caps] + [face[::-1] for face in caps] + walls)
    m = Mechanism()
    m.add_collider("solid", "world", shape)
    m.add_body("ball", 1.0, shapes=[Sphere(1e-3)])
    rng, n = np.random.default_rng(2), 300
    x = rng.uniform(-0.5, 2.5, (n, 1, 3))
    sim = Simulator(m, num_envs=n, overlap="keep")
    sim.set_state(x=x, overlap="keep")

    def room(p, low, high):
        d = np.maximum(low - p, p - high)
        return np.linalg.norm(np.maximum(d, 0.0)) + min(d.max(), 0.0)

    found = sim.distance("ball", "world") + 1e-3
    boxes = [(np.zeros(3), np.array([2.0, 1.0, 1.0])), (np.zeros(3), np.array([1.0, 2.0, 1.0]))]
    rooms = np.array([[room(p, *box) for box in boxes] for p in x[:, 0]])
    outside = (rooms > 0.0).all(1)
    assert 50 < outside.sum() < n - 20
    assert np.allclose(found[outside], rooms[outside].min(1), atol=1e-12)
    assert (found[~outside] < 0.0).all()
