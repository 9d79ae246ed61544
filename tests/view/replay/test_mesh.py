"""Solids as triangles: closed, outside out, of the right size."""

import numpy as np
import pytest

from vigym import Box, Capsule, Cylinder, Sphere
from vigym.view.page.mesh import AROUND, merge, mesh
from vigym.view.pictures.scene import part

TURNED = {"position": (1.0, -2.0, 0.5), "orientation": (0.8, 0.0, 0.6, 0.0)}
SOLIDS = [Box((0.4, 0.3, 0.2), **TURNED), Cylinder(0.1, 0.5, **TURNED), Capsule(0.1, 0.5), Sphere(0.2, **TURNED)]


def volume(vertices, faces):
    """Sum of the tetrahedra from the origin to the triangles: det(a, b, c) / 6, positive if they are outside out."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return (np.cross(a, b) * c).sum() / 6


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda solid: type(solid).__name__)
def test_volume_and_edges(solid):
    """A circle of n corners has the area of the disc times sin(2 pi / n) / (2 pi / n); a ball loses that twice."""
    vertices, faces = mesh(part(solid, (0, 0, 0)))
    n = 2 * np.pi / AROUND
    lost = 1 - np.sin(n) / n
    assert solid.volume() * (1 - 2.5 * lost) < volume(vertices, faces) < solid.volume() * (1 + 1e-9)
    # closed: every edge is there once in either direction, as places (vertices of sharp edges are there twice)
    _, place = np.unique(np.round(vertices, 9), axis=0, return_inverse=True)
    corners = place.reshape(-1)[faces]
    edges = {tuple(corner[[i, (i + 1) % 3]]) for corner in corners for i in range(3)}
    assert edges == {edge[::-1] for edge in edges}
    assert len(edges) == 3 * len(faces)


def test_merged():
    one, two = mesh(part(SOLIDS[0], (0, 0, 0))), mesh(part(SOLIDS[1], (0, 0, 0)))
    assert np.isclose(volume(*merge([one, two])), volume(*one) + volume(*two))
