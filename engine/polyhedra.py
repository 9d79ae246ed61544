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
    """A closed triangle mesh: vertices (n, 3), m, in the shape's frame, and faces (k, 3), numbers of vertices from 0,
    counterclockwise seen from outside. Every edge belongs to two faces, which run along it in opposite directions.

    The centre of mass is `centre()`, not the origin of the frame."""

    vertices: tuple[Vector3, ...]
    faces: tuple[tuple[int, int, int], ...]

    def _check_sizes(self) -> None:
        vertices = _rows(self.vertices, self._what("vertices"), 4)
        expected = (
            f"{self._what('faces')} must be rows of three different numbers of vertices, 0 to {len(vertices) - 1}"
        )
        given = numeric(self.faces, self._what("faces"), "rows of three numbers of vertices")
        if given.ndim != 2 or given.shape[1] != 3 or len(given) < 4:
            raise MechanismError(f"{expected}, at least four rows; got shape {given.shape}")
        bad = (given != np.rint(given)) | (given < 0) | (given >= len(vertices))
        bad |= given == np.roll(given, 1, 1)
        if bad.any():
            row = int(np.flatnonzero(bad.any(1))[0])
            raise MechanismError(f"{expected}; row {row} is {show(given[row].tolist())}")
        faces = given.astype(np.int64)
        self._check_closed(faces)
        object.__setattr__(self, "vertices", tuple(tuple(row) for row in vertices.tolist()))
        object.__setattr__(self, "faces", tuple(tuple(row) for row in faces.tolist()))
        if self.volume() < 0.0:
            raise MechanismError(f"{self._what('faces')} are seen clockwise from outside: reverse each row")

    def _check_closed(self, faces: Faces) -> None:
        """Raise MechanismError unless faces meet in pairs, along edges that run in opposite directions."""
        edges = np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]]).tolist()
        runs = Counter((a, b) for a, b in edges)
        for (a, b), times in runs.items():
            if times > 1 or runs.get((b, a)) != 1:
                raise MechanismError(
                    f"{self._what('faces')} must close a solid, counterclockwise from outside, but the edge from "
                    f"vertex {a} to {b} has {times} face(s) along it and {runs.get((b, a), 0)} against it, not 1 and 1"
                )

    def triangles(self) -> tuple[Array, Faces]:
        return np.array(self.vertices), np.array(self.faces, np.int64)


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
