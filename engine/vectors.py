"""Vectors, quaternions and rotation matrices as a few numbers each: helpers of compiled loops, inlined into them.

Arguments are tuples or rows of arrays, results are tuples; a matrix is a tuple of rows. Quaternions are scalar first
and turn vectors of a body into those of the world, as in rotation.py, which does the same on arrays of any shape.
"""

import numpy as np

from vigym.engine.compiled import inlined
from vigym.engine.kernels.quaternion import conjugate, multiply

__all__ = [
    "ahead",
    "conjugate",
    "cross",
    "dot",
    "from_rotation_vector",
    "matvec",
    "matvec_t",
    "multiply",
    "rotate",
    "rotation_matrix",
]


@inlined
def dot(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a, b):
    """a x b"""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def ahead(p, t, d):
    """p + t d"""
    return p[0] + t * d[0], p[1] + t * d[1], p[2] + t * d[2]


@inlined
def matvec(R, v):
    """R v"""
    return dot(R[0], v), dot(R[1], v), dot(R[2], v)


@inlined
def matvec_t(R, v):
    """R^T v"""
    a, b, c = R
    return (
        a[0] * v[0] + b[0] * v[1] + c[0] * v[2],
        a[1] * v[0] + b[1] * v[1] + c[1] * v[2],
        a[2] * v[0] + b[2] * v[1] + c[2] * v[2],
    )


@inlined
def rotate(q, v):
    """R(q) v = v + 2 u x (u x v + q0 v), with the vector u of q"""
    t0 = q[2] * v[2] - q[3] * v[1] + q[0] * v[0]
    t1 = q[3] * v[0] - q[1] * v[2] + q[0] * v[1]
    t2 = q[1] * v[1] - q[2] * v[0] + q[0] * v[2]
    return (
        v[0] + 2.0 * (q[2] * t2 - q[3] * t1),
        v[1] + 2.0 * (q[3] * t0 - q[1] * t2),
        v[2] + 2.0 * (q[1] * t1 - q[2] * t0),
    )


@inlined
def rotation_matrix(q):
    """R(q) of a unit quaternion"""
    q0, q1, q2, q3 = q[0], q[1], q[2], q[3]
    return (
        (1.0 - 2.0 * (q2 * q2 + q3 * q3), 2.0 * (q1 * q2 - q0 * q3), 2.0 * (q1 * q3 + q0 * q2)),
        (2.0 * (q1 * q2 + q0 * q3), 1.0 - 2.0 * (q1 * q1 + q3 * q3), 2.0 * (q2 * q3 - q0 * q1)),
        (2.0 * (q1 * q3 - q0 * q2), 2.0 * (q2 * q3 + q0 * q1), 1.0 - 2.0 * (q1 * q1 + q2 * q2)),
    )


@inlined
def from_rotation_vector(u):
    """Quaternion of a rotation by |u| about u"""
    angle = np.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    s = np.sin(0.5 * angle) / angle if angle > 0.0 else 0.5
    return np.cos(0.5 * angle), s * u[0], s * u[1], s * u[2]
