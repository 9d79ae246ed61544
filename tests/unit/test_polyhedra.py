"""Hulls and meshes: volume, centre and inertia by closed forms; what is no solid is an error."""

import numpy as np
import pytest

from vigym import Box, Hull, Mechanism, MechanismError, Mesh
from vigym.engine.rotation import rotation_matrix
from vigym.engine.shapes import mass_properties

SIZE = np.array([0.2, 0.3, 0.5])
CORNERS = 0.5 * SIZE * np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_the_hull_of_a_box_is_the_box(shift):
    rng = np.random.default_rng(0)
    inner = rng.uniform(-0.5, 0.5, (50, 3)) * SIZE
    hull, box = Hull(np.concatenate([inner, CORNERS]) + shift), Box(SIZE)
    np.testing.assert_allclose(hull.points, CORNERS + shift, atol=1e-12)
    eps = 1e-16 * max(shift, 1.0)  # by which corners are rounded
    assert hull.volume() == pytest.approx(box.volume(), abs=10 * eps)
    np.testing.assert_allclose(hull.centre(), shift, atol=100 * eps)
    np.testing.assert_allclose(hull.unit_inertia(), box.unit_inertia(), atol=100 * eps)


def test_a_tetrahedron():
    # legs 1 along the axes: V = 1/6, centre at 1/4; about it, second moments 3/80 and products -1/80
    C = np.full((3, 3), -1 / 80) + np.diag(np.full(3, 4 / 80))
    for shape in (Hull(TETRAHEDRON), Mesh(TETRAHEDRON, FACES)):
        assert shape.volume() == pytest.approx(1 / 6, rel=1e-14)
        np.testing.assert_allclose(shape.centre(), 0.25, rtol=1e-14)
        np.testing.assert_allclose(shape.unit_inertia(), np.trace(C) * np.eye(3) - C, atol=1e-15)


def test_a_mesh_with_a_hole():
    # a cube less an inner one, whose faces are seen from inside: neither convex nor in one piece
    vertices, faces = Hull(CORNERS).triangles()
    hollow = Mesh(np.concatenate([vertices, 0.5 * vertices]), np.concatenate([faces, faces[:, ::-1] + 8]))
    box, inner = Box(SIZE), Box(0.5 * SIZE)
    V, v = box.volume(), inner.volume()
    assert hollow.volume() == pytest.approx(V - v, rel=1e-13)
    expected = (V * box.unit_inertia() - v * inner.unit_inertia()) / (V - v)
    np.testing.assert_allclose(hollow.unit_inertia(), expected, atol=1e-15)


def test_triangles_close_the_hull_and_face_outwards():
    points = np.random.default_rng(1).normal(size=(200, 3))
    hull = Hull(points)
    vertices, faces = hull.triangles()
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    normals = np.cross(b - a, c - a)
    assert (np.einsum("kj,nkj->nk", normals, points[:, None] - a) <= 1e-12).all()
    mesh = Mesh(vertices, faces)  # raises if it is open
    assert mesh.volume() == pytest.approx(hull.volume(), rel=1e-14)


def test_mass_properties_of_a_shape_that_is_off_its_origin():
    q = np.array([0.5, 0.5, -0.5, 0.5])
    mass, com, inertia = mass_properties([Hull(TETRAHEDRON, position=(1, 2, 3), orientation=q)], density=12.0)
    R = rotation_matrix(q)
    assert mass == pytest.approx(2.0)
    np.testing.assert_allclose(com, [1, 2, 3] + R @ np.full(3, 0.25), atol=1e-14)
    np.testing.assert_allclose(inertia, 2 * R @ Hull(TETRAHEDRON).unit_inertia() @ R.T, atol=1e-14)
    m = Mechanism()
    with pytest.raises(MechanismError, match="centre of mass at the body origin"):
        m.add_body("off", mass=1.0, shapes=[Hull(TETRAHEDRON)])
    m.add_body("on", mass=1.0, shapes=[Hull(TETRAHEDRON - 0.25)])
    np.testing.assert_allclose(m.body("on").inertia, Hull(TETRAHEDRON).unit_inertia(), atol=1e-15)


def test_shapes_compare_by_value():
    assert Hull(CORNERS) == Hull(CORNERS.tolist())
    assert hash(Mesh(TETRAHEDRON, FACES)) == hash(Mesh(TETRAHEDRON, FACES))
    assert Hull(CORNERS) != Hull(2 * CORNERS)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Hull([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), "Hull: points must be at least 4 rows"),
        (lambda: Hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), "must not all lie in one plane"),
        (lambda: Hull(np.zeros((5, 3))), "must not all lie in one plane"),
        (lambda: Hull(np.full((5, 3), np.nan)), "Hull: points"),
        (lambda: Hull("points"), "Hull: points"),
        (lambda: Mesh(TETRAHEDRON, FACES[:3]), "Mesh: faces .* at least four rows"),
        (lambda: Mesh(TETRAHEDRON, [*FACES[:3], [1, 2, 4]]), "0 to 3; row 3 is"),
        (lambda: Mesh(TETRAHEDRON, [*FACES[:3], [1, 2, 2]]), "different .*; row 3 is"),
        (lambda: Mesh(TETRAHEDRON, [*FACES[:3], [1, 2, 2.5]]), "row 3 is"),
        (lambda: Mesh(TETRAHEDRON, [*FACES[:3], [1, 3, 2]]), "must close a solid"),
        (lambda: Mesh(TETRAHEDRON, FACES[:, ::-1]), "reverse each row"),
    ],
)
def test_what_is_no_solid_is_an_error(make, text):
    with pytest.raises(MechanismError, match=text):
        make()
