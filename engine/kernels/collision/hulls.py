"""Features of solids with flat faces (polytope.py): as those of boxes (manifold.py), for any number of faces.

Of two, the plane that keeps them apart is a face of one, or across an edge of each. Under it are all faces of the other
that look at it within 41 degrees, and that which looks at it most, where the other one is lowest: their corners over
the face, its corners over them, and edges that cross.
"""

from vigym.engine.kernels.collision.distance import FAR, segments
from vigym.engine.kernels.collision.hull_distance import best_edges, best_face
from vigym.engine.kernels.collision.manifold import (
    ALIGNED,
    BESIDE,
    EDGES,
    FACE,
    INSIDE,
    KEY,
    LEAST,
    OWNER,
    OWNER_RADIUS,
    PARTNER_RADIUS,
    PREFER_FACE,
    SHALLOW,
    SWAP,
    line_line,
    note,
    point_line,
    point_point,
)
from vigym.engine.kernels.collision.polytope import (
    corner_at,
    edge_at,
    edge_part,
    face_corner,
    face_edge,
    face_size,
    inner,
    is_over,
    lowest,
    n_corners,
    n_edges,
    n_faces,
    nearest_part,
    normal_at,
)
from vigym.engine.kernels.collision.space import PLANE, along, cross, dot, length, sign, sub, times
from vigym.engine.kernels.simd import shared

FACING = 0.75  # cosine of the angle to the normal within which faces count as opposite
CORNERS, EDGES_OF = 512.0, 2048.0  # numbers of corners and of edges are below that; of faces, below 2 CORNERS
CROSSING, CROSSED = 4194304.0, 8388608.0  # where keys of edges begin that cross under a face, and that part two solids


# ------------------------------------------------------------------------------------------------ with other kinds
@shared
def over_plane(found, h, solid, plane, swap, reach):
    """Corners above a plane; swap: 1 if the solid is the second of the pair."""
    n, count = plane[1][2], 0
    for k in range(n_corners(h)):
        p = corner_at(h, solid, k)
        if dot(n, sub(p, plane[0])) < reach:
            count = note(found, count, (FACE, swap, float(k)), p, plane[0], n, n)
    return count


@shared
def near_hull(found, n, key, swap, p, radius, h, solid, reach):
    """A point with a radius, owner, and a solid: what of it is nearest."""
    kind, which, room = nearest_part(h, solid, p)
    if room - radius >= reach:
        return n
    if kind == 0:
        normal, at = normal_at(h, solid, which), corner_at(h, solid, face_corner(h, which, 0))
        return note(found, n, (FACE, swap, key + which), p, at, normal, normal)
    if kind == 1:
        q, w, _ = edge_at(h, solid, which)
        return point_line(found, n, key + 1024.0 + which, swap, p, q, w, radius, reach)
    return point_point(found, n, key + 3072.0 + which, swap, p, corner_at(h, solid, which), radius, reach)


@shared
def leads_out(h, solid, e, u, d, size):
    """True if d, across an edge along u, does not lead into the faces beside that edge."""
    return dot(d, inner(h, solid, e, u, 0)) <= 1e-6 * size and dot(d, inner(h, solid, e, u, 1)) <= 1e-6 * size


@shared
def is_outmost(h, solid, k, d, size):
    """True if no edge that begins at corner k leads farther along d."""
    p = corner_at(h, solid, k)
    for e in range(n_edges(h)):
        if edge_part(h, e, 0) == k or edge_part(h, e, 1) == k:
            other = edge_part(h, e, 1) if edge_part(h, e, 0) == k else edge_part(h, e, 0)
            way = sub(corner_at(h, solid, other), p)
            if dot(way, d) > 1e-6 * size * length(way):
                return False
    return True


@shared
def round_hull(found, a, h, solid, swap, reach):
    """A sphere or capsule and a solid: the ends, edges that cross the capsule, corners beside it.

    swap: 1 if the solid is the first of the pair"""
    p, u, ha, radius = a[0], a[1][2], a[2][2], a[3]
    n = near_hull(found, 0, 0.0, swap, along(p, -ha, u), radius, h, solid, reach)
    if ha == 0.0:
        return n
    n = near_hull(found, n, 4096.0, swap, along(p, ha, u), radius, h, solid, reach)
    for e in range(n_edges(h)):
        q, w, half = edge_at(h, solid, e)
        s, r = segments(p, u, ha, q, w, half)
        if abs(s) < ha and abs(r) < half and length(cross(w, u)) > ALIGNED:
            d = sub(along(p, s, u), along(q, r, w))
            size = length(d)
            if size < radius + reach and leads_out(h, solid, e, w, d, size):
                n = line_line(found, n, 8192.0 + e, swap, p, u, q, w, radius, reach)
    for k in range(n_corners(h)):
        q = corner_at(h, solid, k)
        s = dot(sub(q, p), u)
        if abs(s) < ha:
            d = sub(along(p, s, u), q)
            size = length(d)
            if size < radius + reach and is_outmost(h, solid, k, d, size):
                n = point_line(found, n, 12288.0 + k, 1.0 - swap, q, p, u, radius, reach)
    return n


# ------------------------------------------------------------------------------------------------ with each other
@shared
def has_key(found, count, key):
    """True if one of the first `count` features has that key."""
    known = False
    for k in range(count):
        known = known or found[k, KEY] == key
    return known


@shared
def opposite_face(h, solid, n):
    """The face that looks most against n of those where the solid is lowest along n, and the cosine of that."""
    low, _ = lowest(h, solid, n)
    best, found = FAR, 0
    for f in range(n_faces(h)):
        for k in range(face_size(h, f)):
            if face_corner(h, f, k) == low:
                facing = dot(normal_at(h, solid, f), n)
                if facing < best:
                    best, found = facing, f
    return found, best


@shared
def is_below(found, corners, v, n, close):
    """True if the point of one of the first features is under or over a point, along n."""
    for f in range(corners):
        e = (found[f, OWNER] - v[0], found[f, OWNER + 1] - v[1], found[f, OWNER + 2] - v[2])
        if length(along(e, -dot(e, n), n)) < close:
            return True
    return False


@shared
def under_face(found, h, ref, f, g, inc, size, swap, reach):
    """Features of face f of one solid and of the faces opposite of the other one.

    swap: 1 if `inc` is the second of the pair; size: by which rounding is judged"""
    n, top = normal_at(h, ref, f), corner_at(h, ref, face_corner(h, f, 0))
    most, _ = opposite_face(g, inc, n)
    close, count = INSIDE * size, 0
    for face in range(n_faces(g)):
        if face == most or dot(normal_at(g, inc, face), n) < -FACING:
            for c in range(face_size(g, face)):
                number = face_corner(g, face, c)
                v, key = corner_at(g, inc, number), CORNERS * f + number
                if dot(sub(v, top), n) < reach and is_over(h, ref, f, v, close) and not has_key(found, count, key):
                    count = note(found, count, (FACE, swap, key), v, top, n, n)
    corners = count
    for face in range(n_faces(g)):
        m = normal_at(g, inc, face)
        if (face == most and dot(m, n) < -0.5) or dot(m, n) < -FACING:
            bottom = corner_at(g, inc, face_corner(g, face, 0))
            for c in range(face_size(h, f)):
                number = face_corner(h, f, c)
                v = corner_at(h, ref, number)
                over = dot(sub(v, bottom), m) < reach and is_over(g, inc, face, v, close)
                if over and not is_below(found, corners, v, n, 1e-6 * size):
                    key = 2.0 * CORNERS * CORNERS + CORNERS * face + number
                    count = note(found, count, (FACE, 1.0 - swap, key), v, bottom, m, m)
    for face in range(n_faces(g)):
        if face == most or dot(normal_at(g, inc, face), n) < -FACING:
            for c in range(face_size(g, face)):
                count = crossing(found, count, h, ref, f, g, inc, face_edge(g, face, c), close, swap, reach)
    return count


@shared
def crossing(found, count, h, ref, f, g, inc, e, close, swap, reach):
    """Edge e of one solid and the sides of face f of the other one that it crosses, seen along the face's normal."""
    n, top = normal_at(h, ref, f), corner_at(h, ref, face_corner(h, f, 0))
    p, u, hu = edge_at(g, inc, e)
    for c in range(face_size(h, f)):
        side = face_edge(h, f, c)
        q, w, hw = edge_at(h, ref, side)
        out = cross(w, n)  # across the side, in the face
        slope, start = dot(u, out), dot(sub(p, q), out)
        if abs(slope) > LEAST:
            t = -start / slope
            if abs(t) < hu - close and abs(dot(sub(along(p, t, u), q), w)) < hw - close:
                away = cross(w, u)
                size = length(away)
                facing = sign(dot(away, n))
                key = CROSSING + EDGES_OF * side + e
                if has_key(found, count, key):
                    continue
                if abs(slope) < SHALLOW:  # across both is anywhere
                    point = along(p, t, u)
                    if dot(n, sub(point, top)) < reach:
                        count = note(found, count, (FACE, swap, key), point, top, n, n)
                elif facing * dot(away, sub(p, q)) / size < reach:
                    count = note(found, count, (EDGES, swap, key), p, q, w, times(facing, u))
    return count


@shared
def hull_hull(found, h, a, g, b, later_a, later_b, reach):
    """Features of two solids a and b, which are on the way to later_a and later_b; see `manifold.box_box`."""
    size = min(a[2][0], a[2][1], a[2][2], b[2][0], b[2][1], b[2][2])
    large = a[2][0] + a[2][1] + a[2][2] + b[2][0] + b[2][1] + b[2][2]
    mine, my_room, my_now = best_face(h, a, later_a, g, b, later_b)
    other, other_room, other_now = best_face(g, b, later_b, h, a, later_a)
    own = my_room >= other_room
    face_room, face_now = (my_room, my_now) if own else (other_room, other_now)
    least = face_room if face_now >= -BESIDE * size else -FAR
    e, k, n, room, now = best_edges(h, a, later_a, g, b, later_b, least)
    if e >= 0:
        beside_face = face_now < -BESIDE * size <= now
        if room > face_room + PREFER_FACE * size or beside_face:
            p, u, _ = edge_at(h, a, e)
            q, w, _ = edge_at(g, b, k)
            if dot(n, sub(q, p)) >= reach:
                return 0
            facing = -sign(dot(cross(w, u), n))
            return note(found, 0, (EDGES, 0.0, CROSSED + EDGES_OF * e + k), p, q, w, times(facing, u))
    if own:  # a face of a is the plane; b has the corners
        return under_face(found, h, a, mine, g, b, large, 1.0, reach)
    return under_face(found, g, b, other, h, a, large, 0.0, reach)


@shared
def features(found, kind_a, h, a, later_a, kind_b, g, b, later_b, reach):
    """Features of two placed solids, of which at least one has tables; returns how many."""
    if kind_a == PLANE or kind_b == PLANE:
        plane, solid, table, swap = (a, b, g, 1.0) if kind_a == PLANE else (b, a, h, 0.0)
        return over_plane(found, table, solid, plane, swap, reach)
    if h[2] == 0:
        count = round_hull(found, a, g, b, 0.0, reach)
    elif g[2] == 0:
        count = round_hull(found, b, h, a, 1.0, reach)
    else:
        return hull_hull(found, h, a, g, b, later_a, later_b, reach)
    radius = a[3] if h[2] == 0 else b[3]
    for k in range(count):
        swapped = found[k, SWAP] > 0.5
        found[k, OWNER_RADIUS if swapped == (h[2] != 0) else PARTNER_RADIUS] += radius
    return count
