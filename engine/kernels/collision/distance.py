"""Exact distances of placed solids (space.py), negative where they overlap: the depth by which they must be parted.

Cores of two spheres or capsules are segments; a segment and a box are nearest at an end of the segment or on an edge of
the box; two boxes at a corner of one of them or on two edges. Boxes that overlap are parted along one of 15 directions:
their faces' normals and what is across two edges.
"""

from vigym.engine.kernels.collision.space import (
    BOX,
    CYLINDER,
    PLANE,
    along,
    clamp,
    corner,
    cross,
    dot,
    edge,
    extent,
    length,
    local,
    round_extent,
    sub,
    times,
)
from vigym.engine.kernels.simd import shared

PARALLEL = 1e-6  # sine of the angle below which two edges have no direction across
FAR = 1e300


@shared
def segments(p, u, a, q, w, b):
    """Places s in [-a, a] and r in [-b, b] of the nearest points p + s u and q + r w of two segments; u, w are unit."""
    d = sub(p, q)
    uw, du, dw = dot(u, w), dot(d, u), dot(d, w)
    across = 1.0 - uw * uw
    s = clamp((uw * dw - du) / across, a) if across > 1e-14 else clamp(-du, a)
    r = clamp(dw + uw * s, b)
    s = clamp(uw * r - du, a)
    r = clamp(dw + uw * s, b)
    return s, r


@shared
def on_box(solid, p):
    """The point of a box's core that is nearest to p, in its own coordinates."""
    centre, axes, half, _ = solid
    v = local(axes, sub(p, centre))
    return (clamp(v[0], half[0]), clamp(v[1], half[1]), clamp(v[2], half[2]))


@shared
def point_box(p, solid):
    """Distance of a point from a box's core, negative inside."""
    centre, axes, half, _ = solid
    v = local(axes, sub(p, centre))
    out = sub(v, on_box(solid, p))
    far = length(out)
    if far > 0.0:
        return far
    return -min(half[0] - abs(v[0]), half[1] - abs(v[1]), half[2] - abs(v[2]))


@shared
def crosses(p, u, a, solid):
    """True if a segment passes through a box's core."""
    centre, axes, half, _ = solid
    start, way = local(axes, sub(p, centre)), local(axes, u)
    first, last = -a, a
    for k in range(3):
        if abs(way[k]) < 1e-300:
            if abs(start[k]) >= half[k]:
                return False
        else:
            here = (-half[k] - start[k]) / way[k]
            there = (half[k] - start[k]) / way[k]
            first = max(first, min(here, there))
            last = min(last, max(here, there))
    return first < last


@shared
def segment_box(p, u, a, solid):
    """Distance of a segment from a box's core; if it passes through, how far it must be moved to get out, as a negative
    number."""
    if crosses(p, u, a, solid):
        centre, axes, half, _ = solid
        best = -FAR
        for k in range(3):
            n = axes[k]
            best = max(best, abs(dot(n, sub(p, centre))) - half[k] - a * abs(dot(n, u)))
            n = cross(axes[k], u)
            size = length(n)
            if size > PARALLEL:
                n = times(1.0 / size, n)
                best = max(best, abs(dot(n, sub(p, centre))) - extent(axes, half, n))
        return min(best, 0.0)
    best = min(point_box(along(p, a, u), solid), point_box(along(p, -a, u), solid))
    for number in range(12):
        q, k = edge(solid, number), number // 4
        w = solid[1][k]
        s, r = segments(p, u, a, q, w, solid[2][k])
        best = min(best, length(sub(along(p, s, u), along(q, r, w))))
    return best


@shared
def direction(A, B, number):
    """Direction 0..14 that may part two boxes, and its length before it was made a unit vector: three normals of the
    first, three of the second, nine across two edges."""
    if number < 3:
        return A[number], 1.0
    if number < 6:
        return B[number - 3], 1.0
    n = cross(A[(number - 6) // 3], B[(number - 6) % 3])
    size = length(n)
    return times(1.0 / max(size, 1e-300), n), size


@shared
def boxes_apart(a, b, number, side):
    """Room between two boxes along a direction: `side` is 1 or -1, the sign of that along which b is seen from a, or 0
    for the one that it is; -FAR where edges are parallel."""
    n, size = direction(a[1], b[1], number)
    if size < PARALLEL:
        return -FAR
    way = dot(n, sub(b[0], a[0]))
    way = abs(way) if side == 0.0 else side * way
    return way - extent(a[1], a[2], n) - extent(b[1], b[2], n)


@shared
def boxes_parted(a, b):
    """Room between two boxes along the direction that parts them best: at most their distance, and the depth by which
    they overlap."""
    best = -FAR
    for number in range(15):
        best = max(best, boxes_apart(a, b, number, 0.0))
    return best


@shared
def boxes(a, b):
    """Distance of two boxes' cores."""
    best = boxes_parted(a, b)
    if best <= 0.0:
        return best
    best = FAR
    for number in range(8):
        best = min(best, point_box(corner(a, number), b), point_box(corner(b, number), a))
    for first in range(12):
        p, i = edge(a, first), first // 4
        for second in range(12):
            q, j = edge(b, second), second // 4
            s, r = segments(p, a[1][i], a[2][i], q, b[1][j], b[2][j])
            best = min(best, length(sub(along(p, s, a[1][i]), along(q, r, b[1][j]))))
    return best


@shared
def solid(centre, axes, size):
    """A placed solid from arrays: centre (3,), its unit vectors as rows (3, 3), half lengths and radius (4,)."""
    return (
        (centre[0], centre[1], centre[2]),
        (
            (axes[0, 0], axes[0, 1], axes[0, 2]),
            (axes[1, 0], axes[1, 1], axes[1, 2]),
            (axes[2, 0], axes[2, 1], axes[2, 2]),
        ),
        (size[0], size[1], size[2]),
        size[3],
    )


@shared
def solids(kind_a, a, kind_b, b):
    """Distance of two placed solids of these kinds, m; two planes are infinitely far apart."""
    if kind_a == PLANE and kind_b == PLANE:
        return FAR
    if kind_a == PLANE or kind_b == PLANE:
        plane, solid = (a, b) if kind_a == PLANE else (b, a)
        n = plane[1][2]
        wide = CYLINDER in (kind_a, kind_b)
        reach = round_extent(solid, n) if wide else extent(solid[1], solid[2], n)
        return dot(n, sub(solid[0], plane[0])) - reach - solid[3]
    radius = a[3] + b[3]
    if kind_a == BOX and kind_b == BOX:
        return boxes(a, b) - radius
    if kind_a == BOX or kind_b == BOX:
        box, round_one = (a, b) if kind_a == BOX else (b, a)
        return segment_box(round_one[0], round_one[1][2], round_one[2][2], box) - radius
    s, r = segments(a[0], a[1][2], a[2][2], b[0], b[1][2], b[2][2])
    return length(sub(along(a[0], s, a[1][2]), along(b[0], r, b[1][2]))) - radius
