"""A pole on a cart. Masses, length, track and force are those of Barto, Sutton and Anderson (1983), also Gymnasium's
CartPole: cart 1 kg, pole 0.1 kg and 1 m (twice 0.5 m), track 2.4 m to each side, force 10 N. Drawn sizes: ours."""

from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Cylinder

CART_MASS, POLE_MASS, POLE_LENGTH, POLE_RADIUS = 1.0, 0.1, 1.0, 0.02  # kg, kg, m, m
TRACK = 2.4  # m, from the middle to each end
FORCE_LIMIT = 10.0  # N
CART_SIZE = (0.4, 0.2, 0.2)  # m


def build(
    *,
    cart_mass: float = CART_MASS,
    pole_mass: float = POLE_MASS,
    pole_length: float = POLE_LENGTH,
    pole_radius: float = POLE_RADIUS,
    track: float = TRACK,
    force_limit: float = FORCE_LIMIT,
    damping: float = 0.0,
    angle: float = 0.0,
    height: float | None = None,
) -> Mechanism:
    """Bodies "cart" and "pole", joints "slide" along x and "hinge" about y, at the middle of the cart, without motor.

    Coordinates: x of the cart, m; angle of the pole from upright, rad, positive towards +x. The pole starts at
    `angle`: 0 is balanced, pi is at rest.

    cart_mass, pole_mass: kg; pole_length, pole_radius: m. track: the cart stops at +-track, m. force_limit: N.
    damping: of the hinge, N m s/rad. height: of the hinge above z = 0, m; by default 1.25 pole lengths, so that the
    pole also hangs above the ground (which it does not touch).
    """
    m = Mechanism()
    m.add_body("cart", cart_mass, shapes=[Box(CART_SIZE, color=(0.25, 0.28, 0.33, 1.0))])
    m.add_body("pole", pole_mass, shapes=[Cylinder(pole_radius, pole_length, color=(0.85, 0.6, 0.35, 1.0))])
    m.add_joint(
        "slide",
        "prismatic",
        "world",
        "cart",
        axis=(1, 0, 0),
        parent_anchor=(0, 0, 1.25 * pole_length if height is None else height),
        lower=-track,
        upper=track,
        effort_limit=force_limit,
    )
    m.add_joint(
        "hinge",
        "revolute",
        "cart",
        "pole",
        axis=(0, 1, 0),
        child_anchor=(0, 0, -pole_length / 2),
        damping=damping,
        start=angle,
    )
    return m
