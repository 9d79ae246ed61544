"""Poses and velocities as loops over environments and bodies, for resets and read-outs.

Arrays lead with the environment, (N, ...). An environment's numbers do not depend on how many there are.
"""

import numpy as np

from vigym.engine.compiled import compiled, inlined
from vigym.engine.kernels.integrator import advance, velocity
from vigym.engine.vectors import conjugate, from_rotation_vector, multiply, rotate


@compiled
def forward(parent, child, axis, turns, basis, slides, orientation, parent_anchor, child_anchor, phi, x, q):
    """Move the children of all joints to where the coordinates phi (N, n_axes) want them, in x (N, n, 3) and
    q (N, n, 4); body n is the world.

    Of every joint, parents' joints first (see JointTable): its bodies; the axis of each slot, or -1; whether it has two
    free rotations, which follow one another (three are the parts of one rotation vector); frames and anchors.
    """
    for n in range(len(x)):
        for j in range(len(parent)):
            slide0, slide1, slide2 = parent_anchor[j]
            u0 = u1 = u2 = 0.0
            e = (1.0, 0.0, 0.0, 0.0)
            for k in range(3):
                if axis[j, k] >= 0:
                    value = phi[n, axis[j, k]]
                    slide0 += value * slides[j, k, 0]
                    slide1 += value * slides[j, k, 1]
                    slide2 += value * slides[j, k, 2]
                if axis[j, 3 + k] >= 0:
                    value = phi[n, axis[j, 3 + k]]
                    u0 += value * basis[j, k, 0]
                    u1 += value * basis[j, k, 1]
                    u2 += value * basis[j, k, 2]
                    if turns[j] == 2:
                        e = multiply(e, from_rotation_vector((u0, u1, u2)))
                        u0 = u1 = u2 = 0.0
            if turns[j] != 2:
                e = from_rotation_vector((u0, u1, u2))
            xp, qp = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
            if parent[j] < x.shape[1]:
                p, r = x[n, parent[j]], q[n, parent[j]]
                xp, qp = (p[0], p[1], p[2]), (r[0], r[1], r[2], r[3])
            qc = multiply(multiply(qp, orientation[j]), e)
            size = 1.0 / np.sqrt(qc[0] * qc[0] + qc[1] * qc[1] + qc[2] * qc[2] + qc[3] * qc[3])
            qc = (qc[0] * size, qc[1] * size, qc[2] * size, qc[3] * size)
            out, back = rotate(qp, (slide0, slide1, slide2)), rotate(qc, child_anchor[j])
            for k in range(3):
                x[n, child[j], k] = xp[k] + out[k] - back[k]
            for k in range(4):
                q[n, child[j], k] = qc[k]


@inlined
def three(a, n, i):
    """Row a[n, i] as numbers: one type of argument instead of many keeps compiling short."""
    return a[n, i, 0], a[n, i, 1], a[n, i, 2]


@inlined
def four(a, n, i):
    """The same of a quaternion."""
    return a[n, i, 0], a[n, i, 1], a[n, i, 2], a[n, i, 3]


@compiled
def before(x, q, v, w, h, x0, q0):
    """The poses x0, q0 from which v and w (N, n, 3) led to x, q in a step of length h (N,)."""
    for n in range(len(x)):
        for i in range(x.shape[1]):
            turn, (v1, v2, v3) = four(q, n, i), three(v, n, i)
            om1, om2, om3 = rotate(turn, three(w, n, i))
            there, turned = advance(h[n], (three(x, n, i), turn), ((-v1, -v2, -v3), (-om1, -om2, -om3)))
            for k in range(3):
                x0[n, i, k] = there[k]
            for k in range(4):
                q0[n, i, k] = turned[k]


@compiled
def between(x0, q0, x1, q1, h, v, w):
    """The velocities v, w (N, n, 3) that lead from x0, q0 to x1, q1 in a step of length h (N,)."""
    for n in range(len(x0)):
        for i in range(x0.shape[1]):
            turn = four(q1, n, i)
            speed, om = velocity(h[n], (three(x0, n, i), four(q0, n, i)), (three(x1, n, i), turn))
            spin = rotate(conjugate(turn), om)
            for k in range(3):
                v[n, i, k] = speed[k]
                w[n, i, k] = spin[k]
