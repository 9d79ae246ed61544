"""Laws of a joint with three free rotations: spherical joints, and custom ones that turn freely.

Three angles cannot describe them, so that position and velocity are measured apart. With e: child's joint frame ->
parent's, e0 at the current pose, e1 at the next, and everything along the child's axes:

    turn = vector(e0^-1 e1)             the relative rotation of the step; turn/h is the relative angular velocity
    phi  = vector(e1)                   the joint's coordinates
    from rest, from target              vector(e_rest^-1 e1), vector(e_target^-1 e1)

`vector` is the rotation vector the shorter way round, |phi| <= pi, at e0; within a step it goes on smoothly from there,
beyond pi if need be. There is no memory of full turns: the potential of a spring has a ridge at half a turn from rest.
Only phi is taken the longer way where the shorter one is beyond the position limits and the longer one less so.

- Damping, kd, armature and dry friction act on `turn`, axis by axis, as torques about the child's axes at the current
  pose.
- Springs, kp and position limits are efforts Q on rotation vectors. d(vector) = K d(theta) turns them into the torque
  K^T Q, K at the current pose: forces act there, coordinates count at the next (a spring's in the middle, axis.py).
- What the drive asks for is cut to its limit as a torque, axis by axis.

So the pairs of an axis (axis.py) see three numbers: what the motor is asked for, phi, and turn.
"""

from vigym.engine.kernels.axis import (
    HIGH,
    LOW,
    NOTHING,
    bounded_law,
    interval_before,
    parts_of_change,
    rotor_effort,
    used,
)
from vigym.engine.kernels.quaternion import (
    TWO_PI,
    add,
    aligned,
    conjugate,
    dot,
    mat,
    matvec,
    matvec_t,
    multiply,
    rotation_vector,
    scale,
    shorter,
    store,
    sub,
    turned_by,
    vec,
)
from vigym.engine.kernels.simd import less, maximum, select, sqrt
from vigym.engine.kernels.small import product, transpose

QUARTER = 0.7071067811865476  # cos(a/2) at a quarter of a turn


def relative_rotation(m, q, i):
    """Quaternion from the child's joint frame to the parent's, at the poses q."""
    parent = multiply(vec(q[m.parent[i]]), vec(m.parent_frame[i]))
    return multiply(conjugate(parent), multiply(vec(q[m.child[i]]), vec(m.child_frame[i])))


def of_axes(field, a):
    """The numbers of three axes from a on."""
    return [field[a + k][0] + 0.0 for k in range(3)]


def times(a, b):
    """a b, element by element"""
    return [x * y for x, y in zip(a, b, strict=True)]


def has_limits(s):
    """True if any axis of the mechanism has a position limit."""
    return LOW in used(s) or HIGH in used(s)


def chosen(s, a, e):
    """The one of e and -e whose rotation vector are the joint's coordinates."""
    e = shorter(e)
    if not has_limits(s):
        return e
    phi, _ = rotation_vector(e)
    size = sqrt(maximum(dot(phi, phi), 1.0))
    ways = phi, scale(1.0 - TWO_PI / size, phi)
    short, long = (beyond(s, a, way) for way in ways)
    flip = select(less(e[0], QUARTER) & less(long + 1e-9, short), -1.0, 1.0)  # not near zero
    return [flip * x for x in e]


def beyond(s, a, phi):
    """Excess of a rotation vector over the limits of its axes, 0 within them."""
    most = 0.0 * phi[0]
    for k, value in enumerate(phi):
        bounds, bounded = s.bounds[a + k], s.bounded[a + k]
        over = maximum(bounded[LOW] * (bounds[LOW] - value), bounded[HIGH] * (value - bounds[HIGH]))
        most = maximum(over, most)
    return most


def prepare_ball(m, s, t, i, a):
    """Prepare at the current pose: the ways round, the force maps K, the known half of the springs; what the drive
    would ask for if the joint went on turning as it did. a: first of the three axes."""
    h, h0 = t.h, s.h0
    for k in range(4):
        t.q_before[m.n_bodies][k] = 1.0 if k == 0 else 0.0  # the world
    e0 = chosen(s, a, relative_rotation(m, t.q, i))
    before = aligned(relative_rotation(m, t.q_before, i), e0)
    rest, target = (aligned(turned_by(of_axes(field, a)), e0) for field in (s.rest, s.target))
    stretch, spring_map = rotation_vector(multiply(conjugate(rest), e0))
    stretch_before, _ = rotation_vector(multiply(conjugate(rest), before))
    _, drive_map = rotation_vector(multiply(conjugate(target), e0))
    pulled = interval_before(s, t)
    middle = add(stretch, scale(0.5 * pulled / h0, sub(stretch_before, stretch)))
    known = scale(0.5, add(scale(pulled / h, middle), scale(0.5, stretch)))
    store(t.e0[i], e0)
    store(t.rest_frame[i], rest)
    store(t.target_frame[i], target)
    store(t.spring_map[i], spring_map)
    store(t.drive_map[i], drive_map)
    store(t.stretched[i], times(of_axes(s.stiffness, a), known))
    if has_limits(s):
        store(t.limit_map[i], rotation_vector(e0)[1])
    if s.features.armature:  # one for all three axes: the turn has the same components along the child's axes before it
        turn, _ = rotation_vector(multiply(conjugate(before), e0))
        for k in range(3):
            t.rate0[a + k][0] = turn[k] / h0
    if s.features.limits:
        onwards = multiply(multiply(e0, conjugate(before)), e0)
        turn, _ = rotation_vector(multiply(conjugate(before), e0))
        ahead, _ = rotation_vector(multiply(conjugate(target), onwards))
        for k, value in enumerate(drive(s, t, i, a, of_axes(s.effort, a), ahead, scale(h / h0, turn))):
            t.asked[a + k][0] = value


def drive(s, t, i, a, efforts, error, turn):
    """Torques that the drive asks for: efforts - K^T kp error + kd (target velocity - turn/h)."""
    pull = matvec_t(mat(t.drive_map[i]), times(of_axes(s.kp, a), error))
    slip = sub(of_axes(s.target_velocity, a), scale(1.0 / t.h, turn))
    return add(sub(efforts, pull), times(of_axes(s.kd, a), slip))


def next_rotation(m, t, i, e0):
    """e1, of the sign that continues e0."""
    return aligned(relative_rotation(m, t.qn, i), e0)


def ball_law(m, s, t, i, a, efforts):
    """Torques about the child's axes at the next pose, `efforts` being applied from outside.

    Leaves the rows of the slacks, and the derivatives of everything by a turn of the child (in its joint frame)."""
    rate = 1.0 / t.h
    e0 = vec(t.e0[i])
    e1 = next_rotation(m, t, i, e0)
    turn, K_turn = rotation_vector(multiply(conjugate(e0), e1))
    stretch, K_stretch = rotation_vector(multiply(conjugate(vec(t.rest_frame[i])), e1))
    error, K_error = rotation_vector(multiply(conjugate(vec(t.target_frame[i])), e1))
    damping, quarter = of_axes(s.damping, a), scale(0.25, of_axes(s.stiffness, a))
    spring_map, drive_map = mat(t.spring_map[i]), mat(t.drive_map[i])
    motors = drive(s, t, i, a, efforts, error, turn)
    pull = matvec_t(spring_map, add(vec(t.stretched[i]), times(quarter, stretch)))
    torques = sub(scale(-1.0, pull), scale(rate, times(damping, turn)))
    damped = scale(rate, damping)
    if s.features.armature:
        torques = add(torques, [rotor_effort(s, t, a + k, rate * turn[k]) for k in range(3)])
        damped = add(damped, scale(rate * rate, of_axes(s.armature, a)))
    store(t.K_turn[i], K_turn)
    store(t.K_passive[i], law_slope(spring_map, quarter, K_stretch, damped, K_turn))
    store(t.K_drive[i], law_slope(drive_map, of_axes(s.kp, a), K_error, scale(rate, of_axes(s.kd, a)), K_turn))
    if not s.features.limits:
        return add(torques, motors)
    phi = [0.0, 0.0, 0.0]
    if has_limits(s):
        phi, K = rotation_vector(e1)
        store(t.K[i], K)
    parts = [bounded_law(s, t, a + k, motors[k], phi[k], turn[k]) for k in range(3)]
    if has_limits(s):
        torques = add(torques, matvec_t(mat(t.limit_map[i]), [low - high for _, low, high, _ in parts]))
    return [torque + motor + dry for torque, (motor, _, _, dry) in zip(torques, parts, strict=True)]


def law_slope(force_map, gain, K, damping, K_turn):
    """force_map^T gain K + damping K_turn, with a gain and a damping per axis."""
    position = product(transpose(force_map), [scale(g, row) for g, row in zip(gain, K, strict=True)])
    return [add(row, scale(d, turn)) for row, d, turn in zip(position, damping, K_turn, strict=True)]


def child_axes(m, t, i):
    """The child's axes at the next pose, in the world frame: they turn dth into that of the child's joint frame."""
    R = mat(t.Rn[m.child[i]])
    return [matvec(R, axis) for axis in mat(m.child_axes[i])]


def ball_stiffness(m, s, t, i, a):
    """-d(torques)/d(dth), 3 x 3, dth in the world frame; the pairs are condensed."""
    K_turn, K_drive, rows = mat(t.K_turn[i]), mat(t.K_drive[i]), mat(t.K_passive[i])
    parts = [parts_of_change(s, t, a + k, NOTHING, NOTHING, 1.0) for k in range(3)]
    for k, (dmotor, _, ddry) in enumerate(parts):
        rows[k] = sub(rows[k], add(scale(dmotor, K_drive[k]), scale(ddry, K_turn[k])))
    if has_limits(s):
        held = [scale(dlimit, row) for (_, dlimit, _), row in zip(parts, mat(t.K[i]), strict=True)]
        rows = [sub(row, part) for row, part in zip(rows, product(transpose(mat(t.limit_map[i])), held), strict=True)]
    return product(rows, child_axes(m, t, i))


def known_efforts(s, t, i, a, targets):
    """The part of the change of the torques that does not depend on the motion; `targets` gives (k, r) of an axis."""
    parts = [parts_of_change(s, t, a + k, *targets(a + k), 0.0) for k in range(3)]
    known = [dmotor + ddry for dmotor, _, ddry in parts]
    if has_limits(s):
        known = add(known, matvec_t(mat(t.limit_map[i]), [dlimit for _, dlimit, _ in parts]))
    return known


def store_ball_changes(m, t, i, a, dth):
    """Store the changes that the pairs of the three axes need, by the relative turn dth (world frame)."""
    turned = matvec(child_axes(m, t, i), dth)
    changes = [(t.fall, t.K_drive), (t.dmotion, t.K_turn)]
    for field, K in [*changes, (t.dphi, t.K)] if has_limits(t) else changes:
        for k, value in enumerate(matvec(mat(K[i]), turned)):
            field[a + k][0] = value


def coordinates(m, s, t, i, a):
    """Rotation vector at the next pose, and the turn of the step."""
    e0 = relative_rotation(m, t.q, i)
    e1 = next_rotation(m, t, i, e0)
    return rotation_vector(chosen(s, a, e1))[0], rotation_vector(multiply(conjugate(e0), e1))[0]
