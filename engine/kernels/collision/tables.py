"""Solids with many faces in a step (polytope.py), and cylinders (rounds.py): what detect.py and overlap.py ask
(asking.py), compiled apart from them."""

from vigym.engine.kernels.collision import hull_distance, hulls, rounds
from vigym.engine.kernels.collision.manifold import FOUND, ROOM
from vigym.engine.kernels.collision.poses import PATH, along
from vigym.engine.kernels.simd import rows, shared


@shared
def table_of(m, k):
    """The polytope that collider k is; its first integer is 0 if it is none."""
    return (rows(m, "hull_numbers")[:, 0, 0], rows(m, "hull_integers"), rows(m, "collider_hull")[k])


@shared
def consult(m, t, first, second, when, reach, start, lane):
    """Features of two solids at a time of a way (poses.py), with gaps of less than `reach`, into `found` from row
    `start`; returns the row after the last. If start is ROOM, their room."""
    body, kind = rows(m, "collider_body"), rows(m, "collider_kind")
    a, b = along(m, t, first, body[first], when, lane), along(m, t, second, body[second], when, lane)
    h, g = table_of(m, first), table_of(m, second)
    if start == ROOM:
        return hull_distance.solids(kind[first], h, a, kind[second], g, b, False)
    later_a, later_b = a, b
    if when < PATH:  # the way of the velocities at hand
        later_a, later_b = along(m, t, first, body[first], 1.0, lane), along(m, t, second, body[second], 1.0, lane)
    found = rows(t, "found")[start:FOUND, :, lane]
    return 1.0 * (start + hulls.features(found, kind[first], h, a, later_a, kind[second], g, b, later_b, reach))


@shared
def consult_rims(m, t, first, second, when, reach, start, lane):
    """The same, where one of the two is a cylinder."""
    body, kind = rows(m, "collider_body"), rows(m, "collider_kind")
    a, b = along(m, t, first, body[first], when, lane), along(m, t, second, body[second], when, lane)
    h, g = table_of(m, first), table_of(m, second)
    if start == ROOM:
        return rounds.solids(kind[first], h, a, kind[second], g, b, False)
    later_a, later_b = a, b
    if when < PATH:
        later_a, later_b = along(m, t, first, body[first], 1.0, lane), along(m, t, second, body[second], 1.0, lane)
    found = rows(t, "found")[start:FOUND, :, lane]
    return 1.0 * (start + rounds.features(found, kind[first], h, a, later_a, kind[second], g, b, later_b, reach))
