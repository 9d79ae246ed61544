"""Triangles in a tree of boxes, as rows of four numbers for the ray caster.

The tree is complete and binary, with `leaves` = 2^k leaves, so that it needs no pointers: node i has the children 2 i
and 2 i + 1, from the root, 1, to the leaves, `leaves` to 2 leaves - 1. Rows, one after the other:

    node i              low corner of its box; high corner               (from 2 (i - 1) on)
    triangle j          corner v0; v1 - v0; v2 - v0; normals at v0, v1, v2   (from 2 (2 leaves - 1) + 6 j on)

Leaf l has the triangles PER l to PER (l + 1) - 1; there are empty ones at the end, which nothing meets. Triangles are
in the order of a curve through space (Morton's), so that those of a leaf are near each other.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.validation import Array

PER = 4  # triangles of a leaf
_BITS = 10  # of each coordinate along the curve
_CREASE = 0.82  # cosine of 35 degrees: edges that are sharper than that stay edges


def tree(vertices: Array, faces: NDArray[Any]) -> tuple[Array, int]:
    """Rows (n, 4) and the number of leaves."""
    corners, normals = vertices[faces], corner_normals(vertices, faces)
    order = np.argsort(_along_curve(corners.mean(axis=1)), kind="stable")
    leaves = 1 << max(0, int(np.ceil(np.log2(-(-len(faces) // PER)))))
    triangles = np.zeros((leaves * PER, 6, 4))
    a, b, c = corners[order].transpose(1, 0, 2)
    triangles[: len(faces), :3, :3] = np.stack([a, b - a, c - a], 1)
    triangles[: len(faces), 3:, :3] = normals[order]

    low, high = np.full((2 * leaves, 3), np.inf), np.full((2 * leaves, 3), -np.inf)
    padded = np.full((2, leaves * PER, 3), [[[np.inf]], [[-np.inf]]])
    padded[0, : len(faces)], padded[1, : len(faces)] = corners[order].min(axis=1), corners[order].max(axis=1)
    low[leaves:] = padded[0].reshape(leaves, PER, 3).min(axis=1)
    high[leaves:] = padded[1].reshape(leaves, PER, 3).max(axis=1)
    first = leaves
    while first > 1:
        half = first // 2
        low[half:first] = low[first : 2 * first].reshape(half, 2, 3).min(axis=1)
        high[half:first] = high[first : 2 * first].reshape(half, 2, 3).max(axis=1)
        first = half
    nodes = np.zeros((2 * leaves - 1, 2, 4))
    nodes[:, 0, :3], nodes[:, 1, :3] = np.clip(low[1:], -1e60, 1e60), np.clip(high[1:], -1e60, 1e60)
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


def _along_curve(points: Array) -> NDArray[np.int64]:
    low = points.min(axis=0)
    scale = (2**_BITS - 1) / max(float(np.ptp(points, axis=0).max()), 1e-300)
    cell = ((points - low) * scale).astype(np.int64)
    code = np.zeros(len(points), np.int64)
    for bit in range(_BITS):
        for axis in range(3):
            code |= ((cell[:, axis] >> bit) & 1) << (3 * bit + axis)
    return code
