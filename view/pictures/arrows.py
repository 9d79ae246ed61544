"""Arrows, such as forces at contacts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.collisions import Contacts
from vigym.engine.errors import InputError
from vigym.engine.joint import WORLD, orthonormal_basis
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import Array
from vigym.engine.validation import numeric, show, vector
from vigym.view.pictures.scene import Part
from vigym.view.pictures.solids import CONE, CYLINDER

if TYPE_CHECKING:
    from vigym.engine.simulator import Simulator

_SHORTEST = 1e-9  # m; an arrow of no length has no direction
MOST_ARROWS = 1000  # in one picture


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
    def at_contacts(cls, sim: "Simulator", env: int = 0, scale: float = 0.005) -> "Arrows":
        """Contact forces on the bodies of an environment, where they act: those of the ground, and between two bodies
        both, which are opposite.

        scale: metres an arrow is long per newton.
        """
        points, forces = forces_of(sim, env)
        return cls(points, scale * forces)

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


def forces_of(sim: "Simulator", env: int) -> tuple[Array, Array]:
    """Contact forces on the bodies of an environment: where they act (n, 3), m, and the forces (n, 3), N, world."""
    mechanism = sim.model.mechanism
    return gather(mechanism, sim.contact_points()[env], sim.contact_forces()[env], sim.contacts(env))


def gather(mechanism: Mechanism, points: Array, forces: Array, touching: Contacts) -> tuple[Array, Array]:
    """Points and forces of contacts with the ground, then of those between colliders: on the first, and then on the
    second where that is not the world's."""
    moves = np.array([collider.body != WORLD for collider in mechanism.colliders], bool)
    second = moves[touching.collider[:, 1]]
    where = points, touching.position, touching.position[second]
    return np.concatenate(where), np.concatenate([forces, touching.force, -touching.force[second]])


def visible(points: Array, forces: Array, scale: float, distance: float) -> tuple[Array, Array]:
    """Start and vector of the arrows that can be seen from `distance` m away: at most MOST_ARROWS, the longest ones, of
    which none is shorter than 0.01 or longer than 0.4 of that."""
    along = scale * forces
    length = np.linalg.norm(along, axis=-1)
    longest = np.argsort(-length, kind="stable")[:MOST_ARROWS]
    kept = np.sort(longest[length[longest] > 0.01 * distance])
    shrink = np.minimum(1.0, 0.4 * distance / length[kept])
    return points[kept], shrink[:, None] * along[kept]


def force_scale(weight: float, distance: float) -> float:
    """Metres an arrow is long per newton, from `distance` m away: a force of `weight` N is 0.3 of that long."""
    return 0.3 * distance / weight
