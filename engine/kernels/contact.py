"""A contact of one body: gap, sliding, force, and their condensation, whatever the shapes are (geometry/).

A kind of geometry tells where the surfaces touch at a pose. From that follow the rows on which all else depends:

    F (3 x 6)   at the current pose: motion of the body's touching point along n, t1, t2; the wrench is F^T force
    M (3 x 6)   at the next pose: d(phi, slip1, slip2) by its change y; phi is the gap there   (paper: eq. contact_comp)
    slip        how far the step goes along the last two rows of F, m a step                   (paper: eq. fric_comp)

With restitution (impact.py), a contact that rebounds has a normal force `given`, beside the one that complementarity
finds; friction is bounded by both together.

A contact with a compliance K gives way: its gap may be negative, where a spring and a damper d press it out,

    gamma = max(0, -phi(z+)/K - d (phi(z+) - min(phi(z), 0))/h)

which is what a hard contact does with `phi(z+) + give gamma - sunk` in the place of its gap,

    give = K/(1 + K d/h),   sunk = give d/h min(phi(z), 0)

A contact touches one body only, so its pairs condense into that body's 6x6: the change of its force is

    d(force) = c - W M y,   W and c from the law's `direction`;   D += F^T W M
"""

from vigym.engine.kernels import body, cone, geometry, integrator, pairs
from vigym.engine.kernels.quaternion import (
    add,
    cross,
    dot,
    mat,
    matrix,
    matvec,
    matvec_t,
    scale,
    store,
    sub,
    sum_of,
    vec,
)
from vigym.engine.kernels.simd import less, on, select, sqrt
from vigym.engine.kernels.sweep import each_contact, each_touching_body

NOTHING = [0.0] * 6
TICKS = 16.0  # parts of a step in which time is counted


def axes(kind, m, t, c):
    """n, t1, t2 at the current pose, along which the force acts."""
    fixed = geometry.of(kind).fixed_axes
    return mat(t.axes[c]) if fixed is None else fixed(m, c)


def normal(kind, m, t, c):
    """n at the next pose, along which the gap opens."""
    fixed = geometry.of(kind).fixed_axes
    return vec(t.normal[c]) if fixed is None else fixed(m, c)[0]


def force_rows(kind, m, t, c):
    """F (3 x 6), as `prepare_contact` left it."""
    arm = vec(t.contact_arm[c])
    return [axis + cross(arm, axis) for axis in axes(kind, m, t, c)]


def motion_rows(kind, m, t, c):
    """M (3 x 6), as `move_contact` left it."""
    n, slip = normal(kind, m, t, c), axes(kind, m, t, c)[1:]
    return [n + cross(vec(t.core[c]), n), *(axis + row for axis, row in zip(slip, mat(t.slip_rows[c]), strict=True))]


def wrench(F, force):
    """Force and torque (6) on the body of a force along (n, t1, t2): F^T force."""
    return [sum_of(F[k][j] * force[k] for k in range(3)) for j in range(6)]


def gap(m, c, where):
    """The gap, or one that never closes if the body cannot move: nothing could push it out of the ground."""
    return where.gap + m.clearance[c][0] if m.features.held else where.gap


def coefficients(m, s, t, c):
    """Coefficients of the rows of a law: cf, `dilation` (cf in a relaxed step, else 0) and `give`, by how much the
    contact gives way to its normal force, m/N; None where all are hard."""
    cf = s.friction[c][0]
    return cf, t.relax * cf, t.give[c][0] if m.features.soft else None


def scales(m, t):
    """Usual sizes of the pairs: a share of the weight, and how far things fall in a step."""
    return cone.of(m).scales(m.force_scale, m.acceleration * t.h * t.h)


def whole_force(m, s, t, c):
    """Force along (n, t1, t2): of the pairs, and what a rebound gives beside them."""
    force = cone.of(m).force(s.friction[c][0], vec(t.ca[c]))
    return [force[0] + t.given[c][0], *force[1:]] if m.features.bounce else force


def pressed(m, t, a, b):
    """Whether the normal force of a contact with the numbers a, b is large, rather than its gap."""
    usual, length = scales(m, t)[cone.NORMAL]
    return less(b[cone.NORMAL] * usual, a[cone.NORMAL] * length)


@each_contact
def prepare_contact(kind, m, s, t, c):
    """F at the current pose; first guess of the pairs.

    A lane that starts cold guesses the usual sizes, but a gap that is there stays open."""
    i = m.contact_body[c]
    here = geometry.of(kind).touch(m, s, c, vec(t.x[i]), mat(t.R[i]))
    store(t.contact_arm[c], here.arm)
    if geometry.of(kind).fixed_axes is None:
        store(t.axes[c], here.axes)
    law, sizes, cold = cone.of(m), scales(m, t), on(t.cold)
    phi = gap(m, c, here)
    if m.features.soft:
        K, rate = s.compliance[c][0], s.contact_damping[c][0] / t.h
        t.give[c][0] = K / (1.0 + K * rate)
        t.sunk[c][0] = rate * t.give[c][0] * select(less(phi, 0.0), phi, 0.0)
    pressing = pairs.open_pair(phi, *sizes[cone.NORMAL])
    guess = zip(law.open_sizes(sizes, pressing), (vec(s.ca[c]), vec(s.cb[c])), strict=True)
    last = [[select(cold, fresh[k], old[k]) for k in range(law.PAIRS)] for fresh, old in guess]
    a, b = law.warm(*last, sizes, s.floor)
    store(t.ca[c], a)
    store(t.cb[c], b)


@each_contact
def move_contact(kind, m, s, t, c):
    """Gap and M at the next pose, rows of the law and their norms; the force enters the body's residual."""
    i = m.contact_body[c]
    cf, F = s.friction[c][0], force_rows(kind, m, t, c)
    there = geometry.of(kind).touch(m, s, c, vec(t.xn[i]), mat(t.Rn[i]))
    phi = gap(m, c, there)
    if m.features.soft:
        phi = phi - t.sunk[c][0]
    slip = [integrator.travel(t.h, row, body.velocity(t, i)) for row in F[1:]]
    a, b = vec(t.ca[c]), vec(t.cb[c])
    law, flags = cone.of(m), cone.of(m).active(cf)
    rows = law.rows(*coefficients(m, s, t, c), a, b, phi, slip)
    if m.features.bounce:
        rows[cone.RADIUS] = rows[cone.RADIUS] + flags[cone.RADIUS] * cf * t.given[c][0]
    store(t.cr[c], rows)
    pairs.note(t, "norm", law.errors(t.h, law.excess(m, law.measure(t, a, b, flags), flags), rows))
    pairs.note(t, "misfit", rows[:1])
    tangent = body.tangent(t, i)
    store(t.slip_rows[c], [tangent.travel(row[3:]) for row in F[1:]])
    store(t.core[c], there.core)
    if geometry.of(kind).fixed_axes is None:
        store(t.normal[c], there.axes[0])
    store(t.r[i], sub(vec(t.r[i]), wrench(F, whole_force(m, s, t, c))))


def response(m, s, t, c, k, r, dphi, dslip):
    """Change of the force along (n, t1, t2), and (da, db)."""
    law = cone.of(m)
    pair = vec(t.ca[c]), vec(t.cb[c]), vec(t.ci[c])
    da, db = law.direction(*coefficients(m, s, t, c), *pair, k, r, dphi, dslip)
    return law.force(s.friction[c][0], da), da, db


@each_contact
def condense_contact(kind, m, s, t, c):
    """D += F^T W M, and the right-hand side of the affine direction (targets a b = 0).

    The targets are kept, not worked out again: cones lose digits in them, and what stands on both sides must agree."""
    i = m.contact_body[c]
    F, M = force_rows(kind, m, t, c), motion_rows(kind, m, t, c)
    a, b = vec(t.ca[c]), vec(t.cb[c])
    law = cone.of(m)
    store(t.ci[c], law.inverses(*coefficients(m, s, t, c), a, b))
    units = ((1.0, [0.0, 0.0]), (0.0, [1.0, 0.0]), (0.0, [0.0, 1.0]))
    D = mat(t.D[i])
    for row, (dphi, dslip) in zip(M, units, strict=True):
        change, _, _ = response(m, s, t, c, NOTHING, NOTHING, dphi, dslip)
        column = wrench(F, change)
        for p in range(6):
            for q in range(6):
                D[p][q] = D[p][q] - column[p] * row[q]
    store(t.D[i], D)
    k = law.targets(m, a, b, NOTHING)
    store(t.ck[c], k)
    constant, _, _ = response(m, s, t, c, k, vec(t.cr[c]), 0.0, [0.0, 0.0])
    store(t.r[i], sub(vec(t.r[i]), wrench(F, constant)))


def changes(kind, m, t, c):
    """dphi and dslip of the Newton direction: M y."""
    y = vec(t.y[m.contact_body[c]])
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
    """What the corrector needs of the affine direction: da db."""
    bends = cone.of(m).products(*direct(kind, m, s, t, c))
    cone.of(m).sum_up(t, bends)
    store(t.cdd[c], bends)


@each_contact
def direct_contact(kind, m, s, t, c):
    """The final direction."""
    da, db = direct(kind, m, s, t, c)
    store(t.cda[c], da)
    store(t.cdb[c], db)


@each_contact
def correct_contact(kind, m, s, t, c):
    """What the corrector adds to the targets, sigma mu - da db, and to the right-hand side."""
    i, law = m.contact_body[c], cone.of(m)
    flags = law.active(s.friction[c][0])
    least = 0.01 * m.tolerance * t.h
    k = law.corrected(t, vec(t.ca[c]), vec(t.cb[c]), vec(t.cdd[c]), least)
    k = [flags[j] * k[j] for j in range(law.PAIRS)]
    store(t.ck[c], add(vec(t.ck[c]), k))
    constant, _, _ = response(m, s, t, c, k, NOTHING, 0.0, [0.0, 0.0])
    store(t.r[i], sub(vec(t.r[i]), wrench(force_rows(kind, m, t, c), constant)))


@each_contact
def update_contact(kind, m, s, t, c):
    """Pairs one step along their direction."""
    which = range(cone.of(m).PAIRS)
    pairs.advance(t, which, t.ca[c], t.cda[c])
    pairs.advance(t, which, t.cb[c], t.cdb[c])


@each_contact
def lift_contact(kind, m, s, t, c):
    """Pairs away from the boundary, in the lanes that are stuck there."""
    law = cone.of(m)
    flags = law.active(s.friction[c][0])
    new = law.lifted(vec(t.ca[c]), vec(t.cb[c]), flags, scales(m, t), t.lift)
    pairs.keep(t, range(law.PAIRS), (t.ca[c], t.cb[c]), new)


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
    for k, part in enumerate(scale(t.h, matvec_t(axes(kind, m, t, c), force))):
        before = s.impulse[c][k]
        s.impulse[c][k] = select(good, part + select(first, 0.0, before), before)


# ------------------------------------------------------------------------------------------------ publishing
@each_touching_body
def publish_body(m, s, t, i):
    """Poses at both ends of the step that led here, and the velocity between them."""
    x, q, v, R = vec(s.x[i]), vec(s.q[i]), vec(s.v[i]), matrix(vec(s.q[i]))
    om = matvec(R, vec(s.w[i]))
    x0, q0 = integrator.advance(s.h0, (x, q), (scale(-1.0, v), scale(-1.0, om)))
    store(t.x[i], x0)
    store(t.R[i], matrix(q0))
    store(t.xn[i], x)
    store(t.Rn[i], R)
    store(t.V[i], v + om)


@each_contact
def publish_contact(kind, m, s, t, c):
    """Gap and touching point at the state's pose; velocity of the touching point over the step that led there and its
    speed along the surface, with the axes and the lever of the pose before it; mean force of the last whole step."""
    i, shape = m.contact_body[c], geometry.of(kind)
    x, (v, om) = vec(t.xn[i]), body.velocity(t, i)
    before = shape.touch(m, s, c, vec(t.x[i]), mat(t.R[i]))
    here = shape.touch(m, s, c, x, mat(t.Rn[i]))
    velocity = add(v, cross(om, before.arm))
    _, t1, t2 = before.axes
    along, across = dot(t1, velocity), dot(t2, velocity)
    s.gap[c][0] = here.gap
    s.slip[c][0] = sqrt(along * along + across * across)
    store(s.contact_point[c], add(x, here.arm))
    store(s.contact_velocity[c], velocity)
    for k, value in enumerate(vec(s.impulse[c])):
        s.contact_force[c][k] = select(on(s.substeps), value / m.dt, 0.0)
