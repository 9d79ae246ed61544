"""The four-legged robot of Gymnasium's Ant-v5."""

import numpy as np

from vigym.assets.classics.builder import Builder, capsule
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Sphere

HEIGHT = 0.75  # m, of the torso at the start
RADIUS = 0.08  # m, of the legs
GEAR = 150.0  # N m for an action of 1
HIP, BENT = np.radians(30.0), (np.radians(30.0), np.radians(70.0))
PASSIVE = {"armature": 1.0, "effort_limit": GEAR, "damping": 1.0}  # kg m^2, N m s
# Legs in the order of MuJoCo's coordinates: signs of x and y, axis of the ankle, whether it bends forward
LEGS = {
    "front left": ((1, 1), (-1, 1, 0), True),
    "front right": ((-1, 1), (1, 1, 0), False),
    "back left": ((-1, -1), (-1, 1, 0), False),
    "back right": ((1, -1), (1, 1, 0), True),
}
# MuJoCo's bodies (from 0, the torso) of the solids of each body: torso and stubs, then leg and foot of each leg
PARTS = (0, 1, 4, 7, 10, 2, 3, 5, 6, 8, 9, 11, 12)


def build() -> Mechanism:
    """Torso with four legs of two parts; the first part of each leg, up to the hip, is one body with the torso.
    Coordinates: hip and ankle of each leg in the order of `LEGS`."""
    b = Builder(density=5.0)
    b.ground()
    away = {leg: np.array([*signs, 0.0]) for leg, (signs, _, _) in LEGS.items()}
    stubs = [capsule((0, 0, 0), 0.2 * way, RADIUS) for way in away.values()]
    b.body("torso", [Sphere(0.25), *stubs], at=(0, 0, HEIGHT))
    for leg, (_, axis, forward) in LEGS.items():
        upper, lower, way = f"{leg} leg", f"{leg} foot", away[leg]
        b.body(upper, [capsule((0, 0, 0), 0.2 * way, RADIUS)])
        b.body(lower, [capsule((0, 0, 0), 0.4 * way, RADIUS)])
        b.hinge(f"{leg} hip", "torso", upper, 0.2 * way, (-HIP, HIP), axis=(0, 0, 1), **PASSIVE)
        limits = BENT if forward else (-BENT[1], -BENT[0])
        b.hinge(f"{leg} ankle", upper, lower, 0.2 * way, limits, axis=axis, **PASSIVE)
    return b.mechanism
