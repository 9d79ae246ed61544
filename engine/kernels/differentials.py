"""Derivatives of the last step along one direction of its inputs, of everything that a mechanism may have: loops, laws
of balls, even arms, rebounds, bodies that touch each other, whose contacts are in t before (engine/recalled.py).

At the solution, K y = -d(residual): the residuals are computed once with numbers that carry derivatives (twofold.py),
and the system is factorised and solved as in a step. What linear.py knows goes by transposed solves instead, which is
cheaper; this is engine/gradients.py, which does the same on NumPy, in lanes and threads.

The state store comes with the fields of before the step and of after it exchanged, as in linear.py. A step with a
rebound is three solves (impact.py): what depends on the unknowns of one is moved with them in the next.

    s, t      real numbers: the state; the factors
    ds, dt    the same with derivatives: of the inputs, of the residuals
"""

from vigym.engine.kernels import body, contact, impact, integrator, joint
from vigym.engine.kernels.cone import NORMAL
from vigym.engine.kernels.interior_point import even_arms, factorize, look_back, residual, substitute
from vigym.engine.kernels.linear import blunt_axis, blunt_contact, whole_step
from vigym.engine.kernels.quaternion import (
    add,
    conjugate,
    mat,
    matrix,
    matvec,
    matvec_t,
    multiply,
    scale,
    store,
    vec,
)
from vigym.engine.kernels.simd import any_lane, block, group, less, on, real, select, shared, slope
from vigym.engine.kernels.sweep import (
    each_body,
    each_ground_contact,
    each_joint,
    each_limited_axis,
    each_slot,
)
from vigym.engine.kernels.symbols import Dual
from vigym.engine.kernels.twofold import clear_row, copy_row, dual
from vigym.engine.kernels.unknowns import LAST, assume, begin_phases, go_on, hand_phase, hand_unknowns


def differentiate(m, states, t, first, last, repeat, resumed):
    """Follow one direction of the inputs (`before_dot`, `seed`) to the next state (`after_dot`, `due_dot`)."""
    for g in range(first, last):
        s = group(states, g)
        ds, dt = dual(s, t.dual_state), dual(t, t.dual_scratch)
        if not any_lane(t, "wanted"):
            continue
        spread(s, t, t.states + g * t.pitch)
        turn_inputs(m, ds, t)
        begin(m, s, t)
        begin(m, ds, dt)
        move_coordinates(m, ds, dt)
        if any_lane(s, "rebounds"):
            begin_phases(m, s, t)
        while any_lane(t, "left"):
            assume(m, s, t)
            hand_phase(m, t, dt)
            assume(m, ds, dt)
            hand_unknowns(m, t, dt)
            evaluate(m, ds, dt)
            evaluate(m, s, t)
            if any_lane(t, "even"):
                even_out(m, ds, dt)
                even_out(m, s, t)
            take_residuals(m, dt, t)
            solve(m, s, t)
            if any_lane(s, "rebounds"):
                move_pairs(m, s, t)
                pass_on(m, ds, t)
                pass_slots(m, dt, t)
            go_on(m, s, t)
        move_state(m, dt, t)
        move_due(m, s, t)


@shared
def spread(s, t, numbers):
    """The state into its dual store, and directions of parameters into the derivatives."""
    row = t.row
    for j in range(t.n_numbers):
        copy_row(s, t.dual_numbers + 2 * row * j, numbers + row * j)
        clear_row(s, t.dual_numbers + row * (2 * j + 1))
    for k in range(t.n_seeds):
        copy_row(s, t.dual_numbers + row * (2 * t.slot[k] + 1), t.seeds + row * k)


# ------------------------------------------------------------------------------------------------ inputs
def carrying(value, change):
    """A number with a derivative."""
    return Dual(real(value), change)


@each_body
def turn_inputs(m, s, t, i):
    """The direction of the state, which s carries from here on."""
    change, q = vec(t.before_dot[i]), vec(s.q[i])
    half = multiply([real(x) for x in q], [0.0, *scale(0.5, change[3:6])])
    parts = (s.x, change[:3]), (s.q, half), (s.v, change[6:9]), (s.w, change[9:])
    for field, changes in parts:
        store(field[i], [carrying(value, by) for value, by in zip(vec(field[i]), changes, strict=True)])


@block
def begin(m, s, t):
    """The world; a warm start; how long the step was. Derivatives of its length are not asked for."""
    world = m.n_bodies
    body.place_world(m, t)
    t.h = real(s.old_h0)
    t.cold = t.relax = t.todo = t.onwards = t.stride = t.phase = 0.0
    t.live = t.left = 1.0
    if m.features.lends:
        t.lending = t.relend = 0.0
        t.stretch = 1.0
    t.even, t.number = real(s.even), LAST
    t.sound = select(whole_step(s), 1.0, 0.0)
    for k in range(6):
        t.y[world][k] = 0.0
        for j in range(6):
            t.D[world][k, j] = 0.0


@block
def move_coordinates(m, s, t):
    """Joint coordinates and rates before the step move with the state: steps begin from there. Those of three free
    rotations are read from the poses."""
    place_body(m, s, t)
    move_angle(m, s, t)
    place_before(m, s, t)
    move_rate(m, s, t)


@each_body
def place_body(m, s, t, i):
    put_pose(t, i, vec(s.x[i]), vec(s.q[i]))


@each_body
def place_before(m, s, t, i):
    """The pose from which the body came, in a step as long as it was."""
    q = vec(s.q[i])
    back = scale(-1.0, vec(s.v[i])), scale(-1.0, matvec(matrix(q), vec(s.w[i])))
    put_pose(t, i, *integrator.advance(real(s.h0), (vec(s.x[i]), q), back))


def put_pose(t, i, x, q):
    """Where joints see a body."""
    store(t.xn[i], list(x))
    store(t.qn[i], list(q))
    store(t.Rn[i], matrix(list(q)))


def coordinates(kind, m, t, i):
    """Coordinates of a joint where its bodies are, not unwound, by axis."""
    if joint.is_floating(kind):
        return []
    kt, kr, _ = joint.free(kind)
    found = joint.translation(kt, m, t, i)[2] + joint.rotation(kr, True, m, t, i)[2]
    return list(enumerate(found))


@each_joint
def move_angle(kind, m, s, t, i):
    for k, value in coordinates(kind, m, t, i):
        a = m.first_axis[i] + k
        change = slope(value)
        s.angle[a][0] = s.angle[a][0] + carrying(0.0, change)
        s.rate[a][0] = s.rate[a][0] + carrying(0.0, change / real(s.h0))


@each_joint
def move_rate(kind, m, s, t, i):
    for k, value in coordinates(kind, m, t, i):
        a = m.first_axis[i] + k
        s.rate[a][0] = s.rate[a][0] - carrying(0.0, slope(value) / real(s.h0))


# ------------------------------------------------------------------------------------------------ the solution
# ------------------------------------------------------------------------------------------------ the system
@block
def evaluate(m, s, t):
    """All residuals."""
    residual(m, s, t)


@block
def even_out(m, s, t):
    """Residuals in lanes whose arms are even."""
    look_back(m, s, t)
    even_arms(m, s, t)


@block
def take_residuals(m, s, t):
    """Derivatives of all residuals, from the dual store s, in place of the residuals."""
    world = m.n_bodies
    for k in range(6):
        t.r[world][k] = slope(s.r[world][k])
    take_body(m, s, t)
    take_joint(m, s, t)
    take_contact(m, s, t)
    take_slot(m, s, t)
    take_axis(m, s, t)


def slopes(values):
    """The derivatives of some numbers."""
    return [slope(value) for value in vec(values)]


@each_body
def take_body(m, s, t, i):
    store(t.r[i], slopes(s.r[i]))


@each_joint
def take_joint(kind, m, s, t, i):
    store(t.delta[i], slopes(s.delta[i]))
    store(t.rN[i], slopes(s.rN[i]))


@each_ground_contact
def take_contact(kind, m, s, t, c):
    store(t.cr[c], slopes(s.cr[c]))


@each_slot
def take_slot(m, s, t, c):
    store(t.touch_cr[c], slopes(s.touch_cr[c]))


@each_limited_axis
def take_axis(m, s, t, a):
    store(t.lr[a], slopes(s.lr[a]))


@block
def solve(m, s, t):
    """Factorise where pairs are a little blunted (linear.py), and solve for the changes of all unknowns."""
    blunt_contact(m, s, t)
    blunt_axis(m, s, t)
    factorize(m, s, t)
    substitute(m, s, t)


@block
def move_pairs(m, s, t):
    """The changes of pairs, which a later phase depends on."""
    contact.direct_contact(m, s, t)


@block
def pass_on(m, s, t):
    """Move what this phase has left, which the next one depends on; s is the dual store."""
    if m.features.bounce:
        pass_body(m, s, t)
        pass_contact(m, s, t)


@block
def pass_slots(m, s, t):
    """The same of contacts between bodies, which both scratch stores have; s is the dual one."""
    if m.features.bounce:
        pass_slot(m, s, t)


def moved(s, t, name, i, changes, prefix=""):
    """Have what a phase keeps as `name` move along."""
    for phase in impact.SOLVES[:2]:
        here = less(phase.number - 0.5, t.number) & less(t.number, phase.number + 0.5)
        kept = getattr(s, f"{prefix}{phase.prefix}_{name}")[i]
        for k, change in enumerate(changes):
            kept[k] = carrying(kept[k], select(here, change, slope(kept[k])))


@each_body
def pass_body(m, s, t, i):
    moved(s, t, "V", i, body.tangent(t, i).rates(vec(t.y[i])))


@each_ground_contact
def pass_contact(kind, m, s, t, c):
    moved(s, t, "ca", c, vec(t.cda[c]))
    moved(s, t, "cb", c, vec(t.cdb[c]))


@each_slot
def pass_slot(m, s, t, c):
    moved(s, t, "ca", c, vec(t.touch_cda[c]), "kept_")
    moved(s, t, "cb", c, vec(t.touch_cdb[c]), "kept_")


# ------------------------------------------------------------------------------------------------ the next state
@each_body
def move_state(m, s, t, i):
    """The direction of the next state: the direct part, from the dual store s, plus the one through the unknowns."""
    y, (_, om) = vec(t.y[i]), body.velocity(t, i)
    rates = body.tangent(t, i).rates(y)
    back, R = conjugate(vec(t.qn[i])), mat(t.R[i])
    direct = scale(2.0, list(multiply(back, slopes(s.qn[i])))[1:])
    turning = [[slope(s.R[i][j, k]) for k in range(3)] for j in range(3)]
    change = add(slopes(s.xn[i]), y[:3]) + add(direct, matvec_t(mat(t.Rn[i]), y[3:]))
    change += rates[:3] + add(matvec_t(turning, om), matvec_t(R, rates[3:]))
    sound = on(t.sound)
    store(t.after_dot[i], [select(sound, value, 0.0) for value in change])


@block
def move_due(m, s, t):
    """Impulses of which a rebound is due after the step."""
    if m.features.bounce:
        move_pairs(m, s, t)
        move_impulse(m, s, t)


@each_ground_contact
def move_impulse(kind, m, s, t, c):
    """struck = h gamma where an impact has begun; `old_struck` is what the step has left."""
    begun = less(0.0, s.old_struck[c][0]) & on(t.sound)
    t.due_dot[c][0] = select(begun, t.h * t.cda[c][NORMAL], 0.0)
