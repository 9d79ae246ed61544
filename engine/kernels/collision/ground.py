"""Solids and ground of triangles in a step: what detect.py and overlap.py ask (asking.py), compiled apart from them."""

from vigym.engine.kernels.collision import ground_distance, over_ground, terrain
from vigym.engine.kernels.collision.manifold import FOUND, ROOM
from vigym.engine.kernels.collision.poses import PATH, along
from vigym.engine.kernels.collision.space import HULL, is_round, local, sub
from vigym.engine.kernels.collision.tables import table_of
from vigym.engine.kernels.simd import rows, shared


@shared
def ground_of(m, k):
    """The ground that collider k is."""
    integers, start = rows(m, "ground_integers"), rows(m, "collider_ground")[k]
    numbers = rows(m, "ground_numbers")[:, 0, 0]
    return (rows(m, "collider_kind")[k], numbers, integers, integers[start], start)


@shared
def seen_from(frame, solid):
    """A placed solid in another frame (origin, axes)."""
    origin, axes = frame
    own = solid[1]
    turned = (local(axes, own[0]), local(axes, own[1]), local(axes, own[2]))
    return (local(axes, sub(solid[0], origin)), turned, solid[2], solid[3])


@shared
def consult(m, t, first, second, when, reach, start, lane):
    """Features of solid `first` and ground `second` at a time of a way (poses.py), with gaps of less than `reach`, into
    `found` from row `start`; returns the row after the last. If start is ROOM, their distance, `reach` if it is more.
    """
    body, kind = rows(m, "collider_body"), rows(m, "collider_kind")
    solid, base = along(m, t, first, body[first], when, lane), along(m, t, second, body[second], when, lane)
    frame, ground = (base[0], base[1]), ground_of(m, second)
    solid, h = seen_from(frame, solid), table_of(m, first)
    if start == ROOM:
        return ground_distance.distance(kind[first], h, solid, ground, reach, False)
    later = solid
    if when < PATH and not is_round(kind[first]):  # the way of the velocities at hand; the ground is of the world
        later = seen_from(frame, along(m, t, first, body[first], 1.0, lane))
    found = rows(t, "found")[:FOUND, :, lane]
    return 1.0 * over_ground.features(found, start, kind[first], h, solid, later, ground, frame, reach)


@shared
def is_close(m, kind, second, solid, frame, bound, reach):
    """False if a solid of a kind is farther than `reach` above ground `second`, or beyond its border; bound: radius of
    a ball around it."""
    p, axes, half, radius = seen_from(frame, solid)
    low = p[2] - radius - reach
    for k in range(3):
        low -= half[k] * abs(axes[k][2])
    if kind == HULL:  # which has no half lengths
        low = p[2] - bound - reach
    return terrain.is_close(ground_of(m, second), p, bound + reach, low)
