"""The cart and pole of Gymnasium's InvertedPendulum-v5."""

import numpy as np

from vigym.assets.classics.builder import Builder, capsule
from vigym.engine.mechanism import Mechanism

TRACK = 1.0  # m, from the middle
POLE_END = (0.001, 0.0, 0.6)  # m
GEAR = 100.0  # N for an action of 1


def build() -> Mechanism:
    """Cart and pole; coordinates: position of the cart, angle of the pole from upright."""
    b = Builder()
    b.body("cart", [capsule((-0.1, 0, 0), (0.1, 0, 0), 0.1)], solid=False)
    b.body("pole", [capsule((0, 0, 0), POLE_END, 0.049)], solid=False)
    limits = {"lower": -TRACK, "upper": TRACK, "effort_limit": 3 * GEAR}
    b.joint("slider", "prismatic", "world", "cart", axis=(1, 0, 0), damping=1.0, **limits)
    b.hinge("hinge", "cart", "pole", (0, 0, 0), (-np.pi / 2, np.pi / 2), axis=(0, 1, 0), damping=1.0)
    return b.mechanism
