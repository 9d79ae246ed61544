"""Solids as triangles, for the page."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import InputError
from vigym.engine.validation import Array
from vigym.view.pictures import solids as kinds
from vigym.view.pictures.hierarchy import corner_normals
from vigym.view.pictures.scene import Part

AROUND = 20  # corners of a circle

Mesh = tuple[Array, NDArray[np.int64]]


def mesh(part: Part) -> Mesh:
    """Vertices (n, 3) in the frame of the part's body, and triangles (m, 3), counter-clockwise from outside.

    Edges that are sharp have vertices of their own on either side: normals are means over the faces of a vertex.
    """
    if part.kind == kinds.BOX:
        vertices, faces = _box(np.array(part.size))
    elif part.kind in (kinds.SPHERE, kinds.CAPSULE, kinds.CYLINDER):
        r, half = part.size[0], 0.0 if part.kind == kinds.SPHERE else part.size[1]
        vertices, faces = _cylinder(r, half) if part.kind == kinds.CYLINDER else _capsule(r, half)
    elif part.triangles is not None:
        vertices, faces = _creased(*part.triangles)
    else:
        raise InputError(f"the page cannot show a solid of kind {part.kind}")
    return vertices @ part.rotation.T + part.position, faces


def _creased(vertices: Array, faces: NDArray[Any]) -> Mesh:
    """Triangles, with vertices of their own on either side of sharp edges."""
    normals = np.round(corner_normals(vertices, faces).reshape(-1, 3), 2)
    rows, place = np.unique(np.hstack([vertices[faces].reshape(-1, 3), normals]), axis=0, return_inverse=True)
    return rows[:, :3], place.reshape(-1, 3)


def merge(meshes: list[Mesh]) -> Mesh:
    """Several as one."""
    first = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    faces = [faces + start for (_, faces), start in zip(meshes, first, strict=False)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(faces)


def _box(half: Array) -> Mesh:
    vertices: list[Array] = []
    faces: list[list[int]] = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            corner = np.zeros((4, 3))
            corner[:, axis] = side
            corner[:, (axis + 1) % 3] = [-1, 1, 1, -1]
            corner[:, (axis + 2) % 3] = [-side, -side, side, side]
            k = 4 * len(vertices)
            vertices.append(corner * half)
            faces += [[k, k + 1, k + 2], [k, k + 2, k + 3]]
    return np.concatenate(vertices), np.array(faces)


def _capsule(r: float, half: float) -> Mesh:
    """Rings from the lower to the upper pole, with the equator at both ends of the cylinder; half = 0 is a sphere."""
    below = np.radians(np.linspace(-90.0, 0.0, AROUND // 4 + 1))
    above = -below[::-1] if half > 0.0 else -below[-2::-1]
    angle = np.concatenate([below, above])
    shift = np.repeat([-half, half], [len(below), len(above)])
    return _rings(r * np.cos(angle), r * np.sin(angle) + shift)


def _cylinder(r: float, half: float) -> Mesh:
    side = _rings(np.array([r, r]), np.array([-half, half]))
    ends = [_rings(np.array([0.0, r]), np.full(2, -half)), _rings(np.array([r, 0.0]), np.full(2, half))]
    return merge([side, *ends])


def _rings(radius: Array, z: Array) -> Mesh:
    """A surface of revolution through circles about z, the lowest first."""
    turn = 2.0 * np.pi * np.arange(AROUND) / AROUND
    circle = np.stack([np.cos(turn), np.sin(turn), np.zeros(AROUND)], -1)
    vertices = radius[:, None, None] * circle + z[:, None, None] * [0.0, 0.0, 1.0]
    faces = []
    for k in range(len(radius) - 1):
        for i in range(AROUND):
            a, b = k * AROUND + i, k * AROUND + (i + 1) % AROUND
            if radius[k] > 1e-9:
                faces.append([a, b, b + AROUND])
            if radius[k + 1] > 1e-9:
                faces.append([a, b + AROUND, a + AROUND])
    return vertices.reshape(-1, 3), np.array(faces)
