"""The integrator: how a velocity moves a pose in a step, and which momentum goes with it.

Only this file knows how angular velocities turn poses; a second integrator is a second file with the same names (x+ is
x + h v in all of them). Rotations are in the world frame, q+ being the orientation after a step of length h at the
angular velocity om, a turn by the rotation vector h om (the exponential map):

    x+ = x + h v,   q+ = exp(h om) q                                     advance; back by velocity
    d(v) = dx/h,    d(om) = T dth,   T = (I - [u]x + k [u]x^2) / h        tangent
    T^T J om,       T J om                                               first_momentum, momentum

with u = h om / 2, half the turn, z = u.u and k = (1 - sqrt(z) cot(sqrt(z))) / z. dx and dth are changes of the NEXT
pose. A step begins with the first momentum and ends with the second, J being the inertia at either pose; both are the
spatial angular momentum divided by h, which a free body keeps. About a principal axis both are J om / h: om is the rate
at which a body turns, whatever the step. (The paper's map, q+ = (h/2) [s, om] q, makes h |om| / 2 the sine of the half
turn: a wheel with h |om| = 1 turns 5 % too fast and has a momentum 13 % too small. benchmarks/reproduction has it.)

Functions take lists or tuples of numbers, NumPy arrays or symbols; `advance` and `velocity` also serve compiled loops.
"""

from math import factorial

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from vigym.engine.kernels.quaternion import add, conjugate, cross, dot, matvec, multiply, scale, sub
from vigym.engine.kernels.simd import less, select, shared, sqrt

MOST_SPIN = 2.0  # h |om| stays below this, rad: the range of the polynomials below
# h |om| above which a step is cut: two bodies that spin against each other stay below half a turn, so that joints can
# count their turns
MOST_TURN = 1.45
KEPT = 4  # numbers by which a tangent is kept between sweeps


def economized(terms):
    """Coefficients of a polynomial of degree 7 for sum terms(n) (-z)^n, 0 <= z <= 1: the first nine terms, less the
    multiple of a Chebyshev polynomial that takes the last one away."""
    taylor = np.array([(-1) ** n * terms(n) for n in range(9)])
    wave = Chebyshev.basis(8, [0.0, 1.0]).convert(kind=Polynomial).coef
    return tuple((taylor - taylor[8] / wave[8] * wave)[:8].tolist())


# S = sin(x)/x and U = (S - cos(x))/x^2 as polynomials in z = x^2, to rounding up to x = 1, half of MOST_SPIN
SINE = economized(lambda n: 1.0 / factorial(2 * n + 1))
EXCESS = economized(lambda n: 2.0 * (n + 1) / factorial(2 * n + 3))


@shared
def series(c, z):
    """The polynomial c at z, in an order that leaves processors something to do at the same time."""
    zz = z * z
    low = (c[0] + z * c[1]) + zz * (c[2] + z * c[3])
    high = (c[4] + z * c[5]) + zz * (c[6] + z * c[7])
    return low + (zz * zz) * high


@shared
def advance(h, pose, V):
    """The pose (x, q) after a step of length h at V = (v, om); with -V, the pose before it."""
    (x, q), (v, om) = pose, V
    k = 0.5 * h
    u = k * om[0], k * om[1], k * om[2]
    z = dot(u, u)
    s = series(SINE, z)
    c = s - z * series(EXCESS, z)
    moved = x[0] + h * v[0], x[1] + h * v[1], x[2] + h * v[2]
    return moved, multiply((c, s * u[0], s * u[1], s * u[2]), q)


@shared
def velocity(h, pose0, pose1):
    """V = (v, om) that leads from one pose to the other in a step of length h, the shorter way round."""
    (x0, q0), (x1, q1) = pose0, pose1
    e = multiply(q1, conjugate(q0))
    size = sqrt(e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
    size = select(less(size, 1e-300), 1e-300, size)
    flip = select(less(e[0], 0.0), -1.0, 1.0)
    rate = 1.0 / h
    k = 2.0 * rate * flip * np.arctan2(size, flip * e[0]) / size
    v = rate * (x1[0] - x0[0]), rate * (x1[1] - x0[1]), rate * (x1[2] - x0[2])
    return v, (k * e[1], k * e[2], k * e[3])


class Tangent:
    """Derivatives of the map at V = (v, om), by the change y = (dx, dth) of the next pose."""

    def __init__(self, h, u, k):
        self.h, self.u, self.k = h, u, k

    @property
    def kept(self):
        """The KEPT numbers from which `recalled` makes it again."""
        return [*self.u, self.k]

    def rates(self, y):
        """d(v, om) = (dx/h, T dth)"""
        rate = 1.0 / self.h
        return scale(rate, y[:3] + turned(self.u, self.k, y[3:], -1.0))

    def travel(self, lever):
        """Row by dth of the `travel` of a lever: h lever T."""
        return turned(self.u, self.k, lever, 1.0)


def turned(u, k, v, sign):
    """(I + sign [u]x + k [u]x^2) v: h T^T v for sign = 1, h T v for -1"""
    across = cross(u, v)
    return add(add(v, scale(sign, across)), scale(k, cross(u, across)))


def curvature(u):
    """k = U/S, and z = u.u."""
    z = dot(u, u)
    return series(EXCESS, z) / series(SINE, z), z


def tangent(h, om):
    """The tangent of a step of length h at om."""
    u = scale(0.5 * h, om)
    return Tangent(h, u, curvature(u)[0])


def recalled(h, om, kept):
    """The tangent of which these numbers were kept."""
    return Tangent(h, kept[:3], kept[3])


def travel(h, lever, om):
    """Length by which the turn of a step, a rotation vector, moves what has this lever: lever . (h om)"""
    return h * dot(lever, om)


def momentum(h, J, om):
    """Angular momentum over h with which a step ends: T J om."""
    u = scale(0.5 * h, om)
    return scale(1.0 / h, turned(u, curvature(u)[0], matvec(J, om), -1.0))


def first_momentum(h, J, om):
    """Angular momentum over h with which a step begins: T^T J om."""
    u = scale(0.5 * h, om)
    return scale(1.0 / h, turned(u, curvature(u)[0], matvec(J, om), 1.0))


def first_momentum_slope(h, mass, J, om):
    """Derivative by y (6 x 6) of the momenta over h with which a step begins: mass v/h and P/h, P = A p, p = J om,
    A = h T^T = I + [u]x + k [u]x^2.

    om changes by A^T dth / h, and with it p, u and k. As A^T leaves u alone, what A^T does to the latter two is known:

        A J A^T + h/2 ((k g - 1) c I - [g p + k c u]x + u (p + k P)^T + (k (u x p + k c u - 2 p) + 2 k' w) u^T)

    over h^2, with c = u.p, g = 1 - k z, w = u x (u x p) = c u - z p, and the derivative of k by z,
    k' = (1 - 3 k) / (2 z) + k^2 / 2; that loses digits towards z = 0, where it counts for nothing."""
    u, p = scale(0.5 * h, om), matvec(J, om)
    k, z = curvature(u)
    slope = (1.0 - 3.0 * k) / (z + 1e-20) + k * k  # 2 k'
    c, g, across = dot(u, p), 1.0 - k * z, cross(u, p)
    w = sub(scale(c, u), scale(z, p))
    P = add(add(p, across), scale(k, w))
    A = add_skew([[k * u[i] * u[j] for j in range(3)] for i in range(3)], g, u)
    AJ = [matvec(J, row) for row in A]
    left = add(scale(k, sub(add(across, scale(k * c, u)), scale(2.0, p))), scale(slope, w))
    right = add(p, scale(k, P))
    square, half = 1.0 / (h * h), 0.5 / h
    turning = [[u[i] * right[j] + left[i] * u[j] for j in range(3)] for i in range(3)]
    turning = add_skew(turning, (k * g - 1.0) * c, scale(-1.0, add(scale(g, p), scale(k * c, u))))
    D = [[0.0] * 6 for _ in range(6)]
    for i in range(3):
        D[i][i] = mass * square
        for j in range(i, 3):
            even = square * dot(AJ[i], A[j])
            D[3 + i][3 + j] = even + half * turning[i][j]
            if i != j:
                D[3 + j][3 + i] = even + half * turning[j][i]
    return D


def momentum_slope(h, J, om):
    """Derivative by om (3 x 3) of the `momentum` P/h, P = p - u x p + k u x (u x p), p = J om."""
    u, p = scale(0.5 * h, om), matvec(J, om)
    k, z = curvature(u)
    slope = (1.0 - 3.0 * k) / (z + 1e-20) + k * k  # as in `first_momentum_slope`
    across = cross(u, p)
    twice = cross(u, across)
    columns = []
    for j in range(3):
        du = [0.5 * h if i == j else 0.0 for i in range(3)]
        change = turned(u, k, [row[j] for row in J], -1.0)
        bend = add(cross(du, across), cross(u, cross(du, p)))
        change = add(sub(change, cross(du, p)), add(scale(k, bend), scale(slope * (0.5 * h) * u[j], twice)))
        columns.append(scale(1.0 / h, change))
    return [[columns[j][i] for j in range(3)] for i in range(3)]


def add_skew(M, k, v):
    """M + k I + [v]x"""
    (a, b, c), (d, e, f), (g, h, i) = M
    x, y, z = v
    return [[a + k, b - z, c + y], [d + z, e + k, f - x], [g - y, h + x, i + k]]
