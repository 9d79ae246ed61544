"""An independent ray caster: closed forms in NumPy, one face of a solid at a time, and the simplest of cameras."""

import numpy as np


def rays(camera, width, height, at=None):
    """Eye (3,) and directions (height, width, 3) of length 1 along the camera's axis."""
    a, e = np.radians([camera.azimuth, camera.elevation])
    forward = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    half = np.tan(np.radians(camera.fovy) / 2)
    v = half * (1 - (np.arange(height) + 0.5) / height * 2)
    u = half * ((np.arange(width) + 0.5) / width * 2 - 1) * width / height
    directions = forward + u[None, :, None] * right + v[:, None, None] * up
    return np.asarray(camera.lookat if at is None else at) - camera.distance * forward, directions


def first(hits):
    """The smallest t > 0 of several candidates [(t, valid), ...], or infinity."""
    with np.errstate(invalid="ignore"):
        return np.min([np.where(valid & (t > 0), t, np.inf) for t, valid in hits], axis=0)


def ball(o, d, radius, where=None):
    """Both roots of |o + t d| = radius, where `where(p)` holds."""
    a, b, c = (d * d).sum(-1), (o * d).sum(-1), (o * o).sum(-1) - radius**2
    return _roots(o, d, a, b, c, where)


def _roots(o, d, a, b, c, where):
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(b * b - a * c)
        hits = []
        for t in ((-b - root) / a, (-b + root) / a):
            p = o + t[..., None] * d
            hits.append((t, np.isfinite(t) & (where(p) if where else True)))
    return hits


def tube(o, d, radius, half):
    o, flat = np.broadcast_arrays(o, d)[0], d[..., :2]
    a, b, c = (flat * flat).sum(-1), (o[..., :2] * flat).sum(-1), (o[..., :2] ** 2).sum(-1) - radius**2
    return _roots(o, d, a, b, c, lambda p: np.abs(p[..., 2]) <= half)


def face(o, d, n, offset, inside):
    """The plane n . p = offset, where inside(p) holds."""
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (offset - o @ n) / (d @ n)
        return t, np.isfinite(t) & inside(o + t[..., None] * d)


def sphere(o, d, radius):
    return first(ball(o, d, radius))


def box(o, d, size):
    hits = []
    for k in range(3):
        others = [i for i in range(3) if i != k]
        for sign in (-1, 1):
            n = sign * np.eye(3)[k]
            hits.append(face(o, d, n, size[k] / 2, lambda p, c=others: (np.abs(p[..., c]) <= size[c] / 2).all(-1)))
    return first(hits)


def cylinder(o, d, radius, length):
    z = np.array([0.0, 0.0, 1.0])
    caps = [face(o, d, s * z, length / 2, lambda p: (p[..., :2] ** 2).sum(-1) <= radius**2) for s in (-1, 1)]
    return first(tube(o, d, radius, length / 2) + caps)


def capsule(o, d, radius, length):
    hits = tube(o, d, radius, length / 2)
    for s in (-1, 1):
        end = np.array([0.0, 0.0, s * length / 2])
        hits += ball(o - end, d, radius, lambda p, s=s: s * p[..., 2] >= 0)
    return first(hits)


def cone(o, d, radius, height):
    """Base at z = -height/2, tip at z = height/2."""
    k, tip = radius / height, np.array([0.0, 0.0, height / 2])
    weight = np.array([1.0, 1.0, -k * k])
    q = o - tip
    a, b, c = (d * d * weight).sum(-1), (q * d * weight).sum(-1), (q * q * weight).sum(-1)
    o = np.broadcast_to(o, d.shape)
    side = _roots(o, d, a, b, c, lambda p: np.abs(p[..., 2]) <= height / 2)
    down = np.array([0.0, 0.0, -1.0])
    return first([*side, face(o, d, down, height / 2, lambda p: (p[..., :2] ** 2).sum(-1) <= radius**2)])


def polyhedron(o, d, planes):
    """Faces n . p = d of rows n, d."""
    hits = []
    for i, (*n, offset) in enumerate(planes):
        rest = np.delete(planes, i, axis=0)
        hits.append(face(o, d, np.array(n), offset, lambda p, r=rest: (p @ r[:, :3].T <= r[:, 3] + 1e-12).all(-1)))
    return first(hits)


def ground(o, d, n=(0.0, 0.0, 1.0), offset=0.0):
    return first([face(o, d, np.asarray(n, float), offset, lambda p: np.ones(p.shape[:-1], bool))])
