"""Triangles in a tree of boxes, for kernels that look for those near a point or a ray.

The tree is complete and binary, with `leaves` = 2^k leaves, so that it needs no pointers: node i has the children 2 i
and 2 i + 1, from the root, 1, to the leaves, `leaves` to 2 leaves - 1. Triangles are in the order of a curve through
space (Morton's), so that those of a leaf are near each other.
"""

import numpy as np
from numpy.typing import NDArray

from vigym.engine.validation import Array

BITS = 10  # of each coordinate along the curve
LARGEST = 1e60  # boxes of leaves without triangles are empty: from there to minus there


def boxes(corners: Array, per: int) -> tuple[NDArray[np.int64], int, Array, Array]:
    """Order of triangles (n, 3, 3) of which each leaf takes the next `per`, number of leaves, and low and high corners
    of the boxes of all nodes from the root on, (2 leaves - 1, 3)."""
    order = np.argsort(_along_curve(corners.mean(axis=1)), kind="stable")
    leaves = 1 << max(0, int(np.ceil(np.log2(-(-len(corners) // per)))))
    low, high = np.full((2 * leaves, 3), np.inf), np.full((2 * leaves, 3), -np.inf)
    padded = np.full((2, leaves * per, 3), [[[np.inf]], [[-np.inf]]])
    padded[0, : len(corners)], padded[1, : len(corners)] = corners[order].min(axis=1), corners[order].max(axis=1)
    low[leaves:] = padded[0].reshape(leaves, per, 3).min(axis=1)
    high[leaves:] = padded[1].reshape(leaves, per, 3).max(axis=1)
    first = leaves
    while first > 1:
        half = first // 2
        low[half:first] = low[first : 2 * first].reshape(half, 2, 3).min(axis=1)
        high[half:first] = high[first : 2 * first].reshape(half, 2, 3).max(axis=1)
        first = half
    return order, leaves, np.clip(low[1:], -LARGEST, LARGEST), np.clip(high[1:], -LARGEST, LARGEST)


def _along_curve(points: Array) -> NDArray[np.int64]:
    low = points.min(axis=0)
    scale = (2**BITS - 1) / max(float(np.ptp(points, axis=0).max()), 1e-300)
    cell = ((points - low) * scale).astype(np.int64)
    code = np.zeros(len(points), np.int64)
    for bit in range(BITS):
        for axis in range(3):
            code |= ((cell[:, axis] >> bit) & 1) << (3 * bit + axis)
    return code
