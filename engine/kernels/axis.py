"""Forces on the free axes of a joint: effort, PD drive, spring, damper, rotor, dry friction, limits of effort and
position.

Drives, dampers and limits depend on the joint coordinate phi at the NEXT pose, with the rate (phi - phi0)/h: implicit,
which keeps the stiffest gains stable. A spring is variational: its potential is taken in the middle of both intervals
that meet in the current pose, the one of length h0 that led here, from phi0 - h0 rate0, and this one. Half of the
impulse comes from each, and a spring alone keeps its energy, however stiff it is:

    motor = effort + kp (target - phi) + kd (target_rate - rate) - cut+ + cut-
    pull  = stiffness/2 ( (h0/h) (phi0 - h0 rate0 / 2 - rest) + (phi0 + phi)/2 - rest )
    rotor = -armature (rate - rate0)/h
    tau   = motor - pull - damping rate + rotor + low - high + dry

The rotor is what turns with the axis alone, such as that of a motor behind a gear: its energy is armature rate^2 / 2
in each of the two intervals, and its effort, like a spring's, minus the gradient of both by the current pose.

Six complementary pairs (a, b), a b = mu, condense in closed form into one number per axis. As for contacts, each is an
effort times a motion; e is the `mobility`, an effort's usual motion, effort -> motion (rad per N m, m per N):

    low   _|_ phi - lower           high  _|_ upper - phi             limits of position and velocity, see `limits_now`
    cut+  _|_ e (limit - motor)     cut-  _|_ e (limit + motor)        what the effort limit cuts off
    slip+ _|_ friction + dry        slip- _|_ friction - dry           h rate = slip+ - slip-, |dry| <= friction

A motor whose effort falls with speed is one of limited voltage: where the other limits say motor, it says
motor + drag rate, with drag = limit / no_load_speed. At standstill that is the stall effort, at no_load_speed none.

A bound that is infinite (or a friction of zero) has its flag `bounded` off: its pair rests at a = b = 1 and takes no
part. Pairs that no axis of the mechanism has are not compiled: their numbers are plain zeros in the formulas below.

Of three free rotations (ball.py), the motor, the coordinate and the motion h rate are different numbers; on all other
axes they follow from phi alone.
"""

from vigym.engine.kernels import pairs
from vigym.engine.kernels.pairs import (
    advance,
    corrected,
    excess,
    keep,
    lifted,
    measure,
    note,
    open_pair,
    products,
    reach,
    sum_up,
    warm,
)
from vigym.engine.kernels.quaternion import add, store, vec
from vigym.engine.kernels.simd import absolute, less, maximum, minimum, on, select
from vigym.engine.kernels.sweep import each_limited_axis

PAIRS = 6
LOW, HIGH, CUT, UNCUT, SLIP, BACK = range(PAIRS)
NOTHING = [0.0] * (PAIRS + 1)
# Products of limits, of position and effort, and of dry friction are solved so many times as closely as efforts: what
# is left of a drive just at its limit is the root of that
LIMITED, STUCK = 1e2, 1e3
RETURN = 0.05  # s; a coordinate that was set beyond a limit by d is pushed back at a speed of d / RETURN or so
STRAY = 1e-6  # rad or m beyond a limit from which on that holds; less is rounding, and ends in one step
FAR = 1e30  # rad, m, rad/s, m/s: stands for no limit
RETURN_PART = 0.5  # of a limit of velocity is as fast as that pushes back
FAINT = 1e-3  # a friction of less than this part of the efforts that act counts as that


def used(s):
    """The pairs that some axis of the mechanism has."""
    return s.features.limits


def of_pairs(s, block):
    """The numbers of a block, one a pair: 0 for pairs that are not used."""
    return [block[k] + 0.0 if k in used(s) else 0.0 for k in range(PAIRS)]


def put_pairs(s, block, values):
    """Write the numbers of the pairs that are used."""
    for k in used(s):
        block[k] = values[k]


def interval_before(s, t):
    """Length of the interval before the current pose in which a spring pulled: that of the last step. A state that was
    set has none; it begins with the step that is tried, or no part of it could be short enough for a stiff spring."""
    return select(on(s.fresh), minimum(t.h, s.h0), s.h0)


def law(s, t, a, phi, effort):
    """Effort along axis a at the coordinate phi, `effort` being what is applied from outside.

    Leaves the rows of the slacks and the gains for `direction`."""
    h, h0, last = t.h, interval_before(s, t), s.angle[a][0]
    stiffness, rest, damping, kp, kd = (gain[a][0] for gain in (s.stiffness, s.rest, s.damping, s.kp, s.kd))
    rate = (phi - last) / h
    motor = effort + kp * (s.target[a][0] - phi) + kd * (s.target_velocity[a][0] - rate)
    pull = 0.5 * stiffness * ((h0 / h) * (last - 0.5 * h0 * s.rate[a][0] - rest) + (0.5 * (last + phi) - rest))
    passive = -1.0 * pull - damping * rate
    t.drive_slope[a][0] = kp + kd / h
    t.passive_slope[a][0] = 0.25 * stiffness + damping / h
    if s.features.armature:
        passive = passive + rotor_effort(s, t, a, rate)
        t.passive_slope[a][0] = t.passive_slope[a][0] + s.armature[a][0] / (h * h)
    if not s.features.limits:
        return motor + passive
    motor, low, high, dry = bounded_law(s, t, a, motor, phi, h * rate)
    return motor + passive + low - high + dry


def rotor_effort(s, t, a, rate):
    """Effort of the rotor of axis a, whose rate becomes `rate` in this step."""
    return (s.armature[a][0] / t.h) * (t.rate0[a][0] - rate)


def stiffest(s, t, a):
    """Bound of the slope of axis a's laws by its coordinate, N/m or N m/rad."""
    most = s.stiffness[a][0] + s.kp[a][0] + t.rate * (s.damping[a][0] + s.kd[a][0])
    return most + t.rate * t.rate * s.armature[a][0] if s.features.armature else most


def limits_now(s, t, a):
    """Limits of axis a at the end of the step: its own, or, of a coordinate that starts beyond one, what brings it back
    by the part h/(RETURN + h) of the way."""
    last, rest = s.angle[a][0], RETURN / (RETURN + t.h)
    below, above = s.bounds[a][LOW] - last, last - s.bounds[a][HIGH]
    low = s.bounds[a][LOW] - select(less(STRAY, below), rest * below, 0.0)
    high = s.bounds[a][HIGH] + select(less(STRAY, above), rest * above, 0.0)
    if not s.features.speeds:
        return low, high
    room = t.h * s.velocity_limit[a][0]
    low, high = minimum(low, last + RETURN_PART * room), maximum(high, last - RETURN_PART * room)
    return maximum(low, last - room), minimum(high, last + room)


def limited_by_speed(s, t, a):
    """1 for the lower and the upper limit of axis a if its velocity limit is the closer one, else 0."""
    last, room = s.angle[a][0], t.h * s.velocity_limit[a][0]
    low, high = less(s.bounds[a][LOW], last - room), less(last + room, s.bounds[a][HIGH])
    return [s.bounded[a][k] * select(closer, 1.0, 0.0) for k, closer in ((LOW, low), (HIGH, high))]


def drag(s, a):
    """Slope by which the effort of a motor falls with speed, N s/m or N m s/rad."""
    return s.effort_limit[a][0] / s.no_load_speed[a][0] if s.features.curves else 0.0


def bounded_law(s, t, a, motor, phi, motion):
    """Efforts on axis a that the pairs decide: of the motor, within its limit, of both position limits and of dry
    friction. motor: the effort that the drive asks for; motion: h rate.

    Leaves the rows of the slacks."""
    (low, high), limit, friction = limits_now(s, t, a), s.effort_limit[a][0], s.dry_friction[a][0]
    bounded, slack = of_pairs(s, s.bounded[a]), vec(t.lb[a])
    pair = [bounded[k] * t.la[a][k] for k in range(PAIRS)]
    motor = motor - pair[CUT] + pair[UNCUT]
    dry = bounded[SLIP] * t.dry[a][0]
    mobility, volt = t.mobility[a][0], motor
    if s.features.curves:
        volt = motor + drag(s, a) * motion / t.h
    rows = [phi - low, high - phi, mobility * (limit - volt), mobility * (limit + volt)]
    rows += [friction + dry, friction - dry]
    put_pairs(s, t.lr[a], [bounded[k] * (rows[k] - slack[k]) for k in range(PAIRS)])
    t.lr[a][PAIRS] = bounded[SLIP] * (motion - pair[SLIP] + pair[BACK])
    return motor, pair[LOW], pair[HIGH], dry


def direction(s, t, a, k, r, fall, dphi, dmotion):
    """Newton direction for complementarity targets k (6), row residuals r (7) and changes of what the motor is asked
    for (by -fall), of the coordinate and of the motion:

        a db + b da = k,   db = d(row) + r,   d(motion) - d(slip+) + d(slip-) + r7 = 0

    Returns da, db, d(dry), d(motor)."""
    if not s.features.limits:
        return [], [], 0.0, -1.0 * fall
    A, bounded = of_pairs(s, t.la[a]), of_pairs(s, s.bounded[a])
    inverse, q = ratios(s, t, a)
    c = [(k[j] - A[j] * r[j]) * inverse[j] for j in range(PAIRS)]
    mobility = t.mobility[a][0]
    motor, dry = vec(t.pivots[a])
    slower = drag(s, a) * dmotion / t.h if s.features.curves else 0.0
    dvolt = (c[UNCUT] - c[CUT] - fall + slower) * motor
    ddry = bounded[SLIP] * (c[SLIP] - c[BACK] - r[PAIRS] - dmotion) * dry
    drow = [dphi, -1.0 * dphi, -1.0 * mobility * dvolt, mobility * dvolt, ddry, -1.0 * ddry]
    da = [c[j] - q[j] * drow[j] for j in range(PAIRS)]
    db = [bounded[j] * (drow[j] + r[j]) for j in range(PAIRS)]
    return da, db, ddry, dvolt - slower


def ratios(s, t, a):
    """1/b and a/b of the pairs, 0 for those at rest."""
    A = of_pairs(s, t.la[a])
    inverse = products(of_pairs(s, t.li[a]), A)
    return inverse, products(A, inverse)


def change_of_effort(s, t, a, k, r, dphi):
    """d(tau) of an axis on which all depends on phi alone; k, r as in `direction`."""
    drive, passive = t.drive_slope[a][0], t.passive_slope[a][0]
    if not s.features.limits:
        return -1.0 * (drive + passive) * dphi
    da, _, ddry, dmotor = direction(s, t, a, k, r, drive * dphi, dphi, dphi)
    return dmotor - passive * dphi + da[LOW] - da[HIGH] + ddry


def parts_of_change(s, t, a, k, r, change):
    """The parts of d(tau) that pairs decide: d(motor), d(low - high) and d(dry), for the same `change` of fall,
    coordinate and motion; k, r as in `direction`."""
    da, _, ddry, dmotor = direction(s, t, a, k, r, change, change, change)
    return dmotor, da[LOW] - da[HIGH] if da else 0.0, ddry


def scales(m, t, a):
    """Usual sizes of the pairs of axis a: an effort and a motion."""
    length, h = m.axis_length[a][0], t.h
    effort, motion = t.axis_force[a][0] * length, m.axis_acceleration[a][0] * h * h / length
    return [(effort, motion)] * 4 + [(motion, effort)] * 2


def usual(m, t, a):
    """Usual size of a product of the pairs, N m."""
    return t.axis_force[a][0] * m.axis_acceleration[a][0] * t.h * t.h


def product_units(m, s, t, a):
    """Units of the products of the pairs: efforts that act there times a motion; those that do not slide creep by
    product / friction in a step."""
    effort, motion, _ = vec(t.axis_unit[a])
    cut = t.mobility[a][0] * (effort + s.effort_limit[a][0]) / LIMITED
    dry = motion * (s.dry_friction[a][0] + FAINT * effort) / STUCK
    pressed = [motion * (effort + t.la[a][k]) / LIMITED for k in (LOW, HIGH)]
    return [*pressed, *(cut * (effort + t.la[a][k]) for k in (CUT, UNCUT)), dry, dry]


def stops(m, s, t, a):
    """Values at which the products of the pairs stop."""
    return [pairs.stop(m, unit) for unit in product_units(m, s, t, a)]


def errors(m, s, t, a, over, rows):
    """Errors that count against the tolerance: efforts, motions and their products, each in its own unit."""
    effort, _, per_motion = vec(t.axis_unit[a])
    units, limit = product_units(m, s, t, a), effort + s.effort_limit[a][0]
    # what a stiff drive would like to apply is no measure, but it is rounded
    cut = [rows[k] / (t.mobility[a][0] * (limit + m.force_rounding * t.la[a][k])) for k in (CUT, UNCUT)]
    dry = 1.0 / (effort + s.dry_friction[a][0])
    judged = [per_motion * rows[LOW], per_motion * rows[HIGH], *cut, dry * rows[SLIP], dry * rows[BACK]]
    return [over[k] / units[k] for k in used(s)] + [judged[k] for k in used(s)]


@each_limited_axis
def measure_axis(m, s, t, a):
    """Products of the pairs, and the norms of their rows."""
    flags = of_pairs(s, s.bounded[a])
    over = excess(m, measure(t, vec(t.la[a]), vec(t.lb[a]), flags, stops(m, s, t, a), t.axis_share[a][0]), flags)
    rows = vec(t.lr[a])
    note(t, "norm", errors(m, s, t, a, over, rows))
    if SLIP in used(s):
        note(t, "misfit", [t.axis_unit[a][2] * rows[PAIRS]])


@each_limited_axis
def start_axis(m, s, t, a):
    """First guess of the pairs: the last ones, or their scales in lanes that start cold. What a drive's limit cuts off
    is guessed anew where its command jumps, as it does with the target of a stiff drive."""
    cold = on(t.cold)
    t.axis_force[a][0] = s.heft[m.axis_body[a]][0] * m.axis_force_scale[a][0]
    t.axis_share[a][0] = 1.0 / usual(m, t, a)
    sizes = scales(m, t, a)
    t.mobility[a][0] = sizes[CUT][1] / sizes[CUT][0]
    command = s.effort[a][0] + s.kp[a][0] * s.target[a][0] + s.kd[a][0] * s.target_velocity[a][0]
    jump = cold | less(s.effort_limit[a][0], absolute(command - s.command[a][0]))
    t.command[a][0] = command
    drive = guess_drive(s, t, a)
    low, high = limits_now(s, t, a)
    room = {LOW: s.angle[a][0] - low, HIGH: high - s.angle[a][0]}
    for k in used(s):
        fresh, renew = (drive[k - CUT], jump) if k in (CUT, UNCUT) else (sizes[k], cold)
        if k in room:
            fresh = open_pair(room[k], *sizes[k])
        last = select(renew, fresh[0], s.la[a][k]), select(renew, fresh[1], s.lb[a][k])
        bounded = on(s.bounded[a][k])
        t.la[a][k], t.lb[a][k] = (select(bounded, x, 1.0) for x in warm(*last, *sizes[k], t.floor))
    t.dry[a][0] = select(cold, 0.0, s.dry[a][0])


def guess_drive(s, t, a):
    """Guess what a drive asks for beyond its limit: the pairs cut+ and cut-.

    It jumps by orders of magnitude with the target of a stiff drive. At the coordinate to which the last rate leads,
    the drive asks for u; moving the axis takes it back by slope/apparent of what it applies, and a voltage by
    drag/(h apparent)."""
    limit, apparent = s.effort_limit[a][0], maximum(t.apparent[a][0], 1e-300)
    u = t.asked[a][0] if s.features.balls else asked(s, t, a)
    back = 1.0 + (s.kp[a][0] + s.kd[a][0] / t.h) / apparent
    top, bottom, lag, induced = limit, -1.0 * limit, 1.0, 0.0
    if s.features.curves:
        lag, induced = 1.0 + drag(s, a) / (t.h * apparent), drag(s, a) * s.rate[a][0]
        top, bottom = (top - induced) / lag, (bottom - induced) / lag
    over, under = u - top * back, bottom * back - u
    motor = select(less(0.0, over), top, select(less(0.0, under), bottom, u / back))
    mobility, volt = t.mobility[a][0], lag * motor + induced
    return (maximum(over, 0.0), mobility * (limit - volt)), (maximum(under, 0.0), mobility * (limit + volt))


def asked(s, t, a):
    """Effort that a drive asks for at the coordinate to which the last rate leads."""
    h, rate, kp, kd = t.h, s.rate[a][0], s.kp[a][0], s.kd[a][0]
    return s.effort[a][0] + kp * (s.target[a][0] - s.angle[a][0] - h * rate) + kd * (s.target_velocity[a][0] - rate)


@each_limited_axis
def condense_axis(m, s, t, a):
    """Keep what directions share: 1/(a b) of the pairs, 0 for those at rest; inverse pivots of motor and dry friction;
    targets of the affine direction."""
    bounded = of_pairs(s, s.bounded[a])
    for k in used(s):
        t.li[a][k] = bounded[k] / (t.la[a][k] * t.lb[a][k])
    _, q = ratios(s, t, a)
    motor, dry = 1.0 + t.mobility[a][0] * (q[CUT] + q[UNCUT]), q[SLIP] + q[BACK] + (1.0 - bounded[SLIP])
    store(t.pivots[a], [1.0 / motor, 1.0 / dry])
    targets = pairs.targets(vec(t.la[a]), vec(t.lb[a]), stops(m, s, t, a))
    put_pairs(s, t.lt[a], products(bounded, targets))


def direct(s, t, a, k):
    """Direction (da, db) of the pairs for complementarity targets k, and d(dry); how far it reaches."""
    dphi = t.dphi[a][0]
    fall, dmotion = (t.fall[a][0], t.dmotion[a][0]) if s.features.balls else (t.drive_slope[a][0] * dphi, dphi)
    da, db, ddry, _ = direction(s, t, a, k, vec(t.lr[a]), fall, dphi, dmotion)
    reach(t, *([numbers[j] for j in used(s)] for numbers in (t.la[a], t.lb[a], da, db, t.li[a])))
    return da, db, ddry


@each_limited_axis
def affine_axis(m, s, t, a):
    """Keep the products da db of the affine direction, which the corrector needs."""
    da, db, _ = direct(s, t, a, of_pairs(s, t.lt[a]))
    bends = products(da, db)
    sum_up(t, bends, t.axis_share[a][0])
    put_pairs(s, t.lk[a], bends)


@each_limited_axis
def correct_axis(m, s, t, a):
    """Targets of the corrector, sigma mu - da db."""
    for k in used(s):
        t.lk[a][k] = s.bounded[a][k] * corrected(t, t.la[a][k], t.lb[a][k], t.lk[a][k], usual(m, t, a))


@each_limited_axis
def direct_axis(m, s, t, a):
    """Final direction of the pairs: affine targets and the corrector's together."""
    da, db, t.ddry[a][0] = direct(s, t, a, add(of_pairs(s, t.lt[a]), of_pairs(s, t.lk[a])))
    put_pairs(s, t.lda[a], da)
    put_pairs(s, t.ldb[a], db)


@each_limited_axis
def update_axis(m, s, t, a):
    """Pairs and dry friction one step along their direction, in the lanes that still iterate."""
    advance(t, used(s), t.la[a], t.lda[a])
    advance(t, used(s), t.lb[a], t.ldb[a])
    t.dry[a][0] = select(on(t.live), t.dry[a][0] + t.alpha * t.ddry[a][0], t.dry[a][0])


@each_limited_axis
def lift_axis(m, s, t, a):
    """Pairs away from the boundary, in the lanes that are stuck there."""
    new = lifted(vec(t.la[a]), vec(t.lb[a]), vec(s.bounded[a]), scales(m, t, a), t.lift)
    keep(t, used(s), (t.la[a], t.lb[a]), new)


@each_limited_axis
def finish_axis(m, s, t, a):
    """Keep the pairs for the next step's warm start, in the lanes that converged."""
    good = on(t.good)
    for target, values in ((s.la, t.la), (s.lb, t.lb)):
        for k in used(s):
            target[a][k] = select(good, values[a][k], target[a][k])
    for target, values in ((s.dry, t.dry), (s.command, t.command)):
        target[a][0] = select(good, values[a][0], target[a][0])
