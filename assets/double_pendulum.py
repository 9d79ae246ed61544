"""A double pendulum: two uniform rods, one hanging from the other. 1 kg and 1 m are those of Gymnasium's Acrobot."""

from collections.abc import Sequence

import numpy as np

from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Cylinder

MASS, LENGTH, RADIUS = 1.0, 1.0, 0.02  # of each rod: kg, m, m


def build(
    *,
    masses: Sequence[float] = (MASS, MASS),
    lengths: Sequence[float] = (LENGTH, LENGTH),
    radius: float = RADIUS,
    angles: Sequence[float] = (0.0, 0.0),
    height: float | None = None,
    damping: float = 0.0,
    effort_limit: float = np.inf,
) -> Mechanism:
    """Bodies "upper" and "lower" along their own z, hinges "shoulder" and "elbow" about y.

    Coordinates: the angle of the upper rod from hanging straight down, that of the lower rod against the upper, rad.

    masses: kg, lengths: m, of the upper and the lower rod; radius: m. angles: where it starts; 0 is at rest.
    height: of the shoulder above z = 0, m; by default 1.25 times the reach, so that it swings above the ground (which
    it does not touch). damping: N m s/rad, effort_limit: N m, of each hinge.
    """
    (upper_mass, lower_mass), (upper, lower) = masses, lengths
    m = Mechanism()
    m.add_body("upper", upper_mass, shapes=[Cylinder(radius, upper, color=(0.75, 0.22, 0.17, 1.0))])
    m.add_body("lower", lower_mass, shapes=[Cylinder(radius, lower, color=(0.2, 0.45, 0.7, 1.0))])
    top = 1.25 * (upper + lower) if height is None else height
    hinges = (("shoulder", "world", "upper", top, upper / 2), ("elbow", "upper", "lower", -upper / 2, lower / 2))
    for (name, parent, child, above, below), angle in zip(hinges, angles, strict=True):
        m.add_joint(
            name,
            "revolute",
            parent,
            child,
            axis=(0, 1, 0),
            parent_anchor=(0, 0, above),
            child_anchor=(0, 0, below),
            damping=damping,
            effort_limit=effort_limit,
            start=angle,
        )
    return m
