"""One rigid body: the variational integrator and its derivative (paper: eq. dynamics2, DESIGN: dynamics).

The kernels solve in the WORLD frame, where moving a whole subtree rigidly is a plain shift (see ldu.py):

    om = R(q) w                                       angular velocity (R keeps w, so om is the same at z and z+)
    q+ = (h/2) [s, om] q,   s = sqrt(4/h^2 - om.om)    next orientation
    r_f = m (v1 - v0)/h - m gravity - f                N
    r_t = (s J om + om x J om)/2 - p0/h - tau          N m, J = R J_body R^T at the current pose
    p0  = (h0/2) (s0 J om0 - om0 x J om0)              spatial angular momentum that led here in a step h0

With h0 = h this is DESIGN's rotation equation times R. Newton's unknown is the change of the NEXT POSE, y = (dx, dth),
both in the world frame; it relates to the velocities by dv = dx/h and d(om) = (s dth - om x dth)/2.
"""

from vigym.engine.kernels.quaternion import add, cross, dot, mat, matrix, matvec, multiply, scale, store, sub, vec
from vigym.engine.kernels.simd import less, maximum, minimum, on, select, sqrt
from vigym.engine.kernels.sweep import each_body

JUMP = 1.0
SPIN = 1.9  # |om| h stays below this; the map to q+ ends at 2


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


@each_body
def prepare_body(m, s, t, i):
    """What does not change during a step: pose, world inertia, known part of the residual; first guess of V."""
    h, led = t.h[0][0], s.led[0][0]
    x, q, v = vec(s.x[i]), vec(s.q[i]), vec(s.v[i])
    R = matrix(q)
    J = world_inertia(R, vec(s.inertia[i]))
    om = matvec(R, vec(s.w[i]))
    mass, gravity = s.mass[i][0], vec(m.gravity[0])
    Jom = matvec(J, om)
    s0 = sqrt(4.0 / (led * led) - dot(om, om))
    spin = scale(0.5 * led / h, sub(scale(s0, Jom), cross(om, Jom)))
    torque = matvec(R, vec(s.torque[i]))
    known = [-mass * v[k] / h - mass * gravity[k] - s.force[i][k] for k in range(3)]
    known += [-spin[k] - torque[k] for k in range(3)]
    store(t.x[i], x)
    store(t.q[i], q)
    store(t.R[i], R)
    store(t.J[i], [J[0][0], J[0][1], J[0][2], J[1][1], J[1][2], J[2][2]])
    store(t.known[i], known)
    store(t.V[i], v + om)


@each_body
def move_body(m, s, t, i):
    """Next pose, residual without joints and contacts, and its derivative D by y (6x6)."""
    h, mass = t.h[0][0], s.mass[i][0]
    V = vec(t.V[i])
    v, om = V[:3], V[3:]
    J = symmetric(vec(t.J[i]))
    sq = sqrt(4.0 / (h * h) - dot(om, om))
    qn = multiply(scale(0.5 * h, [sq, *om]), vec(t.q[i]))
    store(t.qn[i], qn)
    store(t.Rn[i], matrix(qn))
    store(t.xn[i], add(vec(t.x[i]), scale(h, v)))
    t.sq[i][0] = sq
    Jom = matvec(J, om)
    known = vec(t.known[i])
    force = add(known[:3], scale(mass / h, v))
    store(t.r[i], force + add(known[3:], scale(0.5, add(scale(sq, Jom), cross(om, Jom)))))
    # d r_t / d om = (s J - J om om^T / s - [J om]x + [om]x J) / 2, then times (s I - [om]x) / 2
    inverse = 1.0 / sq
    columns = []
    for j in range(3):
        unit = [1.0 if k == j else 0.0 for k in range(3)]
        column = [row[j] for row in J]
        change = sub(scale(sq, column), scale(om[j] * inverse, Jom))
        columns.append(add(sub(change, cross(Jom, unit)), cross(om, column)))
    D = [[0.0] * 6 for _ in range(6)]
    for k in range(3):
        D[k][k] = mass / (h * h)
        row = [columns[j][k] for j in range(3)]
        D[3 + k][3:] = scale(0.25, sub(scale(sq, row), cross(row, om)))
    store(t.D[i], D)


def velocity_change(h, sq, om, y):
    """Change of (v, om) that moves the next pose by y = (dx, dth)."""
    dth = y[3:]
    return [y[k] / h for k in range(3)] + scale(0.5, sub(scale(sq, dth), cross(om, dth)))


@each_body
def limit_spin(m, s, t, i):
    """Shorten the step `alpha` so that |om + alpha d(om)| h stays below SPIN."""
    h = t.h[0][0]
    om = vec(t.V[i])[3:]
    d = velocity_change(h, t.sq[i][0], om, vec(t.y[i]))[3:]
    a, b = dot(d, d) + 1e-300, dot(om, d)
    room = maximum(SPIN * SPIN / (h * h) - dot(om, om), 0.0)
    reach = (sqrt(b * b + a * room) - b) / a
    t.alpha[0][0] = minimum(reach, t.alpha[0][0])


@each_body
def update_body(m, s, t, i):
    """V += alpha dV in the lanes that still iterate."""
    h, live = t.h[0][0], on(t.live[0][0])
    V = vec(t.V[i])
    d = velocity_change(h, t.sq[i][0], V[3:], vec(t.y[i]))
    for k in range(6):
        t.V[i][k] = select(live, V[k] + t.alpha[0][0] * d[k], V[k])


@each_body
def judge_body(m, s, t, i):
    """Refuse a solution that turns a body by more than JUMP rad further than its last velocity would: the equations of
    a long step have such solutions beside the one that is meant, and shorter steps do not."""
    h, om = t.h[0][0], vec(t.V[i])[3:]
    change = scale(h, sub(om, matvec(mat(t.R[i]), vec(s.w[i]))))
    jumped = less(JUMP * JUMP, dot(change, change)) & less(1.5, t.stride[0][0])
    t.good[0][0] = select(jumped, 0.0, t.good[0][0])


@each_body
def finish_body(m, s, t, i):
    """Commit the solved step to the state in the lanes that converged; w = R^T om, and q stays a unit quaternion."""
    good = on(t.good[0][0])
    V, qn = vec(t.V[i]), vec(t.qn[i])
    R = mat(t.R[i])
    w = [R[0][k] * V[3] + R[1][k] * V[4] + R[2][k] * V[5] for k in range(3)]
    size = sqrt(qn[0] * qn[0] + dot(qn[1:], qn[1:]))
    for target, values in ((s.x, vec(t.xn[i])), (s.q, [a / size for a in qn]), (s.v, V[:3]), (s.w, w)):
        for k, value in enumerate(values):
            target[i][k] = select(good, value, target[i][k])
