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
from vigym.engine.kernels.collision.manifold import (
    CODE,
    COLUMNS,
    FOUND,
    KEY,
    KEYS,
    LATER,
    OWNER,
    OWNER_WAY,
    PARTNER,
    PARTNER_WAY,
    SWAP,
)
from vigym.engine.kernels.collision.space import BOX, PLANE, add, dot, length, sub, turn
from vigym.engine.kernels.collision.space import turn_back as back
from vigym.engine.kernels.integrator import advance
from vigym.engine.kernels.simd import rows, shared

ASSUMED = 1.5  # times as far as its velocity takes it, a body is assumed to move in a step,
SLACK = 0.02  # and by so much of its size
OVERLAP = 4e-9  # of a size that is found after a step and not a solution


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
def apart(kind_a, a, bound_a, kind_b, b, bound_b):
    """A lower bound of the distance of two solids: that of balls around them."""
    if kind_a == PLANE:
        return dot(a[1][2], sub(b[0], a[0])) - bound_b
    if kind_b == PLANE:
        return dot(b[1][2], sub(a[0], b[0])) - bound_a
    return length(sub(a[0], b[0])) - bound_a - bound_b


@shared
def assume(m, t, lane):
    """How far each body is assumed to move in the step."""
    V, reach, assumed, farther = rows(t, "V"), rows(m, "reach"), rows(t, "assumed"), rows(t, "farther")
    h = rows(t, "h")[0, 0, lane]
    fall = rows(m, "free_fall")[0, 0, 0] * h * h
    for i in range(rows(m, "n_bodies")[0]):
        way = h * (length(three(V, i, 0, lane)) + reach[i, 0, 0] * length(three(V, i, 3, lane)))
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
    a, b = here(m, t, first, i, lane), here(m, t, second, j, lane)
    return apart(kind[first], a, bound[first, 0, 0], kind[second], b, bound[second, 0, 0]) < reach


@shared
def here(m, t, k, i, lane):
    """Solid k of body i at the current pose."""
    parts = rows(m, "collider_place"), rows(m, "collider_turn"), rows(m, "collider_size")
    return placed(
        parts[0], parts[1], parts[2], k, three(rows(t, "x"), i, 0, lane), matrix_of(four(rows(t, "q"), i, lane))
    )


@shared
def ahead(m, t, k, i, lane):
    """Solid k of body i where its velocity takes it."""
    parts = rows(m, "collider_place"), rows(m, "collider_turn"), rows(m, "collider_size")
    x, q, V = three(rows(t, "x"), i, 0, lane), four(rows(t, "q"), i, lane), rows(t, "V")
    if i < rows(m, "n_bodies")[0]:
        x, q = advance(rows(t, "h")[0, 0, lane], (x, q), (three(V, i, 0, lane), three(V, i, 3, lane)))
    return placed(parts[0], parts[1], parts[2], k, x, matrix_of(q))


@shared
def there(m, t, k, i, lane):
    """Solid k of body i at the next pose."""
    parts = rows(m, "collider_place"), rows(m, "collider_turn"), rows(m, "collider_size")
    x, q = three(rows(t, "xn"), i, 0, lane), four(rows(t, "qn"), i, lane)
    return placed(parts[0], parts[1], parts[2], k, x, matrix_of(q))


@shared
def find(m, t, couple, lane):
    """Features of a near couple into `found`; returns how many."""
    first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
    body, kind = rows(m, "collider_body"), rows(m, "collider_kind")
    i, j = body[first], body[second]
    assumed, found = rows(t, "assumed"), rows(t, "found")
    reach = assumed[i, 0, lane] + assumed[j, 0, lane]
    a, b = here(m, t, first, i, lane), here(m, t, second, j, lane)
    later_a, later_b = ahead(m, t, first, i, lane), ahead(m, t, second, j, lane)
    count = manifold.features(found[:FOUND, :, lane], kind[first], a, later_a, kind[second], b, later_b, reach)
    if rows(t, "look")[0, 0, lane] < 0.5:
        return count
    # and those of where the last solution led, which went too deep
    a, b = at_found(m, t, first, i, lane), at_found(m, t, second, j, lane)
    most = manifold.features(found[count:FOUND, :, lane], kind[first], a, a, kind[second], b, b, reach)
    known = count
    for k in range(known, known + most):
        new = True
        for old in range(known):
            new = new and found[old, KEY, lane] != found[k, KEY, lane]
        if new:
            for column in range(COLUMNS):
                found[count, column, lane] = found[k, column, lane]
            found[count, LATER, lane] = 1.0
            count += 1
    return count


@shared
def at_found(m, t, k, i, lane):
    """Solid k of body i where the last solution led."""
    parts = rows(m, "collider_place"), rows(m, "collider_turn"), rows(m, "collider_size")
    x, q = three(rows(t, "found_x"), i, 0, lane), four(rows(t, "found_q"), i, lane)
    return placed(parts[0], parts[1], parts[2], k, x, matrix_of(q))


@shared
def write_slot(m, s, t, slot, couple, near, k, lane):
    """Feature k of a couple, and what the laws need of it, into a slot."""
    first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
    body, found = rows(m, "collider_body"), rows(t, "found")
    i, j = body[first], body[second]
    rows(t, "pair_contact_body")[slot], rows(t, "pair_contact_other")[slot] = i, j
    rows(t, "pair_contact_pair")[slot] = near
    swap = found[k, SWAP, lane]
    o, p = (j, i) if swap > 0.5 else (i, j)
    sizes, later = rows(m, "collider_size"), found[k, LATER, lane] > 0.5
    x_o, q_o = pose(t, o, later, lane)
    x_p, q_p = pose(t, p, later, lane)
    R_o, R_p = matrix_of(q_o), matrix_of(q_p)
    core = back(R_o, sub(three_of(found, k, OWNER, lane), x_o))
    base = back(R_p, sub(three_of(found, k, PARTNER, lane), x_p))
    way = back(R_p, three_of(found, k, PARTNER_WAY, lane))
    mine = back(R_o, three_of(found, k, OWNER_WAY, lane))
    feature = rows(t, "touch_feature")
    for d in range(3):
        feature[slot, d, lane], feature[slot, 3 + d, lane] = core[d], base[d]
        feature[slot, 6 + d, lane], feature[slot, 9 + d, lane] = way[d], mine[d]
    rows(t, "touch_code")[slot, 0, lane] = found[k, CODE, lane]
    rows(t, "touch_swap")[slot, 0, lane] = swap
    rows(t, "touch_present")[slot, 0, lane] = 1.0
    rows(t, "touch_radius")[slot, 0, lane] = sizes[first, 3, 0] + sizes[second, 3, 0]
    rows(t, "touch_rim")[slot, 0, lane] = sizes[second if swap > 0.5 else first, 3, 0]
    rows(t, "touch_key")[slot, 0, lane] = 1.0 + KEYS * couple + found[k, KEY, lane]
    weigh(m, s, t, slot, i, j, lane)
    rubbing, soft, hard = rows(s, "collider_friction"), rows(s, "collider_compliance"), rows(s, "collider_damping")
    rows(t, "kept_friction")[slot, 0, lane] = (rubbing[first, 0, lane] * rubbing[second, 0, lane]) ** 0.5
    give = soft[first, 0, lane] + soft[second, 0, lane]
    rows(t, "kept_compliance")[slot, 0, lane] = give
    rows(t, "kept_contact_damping")[slot, 0, lane] = max(hard[first, 0, lane], hard[second, 0, lane])


@shared
def pose(t, i, later, lane):
    """Pose of body i now, or where the last solution led."""
    if later:
        return three(rows(t, "found_x"), i, 0, lane), four(rows(t, "found_q"), i, lane)
    return three(rows(t, "x"), i, 0, lane), four(rows(t, "q"), i, lane)


@shared
def three_of(found, k, column, lane):
    """Three numbers of a feature."""
    return (found[k, column, lane], found[k, column + 1, lane], found[k, column + 2, lane])


@shared
def weigh(m, s, t, slot, i, j, lane):
    """Usual sizes of a contact between bodies i and j (or the world): those of the lighter one."""
    mass, usual, nominal, n = rows(s, "mass"), rows(m, "usual"), rows(m, "nominal_mass"), rows(m, "n_bodies")[0]
    light = i if j == n or mass[i, 0, lane] <= mass[j, 0, lane] else j
    rows(t, "touch_mass")[slot, 0, lane] = mass[light, 0, lane]
    rows(t, "touch_heft")[slot, 0, lane] = mass[light, 0, lane] / nominal[light, 0, 0]
    rows(t, "pair_contact_force_scale")[slot, 0, lane] = usual[light, 0, 0]
    rows(t, "pair_contact_acceleration")[slot, 0, lane] = usual[light, 1, 0]
    rows(t, "pair_contact_weight")[slot, 0, lane] = usual[light, 3, 0]
    rows(t, "pair_joined_weight")[slot, 0, lane] = usual[light, 4, 0]
    rows(t, "pair_joined_mass")[slot, 0, lane] = usual[light, 5, 0]
    rows(t, "pair_sags")[slot, 0, lane] = max(rows(m, "wedged")[i, 0, 0], rows(m, "wedged")[j, 0, 0])


@shared
def recall(s, t, slot, start, lane):
    """What the contact of a slot carried in the last step; `start` is where to look for it. Returns where to look for
    those of the next couple."""
    keys, key = rows(s, "memory_key"), rows(t, "touch_key")[slot, 0, lane]
    couple = (key - 1.0) // KEYS
    while keys[start, 0, lane] > 0.0 and (keys[start, 0, lane] - 1.0) // KEYS < couple:
        start += 1
    k = start
    while keys[k, 0, lane] > 0.0 and (keys[k, 0, lane] - 1.0) // KEYS == couple and keys[k, 0, lane] != key:
        k += 1
    known = keys[k, 0, lane] == key
    rows(t, "touch_new")[slot, 0, lane] = 0.0 if known else 1.0
    a, b, impulse = rows(t, "kept_ca"), rows(t, "kept_cb"), rows(t, "kept_impulse")
    old_a, old_b, old = rows(s, "memory_ca"), rows(s, "memory_cb"), rows(s, "memory_impulse")
    for d in range(a.shape[1]):
        a[slot, d, lane] = old_a[k, d, lane] if known else 0.0
        b[slot, d, lane] = old_b[k, d, lane] if known else 0.0
    for d in range(3):
        impulse[slot, d, lane] = old[k, d, lane] if known else 0.0
    return start


@shared
def find_contacts(m, s, t, group):
    """Find the contacts between the bodies of a lane group, before a step is solved."""
    lanes = rows(t, "h").shape[2]
    live = rows(t, "live")
    for lane in range(lanes):
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
        start = 0
        for slot in range(slots):
            if rows(t, "touch_present")[slot, 0, lane] > 0.5:
                start = recall(s, t, slot, start, lane)
    links.order(m, s, t, group)


@shared
def leave_out(m, s, t, slot, couple, near, lane):
    """Numbers that do no harm, in a slot that this lane does not need."""
    i = rows(m, "collider_body")[rows(m, "couple_first")[couple]]
    j = rows(m, "collider_body")[rows(m, "couple_second")[couple]]
    rows(t, "pair_contact_body")[slot], rows(t, "pair_contact_other")[slot] = i, j
    rows(t, "pair_contact_pair")[slot] = near
    feature = rows(t, "touch_feature")
    for d in range(12):
        feature[slot, d, lane] = 0.0
    feature[slot, 8, lane] = 1.0
    rows(t, "touch_code")[slot, 0, lane] = manifold.FACE
    rows(t, "touch_swap")[slot, 0, lane] = 0.0
    rows(t, "touch_present")[slot, 0, lane] = 0.0
    rows(t, "touch_new")[slot, 0, lane] = 1.0
    rows(t, "touch_radius")[slot, 0, lane] = 0.0
    rows(t, "touch_rim")[slot, 0, lane] = 0.0
    rows(t, "touch_key")[slot, 0, lane] = 0.0
    rows(t, "kept_friction")[slot, 0, lane] = 0.0
    rows(t, "kept_compliance")[slot, 0, lane] = 0.0
    rows(t, "kept_contact_damping")[slot, 0, lane] = 0.0
    weigh(m, s, t, slot, i, j, lane)
    a, b = rows(t, "kept_ca"), rows(t, "kept_cb")
    for d in range(a.shape[1]):
        a[slot, d, lane] = b[slot, d, lane] = 1.0
    for d in range(3):
        rows(t, "kept_impulse")[slot, d, lane] = 0.0


@shared
def review_contacts(m, s, t, group):
    """Look for bodies that went too far, or into each other, in the step that was found."""
    lanes, good = rows(t, "h").shape[2], rows(t, "good")
    missed, pierced = rows(t, "missed"), rows(t, "pierced")
    V, reach, assumed, farther = rows(t, "V"), rows(m, "reach"), rows(t, "assumed"), rows(t, "farther")
    body, kind = rows(m, "collider_body"), rows(m, "collider_kind")
    for lane in range(lanes):
        missed[0, 0, lane] = pierced[0, 0, lane] = 0.0
        if good[0, 0, lane] < 0.5:
            continue
        h = rows(t, "h")[0, 0, lane]
        for i in range(rows(m, "n_bodies")[0]):
            way = h * (length(three(V, i, 0, lane)) + reach[i, 0, 0] * length(three(V, i, 3, lane)))
            if way > assumed[i, 0, lane] and reach[i, 1, 0] > 0.0:
                missed[0, 0, lane], farther[i, 0, lane] = 1.0, 2.0 * way
        for near in range(rows(t, "n_near")[0]):
            couple = rows(t, "near_couple")[near]
            first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
            if missed[0, 0, lane] < 0.5 and is_near(m, t, couple, lane):
                a, b = there(m, t, first, body[first], lane), there(m, t, second, body[second], lane)
                size = min(1.0, max(rows(m, "collider_bound")[first, 0, 0], rows(m, "collider_bound")[second, 0, 0]))
                if kind[first] != PLANE and kind[second] == PLANE:
                    size = min(1.0, rows(m, "collider_bound")[first, 0, 0])
                room = 0.0
                if kind[first] == BOX and kind[second] == BOX:
                    room = distance.boxes_parted(a, b)
                else:
                    room = distance.solids(kind[first], a, kind[second], b)
                soft = rows(s, "collider_compliance")
                if room < -OVERLAP * size and soft[first, 0, lane] + soft[second, 0, lane] == 0.0:
                    pierced[0, 0, lane] = 1.0
        if missed[0, 0, lane] > 0.5 or pierced[0, 0, lane] > 0.5:
            good[0, 0, lane] = 0.0
            xn, qn, x, q = rows(t, "xn"), rows(t, "qn"), rows(t, "found_x"), rows(t, "found_q")
            for i in range(rows(m, "n_bodies")[0] + 1):
                for d in range(3):
                    x[i, d, lane] = xn[i, d, lane]
                for d in range(4):
                    q[i, d, lane] = qn[i, d, lane]


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


@shared
def keep(s, t, slot, k, lane):
    """Remember a slot as contact k of the lane."""
    rows(s, "memory_key")[k, 0, lane] = rows(t, "touch_key")[slot, 0, lane]
    a, b = rows(s, "memory_ca"), rows(s, "memory_cb")
    for d in range(a.shape[1]):
        a[k, d, lane], b[k, d, lane] = rows(t, "kept_ca")[slot, d, lane], rows(t, "kept_cb")[slot, d, lane]
    i = rows(t, "pair_contact_body")[slot]
    x, axes = rows(t, "x"), rows(t, "touch_axes")
    for d in range(3):
        rows(s, "memory_impulse")[k, d, lane] = rows(t, "kept_impulse")[slot, d, lane]
        rows(s, "memory_normal")[k, d, lane] = axes[slot, d, lane]
        rows(s, "memory_point")[k, d, lane] = x[i, d, lane] + rows(t, "touch_core0")[slot, d, lane]
    rows(s, "memory_gap")[k, 0, lane] = rows(t, "touch_gap")[slot, 0, lane]


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
