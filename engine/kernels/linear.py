"""A step that was made, linearised at its solution: what pullback.py and pushforward.py share.

The state store comes with the fields of before the step and of after it exchanged (`store.exchanged`): s.x is where the
step began, s.old_x where it ended. The unknowns are put where the step found them, pairs a little blunted (cone), and
the system is factorised once more there. Unknown is the NEXT POSE, y = (dx, dth) in the world frame. Inputs move the
current pose by z = (dx, dth), in the world frame too, and the velocities (v, w) before the step. Then

- joints close, and gaps open, at the next pose: they do not depend on the inputs at all;
- a common turn of both poses turns all that acts in a body: derivatives by z follow from those by y,

      om = R w of the step:    d(om) = z x om + T (dth - z),   d(w) = R^T T (dth - z)
      its first momentum P:    d(P) = z x P + D (dth - z),     D of integrator.first_momentum_slope

- forces act at the current pose: arms and axes turn with their bodies.
"""

from vigym.engine.kernels import arms, axis, body, cone, contact, integrator, pairs
from vigym.engine.kernels.interior_point import factorize, residual, start
from vigym.engine.kernels.joint import free, is_floating
from vigym.engine.kernels.quaternion import add, mat, matvec, scale, store, sub, vec
from vigym.engine.kernels.simd import block, less, maximum, on, select
from vigym.engine.kernels.small import lu, lu_solve_columns, product, transpose
from vigym.engine.kernels.sweep import each_axis, each_body, each_contact, each_joint, each_limited_axis


def is_linearised(features):
    """True if these files cover all that a mechanism has."""
    return not (features.loops or features.touches or features.balls)


@block
def linearise(m, s, t):
    """Everything at the solution of the last step, and the factors."""
    begin(m, s, t)
    start(m, s, t)
    arms.look_back(m, s, t)
    put_body(m, s, t)
    put_contact(m, s, t)
    put_axis(m, s, t)
    residual(m, s, t)
    keep_body(m, s, t)
    blunt_contact(m, s, t)
    blunt_axis(m, s, t)
    factorize(m, s, t)
    keep_contact(m, s, t)
    keep_axis(m, s, t)
    close_joint(m, s, t)


@block
def begin(m, s, t):
    """The world's pose; a warm start; which lanes have made one whole step, and how long it was: a part of one may be
    here as a step of its own."""
    world = m.n_bodies
    body.place_world(m, t)
    t.h = s.old_h0
    t.cold = t.relax = t.todo = t.onwards = t.stride = t.even = 0.0
    if m.features.bounce:
        t.phase = 0.0
    t.sound = select(whole_step(s), 1.0, 0.0)
    for k in range(6):
        t.y[world][k] = t.lam[world][k] = 0.0


def whole_step(s):
    """The lanes that have made one step, whole."""
    return on(s.converged) & on(s.real) & less(0.5, s.substeps) & less(s.substeps, 1.5)


@each_body
def put_body(m, s, t, i):
    """The velocity that the step found."""
    store(t.V[i], vec(s.old_v[i]) + matvec(mat(t.R[i]), vec(s.old_w[i])))


@each_contact
def put_contact(kind, m, s, t, c):
    """The pairs that the step found."""
    store(t.ca[c], vec(s.ca[c]))
    store(t.cb[c], vec(s.cb[c]))
    if m.features.bounce:
        t.given[c][0] = t.ample[c][0] = t.ample[c][1] = 0.0


@each_limited_axis
def put_axis(m, s, t, a):
    """The pairs that the step found."""
    for k in axis.used(s):
        t.la[a][k], t.lb[a][k] = s.la[a][k] + 0.0, s.lb[a][k] + 0.0


@each_body
def keep_body(m, s, t, i):
    """Derivatives of the body's own residual: its block by y, what turns with z, and what w before the step does.

    `returns` turns a change of w into that of the orientation from which the body came."""
    h, h0 = t.h, s.h0
    R, J, w = mat(t.R[i]), body.symmetric(vec(t.J[i])), vec(s.w[i])
    om0, (_, om) = matvec(R, w), body.velocity(t, i)
    D = mat(t.D[i])
    store(t.turning[i], [row[3:] for row in D[3:]])
    store(t.spun[i], add(vec(t.known[i])[3:], integrator.first_momentum(h, J, om)))
    slope = product(integrator.momentum_slope(h0, J, om0), R)
    store(t.spin_slope[i], [scale(h0 / h, row) for row in slope])
    back = integrator.tangent(h0, scale(-1.0, om0))
    columns = [back.rates([0.0, 0.0, 0.0, *unit])[3:] for unit in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])]
    store(t.returns[i], [scale(-1.0, row) for row in lu_solve_columns(lu(transpose(columns)), R)])


@each_contact
def blunt_contact(kind, m, s, t, c):
    """Take contacts that are pressed, and stick, for very stiff springs (pairs.STIFFEST)."""
    a, b = cone.of(m).blunted(vec(t.ca[c]), vec(t.cb[c]), pairs.STIFFEST * contact.inertia(m, s, t, c))
    store(t.ca[c], a)
    store(t.cb[c], b)


@each_limited_axis
def blunt_axis(m, s, t, a):
    """The same of limits, and of dry friction."""
    stiffest = pairs.STIFFEST * maximum(t.apparent[a][0], 1e-300)
    cut = t.mobility[a][0] / pairs.STIFFEST
    least = {axis.LOW: 1.0 / stiffest, axis.HIGH: 1.0 / stiffest, axis.CUT: cut, axis.UNCUT: cut}
    for k in axis.used(s):
        if k in least:
            t.lb[a][k] = maximum(t.lb[a][k], least[k] * t.la[a][k])
        else:
            t.la[a][k] = maximum(t.la[a][k], t.lb[a][k] / stiffest)


@each_contact
def keep_contact(kind, m, s, t, c):
    """W (3 x 3): how the force answers to changes of gap and slip."""
    for k in range(3):
        unit = [1.0 if j == k else 0.0 for j in range(3)]
        change, _, _ = contact.response(m, s, t, c, contact.NOTHING, contact.NOTHING, unit[0], unit[1:])
        for j in range(3):
            t.answer[c][j, k] = change[j]


@each_axis
def keep_axis(m, s, t, a):
    """Keep the response of an axis's effort to what its motor is asked for, and of dry friction to motion."""
    _, _, _, motor = axis.direction(s, t, a, axis.NOTHING, axis.NOTHING, -1.0, 0.0, 0.0)
    _, _, dry, _ = axis.direction(s, t, a, axis.NOTHING, axis.NOTHING, 0.0, 0.0, 1.0)
    t.axis_answer[a][0], t.axis_answer[a][1] = motor, dry
    if s.features.speeds:  # a limit of velocity moves with the coordinate before the step
        _, stiff = axis.ratios(s, t, a)
        for k, flag in enumerate(axis.limited_by_speed(s, t, a)):
            t.speed_answer[a][k] = flag * stiff[(axis.LOW, axis.HIGH)[k]]


@each_joint
def close_joint(kind, m, s, t, i):
    """Joints stay closed."""
    store(t.delta[i], [0.0] * 6)


def has_laws(kind):
    """True if coordinates of the joint's free axes enter forces."""
    return not is_floating(kind) and free(kind)[2]


def axes_before(kind, m, t, i):
    """The free axes at the pose from which both bodies came."""
    kt, kr, _ = free(kind)
    R, Rp = mat(t.R_before[m.child[i]]), mat(t.R_before[m.parent[i]])
    slide, child, parent = mat(m.slide[i]), mat(m.child_axes[i]), mat(m.parent_axes[i])
    turns = {0: [], 1: [matvec(R, child[2])], 2: [matvec(Rp, parent[0]), matvec(R, child[1])], 3: []}[kr]
    return [matvec(Rp, slide[3 - kt + k]) for k in range(kt)] + turns


def arms_before(m, t, i):
    """Arms to the anchor at that pose."""
    c, p = m.child[i], m.parent[i]
    rho = matvec(mat(t.R_before[c]), vec(m.child_anchor[i]))
    return rho, sub(add(vec(t.x_before[c]), rho), vec(t.x_before[p]))


def spring_slopes(s, t, a):
    """Derivatives of the spring's pull by coordinate and rate before the step."""
    h0, half = axis.interval_before(s, t), 0.5 * s.stiffness[a][0]
    return half * (h0 / t.h + 0.5), -0.5 * half * (h0 / t.h) * h0


def effort_slopes(s, t, a):
    """Derivatives of the effort on an axis by coordinate and rate before the step."""
    motor, dry = vec(t.axis_answer[a])
    by_angle, by_rate = spring_slopes(s, t, a)
    slope = (motor * s.kd[a][0] + s.damping[a][0]) / t.h - dry - by_angle
    if s.features.speeds:
        slope = slope + t.speed_answer[a][0] + t.speed_answer[a][1]
    if s.features.curves:
        slope = slope + (1.0 - motor) * axis.drag(s, a) / t.h
    if s.features.armature:
        rotor = t.rate * s.armature[a][0]
        return slope + t.rate * rotor, rotor - by_rate
    return slope, -1.0 * by_rate
