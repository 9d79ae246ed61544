"""Times at which solids overlap on the way of a step, and the features that show it.

A way is that of the velocities at hand, or of a solution that was looked at before (poses.py). What counts is where it
ends, and that nothing fast passes through something thin.
"""

from vigym.engine.kernels.collision import distance, manifold
from vigym.engine.kernels.collision.asking import ask, is_asked
from vigym.engine.kernels.collision.manifold import CODE, OWNER, OWNER_WAY, PARTNER, PARTNER_WAY, ROOM, SWAP, WHEN
from vigym.engine.kernels.collision.poses import PATH, along, matrix_of, pose, three
from vigym.engine.kernels.collision.space import BOX, CYLINDER, HULL, add, is_endless, length, sub, turn, turn_back
from vigym.engine.kernels.simd import rows, shared

OVERLAP = 4e-9  # of a size that is found after a step and not a solution
STRIDE = 0.25  # of the thinner solid's thickness: how deep a fast one may go on its way, see `onset`
BISECTIONS = 40


@shared
def room_at(m, t, first, second, when, lane):
    """Room between two solids at a time of a way (`pose`): their distance, or less for boxes and hulls; less their
    depth where they overlap. Over ground of triangles, at most the diameter of the solid."""
    body, kind = rows(m, "collider_body"), rows(m, "collider_kind")
    if is_asked(kind[first], kind[second]):
        enough = 2.0 * rows(m, "collider_bound")[first, 0, 0]
        return ask(m, t, first, second, when, enough, ROOM, lane)
    a, b = along(m, t, first, body[first], when, lane), along(m, t, second, body[second], when, lane)
    if kind[first] == BOX and kind[second] == BOX:
        return distance.boxes_parted(a, b)
    return distance.solids(kind[first], a, kind[second], b)


@shared
def relative_way(m, t, first, second, path, lane):
    """Bound of how far the solids of two bodies move against each other in the step."""
    body, reach, h = rows(m, "collider_body"), rows(m, "reach"), rows(t, "h")[0, 0, lane]
    i, j, n = body[first], body[second], rows(m, "n_bodies")[0]
    V, at = (rows(t, "V"), 0) if path == 0 else (rows(t, "found_V"), 6 * (path - 1))
    v = three(V, i, at, lane)
    turning = reach[i, 0, 0] * length(three(V, i, at + 3, lane))
    if j < n:
        v, turning = sub(v, three(V, j, at, lane)), turning + reach[j, 0, 0] * length(three(V, j, at + 3, lane))
    return h * (length(v) + turning)


@shared
def allowed(m, first, second):
    """Depth at which two solids overlap, m."""
    kind, bound = rows(m, "collider_kind"), rows(m, "collider_bound")
    size = max(bound[first, 0, 0], bound[second, 0, 0])
    if is_endless(kind[first]) or is_endless(kind[second]):
        size = bound[first, 0, 0] + bound[second, 0, 0]  # a plane has none
    return OVERLAP * min(1.0, size)


@shared
def onset(m, t, first, second, path, lane):
    """Time of a way (`pose`) at which two solids begin to overlap; -1 if they do not.

    What counts is its end. Fast ones are looked at on the way, too, in steps as long as the room between them, or a
    part of the thickness of the thinner one, and must not go deeper than that. Those that overlap already must not do
    so more."""
    depth, least = allowed(m, first, second), STRIDE * thickness(m, first, second)
    way = max(relative_way(m, t, first, second, path, lane), 1e-300)
    offset, before, now, room = PATH * path, 0.0, 0.0, 0.0
    while now < 1.0:
        now = min(1.0, now + max(room, least) / way)
        room = room_at(m, t, first, second, offset + now, lane)
        if room < -least or (now == 1.0 and room < -depth):
            there = max(-room_at(m, t, first, second, 0.0, lane), 0.0)  # they may overlap already
            if room < -there - (depth if now == 1.0 else least):
                return offset + begin_overlap(m, t, first, second, offset, before, now, there + 0.5 * depth, lane)
        before = now if room > -0.5 * depth else before
    return -1.0


@shared
def begin_overlap(m, t, first, second, offset, before, now, depth, lane):
    """Part of the step, between `before` and `now`, at which two solids begin to be deeper than `depth`; a little
    later."""
    for _ in range(BISECTIONS):
        middle = 0.5 * (before + now)
        if room_at(m, t, first, second, offset + middle, lane) < -depth:
            now = middle
        else:
            before = middle
    return now


@shared
def thickness(m, first, second):
    """The least size of two solids: of a box its shortest edge, of a cylinder that of a box around it, of a hull the
    least between a face and a corner, of others the diameter; of a plane none."""
    kind, size, least = rows(m, "collider_kind"), rows(m, "collider_size"), distance.FAR
    for k in (first, second):
        if not is_endless(kind[k]):
            across = 2.0 * size[k, 3, 0]
            if kind[k] == BOX or kind[k] == CYLINDER or kind[k] == HULL:
                across = 2.0 * min(size[k, 0, 0], size[k, 1, 0], size[k, 2, 0])
            least = min(least, across)
    return least


@shared
def gap_now(m, t, first, second, k, lane):
    """Gap between the cores of two solids, without radii, that feature k, found at a time of a way, has at the current
    pose: if it is negative, one of them would have to be on the other side of its partner."""
    body, found = rows(m, "collider_body"), rows(t, "found")
    o, p = (second, first) if found[k, SWAP, lane] > 0.5 else (first, second)
    when = found[k, WHEN, lane]
    point, mine = moved_back(m, t, body[o], feature_part(found, k, OWNER, OWNER_WAY, lane), when, lane)
    base, way = moved_back(m, t, body[p], feature_part(found, k, PARTNER, PARTNER_WAY, lane), when, lane)
    return manifold.gap(found[k, CODE, lane], sub(point, base), way, mine)


@shared
def feature_part(found, k, point, way, lane):
    """A point and a direction of feature k."""
    return three(found, k, point, lane), three(found, k, way, lane)


@shared
def moved_back(m, t, i, part, when, lane):
    """Return where a point of body i and a direction, given at a time of a way, are now."""
    point, way = part
    x1, q1 = pose(m, t, i, when, lane)
    x0, q0 = pose(m, t, i, 0.0, lane)
    R0, R1 = matrix_of(q0), matrix_of(q1)
    return add(x0, turn(R0, turn_back(R1, sub(point, x1)))), turn(R0, turn_back(R1, way))
