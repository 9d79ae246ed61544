"""A triangle mesh as ground (terrain.py): where its numbers are, and which triangles are near.

    numbers    vertices; normals at them, means of the faces around by angle, 0 at the border; boxes of the tree: low
               and high corner, node by node
    integers   its first number; vertices, triangles, leaves of the tree; of each triangle its three vertices, then the
               vertices of its neighbours that are opposite of its sides, -1 without; where the neighbours of each
               vertex begin, and the last ones end; these neighbours

The tree is complete and binary: node i has the children 2 i and 2 i + 1, from the root, 1, to the leaves; triangle k is
in leaf k. Boxes of leaves at the end that have no triangle are empty (engine/hierarchy.py).
"""

from vigym.engine.kernels.collision.space import cross, dot, length, sub
from vigym.engine.kernels.simd import shared

NOWHERE = (0.0, 0.0, 0.0)
HEAD = 4  # integers before those of triangles
SLACK = 1.0 + 1e-9  # of a reach: what is exactly as far is within it


@shared
def three(ground, at):
    """Three numbers, from the first one of the ground on."""
    numbers, start = ground[1], ground[3] + at
    return (numbers[start], numbers[start + 1], numbers[start + 2])


@shared
def triangle_vertex(ground, triangle, place):
    """Vertex at place 0, 1, 2 of a triangle; at 3, 4, 5, of the neighbour beyond side 0, 1, 2."""
    return ground[2][ground[4] + HEAD + 6 * triangle + place]


@shared
def corners(ground, triangle):
    """The three corners of a triangle."""
    return (
        three(ground, 3 * triangle_vertex(ground, triangle, 0)),
        three(ground, 3 * triangle_vertex(ground, triangle, 1)),
        three(ground, 3 * triangle_vertex(ground, triangle, 2)),
    )


@shared
def opposite(ground, triangle, side):
    """The corner of the neighbour beyond a side that is not on it: (if there is a neighbour, point)."""
    k = triangle_vertex(ground, triangle, 3 + side)
    if k < 0:
        return False, NOWHERE
    return True, three(ground, 3 * k)


@shared
def ring(ground, triangle, corner):
    """Place of the first neighbour of a corner of a triangle, and that after its last one."""
    integers, first = ground[2], ground[4]
    starts = first + HEAD + 6 * integers[first + 2] + triangle_vertex(ground, triangle, corner)
    begin = first + HEAD + 6 * integers[first + 2] + integers[first + 1] + 1
    return begin + integers[starts], begin + integers[starts + 1]


@shared
def neighbours(ground, triangle, corner):
    """Number of neighbours of a corner of a triangle."""
    start, end = ring(ground, triangle, corner)
    return end - start


@shared
def neighbour(ground, triangle, corner, k):
    """Neighbour k of a corner of a triangle: (True, point)."""
    start, _ = ring(ground, triangle, corner)
    return True, three(ground, 3 * ground[2][start + k])


@shared
def box(ground, node):
    """Low and high corner of the box of a node."""
    at = 6 * (ground[2][ground[4] + 1] + node - 1)
    return three(ground, at), three(ground, at + 3)


@shared
def is_within(ground, node, p, reach):
    """True if the box of a node is within `reach` of p."""
    (low, high), square = box(ground, node), 0.0
    for k in range(3):
        beyond = max(low[k] - p[k], p[k] - high[k], 0.0)
        square += beyond * beyond
    return square <= reach * reach * SLACK


@shared
def is_empty(ground, node):
    """True if a node is a leaf that has no triangle."""
    return node >= ground[2][ground[4] + 3] + ground[2][ground[4] + 2]


@shared
def after(node):
    """The node that comes after a node and all below it; 0 after the last one."""
    while node % 2 == 1:
        node //= 2
    return node + 1 if node > 0 else 0


@shared
def following(ground, near, triangle):
    """The triangle of a window after this one, or the first one after -1; -1 after the last one."""
    leaves = ground[2][ground[4] + 3]
    node = 1 if triangle < 0 else after(leaves + triangle)
    while node > 0:
        if is_empty(ground, node) or not is_within(ground, node, near[4], near[5]):
            node = after(node)
        elif node >= leaves:
            return node - leaves
        else:
            node = 2 * node
    return -1


@shared
def is_behind(ground, triangle, part, d):
    """True if a point is behind the surface: `d` is the way to it from its nearest point, which is on that part of a
    triangle (nearest.on_triangle). What is nearest to the border of an open mesh is not (Baerentzen and Aanaes, 2005).
    """
    if part < 3:
        return dot(d, three(ground, 3 * (ground[2][ground[4] + 1] + triangle_vertex(ground, triangle, part)))) < 0.0
    a, b, c = corners(ground, triangle)
    n = cross(sub(b, a), sub(c, a))
    above = dot(d, n) / length(n)
    if part < 6:
        there, o = opposite(ground, triangle, part - 3)
        if not there:
            return False
        one, two = (a, b) if part == 3 else ((b, c) if part == 4 else (c, a))
        other = cross(sub(one, two), sub(o, two))
        above += dot(d, other) / length(other)
    return above < 0.0
