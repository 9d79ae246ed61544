"""Forces on the free axes of a joint: effort, PD drive with effort limit, spring, damper, dry friction, position limits.

All of them depend on the joint coordinate phi at the NEXT pose, with the rate (phi - phi0)/h (DESIGN: joints):

    motor = effort + kp (target - phi) + kd (target_rate - rate) - cut+ + cut-
    tau   = motor - stiffness (phi - rest) - damping rate + low - high + dry

Six complementary pairs (a, b), a b = mu, condense in closed form into one number per axis:

    low   _|_ phi - lower        high  _|_ upper - phi         position limits
    cut+  _|_ limit - motor      cut-  _|_ limit + motor        what the effort limit cuts off
    slip+ _|_ friction + dry     slip- _|_ friction - dry       rate = slip+ - slip-, |dry| <= friction

A bound that is infinite (or a friction of zero) has its flag `bounded` off; its pair rests at a = b = 1 and takes no part.
"""

from vigym.engine.kernels.quaternion import add, store, vec
from vigym.engine.kernels.simd import maximum, on, select
from vigym.engine.kernels.sweep import each_limited_axis

PAIRS = 6
LOW, HIGH, CUT, UNCUT, SLIP, BACK = range(PAIRS)
NOTHING = [0.0] * (PAIRS + 1)


def law(s, t, a, phi):
    """Effort along axis a at the coordinate phi; leaves the rows of the slacks and the gains for `direction`."""
    h = t.h[0][0]
    stiffness, rest, damping, kp, kd = vec(s.gains[a])
    rate = (phi - s.angle[a][0]) / h
    motor = s.effort[a][0] + kp * (s.target[a][0] - phi) + kd * (s.target[a][1] - rate)
    passive = -stiffness * (phi - rest) - damping * rate
    t.slope[a][0] = kp + kd / h
    t.slope[a][1] = stiffness + damping / h
    if not s.features.limits:
        return motor + passive
    bounds, bounded, slack = vec(s.bounds[a]), vec(s.bounded[a]), vec(t.lb[a])
    pair = [bounded[k] * t.la[a][k] for k in range(PAIRS)]
    motor = motor - pair[CUT] + pair[UNCUT]
    dry = bounded[SLIP] * t.dry[a][0]
    rows = [phi - bounds[LOW], bounds[HIGH] - phi, bounds[CUT] - motor, bounds[UNCUT] + motor]
    rows += [bounds[SLIP] + dry, bounds[BACK] - dry]
    for k in range(PAIRS):
        t.lr[a][k] = bounded[k] * (rows[k] - slack[k])
    t.lr[a][PAIRS] = bounded[SLIP] * (rate - pair[SLIP] + pair[BACK])
    return motor + passive + pair[LOW] - pair[HIGH] + dry


def direction(s, t, a, k, r, dphi):
    """Newton direction for complementarity targets k (6), row residuals r (7) and a change dphi of the coordinate:

        a db + b da = k,   db = d(row) + r,   d(rate) - d(slip+) + d(slip-) + r7 = 0

    Returns da, db, d(dry), d(tau)."""
    drive, passive = t.slope[a][0], t.slope[a][1]
    if not s.features.limits:
        return [], [], 0.0, -(drive + passive) * dphi
    A, bounded = vec(t.la[a]), vec(s.bounded[a])
    inverse = [t.li[a][j] * A[j] * bounded[j] for j in range(PAIRS)]  # 1/b, 0 where unbounded
    q = [A[j] * inverse[j] for j in range(PAIRS)]
    c = [(k[j] - A[j] * r[j]) * inverse[j] for j in range(PAIRS)]
    dmotor = (c[UNCUT] - c[CUT] - drive * dphi) / (1.0 + q[CUT] + q[UNCUT])
    soft = q[SLIP] + q[BACK] + (1.0 - bounded[SLIP])
    ddry = bounded[SLIP] * (c[SLIP] - c[BACK] - r[PAIRS] - dphi / t.h[0][0]) / soft
    da = [c[LOW] - q[LOW] * dphi, c[HIGH] + q[HIGH] * dphi, c[CUT] + q[CUT] * dmotor, c[UNCUT] - q[UNCUT] * dmotor]
    da += [c[SLIP] - q[SLIP] * ddry, c[BACK] + q[BACK] * ddry]
    db = [dphi + r[LOW], r[HIGH] - dphi, r[CUT] - dmotor, dmotor + r[UNCUT], ddry + r[SLIP], r[BACK] - ddry]
    db = [db[j] * bounded[j] for j in range(PAIRS)]
    return da, db, ddry, dmotor - passive * dphi + da[LOW] - da[HIGH] + ddry


def targets(s, t, a):
    """Complementarity targets -a b of the affine direction."""
    A, B, bounded = vec(t.la[a]), vec(t.lb[a]), vec(s.bounded[a])
    return [-1.0 * bounded[k] * A[k] * B[k] for k in range(PAIRS)]


@each_limited_axis
def start_axis(m, s, t, a):
    """First guess of the pairs: the last ones with a floor, or 1 in lanes that start cold.

    What the effort limit cuts off may jump by orders of magnitude with the target of a stiff drive; it is guessed from
    the drive at the coordinate to which the last rate leads."""
    cold, floor = on(t.cold[0][0]), m.option[0][2]
    bounded = vec(s.bounded[a])
    _, _, _, kp, kd = vec(s.gains[a])
    rate = s.rate[a][0]
    motor = s.effort[a][0] + kp * (s.target[a][0] - s.angle[a][0] - t.h[0][0] * rate) + kd * (s.target[a][1] - rate)
    limit = s.bounds[a][CUT]
    cut = [maximum(motor - limit, floor), maximum(-1.0 * motor - limit, floor)]
    motor = motor - cut[0] + cut[1]
    left = [maximum(limit - motor, floor), maximum(limit + motor, floor)]
    for target, last, guess in ((t.la, s.la, cut), (t.lb, s.lb, left)):
        for k in range(PAIRS):
            warm = select(cold, 1.0, maximum(last[a][k], floor))
            warm = guess[k - CUT] if k in (CUT, UNCUT) else warm
            target[a][k] = select(on(bounded[k]), warm, 1.0)
    t.dry[a][0] = select(cold, 0.0, s.dry[a][0])


@each_limited_axis
def condense_axis(m, s, t, a):
    """1/(a b) of the pairs, used by `direction`."""
    for k in range(PAIRS):
        t.li[a][k] = 1.0 / (t.la[a][k] * t.lb[a][k])


@each_limited_axis
def affine_axis(m, s, t, a):
    """Affine direction of the pairs."""
    da, db, _, _ = direction(s, t, a, targets(s, t, a), vec(t.lr[a]), t.dphi[a][0])
    store(t.lda[a], da)
    store(t.ldb[a], db)


@each_limited_axis
def correct_axis(m, s, t, a):
    """Targets of the corrector, sigma mu - da db."""
    for k in range(PAIRS):
        # a slack smaller than the rounding of its own row would stall the iteration
        least = 0.01 * m.option[0][1] * maximum(t.la[a][k], t.lb[a][k])
        t.lk[a][k] = s.bounded[a][k] * (maximum(t.center[0][0], least) - t.lda[a][k] * t.ldb[a][k])


@each_limited_axis
def direct_axis(m, s, t, a):
    """Final direction of the pairs: affine targets and the corrector's together."""
    k = add(targets(s, t, a), vec(t.lk[a]))
    da, db, ddry, _ = direction(s, t, a, k, vec(t.lr[a]), t.dphi[a][0])
    store(t.lda[a], da)
    store(t.ldb[a], db)
    t.ddry[a][0] = ddry


@each_limited_axis
def update_dry(m, s, t, a):
    """dry += alpha d(dry) in the lanes that still iterate."""
    t.dry[a][0] = select(on(t.live[0][0]), t.dry[a][0] + t.alpha[0][0] * t.ddry[a][0], t.dry[a][0])


@each_limited_axis
def finish_axis(m, s, t, a):
    """Keep the pairs for the next step's warm start, in the lanes that converged."""
    good = on(t.good[0][0])
    for target, values in ((s.la, t.la), (s.lb, t.lb), (s.dry, t.dry)):
        for k in range(values[a].shape[0]):
            target[a][k] = select(good, values[a][k], target[a][k])
