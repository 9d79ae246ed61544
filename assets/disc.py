"""The paper's single body: a flat cylinder with contact points around its base.

From the paper: 1 kg, radius 0.5 m, height 0.1 m; an even number of contacts, 2 to 100, equally spaced; friction 0.2.
"""

import numpy as np

from vigym.engine.errors import MechanismError
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Cylinder

MASS, RADIUS, HEIGHT = 1.0, 0.5, 0.1  # kg, m, m


def build(
    *,
    contacts: int = 8,
    mass: float = MASS,
    radius: float = RADIUS,
    height: float = HEIGHT,
    friction: float = 0.2,
) -> Mechanism:
    """Body "disc", its axis along z, at rest on the ground; contacts "rim 0" ..., the first one on the x axis.

    contacts: 1 or more; on fewer than three it does not rest, it tips. mass: kg; radius, height: m.
    """
    if contacts < 1:
        raise MechanismError(f"contacts must be 1 or more, got {contacts}")
    m = Mechanism()
    shape = Cylinder(radius, height, color=(0.2, 0.45, 0.7, 1.0))
    m.add_body("disc", mass, shapes=[shape], position=(0, 0, height / 2))
    for k in range(contacts):
        angle = 2 * np.pi * k / contacts
        point = (radius * np.cos(angle), radius * np.sin(angle), -height / 2)
        m.add_contact(f"rim {k}", "disc", point, friction=friction)
    return m
