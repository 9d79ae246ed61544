"""A contact point (or sphere) of a body against a plane: gap, sliding velocity, force, and their condensation.

    phi(z+) = n . (x+ + R+ p) - offset - radius      gap at the next pose                  (paper: eq. contact_comp)
    slip    = h t . (v + om x arm), arm = R p - radius n   sliding in a step, lever arm at the current pose
    wrench  = [n; arm x n] gamma + [t; arm x t] beta      acts at the point that touches

With restitution e, an impact takes two steps: one brings the contact to the plane, from the normal speed `approach`
that it had; in the next, which starts there, the gap must grow by h e approach at least:

    phi(z+) - h rebound >= 0,   rebound = e approach

so that it leaves with just that speed. What approaches more slowly than it falls in two steps does not bounce, and an
impact whose second step cannot be solved (it says so) stays without its rebound.

A contact with a compliance K gives way: its gap may be negative, where a spring and a damper d press it out,

    gamma = max(0, -phi(z+)/K - d (phi(z+) - min(phi(z), 0))/h)

which is what a hard contact does with `phi(z+) + give gamma - sunk` in the place of its gap,

    give = K/(1 + K d/h),   sunk = give d/h min(phi(z), 0)

A contact touches one body only, so its pairs condense into that body's 6x6: the change of its force is

    d(force) = c - W (dphi, dslip),   W and c from cone.direction
"""

from vigym.engine.kernels import cone
from vigym.engine.kernels.pairs import note, open_pair
from vigym.engine.kernels.quaternion import add, cross, dot, mat, matvec, scale, store, sub, sum_of, vec
from vigym.engine.kernels.simd import less, on, select
from vigym.engine.kernels.sweep import each_contact

NOTHING = [0.0] * 6
LEVEL = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))  # n, t1, t2 of a horizontal plane
SLOW = 2.0  # impacts below so many steps of free fall do not bounce


@each_contact
def prepare_contact(m, s, t, c):
    """Lever arm at the current pose; first guess of the pairs.

    A lane that starts cold guesses the usual sizes, but a gap that is there stays open."""
    i = m.contact_body[c]
    n = axes(m, c)[0]
    rho = matvec(mat(t.R[i]), vec(m.point[c]))
    store(t.touch[c], sub(rho, scale(m.plane[c][1], n)))
    if m.features.bounce:
        V = vec(t.V[i])
        t.approach[c][0] = -1.0 * (dot(n, V[:3]) + dot(levers(m, t, c)[0], V[3:]))
    cold = on(t.cold[0][0])
    shape, sizes = cone.of(m), scales(m, t)
    phi = distance(m, s, c, add(vec(t.x[i]), rho))
    if m.features.soft:
        K, rate = s.soft[c][0], s.soft[c][1] / t.h[0][0]
        t.soft[c][0] = K / (1.0 + K * rate)
        t.soft[c][1] = rate * t.soft[c][0] * select(less(phi, 0.0), phi, 0.0)
    normal = open_pair(phi, *sizes[cone.NORMAL])
    guess = zip(shape.open_sizes(sizes, normal), (vec(s.ca[c]), vec(s.cb[c])), strict=True)
    last = [[select(cold, fresh[k], old[k]) for k in range(shape.PAIRS)] for fresh, old in guess]
    a, b = shape.warm(*last, sizes, s.floor[0][0])
    store(t.ca[c], a)
    store(t.cb[c], b)


def axes(m, c):
    """n, t1, t2; plain numbers where all planes are level, so that products with them cost nothing."""
    return [list(axis) for axis in LEVEL] if m.features.level else mat(m.frame[c])


def levers(m, t, c):
    """arm x n, arm x t1, arm x t2 at the current pose."""
    arm = vec(t.touch[c])
    return [cross(arm, axis) for axis in axes(m, c)]


def distance(m, s, c, point):
    """Gap of the contact when its point (or the centre of its sphere) is there."""
    return dot(axes(m, c)[0], point) - (s.offset[c][0] + (m.plane[c][0] + m.plane[c][1]))


def law(m, s, t, c):
    """What the rows of a cone depend on: cf, `lift` (cf in a relaxed step, else 0) and `give`, by how much the contact
    gives way to its normal force, m/N; None where all are hard."""
    cf = s.friction[c][0]
    return cf, t.relax[0][0] * cf, t.soft[c][0] if m.features.soft else None


def scales(m, t):
    """Usual sizes of the pairs: a share of the weight, and how far things fall in a step."""
    h = t.h[0][0]
    return cone.of(m).scales(m.scale[0][0], m.scale[0][2] * h * h)


@each_contact
def move_contact(m, s, t, c):
    """Gap at the next pose, rows of the cone and their norms; the force enters the body's residual."""
    i = m.contact_body[c]
    h, cf = t.h[0][0], s.friction[c][0]
    frame, lever = axes(m, c), levers(m, t, c)
    n, t1, t2 = frame
    V = vec(t.V[i])
    v, om = V[:3], V[3:]
    rho = matvec(mat(t.Rn[i]), vec(m.point[c]))
    phi = distance(m, s, c, add(vec(t.xn[i]), rho))
    if m.features.bounce:
        phi = phi - h * s.rebound[c][0]
    if m.features.soft:
        phi = phi - t.soft[c][1]
    slip = [h * (dot(t1, v) + dot(lever[1], om)), h * (dot(t2, v) + dot(lever[2], om))]
    a, b = vec(t.ca[c]), vec(t.cb[c])
    shape, flags = cone.of(m), cone.of(m).active(cf)
    rows = shape.rows(*law(m, s, t, c), a, b, phi, slip)
    store(t.cr[c], rows)
    note(t, t.norm, shape.errors(h, shape.excess(m, shape.measure(t, a, b, flags), flags), rows))
    note(t, t.geometry, rows[:1])
    # rows of d(phi, slip1, slip2) / d(dth); see integrator.py for d(om)
    sq = t.sq[i][0]
    turned = [scale(0.5 * h, sub(scale(sq, lever[k]), cross(lever[k], om))) for k in (1, 2)]
    store(t.lever[c], [cross(rho, n), *turned])
    store(t.r[i], sub(vec(t.r[i]), wrench(frame, lever, shape.force(cf, a))))


def next_levers(m, t, c):
    """Rows of d(phi, slip1, slip2) / d(dth), as `move_contact` left them; that of phi has nothing along a level n."""
    rows = mat(t.lever[c])
    if m.features.level:
        rows[0][2] = 0.0
    return rows


def wrench(frame, lever, force):
    """Force and torque (6) on the body of a force along (n, t1, t2)."""
    linear = [sum_of(frame[k][j] * force[k] for k in range(3)) for j in range(3)]
    return linear + [sum_of(lever[k][j] * force[k] for k in range(3)) for j in range(3)]


def response(m, s, t, c, k, r, dphi, dslip):
    """Change of the force along (n, t1, t2), and (da, db)."""
    shape = cone.of(m)
    pair = vec(t.ca[c]), vec(t.cb[c]), vec(t.ci[c])
    da, db = shape.direction(*law(m, s, t, c), *pair, k, r, dphi, dslip)
    return shape.force(s.friction[c][0], da), da, db


@each_contact
def condense_contact(m, s, t, c):
    """D += M0^T W M with M0 the wrench rows at the current pose and M the rows at the next; right-hand side of the
    affine direction (targets a b = 0).

    The targets are kept, not worked out again: cones lose digits in them, and what stands on both sides must agree."""
    i = m.contact_body[c]
    frame, lever0, lever = axes(m, c), levers(m, t, c), next_levers(m, t, c)
    a, b = vec(t.ca[c]), vec(t.cb[c])
    shape = cone.of(m)
    store(t.ci[c], shape.inverses(*law(m, s, t, c), a, b))
    units = ((1.0, [0.0, 0.0]), (0.0, [1.0, 0.0]), (0.0, [0.0, 1.0]))
    D = mat(t.D[i])
    for index, (dphi, dslip) in enumerate(units):
        change, _, _ = response(m, s, t, c, NOTHING, NOTHING, dphi, dslip)
        column = wrench(frame, lever0, change)
        row = frame[index] + lever[index]
        for p in range(6):
            for q in range(6):
                D[p][q] = D[p][q] - column[p] * row[q]
    store(t.D[i], D)
    k = shape.targets(m, a, b, NOTHING)
    store(t.ck[c], k)
    constant, _, _ = response(m, s, t, c, k, vec(t.cr[c]), 0.0, [0.0, 0.0])
    store(t.r[i], sub(vec(t.r[i]), wrench(frame, lever0, constant)))


def changes(m, t, c):
    """dphi and dslip of the Newton direction y."""
    i = m.contact_body[c]
    y, frame, lever = vec(t.y[i]), axes(m, c), next_levers(m, t, c)
    d = [dot(frame[k], y[:3]) + dot(lever[k], y[3:]) for k in range(3)]
    return d[0], d[1:]


def direct(m, s, t, c):
    """Direction (da, db) of the pairs for their targets; how far it reaches."""
    dphi, dslip = changes(m, t, c)
    _, da, db = response(m, s, t, c, vec(t.ck[c]), vec(t.cr[c]), dphi, dslip)
    cone.of(m).reach(t, vec(t.ca[c]), vec(t.cb[c]), da, db, vec(t.ci[c]))
    return da, db


@each_contact
def affine_contact(m, s, t, c):
    """What the corrector needs of the affine direction: da db."""
    bends = cone.of(m).products(*direct(m, s, t, c))
    cone.of(m).sum_up(t, bends)
    store(t.cdd[c], bends)


@each_contact
def direct_contact(m, s, t, c):
    """The final direction."""
    da, db = direct(m, s, t, c)
    store(t.cda[c], da)
    store(t.cdb[c], db)


@each_contact
def correct_contact(m, s, t, c):
    """What the corrector adds to the targets, sigma mu - da db, and to the right-hand side."""
    i, shape = m.contact_body[c], cone.of(m)
    flags = shape.active(s.friction[c][0])
    least = 0.01 * m.option[0][1] * t.h[0][0]
    k = shape.corrected(t, vec(t.ca[c]), vec(t.cb[c]), vec(t.cdd[c]), least)
    k = [flags[j] * k[j] for j in range(shape.PAIRS)]
    store(t.ck[c], add(vec(t.ck[c]), k))
    constant, _, _ = response(m, s, t, c, k, NOTHING, 0.0, [0.0, 0.0])
    store(t.r[i], sub(vec(t.r[i]), wrench(axes(m, c), levers(m, t, c), constant)))


@each_contact
def finish_contact(m, s, t, c):
    """Keep the pairs for the next step's warm start, in the lanes that converged."""
    good = on(t.good[0][0])
    for target, values in ((s.ca, t.ca), (s.cb, t.cb)):
        for k in range(cone.of(m).PAIRS):
            target[c][k] = select(good, values[c][k], target[c][k])
    if m.features.bounce:
        force, length = scales(m, t)[cone.NORMAL]
        pressed = less(t.cb[c][cone.NORMAL] * force, t.ca[c][cone.NORMAL] * length)
        approach, due = t.approach[c][0], s.rebound[c][0]
        impact = pressed & less(SLOW * m.scale[0][2] * t.h[0][0], approach) & (~on(due))
        s.rebound[c][0] = select(good, select(impact, s.restitution[c][0] * approach, 0.0), due)


@each_contact
def remember_contact(m, s, t, c):
    """What is due at the start of a step."""
    s.rebound[c][1] = s.rebound[c][0]


@each_contact
def revert_contact(m, s, t, c):
    """Nothing is due any more in lanes that could not make the step, or they would never get out of it."""
    s.rebound[c][0] = select(on(t.lost[0][0]), 0.0, s.rebound[c][0])
