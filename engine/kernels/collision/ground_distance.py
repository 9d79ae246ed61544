"""Distances of solids from ground of triangles (terrain.py), in the ground's own frame; negative where they overlap.

The depth is that of the deepest corner, end or centre below the surface; where a ridge goes through a solid between
these, that by which the two must be parted at least.
"""

from vigym.engine.kernels.collision.distance import crosses, extent, point_box, segments
from vigym.engine.kernels.collision.nearest import FAR, on_triangle, point_ground
from vigym.engine.kernels.collision.space import (
    BOX,
    add,
    along,
    corner,
    cross,
    dot,
    edge,
    is_endless,
    length,
    sub,
    times,
)
from vigym.engine.kernels.collision.terrain import corners, following, normal_of, window
from vigym.engine.kernels.simd import shared


@shared
def separation(box, a, b, c):
    """Room between a box and a triangle along the direction that parts them best: at most their distance."""
    normal, best = normal_of(a, b, c), -FAR
    for number in range(13):
        if number == 0:
            n = normal
        elif number < 4:
            n = box[1][number - 1]
        else:
            side = (number - 4) // 3
            e = sub(b, a) if side == 0 else (sub(c, b) if side == 1 else sub(a, c))
            n = cross(e, box[1][(number - 4) % 3])
            size = length(n)
            if size < 1e-6 * length(e):
                continue
            n = times(1.0 / size, n)
        x, y, z, at = dot(n, a), dot(n, b), dot(n, c), dot(n, box[0])
        half = extent(box[1], box[2], n)
        best = max(best, at - half - max(x, y, z), min(x, y, z) - at - half)
    return best


@shared
def triangle_box(box, a, b, c):
    """Distance of a box and a triangle that do not overlap."""
    best = FAR
    for p in (a, b, c):
        best = min(best, point_box(p, box))
    for number in range(8):
        p = corner(box, number)
        best = min(best, length(sub(p, on_triangle(p, a, b, c)[0])))
    for p, q in ((a, b), (b, c), (c, a)):
        size = length(sub(q, p))
        e, middle = times(1.0 / size, sub(q, p)), times(0.5, add(p, q))
        if crosses(middle, e, 0.5 * size, box):
            return 0.0
        for number in range(12):
            r, k = edge(box, number), number // 4
            s, t = segments(middle, e, 0.5 * size, r, box[1][k], box[2][k])
            best = min(best, length(sub(along(middle, s, e), along(r, t, box[1][k]))))
    return best


@shared
def box_ground(box, ground, enough, exact):
    """Distance of a box; without `exact`, at most that."""
    best, size = enough, length(box[2])
    for number in range(8):
        room, _ = point_ground(ground, corner(box, number), size, max(best, 0.0) + 2.0 * size)
        best = min(best, room)
    near = window(ground, box[0], size + max(best, 0.0))
    k = following(ground, near, -1)
    while k >= 0:
        a, b, c = corners(ground, k)
        room = separation(box, a, b, c)
        if room < best:
            best = min(best, triangle_box(box, a, b, c)) if exact and room > 0.0 else room
        k = following(ground, near, k)
    return best


@shared
def segment_triangle(p, u, half, a, b, c):
    """Distance of a segment from a triangle; 0 if it goes through."""
    normal = normal_of(a, b, c)
    start, end = along(p, -half, u), along(p, half, u)
    one, two = dot(normal, sub(start, a)), dot(normal, sub(end, a))
    if (one > 0.0) != (two > 0.0):
        q = along(start, 2.0 * half * one / (one - two), u)
        if length(sub(q, on_triangle(q, a, b, c)[0])) <= 1e-12 * half:
            return 0.0
    best = min(
        length(sub(start, on_triangle(start, a, b, c)[0])),
        length(sub(end, on_triangle(end, a, b, c)[0])),
    )
    for q, r in ((a, b), (b, c), (c, a)):
        size = length(sub(r, q))
        e, middle = times(1.0 / size, sub(r, q)), times(0.5, add(q, r))
        s, t = segments(p, u, half, middle, e, 0.5 * size)
        best = min(best, length(sub(along(p, s, u), along(middle, t, e))))
    return best


@shared
def round_ground(solid, ground, enough):
    """Distance of a sphere or capsule."""
    p, u, half, radius = solid[0], solid[1][2], solid[2][2], solid[3]
    first, most = 2.0 * radius, enough + radius
    best, _ = point_ground(ground, along(p, -half, u), first, most)
    if half > 0.0:
        best = min(best, point_ground(ground, along(p, half, u), first, most)[0])
        near = window(ground, p, half + max(best, 0.0))
        k = following(ground, near, -1)
        while k >= 0 and best > 0.0:
            a, b, c = corners(ground, k)
            best = min(best, segment_triangle(p, u, half, a, b, c))
            k = following(ground, near, k)
    return best - radius


@shared
def distance(kind, solid, ground, enough, exact):
    """Distance of a solid, placed in the ground's frame, m, or `enough` if it is not less.

    Without `exact`, that of a box may be less where it is positive."""
    if is_endless(kind):
        return enough
    if kind == BOX:
        return min(box_ground(solid, ground, enough, exact), enough)
    return min(round_ground(solid, ground, enough), enough)
