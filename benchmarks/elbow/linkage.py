"""The linkage that was thrown, which need not be what its authors say: masses, centres of mass, inertias, hinge."""

from dataclasses import dataclass

import numpy as np

from vigym.benchmarks.scenes.scene import Array
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, rotate

MASS, MOMENT = 0.37, 0.0006167  # kg, kg m^2: of each brick, as described
SIZE = np.array([0.1, 0.05, 0.05])  # m
SIGNS = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij")).reshape(3, -1).T
Three = tuple[float, float, float]


def three(values: Array) -> Three:
    """Three plain numbers."""
    x, y, z = values.tolist()
    return x, y, z


@dataclass(frozen=True)
class Linkage:
    """Lengths in the frames of the bricks, which have their origins at the bricks' centres.

    share: of brick 1 in the whole mass
    moments: of both bricks about their axes at their centres of mass, kg m^2
    coms: centres of mass, m
    hinge: its place in brick 1, m; axis: its direction there
    arm: from the hinge to the centre of brick 2, in its frame, m
    damping: of the hinge, N m s; rubbing: dry friction of the hinge, N m
    gravity: m/s^2
    """

    share: float = 0.5
    moments: tuple[Three, Three] = ((MOMENT,) * 3, (MOMENT,) * 3)
    coms: tuple[Three, Three] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    hinge: Three = (-0.035, 0.06, 0.0)
    axis: Three = (0.0, 1.0, 0.0)
    arm: Three = (0.035, 0.0, 0.0)
    damping: float = 1e-6
    rubbing: float = 1e-6
    gravity: float = 9.81

    @property
    def masses(self) -> Array:
        """Masses of both bricks, kg."""
        return 2 * MASS * np.array([self.share, 1.0 - self.share])

    def mechanism(self, contacts: bool = True, **law: float) -> Mechanism:
        """Two bodies and their hinge; with `contacts`, all corners may touch the ground."""
        m = Mechanism(gravity=(0.0, 0.0, -self.gravity))
        coms, ends = np.array(self.coms), (np.zeros(3), np.array(self.arm))
        for k, (mass, moments) in enumerate(zip(self.masses, self.moments, strict=True)):
            m.add_body(f"brick {k + 1}", float(mass), moments, position=(0.0, 0.0, 1.0))
        anchors = {"parent_anchor": self.hinge - coms[0], "child_anchor": -(ends[1] + coms[1])}
        laws = {"damping": self.damping, "friction": self.rubbing}
        m.add_joint("hinge", "revolute", "brick 1", "brick 2", axis=self.axis, **anchors, **laws)
        for k in range(2) if contacts else ():
            for c, corner in enumerate(SIGNS * SIZE / 2 - coms[k]):
                m.add_contact(f"corner {k + 1}.{c}", f"brick {k + 1}", corner, **law)
        return m

    def heights(self, states: Array) -> Array:
        """Heights of the lowest corner of both bricks, m; states (..., 15) as they were measured."""
        q, x, angle = states[..., :4], states[..., 4:7], states[..., 7]
        q2 = multiply(q, from_rotation_vector(angle[..., None] * np.array(self.axis)))
        centre = x + rotate(q, np.array(self.hinge)) + rotate(q2, np.array(self.arm))
        low = [z - np.abs(rotate(conjugate(turn), np.array([0, 0, 1.0])) * SIZE / 2).sum(-1) for z, turn in
               ((x[..., 2], q), (centre[..., 2], q2))]  # fmt: skip
        return np.minimum(*low)

    def to_mass(self, states: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Measured states (..., 15) as x, q, angle, v, w, rate of brick 1's centre of mass and of the hinge."""
        q, x, angle = states[..., :4], states[..., 4:7], states[..., 7]
        w, v, rate = states[..., 8:11], states[..., 11:14], states[..., 14]
        com = np.array(self.coms[0])
        return x + rotate(q, com), q, angle, v + rotate(q, np.cross(w, com)), w, rate

    def to_centre(self, x: Array, q: Array) -> Array:
        """Position of brick 1's centre from that of its centre of mass."""
        return x - rotate(q, np.array(self.coms[0]))


DESCRIBED = Linkage()
