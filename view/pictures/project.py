"""Rectangles of the picture with a solid, its shadow or its soft shade; and which solid may shade which."""

from typing import NamedTuple

import numpy as np

from vigym.engine.validation import Array
from vigym.view.pictures.arrays import (
    CASTS,
    CORE,
    NORMAL,
    OFFSET,
    POSITION,
    REACH,
    ROTATION,
    ROUNDING,
    Floats,
    Ints,
    Solids,
    View,
)
from vigym.view.pictures.rows import SOFT

_CORNERS = np.array([(i, j, k) for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)])
_CHUNK = 256


class Plan(NamedTuple):
    """Precomputed parts of a picture, for n solids and P planes.

    local: (n, 15) eye, right, up, forward and light in the frame of every solid, see arrays.py.
    softness: (n,) the length s of `rows.occlude`, m.
    rectangles: (n, 1 + 2 P, 4) left, right, top, bottom in pixels: of every solid, and of its shadow and of its soft
        shade on each plane.
    first, casters: the solids casters[first[j] : first[j + 1]] may throw a shadow on solid j.
    """

    local: Floats
    softness: Floats
    rectangles: Ints
    first: Ints
    casters: Ints


def plan(view: View, solids: Solids, planes: Array, width: int, height: int) -> Plan:
    """Plan one picture."""
    table = solids.table
    n, P = len(table), len(planes)
    R, position = table[:, ROTATION : ROTATION + 9].reshape(n, 3, 3), table[:, POSITION : POSITION + 3]
    core, rounding = table[:, CORE : CORE + 3], table[:, ROUNDING]
    local = np.empty((n, 5, 3))
    local[:, 0] = ((view.eye - position)[:, None] @ R)[:, 0]
    local[:, 1:] = np.array([view.right, view.up, view.forward, view.light]) @ R
    softness = rounding + np.sort(core, axis=1)[:, 1]

    corners = position[:, None] + (core[:, None] * _CORNERS) @ R.transpose(0, 2, 1)  # (n, 8, 3)
    found = np.empty((n, 1 + 2 * P, 4), np.int64)
    found[:, 0] = _rectangles(view, corners, rounding, width, height)
    light = np.array(view.light)
    unseen = solids.numbers[:, CASTS] == 0
    for k, plane in enumerate(planes):
        up = plane[NORMAL : NORMAL + 3]
        above, facing = corners @ up - plane[OFFSET], float(up @ light)
        if facing > 1e-3:
            dropped = corners - (above / facing)[..., None] * light
            found[:, 1 + k] = _rectangles(view, dropped, rounding / facing, width, height)
        below = corners - above[..., None] * up
        found[:, 1 + P + k] = _rectangles(view, below, SOFT * softness, width, height)
        found[unseen | (facing <= 1e-3), 1 + k] = 0
        found[unseen | (np.abs(above).min(axis=1) > SOFT * softness), 1 + P + k] = 0
    return Plan(local.reshape(n, 15), softness, found, *_possible_shadows(light, solids))


def _rectangles(view: View, points: Array, radius: Array, width: int, height: int) -> Ints:
    """(n, 4) around balls with radius (n,) at points (n, m, 3), as far as they are before the camera."""
    r = points - view.eye
    x, y, z = r @ view.right, -(r @ view.up), r @ view.forward
    radius = radius[:, None]
    beside = (z - radius) <= 1e-3 * (np.abs(z) + radius)  # of the eye, around it or behind
    near, far = (1.0 / (view.pixel * np.where(beside, 1.0, depth)) for depth in (z - radius, z + radius))
    low, high = x - radius, x + radius
    left, right = np.minimum(low * near, low * far), np.maximum(high * near, high * far)
    low, high = y - radius, y + radius
    top, bottom = np.minimum(low * near, low * far), np.maximum(high * near, high * far)
    # from the pixel whose middle is at or before the edge, to one beyond
    edges = np.stack(
        [
            view.column + left.min(axis=1) - 0.5,
            view.column + right.max(axis=1) + 1.5,
            view.row + top.min(axis=1) - 0.5,
            view.row + bottom.max(axis=1) + 1.5,
        ],
        axis=-1,
    )
    edges[beside.any(axis=1)] = 0, width, 0, height
    edges[(z <= -radius).all(axis=1)] = 0
    return np.clip(edges, 0, [width, width, height, height]).astype(np.int64)


def _possible_shadows(light: Array, solids: Solids) -> tuple[Ints, Ints]:
    """`Plan.first` and `casters`: both balls around two solids, drawn out along the light, must meet, and the caster
    must not be behind."""
    position, reach = solids.table[:, POSITION : POSITION + 3], solids.table[:, REACH]
    n = len(reach)
    along = position @ light
    across = position - along[:, None] * light
    counts, casters = [np.zeros(1, np.int64)], [np.zeros(0, np.int64)]
    for start in range(0, n, _CHUNK):  # of receivers: memory for all pairs at once would be too much
        own = slice(start, start + _CHUNK)
        both = reach[own, None] + reach
        r = across - across[own, None]
        pair = ((r * r).sum(axis=-1) < both * both) & (along - along[own, None] > -both)
        pair &= solids.numbers[:, CASTS] > 0
        pair[np.arange(len(pair)), np.arange(len(pair)) + start] = False
        counts.append(pair.sum(axis=1))
        casters.append(np.nonzero(pair)[1])
    return np.cumsum(np.concatenate(counts)), np.concatenate(casters)
