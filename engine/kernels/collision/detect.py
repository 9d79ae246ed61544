"""Contacts between the bodies of a lane group: which solids are near, where they may touch, and what they carried last.

Before a step is solved, lane by lane: a pair of solids is near if they could meet with their bodies moving as far as
`assumed`. Each feature (manifold.py) of a near pair gets a slot; lanes have theirs in the same order, and slots that
only others need are not `present`. Once the step is solved, bodies that went farther than assumed, and solids that
overlap although no feature did, are found: the step is then solved again, or cut. What a contact carried is remembered
by its key, the numbers of the pair and of the feature, so that the result of an environment depends on nothing but
itself.
"""

from numba.extending import overload

from vigym.engine.kernels.collision import distance, links, manifold
from vigym.engine.kernels.collision.growth import MEMORY, NEAR, SLOTS, ensure
from vigym.engine.kernels.collision.handle import call_entry
from vigym.engine.kernels.collision.manifold import COLUMNS, FOUND, KEY, WHEN
from vigym.engine.kernels.collision.poses import LOOKS, PATH, matrix_of, placed, pose, three
from vigym.engine.kernels.collision.slots import keep, leave_out, recall, write_slot
from vigym.engine.kernels.collision.space import BOX, PLANE, dot, length, sub
from vigym.engine.kernels.simd import rows, shared

ASSUMED = 1.5  # times as far as its velocity takes it, a body is assumed to move in a step,
SLACK = 0.02  # and by so much of its size
FAST, PARTS = 0.2, 8  # of its size, what moves farther in a step may fly past; looks on the way
OVERLAP = 4e-9  # of a size that is found after a step and not a solution
STRIDE = 0.25  # of the thinner solid's thickness: how deep a fast one may go on its way, see `onset`
BISECTIONS = 40


@shared
def apart(kind_a, a, bound_a, kind_b, b, bound_b):
    """A lower bound of the distance of two solids: that of balls around them."""
    if kind_a == PLANE:
        return dot(a[1][2], sub(b[0], a[0])) - bound_b
    if kind_b == PLANE:
        return dot(b[1][2], sub(a[0], b[0])) - bound_a
    return length(sub(a[0], b[0])) - bound_a - bound_b


@shared
def farthest(m, t, i, lane):
    """As far as the velocity of body i takes any point of its solids in the step, m."""
    V, h = rows(t, "V"), rows(t, "h")[0, 0, lane]
    return h * (length(three(V, i, 0, lane)) + rows(m, "reach")[i, 0, 0] * length(three(V, i, 3, lane)))


@shared
def assume(m, t, lane):
    """How far each body is assumed to move in the step."""
    reach, assumed, farther = rows(m, "reach"), rows(t, "assumed"), rows(t, "farther")
    h = rows(t, "h")[0, 0, lane]
    fall = rows(m, "free_fall")[0, 0, 0] * h * h
    for i in range(rows(m, "n_bodies")[0]):
        way = farthest(m, t, i, lane)
        assumed[i, 0, lane] = max(ASSUMED * way + fall + SLACK * reach[i, 1, 0], farther[i, 0, lane])
    assumed[rows(m, "n_bodies")[0], 0, lane] = 0.0


@shared
def is_near(m, t, couple, lane):
    """Whether the solids of a couple may meet in the step."""
    first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
    body, kind, bound = rows(m, "collider_body"), rows(m, "collider_kind"), rows(m, "collider_bound")
    i, j = body[first], body[second]
    assumed = rows(t, "assumed")
    reach = assumed[i, 0, lane] + assumed[j, 0, lane]
    a, b = along(m, t, first, i, 0.0, lane), along(m, t, second, j, 0.0, lane)
    return apart(kind[first], a, bound[first, 0, 0], kind[second], b, bound[second, 0, 0]) < reach


@shared
def along(m, t, k, i, part, lane):
    """Solid k of body i where its velocity takes it in a part of the step, or where the last solution led (`pose`)."""
    parts = rows(m, "collider_place"), rows(m, "collider_turn"), rows(m, "collider_size")
    x, q = pose(m, t, i, part, lane)
    return placed(parts[0], parts[1], parts[2], k, x, matrix_of(q))


@shared
def closest(m, t, first, second, lane):
    """Part of the step after which two solids that fly past each other are closest; 0 for those that would meet, that
    are slow, and for boxes and planes, whose faces are chosen by where they fly (manifold.py)."""
    body, kind, bound = rows(m, "collider_body"), rows(m, "collider_kind"), rows(m, "collider_bound")
    round_one = kind[first] < BOX or kind[second] < BOX
    if not round_one or kind[first] == PLANE or kind[second] == PLANE:
        return 0.0
    i, j, n = body[first], body[second], rows(m, "n_bodies")[0]
    V, reach, h = rows(t, "V"), rows(m, "reach"), rows(t, "h")[0, 0, lane]
    v = three(V, i, 0, lane)
    turning = reach[i, 0, 0] * length(three(V, i, 3, lane))
    if j < n:
        v, turning = sub(v, three(V, j, 0, lane)), turning + reach[j, 0, 0] * length(three(V, j, 3, lane))
    way = h * (length(v) + turning)
    if way < FAST * min(bound[first, 0, 0], bound[second, 0, 0]):
        return 0.0
    part, least = 0.0, distance.FAR
    for k in range(PARTS + 1):
        a, b = along(m, t, first, i, k / PARTS, lane), along(m, t, second, j, k / PARTS, lane)
        room = distance.solids(kind[first], a, kind[second], b)
        if room < 0.5 * way / PARTS:  # it may meet the other one between two looks
            return 0.0
        if room < least:
            part, least = k / PARTS, room
    return part


@shared
def room_at(m, t, first, second, when, lane):
    """Room between two solids at a time of a way (`pose`): their distance, or less for boxes; less their depth where
    they overlap."""
    body, kind = rows(m, "collider_body"), rows(m, "collider_kind")
    a, b = along(m, t, first, body[first], when, lane), along(m, t, second, body[second], when, lane)
    if kind[first] == BOX and kind[second] == BOX:
        return distance.boxes_parted(a, b)
    return distance.solids(kind[first], a, kind[second], b)


@shared
def relative_way(m, t, first, second, path, lane):
    """As far as the solids of two bodies move against each other in the step, at most."""
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
    if kind[first] == PLANE or kind[second] == PLANE:
        size = bound[first, 0, 0] + bound[second, 0, 0]  # a plane has none
    return OVERLAP * min(1.0, size)


@shared
def onset(m, t, first, second, path, lane):
    """Time of a way (`pose`) at which two solids begin to overlap; -1 if they do not.

    What counts is its end. Fast ones are looked at on the way, too, in steps as long as the room between them, or a
    part of the thickness of the thinner one, and must not go deeper than that."""
    depth, least = allowed(m, first, second), STRIDE * thickness(m, first, second)
    way = max(relative_way(m, t, first, second, path, lane), 1e-300)
    offset, before, now, room = PATH * path, 0.0, 0.0, 0.0
    while now < 1.0:
        now = min(1.0, now + max(room, least) / way)
        room = room_at(m, t, first, second, offset + now, lane)
        if room < -least or (now == 1.0 and room < -depth):
            return offset + begin_overlap(m, t, first, second, offset, before, now, lane)
        before = now if room > -0.5 * depth else before
    return -1.0


@shared
def begin_overlap(m, t, first, second, offset, before, now, lane):
    """Part of the step, between `before` and `now`, at which the depth of two solids exceeds half of what is allowed;
    a little later."""
    depth = 0.5 * allowed(m, first, second)
    for _ in range(BISECTIONS):
        middle = 0.5 * (before + now)
        if room_at(m, t, first, second, offset + middle, lane) < -depth:
            now = middle
        else:
            before = middle
    return now


@shared
def thickness(m, first, second):
    """The least size of two solids: of a box its shortest edge, of others the diameter; of a plane none."""
    kind, size, least = rows(m, "collider_kind"), rows(m, "collider_size"), distance.FAR
    for k in (first, second):
        if kind[k] != PLANE:
            across = 2.0 * size[k, 3, 0]
            if kind[k] == BOX:
                across = 2.0 * min(size[k, 0, 0], size[k, 1, 0], size[k, 2, 0])
            least = min(least, across)
    return least


@shared
def find(m, t, couple, lane):
    """Features of a near couple into `found`; returns how many."""
    first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
    body, kind = rows(m, "collider_body"), rows(m, "collider_kind")
    i, j = body[first], body[second]
    assumed, found = rows(t, "assumed"), rows(t, "found")
    reach = assumed[i, 0, lane] + assumed[j, 0, lane]
    past = closest(m, t, first, second, lane)
    a, b = along(m, t, first, i, past, lane), along(m, t, second, j, past, lane)
    later_a, later_b = along(m, t, first, i, 1.0, lane), along(m, t, second, j, 1.0, lane)
    count = manifold.features(found[:FOUND, :, lane], kind[first], a, later_a, kind[second], b, later_b, reach)
    for k in range(count):
        found[k, WHEN, lane] = past
    # and those of where solutions began to go too deep
    looks = int(rows(t, "look")[0, 0, lane] + 0.5)
    for path in range(1, 1 + looks):
        when = onset(m, t, first, second, path, lane)
        if when >= 0.0:
            more = add_features(m, t, first, second, when, reach, count, lane)
            if path == looks:
                rows(t, "added")[0, 0, lane] += more - count
            count = more
    return count


@shared
def add_features(m, t, first, second, when, reach, count, lane):
    """Features of two solids at a time of a way, behind the first `count` in `found`, without those that are there
    already; returns how many there are then."""
    body, kind, found = rows(m, "collider_body"), rows(m, "collider_kind"), rows(t, "found")
    a, b = along(m, t, first, body[first], when, lane), along(m, t, second, body[second], when, lane)
    known = count
    more = manifold.features(found[count:FOUND, :, lane], kind[first], a, a, kind[second], b, b, reach)
    for k in range(known, known + more):
        new = True
        for old in range(known):
            new = new and found[old, KEY, lane] != found[k, KEY, lane]
        if new:
            for column in range(COLUMNS):
                found[count, column, lane] = found[k, column, lane]
            found[count, WHEN, lane] = when
            count += 1
    return count


@shared
def find_contacts(m, s, t, group):
    """Find the contacts between the bodies of a lane group, before a step is solved."""
    lanes = rows(t, "h").shape[2]
    live = rows(t, "live")
    for lane in range(lanes):
        rows(t, "added")[0, 0, lane] = 0.0
        if live[0, 0, lane] > 0.5:
            assume(m, t, lane)
    slots, near = 0, 0
    for couple in range(rows(m, "n_couples")[0]):
        most = 0
        for lane in range(lanes):
            count = 0
            if live[0, 0, lane] > 0.5 and is_near(m, t, couple, lane):
                count = find(m, t, couple, lane)
            rows(t, "counts")[0, 0, lane] = count
            most = max(most, count)
        if most == 0:
            continue
        ensure(m, s, t, group, NEAR, near + 1)
        ensure(m, s, t, group, SLOTS, slots + most)
        body = rows(m, "collider_body")
        rows(t, "near_first")[near] = body[rows(m, "couple_first")[couple]]
        rows(t, "near_second")[near] = body[rows(m, "couple_second")[couple]]
        rows(t, "near_couple")[near] = couple
        for k in range(most):
            for lane in range(lanes):
                if k < rows(t, "counts")[0, 0, lane]:
                    write_slot(m, s, t, slots + k, couple, near, k, lane)
                else:
                    leave_out(m, s, t, slots + k, couple, near, lane)
        slots, near = slots + most, near + 1
    rows(t, "n_slots")[0], rows(t, "n_near")[0] = slots, near
    for lane in range(lanes):
        if rows(t, "look")[0, 0, lane] > 0.5 and rows(t, "added")[0, 0, lane] < 0.5:
            rows(t, "look")[0, 0, lane] = LOOKS  # nothing is left to be tried
        start = 0
        for slot in range(slots):
            if rows(t, "touch_present")[slot, 0, lane] > 0.5:
                start = recall(s, t, slot, start, lane)
    links.order(m, s, t, group)


@shared
def review_contacts(m, s, t, group):
    """Look for bodies that went too far, or into each other, in the step that was found."""
    lanes, good = rows(t, "h").shape[2], rows(t, "good")
    missed, pierced = rows(t, "missed"), rows(t, "pierced")
    reach, assumed, farther = rows(m, "reach"), rows(t, "assumed"), rows(t, "farther")
    for lane in range(lanes):
        missed[0, 0, lane] = pierced[0, 0, lane] = 0.0
        if good[0, 0, lane] < 0.5:
            continue
        for i in range(rows(m, "n_bodies")[0]):
            way = farthest(m, t, i, lane)
            if way > assumed[i, 0, lane] and reach[i, 1, 0] > 0.0:
                missed[0, 0, lane], farther[i, 0, lane] = 1.0, 2.0 * way
        if missed[0, 0, lane] < 0.5 and overlapping(m, s, t, lane):
            pierced[0, 0, lane] = 1.0
        if missed[0, 0, lane] > 0.5 or pierced[0, 0, lane] > 0.5:
            good[0, 0, lane] = 0.0
            V, found, look = rows(t, "V"), rows(t, "found_V"), int(rows(t, "look")[0, 0, lane] + 0.5)
            if look < LOOKS:
                for i in range(rows(m, "n_bodies")[0]):
                    for d in range(6):
                        found[i, 6 * look + d, lane] = V[i, d, lane]


@shared
def overlapping(m, s, t, lane):
    """Whether the step that was found leads two hard solids into each other."""
    soft = rows(s, "collider_compliance")
    for couple in range(rows(m, "n_couples")[0]):
        first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
        hard = soft[first, 0, lane] + soft[second, 0, lane] == 0.0
        if hard and is_near(m, t, couple, lane) and onset(m, t, first, second, 0, lane) >= 0.0:
            return True
    return False


@shared
def keep_contacts(m, s, t, group):
    """Keep what contacts between bodies carry, in the lanes that converged."""
    lanes, good = rows(t, "h").shape[2], rows(t, "good")
    slots = rows(t, "n_slots")[0]
    ensure(m, s, t, group, MEMORY, slots + 1)
    keys = rows(s, "memory_key")
    for lane in range(lanes):
        if good[0, 0, lane] < 0.5:
            continue
        k = 0
        for slot in range(slots):
            if rows(t, "touch_present")[slot, 0, lane] > 0.5:
                keep(s, t, slot, k, lane)
                k += 1
        while keys[k, 0, lane] > 0.0:
            keys[k, 0, lane] = 0.0
            k += 1


# ------------------------------------------------------------------------------------------------ for kernels
def detect(m, s, t, group):
    """`find_contacts`, where bodies may touch."""
    if m.features.touches:
        find_contacts(m, s, t, group)


def review(m, s, t, group):
    """`review_contacts`, where bodies may touch."""
    if m.features.touches:
        review_contacts(m, s, t, group)


def remember(m, s, t, group):
    """`keep_contacts`, where bodies may touch."""
    if m.features.touches:
        keep_contacts(m, s, t, group)


def _compile(function, number):
    """Have kernels call the compiled code (entries.py), or nothing if no bodies may touch."""

    @overload(function)
    def choose(m, s, t, group):
        if m.features.touches:
            return lambda m, s, t, group: call_entry(t.entries[number], m, s, t, group)
        return lambda m, s, t, group: None


for _number, _function in enumerate((detect, review, remember)):
    _compile(_function, _number)
