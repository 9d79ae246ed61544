"""Triangles in a tree of boxes, as rows of four numbers for the ray caster.

The tree is that of engine/hierarchy.py. Rows, one after the other:

    node i              low corner of its box; high corner               (from 2 (i - 1) on)
    triangle j          corner v0; v1 - v0; v2 - v0; normals at v0, v1, v2   (from 2 (2 leaves - 1) + 6 j on)

Leaf l has the triangles PER l to PER (l + 1) - 1; there are empty ones at the end, which nothing meets.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.hierarchy import boxes
from vigym.engine.validation import Array

PER = 4  # triangles of a leaf
_CREASE = 0.82  # cosine of 35 degrees: edges that are sharper than that stay edges


def tree(vertices: Array, faces: NDArray[Any]) -> tuple[Array, int]:
    """Rows (n, 4) and the number of leaves."""
    corners, normals = vertices[faces], corner_normals(vertices, faces)
    order, leaves, low, high = boxes(corners, PER)
    triangles = np.zeros((leaves * PER, 6, 4))
    a, b, c = corners[order].transpose(1, 0, 2)
    triangles[: len(faces), :3, :3] = np.stack([a, b - a, c - a], 1)
    triangles[: len(faces), 3:, :3] = normals[order]
    nodes = np.zeros((2 * leaves - 1, 2, 4))
    nodes[:, 0, :3], nodes[:, 1, :3] = low, high
    return np.concatenate([nodes.reshape(-1, 4), triangles.reshape(-1, 4)]), leaves


def corner_normals(vertices: Array, faces: NDArray[Any]) -> Array:
    """Unit normals (m, 3, 3) at the corners of the faces: the mean over all faces of that point, or the face's own
    where that differs much from the mean."""
    points, place = np.unique(vertices, axis=0, return_inverse=True)
    corner = place.reshape(-1)[faces]
    a, b, c = points[corner].transpose(1, 0, 2)
    weighted = np.cross(b - a, c - a)  # by area
    own = weighted / np.linalg.norm(weighted, axis=1, keepdims=True)
    mean = np.zeros_like(points)
    for k in range(3):
        np.add.at(mean, corner[:, k], weighted)
    size = np.linalg.norm(mean, axis=1, keepdims=True)
    mean = (mean / np.where(size > 0.0, size, 1.0))[corner]  # (m, 3, 3)
    smooth = (mean * own[:, None]).sum(axis=-1, keepdims=True) > _CREASE
    return np.where(smooth, mean, own[:, None])
