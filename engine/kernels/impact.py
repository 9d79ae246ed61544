"""Restitution: Poisson's law in two steps, and a guard that lets no impact create energy.

Compression. One step brings a contact to the ground; it ends there, but mostly still moves down. What the ground gave
it in that step is kept (`struck`, N s). The next step starts at the ground. It is solved up to four times:

    ordinary   as it stands, which ends the compression: the impulse `settled` of every contact, and velocities V0
    steady     from the same pose with V0: the force that each contact carries without any impact, because of weights,
               drives and applied forces. What remains is due to the impact,
                   impact = struck + settled - (h0 + h) force,   h0 the length of the step before
    rebound    as it stands, but every struck contact has, beside the force that complementarity finds, a known impulse
                   h given = settled + factor kick,   kick = e impact                                      (Poisson)
               and friction up to cf times both
    plain      as it stands, where one of these could not be solved

so that a ball leaves with e times the speed with which it came, whatever its weight. What comes more slowly than steady
forces move it in SLOW steps does not bounce, or nothing would ever come to rest.

Guard. Neither Newton's law of restitution nor Poisson's is safe: with friction, or with different e, both can create
energy. A group is all that joints connect, and contacts between bodies (collision/groups.py); the world connects
nothing. What a group may have (`budget`) is its kinetic
energy before the impact, and the work since then of all forces but those of hard contacts. If it would have more, its
`factor` is lowered from 1 and the step solved again. Kinetic energy is about quadratic in the factor, without slope at
0, where what is pressed does not move; this tells how much lower at first. If that was not enough, the factor is
lowered as if the energy was linear in it, which is enough wherever it is convex. After TRIES the factor is 0, and the
contacts of the group are as without restitution.

Lanes are in different phases side by side; one without struck contacts knows the first only.
"""

from typing import NamedTuple

from vigym.engine.kernels import between, body, cone, contact, joint
from vigym.engine.kernels.quaternion import add, cross, dot, mat, matvec, scale, store, sub, sum_of, vec
from vigym.engine.kernels.simd import block, less, maximum, on, select, sqrt
from vigym.engine.kernels.sweep import (
    BETWEEN,
    each_axis,
    each_body,
    each_contact,
    each_ground_contact,
    each_joint,
    each_limited_axis,
)

SLOW = 2.0  # an impact below so many steps of steady acceleration does not bounce
NOISE = 10.0  # nor one that moves by less than so many times the accuracy of gaps in a step
CLOSE = 1e-7  # part of an impact by which forces or gaps may be off in the steady phase
GAIN = 1e-9  # of its kinetic energy that a group may gain, for rounding
TRIES = 5.0  # of the factor
MARGIN = 0.01  # of what the factor is lowered by at first, taken off it in addition
ORDINARY, STEADY, REBOUND, PLAIN = 0.0, 1.0, 2.0, 3.0


class Phase(NamedTuple):
    """A solve on whose unknowns a rebound depends, and the prefix of the fields that keep them."""

    number: float
    prefix: str


SOLVES = Phase(ORDINARY, "settled"), Phase(STEADY, "steady"), Phase(REBOUND, "")


def at(t, phase):
    """The lanes in a phase."""
    return less(phase - 0.5, t.phase) & less(t.phase, phase + 0.5)


def group_of(m, c):
    """The group of a contact."""
    return m.group[m.contact_body[c]]


@block
def begin_impacts(m, s, t):
    """Every step begins with the first phase."""
    t.again = 0.0
    t.phase = ORDINARY


@block
def find_impacts(m, s, t):
    """Impacts of which a rebound is due, by groups that joints connect."""
    t.due = 0.0
    clear_due(m, s, t)
    know_contact(m, s, t)


@block
def start_rebound(m, s, t):
    """Change what the phase of each lane asks for in a step that is ready to be solved."""
    compare_contact(m, s, t)
    carry_body(m, s, t)
    if m.features.armature:
        carry_axis(m, s, t)


@each_body
def clear_due(m, s, t, i):
    t.group_due[i][0] = t.group_impact[i][0] = t.group_impact[i][1] = 0.0


@each_contact
def know_contact(kind, m, s, t, c):
    """Note if the contact was struck, and the normal force that it is given beside its pairs, N. If friction is relaxed
    in the steady phase, its first bound is none: forces of the impact say nothing about steady ones."""
    g = group_of(m, c)
    t.grip[c][0] = select(at(t, STEADY) & less(t.relax, 1.5), 0.0, t.grip[c][0])
    struck = select(less(0.0, s.struck[c][0]), 1.0, 0.0)
    t.due = maximum(struck, t.due)
    for k, size in enumerate(impact_sizes(s, t, c)):
        t.group_impact[g][k] = maximum(size, t.group_impact[g][k])
    t.group_due[g][0] = maximum(struck, t.group_due[g][0])
    part = s.factor[g][0] * kick(m, s, t, c)
    given = load(m, s, t, "settled", c) + part / t.h
    t.given[c][0] = select(at(t, REBOUND) & less(0.0, part), given, 0.0)


def impact_sizes(s, t, c):
    """Distance that a struck contact would have come in a step, m, and the force that struck it, N; 0 for others."""
    struck = less(0.0, s.struck[c][0])
    return select(struck, t.h * s.came[c][0], 0.0), s.struck[c][0] / s.h0


@each_contact
def compare_contact(kind, m, s, t, c):
    """Compare how closely pairs are solved in the steady phase.

    Without weight there is neither force nor gap, and nothing to compare them with but the impact (`impact_sizes`): of
    contacts that were not struck, the largest one of their group. Of gap / way and force / blow, the smaller one is an
    error. It is at most twice product / (way force + blow gap), by which the product is judged (contact.product_unit).
    """
    blur = maximum(CLOSE / m.tolerance, 1.0) * m.strictness * contact.per_length(m, t, c)
    struck, largest = less(0.0, s.struck[c][0]), vec(t.group_impact[group_of(m, c)])
    for k, size in enumerate(impact_sizes(s, t, c)):
        t.ample[c][k] = select(at(t, STEADY), blur * select(struck, size, largest[k]), 0.0)


def load(m, s, t, prefix, c):
    """Normal force of a contact in an earlier phase, N.

    The solver leaves force and gap as a small product. By what would close the gap, the force is too large: where
    nothing presses, this is all of it."""
    force, gap = (getattr(s, f"{prefix}_{name}")[c][cone.NORMAL] for name in ("ca", "cb"))
    return maximum(force - contact.inertia(m, s, t, c) * gap, 0.0)


def kick(m, s, t, c):
    """Impulse of the rebound, e times that of the impact; 0 for a contact that was not struck, or too slowly, N s."""
    struck, h, steady = s.struck[c][0], t.h, load(m, s, t, "steady", c)
    impact = struck + h * load(m, s, t, "settled", c) - (s.h0 + h) * steady
    return select(less(0.0, struck) & less(SLOW * h * steady, impact), s.restitution[c][0] * impact, 0.0)


@each_body
def carry_body(m, s, t, i):
    """Take the momentum of V0 in the steady phase, not that with which the last step ended; V0 as first guess."""
    steady, later = at(t, STEADY), at(t, STEADY) | at(t, REBOUND)
    mass, J, V0, known = s.mass[i][0], body.symmetric(vec(t.J[i])), vec(s.settled_V[i]), vec(t.known[i])
    last = body.momentum(t.h, s.h0, mass, J, *body.velocity(t, i))
    new = body.momentum(t.h, t.h, mass, J, V0[:3], V0[3:])
    for k in range(6):
        t.known[i][k] = select(steady, known[k] + (last[k] - new[k]), known[k])
        t.V[i][k] = select(later, V0[k], t.V[i][k])


@each_axis
def carry_axis(m, s, t, a):
    """Begin the steady phase of rotors, too, with the rate of V0."""
    t.rate0[a][0] = select(at(t, STEADY), s.settled_rate[a][0], t.rate0[a][0])


@block
def sum_energies(m, s, t):
    """After an attempt: energies of the groups that joints connect."""
    clear_review(m, s, t)
    sum_energy(m, s, t)
    sum_work(m, s, t)
    if m.features.soft:
        sum_soft(m, s, t)


def whole(m, s, t, name, i):
    """Sum over a group, contacts between bodies included: energy, energy0, work or budget."""
    if m.features.touches:
        return getattr(t, f"whole_{name}")[i][0] + 0.0
    parts = {"energy": t.energy, "energy0": t.energy0, "work": t.group_work, "budget": s.budget}
    return parts[name][i][0] + 0.0


@block
def review_rebound(m, s, t):
    """Keep what the next phase needs of an attempt. Lanes that go on to another one are not `good` yet."""
    t.kicked = t.excess = 0.0
    keep_body(m, s, t)
    keep_joint(m, s, t)
    keep_contact(m, s, t)
    keep_axis(m, s, t)
    if m.features.armature:
        keep_rate(m, s, t)
    review_group(m, s, t)
    turn(m, s, t)
    strike_contact(m, s, t)
    budget_group(m, s, t)


@each_body
def clear_review(m, s, t, i):
    t.energy[i][0] = t.energy0[i][0] = t.group_work[i][0] = 0.0


@each_body
def sum_energy(m, s, t, i):
    """Energy of each group: kinetic before and after the step, work of weights and of what is applied to bodies.

    Forces act with the mean of the velocities before and after, which is what keeps the energy in free fall."""
    g, mass, J, R = m.group[i], s.mass[i][0], body.symmetric(vec(t.J[i])), mat(t.R[i])
    v0, om0 = vec(s.v[i]), matvec(R, vec(s.w[i]))
    v, om = body.velocity(t, i)
    moved = vec(t.moved[i])
    force = add(scale(mass, vec(m.gravity[0])), vec(s.force[i]))
    torque = matvec(R, vec(s.torque[i]))
    if m.features.touches:
        pull = add(vec(m.gravity[0]), scale(1.0 / mass, vec(s.force[i])))
        store(t.before[i], [*v0, *om0, *pull])
    t.energy0[g][0] = t.energy0[g][0] + body.kinetic(mass, J, v0, om0)
    t.energy[g][0] = t.energy[g][0] + body.kinetic(mass, J, v, om)
    t.group_work[g][0] = t.group_work[g][0] + (dot(force, moved[:3]) + dot(torque, moved[3:]))


@each_joint
def sum_work(kind, m, s, t, i):
    """The work of springs, dampers, drives and limits: of the wrench along what the joint leaves free."""
    if joint.is_floating(kind):
        return
    (kt, kr, _), child, parent = joint.free(kind), m.child[i], m.parent[i]
    moved, base, wrench = vec(t.moved[child]), vec(t.moved[parent]), vec(t.wrench[i])
    turned = sub(moved[3:], base[3:])
    slid = sub(
        add(moved[:3], cross(moved[3:], vec(t.rho0[i]))),
        add(base[:3], cross(base[3:], vec(t.arm0[i]))),
    )
    axes = mat(t.N[i])
    work = [dot(axes[k], wrench[:3]) * dot(axes[k], slid) for k in range(kt)]
    if kr == 3:
        work.append(dot(wrench[3:], turned))
    else:
        work += [dot(axes[kt + k], wrench[3:]) * dot(axes[kt + k], turned) for k in range(kr)]
    g = m.group[child]
    t.group_work[g][0] = t.group_work[g][0] + sum_of([0.0, *work])


@each_contact
def sum_soft(kind, m, s, t, c):
    """The work of soft contacts."""
    g, moved = group_of(m, c), contact.of_body(kind, m, t, c, t.moved)
    F, force = contact.force_rows(kind, m, t, c), contact.whole_force(m, s, t, c)
    work = dot(contact.wrench(F, force)[:3], moved[:3]) + dot(contact.wrench(F, force)[3:], moved[3:])
    t.group_work[g][0] = t.group_work[g][0] + select(less(0.0, s.compliance[c][0]), work, 0.0)


def keep(s, t, name, i):
    """Keep the unknowns `name` of body, joint, contact or axis i as the first two phases leave them: the rebound
    depends on some, and its derivatives (engine/gradients.py) on all."""
    good, values = on(t.good), vec(getattr(t, name)[i])
    for phase in SOLVES[:2]:
        kept = getattr(s, f"{phase.prefix}_{name}")[i]
        for k, value in enumerate(values):
            kept[k] = select(good & at(t, phase.number), value, kept[k])


@each_body
def keep_body(m, s, t, i):
    keep(s, t, "V", i)


@each_joint
def keep_joint(kind, m, s, t, i):
    keep(s, t, "wrench", i)


@each_contact
def keep_contact(kind, m, s, t, c):
    """And whether there is a kick."""
    keep(s, t, "ca", c)
    keep(s, t, "cb", c)
    t.kicked = select(less(0.0, kick(m, s, t, c)), 1.0, t.kicked)


@each_limited_axis
def keep_axis(m, s, t, a):
    for name in ("la", "lb", "dry"):
        keep(s, t, name, a)


@each_joint
def keep_rate(kind, m, s, t, i):
    """Rates of axes with a law in the first phase."""
    if joint.is_floating(kind) or not joint.free(kind)[2]:
        return
    first = on(t.good) & at(t, ORDINARY)
    for k, change in enumerate(joint.next_coordinates(kind, m, s, t, i)[1]):
        kept = s.settled_rate[m.first_axis[i] + k]
        kept[0] = select(first, change / t.h, kept[0])


@each_body
def review_group(m, s, t, i):
    """Energy without a rebound; with it, a lower factor for a group that has more than it may."""
    good, after = on(t.good), whole(m, s, t, "energy", i)
    energy = after - whole(m, s, t, "work", i)
    plain = good & at(t, ORDINARY)
    least = select(plain, energy, t.settled_energy[i][0])
    t.settled_energy[i][0] = least
    most = maximum(whole(m, s, t, "budget", i), least)
    over = good & at(t, REBOUND) & less(most + GAIN * after, energy) & less(t.tries, TRIES)
    share = maximum(most - least, 0.0) / maximum(energy - least, 1e-300)
    root = sqrt(share)
    lower = select(less(t.tries, 0.5), root * (1.0 - MARGIN * (1.0 - root)), share)
    factor = select(less(t.tries, TRIES - 1.5), lower * s.factor[i][0], 0.0)
    s.factor[i][0] = select(plain, 1.0, select(over, factor, s.factor[i][0]))
    t.excess = select(over, 1.0, t.excess)


@block
def turn(m, s, t):
    """The next phase of each lane; `again` are those that do not end their attempt here."""
    good, trying = on(t.good), less(0.5, t.todo) & (~on(t.another))
    ordinary, steady, rebound = at(t, ORDINARY), at(t, STEADY), at(t, REBOUND)
    settled = ordinary & good & on(t.due)
    kicked = steady & good & on(t.kicked)
    lowered = rebound & good & on(t.excess)
    elsewhere = trying & (~good) & (~on(t.relax))
    given_up = trying & ((steady & (~kicked)) | (rebound & (~good))) & (~elsewhere)
    again = settled | kicked | lowered | given_up
    t.tries = select(lowered, t.tries + 1.0, select(elsewhere | on(t.another), t.tries, 0.0))
    phase = select(settled, STEADY, select(kicked | lowered, REBOUND, select(given_up, PLAIN, t.phase)))
    t.phase = select(good & (~again), ORDINARY, phase)
    s.rebounds = select(good & (~again), select(rebound, 1.0, 0.0), s.rebounds)
    t.again = select(again, 1.0, 0.0)
    t.good = select(again, 0.0, t.good)


def before(kind, m, s, t, c):
    """Velocity (6) of the contact's body before the step, and its acceleration (3) by weight and applied force; of two
    bodies, both relative to the second."""
    if kind == BETWEEN:
        return contact.of_body(kind, m, t, c, t.before), between.difference(m, t, c, t.before)[6:]
    i = m.contact_body[c]
    om0 = matvec(mat(t.R[i]), vec(s.w[i]))
    return [*vec(s.v[i]), *om0], add(vec(m.gravity[0]), scale(1.0 / s.mass[i][0], vec(s.force[i])))


@each_contact
def strike_contact(kind, m, s, t, c):
    """The impulse of a contact that closes in this step, if it is fast enough to bounce, and its speed."""
    good, due = on(t.good), s.struck[c][0]
    row = contact.force_rows(kind, m, t, c)[0]
    velocity, acceleration = before(kind, m, s, t, c)
    approach = -1.0 * (dot(row[:3], velocity[:3]) + dot(row[3:], velocity[3:]))
    pull = -1.0 * dot(row[:3], acceleration)
    slow = maximum(SLOW * t.h * pull, 0.0) + NOISE * m.accuracy / (t.h * contact.per_length(m, t, c))
    # what a rebound throws down comes as fast as what stops it says
    thrown = t.h * t.ca[c][cone.NORMAL] / contact.least_mass(m, s, t, c)
    approach = maximum(approach, select(on(s.rebounds), thrown, 0.0))
    lands = contact.pressed(m, s, t, c, vec(t.ca[c]), vec(t.cb[c])) & less(slow, approach)
    lay = contact.pressed(m, s, t, c, vec(s.ca[c]), vec(s.cb[c])) & (~on(s.fresh))
    if kind == BETWEEN:  # for derivatives; contacts with the ground have `old_struck`
        s.due[c][0] = due
    new = lands & (on(s.rebounds) | ((~lay) & (~less(0.0, due)))) & less(0.0, s.restitution[c][0])
    s.struck[c][0] = select(good, select(new, t.h * t.ca[c][cone.NORMAL], 0.0), due)
    s.came[c][0] = select(good & new, approach, s.came[c][0])


@each_body
def budget_group(m, s, t, i):
    """Energy that a group may have after a rebound: that before the impact, and the work since then. Each part of it
    that joints connect keeps its share."""
    earlier = less(whole(m, s, t, "energy0", i), whole(m, s, t, "budget", i)) & on(t.group_due[i][0])
    budget = select(earlier, s.budget[i][0], t.energy0[i][0]) + t.group_work[i][0]
    s.budget[i][0] = select(on(t.good), budget, s.budget[i][0])


@each_ground_contact
def remember_impact(kind, m, s, t, c):
    """Keep what was due at the start of a step."""
    s.old_struck[c][0] = s.struck[c][0]


@each_ground_contact
def revert_impact(kind, m, s, t, c):
    """Nothing is due any more in lanes that could not make the step, or they would never get out of it; contacts
    between bodies are forgotten anyway (collision/slots.py)."""
    s.struck[c][0] = select(on(t.lost), 0.0, s.struck[c][0])
