"""A surface of triangles that is only drawn: how visual meshes of robots look."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import MechanismError
from vigym.engine.shapes import Shape, checked_color
from vigym.engine.validation import Array, numeric, read_only, show, unit_quaternion, vector

MOST_FACES = 1_000_000
LARGEST = 1e30  # of a coordinate, m: products of a few of them are still numbers of 64 bits


@dataclass(frozen=True, eq=False)
class Surface(Shape):
    """Triangles that are drawn and that neither weigh nor touch anything: one of the `visuals` of a body.

    vertices: (n, 3), m; stored with 32 bits a number.
    faces: (m, 3), the places of its corners in `vertices`; either side is seen. Triangles without area are left out.
    position, orientation, color: as of a `Shape`.
    """

    vertices: Any
    faces: Any

    def __post_init__(self) -> None:
        self._store("position", vector(self.position, (3,), "Surface: position"))
        self._store("orientation", unit_quaternion(self.orientation, "Surface: orientation"))
        if self.color is not None:
            self._store("color", checked_color(self.color, "Surface: color"))
        self._check_sizes()

    def _check_sizes(self) -> None:
        expected = "finite numbers of shape (n, 3)"
        vertices = numeric(self.vertices, "Surface: vertices", expected)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not (np.abs(vertices) < LARGEST).all():
            raise MechanismError(f"Surface: vertices must be {expected}, got {show(self.vertices)}")
        faces = np.asarray(self.faces)
        whole = np.issubdtype(faces.dtype, np.integer) and faces.ndim == 2 and faces.shape[1] == 3
        if not whole or ((faces < 0) | (faces >= len(vertices))).any():
            raise MechanismError(f"Surface: faces must be (m, 3) places in vertices, got {show(self.faces)}")
        if len(faces) > MOST_FACES:
            raise MechanismError(f"Surface: it has {len(faces):,} faces; at most {MOST_FACES:,} are drawn")
        stored = vertices.astype(np.float32)
        a, b, c = (stored[faces[:, k]].astype(float) for k in range(3))
        faces = faces[np.cross(b - a, c - a).any(axis=1)].astype(np.int32)
        if not len(faces):
            raise MechanismError("Surface: none of its faces has an area")
        object.__setattr__(self, "vertices", read_only(stored))
        object.__setattr__(self, "faces", read_only(faces))

    def volume(self) -> float:
        """None: a surface has no inside."""
        return 0.0

    def unit_inertia(self) -> Array:
        """None: a surface does not weigh anything."""
        return np.zeros((3, 3))

    def triangles(self) -> tuple[Array, NDArray[np.int32]]:
        """Vertices (n, 3) in its own frame, and faces (m, 3)."""
        return self.vertices.astype(float), self.faces

    @cached_property
    def content(self) -> str:
        """A hash of vertices and faces: surfaces that have it in common are one form."""
        digest = hashlib.sha256(np.int64(len(self.vertices)).tobytes())
        digest.update(self.vertices.tobytes() + self.faces.tobytes())
        return digest.hexdigest()

    def _key(self) -> tuple[Any, ...]:
        return self.content, self.position, self.orientation, self.color

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surface) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())
