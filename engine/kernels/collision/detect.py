"""Contacts between the bodies of a lane group: which solids are near, where they may touch, and what they carried last.

Before a step is solved, lane by lane: a pair of solids is near if they could meet with their bodies moving as far as
`assumed`. Each feature (manifold.py) of a near pair gets a slot; lanes have theirs in the same order, and slots that
only others need are not `present`. Once the step is solved, bodies that went farther than assumed, and solids that
overlap although no feature did, are found: the step is then solved again, or cut. What a contact carried is remembered
by its key, the numbers of the pair and of the feature, so that the result of an environment depends on nothing but
itself.
"""

from numba.extending import overload

from vigym.engine.kernels.collision import distance, kinds, links, watch
from vigym.engine.kernels.collision.asking import ask, is_asked
from vigym.engine.kernels.collision.ground import is_close
from vigym.engine.kernels.collision.growth import MEMORY, NEAR, PHASES, SLOTS, ensure
from vigym.engine.kernels.collision.handle import call_entry
from vigym.engine.kernels.collision.manifold import COLUMNS, FIRM, FOUND, GONE, KEY, OWNER_RADIUS, PARTNER_RADIUS, WHEN
from vigym.engine.kernels.collision.overlap import STRIDE, allowed, gap_now, onset, relative_way, room_at, thickness
from vigym.engine.kernels.collision.poses import LOOKS, PATH, along, three
from vigym.engine.kernels.collision.slots import compliance_of, keep, keep_phases, leave_out, recall, write_slot
from vigym.engine.kernels.collision.space import BOX, PLANE, is_ground, length, sub
from vigym.engine.kernels.simd import rows, shared

FAST, PARTS = 0.2, 8  # of its size, what moves farther in a step may fly past; looks on the way
OUT, BACK = 1.0, 2.0  # features that others have taken the place of; such as have come back
LIFTED = 0.175  # of their way in a step, as far as solids that are apart may be below a plane that is to part them
TRIES = 4  # parts of the way on which what solids have gone into is looked for


@shared
def is_near(m, t, couple, lane):
    """True if the solids of a couple may meet in the step."""
    first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
    body, kind, bound = rows(m, "collider_body"), rows(m, "collider_kind"), rows(m, "collider_bound")
    i, j = body[first], body[second]
    assumed = rows(t, "assumed")
    reach = assumed[i, 0, lane] + assumed[j, 0, lane]
    a, b = along(m, t, first, i, 0.0, lane), along(m, t, second, j, 0.0, lane)
    if is_ground(kind[second]):
        return is_close(m, kind[first], second, a, (b[0], b[1]), bound[first, 0, 0], reach)
    return watch.apart(kind[first], a, bound[first, 0, 0], kind[second], b, bound[second, 0, 0]) < reach


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
        room = room_at(m, t, first, second, k / PARTS, lane)
        if room < 0.5 * way / PARTS:  # it may meet the other one between two looks
            return 0.0
        if room < least:
            part, least = k / PARTS, room
    return part


@shared
def find_ground(m, t, first, second, reach, lane):
    """Features of a solid and ground of triangles into `found`: those of where it is, and, of a fast one, of where it
    would go into the ground, or comes closest to it; returns how many."""
    found, bound = rows(t, "found"), rows(m, "collider_bound")[first, 0, 0]
    count = int(ask(m, t, first, second, 0.0, reach, 0, lane))
    for k in range(count):
        found[k, WHEN, lane] = 0.0
    way = relative_way(m, t, first, second, 0, lane)
    if way < FAST * bound:
        return count
    stride, now, then, least = STRIDE * thickness(m, first, second), 0.0, 0.0, distance.FAR
    room = room_at(m, t, first, second, 0.0, lane)
    while now < 1.0:
        now = min(1.0, now + max(room, stride) / way)
        room = room_at(m, t, first, second, now, lane)
        if room < least:
            then, least = now, room
        if room < 0.0:
            break
    last = int(ask(m, t, first, second, then, reach, count, lane))
    known = count
    for k in range(known, last):
        if place_of(found, 0, known, found[k, KEY, lane], lane) == known:
            found[k, WHEN, lane] = then
            for column in range(COLUMNS):
                found[count, column, lane] = found[k, column, lane]
            count += 1
    return count


@shared
def find(m, t, couple, lane):
    """Features of a near couple into `found`; returns how many."""
    first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
    body, kind = rows(m, "collider_body"), rows(m, "collider_kind")
    i, j = body[first], body[second]
    assumed, found = rows(t, "assumed"), rows(t, "found")
    reach = assumed[i, 0, lane] + assumed[j, 0, lane]
    if is_ground(kind[second]):
        reach = min(reach, rows(m, "collider_bound")[first, 0, 0])
        count = find_ground(m, t, first, second, reach, lane)
    else:
        past = closest(m, t, first, second, lane)
        if is_asked(kind[first], kind[second]):
            count = int(ask(m, t, first, second, past, reach, 0, lane))
        else:
            a, b = along(m, t, first, i, past, lane), along(m, t, second, j, past, lane)
            later_a, later_b = along(m, t, first, i, 1.0, lane), along(m, t, second, j, 1.0, lane)
            count = kinds.features(found[:FOUND, :, lane], kind[first], a, later_a, kind[second], b, later_b, reach)
        for k in range(count):
            found[k, WHEN, lane] = past
    # in their place, those of where solutions began to go too deep
    looks, changes = int(rows(t, "look")[0, 0, lane] + 0.5), 0
    for path in range(1, 1 + looks):
        when, before = onset(m, t, first, second, path, lane), changes
        for k in range(TRIES + 1):  # where they began to overlap, or, if that is known, farther on
            if when >= 0.0 and changes == before:
                later = when + (PATH * path + 1.0 - when) * k / TRIES
                count, more = replace_features(m, t, first, second, later, reach, count, lane)
                changes += more
        if path == looks:
            rows(t, "added")[0, 0, lane] += changes - before
    there = 0
    for k in range(count):
        if found[k, GONE, lane] != OUT:
            for column in range(COLUMNS):
                found[there, column, lane] = found[k, column, lane]
            there += 1
    return there


@shared
def replace_features(m, t, first, second, when, reach, count, lane):
    """Put the features that two solids have at a time of a way in the place of the first `count` in `found`.

    Those that are not among them go OUT; those that had gone are BACK, and stay. Nothing changes if all are known.
    Returns how many there are then, and how many are new, or back."""
    body, kind, found = rows(m, "collider_body"), rows(m, "collider_kind"), rows(t, "found")
    if is_asked(kind[first], kind[second]):
        last = int(ask(m, t, first, second, when, reach, count, lane))
    else:
        a, b = along(m, t, first, body[first], when, lane), along(m, t, second, body[second], when, lane)
        last = count + kinds.features(found[count:FOUND, :, lane], kind[first], a, a, kind[second], b, b, reach)
    known, changes, least = count, 0, allowed(m, first, second)
    beside = room_at(m, t, first, second, 0.0, lane) > -least
    lift = LIFTED * relative_way(m, t, first, second, int(when / PATH), lane) if beside else 0.0
    deep = max(least, min(lift, STRIDE * thickness(m, first, second)))
    for k in range(known, last):
        found[k, WHEN, lane] = when
        old = place_of(found, 0, known, found[k, KEY, lane], lane)
        radii = found[k, OWNER_RADIUS, lane] + found[k, PARTNER_RADIUS, lane]
        room = gap_now(m, t, first, second, k, lane)
        new = old == known and room > (-least if radii > 0.0 else -deep)
        found[k, GONE, lane] = 0.0 if new else OUT
        found[k, FIRM, lane] = 1.0 if beside and radii - room < lift else 0.0
        if new or (old < known and found[old, GONE, lane] == OUT):
            changes += 1
    if changes == 0:
        return known, 0
    for old in range(known):
        again = place_of(found, known, last, found[old, KEY, lane], lane) < last
        if again and found[old, GONE, lane] == OUT:
            found[old, GONE, lane] = BACK
        elif not again and found[old, GONE, lane] != BACK:
            found[old, GONE, lane] = OUT
    for k in range(known, last):
        if found[k, GONE, lane] != OUT:
            for column in range(COLUMNS):
                found[count, column, lane] = found[k, column, lane]
            count += 1
    return count, changes


@shared
def place_of(found, start, end, key, lane):
    """The feature with a key among those from start to end; end if there is none."""
    for k in range(start, end):
        if found[k, KEY, lane] == key:
            return k
    return end


@shared
def find_contacts(m, s, t, group):
    """Find the contacts between the bodies of a lane group, before a step is solved."""
    lanes = rows(t, "h").shape[2]
    live = rows(t, "live")
    for lane in range(lanes):
        rows(t, "added")[0, 0, lane] = 0.0
        if live[0, 0, lane] > 0.5:
            watch.start_list(m, s, t, group, lane)
    slots, near, couple = 0, 0, watch.next_couple(m, s, t)
    while couple < rows(m, "n_couples")[0]:
        most = 0
        for lane in range(lanes):
            count = 0
            if watch.take(m, s, t, couple, lane) and is_near(m, t, couple, lane):
                count = find(m, t, couple, lane)
            rows(t, "counts")[0, 0, lane] = count
            most = max(most, count)
        here, couple = couple, watch.next_couple(m, s, t)
        if most == 0:
            continue
        ensure(m, s, t, group, NEAR, near + 1)
        ensure(m, s, t, group, SLOTS, slots + most)
        body = rows(m, "collider_body")
        rows(t, "near_first")[near] = body[rows(m, "couple_first")[here]]
        rows(t, "near_second")[near] = body[rows(m, "couple_second")[here]]
        rows(t, "near_couple")[near] = here
        for k in range(most):
            for lane in range(lanes):
                if k < rows(t, "counts")[0, 0, lane]:
                    write_slot(m, s, t, slots + k, here, near, k, lane)
                else:
                    leave_out(m, s, t, slots + k, here, near, lane)
        slots, near = slots + most, near + 1
    rows(t, "n_slots")[0], rows(t, "n_near")[0] = slots, near
    for lane in range(lanes):
        if rows(t, "look")[0, 0, lane] > 0.5 and rows(t, "added")[0, 0, lane] < 0.5:
            rows(t, "look")[0, 0, lane] = LOOKS  # nothing is left to be tried
        start = 0
        for slot in range(slots):
            if rows(t, "touch_present")[slot, 0, lane] > 0.5:
                start = recall(m, s, t, slot, start, lane)
    links.order(m, s, t, group)


@shared
def review_contacts(m, s, t, group):
    """Look for bodies that went into each other in the step that was found: because what was found before it does not
    keep them apart (pierced), or because one went farther than was assumed, and was not looked at (missed)."""
    lanes, good = rows(t, "h").shape[2], rows(t, "good")
    missed, pierced = rows(t, "missed"), rows(t, "pierced")
    for lane in range(lanes):
        missed[0, 0, lane] = pierced[0, 0, lane] = 0.0
        if good[0, 0, lane] < 0.5:
            continue
        gone = rows(t, "gone")[0, 0, lane] > 0.5
        if gone and watch.is_stale(m, s, t, lane):
            watch.make_list(m, s, t, group, lane)
        if overlapping(m, s, t, gone, lane):
            if gone:
                missed[0, 0, lane] = 1.0
            else:
                pierced[0, 0, lane] = 1.0
            good[0, 0, lane] = 0.0
            V, found, look = rows(t, "V"), rows(t, "found_V"), int(rows(t, "look")[0, 0, lane] + 0.5)
            if look < LOOKS:
                for i in range(rows(m, "n_bodies")[0]):
                    for d in range(6):
                        found[i, 6 * look + d, lane] = V[i, d, lane]


@shared
def overlapping(m, s, t, gone, lane):
    """Tell if the step that was found leads two solids into each other: hard ones, and soft ones too if a body has
    gone so far that they may have been overlooked."""
    body, assumed, place = rows(m, "collider_body"), rows(t, "assumed"), 0
    while rows(s, "watch_couple")[place, 0, lane] < rows(m, "n_couples")[0]:
        couple, room = int(rows(s, "watch_couple")[place, 0, lane]), rows(s, "watch_now")[place, 0, lane]
        first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
        place += 1
        if room >= assumed[body[first], 0, lane] + assumed[body[second], 0, lane]:
            continue
        hard = compliance_of(m, s, couple, lane) == 0.0
        if (hard or gone) and is_near(m, t, couple, lane) and onset(m, t, first, second, 0, lane) >= 0.0:
            return True
    return False


@shared
def keep_contacts(m, s, t, group):
    """Keep what contacts between bodies carry, in the lanes that converged."""
    lanes, good = rows(t, "h").shape[2], rows(t, "good")
    slots = rows(t, "n_slots")[0]
    ensure(m, s, t, group, MEMORY, slots + 1)
    ensure(m, s, t, group, PHASES, slots + 1)
    keys = rows(s, "memory_key")
    for lane in range(lanes):
        if rows(m, "bounces")[0] and rows(t, "again")[0, 0, lane] > 0.5:
            keep_phases(t, lane)
        if good[0, 0, lane] < 0.5:
            continue
        k = 0
        for slot in range(slots):
            if rows(t, "touch_present")[slot, 0, lane] > 0.5:
                keep(m, s, t, slot, k, lane)
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


def compile_call(function, number, needed):
    """Have kernels call the compiled code (entries.py), or nothing for mechanisms whose features do not need it."""

    @overload(function)
    def choose(m, s, t, group):
        if needed(m.features):
            return lambda m, s, t, group: call_entry(t.entries[number], m, s, t, group)
        return lambda m, s, t, group: None


for _number, _function in enumerate((detect, review, remember)):
    compile_call(_function, _number, lambda features: features.touches)
