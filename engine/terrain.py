"""Ground of triangles as the kernels have it: its numbers and integers, one ground after the other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.engine.collider import Collider
from vigym.engine.height_field import HeightField
from vigym.engine.hierarchy import boxes
from vigym.engine.kernels.store import Group
from vigym.engine.polyhedra import Mesh
from vigym.engine.validation import Array


class Terrain(NamedTuple):
    """All grounds of a mechanism, see kernels/collision/height_field.py and mesh.py there.

    numbers: (n,). integers: (k,). first: (n_colliders,), where those of a collider begin in `integers`; 0 for others.
    """

    numbers: Array
    integers: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def is_there(self) -> bool:
        """True if there is any ground."""
        return bool(self.first.any())

    @property
    def sizes(self) -> dict[str, int]:
        """Fields of layout.Sizes."""
        return {"ground_numbers": len(self.numbers), "ground_integers": len(self.integers)}

    def write(self, m: Group) -> None:
        """Write it into the model store."""
        m.ground_numbers[:, 0], m.ground_integers[:] = self.numbers, self.integers
        m.collider_ground[:] = self.first


def terrain_of(colliders: Sequence[Collider]) -> Terrain:
    """The grounds among these colliders."""
    numbers, integers = [np.zeros(1)], [np.zeros(1, np.int64)]
    first = np.zeros(len(colliders), np.int64)
    for k, collider in enumerate(colliders):
        if isinstance(collider.shape, HeightField | Mesh):
            first[k], start = sum(map(len, integers)), sum(map(len, numbers))
            more, counts = of_ground(collider.shape)
            numbers += more
            integers += [np.array([start]), counts]
    return Terrain(np.concatenate(numbers), np.concatenate(integers), first)


def of_ground(shape: HeightField | Mesh) -> tuple[list[Array], NDArray[np.int64]]:
    """Numbers of a ground, and its integers, but for its first number."""
    if isinstance(shape, Mesh):
        return of_mesh(shape)
    rows, columns = shape.heights.shape
    head = [0.5 * shape.size[0], 0.5 * shape.size[1], *shape.spacing, shape.heights.min(), shape.heights.max()]
    return [np.array(head), shape.heights.ravel()], np.array([columns, rows])


def of_mesh(shape: Mesh) -> tuple[list[Array], NDArray[np.int64]]:
    """Vertices, normals at them and boxes of a mesh; its counts, triangles and the neighbours of its vertices."""
    vertices, faces = shape.triangles()
    order, leaves, low, high = boxes(vertices[faces], 1)
    faces, n = faces[order], len(vertices)
    starts, ends = faces.ravel(), np.roll(faces, -1, 1).ravel()
    last = np.roll(faces, -2, 1).ravel().tolist()
    edges = list(zip(starts.tolist(), ends.tolist(), strict=True))
    beyond = dict(zip(edges, last, strict=True))
    across = [beyond.get((b, a), -1) for a, b in edges]
    around = np.unique(np.concatenate([starts * n + ends, ends * n + starts]))
    rings = np.searchsorted(around // n, np.arange(n + 1))
    parts = np.concatenate([faces, np.reshape(across, (-1, 3))], 1).ravel()
    integers = np.concatenate([[n, len(faces), leaves], parts, rings, around % n]).astype(np.int64)
    normals = vertex_normals(vertices[faces], faces, n)
    normals[starts[np.array(across) < 0]] = normals[ends[np.array(across) < 0]] = 0.0
    return [vertices.ravel(), normals.ravel(), np.concatenate([low, high], 1).ravel()], integers


def vertex_normals(corners: Array, faces: NDArray[np.int64], n: int) -> Array:
    """Sums (n, 3) of the unit normals of the faces around each vertex, weighted by their angles there."""
    sums = np.zeros((n, 3))
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    for k in range(3):
        one, two = (corners[:, (k + i) % 3] - corners[:, k] for i in (1, 2))
        sine = np.linalg.norm(np.cross(one, two), axis=1)
        angle = np.arctan2(sine, np.einsum("ij,ij->i", one, two))
        np.add.at(sums, faces[:, k], normals * angle[:, None])
    return sums
