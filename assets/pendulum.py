"""A pendulum: a uniform rod on a hinge. 1 kg, 1 m, 2 N m are the figures of Gymnasium's Pendulum; radius: ours."""

from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Cylinder

MASS, LENGTH, RADIUS = 1.0, 1.0, 0.02  # kg, m, m
TORQUE_LIMIT = 2.0  # N m


def build(
    *,
    mass: float = MASS,
    length: float = LENGTH,
    radius: float = RADIUS,
    angle: float = 0.0,
    height: float | None = None,
    damping: float = 0.0,
    effort_limit: float = TORQUE_LIMIT,
) -> Mechanism:
    """Body "rod" along its own z, hinge "hinge" about y; coordinate: the angle from hanging straight down, rad.

    mass: kg; length, radius: m. angle: where it starts; 0 is at rest. height: of the hinge above z = 0, m; by default
    1.5 lengths, so that the rod swings above the ground (which it does not touch).
    damping: N m s/rad. effort_limit: N m.
    """
    m = Mechanism()
    m.add_body("rod", mass, shapes=[Cylinder(radius, length, color=(0.75, 0.22, 0.17, 1.0))])
    m.add_joint(
        "hinge",
        "revolute",
        "world",
        "rod",
        axis=(0, 1, 0),
        parent_anchor=(0, 0, 1.5 * length if height is None else height),
        child_anchor=(0, 0, length / 2),
        damping=damping,
        effort_limit=effort_limit,
        start=angle,
    )
    return m
