"""A toy integrator, Cayley's map, with the names of engine/kernels/integrator.py.

    q+ = [1, u] q / |[1, u]|,  u = h om / 2;     d(om) = T dth,  T = (I - [u]x + u u^T) / h

A body turns by 2 atan(h |om| / 2) in a step, where the engine's own turns it by h |om|. As a pytest
plugin (`-p toys.cayley`) it takes the place of the integrator before anything else is imported.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.util import spec_from_file_location

REPLACED = "vigym.engine.kernels.integrator"


class Replacement(MetaPathFinder):
    """Loads this file where the integrator is asked for."""

    def find_spec(self, name, path, target=None):
        return spec_from_file_location(name, __file__) if name == REPLACED else None


if __name__ != REPLACED:
    if REPLACED in sys.modules:
        raise RuntimeError("the integrator is imported already")
    sys.meta_path.insert(0, Replacement())
else:
    from vigym.engine.kernels.quaternion import add, conjugate, cross, dot, matvec, multiply, scale, sub
    from vigym.engine.kernels.simd import shared, sqrt

    MOST_SPIN = 6.0  # the map has no end; this turns by 2.5 rad
    MOST_TURN = 1.7
    KEPT = 3

    @shared
    def advance(h, pose, V):
        (x, q), (v, om) = pose, V
        u = 0.5 * h * om[0], 0.5 * h * om[1], 0.5 * h * om[2]
        c = 1.0 / sqrt(1.0 + dot(u, u))
        moved = x[0] + h * v[0], x[1] + h * v[1], x[2] + h * v[2]
        return moved, multiply((c, c * u[0], c * u[1], c * u[2]), q)

    @shared
    def velocity(h, pose0, pose1):
        (x0, q0), (x1, q1) = pose0, pose1
        e = multiply(q1, conjugate(q0))
        rate = 1.0 / h
        k = 2.0 * rate / e[0]
        v = rate * (x1[0] - x0[0]), rate * (x1[1] - x0[1]), rate * (x1[2] - x0[2])
        return v, (k * e[1], k * e[2], k * e[3])

    class Tangent:
        def __init__(self, h, u):
            self.h, self.u = h, u

        @property
        def kept(self):
            return self.u

        def rates(self, y):
            dth, u = y[3:], self.u
            turned = add(sub(dth, cross(u, dth)), scale(dot(u, dth), u))
            return [y[k] / self.h for k in range(3)] + scale(1.0 / self.h, turned)

        def travel(self, lever):
            return transposed(self.u, lever)

    def transposed(u, row):
        """h T^T row"""
        return add(add(row, cross(u, row)), scale(dot(u, row), u))

    def tangent(h, om):
        return Tangent(h, scale(0.5 * h, om))

    def recalled(h, om, kept):
        return Tangent(h, kept)

    def travel(h, lever, om):
        return h * dot(lever, om)

    def momentum(h, J, om):
        return scale(-1.0, first_momentum(h, J, scale(-1.0, om)))

    def first_momentum(h, J, om):
        return scale(1.0 / h, transposed(scale(0.5 * h, om), matvec(J, om)))

    def momentum_slope(h, J, om):
        """The momentum is minus the first momentum of -om, so this is the slope of that, at -om."""
        columns = slopes(h, J, scale(-1.0, om))
        return [[column[k] for column in columns] for k in range(3)]

    def slopes(h, J, om):
        """Derivatives of the first momentum by each of om's components."""
        u, Jom = scale(0.5 * h, om), matvec(J, om)
        columns = []
        for j in range(3):
            du = [0.5 * h if k == j else 0.0 for k in range(3)]
            column = [row[j] for row in J]
            change = add(column, add(cross(du, Jom), cross(u, column)))
            change = add(change, add(scale(dot(u, Jom), du), scale(dot(du, Jom) + dot(u, column), u)))
            columns.append(scale(1.0 / h, change))
        return columns

    def first_momentum_slope(h, mass, J, om):
        u, columns = scale(0.5 * h, om), slopes(h, J, om)
        D = [[0.0] * 6 for _ in range(6)]
        for k in range(3):
            D[k][k] = mass / (h * h)
            row = [columns[j][k] for j in range(3)]
            D[3 + k][3:] = scale(1.0 / h, transposed(u, row))
        return D
