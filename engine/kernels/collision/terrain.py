"""Ground of triangles, whichever form it has: a height field (height_field.py) or a mesh (mesh.py); scalar code in the
ground's own frame.

A ground is (kind, numbers, integers, first number, first integer). Corners of triangles are counterclockwise, seen from
the free side; side 0, 1 or 2 is from corner 0, 1 or 2 to the next one. What surrounds a point is a window, whose
triangles come one after the other, so that nothing is allocated.
"""

from vigym.engine.kernels.collision import height_field, mesh
from vigym.engine.kernels.collision.space import MESH, cross, length, sub, times
from vigym.engine.kernels.simd import shared


@shared
def window(ground, p, reach):
    """Triangles that may be within `reach` of p: numbers for `following`."""
    if ground[0] == MESH:
        return 0, 0, 0, 0, p, reach
    first, last, low, high = height_field.window(ground, p, reach)
    return first, last, low, high, p, reach


@shared
def following(ground, near, triangle):
    """The triangle of a window after this one, or the first one after -1; -1 after the last one."""
    if ground[0] == MESH:
        return mesh.following(ground, near, triangle)
    return height_field.following(ground, near, triangle)


@shared
def corners(ground, triangle):
    """The three corners of a triangle."""
    return mesh.corners(ground, triangle) if ground[0] == MESH else height_field.corners(ground, triangle)


@shared
def opposite(ground, triangle, side):
    """The corner of the neighbour beyond a side that is not on it: (if there is a neighbour, point)."""
    if ground[0] == MESH:
        return mesh.opposite(ground, triangle, side)
    return height_field.opposite(ground, triangle, side)


@shared
def neighbours(ground, triangle, corner):
    """Number of neighbours that a corner of a triangle may have."""
    return mesh.neighbours(ground, triangle, corner) if ground[0] == MESH else height_field.NEIGHBOUR_COUNT


@shared
def neighbour(ground, triangle, corner, k):
    """Neighbour k of a corner of a triangle: (if it is there, point)."""
    if ground[0] == MESH:
        return mesh.neighbour(ground, triangle, corner, k)
    return height_field.neighbour(ground, triangle, corner, k)


@shared
def normal_of(a, b, c):
    """Unit normal of a triangle whose corners are counterclockwise."""
    n = cross(sub(b, a), sub(c, a))
    return times(1.0 / length(n), n)


@shared
def is_close(ground, p, wide, low):
    """False if no point of the surface within `wide` of p, of a height field sideways, is higher than `low`."""
    if ground[0] == MESH:
        return mesh.following(ground, window(ground, p, wide), -1) >= 0
    return height_field.is_close(ground, p, wide, low)
