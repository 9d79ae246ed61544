"""Couplings of axes: the coordinate of one is a polynomial of those of others (engine/coupling.py).

A coupling is a loop (loop.py) whose wrench is one number, lam, the effort on the follower. It has a TERM for each of
its axes k, with a polynomial p_k: that of the follower is its own coordinate, those of leaders are negative.

    constraint, at the next pose          offset + sum p_k(phi_k) = 0
    effort on axis k, at the current one   lam p_k'(phi_k)

The effort acts on both bodies of the axis's joint beside the joint's own wrench, along the joint's axis N and opposite;
no momentum comes of it. In Newton's matrix each term has two ends, with one column in C and one row in R; the other
five unknowns of the loop are zero.
"""

from vigym.engine.kernels.joint import GEAR, joint_per_length
from vigym.engine.kernels.loop import EPSILON, NEAR, end_blocks, own_block
from vigym.engine.kernels.pairs import note
from vigym.engine.kernels.quaternion import add, cross, scale, store, vec
from vigym.engine.kernels.simd import for_range, less, maximum, select
from vigym.engine.kernels.sweep import each_loop_joint

LEAST_SLOPE = 1e-6


def is_gear(kind):
    """True if a loop is a coupling instead of a joint."""
    return kind == GEAR


def each_term(m, which, body):
    """Run body(term) over the axes of a coupling, the follower first."""
    for_range(m.first_term[which], m.first_term[which + 1], body)


def value(m, k, phi):
    """Polynomial of term k."""
    c = vec(m.term_coefficients[k])
    return phi * (c[0] + phi * (c[1] + phi * (c[2] + phi * c[3])))


def slope(m, k, phi):
    """Its derivative."""
    c = vec(m.term_coefficients[k])
    return c[0] + phi * (2.0 * c[1] + phi * (3.0 * c[2] + phi * (4.0 * c[3])))


def about(m, k, axis, arm):
    """The axis of term k as (force, torque) of a unit effort on a body, `arm` from its centre to the anchor; so is its
    rate by (dx, dth) of that body."""
    slides = m.term_slides[k][0]
    force = scale(slides, axis)
    return force + add(scale(1.0 - slides, axis), cross(arm, force))


@each_loop_joint
def move_gear(kind, m, s, t, i):
    """Put the error of the constraint at the next pose into delta; the efforts enter the residuals of bodies."""
    if not is_gear(kind):
        return
    which = i - m.n_bodies
    t.delta[i][0] = m.gear_offset[which][0]

    def one(k):
        a, joint = m.term_axis[k], m.term_joint[k]
        c, p, axis = m.child[joint], m.parent[joint], vec(t.axis0[a])
        t.delta[i][0] = t.delta[i][0] + value(m, k, t.coordinate[a][0])
        effort = t.wrench[i][0] * slope(m, k, s.angle[a][0])
        for body, arm, sign in ((c, t.rho0, -1.0), (p, t.arm0, 1.0)):
            store(t.r[body], add(vec(t.r[body]), scale(sign * effort, about(m, k, axis, vec(arm[joint])))))

    each_term(m, which, one)
    follower = m.first_term[which]
    slides, per_length = m.term_slides[follower][0], joint_per_length(m, t, m.term_joint[follower])
    note(t, "misfit", [t.delta[i][0] * (1.0 + slides * (per_length - 1.0))])


def compliance(m, s, t, which):
    """EPSILON of the compliance of the heaviest axis behind the gear, as motion of the follower. That of a light one,
    which a stop can hold, would yield to what the heavy ones push."""
    t.heaviest = 0.0

    def one(k):
        a = m.term_axis[k]
        p = slope(m, k, s.angle[a][0])
        t.heaviest = maximum(t.heaviest, t.apparent[a][0] / maximum(p * p, LEAST_SLOPE * LEAST_SLOPE))

    each_term(m, which, one)
    return EPSILON / t.heaviest


def open_gear(m, s, t, i):
    """C, R, E and g of a coupling, see `loop.open_loop`."""
    which = i - m.n_bodies
    own, right = own_block(m, t, which)
    yielding = compliance(m, s, t, which)
    far = select(less(NEAR, t.misfit), 1.0, 0.0)
    store(own, [[(yielding if j == 0 else 1.0) if j == k else 0.0 for k in range(6)] for j in range(6)])
    store(right, [t.delta[i][0] + far * yielding * t.wrench[i][0]] + [0.0] * 5)

    def one(k):
        a, joint = m.term_axis[k], m.term_joint[k]
        before, after = slope(m, k, s.angle[a][0]), slope(m, k, t.coordinate[a][0])
        axis0, axis = scale(before, vec(t.axis0[a])), scale(after, vec(t.axis1[a]))
        for side, sign, arm0, arm in ((0, -1.0, t.rho0, t.rho), (1, 1.0, t.arm0, t.arm)):
            C, R = end_blocks(m, t, m.term_end[k] + side)
            column, row = about(m, k, axis0, vec(arm0[joint])), about(m, k, axis, vec(arm[joint]))
            for j in range(6):
                C[j, 0] = C[j, 0] + sign * column[j]
                R[0, j] = R[0, j] - sign * row[j]

    each_term(m, which, one)
