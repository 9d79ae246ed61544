"""Slots of contacts between bodies: written when a contact is found, recalled and remembered by its key."""

from vigym.engine.kernels.collision import manifold
from vigym.engine.kernels.collision.manifold import (
    CODE,
    FIRM,
    KEY,
    KEYS,
    OWNER,
    OWNER_RADIUS,
    OWNER_WAY,
    PARTNER,
    PARTNER_RADIUS,
    PARTNER_WAY,
    SWAP,
    WHEN,
)
from vigym.engine.kernels.collision.poses import matrix_of, pose
from vigym.engine.kernels.collision.space import sub
from vigym.engine.kernels.collision.space import turn_back as back
from vigym.engine.kernels.simd import rows, shared

THROUGH = 0.01  # of the usual force of a third body: a light one may lie between a heavy one and the ground


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
    when = found[k, WHEN, lane]
    x_o, q_o = pose(m, t, o, when, lane)
    x_p, q_p = pose(m, t, p, when, lane)
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
    rows(t, "touch_radius")[slot, 0, lane] = found[k, OWNER_RADIUS, lane] + found[k, PARTNER_RADIUS, lane]
    rows(t, "touch_rim")[slot, 0, lane] = found[k, OWNER_RADIUS, lane]
    rows(t, "touch_firm")[slot, 0, lane] = found[k, FIRM, lane]
    rows(t, "touch_key")[slot, 0, lane] = 1.0 + KEYS * couple + found[k, KEY, lane]
    weigh(m, s, t, slot, i, j, lane)
    give_law(m, s, t, slot, couple, lane)


@shared
def give_law(m, s, t, slot, couple, lane):
    """Friction, restitution, compliance and damping of a couple."""
    first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
    rubbing, slow = rows(s, "collider_friction"), rows(s, "collider_damping")
    friction = (rubbing[first, 0, lane] * rubbing[second, 0, lane]) ** 0.5
    damping, give = max(slow[first, 0, lane], slow[second, 0, lane]), compliance_of(m, s, couple, lane)
    rows(t, "kept_friction")[slot, 0, lane] = own_or(rows(m, "couple_friction")[couple, 0, 0], friction)
    rows(t, "kept_compliance")[slot, 0, lane] = give
    rows(t, "kept_contact_damping")[slot, 0, lane] = own_or(rows(m, "couple_damping")[couple, 0, 0], damping)
    if rows(m, "bounces")[0]:
        bouncing = rows(s, "collider_restitution")
        larger = max(bouncing[first, 0, lane], bouncing[second, 0, lane])
        own = own_or(rows(m, "couple_restitution")[couple, 0, 0], larger)
        rows(t, "kept_restitution")[slot, 0, lane] = own if give == 0.0 else 0.0


@shared
def own_or(own, rule):
    """A couple's own number, or what the rule for its colliders gives where it has none (a negative one)."""
    return rule if own < 0.0 else own


@shared
def compliance_of(m, s, couple, lane):
    """Compliance of a couple, m/N; 0 is hard."""
    first, second = rows(m, "couple_first")[couple], rows(m, "couple_second")[couple]
    soft = rows(s, "collider_compliance")
    return own_or(rows(m, "couple_compliance")[couple, 0, 0], soft[first, 0, lane] + soft[second, 0, lane])


@shared
def three_of(found, k, column, lane):
    """Three numbers of a feature."""
    return (found[k, column, lane], found[k, column + 1, lane], found[k, column + 2, lane])


@shared
def weigh(m, s, t, slot, i, j, lane):
    """Usual sizes of a contact between bodies i and j (or the world): those of the lighter one, which may have to carry
    the heavier one, and, through it, others."""
    mass, usual, nominal, n = rows(s, "mass"), rows(m, "usual"), rows(m, "nominal_mass"), rows(m, "n_bodies")[0]
    light = i if j == n or mass[i, 0, lane] <= mass[j, 0, lane] else j
    heavy = i if j == n or mass[i, 0, lane] >= mass[j, 0, lane] else j
    heft = rows(s, "heft")[light, 0, lane]
    rows(t, "touch_mass")[slot, 0, lane] = mass[light, 0, lane]
    rows(t, "touch_heft")[slot, 0, lane] = heft
    most = usual[heavy, 0, 0] * rows(s, "heft")[heavy, 0, lane]
    for k in range(n):
        most = max(most, THROUGH * usual[k, 0, 0] * rows(s, "heft")[k, 0, lane])
    rows(t, "pair_contact_force_scale")[slot, 0, lane] = most / heft
    rows(t, "pair_contact_acceleration")[slot, 0, lane] = usual[light, 1, 0]
    own = mass[light, 0, lane] / nominal[light, 0, 0]
    rows(t, "pair_contact_weight")[slot, 0, lane] = usual[light, 3, 0] * (own / heft)
    rows(t, "pair_joined_weight")[slot, 0, lane] = usual[light, 4, 0]
    rows(t, "pair_joined_mass")[slot, 0, lane] = usual[light, 5, 0]
    rows(t, "pair_sags")[slot, 0, lane] = max(rows(m, "wedged")[i, 0, 0], rows(m, "wedged")[j, 0, 0])


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
    rows(t, "touch_firm")[slot, 0, lane] = 0.0
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
    if rows(m, "bounces")[0]:
        rows(t, "kept_restitution")[slot, 0, lane] = 0.0
        forget_impact(t, slot, lane)


@shared
def forget_impact(t, slot, lane):
    """No impact, and nothing that an earlier phase of one has found."""
    rows(t, "kept_struck")[slot, 0, lane] = rows(t, "kept_came")[slot, 0, lane] = 0.0
    forces = rows(t, "kept_settled_ca"), rows(t, "kept_steady_ca")
    gaps = rows(t, "kept_settled_cb"), rows(t, "kept_steady_cb")
    for d in range(forces[0].shape[1]):
        forces[0][slot, d, lane] = forces[1][slot, d, lane] = gaps[0][slot, d, lane] = gaps[1][slot, d, lane] = 0.0


@shared
def recall_impact(s, t, slot, k, known, lane):
    """Recall the impact of contact k of the memory, if it is `known`, and what earlier phases of it have found."""
    forget_impact(t, slot, lane)
    if known and rows(s, "fresh")[0, 0, lane] < 0.5:
        rows(t, "kept_struck")[slot, 0, lane] = rows(s, "memory_struck")[k, 0, lane]
        rows(t, "kept_came")[slot, 0, lane] = rows(s, "memory_came")[k, 0, lane]
    if rows(t, "phase")[0, 0, lane] < 0.5:
        return
    keys, key, place = rows(t, "phase_key"), rows(t, "touch_key")[slot, 0, lane], 0
    while keys[place, 0, lane] > 0.0 and keys[place, 0, lane] != key:
        place += 1
    if keys[place, 0, lane] == key:
        copy_phases(t, slot, place, lane, True)


@shared
def copy_phases(t, slot, place, lane, back):
    """Copy what the phases of an impact have found of a slot to its place in the list, or back."""
    copy_block(rows(t, "kept_settled_ca"), slot, rows(t, "phase_settled_ca"), place, lane, back)
    copy_block(rows(t, "kept_settled_cb"), slot, rows(t, "phase_settled_cb"), place, lane, back)
    copy_block(rows(t, "kept_steady_ca"), slot, rows(t, "phase_steady_ca"), place, lane, back)
    copy_block(rows(t, "kept_steady_cb"), slot, rows(t, "phase_steady_cb"), place, lane, back)


@shared
def copy_block(one, i, other, j, lane, back):
    """Copy block i of one field to block j of the other, or back."""
    for d in range(one.shape[1]):
        if back:
            one[i, d, lane] = other[j, d, lane]
        else:
            other[j, d, lane] = one[i, d, lane]


@shared
def keep_phases(t, lane):
    """Keep what the phases of an impact have found so far, by key, in a lane that goes on to the next one."""
    keys, place = rows(t, "phase_key"), 0
    for slot in range(rows(t, "n_slots")[0]):
        if rows(t, "touch_present")[slot, 0, lane] > 0.5:
            keys[place, 0, lane] = rows(t, "touch_key")[slot, 0, lane]
            copy_phases(t, slot, place, lane, False)
            place += 1
    keys[place, 0, lane] = 0.0


@shared
def recall(m, s, t, slot, start, lane):
    """Recall what the contact of a slot carried in the last step, looking from `start` on. Return where to look for
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
    if rows(m, "bounces")[0]:
        recall_impact(s, t, slot, k, known, lane)
    return start


@shared
def keep(m, s, t, slot, k, lane):
    """Remember a slot as contact k of the lane."""
    rows(s, "memory_key")[k, 0, lane] = rows(t, "touch_key")[slot, 0, lane]
    copy_block(rows(t, "kept_ca"), slot, rows(s, "memory_ca"), k, lane, False)
    copy_block(rows(t, "kept_cb"), slot, rows(s, "memory_cb"), k, lane, False)
    copy_block(rows(t, "kept_impulse"), slot, rows(s, "memory_impulse"), k, lane, False)
    copy_block(rows(t, "touch_gap"), slot, rows(s, "memory_gap"), k, lane, False)
    copy_block(rows(t, "touch_feature"), slot, rows(s, "memory_feature"), k, lane, False)
    copy_block(rows(t, "touch_code"), slot, rows(s, "memory_code"), k, lane, False)
    copy_block(rows(t, "touch_swap"), slot, rows(s, "memory_swap"), k, lane, False)
    copy_block(rows(t, "touch_radius"), slot, rows(s, "memory_radius"), k, lane, False)
    copy_block(rows(t, "touch_rim"), slot, rows(s, "memory_rim"), k, lane, False)
    copy_block(rows(t, "touch_firm"), slot, rows(s, "memory_firm"), k, lane, False)
    seen = rows(t, "touch_seen")
    for d in range(3):
        rows(s, "memory_point")[k, d, lane] = seen[slot, d, lane]
        rows(s, "memory_normal")[k, d, lane] = seen[slot, 3 + d, lane]
    if rows(m, "bounces")[0]:
        rows(s, "memory_struck")[k, 0, lane] = rows(t, "kept_struck")[slot, 0, lane]
        rows(s, "memory_came")[k, 0, lane] = rows(t, "kept_came")[slot, 0, lane]
        rows(s, "memory_due")[k, 0, lane] = rows(t, "kept_due")[slot, 0, lane]
        copy_block(rows(t, "kept_settled_ca"), slot, rows(s, "memory_settled_ca"), k, lane, False)
        copy_block(rows(t, "kept_settled_cb"), slot, rows(s, "memory_settled_cb"), k, lane, False)
        copy_block(rows(t, "kept_steady_ca"), slot, rows(s, "memory_steady_ca"), k, lane, False)
        copy_block(rows(t, "kept_steady_cb"), slot, rows(s, "memory_steady_cb"), k, lane, False)
