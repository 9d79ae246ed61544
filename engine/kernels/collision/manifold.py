"""The features by which two solids may touch in a step: for each of them, what keeps them apart at the next pose.

    FACE     a point of the owner above a plane of its partner
    EDGES    two straight edges that cross
    POINTS   two points
    LINE     a point of the owner beside a straight edge of its partner
    RIM      a circle of the owner above a plane of its partner; its point is the circle's centre, and the owner's
             direction is along the circle's axis, as long as its radius

all with radii of both around them, where they have any. Each is a condition that must hold as long as its point is over
that face, or the crossing on both edges; together they are what two flat faces need: corners of either above the other,
and edges that cross. The normal n points from partner to owner, gap = n . (point of owner - point of partner) - radii.

Boxes touch along one of the 15 directions that may part them: the one along which they are farthest apart, the less of
now and of where their velocities would take them. So what flies past a corner does not meet the planes beyond it.

`found` (rows, COLUMNS) takes the features, in the world frame of the poses that are given; keys tell them apart.
"""

from vigym.engine.kernels.collision.distance import FAR, PARALLEL, boxes_apart, direction, on_box, segments
from vigym.engine.kernels.collision.space import (
    along,
    corner,
    cross,
    dot,
    edge,
    length,
    local,
    sign,
    sub,
    times,
)
from vigym.engine.kernels.simd import shared

FACE, EDGES, POINTS, LINE, RIM = 1.0, 2.0, 3.0, 4.0, 5.0
CODE, SWAP, KEY, OWNER, PARTNER, PARTNER_WAY, OWNER_WAY, WHEN, GONE, COLUMNS = 0, 1, 2, 3, 6, 9, 12, 15, 16, 20
OWNER_RADIUS, PARTNER_RADIUS, FIRM = 17, 18, 19
FOUND = 128  # features of two solids, at most
ROOM = -1  # in the place of a row of `found`: asks for the distance
KEYS = 1 << 24  # more than there are for two solids
SHALLOW, LEAST = 0.1, 1e-9  # sines of the angle at which edges cross: below, a point stands for the crossing; or none
ALIGNED = 1e-2  # sine of the angle below which two capsules touch as parallel ones do: where they cross is anywhere
PREFER_FACE = 0.02  # of a size by which two edges must be farther apart than any face
INSIDE, BESIDE = 1e-9, 1e-6  # of a size by which corners, and ends of capsules, may be beyond a face or an end


@shared
def note(found, n, head, owner, partner, partner_way, owner_way):
    """Write feature n, head being (code, swap, key); returns n + 1."""
    if n >= len(found):
        return n
    row = found[n]
    row[CODE], row[SWAP], row[KEY], row[WHEN], row[GONE] = head[0], head[1], head[2], 0.0, 0.0
    row[OWNER_RADIUS] = row[PARTNER_RADIUS] = row[FIRM] = 0.0
    for k in range(3):
        row[OWNER + k], row[PARTNER + k] = owner[k], partner[k]
        row[PARTNER_WAY + k], row[OWNER_WAY + k] = partner_way[k], owner_way[k]
    return n + 1


@shared
def gap(code, d, way, mine):
    """Gap of a feature without radii: d from the partner's point to the owner's, `way` and `mine` the directions of
    partner and owner (between.py has the same in lanes)."""
    if code == FACE:
        return dot(way, d)
    if code == POINTS:
        return length(d)
    if code == LINE:
        return length(along(d, -dot(d, way), way))
    if code == RIM:
        return dot(way, d) - max(dot(mine, mine) - dot(way, mine) ** 2, 0.0) ** 0.5
    away = cross(way, mine)
    return dot(away, d) / max(length(away), 1e-300)


# ------------------------------------------------------------------------------------------------ planes
@shared
def with_plane(found, solid, plane, swap, reach):
    """Corners of a core above a plane; swap: 1 if the solid is the second of the pair."""
    n, count = plane[1][2], 0
    half = solid[2]
    for number in range(8):
        flat = (half[0] == 0.0 and number & 1) or (half[1] == 0.0 and number & 2) or (half[2] == 0.0 and number & 4)
        if not flat:
            p = corner(solid, number)
            gap = dot(n, sub(p, plane[0])) - solid[3]
            if gap < reach:
                count = note(found, count, (FACE, swap, float(number)), p, plane[0], n, n)
    return count


# ------------------------------------------------------------------------------------------------ round solids
@shared
def point_point(found, n, key, swap, p, q, radius, reach):
    """Two points."""
    gap = length(sub(p, q)) - radius
    zero = (0.0, 0.0, 0.0)
    return note(found, n, (POINTS, swap, key), p, q, zero, zero) if gap < reach else n


@shared
def point_line(found, n, key, swap, p, q, w, radius, reach):
    """A point beside the line through q along w."""
    d = sub(p, q)
    away = along(d, -dot(d, w), w)
    gap = length(away) - radius
    return note(found, n, (LINE, swap, key), p, q, w, w) if gap < reach else n


@shared
def line_line(found, n, key, swap, p, u, q, w, radius, reach):
    """Two lines, p + s u of the owner and q + r w of its partner, that cross."""
    away = cross(w, u)
    size = length(away)
    if size < PARALLEL:
        return n
    way = dot(away, sub(p, q)) / size
    u = times(sign(way), u)  # such that w x u points to the owner
    gap = abs(way) - radius
    return note(found, n, (EDGES, swap, key), p, q, w, u) if gap < reach else n


@shared
def round_round(found, a, b, reach):
    """Spheres and capsules: the nearest points, and ends that lie beside the other one."""
    p, u, q, w = a[0], a[1][2], b[0], b[1][2]
    ha, hb, radius = a[2][2], b[2][2], a[3] + b[3]
    s, r = segments(p, u, ha, q, w, hb)
    n = 0
    inner_s, inner_r = abs(s) < ha, abs(r) < hb
    if inner_s and inner_r and length(cross(w, u)) > ALIGNED:
        n = line_line(found, n, 0.0, 0.0, p, u, q, w, radius, reach)
    elif inner_s and inner_r:
        n = point_line(found, n, 0.0, 0.0, along(p, s, u), q, w, radius, reach)
    elif not inner_s and not inner_r:
        key = 1.0 + (2.0 if s > 0.0 else 0.0) + (1.0 if r > 0.0 else 0.0)
        n = point_point(found, n, key, 0.0, along(p, s, u), along(q, r, w), radius, reach)
    close = BESIDE * (ha + hb)
    for k in range(2):
        end = ha if k else -ha
        tip = along(p, end, u)
        if abs(dot(sub(tip, q), w)) < hb + close and (ha > 0.0 or k == 0):
            n = point_line(found, n, 8.0 + k, 0.0, tip, q, w, radius, reach)
        end = hb if k else -hb
        tip = along(q, end, w)
        if abs(dot(sub(tip, p), u)) < ha + close and (hb > 0.0 or k == 0):
            n = point_line(found, n, 10.0 + k, 1.0, tip, p, u, radius, reach)
    return n


@shared
def near_box(found, n, key, swap, p, radius, box, reach):
    """A point with a radius, owner, and a box: the feature of the box that is nearest."""
    centre, axes, half, _ = box
    v, at = local(axes, sub(p, centre)), on_box(box, p)
    beyond = 0
    for k in range(3):
        if abs(v[k]) > half[k]:
            beyond += 1
    if beyond <= 1:  # over a face, or inside: the face that is nearest
        face, room = 0, -FAR
        for k in range(3):
            if abs(v[k]) - half[k] > room:
                face, room = k, abs(v[k]) - half[k]
        gap = room - radius
        if gap < reach:
            normal = times(sign(v[face]), axes[face])
            side = 1.0 if v[face] >= 0.0 else 0.0
            top = along(centre, half[face], normal)
            n = note(found, n, (FACE, swap, key + 2.0 * face + side), p, top, normal, normal)
        return n
    q = along(along(along(centre, at[0], axes[0]), at[1], axes[1]), at[2], axes[2])
    place = 0.0
    for k in range(3):
        place = 3.0 * place + (0.0 if abs(v[k]) <= half[k] else (1.0 if v[k] > 0.0 else 2.0))
    if beyond == 3:
        return point_point(found, n, key + 6.0 + place, swap, p, q, radius, reach)
    for k in range(3):
        if abs(v[k]) <= half[k]:
            n = point_line(found, n, key + 6.0 + place, swap, p, q, axes[k], radius, reach)
    return n


@shared
def beside(d, normal, size):
    """True if d does not point to the inner side of a face."""
    return dot(d, normal) >= -1e-6 * size


@shared
def round_box(found, a, box, swap, reach):
    """A sphere or capsule and a box: the ends, edges of the box that cross the capsule, its corners beside it.

    swap: 1 if the box is the first of the pair"""
    p, u, ha, radius = a[0], a[1][2], a[2][2], a[3] + box[3]
    n = near_box(found, 0, 0.0, swap, along(p, -ha, u), radius, box, reach)
    if ha == 0.0:
        return n
    n = near_box(found, n, 40.0, swap, along(p, ha, u), radius, box, reach)
    axes, half = box[1], box[2]
    for number in range(12):
        q, k = edge(box, number), number // 4
        w, i, j = axes[k], (k + 1) % 3, (k + 2) % 3
        s, r = segments(p, u, ha, q, w, half[k])
        if abs(s) < ha and abs(r) < half[k] and length(cross(w, u)) > ALIGNED:
            d = sub(along(p, s, u), along(q, r, w))
            size = length(d)
            first = times(1.0 if number & 1 else -1.0, axes[i])
            second = times(1.0 if number & 2 else -1.0, axes[j])
            if size < radius + reach and beside(d, first, size) and beside(d, second, size):
                n = line_line(found, n, 80.0 + number, swap, p, u, q, w, radius, reach)
    for number in range(8):
        q = corner(box, number)
        s = dot(sub(q, p), u)
        if abs(s) < ha:
            d = sub(along(p, s, u), q)
            size = length(d)
            out = size < radius + reach
            for k in range(3):
                out = out and beside(d, times(1.0 if number & (1 << k) else -1.0, axes[k]), size)
            if out:
                n = point_line(found, n, 100.0 + number, 1.0 - swap, q, p, u, radius, reach)
    return n


# ------------------------------------------------------------------------------------------------ boxes
@shared
def least_size(a, b):
    """The shortest half length of two boxes."""
    return min(min(a[2][0], a[2][1], a[2][2]), min(b[2][0], b[2][1], b[2][2]))


@shared
def parting(a, b, later_a, later_b, first, last):
    """Direction among first..last - 1 along which two boxes are farthest apart, now or where they will be, whichever is
    less: its number, the side of it on which b is, that room, and the room now."""
    best, choice, side, now = -FAR, first, 1.0, -FAR
    for number in range(first, last):
        n, size = direction(a[1], b[1], number)
        if size >= PARALLEL:
            way = sign(dot(n, sub(b[0], a[0])))
            here = boxes_apart(a, b, number, way)
            later = boxes_apart(later_a, later_b, number, way)
            room = min(here, later) if later > -FAR else here
            if room > best:
                best, choice, side, now = room, number, way, here
    return choice, side, best, now


@shared
def face_face(found, ref, inc, k, way, swap, reach):
    """Features of the face of box `ref` whose normal is `way` times its axis k, and the face of box `inc` opposite.

    swap: 1 if `inc` is the second of the pair"""
    n = times(way, ref[1][k])
    i, steep = 0, -1.0
    for j in range(3):
        if abs(dot(inc[1][j], n)) > steep:
            i, steep = j, abs(dot(inc[1][j], n))
    out = -sign(dot(inc[1][i], n))
    m = times(out, inc[1][i])
    kp, kq, ip, iq = (k + 1) % 3, (k + 2) % 3, (i + 1) % 3, (i + 2) % 3
    top, bottom = along(ref[0], ref[2][k], n), along(inc[0], inc[2][i], m)
    P, Q, hp, hq = ref[1][kp], ref[1][kq], ref[2][kp], ref[2][kq]
    A, B, ha, hb = inc[1][ip], inc[1][iq], inc[2][ip], inc[2][iq]
    close = INSIDE * (hp + hq + ha + hb)
    up, down = 1.0 if way > 0.0 else 0.0, 1.0 if out > 0.0 else 0.0
    faces = 2048.0 * swap  # keys of one face being the plane and of the other one
    count = 0
    # corners of inc over the face of ref
    for c in range(4):
        sp, sq = 1.0 if c & 1 else -1.0, 1.0 if c & 2 else -1.0
        v = along(along(bottom, sp * ha, A), sq * hb, B)
        d = sub(v, top)
        gap = dot(d, n)
        if abs(dot(d, P)) <= hp + close and abs(dot(d, Q)) <= hq + close and gap < reach:
            key = faces + 48.0 * i + 8.0 * (2.0 * k + up) + 2.0 * c + down
            count = note(found, count, (FACE, swap, key), v, top, n, n)
    corners = count
    # corners of ref over the face of inc
    if steep > 0.5:
        for c in range(4):
            sp, sq = 1.0 if c & 1 else -1.0, 1.0 if c & 2 else -1.0
            v = along(along(top, sp * hp, P), sq * hq, Q)
            d = sub(v, bottom)
            gap = dot(d, m)
            if abs(dot(d, A)) <= ha + close and abs(dot(d, B)) <= hb + close and gap < reach:
                known = False
                for f in range(corners):
                    e = (found[f, OWNER] - v[0], found[f, OWNER + 1] - v[1], found[f, OWNER + 2] - v[2])
                    known = known or length(along(e, -dot(e, n), n)) < 1e-6 * (hp + hq)
                if not known:
                    key = faces + 200.0 + 48.0 * k + 8.0 * (2.0 * i + down) + 2.0 * c + up
                    count = note(found, count, (FACE, 1.0 - swap, key), v, bottom, m, m)
    # edges that cross
    for c in range(4):
        along_a = c < 2  # edges of inc along A, at B = -hb, hb; then along B
        s = 1.0 if c & 1 else -1.0
        u, hu = (A, ha) if along_a else (B, hb)
        p = along(bottom, s * hb, B) if along_a else along(bottom, s * ha, A)
        d = sub(p, top)
        x, y, ux, uy = dot(d, P), dot(d, Q), dot(u, P), dot(u, Q)
        for g in range(4):
            along_p = g < 2  # edges of ref along P, at Q = -hq, hq; then along Q
            r = 1.0 if g & 1 else -1.0
            w, hw = (P, hp) if along_p else (Q, hq)
            line = r * hq if along_p else r * hp
            slope, start = (uy, y) if along_p else (ux, x)
            if abs(slope) > LEAST:
                t = (line - start) / slope
                there = x + t * ux if along_p else y + t * uy
                if abs(t) < hu - close and abs(there) < hw - close:
                    q = along(top, line, Q) if along_p else along(top, line, P)
                    away = cross(w, u)
                    size = length(away)
                    facing = sign(dot(away, n))
                    point = along(p, t, u)
                    key = faces + 400.0 + 144.0 * (2.0 * up + down) + 12.0 * (4.0 * i + c) + (4.0 * k + g)
                    if abs(slope) < SHALLOW:  # across both is anywhere
                        if dot(n, sub(point, top)) < reach:
                            count = note(found, count, (FACE, swap, key), point, top, n, n)
                    elif facing * dot(away, sub(p, q)) / size < reach:
                        count = note(found, count, (EDGES, swap, key), p, q, w, times(facing, u))
    return count


@shared
def box_box(found, a, b, later_a, later_b, reach):
    """Features of two boxes a and b, which are on the way to later_a and later_b.

    Faces come before edges that are hardly farther apart, unless it is the edges alone that part the boxes now: what is
    beside a face already cannot be kept above it."""
    size = least_size(a, b)
    face, face_side, face_room, face_now = parting(a, b, later_a, later_b, 0, 6)
    number, side, room, now = parting(a, b, later_a, later_b, 6, 15)
    beside_face = face_now < -BESIDE * size <= now
    if face_room >= room - PREFER_FACE * size and not beside_face:
        if face < 3:  # a face of a is the plane; b has the corners
            return face_face(found, a, b, face, face_side, 1.0, reach)
        return face_face(found, b, a, face - 3, -face_side, 0.0, reach)
    i, j = (number - 6) // 3, (number - 6) % 3
    n, _ = direction(a[1], b[1], number)
    n = times(side, n)  # from a to b
    p, q, which = a[0], b[0], 0.0  # of four edges each that run the same way, those that face each other
    for k in range(3):
        if k != i:
            up = sign(dot(a[1][k], n))
            p = along(p, a[2][k] * up, a[1][k])
            which = 2.0 * which + (1.0 if up > 0.0 else 0.0)
        if k != j:
            up = -sign(dot(b[1][k], n))
            q = along(q, b[2][k] * up, b[1][k])
            which = 2.0 * which + (1.0 if up > 0.0 else 0.0)
    u, w = a[1][i], b[1][j]
    facing = -sign(dot(cross(w, u), n))
    gap = dot(n, sub(q, p))
    if gap >= reach:
        return 0
    return note(found, 0, (EDGES, 0.0, 1000.0 + 16.0 * (number - 6) + which), p, q, w, times(facing, u))
