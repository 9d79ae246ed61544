"""Points and triangles: the nearest point of a triangle, and of a whole ground (terrain.py)."""

from vigym.engine.kernels.collision import height_field, mesh
from vigym.engine.kernels.collision.space import MESH, along, dot, length, sub
from vigym.engine.kernels.collision.terrain import corners, following, normal_of, window
from vigym.engine.kernels.simd import shared

FAR = 1e300
INNER = 6  # part of a triangle: 0, 1, 2 a corner; 3, 4, 5 the side from corner 0, 1, 2 to the next one; 6 the face
SAME = 1e-9  # of a distance: as near
CLOSE = 1e-6  # m, where a search begins at least


@shared
def on_triangle(p, a, b, c):
    """The point of a triangle that is nearest to p, and the part of the triangle on which it is.

    Signs of the products tell on which side of corners and edges p is (Ericson, Real-Time Collision Detection, 5.1.5).
    """
    ab, ac = sub(b, a), sub(c, a)
    from_a, from_b, from_c = sub(p, a), sub(p, b), sub(p, c)
    ab_a, ac_a = dot(ab, from_a), dot(ac, from_a)
    if ab_a <= 0.0 and ac_a <= 0.0:
        return a, 0
    ab_b, ac_b = dot(ab, from_b), dot(ac, from_b)
    if ab_b >= 0.0 and ac_b <= ab_b:
        return b, 1
    over_c = ab_a * ac_b - ab_b * ac_a
    if over_c <= 0.0 and ab_a >= 0.0 and ab_b <= 0.0:
        return along(a, ab_a / (ab_a - ab_b), ab), 3
    ab_c, ac_c = dot(ab, from_c), dot(ac, from_c)
    if ac_c >= 0.0 and ab_c <= ac_c:
        return c, 2
    over_b = ab_c * ac_a - ab_a * ac_c
    if over_b <= 0.0 and ac_a >= 0.0 and ac_c <= 0.0:
        return along(a, ac_a / (ac_a - ac_c), ac), 5
    over_a = ab_b * ac_c - ab_c * ac_b
    if over_a <= 0.0 and ac_b >= ab_b and ab_c >= ac_c:
        way = (ac_b - ab_b) / ((ac_b - ab_b) + (ab_c - ac_c))
        return along(b, way, sub(c, b)), 4
    share = 1.0 / (over_a + over_b + over_c)
    return along(along(a, over_b * share, ab), over_c * share, ac), INNER


@shared
def nearest_in(ground, p, reach):
    """The triangle within a window of `reach` around p that is nearest, -1 if there is none, and its distance. Of
    several as near, the one that faces p most."""
    near = window(ground, p, reach)
    found, best, most = -1, FAR, 0.0
    k = following(ground, near, -1)
    while k >= 0:
        a, b, c = corners(ground, k)
        d = sub(p, on_triangle(p, a, b, c)[0])
        far = length(d)
        if far < best * (1.0 + SAME):
            facing = abs(dot(normal_of(a, b, c), d))
            if far < best * (1.0 - SAME) or facing > most:
                found, best, most = k, min(far, best), facing
        k = following(ground, near, k)
    return found, best


@shared
def search(ground, p, first, enough):
    """The nearest triangle, or -1 if there is none within `enough`, and its distance. first: the distance within which
    it is looked for at first, m."""
    reach, found, best = min(first, enough), -1, FAR
    while True:
        found, best = nearest_in(ground, p, reach)
        if best <= reach or reach >= enough:
            break
        reach = min(best if found >= 0 else 2.0 * reach, enough)
    return (found, best) if best <= enough else (-1, best)


@shared
def is_below(ground, p, nearest, first):
    """True if a point is under the surface. nearest: the nearest triangle, -1 if it must be looked for, from `first` on
    (`search`)."""
    if ground[0] != MESH:
        return height_field.is_below(ground, p)
    if nearest < 0:
        nearest, _ = search(ground, p, max(first, CLOSE), FAR)
        if nearest < 0:  # p is not a number
            return False
    a, b, c = corners(ground, nearest)
    q, part = on_triangle(p, a, b, c)
    return mesh.is_behind(ground, nearest, part, sub(p, q))


@shared
def point_ground(ground, p, first, enough):
    """Distance of a point from a ground, negative under it, and the nearest triangle. If there is none within `enough`,
    that, and -1. first: as of `search`."""
    found, best = search(ground, p, first, enough)
    room = best if found >= 0 else enough
    return (-room if is_below(ground, p, found, first) else room), found
