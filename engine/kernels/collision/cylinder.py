"""Features of cylinders: two circles (rims) with a flat end each, and what is round between them.

A rim touches a plane at its lowest point, which moves along the rim as the cylinder rolls. Where the axis is upright
there is no lowest point: there, points fixed to the rim stand for it. So that a cylinder that is about to stand, or
that wobbles, does not go through the plane between two of them, the one that will be lowest is among them.
"""

from math import atan2, cos, pi, sin

from vigym.engine.kernels.collision.manifold import FACE, RIM, note
from vigym.engine.kernels.collision.space import along, dot, slope, sub, times
from vigym.engine.kernels.simd import shared

UPRIGHT = 1e-2  # sine of the angle between axis and normal below which points of the rim stand for it
LEVEL = 1e-9  # and below which none of them is the lowest
POINTS = (
    16  # of a rim that are fixed to it: with 8, tilts of 1e-8 that impacts leave go deeper between two than allowed
)
ANGLES = 1 << 16  # by which points of a rim are told apart


@shared
def rim(solid, end):
    """Centre of a rim: end 1 is that along the axis, 0 the other one."""
    half = solid[2][2]
    return along(solid[0], half if end else -half, solid[1][2])


@shared
def rim_point(solid, end, angle):
    """The point of a rim at an angle from the solid's x axis to its y axis."""
    r = solid[2][0]
    return along(along(rim(solid, end), r * cos(angle), solid[1][0]), r * sin(angle), solid[1][1])


@shared
def lowest_angle(solid, across):
    """The angle at which rims are lowest, across being that part of the normal that is across the axis."""
    return atan2(-dot(across, solid[1][1]), -dot(across, solid[1][0]))


@shared
def on_plane(found, solid, later, plane, swap, reach):
    """A cylinder, on the way to `later`, above a plane; swap: 1 if the cylinder is the second of the pair."""
    base, n, count = plane[0], plane[1][2], 0
    r, a = solid[2][0], solid[1][2]
    _, steep = slope(solid, n)
    across, then = slope(later, n)
    rolls = min(steep, then) > UPRIGHT
    for end in range(2):
        first = float(end * (ANGLES + POINTS + 2))
        c = rim(solid, end)
        height = dot(n, sub(c, base))
        if height - r * steep >= reach:
            continue
        if rolls:
            count = note(found, count, (RIM, swap, first), c, base, n, times(r, a))
        if not rolls or height + r * steep < reach:
            for k in range(POINTS):
                p = rim_point(solid, end, 2.0 * pi * k / POINTS)
                if dot(n, sub(p, base)) < reach:
                    count = note(found, count, (FACE, swap, first + 1.0 + k), p, base, n, n)
        if not rolls and then > LEVEL:
            angle = lowest_angle(later, across)
            p = rim_point(solid, end, angle)
            key = first + POINTS + 1.0 + float(int((0.5 + 0.5 * angle / pi) * (ANGLES - 1)))
            if dot(n, sub(p, base)) < reach:
                count = note(found, count, (FACE, swap, key), p, base, n, n)
    return count
