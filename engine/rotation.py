"""Quaternions (scalar first, body to world) on NumPy arrays of any leading shape."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def multiply(p: Array, q: Array) -> Array:
    """p q"""
    p, q = np.broadcast_arrays(p, q)
    p0, q0, pv, qv = p[..., :1], q[..., :1], p[..., 1:], q[..., 1:]
    scalar = p0 * q0 - np.sum(pv * qv, -1, keepdims=True)
    return np.concatenate([scalar, p0 * qv + q0 * pv + cross(pv, qv)], -1)


def cross(a: Array, b: Array) -> Array:
    """a x b, several times faster than np.cross on small arrays"""
    a, b = np.asarray(a), np.asarray(b)
    a0, a1, a2, b0, b1, b2 = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    return np.stack(np.broadcast_arrays(a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0), -1)


def conjugate(q: Array) -> Array:
    """q^-1 of unit quaternions"""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q: Array, v: Array) -> Array:
    """R(q) v"""
    q, v = np.asarray(q), np.asarray(v)
    t = 2.0 * cross(q[..., 1:], v)
    return v + q[..., :1] * t + cross(q[..., 1:], t)


def rotation_matrix(q: Array) -> Array:
    """R(q) (..., 3, 3)"""
    columns = [rotate(q, axis) for axis in np.eye(3)]
    return np.stack(columns, -1)


def from_rotation_vector(phi: Array) -> Array:
    """Quaternion of a rotation by |phi| about phi"""
    angle = np.linalg.norm(phi, axis=-1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), 0.5 * phi * np.sinc(angle / (2 * np.pi))], -1)


def to_rotation_vector(q: Array) -> Array:
    """Rotation vector, the shortest way round"""
    q = np.where(q[..., :1] < 0, -q, q)
    size = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(size, q[..., :1])
    return q[..., 1:] * np.where(size > 1e-12, angle / np.maximum(size, 1e-300), 2.0)


def from_matrix(R: Array) -> Array:
    """Unit quaternion of one rotation matrix (3, 3)"""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], 0, 0, 0],
            [R[2, 1] - R[1, 2], R[0, 0] - R[1, 1] - R[2, 2], 0, 0],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], 0],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    q = np.linalg.eigh(K)[1][:, -1]  # lower triangle of Bar-Itzhack's matrix: its top eigenvector is the quaternion
    return q if q[0] >= 0 else -q
