"""The cube that was thrown, which need not be what its authors say: width, centre of mass, inertia."""

from dataclasses import dataclass

import numpy as np

from vigym.assets import cube
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import conjugate, rotate

UP = np.array([0.0, 0.0, 1.0])
SIGNS = np.sign([contact.point for contact in cube.build().contacts])  # of the corners


@dataclass(frozen=True)
class Cube:
    """half: half the width, m; gravity: m/s^2; com: centre of mass in the frame of the cube, from the centre that is
    tracked, m; inertia: about each axis, kg m^2; rounding: radius of the corners, m."""

    half: float = cube.SIDE / 2
    gravity: float = 9.81
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: float = cube.INERTIA
    rounding: float = 0.0

    def mechanism(self, **contact: float) -> Mechanism:
        """One body, on the ground, with contacts in the corners: points, or spheres inside them."""
        m = Mechanism(gravity=(0.0, 0.0, -self.gravity))
        m.add_body("cube", cube.MASS, (self.inertia,) * 3, position=(0.0, 0.0, self.half + self.com[2]))
        for number, corner in enumerate(self.corners - self.com):
            law = {"friction": cube.FRICTION, **contact}
            m.add_contact(f"corner {number}", "cube", corner, radius=self.rounding, **law)
        return m

    @property
    def corners(self) -> Array:
        """Contacts, from the tracked centre, m (8, 3)."""
        return SIGNS * (self.half - self.rounding)

    def height(self, states: Array) -> Array:
        """Height of the lowest corner, were all of them sharp, m; states (..., 7 or more)."""
        return states[..., 2] - self.half * np.abs(rotate(conjugate(states[..., 3:7]), UP)).sum(-1)

    def to_mass(self, states: Array) -> Array:
        """States (..., 13) of the tracked centre as those of the centre of mass."""
        com, q = np.array(self.com), states[..., 3:7]
        moved = states.copy()
        moved[..., :3] += rotate(q, com)
        moved[..., 7:10] += rotate(q, np.cross(states[..., 10:13], com))
        return moved

    def to_centre(self, poses: Array) -> Array:
        """Poses (..., 7) of the centre of mass as those of the tracked centre."""
        return np.concatenate([poses[..., :3] - rotate(poses[..., 3:], np.array(self.com)), poses[..., 3:]], axis=-1)


DESCRIBED = Cube()
