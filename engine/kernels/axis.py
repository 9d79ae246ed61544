"""Forces on the free axes of a joint: effort, PD drive with effort limit, spring, damper, position limits.

All of them depend on the joint coordinate phi at the NEXT pose, with the rate (phi - phi0)/h (DESIGN: joints):

    motor = effort + kp (target - phi) + kd (target_rate - rate) - p + n     p, n: what the effort limit cuts off
    tau   = motor - stiffness (phi - rest) - damping rate + lo - hi

Four complementary pairs (a, b), a b = 0, condense in closed form into one number per axis:

    lo _|_ phi - lower     hi _|_ upper - phi     p _|_ limit - motor     n _|_ limit + motor

A bound that is infinite has its flag `bounded` off; its pair rests at a = b = 1 and takes no part.
"""

from vigym.engine.kernels.quaternion import add, store, vec
from vigym.engine.kernels.simd import maximum, on, select
from vigym.engine.kernels.sweep import each_limited_axis

LO, HI, P, N = range(4)


def law(s, t, a, phi):
    """Effort along axis a at the coordinate phi; leaves phi, the rows of the slacks and the gains for `direction`."""
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
    pair = [bounded[k] * t.la[a][k] for k in range(4)]
    motor = motor - pair[P] + pair[N]
    rows = [phi - bounds[LO], bounds[HI] - phi, bounds[P] - motor, bounds[N] + motor]
    for k in range(4):
        t.lr[a][k] = bounded[k] * (rows[k] - slack[k])
    return motor + passive + pair[LO] - pair[HI]


def direction(s, t, a, k, r, dphi):
    """Newton direction of the pairs and of the effort for complementarity targets k (4), slack residuals r (4) and a
    change dphi: a db + b da = k, db = d(row) + r. Returns da, db, d(tau)."""
    drive, passive = t.slope[a][0], t.slope[a][1]
    if not s.features.limits:
        return [], [], -(drive + passive) * dphi
    A, bounded = vec(t.la[a]), vec(s.bounded[a])
    inverse = [t.li[a][j] * A[j] * bounded[j] for j in range(4)]  # 1/b, 0 where unbounded
    q = [A[j] * inverse[j] for j in range(4)]
    c = [(k[j] - A[j] * r[j]) * inverse[j] for j in range(4)]
    dmotor = (c[N] - c[P] - drive * dphi) / (1.0 + q[P] + q[N])
    da = [c[LO] - q[LO] * dphi, c[HI] + q[HI] * dphi, c[P] + q[P] * dmotor, c[N] - q[N] * dmotor]
    db = [dphi + r[LO], r[HI] - dphi, r[P] - dmotor, dmotor + r[N]]
    db = [db[j] * bounded[j] for j in range(4)]
    return da, db, dmotor - passive * dphi + da[LO] - da[HI]


@each_limited_axis
def start_axis(m, s, t, a):
    """First guess of the pairs: the last ones with a floor, or 1 in lanes that start cold."""
    cold, floor = on(t.cold[0][0]), m.option[0][2]
    for target, last in ((t.la, s.la), (t.lb, s.lb)):
        for k in range(4):
            warm = select(on(s.bounded[a][k]), maximum(last[a][k], floor), 1.0)
            target[a][k] = select(cold, 1.0, warm)



def targets(s, t, a):
    """Complementarity targets -a b of the affine direction."""
    A, B, bounded = vec(t.la[a]), vec(t.lb[a]), vec(s.bounded[a])
    return [-1.0 * bounded[k] * A[k] * B[k] for k in range(4)]


@each_limited_axis
def condense_axis(m, s, t, a):
    """1/(a b) of the pairs, used by `direction`."""
    for k in range(4):
        t.li[a][k] = 1.0 / (t.la[a][k] * t.lb[a][k])


@each_limited_axis
def affine_axis(m, s, t, a):
    """Affine direction of the pairs."""
    da, db, _ = direction(s, t, a, targets(s, t, a), vec(t.lr[a]), t.dphi[a][0])
    store(t.lda[a], da)
    store(t.ldb[a], db)


@each_limited_axis
def correct_axis(m, s, t, a):
    """Targets of the corrector, sigma mu - da db."""
    for k in range(4):
        t.lk[a][k] = s.bounded[a][k] * (t.center[0][0] - t.lda[a][k] * t.ldb[a][k])


@each_limited_axis
def direct_axis(m, s, t, a):
    """Final direction of the pairs: affine targets and the corrector's together."""
    k = add(targets(s, t, a), vec(t.lk[a]))
    da, db, _ = direction(s, t, a, k, vec(t.lr[a]), t.dphi[a][0])
    store(t.lda[a], da)
    store(t.ldb[a], db)


@each_limited_axis
def finish_axis(m, s, t, a):
    """Keep the pairs for the next step's warm start, in the lanes that converged."""
    good = on(t.good[0][0])
    for target, values in ((s.la, t.la), (s.lb, t.lb)):
        for k in range(4):
            target[a][k] = select(good, values[a][k], target[a][k])
