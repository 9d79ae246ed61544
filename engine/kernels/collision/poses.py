"""Poses of bodies and solids in one lane, as tuples."""

from vigym.engine.kernels.collision.space import add, turn
from vigym.engine.kernels.integrator import advance
from vigym.engine.kernels.simd import rows, shared

FOUND_POSE = 2.0  # instead of a part of a step, see `pose`


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
    """Pose of body i now (0), where its velocity takes it in a part of the step, or where the last solution led
    (FOUND_POSE)."""
    if when == FOUND_POSE:
        return three(rows(t, "found_x"), i, 0, lane), four(rows(t, "found_q"), i, lane)
    x, q, V = three(rows(t, "x"), i, 0, lane), four(rows(t, "q"), i, lane), rows(t, "V")
    if when == 0.0 or i == rows(m, "n_bodies")[0]:
        return x, q
    return advance(when * rows(t, "h")[0, 0, lane], (x, q), (three(V, i, 0, lane), three(V, i, 3, lane)))
