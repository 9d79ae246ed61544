"""Couples of solids that may meet, without looking at all of them in every step.

Each lane has a list of the couples that were close when it was made, in the order of their numbers, with lower bounds
of their distances. It is made anew when a body has moved so far, or become so fast, that others may meet (`stale`,
motion_bounds.py). A couple is left out of a step if its solids, bodies moving as far as assumed, cannot come so close
that there would be a feature: such a couple changes nothing, to the bit, whether it is looked at or not. So what a list
holds, and when it was made, has no part in a result.
"""

from vigym.engine.kernels.collision import distance
from vigym.engine.kernels.collision.growth import WATCH, ensure
from vigym.engine.kernels.collision.poses import along, three
from vigym.engine.kernels.collision.space import BOX, PLANE, dot, is_ground, length, sub
from vigym.engine.kernels.motion_bounds import FURTHER
from vigym.engine.kernels.simd import rows, shared

SKIN = 0.15  # of its extent that a body may move, beside MORE times what it may move in a step, before a list is stale
MORE = 3.0
SLANTED = 6.0  # times: edges of boxes may cross so flat that they are that much closer along what is across them


@shared
def apart(kind_a, a, bound_a, kind_b, b, bound_b):
    """A lower bound of the distance of two solids: that of balls around them."""
    if kind_a == PLANE:
        return dot(a[1][2], sub(b[0], a[0])) - bound_b
    if kind_b == PLANE:
        return dot(b[1][2], sub(a[0], b[0])) - bound_a
    return length(sub(a[0], b[0])) - bound_a - bound_b


@shared
def beside_box(solid, box):
    """A lower bound of the distance of a sphere or capsule and a box: along the box's axes."""
    d, best = sub(solid[0], box[0]), -distance.FAR
    for k in range(3):
        n = box[1][k]
        best = max(best, abs(dot(n, d)) - box[2][k] - solid[2][2] * abs(dot(n, solid[1][2])))
    return best - solid[3] - box[3]


@shared
def least_room(m, t, first, second, lane):
    """A number that two solids, now and as long as it is more than FURTHER times what bodies may move, have no features
    below; it becomes less by as much as they move, at most. -FAR of what must be looked at in every step."""
    body, kind, bound = rows(m, "collider_body"), rows(m, "collider_kind"), rows(m, "collider_bound")
    i, j, n = body[first], body[second], rows(m, "n_bodies")[0]
    one, two = kind[first], kind[second]
    if is_ground(two) or one == PLANE or (two == PLANE and j < n):
        return -distance.FAR
    a, b = along(m, t, first, i, 0.0, lane), along(m, t, second, j, 0.0, lane)
    room = apart(one, a, bound[first, 0, 0], two, b, bound[second, 0, 0])
    if one == BOX and two == BOX:
        return max(room, distance.boxes_parted(a, b) / SLANTED)
    if two == BOX and one < BOX:
        return max(room, beside_box(a, b))
    if one == BOX and two < BOX:
        return max(room, beside_box(b, a))
    if one <= BOX and two <= PLANE:
        return max(room, distance.solids(one, a, two, b))
    return room


@shared
def frame_of(m, i, j):
    """Column of `shifted` for two bodies: 0 if their motion is seen from where their part begins, else 1."""
    root = rows(m, "watch_root")
    return 0 if root[i] == root[j] and root[i] < rows(m, "n_bodies")[0] else 1


@shared
def moved(m, t, i, j, lane):
    """Distance that two bodies have moved since the list was made, together."""
    frame, shifted = frame_of(m, i, j), rows(t, "shifted")
    return shifted[i, frame, lane] + shifted[j, frame, lane]


@shared
def make_list(m, s, t, group, lane):
    """List the couples that may meet while no body goes farther than its margin."""
    n, couples, body = rows(m, "n_bodies")[0], rows(m, "n_couples")[0], rows(m, "collider_body")
    bound, reach, margin = rows(m, "collider_bound"), rows(m, "reach"), rows(s, "margin")
    keep_poses(m, s, t, lane)
    for i in range(n):
        margin[i, 0, lane] = MORE * FURTHER * rows(t, "assumed")[i, 0, lane] + SKIN * reach[i, 0, 0]
    margin[n, 0, lane] = 0.0
    centre, kind = rows(t, "centre"), rows(m, "collider_kind")
    for k in range(rows(m, "n_colliders")[0]):
        middle = along(m, t, k, body[k], 0.0, lane)[0]
        for d in range(3):
            centre[k, d, lane] = middle[d]
    count = 0
    for couple in range(couples):
        first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
        far = margin[body[first], 0, lane] + margin[body[second], 0, lane]
        if kind[first] != PLANE and kind[second] != PLANE and not is_ground(kind[second]):
            d = sub(three(centre, first, 0, lane), three(centre, second, 0, lane))
            if length(d) - bound[first, 0, 0] - bound[second, 0, 0] >= far:
                continue
        room = least_room(m, t, first, second, lane)
        if not room >= far:
            count = append(m, s, t, group, couple, room, count, lane)
    append(m, s, t, group, couples, 0.0, count, lane)


@shared
def keep_poses(m, s, t, lane):
    """Keep where bodies are: from here on, they have not moved."""
    for i in range(rows(m, "n_bodies")[0]):
        for d in range(3):
            rows(s, "near_x")[i, d, lane] = rows(t, "seen_x")[i, d, lane]
            rows(s, "far_x")[i, d, lane] = rows(t, "x")[i, d, lane]
        for d in range(4):
            rows(s, "near_q")[i, d, lane] = rows(t, "seen_q")[i, d, lane]
            rows(s, "far_q")[i, d, lane] = rows(t, "q")[i, d, lane]
        for d in range(2):
            rows(t, "shifted")[i, d, lane] = 0.0
    rows(t, "stale")[0, 0, lane] = 0.0


@shared
def append(m, s, t, group, couple, room, count, lane):
    """Write a couple at the end of the list; returns how many there are."""
    ensure(m, s, t, group, WATCH, count + 1)
    rows(s, "watch_couple")[count, 0, lane] = couple
    rows(s, "watch_room")[count, 0, lane] = room
    rows(s, "watch_now")[count, 0, lane] = room
    return count + 1


@shared
def farthest_way(m, t, i, lane):
    """FURTHER than body i is assumed to move in the step; at least as far as any solution that was looked at did."""
    far, h, V = FURTHER * rows(t, "assumed")[i, 0, lane], rows(t, "h")[0, 0, lane], rows(t, "found_V")
    for path in range(int(rows(t, "look")[0, 0, lane] + 0.5)):
        v, w = three(V, i, 6 * path, lane), three(V, i, 6 * path + 3, lane)
        far = max(far, h * (length(v) + rows(m, "reach")[i, 0, 0] * length(w)))
    return far


@shared
def is_stale(m, s, t, lane):
    """True if some body may leave its margin, with `shifted` and `assumed` as they are now."""
    for i in range(rows(m, "n_bodies")[0]):
        for frame in range(2):
            need = farthest_way(m, t, i, lane) + rows(t, "shifted")[i, frame, lane]
            if rows(m, "watched")[i, frame, 0] > 0.5 and not need < rows(s, "margin")[i, 0, lane]:
                return True
    return False


@shared
def start_list(m, s, t, group, lane):
    """Begin to go through the list of a lane, which is made anew if it is stale."""
    looks = rows(t, "look")[0, 0, lane] > 0.5
    if rows(t, "stale")[0, 0, lane] > 0.5 or (looks and is_stale(m, s, t, lane)):
        make_list(m, s, t, group, lane)
    rows(t, "head")[0, 0, lane] = 0.0


@shared
def next_couple(m, s, t):
    """The first couple that is left in the lists of lanes that are being solved; n_couples at their end."""
    couple, live = float(rows(m, "n_couples")[0]), rows(t, "live")
    for lane in range(live.shape[2]):
        if live[0, 0, lane] > 0.5:
            couple = min(couple, rows(s, "watch_couple")[head(t, lane), 0, lane])
    return int(couple)


@shared
def head(t, lane):
    """Place where the list of a lane goes on."""
    return int(rows(t, "head")[0, 0, lane])


@shared
def take(m, s, t, couple, lane):
    """True if a couple is the next one of a lane, and may meet; the list then goes on behind it."""
    place = head(t, lane)
    if rows(t, "live")[0, 0, lane] < 0.5 or rows(s, "watch_couple")[place, 0, lane] != couple:
        return False
    rows(t, "head")[0, 0, lane] = place + 1.0
    close = comes_close(m, s, t, couple, place, lane)
    return close or rows(t, "look")[0, 0, lane] > 0.5


@shared
def comes_close(m, s, t, couple, place, lane):
    """True if the solids of a couple, at a place of the list, come so close that they may have features."""
    first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
    body, kind, assumed = rows(m, "collider_body"), rows(m, "collider_kind"), rows(t, "assumed")
    i, j, near = body[first], body[second], rows(s, "watch_now")
    room, least = rows(s, "watch_room")[place, 0, lane], FURTHER * (assumed[i, 0, lane] + assumed[j, 0, lane])
    room -= moved(m, t, i, j, lane)
    both = kind[first] == BOX and kind[second] == BOX
    if room < least and kind[second] <= BOX and not both:  # less work than to look for features
        room = max(room, least_room(m, t, first, second, lane))
    near[place, 0, lane] = room
    return room < least
