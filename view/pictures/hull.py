"""The convex hull of points, as half spaces: how meshes are drawn."""

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.errors import InputError
from vigym.engine.validation import Array, numeric


def half_spaces(points: ArrayLike) -> Array:
    """Rows n, d (F, 4) of the planes n . p <= d, n of length 1, whose intersection is the hull of points (n, 3).

    Quickhull: a tetrahedron grows by the point farthest outside one of its faces, until none is outside.
    """
    p = numeric(points, "points of a hull", "finite numbers of shape (n, 3)", InputError)
    if p.ndim != 2 or p.shape[1] != 3 or not p.size or not np.isfinite(p).all():
        raise InputError(f"points of a hull must be finite numbers of shape (n, 3), got shape {p.shape}")
    size = np.ptp(p, axis=0).max(initial=0.0)
    slack = 1e-9 * size
    corners = _tetrahedron(p, 1e-7 * size)
    inside = p[corners].mean(axis=0)
    faces = [tuple(c for c in corners if c != other) for other in corners]
    planes = np.array([_plane(p, face, inside) for face in faces])
    while True:
        outside = p @ planes[:, :3].T - planes[:, 3]  # (n, F)
        point, _ = np.unravel_index(outside.argmax(), outside.shape)
        if outside.max() <= slack:
            break
        visible = outside[point] > slack
        edges: dict[frozenset[int], None] = {}  # those on the rim of what is visible belong to one visible face
        for face in (face for face, seen in zip(faces, visible, strict=True) if seen):
            for edge in (frozenset((face[0], face[1])), frozenset((face[1], face[2])), frozenset((face[2], face[0]))):
                if edge in edges:
                    del edges[edge]
                else:
                    edges[edge] = None
        new = [(*sorted(edge), int(point)) for edge in edges]
        faces = [face for face, seen in zip(faces, visible, strict=True) if not seen] + new
        planes = np.concatenate([planes[~visible], [_plane(p, face, inside) for face in new]])
    same = np.round(planes / [1.0, 1.0, 1.0, size], 7)  # triangles in one plane are one facet
    return planes[np.sort(np.unique(same, axis=0, return_index=True)[1])]


def _tetrahedron(p: Array, thin: float) -> list[int]:
    """Four points, far from being in one plane."""
    corners = [int(p[:, 0].argmin())]
    for _ in range(3):
        # distance from what is there so far: a point, a line, a plane
        rest = p - p[corners[0]]
        if len(corners) > 1:
            basis = np.linalg.qr((p[corners[1:]] - p[corners[0]]).T)[0]
            rest = rest - rest @ basis @ basis.T
        distance = np.linalg.norm(rest, axis=1)
        if not distance.max() > thin:
            raise InputError("points of a hull must not all be in one plane")
        corners.append(int(distance.argmax()))
    return corners


def _plane(p: Array, face: tuple[int, ...], inside: Array) -> Array:
    a, b, c = p[list(face)]
    n = np.cross(b - a, c - a)
    n = n / np.linalg.norm(n)
    d = n @ a
    return np.append(n, d) if n @ inside < d else np.append(-n, -d)
