"""The oracle: one step of the dynamics (docs/equations.md), dense, NumPy, slow and obvious; no engine code.

A mechanism is any object with the plain attributes

    gravity (3,); bodies: name mass inertia (3, 3)
    joints: name parent child parent_anchor (3,) child_anchor (3,) orientation (4,) basis (3, 3)
        constrained (6,) and, one number a free axis, stiffness rest damping kp kd target target_velocity
        effort_limit armature lower upper friction
    contacts: name body point (3,) radius friction normal (3,) offset tangents (2, 3)
    touches, if any: contacts between two bodies, see `Touch`

Unknowns y of a step of length h: the twists V = (v1, w1) of all bodies, the joint multipliers lam and, for
every inequality, a slack a and a multiplier b. With z the pose and z+ = z moved by V, the equations are

    dynamics(V) - known - G(z)' lam - E(z)' tau(z+) - W(z)' b = 0
    g(z+) = 0
    slack(V, b) - a = 0          slack = constant + S (phi(z+), c(z+), slides) + A b
    0 <= a, 0 <= b, a b = 0

g: joint rows, c: coordinates of free axes, phi: contact gaps, G = dg/dz, E: map of the efforts tau on free
axes. The pairs (slack a, multiplier b) are

    contact     phi(z+)                     gamma     force along the normal; see `softness` for soft ones
    cone        cf gamma - sum beta         psi       no force
    direction   eta = +-slide + psi         beta      force along +-t, four to a contact; see `slides`
    limits      c(z+) - lower               gamma_lo  effort +1
                upper - c(z+)               gamma_hi  effort -1
    drive       effort_limit - u            p         u = clip(U, +-effort_limit) as u = U - p + n:
                effort_limit + u            n         p and n are what the limit cuts off
    dry         friction - sum b            sliding   no effort
                +- motion + sliding         b         effort +-1, two to an axis; motion: that of the step

Springs have the potential stiffness/2 (middle - rest)^2 h in the interval before the current pose and in the one after
it, middle being the mean of the coordinate at both ends; the effort is minus the gradient of both by the current pose.
Three free rotations have `turns` (the relative rotation of the step, for dampers, kd and dry friction), and rotation
vectors from rest and from the target, for springs and kp, the shorter way round from the current pose; what depends on
these acts along their gradients at the current pose.

All functions take leading axes and complex numbers: every derivative is a complex step, exact to rounding.
"""

from collections import namedtuple

import numpy as np
from scipy.optimize import linprog

EPS = 1e-30  # complex step
MAX_ROTATION = 2.0  # bound of |w1| h
WORLD = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
INVERSE = np.array([1.0, -1.0, -1.0, -1.0])  # q^-1 = INVERSE * q for a unit quaternion
LEVI_CIVITA = np.array([[np.cross(a, b) for b in np.eye(3)] for a in np.eye(3)])

# v w (n_bodies, 3), x (n_bodies, 3), q (n_bodies, 4): next state. Forces in N, torques in N m.
# contact_normal (n_contacts,), contact_friction (n_contacts, 2) along the tangents.
Result = namedtuple("Result", "v w x q lam contact_normal contact_friction residual iterations converged")


def apply(matrix, vector):
    return np.einsum("...ij,...j->...i", matrix, vector)


def skew(u):
    """[u]x with [u]x v = u x v."""
    return -np.einsum("ijk,...k->...ij", LEVI_CIVITA, u)


def multiply(a, b):
    """Hamilton product a b of quaternions, scalar first."""
    a, b = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
    return np.stack([w, x, y, z], axis=-1)


def rotation_matrix(q):
    """R(q) = (a^2 - u.u) I + 2 u u' + 2 a [u]x for q = (a, u)."""
    a, u = q[..., 0, None, None], q[..., 1:]
    dot = np.sum(u * u, axis=-1)[..., None, None]
    return (a * a - dot) * np.eye(3) + 2 * u[..., :, None] * u[..., None, :] + 2 * a * skew(u)


def atan2(y, x):
    """arctan2 that carries complex steps: d atan2 = (x dy - y dx) / (x^2 + y^2)."""
    slope = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
    return np.arctan2(y.real, x.real) + (1j * slope if np.iscomplexobj(slope + x + y) else 0.0)


def nearest(angle, centre):
    """The angle plus the multiple of 2 pi that brings it closest to centre."""
    return angle + 2 * np.pi * np.round((centre - angle.real) / (2 * np.pi))


def rotation_vector(q, near=0.0):
    """2 atan2(|u|, a) u / |u| of q = (a, u): of the two ways round the nearer to `near` (0: the shorter; infinity: the
    longer)."""
    q = np.where(q[..., :1].real < 0, -q, q)
    a, u = q[..., :1], q[..., 1:]
    square = np.sum(u * u, axis=-1, keepdims=True)
    small = square.real < 1e-16  # there angle / |u| = 2 / a to rounding
    norm = np.sqrt(np.where(small, 1, square))
    angle = np.where(small, 2 / np.where(small, a, 1), 2 * atan2(norm, a))
    short, long = u * (angle / norm), u * ((angle - 2 * np.pi) / norm)
    if np.all(np.isinf(near)):
        return long
    distances = [np.sum((vector.real - near) ** 2, axis=-1, keepdims=True) for vector in (short, long)]
    return np.where(distances[0] <= distances[1], short, long)


def half_turn(w, h):
    """x = h |w| / 2 squared, where that is small, x and sin(x) / x; by series where closed forms lose digits."""
    square = h**2 / 4 * np.sum(w * w, axis=-1, keepdims=True)
    small = square.real < 1e-6
    x = np.sqrt(np.where(small, 1, square))
    return square, small, x, np.where(small, 1 - square / 6 + square**2 / 120, np.sin(x) / x)


def spin(J, w, h, sign):
    """J w + sign phi x J w / 2 + k phi x (phi x J w), over h, in N m: + with the sought w1, - with the known w0.

    phi = h w is the turn of the step, k = (1 - x cot x) / (4 x^2) with x = |phi| / 2: the transposed inverse of the
    derivative of the exponential map, and for sign - that of the turn back."""
    square, small, x, _ = half_turn(w, h)
    series = 1 / 12 + square / 180 + square**2 / 1890
    k = np.where(small, series, (1 - x / np.tan(x)) / (4 * np.where(small, 1, square)))
    Jw, turn = apply(J, w), skew(h * w)
    return (Jw + sign * apply(turn, Jw) / 2 + k * apply(turn, apply(turn, Jw))) / h


def move(x, q, V, h):
    """Next pose x+ = x + h v, q+ = q exp(h w); V (..., n_bodies, 6)."""
    v, w = V[..., :3], V[..., 3:]
    square, small, half, sine = half_turn(w, h)
    cosine = np.where(small, 1 - square / 2 + square**2 / 24, np.cos(half))
    return x + h * v, multiply(q, np.concatenate([cosine, h / 2 * sine * w], axis=-1))


def perturb(x, q):
    """The pose with a complex step in each of (dx world, dtheta body) of every body, as a leading axis."""
    steps = 1j * EPS * np.eye(6 * len(x)).reshape(-1, len(x), 6)
    turns = np.concatenate([np.zeros_like(steps[..., :1]), steps[..., 3:] / 2], axis=-1)
    return x + steps[..., :3], q + multiply(q, turns)


def views(m, x, q):
    """(joint, xp, qp, xc, qc, p, c) of all joints but floating ones: those have no rows, no coordinates."""
    index = {body.name: i for i, body in enumerate(m.bodies)} | {"world": None}
    for joint in m.joints:
        p, c = index[joint.parent], index[joint.child]
        if np.any(joint.constrained):
            parent = WORLD if p is None else (x[..., p, :], q[..., p, :])
            yield joint, *parent, x[..., c, :], q[..., c, :], p, c


def gather(m, name):
    """One property of the free axes of all joints, in joint order."""
    parts = [np.ravel(getattr(joint, name)) for joint in m.joints if np.any(joint.constrained)]
    return np.concatenate([np.zeros(0), *parts])


def joint_values(m, x, q, near=None):
    """Rows g (..., n_rows) and coordinates c (..., n_free) of all joints.

    Angles are taken in the branch nearest to `near` (n_free,). Without it: nearest to the middle of the
    limits (to 0 where there is no middle), and the shorter rotation vector for three free rotations, or the longer one
    where it is within the limits and the shorter is not.
    """
    g, c = [np.zeros((*x.shape[:-2], 0))], [np.zeros((*x.shape[:-2], 0))]
    limits = np.array([gather(m, "lower"), gather(m, "upper")])
    centres = np.where(np.isfinite(limits).all(axis=0), limits, 0.0).mean(axis=0) if near is None else near
    for joint, xp, qp, xc, qc, *_ in views(m, x, q):
        basis, fixed = np.asarray(joint.basis, float), np.asarray(joint.constrained, bool)
        offset, free = np.asarray(joint.orientation, float), basis[~fixed[3:]]
        centre, centres = np.split(centres, [np.sum(~fixed)])
        centre = centre[len(centre) - len(free) :]
        Rp, Rc = rotation_matrix(qp), rotation_matrix(qc)
        gap = xc + apply(Rc, joint.child_anchor) - xp - apply(Rp, joint.parent_anchor)
        along = apply(basis @ rotation_matrix(offset).T @ np.swapaxes(Rp, -1, -2), gap)
        e = multiply(INVERSE * offset, multiply(INVERSE * qp, qc))
        about = apply(basis, e[..., 1:])
        rows, angles = about[..., fixed[3:]], about[..., :0]
        if len(free) == 1:
            angles = nearest(2 * atan2(about[..., ~fixed[3:]], e[..., :1]), centre)
        elif len(free) == 2:  # Hooke: R(e) = Rot(a1, alpha) Rot(a2, beta), a1 in the parent, a2 in the child
            (a1, a2), R = free, rotation_matrix(e)
            a3 = np.cross(a1, a2)
            rows = (a1 @ R @ a2)[..., None]
            alpha, beta = atan2(a3 @ R @ a2, a2 @ R @ a2), atan2(a1 @ R @ a3, a1 @ R @ a1)
            angles = nearest(np.stack([alpha, beta], axis=-1), centre)
        elif len(free) == 3:
            angles = apply(basis, rotation_vector(e, 0.0 if near is None else basis.T @ centre))
            if near is None:  # the longer way round where only the shorter one is beyond the limits
                long = apply(basis, rotation_vector(e, np.inf))
                lower, upper = np.ravel(joint.lower)[-3:], np.ravel(joint.upper)[-3:]
                ways = (angles.real, long.real)
                over = [np.max(np.maximum(lower - way, way - upper), axis=-1, keepdims=True) for way in ways]
                angles = np.where(np.maximum(over[1], 0.0) < over[0], long, angles)
        g += [along[..., fixed[:3]], rows]
        c += [along[..., ~fixed[:3]], angles]
    return np.concatenate(g, axis=-1), np.concatenate(c, axis=-1)


def effort_map(m, x, q):
    """E (n_free, 6 n_bodies): unit efforts as (force world, torque body); the parent gets the opposite."""
    E = []
    for joint, _, qp, xc, qc, p, c in views(m, x, q):
        basis, free = np.asarray(joint.basis, float), ~np.asarray(joint.constrained, bool)
        Rc, frame = rotation_matrix(qc), rotation_matrix(multiply(qp, np.asarray(joint.orientation, float)))
        turns, none = basis[free[3:]], np.zeros(3)
        wrenches = [(frame @ axis, none) for axis in basis[free[:3]]]
        wrenches += [(none, (frame if len(turns) == 2 and k == 0 else Rc) @ turns[k]) for k in range(len(turns))]
        for force, torque in wrenches:  # world frame, at the anchor point of the child
            row = np.zeros((len(m.bodies), 6))
            for i, sign in ((c, 1), (p, -1)):
                if i is not None:
                    about_body = torque + np.cross(xc + Rc @ joint.child_anchor - x[i], force)
                    row[i] += sign * np.concatenate([force, rotation_matrix(q[i]).T @ about_body])
            E.append(row.ravel())
    return np.reshape(E, (len(E), 6 * len(m.bodies)))


def balls(m):
    """(joint, its place among `views`, its first free axis that is a rotation) of joints with three free rotations."""
    joints, first = [joint for joint in m.joints if np.any(joint.constrained)], 0
    for k, joint in enumerate(joints):
        free = ~np.asarray(joint.constrained, bool)
        if free[3:].all():
            yield joint, k, first + free[:3].sum()
        first += free.sum()


def from_rotation_vector(phi):
    """[cos(a/2), sin(a/2)/a phi], a = |phi|."""
    angle = np.linalg.norm(phi)
    return np.concatenate([[np.cos(angle / 2)], np.sinc(angle / (2 * np.pi)) / 2 * phi])


def ball_values(m, x, q, start):
    """Values of all joints with three free rotations, along their axes, (..., 9 n): the turn since `start`, a pose, and
    the rotation vectors from rest and from the target, the shorter way round there and going on smoothly."""
    values = [np.zeros((*x.shape[:-2], 0))]
    here, there = list(views(m, x, q)), list(views(m, *start))
    for joint, k, _ in balls(m):
        basis = np.asarray(joint.basis, float)
        e, e0 = (multiply(INVERSE * joint.orientation, multiply(INVERSE * v[k][2], v[k][4])) for v in (here, there))
        values.append(apply(basis, rotation_vector(multiply(INVERSE * e0, e))))
        for option in (joint.rest, joint.target):
            origin = from_rotation_vector(basis.T @ np.ravel(option)[-3:])
            near = rotation_vector(multiply(INVERSE * origin, e0))
            values.append(apply(basis, rotation_vector(multiply(INVERSE * origin, e), near)))
    return np.concatenate(values, axis=-1)


class Touch(namedtuple("Touch", "owner partner kind point base way mine rim radius friction")):
    """A contact between two bodies: a point of the owner, and something of its partner (None: the world).

    kind: "face" (a plane through base with the normal way), "points" (base), "line" (through base along way), "lines"
    (the owner's, through point along mine, and the partner's). point, mine in the owner's frame; base, way in the
    partner's. rim: the owner's radius around its point; radius: both radii. All are hard.
    """

    compliance = damping = 0.0

    def poses(self, m, x, q):
        """Owner's and partner's pose."""
        names = [body.name for body in m.bodies]
        i = names.index(self.owner)
        if self.partner is None:
            return (x[..., i, :], q[..., i, :]), WORLD
        j = names.index(self.partner)
        return (x[..., i, :], q[..., i, :]), (x[..., j, :], q[..., j, :])

    def place(self, m, x, q):
        """Vector from the partner's point to the owner's; normal from partner to owner."""
        (xo, qo), (xp, qp) = self.poses(m, x, q)
        Ro, Rp = rotation_matrix(qo), rotation_matrix(qp)
        d = xo + apply(Ro, np.array(self.point)) - xp - apply(Rp, np.array(self.base))
        way, mine = apply(Rp, np.array(self.way)), apply(Ro, np.array(self.mine))
        n = {
            "face": way + 0 * d,
            "points": d,
            "line": d - np.sum(d * way, -1, keepdims=True) * way,
            "lines": np.cross(way, mine),
        }[self.kind]
        return d, n / np.sqrt(np.sum(n * n, -1, keepdims=True))

    def gap(self, m, x, q):
        d, n = self.place(m, x, q)
        if self.kind == "lines":
            n = n * np.sign(np.sum(d * n, -1, keepdims=True).real)
        return np.sum(d * n, -1) - self.radius

    def axes(self, m, x, q):
        """n, and two tangents: the first across the world's axis that is least along n."""
        d, n = self.place(m, x, q)
        n = n * np.sign(d @ n) if self.kind == "lines" else n
        e = np.eye(3)[np.argmin(np.abs(n))]
        t = e - (e @ n) * n
        t = t / np.linalg.norm(t)
        return n, np.array([t, np.cross(n, t)])

    def friction_rows(self, m, x, q):
        """(2, n_bodies, 6): velocity of the owner's point at its surface, less that of the partner's there."""
        n, tangents = self.axes(m, x, q)
        names, rows = [body.name for body in m.bodies], np.zeros((2, len(m.bodies), 6))
        (xo, qo), _ = self.poses(m, x, q)
        surface = xo + rotation_matrix(qo) @ self.point - self.rim * n
        for body, sign in ((self.owner, 1.0), (self.partner, -1.0)):
            if body is not None:
                i = names.index(body)
                turns = np.cross(surface - x[i], tangents) @ rotation_matrix(q[i])
                rows[:, i] += sign * np.concatenate([tangents, turns], -1)
        return rows

    def slides(self, m, pose, after, h):
        """Sliding over the step, m/s (..., 2), in the partner's frame: the way of the owner's point, and the rotation
        vector of its turn times the radius below it."""
        n, tangents = self.axes(m, *pose)
        (_, qo), (_, qp) = self.poses(m, *pose)
        seen = []
        for (x_o, q_o), (x_p, q_p) in ((self.poses(m, *pose)), (self.poses(m, *after))):
            back = np.swapaxes(rotation_matrix(q_p), -1, -2)
            seen.append(apply(back, x_o + apply(rotation_matrix(q_o), np.array(self.point)) - x_p))
        way = apply(rotation_matrix(qp), seen[1] - seen[0])
        (_, q_o), (_, q_p) = self.poses(m, *after)
        # turn of the owner as an observer on the partner sees it, in the world's axes of the start
        unturn = multiply(INVERSE * multiply(q_p, INVERSE * np.asarray(qp)), multiply(q_o, INVERSE * np.asarray(qo)))
        turn = rotation_vector(unturn)
        return np.stack([way @ t + turn @ np.cross(-self.rim * n, t) for t in tangents], -1) / h


def all_contacts(m):
    """Those with planes of the world, and those between bodies."""
    return [*m.contacts, *getattr(m, "touches", [])]


def gaps(m, x, q):
    """phi, (..., all contacts)."""
    touching = [touch.gap(m, x, q)[..., None] for touch in getattr(m, "touches", [])]
    return np.concatenate([plane_gaps(m, x, q), *touching], axis=-1)


def plane_gaps(m, x, q):
    """phi = n . (x + R p) - offset - radius, (..., n_contacts)."""
    body = [[b.name for b in m.bodies].index(contact.body) for contact in m.contacts]
    points = np.reshape([contact.point for contact in m.contacts], (-1, 3))
    normals = np.reshape([contact.normal for contact in m.contacts], (-1, 3))
    height = np.sum(normals * (x[..., body, :] + apply(rotation_matrix(q[..., body, :]), points)), axis=-1)
    return height - np.array([contact.offset + contact.radius for contact in m.contacts])


def friction_map(m, x, q):
    """B (n_contacts, 2, 6 n_bodies): velocity along the tangents of the body's point at x + R p - r n."""
    B, names = np.zeros((len(m.contacts), 2, len(m.bodies), 6)), [body.name for body in m.bodies]
    for rows, contact in zip(B, m.contacts, strict=True):
        i = names.index(contact.body)
        R = rotation_matrix(q[i])
        arm = R @ contact.point - contact.radius * np.asarray(contact.normal)
        for row, t in zip(rows, np.asarray(contact.tangents), strict=True):
            row[i] = np.concatenate([t, R.T @ np.cross(arm, t)])
    touching = [touch.friction_rows(m, x, q) for touch in getattr(m, "touches", [])]
    return np.reshape([*B, *touching], (len(B) + len(touching), 2, 6 * len(m.bodies)))


def slides(m, pose, after, V, h):
    """Mean sliding of a step along the tangents, m/s (..., 2 n_contacts): the way of the core point x + R p over h, and
    the angular velocity times the radius below it."""
    names, found = [body.name for body in m.bodies], []
    (_, q), (x1, q1) = pose, after
    for contact in m.contacts:
        i = names.index(contact.body)
        way = V[..., i, :3] + apply(rotation_matrix(q1[..., i, :]) - rotation_matrix(q[i]), contact.point) / h
        om = apply(rotation_matrix(q[i]), V[..., i, 3:])
        rolling = -contact.radius * np.asarray(contact.normal)
        found += [way @ t + om @ np.cross(rolling, t) for t in np.asarray(contact.tangents)]
    for touch in getattr(m, "touches", []):
        found += list(np.moveaxis(touch.slides(m, pose, after, h), -1, 0))
    return np.stack(found, axis=-1) if found else np.zeros((*x1.shape[:-2], 0))


def joint_error(m, x, q):
    """max |g|."""
    return float(np.max(np.abs(joint_values(m, x, q)[0]), initial=0.0))


def coordinates(m, x, q):
    """Coordinates of all free axes, in joint order; floating joints have none."""
    return joint_values(m, x, q)[1]


def body_arrays(m):
    """Masses (n_bodies, 1) and inertias (n_bodies, 3, 3)."""
    return np.array([[body.mass] for body in m.bodies]), np.array([body.inertia for body in m.bodies])


def energy(m, state):
    """Kinetic + gravity + joint springs, in J."""
    (x, q, v, w), (mass, inertia) = state, body_arrays(m)
    springs = gather(m, "stiffness") * (coordinates(m, x, q) - gather(m, "rest")) ** 2 / 2
    return float(np.sum(mass * (v * v / 2 - x * m.gravity) + w * apply(inertia, w) / 2) + np.sum(springs))


def momentum(m, state, dt):
    """Linear, sum m v, and angular about the world origin, sum x x m v + h R `spin`."""
    (x, q, v, w), (mass, inertia) = state, body_arrays(m)
    angular = np.cross(x, mass * v) + apply(rotation_matrix(q), dt * spin(inertia, w, dt, -1))
    return np.sum(mass * v, axis=0), np.sum(angular, axis=0)


def softness(contact, h, gap):
    """(give, sunk): a soft contact has the slack phi(z+) + give gamma - sunk.

    From gamma = -phi(z+)/K - d (phi(z+) - min(phi(z), 0))/h, where that is positive.
    """
    if not contact.compliance:
        return 0.0, 0.0
    stiffness = 1 / contact.compliance + contact.damping / h
    return 1 / stiffness, contact.damping / h * min(gap, 0.0) / stiffness


class Problem:
    """The equations of one step; the constructor works out all that does not depend on the unknowns."""

    def __init__(self, m, state, h, effort, force, torque, even=0.0):
        self.m, self.h, self.iterations, (self.x, self.q, v0, w0), self.even = m, h, 0, state, even
        self.mass, self.inertia = body_arrays(m)
        slow = np.maximum(1.0, np.linalg.norm(w0, axis=-1, keepdims=True) * h / MAX_ROTATION)
        self.V0 = np.concatenate([v0, w0 / slow], axis=-1).ravel()  # where the iteration starts
        pushed = force + self.mass * (np.asarray(m.gravity) + v0 / h)
        self.known = np.concatenate([pushed, torque + spin(self.inertia, w0, h, -1)], axis=-1).ravel()
        self.c0 = coordinates(m, self.x, self.q)
        self.G = joint_values(m, *perturb(self.x, self.q))[0].imag.T / EPS
        self.E = effort_map(m, self.x, self.q)
        N, B = gaps(m, *perturb(self.x, self.q)).imag.T / EPS, friction_map(m, self.x, self.q)

        # What the efforts depend on, u(z+) = (coordinates, ball_values): tau = known - slopes u. A limited drive is
        # unclipped here: its pairs p, n do the clipping. asked: what it asks for is U = known - asked u.
        start = self.x, self.q
        before = self.before = move(self.x, self.q, -self.V0.reshape(-1, 6), h)
        u0, u_before = self.measure(*start), self.measure(*before)
        gradient = self.measure(*perturb(*start)).imag.T / EPS
        names = ("kp", "kd", "effort_limit", "stiffness", "damping", "rest", "target", "target_velocity", "armature")
        kp, kd, limit, stiffness, damping, rest, target, target_velocity, armature = (gather(m, name) for name in names)
        driven = ((kp != 0) | (kd != 0)) & (limit > 0)
        n, size = len(self.c0), len(u0)
        asked, self.slopes = np.zeros((n, size)), np.zeros((size, size))  # the second along the gradients of u
        push, motion, origin = gradient.copy(), np.arange(n), np.zeros(size)
        push[:n], origin[:n] = self.E, u0[:n]
        plain = np.ones(n, bool)
        drive = effort + kp * target + kd * (target_velocity + self.c0 / h)
        stretch = np.arange(n)
        for k, (_, _, first) in enumerate(balls(m)):
            axes, turn = slice(first, first + 3), n + 9 * k + np.arange(3)
            plain[axes], motion[axes], stretch[axes] = False, turn, turn + 3
            drive[axes] = (effort + kd * target_velocity)[axes]
            K = np.linalg.lstsq(self.E[axes].T, gradient[turn + 6].T, rcond=None)[0].T  # d(error)/d(child's axes)
            asked[axes, turn + 6] = K.T * kp[axes]
            self.slopes[turn + 6, turn + 6] = kp[axes]
            push[turn] = self.E[axes]
        drive = np.where(driven, drive, np.clip(effort, -limit, limit))
        axes = np.arange(n)
        asked[axes[plain], axes[plain]] = kp[plain]
        self.slopes[axes[plain], axes[plain]] = kp[plain]
        asked[axes, motion] += kd / h
        self.slopes[motion, motion] += (kd + damping) / h + armature / h**2
        self.slopes[stretch, stretch] += stiffness / 4
        # from rest: the values of three free rotations are so already
        known = np.zeros(size)
        known[stretch] = -stiffness / 4 * (u_before + 2 * u0)[stretch] + np.where(plain, stiffness * rest, 0)
        known[motion] += np.where(plain, damping * self.c0 / h, 0)
        # a rotor's momentum armature (u - u0)/h less the one it had, armature (u0 - u_before)/h, over h
        known[motion] += armature / h**2 * (2 * u0 - u_before)[motion]
        self.push, self.constant_push = push, drive @ self.E + known @ push
        limits = np.where(plain[:, None], self.E, gradient[:n])

        pairs = []  # of every pair (row of W, constant, row of S, {column: entry of A})
        unit = np.eye(len(N) + size + 2 * len(N))  # gaps, values of joints, slides
        friction = gather(m, "friction")
        for k, contact in enumerate(all_contacts(m)):
            normal, cone = len(pairs), len(pairs) + 1
            give, sunk = softness(contact, h, gaps(m, self.x, self.q)[k])
            pairs.append((N[k], -sunk, unit[k], {normal: give} if give else {}))
            if contact.friction > 0:
                betas = {cone + i: -1.0 for i in (1, 2, 3, 4)}
                pairs.append((0 * N[k], 0.0, 0 * unit[k], {normal: contact.friction} | betas))
                for j, sign in ((0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)):
                    slide = unit[len(N) + size + 2 * k + j]
                    pairs.append((sign * B[k, j], 0.0, sign * slide, {cone: 1.0}))
        for k, (lower, upper) in enumerate(zip(gather(m, "lower"), gather(m, "upper"), strict=True)):
            c = unit[len(N) + k]
            if np.isfinite(lower):
                pairs.append((limits[k], -lower, c, {}))
            if np.isfinite(upper):
                pairs.append((-limits[k], upper, -c, {}))
            if driven[k] and np.isfinite(limit[k]):
                one, other, gains = len(pairs), len(pairs) + 1, asked[k] @ unit[len(N) : len(N) + size]
                pairs.append((-self.E[k], limit[k] - drive[k], gains, {one: 1.0, other: -1.0}))
                pairs.append((self.E[k], limit[k] + drive[k], -gains, {one: -1.0, other: 1.0}))
            if friction[k] > 0:
                cone, moved = len(pairs), unit[len(N) + motion[k]]
                pairs.append((0 * self.E[k], friction[k], 0 * c, {cone + 1: -1.0, cone + 2: -1.0}))
                pairs.append((self.E[k], -origin[motion[k]], moved, {cone: 1.0}))
                pairs.append((-self.E[k], origin[motion[k]], -moved, {cone: 1.0}))
        W, constant, S, A = zip(*pairs, strict=True) if pairs else ([], [], [], [])
        self.W, self.S = np.reshape(W, (len(A), len(self.V0))), np.reshape(S, (len(A), len(unit)))
        self.constant = np.array(constant, float)
        self.A = np.reshape([[row.get(j, 0.0) for j in range(len(A))] for row in A], (len(A), len(A)))
        self.ends = np.cumsum([len(self.V0), len(self.G), len(pairs)])
        steps = 1j * EPS * np.eye(self.ends[-1] + len(pairs))[len(self.V0) :]
        self.linear = self.equations(steps).imag.T / EPS  # d equations / d(lam, a, b)

    def measure(self, x, q):
        """u: coordinates of the free axes and, of three free rotations, what `ball_values` says."""
        coordinates = joint_values(self.m, x, q, self.c0)[1]
        return np.concatenate([coordinates, ball_values(self.m, x, q, (self.x, self.q))], axis=-1)

    def split(self, y):
        """V, lam, slacks a, multipliers b."""
        return np.split(y, self.ends, axis=-1)

    def equations(self, y):
        """Dynamics, g(z+) and the definition of the slacks: everything but the complementarity."""
        V, lam, a, b = self.split(y)
        twists = V.reshape(*V.shape[:-1], len(self.m.bodies), 6)
        x, q = move(self.x, self.q, twists, self.h)
        g, u = joint_values(self.m, x, q, self.c0)[0], self.measure(x, q)
        inertial = [self.mass * twists[..., :3] / self.h, spin(self.inertia, twists[..., 3:], self.h, 1)]
        forces = self.known + lam @ self.G + self.constant_push - u @ self.slopes @ self.push + b @ self.W
        dynamics = np.concatenate(inertial, axis=-1).reshape(V.shape) - forces
        if self.even:
            dynamics = dynamics - self.shifted(lam, x, q)
        values = gaps(self.m, x, q), u, slides(self.m, (self.x, self.q), (x, q), twists, self.h)
        slack = self.constant + np.concatenate(values, axis=-1) @ self.S.T + b @ self.A.T
        return np.concatenate([dynamics, g, slack - a], axis=-1)

    def shifted(self, lam, x, q):
        """Torques that joint forces have in addition where arms are even: they act even/2 (forth - back) beside the
        anchor, forth and back being its ways to the next pose and from the last one. Joints that slide have none."""
        torques, row = np.zeros((*lam.shape[:-1], len(self.m.bodies), 6), lam.dtype), 0
        poses = [list(views(self.m, *pose)) for pose in (self.before, (self.x, self.q), (x, q))]
        for before, now, after in zip(*poses, strict=True):
            joint, p, c = now[0], *now[-2:]
            rows, free = slice(row, row + np.sum(joint.constrained)), ~np.asarray(joint.constrained, bool)
            row = rows.stop
            forces = (lam[..., rows] @ self.G[rows]).reshape(*lam.shape[:-1], -1, 6)[..., :3]
            for i, place, anchor in ((c, 3, joint.child_anchor), (p, 1, joint.parent_anchor)):
                if i is None or np.any(free[:3]):
                    continue
                first, second, third = (
                    view[place] + apply(rotation_matrix(view[place + 1]), np.asarray(anchor))
                    for view in (before, now, after)
                )
                shift = self.even / 2 * (third - 2 * second + first)
                back = rotation_matrix(self.q[i]).T
                torques[..., i, 3:] += apply(back, np.cross(shift, forces[..., i, :]))
        return torques.reshape(*lam.shape[:-1], -1)

    def jacobian(self, y):
        """d equations / dy: complex steps in V; the rest of y enters linearly and is known, but for even arms."""
        if self.even:
            return self.equations(y + 1j * EPS * np.eye(len(y))).imag.T / EPS
        steps = 1j * EPS * np.eye(len(y))[: len(self.V0)]
        return np.hstack([self.equations(y + steps).imag.T / EPS, self.linear])

    def residual(self, y):
        """Infinity norm of the equations and of min(a, b), the distance from complementarity."""
        _, _, a, b = self.split(y)
        return float(np.max(np.abs(np.concatenate([self.equations(y), np.minimum(a, b)]))))


def least_squares(K, r):
    """Minimum-norm least squares, K scaled to size 1: redundant rows and undetermined forces make it singular."""
    rows, columns = np.ones(len(K)), np.ones(len(K))
    for _ in range(5):
        scaled = np.abs(K) * rows[:, None] * columns
        rows /= np.sqrt(np.maximum(scaled.max(axis=1), 1e-200))
        columns /= np.sqrt(np.maximum(scaled.max(axis=0), 1e-200))
    return columns * np.linalg.lstsq(K * rows[:, None] * columns, rows * r, rcond=1e-11)[0]


def newton(problem, y, r, r_a, r_b):
    """Increment for equations = 0 and r(a, b) = 0 with dr = r_a da + r_b db; keeps |w1| h bounded."""
    problem.iterations += 1
    pair_rows = np.hstack([np.zeros((len(r), problem.ends[1])), np.diag(r_a), np.diag(r_b)])
    d = least_squares(np.vstack([problem.jacobian(y), pair_rows]), -np.concatenate([problem.equations(y), r]))
    w, d_w = (u[: problem.ends[0]].reshape(-1, 6)[:, 3:] for u in (y, d))
    while np.max(np.linalg.norm(w + d_w, axis=1)) * problem.h > 1.001 * MAX_ROTATION:
        d, d_w = d / 2, d_w / 2
    return d


def interior_point(problem, y, reduction, power, max_iterations=60):
    """Newton on a b = mu inside a, b > 0, mu falling with mean(a b)."""

    def merit(y, mu):
        _, _, a, b = problem.split(y)
        return np.linalg.norm(np.concatenate([problem.equations(y), a * b - mu]))

    for _ in range(max_iterations):
        _, _, a, b = problem.split(y)
        mean = np.mean(a * b) if len(a) else 0.0
        mu = min(reduction * mean, mean**power)
        if mu < 1e-14:
            break
        d, before = newton(problem, y, a * b - mu, b, a), merit(y, mu)
        falling = np.flatnonzero(d[problem.ends[1] :] < 0) + problem.ends[1]
        d = d * min(1.0, 0.99 * np.min(-y[falling] / d[falling], initial=np.inf))
        for _ in range(6):
            if merit(y + d, mu) < before:
                break
            d = d / 2
        y = y + d
    return y


def polish(problem, y, tolerance, max_iterations=20):
    """Newton on min(a, b) = 0: exact, not just mu away. Goes on below the tolerance for as long as that helps."""
    best, least = y, np.inf
    for _ in range(max_iterations):
        _, _, a, b = problem.split(y)
        y = y + newton(problem, y, np.minimum(a, b), 1.0 * (a < b), 1.0 * (a >= b))
        pairs = y[problem.ends[1] :]
        pairs[(pairs < 0) & (pairs > -tolerance)] = 0
        residual = problem.residual(y)
        if least <= tolerance and residual > 0.1 * least:
            break
        best, least = y, residual
    return best


def step(m, state, dt, effort=None, force=None, torque=None, tolerance=1e-10, even=0.0):
    """One step of length dt from state = (x, q, v, w).

    effort (n_free,) in joint order (floating joints have none); force (n_bodies, 3) world and torque
    (n_bodies, 3) body frame. Where lam and the contact forces are not unique, they are one valid choice. even: how far
    the arms of joints are evened out (engine/kernels/arms.py).
    """
    zero, state = np.zeros((len(m.bodies), 3)), [np.asarray(part, float) for part in state]
    given = [zero if part is None else np.asarray(part, float) for part in (force, torque)]
    effort = np.zeros(len(gather(m, "rest"))) if effort is None else np.asarray(effort, float)
    problem = Problem(m, state, dt, effort, *given, even)
    residual = np.inf
    for start, reduction, power in ((1.0, 0.1, 1.5), (1.0, 0.1, 1.0), (1.0, 0.5, 1.0), (30.0, 0.3, 1.0)):
        y = np.concatenate([problem.V0, np.zeros(len(problem.G)), np.full(2 * len(problem.A), start)])
        y = polish(problem, interior_point(problem, y, reduction, power), tolerance)
        if problem.residual(y) < residual:
            best, residual = y, problem.residual(y)
        if residual <= tolerance:
            break
    V, lam, _, b = problem.split(best)
    V = V.reshape(-1, 6)
    rough = np.array([contact.friction > 0 for contact in all_contacts(m)], bool)
    first = np.cumsum(1 + 5 * rough) - 1 - 5 * rough  # pair of each normal; then psi and +t1, -t1, +t2, -t2
    friction = np.zeros((len(rough), 2))
    friction[rough] = np.stack([b[first[rough] + k] - b[first[rough] + k + 1] for k in (2, 4)], axis=-1)
    pose, solve = move(problem.x, problem.q, V, dt), (residual, problem.iterations, residual <= tolerance)
    return Result(V[:, :3], V[:, 3:], *pose, lam, b[first], friction, *solve)


def misfit(m, state, dt, V, effort, force, torque, slack=1e-7, even=0.0):
    """Distance of velocities V (n_bodies, 6) from solving the step: the smallest largest residual of the dynamics, N or
    N m, over all joint and contact forces that go with them; infinite if V breaks a joint, a gap or a limit.

    With V given, the rest is linear: a pair whose slack is known not to vanish has no force, and a linear programme
    finds the others. Friction that vanishes or not, several bodies wedged together: a step may have several solutions.
    """
    problem = Problem(m, [np.asarray(part, float) for part in state], dt, effort, force, torque, even)
    y = np.zeros(problem.ends[-1] + len(problem.A))
    y[: problem.ends[0]] = np.ravel(V)
    value = problem.equations(y)
    dynamics, g, room = np.split(value, problem.ends[:2])
    if np.max(np.abs(g), initial=0.0) > slack:
        return np.inf
    first, known = 0, {}  # multipliers with a known value
    inside, equal = [], []  # pairs of psi: friction within its cone, on its rim
    for contact in all_contacts(m):
        if room[first] > slack:
            known[first] = 0.0
        elif contact.compliance:
            known[first] = max(0.0, -room[first] / problem.A[first, first])
        if contact.friction > 0:
            eta = room[first + 2 : first + 6]  # +- B V
            sliding = max(0.0, -eta.min())
            known[first + 1] = sliding
            known |= {first + 2 + i: 0.0 for i in range(4) if eta[i] + sliding > slack}
            (equal if sliding > slack else inside).append(first + 1)
        if room[first] < -slack and not contact.compliance:
            return np.inf
        first += 6 if contact.friction > 0 else 1
    while first < len(room):
        if problem.A[first].any():  # a drive at its limit: its effort is cut by what exceeds it
            known[first], known[first + 1] = np.maximum(0.0, -room[first : first + 2])
            first += 2
            continue
        if room[first] < -slack:
            return np.inf
        if room[first] > slack:
            known[first] = 0.0
        first += 1
    _, forces, _, pushes = np.split(problem.jacobian(y)[: problem.ends[0]], problem.ends, axis=1)
    columns = np.hstack([forces, pushes, -np.ones((len(dynamics), 1))])
    flipped = np.hstack([-forces, -pushes, -np.ones((len(dynamics), 1))])
    cone = np.hstack([np.zeros((len(problem.A), forces.shape[1])), -problem.A, np.zeros((len(problem.A), 1))])
    bounds = [(None, None)] * forces.shape[1]
    bounds += [(known[k], known[k]) if k in known else (0, None) for k in range(len(room))] + [(0, None)]
    best = linprog(
        np.eye(columns.shape[1])[-1],
        A_ub=np.vstack([columns, flipped, cone[inside]]),
        b_ub=np.concatenate([-dynamics, dynamics, np.full(len(inside), slack)]),
        A_eq=cone[equal] if equal else None,
        b_eq=np.zeros(len(equal)) if equal else None,
        bounds=bounds,
    )
    return float(best.fun) if best.success else np.inf
