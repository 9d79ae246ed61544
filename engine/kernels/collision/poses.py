"""Poses of bodies and solids in one lane, as tuples."""

from vigym.engine.kernels.collision.space import add, turn
from vigym.engine.kernels.integrator import advance
from vigym.engine.kernels.simd import rows, shared

LOOKS = 6  # times that a step is solved again with what bodies have gone into
PATH = 2.0  # for each solution that was looked at: added to the part of a step, see `pose`


@shared
def three(array, i, first, lane):
    """Three numbers of a block, in one lane."""
    return (array[i, first, lane], array[i, first + 1, lane], array[i, first + 2, lane])


@shared
def four(array, i, lane):
    """A quaternion, in one lane."""
    return (array[i, 0, lane], array[i, 1, lane], array[i, 2, lane], array[i, 3, lane])


@shared
def matrix_of(q):
    """Rows of the rotation matrix of a quaternion."""
    w, x, y, z = q
    c = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        (1.0 - c * (y * y + z * z), c * (x * y - w * z), c * (x * z + w * y)),
        (c * (x * y + w * z), 1.0 - c * (x * x + z * z), c * (y * z - w * x)),
        (c * (x * z - w * y), c * (y * z + w * x), 1.0 - c * (x * x + y * y)),
    )


@shared
def placed(place, turns, sizes, k, x, R):
    """Solid k, its body being at x, R."""
    axes = (
        turn(R, (turns[k, 0, 0], turns[k, 3, 0], turns[k, 6, 0])),
        turn(R, (turns[k, 1, 0], turns[k, 4, 0], turns[k, 7, 0])),
        turn(R, (turns[k, 2, 0], turns[k, 5, 0], turns[k, 8, 0])),
    )
    return (add(x, turn(R, three(place, k, 0, 0))), axes, three(sizes, k, 0, 0), sizes[k, 3, 0])


@shared
def pose(m, t, i, when, lane):
    """Pose of body i where its velocity takes it in a part of the step, `when` from 0 to 1; or, PATH more for each, on
    the way that solution 1, 2, ... found for it."""
    x, q, n = three(rows(t, "x"), i, 0, lane), four(rows(t, "q"), i, lane), rows(m, "n_bodies")[0]
    path = int(when / PATH)
    part = when - PATH * path
    if part == 0.0 or i == n:
        return x, q
    V, first = (rows(t, "V"), 0) if path == 0 else (rows(t, "found_V"), 6 * (path - 1))
    twist = three(V, i, first, lane), three(V, i, first + 3, lane)
    return advance(part * rows(t, "h")[0, 0, lane], (x, q), twist)


@shared
def along(m, t, k, i, when, lane):
    """Solid k of body i at a time of a way, see `pose`."""
    parts = rows(m, "collider_place"), rows(m, "collider_turn"), rows(m, "collider_size")
    x, q = pose(m, t, i, when, lane)
    return placed(parts[0], parts[1], parts[2], k, x, matrix_of(q))
