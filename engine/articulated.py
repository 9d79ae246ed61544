"""Motions, inertia and forces of trees of bodies in joint coordinates, as loops over environments and bodies.

Every column g of generalised velocities u moves one body, and all that hangs on it: per unit of u[g], the point y moves
at L[g] + A[g] x (y - x), with the centre of mass x of that body, and the body turns at A[g]. All vectors are the
world's, relative to centres of mass, so that nothing is lost far from the origin. Linear time but for what is
quadratic in size: the mass matrix takes as many operations as it has entries (composite rigid bodies), all else one
pass outwards and one back (recursive Newton-Euler). Arrays lead with the environment, (N, ...), whose numbers do not
depend on how many there are. Body n is the world. See dynamics.py for the tables.
"""

from vigym.engine.compiled import compiled, inlined
from vigym.engine.motion import four, three
from vigym.engine.vectors import ahead, cross, dot, rotate


@inlined
def put(out, n, g, a):
    """out[n, g] = a"""
    out[n, g, 0], out[n, g, 1], out[n, g, 2] = a[0], a[1], a[2]


@inlined
def gain(out, n, g, a):
    """out[n, g] += a"""
    out[n, g, 0] += a[0]
    out[n, g, 1] += a[1]
    out[n, g, 2] += a[2]


@inlined
def turned(q, J, v):
    """R J R^T v, of an inertia J (3, 3) in the body's frame"""
    a, b, c = rotate((q[0], -q[1], -q[2], -q[3]), v)
    local = (
        J[0, 0] * a + J[0, 1] * b + J[0, 2] * c,
        J[1, 0] * a + J[1, 1] * b + J[1, 2] * c,
        J[2, 0] * a + J[2, 1] * b + J[2, 2] * c,
    )
    return rotate(q, local)


@inlined
def swing(spin, w, r):
    """Acceleration at r from a point about which a body turns: spin x r + w x (w x r)"""
    return ahead(cross(spin, r), 1.0, cross(w, cross(w, r)))


@inlined
def unit(k):
    """Axis k"""
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@inlined
def body_pose(x, q, n, i):
    """Pose of body i, or of the world"""
    if i < x.shape[1]:
        return three(x, n, i), four(q, n, i)
    return (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


@compiled
def columns(roots, parent, child, axis, turns, basis, slides, child_anchor, x, q, A, L):
    """A and L (N, columns, 3) of all generalised velocities, which were zero.

    Six for each of `roots`: velocity of the centre of mass in the world, angular velocity in the body's frame. Then
    those of the joints' free axes: see JointTable."""
    first = 6 * len(roots)
    for n in range(len(x)):
        for r in range(len(roots)):
            turn = four(q, n, roots[r])
            for k in range(3):
                L[n, 6 * r + k, k] = 1.0
                put(A, n, 6 * r + 3 + k, rotate(turn, unit(k)))
        for j in range(len(parent)):
            _, qp = body_pose(x, q, n, parent[j])
            qc = four(q, n, child[j])
            arm = rotate(qc, (child_anchor[j, 0], child_anchor[j, 1], child_anchor[j, 2]))
            seen = 0
            for k in range(3):
                along = rotate(qp, (slides[j, k, 0], slides[j, k, 1], slides[j, k, 2]))
                if axis[j, k] >= 0:
                    put(L, n, first + axis[j, k], along)
                if axis[j, 3 + k] >= 0:
                    # of two rotations the first one is about an axis of the parent
                    about = along
                    if turns[j] != 2 or seen > 0:
                        about = rotate(qc, (basis[j, k, 0], basis[j, k, 1], basis[j, k, 2]))
                    put(A, n, first + axis[j, 3 + k], about)
                    put(L, n, first + axis[j, 3 + k], cross(arm, about))
                    seen += 1


@compiled
def jacobian(parent, first, count, A, L, x, body, point, out):
    """Rows of the velocity of `point` (N, 3), world, of a body and of its angular velocity, out (N, 6, columns), which
    was zero."""
    for n in range(len(x)):
        i = body
        while i < x.shape[1]:
            away = ahead((point[n, 0], point[n, 1], point[n, 2]), -1.0, three(x, n, i))
            for g in range(first[i], first[i] + count[i]):
                about = three(A, n, g)
                moved = cross(about, away)
                for k in range(3):
                    out[n, k, g] = L[n, g, k] + moved[k]
                    out[n, 3 + k, g] = about[k]
            i = parent[i]


@compiled
def mass_matrix(order, parent, first, count, A, L, mass, inertia, x, q, heavy, center, I, out):
    """M (N, columns, columns), which was zero: kinetic energy is u . M u / 2.

    With the composite of a body and all that hangs on it (mass, centre, inertia about it), a column's unit motion has
    momentum P = m (L + A x (c - x)) and spin H = I A; M[g, f] = P . (velocity of c by column f) + H . A[f], for the
    columns f of the body and of its ancestors.

    heavy (n,), center (1, n, 3), I (n, 3, 3): room for the composites"""
    size = x.shape[1]
    for n in range(len(x)):
        for i in range(size):
            heavy[i] = mass[n, i]
            put(center, 0, i, three(x, n, i))
            for k in range(3):
                put(I, i, k, turned(four(q, n, i), inertia[n, i], unit(k)))
        for j in range(size - 1, -1, -1):
            i = order[j]
            c = three(center, 0, i)
            for g in range(first[i], first[i] + count[i]):
                about = three(A, n, g)
                m, moved = heavy[i], ahead(three(L, n, g), 1.0, cross(about, ahead(c, -1.0, three(x, n, i))))
                P = (m * moved[0], m * moved[1], m * moved[2])
                H = (dot(three(I, i, 0), about), dot(three(I, i, 1), about), dot(three(I, i, 2), about))
                above = i
                while above < size:
                    T = ahead(H, 1.0, cross(ahead(c, -1.0, three(x, n, above)), P))
                    for f in range(first[above], first[above] + count[above]):
                        if above != i or f <= g:  # the other half is the same
                            value = dot(three(L, n, f), P) + dot(three(A, n, f), T)
                            out[n, g, f] = out[n, f, g] = value
                    above = parent[above]
            up = parent[i]
            if up < size:
                total = heavy[up] + heavy[i]
                share, rest = heavy[i] / total, heavy[up] / total
                d = ahead(c, -1.0, three(center, 0, up))
                reduced, square = heavy[up] * share, dot(d, d)
                for k in range(3):
                    for l in range(3):
                        I[up, k, l] += I[i, k, l] - reduced * d[k] * d[l] + (reduced * square if k == l else 0.0)
                    center[0, up, k] = rest * center[0, up, k] + share * c[k]
                heavy[up] = total


@compiled
def inverse_dynamics(order, parent, first, count, turns, anchor, A, L, mass, inertia, x, q, u, gravity, room, out):
    """Forces (N, columns) at which the generalised velocities u (N, columns) stay as they are, under `gravity` (3,).

    turns: how many columns of each body are rotations, its last ones; anchor: child's anchor of its joint (n, 3);
    room: five arrays (1, n + 1, 3) to work in"""
    size = x.shape[1]
    w, spin, acceleration, force, torque = room
    zero = (0.0, 0.0, 0.0)
    for n in range(len(x)):
        put(w, 0, size, zero)
        put(spin, 0, size, zero)
        put(acceleration, 0, size, zero)
        for at in range(size):
            i = order[at]
            w0, spin0, a0 = three(w, 0, parent[i]), three(spin, 0, parent[i]), three(acceleration, 0, parent[i])
            turn, turn_rate, slide, carrier = zero, zero, zero, w0  # relative to the parent
            rotations = first[i] + count[i] - turns[i]
            for g in range(first[i], first[i] + count[i]):
                if g < rotations:
                    slide = ahead(slide, u[n, g], three(L, n, g))
                else:
                    # of two rotations, the second axis is carried along by the first
                    turn_rate = ahead(turn_rate, u[n, g], cross(carrier, three(A, n, g)))
                    turn = ahead(turn, u[n, g], three(A, n, g))
                    if turns[i] == 2:
                        carrier = ahead(w0, 1.0, turn)
            w1, spin1, a1 = ahead(w0, 1.0, turn), ahead(spin0, 1.0, turn_rate), zero
            if count[i] == 6 and turns[i] == 3:  # free: its own velocities stay
                spin1 = zero
            else:
                here, own = three(x, n, i), rotate(four(q, n, i), (anchor[i, 0], anchor[i, 1], anchor[i, 2]))
                arm = ahead(ahead(here, 1.0, own), -1.0, body_pose(x, q, n, parent[i])[0])
                a1 = ahead(ahead(a0, 1.0, swing(spin0, w0, arm)), 2.0, cross(w0, slide))
                a1 = ahead(a1, -1.0, swing(spin1, w1, own))
            put(w, 0, i, w1)
            put(spin, 0, i, spin1)
            put(acceleration, 0, i, a1)
            q1, m, fall = four(q, n, i), mass[n, i], (gravity[0], gravity[1], gravity[2])
            put(force, 0, i, ahead((m * a1[0], m * a1[1], m * a1[2]), -m, fall))
            put(torque, 0, i, turned(q1, inertia[n, i], spin1))
            gain(torque, 0, i, cross(w1, turned(q1, inertia[n, i], w1)))
        for at in range(size - 1, -1, -1):
            i = order[at]
            up, F, T = parent[i], three(force, 0, i), three(torque, 0, i)
            for g in range(first[i], first[i] + count[i]):
                out[n, g] = dot(three(L, n, g), F) + dot(three(A, n, g), T)
            if up < size:
                gain(force, 0, up, F)
                gain(torque, 0, up, T)
                gain(torque, 0, up, cross(ahead(three(x, n, i), -1.0, three(x, n, up)), F))
