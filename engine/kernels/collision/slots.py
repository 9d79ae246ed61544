"""Slots of contacts between bodies: written when a contact is found, recalled and remembered by its key."""

from vigym.engine.kernels.collision import manifold
from vigym.engine.kernels.collision.manifold import CODE, KEY, KEYS, OWNER, OWNER_WAY, PARTNER, PARTNER_WAY, SWAP, WHEN
from vigym.engine.kernels.collision.poses import matrix_of, pose
from vigym.engine.kernels.collision.space import sub
from vigym.engine.kernels.collision.space import turn_back as back
from vigym.engine.kernels.simd import rows, shared


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
    sizes, when = rows(m, "collider_size"), found[k, WHEN, lane]
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
    heavy = i if j == n or mass[i, 0, lane] >= mass[j, 0, lane] else j
    ratio = nominal[light, 0, 0] / mass[light, 0, lane] * mass[heavy, 0, lane] / nominal[heavy, 0, 0]
    rows(t, "pair_contact_force_scale")[slot, 0, lane] = usual[heavy, 0, 0] * ratio
    rows(t, "pair_contact_acceleration")[slot, 0, lane] = usual[light, 1, 0]
    rows(t, "pair_contact_weight")[slot, 0, lane] = usual[light, 3, 0]
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
