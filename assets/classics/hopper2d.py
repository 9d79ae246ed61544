"""The one-legged robot of Gymnasium's Hopper-v5, which moves in a plane."""

import numpy as np

from vigym.assets.classics.builder import Builder, pitched
from vigym.engine.mechanism import Mechanism

HEIGHT = 1.25  # m, of the torso at the start
GEAR = 200.0  # N m for an action of 1
FOLD, ANKLE = (np.radians(-150.0), 0.0), (np.radians(-45.0), np.radians(45.0))
PASSIVE = {"armature": 1.0, "effort_limit": GEAR, "damping": 1.0}  # kg m^2, N m s


def build() -> Mechanism:
    """Torso, thigh, leg and foot; coordinates: z, x and angle of the torso, then the hinges from the top down."""
    b = Builder(touches_itself=True)
    b.ground()
    b.body("torso", [pitched(0.05, 0.2, (0, 0, 0), 0.0)])
    b.body("thigh", [pitched(0.05, 0.225, (0, 0, -0.225), 0.0)])
    b.body("leg", [pitched(0.04, 0.25, (0, 0, 0), 0.0)])
    b.body("foot", [pitched(0.06, 0.195, (-0.065, 0, 0.1), -np.pi / 2)], friction=2.0)
    b.plane_root("torso", HEIGHT)
    b.hinge("thigh joint", "torso", "thigh", (0, 0, -0.2), FOLD, **PASSIVE)
    b.hinge("leg joint", "thigh", "leg", (0, 0, -0.7), FOLD, pivot=(0, 0, 0.25), **PASSIVE)
    b.hinge("foot joint", "leg", "foot", (0.13, 0, -0.35), ANKLE, pivot=(-0.13, 0, 0.1), **PASSIVE)
    return b.mechanism
