"""Arrows, such as forces at contacts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.errors import InputError
from vigym.engine.joint import orthonormal_basis
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import rotate
from vigym.engine.validation import numeric, show, vector
from vigym.view.pictures.scene import Part
from vigym.view.pictures.solids import CONE, CYLINDER

_SHORTEST = 1e-9  # m; an arrow of no length has no direction


@dataclass(frozen=True)
class Arrows:
    """Arrows of one colour.

    points: where they start (n, 3), world, m.
    vectors: from start to tip (n, 3), world, m: multiply forces by the length that a newton should have.
    color: red, green, blue in [0, 1].
    radius: of the shafts, m; None chooses one that is well visible from the camera.
    """

    points: ArrayLike
    vectors: ArrayLike
    color: tuple[float, float, float] = (0.90, 0.16, 0.22)
    radius: float | None = None

    @classmethod
    def at_contacts(
        cls, mechanism: Mechanism, x: ArrayLike, q: ArrayLike, forces: ArrayLike, scale: float = 0.005
    ) -> "Arrows":
        """The forces (n_contacts, 3), N, of the ground on the contacts, where they act: x + R(q) point - radius normal.

        x, q: pose of one environment, (n_bodies, 3) and (n_bodies, 4). forces: as `Simulator.contact_forces()[env]`.
        scale: metres an arrow is long per newton.
        """
        contacts = mechanism.contacts
        place = {body.name: k for k, body in enumerate(mechanism.bodies)}
        body = [place[contact.body] for contact in contacts]
        arm = np.array([contact.point for contact in contacts]).reshape(-1, 3)
        drop = np.array([contact.radius * contact.normal for contact in contacts]).reshape(-1, 3)
        points = np.asarray(x, float)[body] + rotate(np.asarray(q, float)[body], arm) - drop
        return cls(points, scale * np.asarray(forces, float))

    def parts(self, radius: float) -> list[Part]:
        """A cylinder and a cone for each, in the world; `radius` if none was given. They cast no shadow."""
        points, vectors = (self._rows(name) for name in ("points", "vectors"))
        if points.shape != vectors.shape:
            raise InputError(f"arrows: {len(points)} points, but {len(vectors)} vectors")
        color = tuple(vector(self.color, (3,), "arrows: color", InputError).tolist())
        r = self.radius or radius
        parts = []
        for start, along in zip(points, vectors, strict=True):
            length = float(np.linalg.norm(along))
            if length < _SHORTEST:
                continue
            rotation = orthonormal_basis(along).T
            head = min(5.0 * r, 0.6 * length)
            width = r * min(1.0, head / (5.0 * r) + 0.3)
            shaft, tip = (length - head) / 2, head / 2
            u = along / length
            parts.append(Part(CYLINDER, (width, shaft, 0.0), start + shaft * u, rotation, color, casts=False))
            middle = start + (length - tip) * u
            parts.append(Part(CONE, (2.4 * width, tip, 0.0), middle, rotation, color, casts=False))
        return parts

    def _rows(self, name: str) -> np.ndarray:
        value = getattr(self, name)
        rows = numeric(value, f"arrows: {name}", "finite numbers of shape (n, 3)", InputError)
        if rows.ndim != 2 or rows.shape[1] != 3 or not np.isfinite(rows).all():
            raise InputError(f"arrows: {name} must be finite numbers of shape (n, 3), got {show(value)}")
        return rows


def force_scale(mechanism: Mechanism, distance: float) -> float:
    """Metres an arrow is long per newton, from `distance` m away: the mechanism's weight is 0.3 of that long."""
    fall = float(np.linalg.norm(mechanism.gravity)) or 9.81
    return 0.3 * distance / (fall * sum(body.mass for body in mechanism.bodies))
