"""Quaternions (scalar first, body to world) on NumPy arrays of any leading shape."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def multiply(p: Array, q: Array) -> Array:
    """p q"""
    p0, p1, p2, p3 = _components(p)
    q0, q1, q2, q3 = _components(q)
    return _gather(
        p0 * q0 - p1 * q1 - p2 * q2 - p3 * q3,
        p0 * q1 + p1 * q0 + p2 * q3 - p3 * q2,
        p0 * q2 + p2 * q0 + p3 * q1 - p1 * q3,
        p0 * q3 + p3 * q0 + p1 * q2 - p2 * q1,
    )


def cross(a: Array, b: Array) -> Array:
    """a x b"""
    a0, a1, a2 = _components(a)
    b0, b1, b2 = _components(b)
    return _gather(a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0)


def _components(v: Array) -> list[Array]:
    # component by component: on small arrays, several times faster than np.cross, np.stack and the like
    v = np.asarray(v)
    return [v[..., k] for k in range(v.shape[-1])]


def _gather(*components: Array) -> Array:
    out = np.empty((*components[0].shape, len(components)), components[0].dtype)
    for k, component in enumerate(components):
        out[..., k] = component
    return out


def conjugate(q: Array) -> Array:
    """q^-1 of unit quaternions"""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q: Array, v: Array) -> Array:
    """R(q) v = v + 2 u x (u x v + q0 v), with the vector u of q"""
    q0, q1, q2, q3 = _components(q)
    v0, v1, v2 = _components(v)
    t0, t1, t2 = q2 * v2 - q3 * v1 + q0 * v0, q3 * v0 - q1 * v2 + q0 * v1, q1 * v1 - q2 * v0 + q0 * v2
    return _gather(
        v0 + 2.0 * (q2 * t2 - q3 * t1),
        v1 + 2.0 * (q3 * t0 - q1 * t2),
        v2 + 2.0 * (q1 * t1 - q2 * t0),
    )


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
    return long_rotation_vector(np.where(q[..., :1] < 0, -q, q))


def long_rotation_vector(q: Array) -> Array:
    """Rotation vector of q as it is: -q is the same rotation the other way round"""
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
