"""The cart and two poles of Gymnasium's InvertedDoublePendulum-v5."""

from vigym.assets.classics.builder import Builder, capsule
from vigym.engine.mechanism import Mechanism

TRACK = 1.0  # m, from the middle
LENGTH = 0.6  # m, of each pole
GEAR = 500.0  # N for an action of 1
DAMPING = 0.05  # N s/m and N m s


def build() -> Mechanism:
    """Cart and poles; coordinates: position of the cart, angle of each pole from the one below it."""
    b = Builder(gravity=(1e-5, 0.0, -9.81))  # the model's own
    b.body("cart", [capsule((-0.1, 0, 0), (0.1, 0, 0), 0.1)], solid=False)
    limits = {"lower": -TRACK, "upper": TRACK, "effort_limit": GEAR}
    b.joint("slider", "prismatic", "world", "cart", axis=(1, 0, 0), damping=DAMPING, **limits)
    for name, hinge, parent, height in (("pole", "hinge", "cart", 0.0), ("pole2", "hinge2", "pole", LENGTH)):
        b.body(name, [capsule((0, 0, 0), (0, 0, LENGTH), 0.045)], solid=False)
        b.joint(hinge, "revolute", parent, name, (0, 0, height), axis=(0, 1, 0), damping=DAMPING)
    return b.mechanism
