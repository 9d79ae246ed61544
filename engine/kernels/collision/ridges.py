"""Ridges and peaks of ground of triangles (terrain.py), and on which side of them a point is."""

from vigym.engine.kernels.collision.space import along, cross, dot, length, sub, times
from vigym.engine.kernels.collision.terrain import corners, neighbour, neighbours, normal_of, opposite
from vigym.engine.kernels.simd import shared

LEVEL = 1e-9  # sine of the angle of two planes, and part of a length, that are taken for none
CONE = 1e-6  # sine of the angle by which a direction may be beyond a ridge's cone


@shared
def is_first(a, b):
    """True if this triangle handles the side from a to b, and not its neighbour."""
    if a[0] != b[0]:
        return a[0] < b[0]
    return a[1] < b[1] if a[1] != b[1] else a[2] < b[2]


@shared
def inward(a, e, p):
    """Unit vector from the line through a along e to p, across it."""
    w = sub(p, a)
    w = along(w, -dot(w, e), e)
    return times(1.0 / max(length(w), 1e-300), w)


@shared
def keeps_off(n, at, p, then):
    """Height of a point above a plane, the less of now and then."""
    return min(dot(n, sub(p, at)), dot(n, sub(then, at)))


@shared
def is_ridge(ground, k, side, way):
    """True if a direction, across a side of triangle k, leads away from both triangles there, and these are not in one
    plane."""
    three = corners(ground, k)
    a, b, c = three[side], three[(side + 1) % 3], three[(side + 2) % 3]
    e = times(1.0 / length(sub(b, a)), sub(b, a))
    inner, (there, o) = inward(a, e, c), opposite(ground, k, side)
    if dot(way, inner) > CONE:
        return False
    if not there:
        return True
    over = inward(a, e, o)
    return dot(way, over) <= CONE and dot(normal_of(a, b, c), over) < -LEVEL


@shared
def is_peak(ground, k, which, way):
    """True if a corner of triangle k is the farthest point of the surface around it along a direction; among several
    that are equally far, an outermost one."""
    v, number = corners(ground, k)[which], neighbours(ground, k, which)
    level = 0
    for i in range(number):
        there, q = neighbour(ground, k, which, i)
        if there:
            u = sub(q, v)
            rise, size = dot(way, u), length(u)
            if rise > LEVEL * size:
                return False
            level += 1 if rise > -CONE * size else 0
    if level == 0:
        return True
    for i in range(number):  # one of which all others are on one side
        there, q = neighbour(ground, k, which, i)
        u = sub(q, v)
        if there and dot(way, u) > -CONE * length(u):
            on_left = True
            for j in range(number):
                other, q = neighbour(ground, k, which, j)
                w = sub(q, v)
                if i != j and other and dot(way, w) > -CONE * length(w):
                    turn, size = dot(way, cross(u, w)), length(u) * length(w)
                    on_left = on_left and (turn > LEVEL * size or (turn > -LEVEL * size and dot(u, w) > 0.0))
            if on_left:
                return True
    return False
