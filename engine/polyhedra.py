"""Solids with flat faces: a convex hull of points, and a closed triangle mesh.

A solid is the sum of the tetrahedra between the origin and its faces (a, b, c), counted with their signs:

    volume          V = sum v,  v = a . (b x c) / 6
    centre          sum v (a + b + c) / (4 V)
    second moments  sum v (a a^T + b b^T + c c^T + s s^T) / 20,  s = a + b + c

and the unit inertia is trace(C) 1 - C with the second moments C about the centre, over V.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import MechanismError
from vigym.engine.shapes import Shape, Vector3
from vigym.engine.validation import Array, numeric, show

Faces = NDArray[np.int64]
FLAT = 1e-9  # of the extent of points: hulls that are thinner have no volume
THINNEST = 1e-8  # height of a triangle over its longest side, of a mesh that is touched


@dataclass(frozen=True)
class _Polyhedron(Shape):
    """A solid that ends at triangles; its origin need not be its centre of mass."""

    def triangles(self) -> tuple[Array, Faces]:
        """Vertices (n, 3) in the shape's frame, m, and faces (k, 3): their numbers, counterclockwise from outside."""
        raise NotImplementedError

    @cached_property
    def _moments(self) -> tuple[float, Array, Array]:
        """Volume, centre of mass (3,), unit inertia (3, 3) about it."""
        vertices, faces = self.triangles()
        middle = 0.5 * (vertices.min(0) + vertices.max(0))  # so that far from the origin no digits are lost
        corners = (vertices - middle)[faces]
        parts = np.einsum("ki,ki->k", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
        volume, ends = float(parts.sum()), corners.sum(1)
        if not volume > 0.0:
            return volume, middle, np.zeros((3, 3))
        centre = parts @ ends / (4.0 * volume)
        second = np.einsum("k,kpi,kpj->ij", parts, corners, corners) + np.einsum("k,ki,kj->ij", parts, ends, ends)
        C = second / (20.0 * volume) - np.outer(centre, centre)
        return volume, middle + centre, np.trace(C) * np.eye(3) - C

    def volume(self) -> float:
        return self._moments[0]

    def centre(self) -> Array:
        return self._moments[1].copy()

    def unit_inertia(self) -> Array:
        return self._moments[2].copy()


@dataclass(frozen=True)
class Hull(_Polyhedron):
    """The convex hull of points (n, 3), m, in the shape's frame; of at least four that are not in one plane.

    `points` are then those on its surface that are corners, in the order in which they were given. The centre of mass
    is `centre()`, not the origin of the frame. Needs SciPy."""

    points: tuple[Vector3, ...]

    def _check_sizes(self) -> None:
        points = _rows(self.points, self._what("points"), 4)
        extent = float(np.ptp(points, axis=0).max())
        thin = np.linalg.svd(points - points.mean(0), compute_uv=False)[2] if np.isfinite(extent) else np.inf
        if not thin > FLAT * extent * len(points) ** 0.5:
            raise MechanismError(f"{self._what('points')} must not all lie in one plane, got {show(self.points)}")
        corners, faces = _hull()(points)
        object.__setattr__(self, "points", tuple(tuple(row) for row in points[corners].tolist()))
        object.__setattr__(self, "_faces", faces)

    def triangles(self) -> tuple[Array, Faces]:
        faces: Faces = self.__dict__["_faces"]
        return np.array(self.points), faces.copy()


@dataclass(frozen=True)
class Mesh(_Polyhedron):
    """A triangle mesh: vertices (n, 3), m, in the shape's frame, and faces (k, 3), numbers of vertices from 0,
    counterclockwise seen from outside. Every edge belongs to two faces, which run along it in opposite directions.

    The centre of mass is `centre()`, not the origin of the frame. With `closed=False`, edges may have one face: such a
    surface has no volume; it is ground of the world, solid behind its faces. Vertices of it that coincide are one."""

    vertices: tuple[Vector3, ...]
    faces: tuple[tuple[int, int, int], ...]
    closed: bool = True

    def __post_init__(self) -> None:
        if type(self.closed) is not bool:
            raise MechanismError(f"{self._what('closed')} must be True or False, got {show(self.closed)}")
        super().__post_init__()

    def _check_inertia(self) -> None:
        if self.closed:
            super()._check_inertia()

    def _check_sizes(self) -> None:
        vertices = _rows(self.vertices, self._what("vertices"), 4 if self.closed else 3)
        expected = (
            f"{self._what('faces')} must be rows of three different numbers of vertices, 0 to {len(vertices) - 1}"
        )
        given = numeric(self.faces, self._what("faces"), "rows of three numbers of vertices")
        if given.ndim != 2 or given.shape[1] != 3 or len(given) < (4 if self.closed else 1):
            least = "at least four rows" if self.closed else "at least one"
            raise MechanismError(f"{expected}, {least}; got shape {given.shape}")
        bad = (given != np.rint(given)) | (given < 0) | (given >= len(vertices))
        bad |= given == np.roll(given, 1, 1)
        if bad.any():
            row = int(np.flatnonzero(bad.any(1))[0])
            raise MechanismError(f"{expected}; row {row} is {show(given[row].tolist())}")
        faces = given.astype(np.int64)
        if not self.closed:
            vertices, place = np.unique(vertices + 0.0, axis=0, return_inverse=True)
            faces = place.reshape(-1)[faces]
        self._check_edges(faces)
        object.__setattr__(self, "vertices", tuple(tuple(row) for row in vertices.tolist()))
        object.__setattr__(self, "faces", tuple(tuple(row) for row in faces.tolist()))
        if self.closed and self.volume() < 0.0:
            raise MechanismError(f"{self._what('faces')} are seen clockwise from outside: reverse each row")

    def _check_edges(self, faces: Faces) -> None:
        """Raise MechanismError unless faces meet in pairs, along edges that run in opposite directions; those of a mesh
        that is not closed may also be alone."""
        edges = np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]]).tolist()
        runs = Counter((a, b) for a, b in edges)
        for (a, b), times in runs.items():
            against = runs.get((b, a), 0)
            if times == 1 and (against == 1 or (against == 0 and not self.closed)):
                continue
            ask = "must close a solid" if self.closed else "must be a surface"
            rest = " (closed=False takes those that are ground)" if self.closed and times == 1 else ""
            raise MechanismError(
                f"{self._what('faces')} {ask}, counterclockwise from outside, but the edge from vertex {a} to {b} has "
                f"{times} face(s) along it and {against} against it, not 1 and {'1' if self.closed else 'at most 1'}"
                + rest
            )

    def volume(self) -> float:
        if not self.closed:
            raise MechanismError(
                "a Mesh with closed=False has no volume: it may be a collider of the world, or a visual"
            )
        return super().volume()

    def triangles(self) -> tuple[Array, Faces]:
        return np.array(self.vertices), np.array(self.faces, np.int64)


def check_areas(shape: Mesh, what: str) -> None:
    """MechanismError if a triangle of a mesh is too thin to have a normal."""
    vertices, faces = shape.triangles()
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    longest = np.max([np.linalg.norm(p - q, axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    thin = np.linalg.norm(np.cross(b - a, c - a), axis=1) < THINNEST * longest**2
    if thin.any():
        row = int(np.flatnonzero(thin)[0])
        raise MechanismError(
            f"{what}: face {row} of the Mesh, {faces[row].tolist()}, has no area: leave such faces out and close the "
            "gaps (trimesh: merge_vertices, then update_faces(nondegenerate_faces()))"
        )


def _rows(points: Any, what: str, least: int) -> Array:
    """Points (n, 3), finite, at least so many."""
    expected = f"{what} must be at least {least} rows of three finite numbers"
    found = numeric(points, what, "rows of three finite numbers")
    if found.ndim != 2 or found.shape[1] != 3 or len(found) < least or not np.isfinite(found).all():
        raise MechanismError(f"{expected}, got shape {found.shape}: {show(points)}")
    return found


def _hull() -> Callable[[Array], tuple[NDArray[np.int64], Faces]]:
    """Function from points to the numbers of those that are corners, and faces in terms of these."""
    try:
        from scipy.spatial import ConvexHull
    except ImportError as cause:
        raise MechanismError('Hull needs SciPy: pip install "vigym[meshes]"') from cause

    def hull(points: Array) -> tuple[NDArray[np.int64], Faces]:
        found = ConvexHull(points)
        corners, faces = np.unique(found.simplices, return_inverse=True)
        faces = faces.reshape(-1, 3)
        a, b, c = np.moveaxis(points[corners][faces], 1, 0)
        inward = np.einsum("ki,ki->k", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
        faces[inward] = faces[inward][:, ::-1]
        return corners.astype(np.int64), faces.astype(np.int64)

    return hull
