"""Solids with flat faces as the kernels have them: corners, faces and edges of one after the other.

Triangles of one plane are one face. Of each solid, whose corners are told from the middle of the box around it,

    integers   its first number; numbers of corners, faces, edges; where each face's corners begin, and the last one's
               end; the corners of all faces, counterclockwise from outside; the edges behind these corners; the first
               and the last corner of each edge, the face at its left (along which it runs so) and that at its right
    numbers    corners; normals of faces, and their distances from the middle
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import MechanismError
from vigym.engine.kernels.collision.asking import PLACES, place_of
from vigym.engine.kernels.collision.space import is_ground
from vigym.engine.kernels.store import Group
from vigym.engine.polyhedra import Hull
from vigym.engine.shapes import Box, Cylinder
from vigym.engine.validation import Array

if TYPE_CHECKING:
    from vigym.engine.collider import Collider

LEVEL = 1e-10  # of the extent of corners: triangles that differ by less are of one plane
MOST_CORNERS = 512
BOX: list[tuple[int, ...]] = [
    (0, 4, 6, 2),
    (1, 3, 7, 5),
    (0, 1, 5, 4),
    (2, 6, 7, 3),
    (0, 2, 3, 1),
    (4, 5, 7, 6),
]  # -x, x, -y, ...


class Polytope(NamedTuple):
    """Corners (n, 3), m, and faces: rows of corners, counterclockwise from outside."""

    corners: Array
    faces: list[tuple[int, ...]]

    @property
    def planes(self) -> Array:
        """Outward normals of the faces and their distances from the origin (n_faces, 4)."""
        found = []
        for face in self.faces:
            points = self.corners[list(face)]
            spokes = points[1:] - points[0]
            normal = np.cross(spokes[:-1], spokes[1:]).sum(0)
            normal /= np.linalg.norm(normal)
            found.append([*normal, (points @ normal).max()])
        return np.array(found)

    @property
    def thickness(self) -> float:
        """The least of what lies between a face and the corner farthest from it, m."""
        planes = self.planes
        return float((planes[:, 3] - (self.corners @ planes[:, :3].T).min(0)).min())


def polytope_of(shape: Hull | Box) -> Polytope:
    """A solid with flat faces, from the middle of the box around it."""
    match shape:
        case Box(size=size):
            signs = np.array([[1 if number >> k & 1 else -1 for k in range(3)] for number in range(8)])
            return Polytope(0.5 * signs * np.array(size), BOX)
    vertices, triangles = shape.triangles()
    return merged(vertices - middle(shape), triangles)


def middle(shape: Hull) -> Array:
    """Middle of the box around a hull, in its frame (3,)."""
    points = np.array(shape.points)
    return 0.5 * (points.min(0) + points.max(0))


def merged(vertices: Array, triangles: NDArray[np.int64]) -> Polytope:
    """A convex solid whose triangles of one plane have become one face."""
    size = np.ptp(vertices, axis=0).max()
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    owner = {(int(row[k]), int(row[(k + 1) % 3])): f for f, row in enumerate(triangles) for k in range(3)}
    group = list(range(len(triangles)))

    def first(f: int) -> int:
        while group[f] != f:
            f = group[f]
        return f

    for (a, b), f in owner.items():
        g = owner[b, a]
        apart = max(np.abs((corners[g] - corners[f][0]) @ normals[f]).max(), 0.0)
        if apart < LEVEL * size:
            group[max(first(f), first(g))] = min(first(f), first(g))
    follows: dict[int, dict[int, int]] = {}
    for (a, b), f in owner.items():
        if first(f) != first(owner[b, a]):
            follows.setdefault(first(f), {})[a] = b
    faces = []
    for around in follows.values():
        start = at = next(iter(around))
        face = [start]
        while (at := around[at]) != start:
            face.append(at)
        faces.append(tuple(face))
    used = sorted({corner for face in faces for corner in face})
    number = {corner: k for k, corner in enumerate(used)}
    return Polytope(vertices[used], [tuple(number[corner] for corner in face) for face in faces])


class Hulls(NamedTuple):
    """Tables of all solids with flat faces of a mechanism that need them, see the top of this file.

    numbers: (n,). integers: (k,). first: (n_colliders,), where those of a collider begin in `integers`; 0 for others.
    asked: whether there are couples for each of the functions of kernels/collision/asking.py.
    """

    numbers: Array
    integers: NDArray[np.int64]
    first: NDArray[np.int64]
    asked: tuple[bool, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """Fields of layout.Sizes."""
        return {"hull_numbers": len(self.numbers), "hull_integers": len(self.integers)}

    def write(self, m: Group) -> None:
        """Write them into the model store."""
        m.hull_numbers[:, 0], m.hull_integers[:] = self.numbers, self.integers
        m.collider_hull[:] = self.first


def hulls_of(colliders: Sequence["Collider"], couples: Sequence[tuple[int, int]]) -> Hulls:
    """Tables of the hulls, and of the boxes that touch hulls, cylinders or ground of triangles."""
    shapes, kinds = [collider.shape for collider in colliders], [collider.kind for collider in colliders]
    places = {place_of(kinds[a], kinds[b]) for a, b in couples}
    needed = set()
    for a, b in couples:
        if any(isinstance(shapes[k], (Hull, Cylinder)) or is_ground(kinds[k]) for k in (a, b)):
            needed |= {k for k in (a, b) if isinstance(shapes[k], (Hull, Box))}
    numbers, integers = [np.zeros(1)], [np.zeros(1, np.int64)]
    first = np.zeros(len(shapes), np.int64)
    for k in sorted(needed):
        first[k] = sum(map(len, integers))
        solid = polytope_of(shapes[k])  # type: ignore[arg-type]
        integers.append(np.array([sum(map(len, numbers)), *table_of(solid)], np.int64))
        numbers += [solid.corners.ravel(), solid.planes.ravel()]
    return Hulls(np.concatenate(numbers), np.concatenate(integers), first, tuple(place in places for place in PLACES))


def table_of(solid: Polytope) -> list[int]:
    """Integers of a solid, but for its first number."""
    left = {(a, b): f for f, face in enumerate(solid.faces) for a, b in zip(face, face[1:] + face[:1], strict=True)}
    edges = [edge for edge in left if edge[0] < edge[1]]
    number = {edge: k for k, edge in enumerate(edges)} | {(b, a): k for k, (a, b) in enumerate(edges)}
    starts = np.cumsum([0, *map(len, solid.faces)]).tolist()
    corners = [corner for face in solid.faces for corner in face]
    behind = [number[edge] for edge in left]
    ends = [value for a, b in edges for value in (a, b, left[a, b], left[b, a])]
    return [len(solid.corners), len(solid.faces), len(edges), *starts, *corners, *behind, *ends]


def check_corners(shape: Hull, what: str) -> None:
    """MechanismError if a hull has too many corners to touch anything."""
    if len(shape.points) > MOST_CORNERS:
        raise MechanismError(
            f"{what}: a Hull that touches others may have {MOST_CORNERS} corners, not {len(shape.points)}: leave out "
            "points that are hardly beyond others, or let it have several hulls"
        )
