"""Features of cylinders and others (not planes: cylinder.py); see manifold.py, and round_distance.py for directions.

What is flat of one and under the other one is a plane: above it are a rim's lowest point (RIM), points that are fixed
to the rim where the axis is upright, the other one's corners; and edges that cross the rim, or the line on which a
cylinder lies. Where nothing flat parts two solids, the axis, with the radius around it, stands for what is round
(EDGES, LINE). A rim that crosses an edge, or another rim, is its tangent there: exact where it touches, and to second
order for what slides along in the step.
"""

from vigym.engine.kernels.collision.cylinder import rim
from vigym.engine.kernels.collision.distance import segments
from vigym.engine.kernels.collision.hulls import FACING, is_outmost, leads_out, opposite_face
from vigym.engine.kernels.collision.manifold import (
    ALIGNED,
    BESIDE,
    FACE,
    LEAST,
    LINE,
    OWNER_RADIUS,
    PARTNER_RADIUS,
    PREFER_FACE,
    SHALLOW,
    note,
)
from vigym.engine.kernels.collision.polytope import (
    corner_at,
    edge_at,
    face_corner,
    face_edge,
    face_size,
    lowest,
    n_corners,
    n_edges,
    n_faces,
    normal_at,
)
from vigym.engine.kernels.collision.rims import (
    BESIDES,
    CORNERS,
    CROSSINGS,
    OTHER_PLANE,
    SINGLE,
    line_over_rim,
    over_part,
    put_edges,
)
from vigym.engine.kernels.collision.round_distance import (
    BARREL,
    best_flat,
    best_round,
    exact,
    flat_direction,
    lowest_point,
    nearest_on,
    parted,
    place_of,
    point_cylinder,
)
from vigym.engine.kernels.collision.space import (
    CYLINDER,
    along,
    cross,
    dot,
    is_round,
    length,
    sub,
    times,
)
from vigym.engine.kernels.simd import shared

LYING = 1e-4  # sine of the angle to a plane below which a cylinder lies on its side


@shared
def corners_under(found, n, c, end, cap, g, x, swap, reach, close):
    """Corners of a solid, of faces that look at the end of a cylinder, over that. swap: 1 if the cylinder is the second
    of the pair"""
    top = rim(c, end)
    low, _ = lowest(g, x, cap)
    best, _ = opposite_face(g, x, cap)
    for k in range(n_corners(g)):
        p = corner_at(g, x, k)
        if dot(cap, sub(p, top)) < reach and place_of(c, p)[1] <= c[2][0] + close:
            looks = k == low
            for f in range(n_faces(g)):
                if not looks and (f == best or dot(normal_at(g, x, f), cap) < -FACING):
                    for i in range(face_size(g, f)):
                        looks = looks or face_corner(g, f, i) == k
            if looks:
                n = note(found, n, (FACE, 1.0 - swap, CORNERS + k), p, top, cap, cap)
    return n


@shared
def with_face(found, c, later_c, g, x, f, swap, reach, close):
    """A cylinder and face f of a box or hull, below it. swap: 1 if the cylinder is the second of the pair"""
    m, base = normal_at(g, x, f), corner_at(g, x, face_corner(g, f, 0))
    rise = dot(m, c[1][2])
    n = over_part(found, 0, c, later_c, 0, g, x, f, base, m, swap, reach, 0.0, close)
    if abs(rise) > 0.5:
        end = 0 if rise > 0.0 else 1
        cap = times(1.0 if end else -1.0, c[1][2])
        n = corners_under(found, n, c, end, cap, g, x, swap, reach, close)
        for k in range(face_size(g, f)):
            e = face_edge(g, f, k)
            q, w, half = edge_at(g, x, e)
            n = line_over_rim(found, n, c, end, cap, q, w, half, 0.0, CROSSINGS + 2.0 * e, swap, reach)
        return n
    p, u = c[0], c[1][2]
    for k in range(face_size(g, f)):
        e = face_edge(g, f, k)
        q, w, half = edge_at(g, x, e)
        out = cross(w, m)
        steep, start = dot(u, out), dot(sub(p, q), out)
        if abs(steep) > SHALLOW:
            t = -start / steep
            if abs(t) < c[2][2] - close and abs(dot(sub(along(p, t, u), q), w)) < half - close:
                n = put_edges(found, n, CROSSINGS + 2.0 * e, swap, p, u, c[2][0], q, w, 0.0, m, reach)
    return n


@shared
def under_end(found, c, later_c, end, g, x, swap, reach, close):
    """A box or hull and the end of a cylinder, with corners and edges below that."""
    cap = times(1.0 if end else -1.0, c[1][2])
    f, facing = opposite_face(g, x, cap)
    if facing < -0.5:
        return with_face(found, c, later_c, g, x, f, swap, reach, close)
    n = corners_under(found, 0, c, end, cap, g, x, swap, reach, close)
    for k in range(face_size(g, f)):
        e = face_edge(g, f, k)
        q, w, half = edge_at(g, x, e)
        n = line_over_rim(found, n, c, end, cap, q, w, half, 0.0, CROSSINGS + 2.0 * e, swap, reach)
    return n


@shared
def beside(found, c, g, x, n, swap, reach):
    """A cylinder's round side and a box or hull: edges that cross it, corners beside it; of an edge along it, the rims
    beside that. n: from the cylinder to the other one."""
    p, u, ha, r = c[0], c[1][2], c[2][2], c[2][0]
    count = 0
    for e in range(n_edges(g)):
        q, w, half = edge_at(g, x, e)
        if length(cross(w, u)) > ALIGNED:
            s, t = segments(p, u, ha, q, w, half)
            d = sub(along(p, s, u), along(q, t, w))
            size = length(d)
            if abs(s) < ha and abs(t) < half and size < r + reach and leads_out(g, x, e, w, d, size):
                count = put_edges(found, count, BESIDES + e, swap, p, u, r, q, w, 0.0, times(-1.0, n), reach)
        else:
            for end in range(2):
                at = rim(c, end)
                d = sub(at, q)
                if abs(dot(d, w)) < half + BESIDE * ha:
                    away = along(d, -dot(d, w), w)
                    size = length(away)
                    if size - r < reach and leads_out(g, x, e, w, away, size):
                        head = (LINE, swap, BESIDES + 4096.0 + 2.0 * e + end)
                        last = note(found, count, head, at, q, w, w)
                        if last > count:
                            found[count, OWNER_RADIUS] = r
                        count = last
    for k in range(n_corners(g)):
        q = corner_at(g, x, k)
        s = dot(sub(q, p), u)
        if abs(s) < ha + BESIDE * ha:
            d = sub(along(p, s, u), q)
            size = length(d)
            if size < r + reach and is_outmost(g, x, k, d, size):
                last = note(found, count, (LINE, 1.0 - swap, BESIDES + 16384.0 + k), q, p, u, u)
                if last > count:
                    found[count, PARTNER_RADIUS] = r
                count = last
    return count


@shared
def edge_or_side(c, n):
    """The line of a cylinder that is farthest along n, and the radius around it: its axis, if n is across that, or the
    tangent of a rim."""
    if abs(dot(n, c[1][2])) < LYING:
        return c[0], c[1][2], c[2][0]
    p = lowest_point(c, times(-1.0, n))
    _, _, out = place_of(c, p)
    return p, cross(c[1][2], out), 0.0


@shared
def with_polytope(found, c, later_c, g, x, later_x, swap, reach):
    """A cylinder and a box or hull. swap: 1 if the cylinder is the second of the pair"""
    size = min(c[2][0], c[2][2], x[2][0], x[2][1], x[2][2])
    close = 1e-9 * (c[2][0] + c[2][2] + x[2][0] + x[2][1] + x[2][2])
    which, flat_room, flat_now = best_flat(c, later_c, 0, g, x, later_x)
    family, e, n, now = best_round(c, 0, g, x)
    curved = min(now, best_round(later_c, 0, g, later_x)[3])
    if curved > flat_room + PREFER_FACE * size or flat_now < -BESIDE * size <= now:
        if family == BARREL or abs(dot(n, c[1][2])) < LYING:
            return beside(found, c, g, x, n, swap, reach)
        p, u, r = edge_or_side(c, n)
        q, w, _ = edge_at(g, x, e)
        return put_edges(found, 0, SINGLE + e, swap, p, u, r, q, w, 0.0, times(-1.0, n), reach)
    if which < 2:
        return under_end(found, c, later_c, which, g, x, swap, reach, close)
    return with_face(found, c, later_c, g, x, which - 2, swap, reach, close)


# ------------------------------------------------------------------------------------------------ two cylinders
@shared
def on_end(found, count, c, later_c, g, x, end, swap, reach, key, close):
    """Cylinder c over the end of cylinder x: its rims, or the line on which it lies and the rim below.

    swap: 1 if c is the second of the pair"""
    cap, top = times(1.0 if end else -1.0, x[1][2]), rim(x, end)
    count = over_part(found, count, c, later_c, CYLINDER, g, x, 0, top, cap, swap, reach, key, close)
    if abs(dot(cap, c[1][2])) > 0.5:
        return count
    p, u, half, radius = c[0], c[1][2], c[2][2], c[2][0]
    return line_over_rim(found, count, x, end, cap, p, u, half, radius, CROSSINGS + key, 1.0 - swap, reach)


@shared
def rims_cross(found, n, c, end, x, other, swap, reach):
    """Points where the rims of two ends that face each other cross, seen along the axis of c, the first of the pair
    unless swap is 1."""
    axis, one, two, r, t = c[1][2], rim(c, end), rim(x, other), c[2][0], x[2][0]
    d = sub(two, one)
    d = along(d, -dot(d, axis), axis)
    far = length(d)
    if far <= LEAST * (r + t) or far >= r + t or far <= abs(r - t):
        return n
    out = times(1.0 / far, d)
    aside = cross(axis, out)
    at = 0.5 * (far * far + r * r - t * t) / far
    high = max(r * r - at * at, 0.0) ** 0.5
    for k in range(2):
        way = along(times(at, out), high if k else -high, aside)
        p = along(one, 1.0, way)
        _, _, there = place_of(x, p)
        q = along(two, t, there)
        u, w = times(1.0 / r, cross(axis, way)), cross(x[1][2], there)
        if length(cross(u, w)) > SHALLOW:
            n = put_edges(found, n, CROSSINGS + k, swap, p, u, 0.0, q, w, 0.0, times(-1.0 if end else 1.0, axis), reach)
    return n


@shared
def sides(found, c, x, n, swap, reach):
    """Two cylinders that are parted along n, from the one to the other, by what is round of both. swap: 1 if c is the
    second of the pair"""
    p, u, r = edge_or_side(c, n)
    q, w, t = edge_or_side(x, times(-1.0, n))
    if r == 0.0 or t == 0.0 or length(cross(u, w)) > ALIGNED:
        return put_edges(found, 0, SINGLE, swap, p, u, r, q, w, t, times(-1.0, n), reach)
    count = 0
    for k in range(4):  # the ends of each beside the other one
        mine, other, owned = (c, x, swap) if k < 2 else (x, c, 1.0 - swap)
        at = rim(mine, k % 2)
        high, far, _ = place_of(other, at)
        if abs(high) <= other[2][2] * (1.0 + BESIDE) and far - r - t < reach:
            head = (LINE, owned, BESIDES + k)
            last = note(found, count, head, at, other[0], other[1][2], other[1][2])
            if last > count:
                found[count, OWNER_RADIUS], found[count, PARTNER_RADIUS] = mine[2][0], other[2][0]
            count = last
    return count


@shared
def with_cylinder(found, c, later_c, g, x, later_x, reach):
    """Two cylinders, c the first of the pair."""
    size = min(c[2][0], c[2][2], x[2][0], x[2][2])
    close = 1e-9 * (c[2][0] + c[2][2] + x[2][0] + x[2][2])
    which, flat_room, flat_now = best_flat(c, later_c, CYLINDER, g, x, later_x)
    _, _, n, now = best_round(c, CYLINDER, g, x)
    curved = min(now, best_round(later_c, CYLINDER, g, later_x)[3])
    if curved > flat_room + PREFER_FACE * size or flat_now < -BESIDE * size <= now:
        return sides(found, c, x, n, 0.0, reach)
    n = flat_direction(c, CYLINDER, g, x, which)
    mine, other = 1 if dot(n, c[1][2]) > 0.0 else 0, 1 if dot(n, x[1][2]) < 0.0 else 0  # ends that face each other
    first = which < 2
    owner, later, base, end, swap = (x, later_x, c, mine, 1.0) if first else (c, later_c, x, other, 0.0)
    count = on_end(found, 0, owner, later, g, base, end, swap, reach, 0.0, close)
    if abs(dot(c[1][2], x[1][2])) > 0.5:
        if first:
            count = on_end(found, count, c, later_c, g, x, other, 0.0, reach, OTHER_PLANE, close)
        else:
            count = on_end(found, count, x, later_x, g, c, mine, 1.0, reach, OTHER_PLANE, close)
        count = rims_cross(found, count, c, mine, x, other, 0.0, reach)
    return count


# ------------------------------------------------------------------------------------------------ round solids
@shared
def near_cylinder(found, n, key, swap, p, radius, c, reach):
    """A point with a radius, owner, and a cylinder: its end, its side, or its rim. swap: 1 if the cylinder is the first
    of the pair"""
    if point_cylinder(c, p) - radius >= reach:
        return n
    high, far, out = place_of(c, p)
    end, axis = 1 if high > 0.0 else 0, c[1][2]
    above, beyond = abs(high) - c[2][2], far - c[2][0]
    if above > 0.0 and beyond > 0.0:
        w = cross(axis, out)
        last = note(found, n, (LINE, swap, key + 3.0 + end), p, along(rim(c, end), c[2][0], out), w, w)
        rest = 0.0
    elif above >= beyond:
        cap = times(1.0 if end else -1.0, axis)
        last, rest = note(found, n, (FACE, swap, key + 1.0 + end), p, rim(c, end), cap, cap), 0.0
    else:
        last, rest = note(found, n, (LINE, swap, key), p, c[0], axis, axis), c[2][0]
    if last > n:
        found[n, OWNER_RADIUS], found[n, PARTNER_RADIUS] = radius, rest
    return last


@shared
def with_round(found, a, c, swap, reach):
    """A sphere or capsule and a cylinder: the ends, and what is nearest between them. swap: 1 if the cylinder is the
    first of the pair"""
    p, u, ha, radius = a[0], a[1][2], a[2][2], a[3]
    n = near_cylinder(found, 0, 0.0, swap, along(p, -ha, u), radius, c, reach)
    if ha == 0.0:
        return n
    n = near_cylinder(found, n, 8.0, swap, along(p, ha, u), radius, c, reach)
    axis, half, r = c[1][2], c[2][2], c[2][0]
    s, room = nearest_on(c, p, u, ha)
    at = along(p, s, u)
    high, far, out = place_of(c, at)
    if abs(dot(u, axis)) < 0.5 and far < r and abs(high) > half:  # over an end
        end = 1 if high > 0.0 else 0
        cap = times(1.0 if end else -1.0, axis)
        return line_over_rim(found, n, c, end, cap, p, u, ha, radius, 16.0, 1.0 - swap, reach)
    if abs(s) >= ha * (1.0 - BESIDE) or room - radius >= reach:
        return n
    if length(cross(u, axis)) > ALIGNED:
        if abs(high) <= half:
            return put_edges(found, n, 20.0, swap, p, u, radius, c[0], axis, r, out, reach)
        end = 1 if high > 0.0 else 0
        q = along(rim(c, end), r, out)
        return put_edges(found, n, 21.0 + end, swap, p, u, radius, q, cross(axis, out), 0.0, sub(at, q), reach)
    for end in range(2):
        q = rim(c, end)
        if abs(dot(sub(q, p), u)) < ha:
            last = note(found, n, (LINE, 1.0 - swap, 24.0 + end), q, p, u, u)
            if last > n:
                found[n, OWNER_RADIUS], found[n, PARTNER_RADIUS] = r, radius
            n = last
    return n


@shared
def features(found, kind_a, h, a, later_a, kind_b, g, b, later_b, reach):
    """Features of two placed solids, of which at least one is a cylinder and none a plane; returns how many."""
    if kind_a == CYLINDER and kind_b == CYLINDER:
        return with_cylinder(found, a, later_a, g, b, later_b, reach)
    if kind_a == CYLINDER:
        if is_round(kind_b):
            return with_round(found, b, a, 1.0, reach)
        return with_polytope(found, a, later_a, g, b, later_b, 0.0, reach)
    if is_round(kind_a):
        return with_round(found, a, b, 0.0, reach)
    return with_polytope(found, b, later_b, h, a, later_a, 1.0, reach)


@shared
def solids(kind_a, h, a, kind_b, g, b, whole):
    """Distance of two placed solids, of which at least one is a cylinder and none a plane; without `whole`, at most
    that of two with flat parts."""
    if kind_a != CYLINDER:  # the cylinder first
        kind_b, g, b, a = kind_a, h, a, b
    if is_round(kind_b):
        return nearest_on(a, b[0], b[1][2], b[2][2])[1] - b[3]
    return exact(a, kind_b, g, b) if whole else parted(a, kind_b, g, b)
