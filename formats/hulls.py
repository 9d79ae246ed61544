"""Convex hulls of meshes that were loaded, of few corners."""

from importlib.util import find_spec

import numpy as np

from vigym.engine.polyhedra import Hull
from vigym.engine.shapes import Vector3
from vigym.engine.validation import Array

MOST_CORNERS = 128  # of a hull; of finer ones, those that are farthest along so many directions
HAS_SCIPY = find_spec("scipy") is not None
EXTRA = 'needs SciPy: pip install "vigym[mjcf]" or "vigym[meshes]"'


def hull_of(points: Array) -> Hull:
    """The convex hull of points (n, 3), or, if it has many corners, of those that are farthest along MOST_CORNERS
    directions, which lies within it. MechanismError for points of one plane."""
    hull = Hull(rows(points))
    if len(hull.points) <= MOST_CORNERS:
        return hull
    corners = np.array(hull.points)
    k = np.arange(MOST_CORNERS)  # a spiral from pole to pole
    z, turn = 1.0 - (2.0 * k + 1.0) / MOST_CORNERS, np.pi * (3.0 - 5.0**0.5) * k
    across = np.sqrt(1.0 - z * z)
    directions = np.stack([across * np.cos(turn), across * np.sin(turn), z], -1)
    sizes = np.ptp(corners, axis=0)  # thin things have corners along their thin side, too
    return Hull(rows(corners[np.unique((corners / sizes @ directions.T).argmax(0))]))


def rows(points: Array) -> tuple[Vector3, ...]:
    """An array (n, 3) as tuples."""
    return tuple((x, y, z) for x, y, z in points.tolist())
