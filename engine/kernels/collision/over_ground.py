"""Features by which a solid may touch ground of triangles (terrain.py), in the ground's own frame; see manifold.py.

A point with a radius (a sphere, an end of a capsule, a corner of a box) touches each part of the surface from which its
distance is least, seen from all triangles around that part: a face, a ridge, a peak. So the edge between two triangles
of one plane is no obstacle, nor are valleys, where both planes count; the plane beyond a valley is taken before it is
reached. Capsules, boxes and hulls also touch with their lengths: ridges that cross them, and peaks below them. What
tells a ridge or peak is again geometry alone: the direction in which the solid lies must lead away from all triangles
around.

Keys of planes are made of their directions, so that what rolls over one plane has one contact, whatever triangle it is.
"""

from vigym.engine.kernels.collision.distance import segments
from vigym.engine.kernels.collision.manifold import (
    ALIGNED,
    CODE,
    EDGES,
    FACE,
    KEY,
    LINE,
    OWNER,
    OWNER_RADIUS,
    PARTNER,
    PARTNER_RADIUS,
    PARTNER_WAY,
    POINTS,
    SWAP,
    note,
)
from vigym.engine.kernels.collision.nearest import INNER, on_triangle, point_ground
from vigym.engine.kernels.collision.polytope import (
    corner_at,
    edge_at,
    edge_part,
    face_corner,
    n_corners,
    n_edges,
    nearest_part,
    normal_at,
    radius_of,
)
from vigym.engine.kernels.collision.ridges import CONE, LEVEL, inward, is_first, is_peak, is_ridge, keeps_off
from vigym.engine.kernels.collision.space import (
    add,
    along,
    cross,
    dot,
    is_round,
    length,
    sub,
    times,
    world,
)
from vigym.engine.kernels.collision.terrain import (
    corners,
    following,
    neighbour,
    neighbours,
    normal_of,
    opposite,
    window,
)
from vigym.engine.kernels.simd import shared

SAME_WAY = 1e-6  # difference of unit vectors of one direction
PARTS, WAYS = 4096, 1024  # keys of a part of a solid; of each kind of feature of it
CORNERS = 512.0  # more than the numbers of corners
SLOPES = 15  # steps from 0 to 1 in which keys tell directions apart
BESIDE = 1e-3  # of a distance from a peak, by which a way must lead past it


@shared
def put(found, first, n, head, frame, owner, partner, partner_way, owner_way):
    """Write a feature whose places are in the ground's frame; a key that is taken since `first` becomes the next."""
    code, swap, key = head
    k = first
    while k < n:
        if found[k, KEY] == key:
            key, k = key + 1.0, first
        else:
            k += 1
    origin, axes = frame
    p, q = add(origin, world(axes, owner)), add(origin, world(axes, partner))
    return note(found, n, (code, swap, key), p, q, world(axes, partner_way), world(axes, owner_way))


@shared
def put_face(found, first, n, base, frame, p, at, normal, own):
    """A point above a plane through `at`, unless that plane is there already for this point (features from `own`)."""
    owner, way = add(frame[0], world(frame[1], p)), world(frame[1], normal)
    gap = dot(normal, sub(p, at))
    for k in range(own, n):
        if found[k, CODE] == FACE:
            other = (found[k, PARTNER_WAY], found[k, PARTNER_WAY + 1], found[k, PARTNER_WAY + 2])
            partner = (found[k, PARTNER], found[k, PARTNER + 1], found[k, PARTNER + 2])
            near = abs(dot(other, sub(owner, partner)) - gap) <= LEVEL * (1.0 + abs(gap))
            if near and length(sub(other, way)) < SAME_WAY:
                return n
    x, y = int(SLOPES * normal[0] + SLOPES + 0.5), int(SLOPES * normal[1] + SLOPES + 0.5)
    key = base + float(x * (2 * SLOPES + 1) + y)
    return put(found, first, n, (FACE, 0.0, key), frame, p, at, normal, normal)


@shared
def place_key(p):
    """A number from 0 to WAYS - 1 that tells places apart, mostly."""
    mixed = p[0] * 157.31 + p[1] * 113.77 + p[2] * 71.93
    return float(int(abs(mixed - int(mixed)) * 1e6) % WAYS)


# ------------------------------------------------------------------------------------------------ points
@shared
def point_over(found, first, n, base, ground, frame, p, then, radius, reach):
    """A point with a radius: planes, ridges and peaks that are near. then: where its velocity would take it."""
    near, own, under, most = window(ground, p, radius + reach), n, False, radius + reach
    k = following(ground, near, -1)
    while k >= 0:
        three = corners(ground, k)
        a, b, c = three
        if max(a[2], b[2], c[2]) > p[2] - most or min(a[2], b[2], c[2]) > p[2]:
            q, part = on_triangle(p, a, b, c)
            d = sub(p, q)
            if dot(d, d) < most * most:
                normal = normal_of(a, b, c)
                above = dot(normal, sub(p, a))
                aside = length(along(d, -above, normal))
                if part == INNER or aside <= LEVEL * length(sub(b, a)):
                    if above >= 0.0:
                        n = put_face(found, first, n, base, frame, p, a, normal, own)
                    else:
                        under = True
                elif part >= 3:
                    n = side_below(found, first, n, base, ground, frame, k, part - 3, p, then, d, radius, reach, own)
                else:
                    n = peak_below(found, first, n, base, ground, frame, k, part, p, then, d, radius, own)
        k = following(ground, near, k)
    if under:
        room, k = point_ground(ground, p, most, most)
        if room < 0.0 and k >= 0:
            a, b, c = corners(ground, k)
            return put_face(found, first, own, base, frame, p, a, normal_of(a, b, c), own)
    return n


@shared
def side_below(found, first, n, base, ground, frame, k, side, p, then, d, radius, reach, own):
    """The side of triangle k that is nearest to a point, d from it to the point: a ridge, or a valley whose other plane
    is nearer."""
    three = corners(ground, k)
    a, b, c = three[side], three[(side + 1) % 3], three[(side + 2) % 3]
    normal, (there, o) = normal_of(a, b, c), opposite(ground, k, side)
    e = times(1.0 / length(sub(b, a)), sub(b, a))
    above = dot(normal, sub(p, a))
    if there:
        over = inward(a, e, o)
        rise, beyond = dot(normal, over), dot(d, over)
        if rise > LEVEL:  # a valley
            if above >= 0.0 and above - radius < reach and beyond > 0.0:
                return put_face(found, first, n, base, frame, p, a, normal, own)
            return n
        if rise >= -LEVEL and beyond <= LEVEL * radius and above >= 0.0:  # between two triangles of one plane
            return put_face(found, first, n, base, frame, p, a, normal, own)
        if beyond > 0.0 or not is_first(a, b):
            return n
        if radius == 0.0:  # a point has no way around a ridge: the plane of which it stays farther
            other = normal_of(b, a, o)
            if keeps_off(other, a, p, then) > keeps_off(normal, a, p, then):
                return put_face(found, first, n, base, frame, p, a, other, own)
    elif radius == 0.0 and above >= 0.0:  # beyond the border, there is nothing below
        out = times(-1.0, inward(a, e, c))
        if keeps_off(out, a, p, then) > keeps_off(normal, a, p, then):
            return put_face(found, first, n, base, frame, p, a, out, own)
    if radius == 0.0:
        return put_face(found, first, n, base, frame, p, a, normal, own) if above >= 0.0 else n
    head = (LINE, 0.0, base + WAYS + place_key(add(a, b)))
    return put(found, first, n, head, frame, p, a, e, e)


@shared
def peak_below(found, first, n, base, ground, frame, k, which, p, then, d, radius, own):
    """The corner of triangle k that is nearest to a point, d from it to the point, if no triangle around is nearer."""
    v, far = corners(ground, k)[which], length(d)
    for number in range(neighbours(ground, k, which)):
        there, q = neighbour(ground, k, which, number)
        if there and dot(d, sub(q, v)) > LEVEL * far * length(sub(q, v)):
            return n
    if radius == 0.0:  # the plane across its way past the peak
        way = sub(then, p)
        part = min(max(-dot(d, way) / max(dot(way, way), 1e-300), 0.0), 1.0)
        past = along(d, part, way)
        out = past if length(past) > BESIDE * far else d
        return put_face(found, first, n, base, frame, p, v, times(1.0 / length(out), out), own) if far > 0.0 else n
    at = add(frame[0], world(frame[1], v))
    for row in range(own, n):
        if found[row, CODE] == POINTS and length(sub(at, partner_of(found, row))) == 0.0:
            return n
    zero = (0.0, 0.0, 0.0)
    return put(found, first, n, (POINTS, 0.0, base + 2.0 * WAYS + place_key(v)), frame, p, v, zero, zero)


@shared
def partner_of(found, k):
    """The partner's point of a feature."""
    return (found[k, PARTNER], found[k, PARTNER + 1], found[k, PARTNER + 2])


# ------------------------------------------------------------------------------------------------ ridges and peaks
@shared
def known_partner(found, own, n, code, swap, at):
    """True if there already is a feature of that code at a point of the ground."""
    for k in range(own, n):
        if found[k, CODE] == code:
            column = OWNER if swap > 0.5 else PARTNER
            q = (found[k, column], found[k, column + 1], found[k, column + 2])
            if length(sub(q, at)) == 0.0:
                return True
    return False


@shared
def capsule_over(found, first, n, ground, frame, solid, reach):
    """A sphere, or a capsule: its ends, ridges that cross it, peaks beside it."""
    p, u, half, radius = solid[0], solid[1][2], solid[2][2], solid[3]
    low, high = along(p, -half, u), along(p, half, u)
    n = point_over(found, first, n, 0.0, ground, frame, low, low, radius, reach)
    if half == 0.0:
        return n
    n = point_over(found, first, n, 1.0 * PARTS, ground, frame, high, high, radius, reach)
    near, own, most = window(ground, p, half + radius + reach), n, radius + reach
    bottom = p[2] - half * abs(u[2]) - most
    k = following(ground, near, -1)
    while k >= 0:
        three = corners(ground, k)
        if max(three[0][2], three[1][2], three[2][2]) > bottom:
            for i in range(3):
                a, b = three[i], three[(i + 1) % 3]
                size = length(sub(b, a))
                e, middle = times(1.0 / size, sub(b, a)), times(0.5, add(a, b))
                s, r = segments(p, u, half, middle, e, 0.5 * size)
                d = sub(along(p, s, u), along(middle, r, e))
                far, across = length(d), length(cross(e, u))
                inside = abs(s) < half and abs(r) < 0.5 * size and across > ALIGNED and 0.0 < far < most
                if inside and (is_first(a, b) or not opposite(ground, k, i)[0]):
                    way = times(1.0 / far, d)
                    if is_ridge(ground, k, i, way):
                        mine = u if dot(cross(e, u), way) > 0.0 else times(-1.0, u)
                        head = (EDGES, 0.0, 2.0 * PARTS + place_key(middle))
                        n = put(found, first, n, head, frame, p, middle, e, mine)
                s = dot(sub(a, p), u)
                d = sub(along(p, s, u), a)
                far = length(d)
                if abs(s) < half and 0.0 < far < most and is_peak(ground, k, i, times(1.0 / far, d)):
                    at = add(frame[0], world(frame[1], a))
                    if not known_partner(found, own, n, LINE, 1.0, at):
                        head = (LINE, 1.0, 2.0 * PARTS + WAYS + place_key(a))
                        n = put(found, first, n, head, frame, a, p, u, u)
        k = following(ground, near, k)
    return n


# ------------------------------------------------------------------------------------------------ boxes and hulls
@shared
def peak_and_face(found, first, own, n, ground, frame, k, i, h, solid, size, reach):
    """Corner i of triangle k below a face of a solid."""
    v = corners(ground, k)[i]
    if length(sub(v, solid[0])) > size + reach:
        return n
    kind, face, room = nearest_part(h, solid, v)
    if kind != 0 or room >= reach:
        return n
    out = normal_at(h, solid, face)
    if not is_peak(ground, k, i, times(-1.0, out)):
        return n
    if known_partner(found, own, n, FACE, 1.0, add(frame[0], world(frame[1], v))):
        return n
    head = (FACE, 1.0, CORNERS * PARTS + place_key(v))
    return put(found, first, n, head, frame, v, corner_at(h, solid, face_corner(h, face, 0)), out, out)


@shared
def ridge_and_edges(found, first, n, ground, frame, k, i, h, solid, reach):
    """Side i of triangle k, and edges of a solid that cross it."""
    three = corners(ground, k)
    a, b = three[i], three[(i + 1) % 3]
    size = length(sub(b, a))
    e, middle = times(1.0 / size, sub(b, a)), times(0.5, add(a, b))
    least = min(solid[2][0], solid[2][1], solid[2][2])
    for number in range(n_edges(h)):
        p, u, half = edge_at(h, solid, number)
        away = cross(e, u)
        across = length(away)
        if across > ALIGNED:
            f1, f2 = normal_at(h, solid, edge_part(h, number, 2)), normal_at(h, solid, edge_part(h, number, 3))
            facing = -1.0 if dot(away, add(f1, f2)) > 0.0 else 1.0
            way = times(facing / across, away)  # from the ground to the solid
            gap = dot(way, sub(p, middle))
            if -least < gap < reach and dot(way, f1) <= CONE and dot(way, f2) <= CONE:
                d, both = sub(middle, p), dot(e, u)
                s = (dot(d, u) - both * dot(d, e)) / (1.0 - both * both)
                r = (both * dot(d, u) - dot(d, e)) / (1.0 - both * both)
                if abs(s) < half and abs(r) < 0.5 * size and is_ridge(ground, k, i, way):
                    head = (EDGES, 0.0, (CORNERS + 1.0 + number) * PARTS + place_key(middle))
                    n = put(found, first, n, head, frame, p, middle, e, times(facing, u))
    return n


@shared
def hull_over(found, first, n, ground, frame, h, solid, later, reach):
    """A solid with flat faces: its corners, ridges that cross its edges, peaks below its faces."""
    for number in range(n_corners(h)):
        p, then = corner_at(h, solid, number), corner_at(h, later, number)
        n = point_over(found, first, n, 1.0 * number * PARTS, ground, frame, p, then, 0.0, reach)
    size = radius_of(h)
    near, own = window(ground, solid[0], size + reach), n
    low = solid[0][2] - size - reach
    k = following(ground, near, -1)
    while k >= 0:
        three = corners(ground, k)
        if max(three[0][2], three[1][2], three[2][2]) > low:
            for i in range(3):
                border, o = opposite(ground, k, i)
                bent = not border or dot(normal_of(*three), sub(o, three[i])) < -LEVEL * length(sub(o, three[i]))
                if bent and (is_first(three[i], three[(i + 1) % 3]) or not border):
                    n = ridge_and_edges(found, first, n, ground, frame, k, i, h, solid, reach)
                n = peak_and_face(found, first, own, n, ground, frame, k, i, h, solid, size, reach)
        k = following(ground, near, k)
    return n


@shared
def features(found, first, kind, h, solid, later, ground, frame, reach):
    """Features of a solid, placed in the ground's frame, into `found` from row `first`; returns the row after the last.

    h: its polytope, if it has flat faces. later: the solid where its velocity would take it. frame: origin and axes of
    the ground in the world."""
    if not is_round(kind):
        return hull_over(found, first, first, ground, frame, h, solid, later, reach)
    last = capsule_over(found, first, first, ground, frame, solid, reach)
    for k in range(first, last):
        found[k, PARTNER_RADIUS if found[k, SWAP] > 0.5 else OWNER_RADIUS] = solid[3]
    return last
