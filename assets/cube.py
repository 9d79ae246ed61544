"""A cube with a contact at each of its corners.

By default the acrylic cube of the ContactNets tosses (Pfrommer, Halm, Posa, 2020): half width 0.0524 m, 0.37 kg,
friction 0.18 as its authors measured it; `INERTIA` is theirs too (a solid cube of that mass has 6.8e-4).
"""

from itertools import product

import numpy as np

from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box

SIDE, MASS, FRICTION = 0.1048, 0.37, 0.18  # m, kg
INERTIA = 8.1e-4  # kg m^2, about each axis


def build(
    *,
    side: float = SIDE,
    mass: float = MASS,
    inertia: float | None = None,
    friction: float = FRICTION,
) -> Mechanism:
    """Body "cube", at rest on the ground; contacts "corner 0" ... "corner 7", the first four on the ground.

    side: m. mass: kg. inertia: about each axis, kg m^2; None is that of a solid cube, mass side^2 / 6.
    """
    m = Mechanism()
    moment = mass * side**2 / 6 if inertia is None else inertia
    shape = Box((side, side, side), color=(0.85, 0.33, 0.1, 1.0))
    m.add_body("cube", mass, np.full(3, moment), [shape], position=(0, 0, side / 2))
    for k, (z, y, x) in enumerate(product((-0.5, 0.5), repeat=3)):
        m.add_contact(f"corner {k}", "cube", (x * side, y * side, z * side), friction=friction)
    return m
