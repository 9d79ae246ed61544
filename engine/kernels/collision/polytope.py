"""Solids with flat faces: where their numbers are (hulls.py has the tables), what is lowest, over a face, nearest.

A polytope is (numbers, integers, first integer); it is told from the centre of its solid, along the solid's axes.
"""

from vigym.engine.kernels.collision.space import add, along, cross, dot, length, local, sub, times, world
from vigym.engine.kernels.simd import shared

HEAD = 4  # integers before where faces begin
FAR = 1e300


@shared
def n_corners(h):
    """Number of corners."""
    return h[1][h[2] + 1]


@shared
def n_faces(h):
    """Number of faces."""
    return h[1][h[2] + 2]


@shared
def n_edges(h):
    """Number of edges."""
    return h[1][h[2] + 3]


@shared
def own_corner(h, k):
    """Corner k in the solid's frame."""
    numbers, start = h[0], h[1][h[2]] + 3 * k
    return (numbers[start], numbers[start + 1], numbers[start + 2])


@shared
def own_normal(h, f):
    """Outward normal of face f in the solid's frame."""
    numbers, start = h[0], h[1][h[2]] + 3 * n_corners(h) + 4 * f
    return (numbers[start], numbers[start + 1], numbers[start + 2])


@shared
def offset(h, f):
    """Distance of face f from the centre."""
    return h[0][h[1][h[2]] + 3 * n_corners(h) + 4 * f + 3]


@shared
def corner_at(h, solid, k):
    """Corner k in the world."""
    return add(solid[0], world(solid[1], own_corner(h, k)))


@shared
def normal_at(h, solid, f):
    """Outward normal of face f in the world."""
    return world(solid[1], own_normal(h, f))


@shared
def face_start(h, f):
    """Place where the corners of face f begin among those of all faces."""
    return h[1][h[2] + HEAD + f]


@shared
def face_size(h, f):
    """Corners of face f."""
    return face_start(h, f + 1) - face_start(h, f)


@shared
def face_corner(h, f, k):
    """Corner k of face f, counterclockwise from outside; k up to twice as many as there are."""
    size = face_size(h, f)
    return h[1][h[2] + HEAD + n_faces(h) + 1 + face_start(h, f) + (k if k < size else k - size)]


@shared
def face_edge(h, f, k):
    """The edge from corner k of face f to the next one."""
    return h[1][h[2] + HEAD + n_faces(h) + 1 + 2 * n_edges(h) + face_start(h, f) + k]


@shared
def edge_part(h, e, part):
    """Part of edge e: its first and last corner (0, 1); the faces on its left, seen along it, and right (2, 3)."""
    return h[1][h[2] + HEAD + n_faces(h) + 1 + 4 * n_edges(h) + 4 * e + part]


@shared
def edge_at(h, solid, e):
    """Middle of an edge, its unit vector and half its length."""
    p, q = corner_at(h, solid, edge_part(h, e, 0)), corner_at(h, solid, edge_part(h, e, 1))
    way = sub(q, p)
    size = length(way)
    return times(0.5, add(p, q)), times(1.0 / size, way), 0.5 * size


@shared
def inner(h, solid, e, u, side):
    """The unit vector from an edge along u into the face at its left (side 0) or right (side 1)."""
    n = normal_at(h, solid, edge_part(h, e, 2 + side))
    return cross(n, u) if side == 0 else cross(u, n)


@shared
def radius_of(h):
    """Radius of the least ball around the centre that holds the solid."""
    most = 0.0
    for k in range(n_corners(h)):
        p = own_corner(h, k)
        most = max(most, dot(p, p))
    return most**0.5


@shared
def lowest(h, solid, n):
    """The corner that is lowest along n, and how far along n it is."""
    way = local(solid[1], n)
    found, least = 0, FAR
    for k in range(n_corners(h)):
        here = dot(way, own_corner(h, k))
        if here < least:
            found, least = k, here
    return found, least + dot(n, solid[0])


@shared
def reaching(h, solid, n):
    """Extent of a solid from its centre along n."""
    return -lowest(h, solid, times(-1.0, n))[1] - dot(n, solid[0])


@shared
def is_over(h, solid, f, p, beyond):
    """True if a point is over face f, or beyond its sides by less than that."""
    n = normal_at(h, solid, f)
    for k in range(face_size(h, f)):
        a = corner_at(h, solid, face_corner(h, f, k))
        side = sub(corner_at(h, solid, face_corner(h, f, k + 1)), a)
        if dot(cross(side, n), sub(p, a)) > beyond * length(side):
            return False
    return True


@shared
def highest_face(h, solid, p):
    """The face that a point is highest over, and how high."""
    v, best, found = local(solid[1], sub(p, solid[0])), -FAR, 0
    for f in range(n_faces(h)):
        room = dot(own_normal(h, f), v) - offset(h, f)
        if room > best:
            best, found = room, f
    return found, best


@shared
def nearest_part(h, solid, p):
    """Nearest part to a point: (0, face, distance), negative inside; (1, edge, distance); (2, corner, distance)."""
    face, room = highest_face(h, solid, p)
    if room <= 0.0:
        return 0, face, room
    v = local(solid[1], sub(p, solid[0]))
    for f in range(n_faces(h)):
        above = dot(own_normal(h, f), v) - offset(h, f)
        if above > 0.0 and is_over(h, solid, f, p, 0.0):
            return 0, f, above
    kind, found, best = 2, 0, FAR
    for e in range(n_edges(h)):
        q, u, half = edge_at(h, solid, e)
        d = sub(p, q)
        at = dot(d, u)
        if abs(at) < half:
            far = length(along(d, -at, u))
            if far < best:
                kind, found, best = 1, e, far
    for k in range(n_corners(h)):
        far = length(sub(p, corner_at(h, solid, k)))
        if far < best:
            kind, found, best = 2, k, far
    return kind, found, best
