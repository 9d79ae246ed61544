"""The paper's integrator: how a velocity moves a pose in a step, and which momentum goes with it (paper: eq. discvel).

Only this file knows how angular velocities turn poses; a second integrator is a second file with the same names (x+ is
x + h v in all of them). Rotations are in the world frame, q+ being the orientation after a step of length h at the
angular velocity om:

    x+ = x + h v,   q+ = (h/2) [s, om] q,   s = sqrt(4/h^2 - om.om)              advance; back by velocity
    d(v) = dx/h,    d(om) = T dth,   T = (s I - [om]x)/2                          tangent
    T^T J om = (s J om + om x J om)/2,   T J om = (s J om - om x J om)/2          first_momentum, momentum

dx and dth are changes of the NEXT pose. A step begins with the first momentum and ends with the second, J being the
inertia at either pose; both are the spatial angular momentum divided by h, which a free body keeps (the sign of the
second is what makes it do so). A body turns by 2 asin(h |om| / 2) in a step: h |om| / 2 is the sine of the half turn.

Functions take lists or tuples of numbers, NumPy arrays or symbols; `advance` and `velocity` also serve compiled loops.
"""

from vigym.engine.kernels.quaternion import add, conjugate, cross, dot, matvec, multiply, scale, sub
from vigym.engine.kernels.simd import less, select, shared, sqrt

MOST_SPIN = 1.9  # h |om| stays below this; the map ends at 2
# h |om| above which a step is cut: two bodies that spin against each other stay below half a turn, so that joints can
# count their turns
MOST_TURN = 1.45
KEPT = 1  # numbers by which a tangent is kept between sweeps


@shared
def root(h, om):
    """s = sqrt(4/h^2 - om.om)"""
    return sqrt(4.0 / (h * h) - dot(om, om))


@shared
def advance(h, pose, V):
    """The pose (x, q) after a step of length h at V = (v, om); with -V, the pose before it."""
    (x, q), (v, om) = pose, V
    k, s = 0.5 * h, root(h, om)
    moved = x[0] + h * v[0], x[1] + h * v[1], x[2] + h * v[2]
    return moved, multiply((k * s, k * om[0], k * om[1], k * om[2]), q)


@shared
def velocity(h, pose0, pose1):
    """V = (v, om) that leads from one pose to the other in a step of length h."""
    (x0, q0), (x1, q1) = pose0, pose1
    e = multiply(q1, conjugate(q0))
    rate = 1.0 / h
    twice = select(less(e[0], 0.0), -2.0 * rate, 2.0 * rate)
    v = rate * (x1[0] - x0[0]), rate * (x1[1] - x0[1]), rate * (x1[2] - x0[2])
    return v, (twice * e[1], twice * e[2], twice * e[3])


class Tangent:
    """Derivatives of the map at V = (v, om), by the change y = (dx, dth) of the next pose."""

    def __init__(self, h, om, s):
        self.h, self.om, self.s = h, om, s

    @property
    def kept(self):
        """The KEPT numbers from which `recalled` makes it again."""
        return [self.s]

    def rates(self, y):
        """d(v, om) = (dx/h, T dth)"""
        dth = y[3:]
        turned = scale(0.5, sub(scale(self.s, dth), cross(self.om, dth)))
        return [y[k] / self.h for k in range(3)] + turned

    def travel(self, lever):
        """Row by dth of the `travel` along a row (axis, lever): h lever T. By dx it is the axis itself."""
        return scale(0.5 * self.h, sub(scale(self.s, lever), cross(lever, self.om)))


def tangent(h, om):
    """The tangent of a step of length h at om."""
    return Tangent(h, om, root(h, om))


def recalled(h, om, kept):
    """The tangent of which these numbers were kept."""
    return Tangent(h, om, kept[0])


def travel(h, row, V):
    """Length that a step at V = (v, om) goes along a row (6): h row . V"""
    v, om = V
    return h * (dot(row[:3], v) + dot(row[3:], om))


def momentum(h, J, om):
    """Angular momentum over h with which a step ends: T J om."""
    Jom = matvec(J, om)
    return scale(0.5, sub(scale(root(h, om), Jom), cross(om, Jom)))


def first_momentum(h, J, om):
    """Angular momentum over h with which a step begins: T^T J om."""
    Jom = matvec(J, om)
    return scale(0.5, add(scale(root(h, om), Jom), cross(om, Jom)))


def first_momentum_slope(h, mass, J, om):
    """Derivative by y (6 x 6) of the momenta over h with which a step begins: mass v/h and T^T J om."""
    s, Jom = root(h, om), matvec(J, om)
    inverse = 1.0 / s
    # by om: (s J - J om om^T / s - [J om]x + [om]x J) / 2, then times T
    columns = []
    for j in range(3):
        unit = [1.0 if k == j else 0.0 for k in range(3)]
        column = [row[j] for row in J]
        change = sub(scale(s, column), scale(om[j] * inverse, Jom))
        columns.append(add(sub(change, cross(Jom, unit)), cross(om, column)))
    D = [[0.0] * 6 for _ in range(6)]
    for k in range(3):
        D[k][k] = mass / (h * h)
        row = [columns[j][k] for j in range(3)]
        D[3 + k][3:] = scale(0.25, sub(scale(s, row), cross(row, om)))
    return D
