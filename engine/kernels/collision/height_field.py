"""A height field as ground (terrain.py): where its numbers are, and which triangles are near.

    numbers    half lengths in x and y; spacing in x and y; least and largest height; heights, row by row
    integers   its first number; columns and rows of heights

The cell of column c and row r is cut from its corner (c, r) to (c + 1, r + 1), as MuJoCo does: triangle 2 (cell) is the
one to the right of that line, 2 (cell) + 1 the one to the left. Corners are counterclockwise, seen from above.
"""

from vigym.engine.kernels.simd import shared

NOWHERE = (0.0, 0.0, 0.0)
HEAD, HEAD_INTEGERS = 6, 3  # numbers and integers of a field before its heights
NEIGHBOUR_COUNT = 6
NEIGHBOURS = ((1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1))  # of a vertex: columns and rows away


@shared
def columns(ground):
    """Columns of cells."""
    return ground[2][ground[4] + 1] - 1


@shared
def lines(ground):
    """Rows of cells."""
    return ground[2][ground[4] + 2] - 1


@shared
def vertex(ground, c, r):
    """Vertex of column c and row r; those beyond the border are not there: (True or False, point)."""
    numbers, start = ground[1], ground[3]
    across = columns(ground) + 1
    if c < 0 or r < 0 or c >= across or r > lines(ground):
        return False, NOWHERE
    z = numbers[start + HEAD + r * across + c]
    return True, (c * numbers[start + 2] - numbers[start], r * numbers[start + 3] - numbers[start + 1], z)


@shared
def place(x, half, spacing, cells):
    """Number of the cell at a coordinate, within those that there are."""
    return int(min(max((x + half) / spacing, 0.0), cells - 1.0))


@shared
def window(ground, p, reach):
    """First and last column and row of the cells within `reach` of p; none if the first is greater than the last."""
    numbers, start = ground[1], ground[3]
    if abs(p[0]) > numbers[start] + reach or abs(p[1]) > numbers[start + 1] + reach:
        return 1, 0, 1, 0
    return (
        place(p[0] - reach, numbers[start], numbers[start + 2], columns(ground)),
        place(p[0] + reach, numbers[start], numbers[start + 2], columns(ground)),
        place(p[1] - reach, numbers[start + 1], numbers[start + 3], lines(ground)),
        place(p[1] + reach, numbers[start + 1], numbers[start + 3], lines(ground)),
    )


@shared
def following(ground, near, triangle):
    """The triangle of a window after this one, or the first one after -1; -1 after the last one."""
    if triangle < 0:
        return 2 * (near[2] * columns(ground) + near[0]) if near[0] <= near[1] else -1
    if triangle % 2 == 0:
        return triangle + 1
    c, r = triangle // 2 % columns(ground) + 1, triangle // 2 // columns(ground)
    if c > near[1]:
        c, r = near[0], r + 1
    return 2 * (r * columns(ground) + c) if r <= near[3] else -1


@shared
def corners(ground, triangle):
    """The three corners of a triangle."""
    c, r = triangle // 2 % columns(ground), triangle // 2 // columns(ground)
    first, last = vertex(ground, c, r)[1], vertex(ground, c + 1, r + 1)[1]
    if triangle % 2 == 0:
        return first, vertex(ground, c + 1, r)[1], last
    return first, last, vertex(ground, c, r + 1)[1]


@shared
def opposite(ground, triangle, side):
    """The corner of the neighbour beyond side 0, 1 or 2 (from corner 0, 1 or 2 to the next one) that is not on it: (if
    there is a neighbour, point)."""
    c, r = triangle // 2 % columns(ground), triangle // 2 // columns(ground)
    if triangle % 2 == 0:
        if side == 0:
            return vertex(ground, c, r - 1)
        return vertex(ground, c + 2, r + 1) if side == 1 else vertex(ground, c, r + 1)
    if side == 0:
        return vertex(ground, c + 1, r)
    return vertex(ground, c + 1, r + 2) if side == 1 else vertex(ground, c - 1, r)


@shared
def neighbour(ground, triangle, corner, k):
    """Neighbour k, 0 to 5, of a corner of a triangle: (if it is there, point)."""
    c, r = triangle // 2 % columns(ground), triangle // 2 // columns(ground)
    if corner == 1:
        c, r = c + 1, r + triangle % 2
    elif corner == 2:
        c, r = c + 1 - triangle % 2, r + 1
    return vertex(ground, c + NEIGHBOURS[k][0], r + NEIGHBOURS[k][1])


@shared
def is_below(ground, p):
    """True if a point is under the surface."""
    numbers, start = ground[1], ground[3]
    if abs(p[0]) > numbers[start] or abs(p[1]) > numbers[start + 1]:
        return False
    c = place(p[0], numbers[start], numbers[start + 2], columns(ground))
    r = place(p[1], numbers[start + 1], numbers[start + 3], lines(ground))
    x, y = (p[0] + numbers[start]) / numbers[start + 2] - c, (p[1] + numbers[start + 1]) / numbers[start + 3] - r
    first, last = vertex(ground, c, r)[1][2], vertex(ground, c + 1, r + 1)[1][2]
    if x >= y:
        side = vertex(ground, c + 1, r)[1][2]
        return p[2] < first + x * (side - first) + y * (last - side)
    side = vertex(ground, c, r + 1)[1][2]
    return p[2] < first + y * (side - first) + x * (last - side)


@shared
def is_close(ground, p, wide, low):
    """False if no point of the surface within `wide` of p, sideways, is higher than `low`."""
    if low >= ground[1][ground[3] + 5]:
        return False
    near, heights = window(ground, p, wide), ground[3] + HEAD
    for r in range(near[2], near[3] + 2):
        for c in range(near[0], near[1] + 2):
            if ground[1][heights + r * (columns(ground) + 1) + c] > low:
                return near[0] <= near[1]
    return False
