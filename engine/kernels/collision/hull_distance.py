"""Distances of solids with flat faces (polytope.py) from others, negative where they overlap; see distance.py.

Two of them are parted along the normal of a face, or along what is across two edges whose faces look at each other: of
an edge of the first, and one of the second, the direction must lead away from the faces of both.
"""

from vigym.engine.kernels.collision import polytope
from vigym.engine.kernels.collision.distance import FAR, PARALLEL, segments
from vigym.engine.kernels.collision.polytope import (
    corner_at,
    edge_at,
    edge_part,
    inner,
    lowest,
    n_corners,
    n_edges,
    n_faces,
    nearest_part,
    normal_at,
    offset,
)
from vigym.engine.kernels.collision.space import PLANE, along, cross, dot, length, local, sub, times
from vigym.engine.kernels.simd import shared

AWAY = 1e-12  # by which a direction across two edges may lead into a face


@shared
def over_face(h, a, f, g, b):
    """Room between the plane of face f of one solid and the lowest corner of another one."""
    n = normal_at(h, a, f)
    return lowest(g, b, n)[1] - dot(n, a[0]) - offset(h, f)


@shared
def best_face(h, a, later_a, g, b, later_b):
    """The face of the first solid which the second is farthest over, the less of now and of where they will be: its
    number, that room, and the room now."""
    best, choice, now = -FAR, 0, -FAR
    for f in range(n_faces(h)):
        here = over_face(h, a, f, g, b)
        if here > best:
            room = min(here, over_face(h, later_a, f, g, later_b))
            if room > best:
                best, choice, now = room, f, here
    return choice, best, now


@shared
def sees(h, a, e, p):
    """Largest height of a point over the faces of an edge: room along any direction between their normals is not
    more."""
    v = local(a[1], sub(p, a[0]))
    f, g = edge_part(h, e, 2), edge_part(h, e, 3)
    one, two = polytope.own_normal(h, f), polytope.own_normal(h, g)
    return max(dot(one, v) - offset(h, f), dot(two, v) - offset(h, g))


@shared
def across(h, a, e, g, b, k):
    """The direction across edge e of one solid and edge k of another, from the first to the second, if it leads away
    from the faces of both: (True or False, direction)."""
    _, u, _ = edge_at(h, a, e)
    _, w, _ = edge_at(g, b, k)
    n = cross(u, w)
    size = length(n)
    if size < PARALLEL:
        return False, n
    n = times(1.0 / size, n)
    mine, other = inner(h, a, e, u, 0), inner(h, a, e, u, 1)
    if dot(n, mine) + dot(n, other) > 0.0:
        n = times(-1.0, n)
    if dot(n, mine) > AWAY or dot(n, other) > AWAY:
        return False, n
    return dot(n, inner(g, b, k, w, 0)) >= -AWAY and dot(n, inner(g, b, k, w, 1)) >= -AWAY, n


@shared
def edges_later(h, a, e, g, b, k, n, later_a, later_b):
    """Room along the direction across two edges where their solids will be; `n` is that of now."""
    _, u, _ = edge_at(h, a, e)
    _, w, _ = edge_at(g, b, k)
    facing = dot(cross(u, w), n)
    _, u, _ = edge_at(h, later_a, e)
    _, w, _ = edge_at(g, later_b, k)
    way = cross(u, w)
    size = length(way)
    if size < PARALLEL:
        return FAR
    way = times((1.0 if facing > 0.0 else -1.0) / size, way)
    return lowest(g, later_b, way)[1] + lowest(h, later_a, times(-1.0, way))[1]


@shared
def best_edges(h, a, later_a, g, b, later_b, least):
    """The edges of two solids across which they are farthest apart, as `best_face`, if that is more than `least`:
    (edge of the first, edge of the second, direction from the first to the second, room, room now)."""
    best, first, second, way, now = least, -1, -1, (0.0, 0.0, 1.0), -FAR
    for e in range(n_edges(h)):
        p, u, _ = edge_at(h, a, e)
        between = sub(inner(h, a, e, u, 0), times(-1.0, inner(h, a, e, u, 1)))
        low, _ = lowest(g, b, times(-1.0, between))
        if sees(h, a, e, corner_at(g, b, low)) <= min(best, 0.0):
            continue
        for k in range(n_edges(g)):
            if sees(g, b, k, p) <= min(best, 0.0):
                continue
            faces, n = across(h, a, e, g, b, k)
            if faces:
                q, _, _ = edge_at(g, b, k)
                here = dot(n, sub(q, p))
                if here > best:
                    room = min(here, edges_later(h, a, e, g, b, k, n, later_a, later_b))
                    if room > best:
                        best, first, second, way, now = room, e, k, n, here
    return first, second, way, best, now


@shared
def parted(h, a, g, b):
    """Room between two solids along the direction that parts them best: at most their distance, and the depth by which
    they overlap."""
    best = max(best_face(h, a, a, g, b, b)[1], best_face(g, b, b, h, a, a)[1])
    return best_edges(h, a, a, g, b, b, best)[3]


@shared
def exact(h, a, g, b):
    """Distance of two solids."""
    room = parted(h, a, g, b)
    if room <= 0.0:
        return room
    best = FAR
    for k in range(n_corners(h)):
        best = min(best, nearest_part(g, b, corner_at(h, a, k))[2])
    for k in range(n_corners(g)):
        best = min(best, nearest_part(h, a, corner_at(g, b, k))[2])
    for e in range(n_edges(h)):
        p, u, half = edge_at(h, a, e)
        for k in range(n_edges(g)):
            q, w, other = edge_at(g, b, k)
            s, r = segments(p, u, half, q, w, other)
            best = min(best, length(sub(along(p, s, u), along(q, r, w))))
    return best


@shared
def passes(p, u, half, h, b):
    """True if a segment passes through a solid."""
    start, way = local(b[1], sub(p, b[0])), local(b[1], u)
    first, last = -half, half
    for f in range(n_faces(h)):
        n = polytope.own_normal(h, f)
        above, rise = dot(n, start) - offset(h, f), dot(n, way)
        if abs(rise) < 1e-300:
            if above >= 0.0:
                return False
        elif rise > 0.0:
            last = min(last, -above / rise)
        else:
            first = max(first, -above / rise)
    return first < last


@shared
def segment_hull(p, u, half, h, b):
    """Distance of a segment from a solid; if it passes through, how far it must be moved to get out, as a negative
    number."""
    best = FAR
    if half == 0.0:
        return nearest_part(h, b, p)[2]
    if passes(p, u, half, h, b):
        best = -FAR
        for f in range(n_faces(h)):
            n = normal_at(h, b, f)
            best = max(best, dot(n, sub(p, b[0])) - offset(h, f) - half * abs(dot(n, u)))
        for e in range(n_edges(h)):
            q, w, _ = edge_at(h, b, e)
            n = cross(w, u)
            size = length(n)
            if size > PARALLEL:
                n = times(1.0 / size, n)
                if dot(n, inner(h, b, e, w, 0)) > 0.0:
                    n = times(-1.0, n)
                if dot(n, inner(h, b, e, w, 0)) <= AWAY and dot(n, inner(h, b, e, w, 1)) <= AWAY:
                    best = max(best, dot(n, sub(p, q)))
        return min(best, 0.0)
    best = min(nearest_part(h, b, along(p, half, u))[2], nearest_part(h, b, along(p, -half, u))[2])
    for e in range(n_edges(h)):
        q, w, other = edge_at(h, b, e)
        s, r = segments(p, u, half, q, w, other)
        best = min(best, length(sub(along(p, s, u), along(q, r, w))))
    return best


@shared
def solids(kind_a, h, a, kind_b, g, b, whole):
    """Distance of two placed solids, of which at least one has tables; without `whole`, at most that of two such."""
    if kind_a == PLANE or kind_b == PLANE:
        plane, solid, table = (a, b, g) if kind_a == PLANE else (b, a, h)
        return lowest(table, solid, plane[1][2])[1] - dot(plane[1][2], plane[0])
    if h[2] == 0:
        return segment_hull(a[0], a[1][2], a[2][2], g, b) - a[3]
    if g[2] == 0:
        return segment_hull(b[0], b[1][2], b[2][2], h, a) - b[3]
    return exact(h, a, g, b) if whole else parted(h, a, g, b)
