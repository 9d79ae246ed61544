"""One rigid body: its dynamics over a step (paper: eq. dynamics2), and how Newton moves it.

The kernels solve in the WORLD frame, where moving a whole subtree rigidly is a plain shift (see ldu.py). With the
momenta of integrator.py, om = R(q) w, which is the same at z and z+, and J = R J_body R^T at the current pose:

    r_f = m (v1 - v0)/h - m gravity - f                    N
    r_t = (T^T J om) - (h0/h) (T J om)_0 - tau             N m, (.)_0 of the step of length h0 that led here

Newton's unknown is the change of the NEXT POSE, y = (dx, dth), both in the world frame.

Residuals are judged by what there is to compare them with, body by body, so that a tolerance means the same for a speck
of dust and for a ship: forces by `unit`, the body's weight, what is applied to it and what joints and contacts do to it
in this step; torques by that at its radius of gyration (`size`), and its own torques; gaps and joints by its size, or
by 1 m if it is larger. Wherever rounding is more than the tolerance of that, rounding is what counts: that of momenta,
of the wrench of its joint and of its position.
"""

from vigym.engine.kernels import integrator
from vigym.engine.kernels.quaternion import add, dot, mat, matrix, matvec, scale, store, sub, vec
from vigym.engine.kernels.simd import absolute, less, maximum, minimum, on, select, sqrt
from vigym.engine.kernels.sweep import each_body

MOST_JUMP = 1.0  # rad
INFINITE = 1e200
SLOWEST = 1e-10  # of its size is as far as a body moves in a step by a force that is as good as none


def world_inertia(R, inertia):
    """R J R^T as a full 3x3 from the six numbers xx xy xz yy yz zz of J."""
    J_body = symmetric(inertia)
    RJ = [matvec(J_body, row) for row in R]
    J = [[None] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(i, 3):
            J[i][j] = J[j][i] = dot(RJ[i], R[j])
    return J


def symmetric(six):
    """The full 3x3 of six numbers xx xy xz yy yz zz."""
    a, b, c, d, e, f = six
    return [[a, b, c], [b, d, e], [c, e, f]]


def velocity(t, i):
    """v and om of body i, as Newton has them."""
    V = vec(t.V[i])
    return V[:3], V[3:]


def tangent(t, i):
    """The integrator's tangent at the velocity of body i, as `move_body` left it."""
    return integrator.recalled(t.h, velocity(t, i)[1], vec(t.tangent[i]))


def heft(m, s, i):
    """Present mass over that with which the usual sizes were found."""
    return s.mass[i][0] / m.nominal_mass[i][0]


def kinetic(mass, J, v, om):
    """Kinetic energy, J."""
    return 0.5 * (mass * dot(v, v) + dot(om, matvec(J, om)))


def momentum(h, h0, mass, J, v, om):
    """Momentum over h (6) with which a step of length h0 at v, om has ended."""
    return scale(mass / h, v) + scale(h0 / h, integrator.momentum(h0, J, om))


def place_world(m, t):
    """Pose of the world, which carries any force."""
    world = m.n_bodies
    for k in range(3):
        t.x[world][k] = t.xn[world][k] = t.x_before[world][k] = 0.0
        for j in range(3):
            t.R[world][k, j] = t.Rn[world][k, j] = t.R_before[world][k, j] = 1.0 if j == k else 0.0
    for k in range(4):
        t.q[world][k] = t.qn[world][k] = 1.0 if k == 0 else 0.0
    t.unit[world][0] = t.unit[world][1] = INFINITE
    t.per_length[world][0] = 0.0


@each_body
def prepare_body(m, s, t, i):
    """Set up a step: pose, world inertia, known part of the residual; first guess of V, which changes as it did in the
    last step where it has been doing so."""
    h, h0 = t.h, s.h0
    x, q, v = vec(s.x[i]), vec(s.q[i]), vec(s.v[i])
    R = matrix(q)
    J = world_inertia(R, vec(s.inertia[i]))
    om = matvec(R, vec(s.w[i]))
    mass, gravity = s.mass[i][0], vec(m.gravity[0])
    spin = scale(h0 / h, integrator.momentum(h0, J, om))
    torque = matvec(R, vec(s.torque[i]))
    known = [-mass * v[k] / h - mass * gravity[k] - s.force[i][k] for k in range(3)]
    known += [-spin[k] - torque[k] for k in range(3)]
    store(t.x[i], x)
    store(t.q[i], q)
    store(t.R[i], R)
    store(t.J[i], [J[0][0], J[0][1], J[0][2], J[1][1], J[1][2], J[2][2]])
    store(t.known[i], known)
    gained = scale(t.onwards, vec(t.gained[i]))
    store(t.V[i], add(v, gained[:3]) + add(om, matvec(R, gained[3:])))
    if m.features.balls:
        store(t.q_before[i], integrator.advance(h0, (x, q), (scale(-1.0, v), scale(-1.0, om)))[1])
    inertia = vec(s.inertia[i])
    size = sqrt((inertia[0] + inertia[3] + inertia[5]) / mass)
    force = mass * (m.free_fall + SLOWEST * size / (h * h)) + largest(vec(s.force[i]))
    t.size[i][0] = size
    store(t.least_unit[i], [force, size * force + largest(torque)])
    t.per_length[i][0] = 1.0 / (minimum(size, 1.0) + m.length_rounding * largest(x))


def largest(values):
    """max |value|"""
    most = absolute(values[0])
    for value in values[1:]:
        most = maximum(absolute(value), most)
    return most


@each_body
def move_body(m, s, t, i):
    """Next pose, residual without joints and contacts, its derivative D by y (6x6), and the units it is judged by."""
    h, mass = t.h, s.mass[i][0]
    v, om = velocity(t, i)
    J = symmetric(vec(t.J[i]))
    x1, q1 = integrator.advance(h, (vec(t.x[i]), vec(t.q[i])), (v, om))
    store(t.qn[i], q1)
    store(t.Rn[i], matrix(q1))
    store(t.xn[i], x1)
    store(t.tangent[i], integrator.tangent(h, om).kept)
    if m.features.touches:
        store(t.speed[i], v)
    known, momentum, spin = vec(t.known[i]), scale(mass * t.rate, v), integrator.first_momentum(h, J, om)
    force, torque = add(known[:3], momentum), add(known[3:], spin)
    store(t.r[i], force + torque)
    store(t.D[i], integrator.first_momentum_slope(h, mass, J, om))
    size, wrench = t.size[i][0], vec(t.wrench[i])
    pushed = largest(force) + m.force_rounding * (largest(momentum) + largest(wrench[:3]))
    turned = largest(torque) + m.force_rounding * (largest(spin) + largest(wrench[3:]))
    t.unit[i][0] = t.least_unit[i][0] + pushed
    t.unit[i][1] = t.least_unit[i][1] + size * pushed + turned


@each_body
def limit_spin(m, s, t, i):
    """Shorten the step `alpha` so that |om + alpha d(om)| h stays below MOST_SPIN."""
    h, (_, om) = t.h, velocity(t, i)
    d = tangent(t, i).rates(vec(t.y[i]))[3:]
    a, b = dot(d, d) + 1e-300, dot(om, d)
    room = maximum(integrator.MOST_SPIN * integrator.MOST_SPIN / (h * h) - dot(om, om), 0.0)
    reach = (sqrt(b * b + a * room) - b) / a
    t.alpha = minimum(reach, t.alpha)


@each_body
def update_body(m, s, t, i):
    """V += alpha dV in the lanes that still iterate."""
    live, V = on(t.live), vec(t.V[i])
    d = tangent(t, i).rates(vec(t.y[i]))
    for k in range(6):
        t.V[i][k] = select(live, V[k] + t.alpha * d[k], V[k])


@each_body
def refuse_jump(m, s, t, i):
    """Refuse a solution that turns a body by more than MOST_JUMP further than its last velocity would: the equations of
    a long step have such solutions beside the one that is meant, and shorter steps do not."""
    _, om = velocity(t, i)
    change = scale(t.h, sub(om, matvec(mat(t.R[i]), vec(s.w[i]))))
    jumped = less(MOST_JUMP * MOST_JUMP, dot(change, change)) & less(1.5, t.stride)
    t.good = select(jumped, 0.0, t.good)


def note_change(s, t, i, change, gained):
    """Add up how much velocities changed, and by how much that is not what they had changed before, as energies."""
    for name, values in (("change", change), ("surprise", sub(change, gained))):
        turn = t.size[i][0] * t.size[i][0] * dot(values[3:], values[3:])
        setattr(t, name, getattr(t, name) + s.mass[i][0] * (dot(values[:3], values[:3]) + turn))


@each_body
def finish_body(m, s, t, i):
    """Commit the solved step to the state in the lanes that converged; w = R^T om, and q stays a unit quaternion."""
    good = on(t.good)
    V, qn = vec(t.V[i]), vec(t.qn[i])
    R = mat(t.R[i])
    w = [R[0][k] * V[3] + R[1][k] * V[4] + R[2][k] * V[5] for k in range(3)]
    gained, change = vec(t.gained[i]), sub(V[:3] + w, vec(s.v[i]) + vec(s.w[i]))
    note_change(s, t, i, change, gained)
    size = sqrt(qn[0] * qn[0] + dot(qn[1:], qn[1:]))
    for target, values in ((s.x, vec(t.xn[i])), (s.q, [a / size for a in qn]), (s.v, V[:3]), (s.w, w)):
        for k, value in enumerate(values):
            target[i][k] = select(good, value, target[i][k])
