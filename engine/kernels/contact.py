"""A contact: gap, sliding, force, and their condensation, whatever the shapes are (geometry/, between.py).

A kind of geometry tells where the surfaces touch at a pose. From that follow the rows on which all else depends:

    F (3 x 6)   at the current pose: motion of the body's touching point along n, t1, t2; the wrench is F^T force
    M (3 x 6)   at the next pose: d(phi, slip1, slip2) by its change y; phi is the gap there   (paper: eq. contact_comp)
    slip        how far the step moves the touching point along t1, t2, m                      (paper: eq. fric_comp)

Slip is measured over the whole step, so that what sticks stays where it is: the way of the core point (a vertex, the
centre of a sphere), and the rotation vector of the turn times the radius below it:

    slip = t . (h v + core+ - core) + (-radius n x t) . h om

With restitution (impact.py), a contact that rebounds has a normal force `given`, beside the one that complementarity
finds; friction is bounded by both together.

A contact with a compliance K gives way: its gap may be negative, where a spring and a damper d press it out,

    gamma = max(0, -phi(z+)/K - d (phi(z+) - min(phi(z), 0))/h)

which is what a hard contact does with `phi(z+) + give gamma - sunk` in the place of its gap,

    give = K/(1 + K d/h),   sunk = give d/h min(phi(z), 0)

Bodies that overlap already, because a state was set like that, are not thrown apart: the overlap must become less by
PUSHED_OUT lengths a second, which is what a gap of `phi(z+) - sunk` asks for with

    sunk = min(0, phi(z) + PUSHED_OUT length h)

Solids may also be apart and yet below a plane that is to part them at the end of the step: a ball beside an edge, over
which the step leads it. Such a condition is FIRM (collision/manifold.py), and has sunk = 0.

Where joints tie a body to the world and a contact just touches, or where friction holds a body between two walls,
forces are not determined, and nothing bounds them. So that none is invented, such a contact sags a little under its
force: of all forces that would do, one near the least is found. However hard it is pressed, it sags by less than the
accuracy of gaps:

    sag = depth gamma/(load + gamma),   load the weight of all that joints connect

Free bodies on one plane need none of this: their weight bounds all forces.

The pairs of a contact with the ground condense into its body's 6x6: the change of its force is

    d(force) = c - W M y,   W and c from the law's `direction`;   D += F^T W M

Those of contacts between bodies condense into one 6x6 for each pair of bodies, where y is their relative motion
(between.py). They have a slot each, which some lanes may not need (`present`): nothing of it counts there.
"""

from vigym.engine.kernels import between, body, cone, ground, pairs
from vigym.engine.kernels.quaternion import add, dot, mat, matvec_t, scale, store, sub, sum_of, vec
from vigym.engine.kernels.simd import absolute, less, maximum, minimum, on, select
from vigym.engine.kernels.sweep import BETWEEN, Slots, each_contact

NOTHING = [0.0] * 6
TICKS = 256.0  # parts of a step in which time is counted
GAP, CREEP = 0.2, 10.0  # gaps and sliding are measured so many times as closely as joints
# Of what gaps are allowed to miss, a contact sags at most; and of h^2/mass, it gives way to its force
SAG, MOST_GIVE = 0.8, 1e-6
PUSHED_OUT = 1.0  # lengths a second by which bodies part that overlap


def is_between(m):
    """True if a store is seen by contacts between bodies."""
    return isinstance(m, Slots)


def present(kind, t, c, value, other=0.0):
    """value in the lanes that have the contact, else `other`."""
    if kind != BETWEEN:
        return value
    return between.choose(on(t.present[c][0]), value, [other] * len(value) if isinstance(value, list) else other)


def axes(kind, m, t, c):
    """n, t1, t2 at the current pose, along which the force acts."""
    return mat(t.axes[c]) if kind == BETWEEN else ground.axes(kind, m, t, c)


def force_rows(kind, m, t, c):
    """F (3 x 6), as `prepare_contact` left it."""
    return between.force_rows(t, c) if kind == BETWEEN else ground.force_rows(kind, m, t, c)


def motion_rows(kind, m, t, c):
    """M (3 x 6), as `move_contact` left it."""
    return mat(t.rows[c]) if kind == BETWEEN else ground.motion_rows(kind, m, t, c)


def wrench(F, force):
    """Force and torque (6) on the body of a force along (n, t1, t2): F^T force."""
    return [sum_of(F[k][j] * force[k] for k in range(3)) for j in range(6)]


def gap(m, c, found):
    """The gap, or one that never closes if the body cannot move: nothing could push it out of the ground."""
    return found + m.clearance[c][0] if m.features.held and not is_between(m) else found


def per_length(m, t, c):
    """1/length by which gaps are judged: of two bodies, that of the smaller one."""
    return between.most(m, t, c, t.per_length) if is_between(m) else t.per_length[m.contact_body[c]][0] + 0.0


def heft(m, s, t, c):
    """Present mass over that with which the usual sizes were found, of all that joints connect with the body: a light
    part carries what leans on it."""
    return t.heft[c][0] if is_between(m) else s.heft[m.contact_body[c]][0] + 0.0


def weight(m, s, t, c):
    """Weight of the contact's body alone, of two the lighter one, N."""
    own = t.heft[c][0] if is_between(m) else body.heft(m, s, m.contact_body[c])
    return own * m.contact_weight[c][0]


def push(kind, m, t, c, wrench):
    """Take a wrench on the contact's body, and its opposite on the other one, from the residuals."""
    if kind == BETWEEN:
        between.push(m, t, c, wrench)
    else:
        i = m.contact_body[c]
        store(t.r[i], sub(vec(t.r[i]), wrench))


def coefficients(m, s, t, c):
    """Coefficients of the rows of a law: whether there is friction, cf (0 while `grip` takes its place), `give`, by how
    much the contact gives way to its normal force, m/N, and `lend`, see lending.py (None where that never happens)."""
    cf = s.friction[c][0]
    give = t.give[c][0] if m.features.soft else 0.0
    give = give + sag(m, s, t, c)[1] if m.features.sags else give
    lend = select(on(t.lending), cf, 0.0) if m.features.lends else None
    return roughness(s, c), select(on(t.relax), 0.0, cf), give, lend


def sag(m, s, t, c):
    """Sag of a contact, m, and its slope by the force, m/N.

    It is a spring far stiffer than the inertia of what it carries, too, however short the step is."""
    gamma = t.ca[c][cone.NORMAL]
    depth = m.sags[c][0] * SAG * m.accuracy / (GAP * per_length(m, t, c))
    load = maximum(m.joined_weight[c][0], depth * m.joined_mass[c][0] * t.rate * t.rate / MOST_GIVE)
    force = heft(m, s, t, c) * load + gamma
    part = gamma / force
    return depth * part, depth * (1.0 - part) / force


def roughness(s, c):
    """1 for a contact with friction, else 0."""
    return select(less(0.0, s.friction[c][0]), 1.0, 0.0)


def scales(m, t, c):
    """Usual sizes of the pairs: what the contact carried in the last step, and how far things fall in a step."""
    return cone.of(m).scales(t.usual_force[c][0], m.contact_acceleration[c][0] * t.h * t.h)


def usual(m, t, c):
    """Usual size of a product of the pairs, N m."""
    return t.usual_force[c][0] * m.contact_acceleration[c][0] * t.h * t.h


def share(m, t, c):
    """1/usual"""
    return t.rate * t.rate / (t.usual_force[c][0] * m.contact_acceleration[c][0])


def unit(m, t, c, gamma):
    """Force by which errors of the contact are judged, N: what acts on the body, and what the contact carries."""
    return (between.least(m, t, c, t.unit) if is_between(m) else t.unit[m.contact_body[c]][0]) + gamma


def product_unit(m, t, c, a, b):
    """Force by which products are judged, N: beside an impact, more than the unit, see impact.compare_contact."""
    force = unit(m, t, c, a[cone.NORMAL])
    if not m.features.bounce:
        return force
    way, blow = vec(t.ample[c])
    return force + (way * a[cone.NORMAL] + blow * b[cone.NORMAL])


def stopping(m, t, c):
    """Values at which the products of the contact stop, N m."""
    force = product_unit(m, t, c, vec(t.ca[c]), vec(t.cb[c]))
    return pairs.stop(m, force / (m.strictness * per_length(m, t, c)))


def whole_force(m, s, t, c):
    """Force along (n, t1, t2): of the pairs, and what a rebound gives beside them."""
    force = cone.of(m).force(roughness(s, c), vec(t.ca[c]))
    force = [force[0] + t.given[c][0], *force[1:]] if m.features.bounce else force
    return present(BETWEEN, t, c, force) if is_between(m) else force


def pressed(m, s, t, c, a, b):
    """True where the normal force of a contact with the numbers a, b is more than what would close its gap."""
    return less(b[cone.NORMAL] * inertia(m, s, t, c), a[cone.NORMAL])


def least_mass(m, s, t, c):
    """Mass of the contact's body, of two the lighter one, kg."""
    return t.mass[c][0] if is_between(m) else s.mass[m.contact_body[c]][0]


def inertia(m, s, t, c):
    """Force that moves the contact's body, of two the lighter one, by 1 m in a step, N/m."""
    return least_mass(m, s, t, c) * t.rate * t.rate


def of_body(kind, m, t, c, field):
    """Motion (6) of the contact's body at its current pose, relative to the other one if there is one; `field` tells
    that of each body in its first six numbers."""
    return between.relative(m, t, c, field, t.x) if kind == BETWEEN else vec(field[m.contact_body[c]])[:6]


@each_contact
def prepare_contact(kind, m, s, t, c):
    """F at the current pose; first guess of the pairs.

    A lane that starts cold guesses the usual sizes, but a gap that is there stays open."""
    if kind == BETWEEN:
        here, new = between.prepare(m, t, c), on(t.cold) | on(t.new[c][0])
    else:
        here, new = ground.prepare(kind, m, s, t, c), on(t.cold)
    carried = maximum(s.ca[c][cone.NORMAL], weight(m, s, t, c))
    t.usual_force[c][0] = select(on(t.cold), heft(m, s, t, c) * m.contact_force_scale[c][0], carried)
    law, sizes = cone.of(m), scales(m, t, c)
    phi = gap(m, c, here)
    if m.features.soft:
        K, rate = s.compliance[c][0], s.contact_damping[c][0] / t.h
        t.give[c][0] = K / (1.0 + K * rate)
        t.sunk[c][0] = rate * t.give[c][0] * minimum(phi, 0.0)
    if kind == BETWEEN:
        left = minimum(phi + PUSHED_OUT * t.h / per_length(m, t, c), 0.0)
        left = select(on(t.firm[c][0]), 0.0, left)
        t.sunk[c][0] = select(less(0.0, s.compliance[c][0]), t.sunk[c][0], left) if m.features.soft else left
    if m.features.lends:
        t.lent[c][0] = t.astray[c][0] = 0.0
    pressing = pairs.open_pair(phi, *sizes[cone.NORMAL])
    guess = zip(law.open_sizes(sizes, pressing), (vec(s.ca[c]), vec(s.cb[c])), strict=True)
    last = [[select(new, fresh[k], old[k]) for k in range(law.PAIRS)] for fresh, old in guess]
    a, b = law.warm(*last, sizes, t.floor)
    store(t.ca[c], present(kind, t, c, a, 1.0))
    store(t.cb[c], present(kind, t, c, b, 1.0))


@each_contact
def move_contact(kind, m, s, t, c):
    """Gap and M at the next pose, rows of the law and their norms; the force enters the body's residual."""
    phi, slip = between.move(m, t, c) if kind == BETWEEN else ground.move(kind, m, s, t, c)
    phi = gap(m, c, phi)
    if m.features.soft or kind == BETWEEN:
        phi = phi - t.sunk[c][0]
    a, b = vec(t.ca[c]), vec(t.cb[c])
    rough, cf, give, lend = coefficients(m, s, t, c)
    law, flags, stop = cone.of(m), present(kind, t, c, cone.of(m).active(rough)), stopping(m, t, c)
    grip = select(on(t.relax), s.friction[c][0] * t.grip[c][0], 0.0)
    over = law.excess(m, law.measure(t, a, b, flags, stop, share(m, t, c)), flags)
    per_force, closeness = 1.0 / unit(m, t, c, a[cone.NORMAL]), per_length(m, t, c)
    over = scale(closeness * m.strictness / product_unit(m, t, c, a, b), over)
    lowered = 0.0
    if m.features.sags:
        lowered, slope = sag(m, s, t, c)
        phi = phi + (lowered - slope * a[cone.NORMAL])
    phi = phi if lend is None else phi + lend * (t.lent[c][0] - a[cone.SLIDING])
    rows = law.rows(rough, cf, grip, give, a, b, phi, slip)
    if m.features.bounce:
        rows[cone.RADIUS] = rows[cone.RADIUS] + rough * s.friction[c][0] * t.given[c][0]
    rows, lowered = present(kind, t, c, rows), present(kind, t, c, lowered)
    store(t.cr[c], rows)
    pairs.note(t, "norm", [*over, per_force * rows[1]])
    pairs.note(t, "misfit", [GAP * closeness * (rows[0] - lowered), *scale(CREEP * closeness, rows[2:])])
    push(kind, m, t, c, wrench(force_rows(kind, m, t, c), whole_force(m, s, t, c)))


def response(m, s, t, c, k, r, dphi, dslip):
    """Change of the force along (n, t1, t2), and (da, db)."""
    law = cone.of(m)
    pair = vec(t.ca[c]), vec(t.cb[c]), vec(t.ci[c])
    da, db = law.direction(*coefficients(m, s, t, c), *pair, k, r, dphi, dslip)
    if is_between(m):
        da, db = present(BETWEEN, t, c, da), present(BETWEEN, t, c, db)
    return law.force(roughness(s, c), da), da, db


@each_contact
def condense_contact(kind, m, s, t, c):
    """D += F^T W M, and the right-hand side of the affine direction (targets a b = 0).

    The targets are kept, not worked out again: cones lose digits in them, and what stands on both sides must agree."""
    F, M = force_rows(kind, m, t, c), motion_rows(kind, m, t, c)
    a, b = vec(t.ca[c]), vec(t.cb[c])
    law = cone.of(m)
    store(t.ci[c], law.inverses(*coefficients(m, s, t, c), a, b))
    units = ((1.0, [0.0, 0.0]), (0.0, [1.0, 0.0]), (0.0, [0.0, 1.0]))
    block = t.pair_D[m.contact_pair[c]] if kind == BETWEEN else t.D[m.contact_body[c]]
    D = mat(block)
    for row, (dphi, dslip) in zip(M, units, strict=True):
        change, _, _ = response(m, s, t, c, NOTHING, NOTHING, dphi, dslip)
        column = wrench(F, change)
        for p in range(6):
            for q in range(6):
                D[p][q] = D[p][q] - column[p] * row[q]
    store(block, D)
    k = law.targets(a, b, stopping(m, t, c))
    store(t.ck[c], k)
    constant, _, _ = response(m, s, t, c, k, vec(t.cr[c]), 0.0, [0.0, 0.0])
    push(kind, m, t, c, wrench(F, constant))


def changes(kind, m, t, c):
    """dphi and dslip of the Newton direction: M y."""
    y = between.relative_motion(m, t, c) if kind == BETWEEN else vec(t.y[m.contact_body[c]])
    dphi, *dslip = (dot(row[:3], y[:3]) + dot(row[3:], y[3:]) for row in motion_rows(kind, m, t, c))
    return dphi, dslip


def direct(kind, m, s, t, c):
    """Direction (da, db) of the pairs for their targets; how far it reaches."""
    dphi, dslip = changes(kind, m, t, c)
    _, da, db = response(m, s, t, c, vec(t.ck[c]), vec(t.cr[c]), dphi, dslip)
    cone.of(m).reach(t, vec(t.ca[c]), vec(t.cb[c]), da, db, vec(t.ci[c]))
    return da, db


@each_contact
def affine_contact(kind, m, s, t, c):
    """Keep the products da db of the affine direction, which the corrector needs."""
    da, db = direct(kind, m, s, t, c)
    store(t.cdd[c], cone.of(m).bends(t, da, db, share(m, t, c)))


@each_contact
def direct_contact(kind, m, s, t, c):
    """The final direction."""
    da, db = direct(kind, m, s, t, c)
    store(t.cda[c], da)
    store(t.cdb[c], db)


@each_contact
def correct_contact(kind, m, s, t, c):
    """Add the corrector's part, sigma mu - da db, to the targets and to the right-hand side."""
    law = cone.of(m)
    flags = law.active(roughness(s, c))
    k = law.corrected(t, vec(t.ca[c]), vec(t.cb[c]), vec(t.cdd[c]), usual(m, t, c))
    k = [flags[j] * k[j] for j in range(law.PAIRS)]
    store(t.ck[c], add(vec(t.ck[c]), k))
    constant, _, _ = response(m, s, t, c, k, NOTHING, 0.0, [0.0, 0.0])
    push(kind, m, t, c, wrench(force_rows(kind, m, t, c), constant))


@each_contact
def update_contact(kind, m, s, t, c):
    """Pairs one step along their direction."""
    target = stopping(m, t, c) + t.center * usual(m, t, c)
    cone.of(m).advance(t, roughness(s, c), t.ca[c], t.cb[c], t.cda[c], t.cdb[c], target)


@each_contact
def lift_contact(kind, m, s, t, c):
    """Pairs away from the boundary, in the lanes that are stuck there."""
    law = cone.of(m)
    flags = law.active(roughness(s, c))
    new = law.lifted(vec(t.ca[c]), vec(t.cb[c]), flags, scales(m, t, c), t.lift)
    pairs.keep(t, range(law.PAIRS), (t.ca[c], t.cb[c]), new)


@each_contact
def judge_contact(kind, m, s, t, c):
    """Note how far the force that bounds friction is from the one that was found, where they are told apart, and how
    far above it. The next round takes the one that was found, the first one that of the last step; where bounds only
    fall (step.py), the smaller one."""
    gamma, last = t.ca[c][cone.NORMAL], select(on(s.fresh), 0.0, s.ca[c][cone.NORMAL])
    grip, share = t.grip[c][0], roughness(s, c) / unit(m, t, c, gamma)
    t.apart = maximum(share * absolute(gamma - grip), t.apart)
    t.above = maximum(share * (grip - gamma), t.above)
    t.grip[c][0] = select(on(t.good), select(on(t.falling) & less(grip, gamma), grip, gamma), last)


@each_contact
def finish_contact(kind, m, s, t, c):
    """Keep the pairs for the next step's warm start, and add up the impulse, in the lanes that converged."""
    good = on(t.good)
    for target, values in ((s.ca, t.ca), (s.cb, t.cb)):
        for k in range(cone.of(m).PAIRS):
            target[c][k] = select(good, values[c][k], target[c][k])
    # impulse of the step so far; the one that is there before its first part belongs to the last step
    force = whole_force(m, s, t, c)
    first = less(TICKS - 0.5, t.todo)
    impulse = scale(t.h, matvec_t(axes(kind, m, t, c), force))
    for k, part in enumerate(impulse):
        before = s.impulse[c][k]
        s.impulse[c][k] = select(good, part + select(first, 0.0, before), before)
    if kind == BETWEEN:
        between.see(m, t, c)
        between.push_bodies(m, s, c, [select(good, part, 0.0) for part in impulse])
