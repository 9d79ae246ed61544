"""The two-legged robot of Gymnasium's Walker2d-v5, which moves in a plane."""

import numpy as np

from vigym.assets.classics.builder import Builder, pitched
from vigym.engine.mechanism import Mechanism

HEIGHT = 1.25  # m, of the torso at the start
GEAR = 100.0  # N m for an action of 1
FOLD, ANKLE = (np.radians(-150.0), 0.0), (np.radians(-45.0), np.radians(45.0))
PASSIVE = {"armature": 0.01, "effort_limit": GEAR, "damping": 0.1}  # kg m^2, N m s


def build() -> Mechanism:
    """Torso and two legs, the right one first; coordinates: z, x and angle of the torso, then the hinges of each leg
    from the top down."""
    b = Builder()
    b.ground()
    b.body("torso", [pitched(0.05, 0.2, (0, 0, 0), 0.0)], friction=0.9)
    b.plane_root("torso", HEIGHT)
    for side in ("", " left"):
        thigh, leg, foot = (name + side for name in ("thigh", "leg", "foot"))
        b.body(thigh, [pitched(0.05, 0.225, (0, 0, -0.225), 0.0)], friction=0.9)
        b.body(leg, [pitched(0.04, 0.25, (0, 0, 0), 0.0)], friction=0.9)
        b.body(foot, [pitched(0.06, 0.1, (-0.1, 0, 0.1), -np.pi / 2)], friction=1.9)
        b.hinge(f"{thigh} joint", "torso", thigh, (0, 0, -0.2), FOLD, **PASSIVE)
        b.hinge(f"{leg} joint", thigh, leg, (0, 0, -0.7), FOLD, pivot=(0, 0, 0.25), **PASSIVE)
        b.hinge(f"{foot} joint", leg, foot, (0.2, 0, -0.35), ANKLE, pivot=(-0.2, 0, 0.1), **PASSIVE)
    return b.mechanism
