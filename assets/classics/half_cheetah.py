"""The running robot of Gymnasium's HalfCheetah-v5, which moves in a plane."""

from typing import NamedTuple

from vigym.assets.classics.builder import Builder, capsule, pitched
from vigym.engine.mechanism import Mechanism

HEIGHT = 0.7  # m, of the torso where its coordinate z is 0
MASS, RADIUS, FRICTION = 14.0, 0.046, 0.4  # kg in all; m, of every capsule; with the floor


class Part(NamedTuple):
    """A part of a leg: where it is joined to the one above it, its capsule (half length, centre, angle from upright
    about y), limits of the joint, rad, its spring and damper, N m/rad and N m s, and the gear of its motor, N m."""

    name: str
    parent: str
    at: tuple[float, float, float]
    capsule: tuple[float, tuple[float, float, float], float]
    limits: tuple[float, float]
    stiffness: float
    damping: float
    gear: float


PARTS = (
    Part("bthigh", "torso", (-0.5, 0, 0), (0.145, (0.1, 0, -0.13), -3.8), (-0.52, 1.05), 240.0, 6.0, 120.0),
    Part("bshin", "bthigh", (0.16, 0, -0.25), (0.15, (-0.14, 0, -0.07), -2.03), (-0.785, 0.785), 180.0, 4.5, 90.0),
    Part("bfoot", "bshin", (-0.28, 0, -0.14), (0.094, (0.03, 0, -0.097), -0.27), (-0.4, 0.785), 120.0, 3.0, 60.0),
    Part("fthigh", "torso", (0.5, 0, 0), (0.133, (-0.07, 0, -0.12), 0.52), (-1.0, 0.7), 180.0, 4.5, 120.0),
    Part("fshin", "fthigh", (-0.14, 0, -0.24), (0.106, (0.065, 0, -0.09), -0.6), (-1.2, 0.87), 120.0, 3.0, 60.0),
    Part("ffoot", "fshin", (0.13, 0, -0.18), (0.07, (0.045, 0, -0.07), -0.6), (-0.5, 0.5), 60.0, 1.5, 30.0),
)
ARMATURE = 0.1  # kg m^2, of every joint


def build() -> Mechanism:
    """Torso, hind leg (b) and front leg (f); coordinates: z (from HEIGHT), x and angle of the torso, then the hinges of
    each leg from the top down."""
    torso = [capsule((-0.5, 0, 0), (0.5, 0, 0), RADIUS), pitched(RADIUS, 0.15, (0.6, 0, 0.1), 0.87)]
    legs = {part.name: [pitched(RADIUS, *part.capsule)] for part in PARTS}
    volume = sum(shape.volume() for shapes in (torso, *legs.values()) for shape in shapes)
    b = Builder(density=MASS / volume)
    b.ground()
    b.body("torso", torso, friction=FRICTION)
    b.joint("root", "planar", "world", "torso", (0, 0, HEIGHT), axis=(0, 1, 0))
    for part in PARTS:
        b.body(part.name, legs[part.name], friction=FRICTION)
        b.hinge(
            f"{part.name} joint",
            part.parent,
            part.name,
            part.at,
            part.limits,
            axis=(0, 1, 0),
            stiffness=part.stiffness,
            damping=part.damping,
            armature=ARMATURE,
            effort_limit=part.gear,
        )
    return b.mechanism
