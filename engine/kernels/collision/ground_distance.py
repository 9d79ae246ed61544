"""Distances of solids from ground of triangles (terrain.py), in the ground's own frame; negative where they overlap.

The depth is that of the deepest corner, end or centre below the surface; where a ridge goes through a solid between
these, that by which the two must be parted at least.
"""

from vigym.engine.kernels.collision.distance import segments
from vigym.engine.kernels.collision.hull_distance import AWAY
from vigym.engine.kernels.collision.nearest import FAR, on_triangle, point_ground
from vigym.engine.kernels.collision.polytope import (
    corner_at,
    edge_at,
    inner,
    lowest,
    n_corners,
    n_edges,
    n_faces,
    nearest_part,
    normal_at,
    offset,
    radius_of,
)
from vigym.engine.kernels.collision.space import (
    add,
    along,
    cross,
    dot,
    is_endless,
    is_round,
    length,
    sub,
    times,
)
from vigym.engine.kernels.collision.terrain import corners, following, normal_of, window
from vigym.engine.kernels.simd import shared


@shared
def separation(h, solid, a, b, c):
    """Room between a solid with flat faces and a triangle along the direction that parts them best: at most their
    distance."""
    n = normal_of(a, b, c)
    best = max(lowest(h, solid, n)[1] - dot(n, a), lowest(h, solid, times(-1.0, n))[1] + dot(n, a))
    for f in range(n_faces(h)):
        n = normal_at(h, solid, f)
        best = max(best, min(dot(n, a), dot(n, b), dot(n, c)) - dot(n, solid[0]) - offset(h, f))
    for e in range(n_edges(h)):
        q, w, _ = edge_at(h, solid, e)
        one, two = inner(h, solid, e, w, 0), inner(h, solid, e, w, 1)
        for side in (sub(b, a), sub(c, b), sub(a, c)):
            n = cross(side, w)
            size = length(n)
            if size < 1e-6 * length(side):
                continue
            n = times((1.0 if dot(n, one) + dot(n, two) <= 0.0 else -1.0) / size, n)
            if dot(n, one) <= AWAY and dot(n, two) <= AWAY:
                best = max(best, min(dot(n, a), dot(n, b), dot(n, c)) - dot(n, q))
    return best


@shared
def triangle_hull(h, solid, a, b, c):
    """Distance of a solid with flat faces and a triangle that do not overlap."""
    best = FAR
    for p in (a, b, c):
        best = min(best, nearest_part(h, solid, p)[2])
    for k in range(n_corners(h)):
        p = corner_at(h, solid, k)
        best = min(best, length(sub(p, on_triangle(p, a, b, c)[0])))
    for p, q in ((a, b), (b, c), (c, a)):
        size = length(sub(q, p))
        side, middle = times(1.0 / size, sub(q, p)), times(0.5, add(p, q))
        for e in range(n_edges(h)):
            r, w, half = edge_at(h, solid, e)
            s, t = segments(middle, side, 0.5 * size, r, w, half)
            best = min(best, length(sub(along(middle, s, side), along(r, t, w))))
    return best


@shared
def hull_ground(h, solid, ground, enough, exact):
    """Distance of a solid with flat faces; without `exact`, at most that."""
    best, size = enough, radius_of(h)
    for k in range(n_corners(h)):
        room, _ = point_ground(ground, corner_at(h, solid, k), size, max(best, 0.0) + 2.0 * size)
        best = min(best, room)
    near = window(ground, solid[0], size + max(best, 0.0))
    k = following(ground, near, -1)
    while k >= 0:
        a, b, c = corners(ground, k)
        room = separation(h, solid, a, b, c)
        if room < best:
            best = min(best, triangle_hull(h, solid, a, b, c)) if exact and room > 0.0 else room
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
def distance(kind, h, solid, ground, enough, exact):
    """Distance of a solid, placed in the ground's frame, m, or `enough` if it is not less. h: its polytope, if it has
    flat faces.

    Without `exact`, that of a solid with flat faces may be less where it is positive."""
    if is_endless(kind):
        return enough
    if is_round(kind):
        return min(round_ground(solid, ground, enough), enough)
    return min(hull_ground(h, solid, ground, enough, exact), enough)
