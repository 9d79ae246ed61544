"""Distances of cylinders from others, negative where they overlap; see distance.py.

Whatever the direction n from a cylinder to a solid, the room between them along it is known exactly: how far each of
them reaches along n has a closed form. Two are parted along the normal of a flat end or face; across the axis (BARREL),
by a direction that depends on one angle; across an edge of the other one, between the normals of its faces (ARC); or,
of two cylinders, across two rims, which have two angles (RIMS). Each family is searched for its best direction: rooms
have one maximum there where they are positive, and near touching.
"""

from math import cos, pi, sin

from vigym.engine.kernels.collision.distance import FAR, PARALLEL, segments
from vigym.engine.kernels.collision.polytope import (
    corner_at,
    edge_at,
    edge_part,
    face_corner,
    is_over,
    lowest,
    n_edges,
    n_faces,
    normal_at,
)
from vigym.engine.kernels.collision.space import (
    CYLINDER,
    along,
    cross,
    dot,
    length,
    round_extent,
    slope,
    sub,
    times,
)
from vigym.engine.kernels.simd import shared

AROUND = 32  # directions that are looked at first, around the axis
ALONG = 4  # and between the normals of two faces
FINER = 56  # times that the range in which the best one lies is narrowed
GOLDEN = 0.6180339887498949
ROUNDS = 6  # in which two angles are searched in turns
BARREL, OTHER_BARREL, ARC, RIMS = range(4)  # families


@shared
def reach(kind, h, solid, n):
    """Extent of a solid along n, from the world's origin."""
    if kind == CYLINDER:
        return dot(n, solid[0]) + round_extent(solid, n)
    return -lowest(h, solid, times(-1.0, n))[1]


@shared
def room(c, kind, g, x, n):
    """Room between a cylinder c and a solid x along n, from the one to the other."""
    return -reach(kind, g, x, times(-1.0, n)) - dot(n, c[0]) - round_extent(c, n)


@shared
def radial(c, angle):
    """The direction at an angle around a cylinder's axis."""
    return along(times(cos(angle), c[1][0]), sin(angle), c[1][1])


@shared
def best_barrel(c, kind, g, x):
    """The angle around the axis at which a solid is farthest, and the room there."""
    best, at = -FAR, 0.0
    for k in range(AROUND):
        here = room(c, kind, g, x, radial(c, 2.0 * pi * k / AROUND))
        if here > best:
            best, at = here, 2.0 * pi * k / AROUND
    low, high = at - 2.0 * pi / AROUND, at + 2.0 * pi / AROUND
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    one, two = room(c, kind, g, x, radial(c, left)), room(c, kind, g, x, radial(c, right))
    for _ in range(FINER):
        if one > two:
            high, right, two = right, left, one
            left = high - GOLDEN * (high - low)
            one = room(c, kind, g, x, radial(c, left))
        else:
            low, left, one = left, right, two
            right = low + GOLDEN * (high - low)
            two = room(c, kind, g, x, radial(c, right))
        if max(one, two) > best:
            best, at = max(one, two), left if one > two else right
    return at, best


@shared
def between(one, other, part):
    """The unit vector between two others."""
    n = along(times(1.0 - part, one), part, other)
    return times(1.0 / max(length(n), 1e-300), n)


@shared
def arc_room(c, v, one, other, part):
    """Room between a cylinder and an edge through v of a solid, along a direction between the normals of its faces."""
    m = between(one, other, part)
    return dot(m, sub(c[0], v)) - round_extent(c, m)


@shared
def best_arc(c, g, x, e):
    """The part of the way from the left face's normal to the right one's along which a cylinder is farthest from edge
    e, and the room there."""
    v, one, other = (
        corner_at(g, x, edge_part(g, e, 0)),
        normal_at(g, x, edge_part(g, e, 2)),
        normal_at(g, x, edge_part(g, e, 3)),
    )
    best, at = -FAR, 0.0
    for k in range(ALONG + 1):
        here = arc_room(c, v, one, other, 1.0 * k / ALONG)
        if here > best:
            best, at = here, 1.0 * k / ALONG
    low, high = max(at - 1.0 / ALONG, 0.0), min(at + 1.0 / ALONG, 1.0)
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    first, second = arc_room(c, v, one, other, left), arc_room(c, v, one, other, right)
    for _ in range(FINER):
        if first > second:
            high, right, second = right, left, first
            left = high - GOLDEN * (high - low)
            first = arc_room(c, v, one, other, left)
        else:
            low, left, first = left, right, second
            right = low + GOLDEN * (high - low)
            second = arc_room(c, v, one, other, right)
        if max(first, second) > best:
            best, at = max(first, second), left if first > second else right
    return at, best


@shared
def across_rims(c, x, one, other):
    """The direction across the tangents of two rims at these angles, from the first cylinder to the second one."""
    n = cross(radial(c, one), radial(x, other))
    size = length(n)
    if size < PARALLEL:
        return c[1][2]
    return times((1.0 if dot(n, sub(x[0], c[0])) >= 0.0 else -1.0) / size, n)


@shared
def rims_room(c, x, one, other):
    """Room between two cylinders across two rims."""
    n = across_rims(c, x, one, other)
    return dot(n, sub(x[0], c[0])) - round_extent(x, n) - round_extent(c, n)


@shared
def best_rims(c, x):
    """The angles of the tangents of two rims across which two cylinders are farthest apart, and the room there."""
    best, a, b, steps = -FAR, 0.0, 0.0, AROUND // 2
    for i in range(steps):
        for j in range(steps):
            here = rims_room(c, x, pi * i / steps, pi * j / steps)
            if here > best:
                best, a, b = here, pi * i / steps, pi * j / steps
    width = pi / steps
    for turn in range(2 * ROUNDS):
        first = turn % 2 == 0
        at = a if first else b
        low, high = at - width, at + width
        for _ in range(FINER):
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            one = rims_room(c, x, left if first else a, b if first else left)
            two = rims_room(c, x, right if first else a, b if first else right)
            if one > two:
                high = right
            else:
                low = left
            if max(one, two) > best:
                best, at = max(one, two), left if one > two else right
        a, b = (at, b) if first else (a, at)
    return a, b, best


@shared
def flat(c, kind, g, x, which):
    """Room along a direction that is given by flat parts: the ends of a cylinder (0, 1), then those of the other one
    (2, 3), or its faces (2 and on)."""
    return room(c, kind, g, x, flat_direction(c, kind, g, x, which))


@shared
def flat_direction(c, kind, g, x, which):
    """The direction of `flat`, from the cylinder to the other one."""
    if which < 2:
        return times(1.0 if which else -1.0, c[1][2])
    if kind == CYLINDER:
        return times(-1.0 if which == 3 else 1.0, x[1][2])
    return times(-1.0, normal_at(g, x, which - 2))


@shared
def n_flat(kind, g):
    """Number of flat parts."""
    return 4 if kind == CYLINDER else 2 + n_faces(g)


@shared
def best_flat(c, later_c, kind, g, x, later_x):
    """The flat part along which two solids are farthest apart, the less of now and of where they will be: its number,
    that room, and the room now."""
    best, found, now = -FAR, 0, -FAR
    for which in range(n_flat(kind, g)):
        here = flat(c, kind, g, x, which)
        if here > best:
            less = min(here, flat(later_c, kind, g, later_x, which))
            if less > best:
                best, found, now = less, which, here
    return found, best, now


@shared
def best_round(c, kind, g, x):
    """The family of curved parts, and the edge of it, along which a cylinder is farthest from another solid, the
    direction there, from the cylinder, and the room."""
    angle, best = best_barrel(c, kind, g, x)
    family, edge, n = BARREL, 0, radial(c, angle)
    if kind == CYLINDER:
        angle, other = best_barrel(x, CYLINDER, g, c)
        if other > best:
            family, n, best = OTHER_BARREL, times(-1.0, radial(x, angle)), other
        one, two, other = best_rims(c, x)
        if other > best:
            family, n, best = RIMS, across_rims(c, x, one, two), other
        return family, edge, n, best
    for e in range(n_edges(g)):
        part, other = best_arc(c, g, x, e)
        if other > best:
            one, two = normal_at(g, x, edge_part(g, e, 2)), normal_at(g, x, edge_part(g, e, 3))
            family, edge, n, best = ARC, e, times(-1.0, between(one, two, part)), other
    return family, edge, n, best


@shared
def parted(c, kind, g, x):
    """Room between a cylinder and a cylinder, box or hull along the direction that parts them best: at most their
    distance, and the depth by which they overlap."""
    return max(best_flat(c, c, kind, g, x, x)[1], best_round(c, kind, g, x)[3])


# ------------------------------------------------------------------------------------------------ round solids
@shared
def place_of(c, p):
    """Position of a point seen from a cylinder: along its axis, distance from it, and the direction there."""
    d = sub(p, c[0])
    across, far = slope(c, d)
    out = times(1.0 / far, across) if far > 0.0 else c[1][0]
    return dot(d, c[1][2]), far, out


@shared
def point_cylinder(c, p):
    """Distance of a point from a cylinder, negative inside."""
    high, far, _ = place_of(c, p)
    above, out = abs(high) - c[2][2], far - c[2][0]
    if above > 0.0 and out > 0.0:
        return (above * above + out * out) ** 0.5
    return max(above, out)


@shared
def nearest_on(c, p, u, half):
    """The place on a segment that is nearest to a cylinder, and its distance: distances from what is convex have one
    minimum."""
    if half == 0.0:
        return 0.0, point_cylinder(c, p)
    low, high = -half, half
    at, best = (-half, point_cylinder(c, along(p, -half, u)))
    end = point_cylinder(c, along(p, half, u))
    if end < best:
        at, best = half, end
    for _ in range(FINER):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        one, two = point_cylinder(c, along(p, left, u)), point_cylinder(c, along(p, right, u))
        if one < two:
            high = right
        else:
            low = left
        if min(one, two) < best:
            at, best = left if one < two else right, min(one, two)
    return at, best


@shared
def rim_from(c, x, end):
    """Distance of a rim of cylinder c from cylinder x, if they do not overlap."""
    centre = along(c[0], c[2][2] if end else -c[2][2], c[1][2])
    best, at = FAR, 0.0
    for k in range(AROUND):
        here = point_cylinder(x, along(centre, c[2][0], radial(c, 2.0 * pi * k / AROUND)))
        if here < best:
            best, at = here, 2.0 * pi * k / AROUND
    low, high = at - 2.0 * pi / AROUND, at + 2.0 * pi / AROUND
    for _ in range(FINER):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        one = point_cylinder(x, along(centre, c[2][0], radial(c, left)))
        two = point_cylinder(x, along(centre, c[2][0], radial(c, right)))
        if one < two:
            high = right
        else:
            low = left
        best = min(best, one, two)
    return best


@shared
def exact(c, kind, g, x):
    """Distance of a cylinder from a cylinder, box or hull."""
    room = parted(c, kind, g, x)
    if room <= 0.0:
        return room
    best = FAR
    if kind == CYLINDER:
        u, w = c[1][2], x[1][2]
        s, r = segments(c[0], u, c[2][2], x[0], w, x[2][2])
        if abs(s) < c[2][2] and abs(r) < x[2][2]:
            best = length(sub(along(c[0], s, u), along(x[0], r, w))) - c[2][0] - x[2][0]
        for end in range(2):
            best = min(best, rim_from(c, x, end), rim_from(x, c, end))
        return best
    for e in range(n_edges(g)):
        q, w, half = edge_at(g, x, e)
        best = min(best, nearest_on(c, q, w, half)[1])
    for f in range(n_faces(g)):
        n = normal_at(g, x, f)
        p = lowest_point(c, n)
        over = dot(n, sub(p, corner_at(g, x, face_corner(g, f, 0))))
        if over > 0.0 and is_over(g, x, f, p, 0.0):
            best = min(best, over)
    return best


@shared
def lowest_point(c, n):
    """The point of a cylinder that is lowest along n."""
    across, steep = slope(c, n)
    a = c[1][2]
    end = along(c[0], -c[2][2] if dot(n, a) > 0.0 else c[2][2], a)
    return along(end, -c[2][0] / steep, across) if steep > 0.0 else end
