"""The arm of Gymnasium's Reacher-v5, with two hinges, and the target that its fingertip has to reach."""

from vigym.assets.classics.builder import Builder, capsule
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Sphere

LINK, TIP = 0.1, 0.11  # m, from a joint to the next one, and from the second to the fingertip
HEIGHT = 0.01  # m
GEAR = 200.0  # N m for an action of 1
RANGE = 0.27  # m, of the target's coordinates
PASSIVE = {"armature": 1.0, "effort_limit": GEAR, "damping": 1.0}  # kg m^2, N m s


def build() -> Mechanism:
    """Arm and target; coordinates: both hinges, x and y of the target."""
    b = Builder(gravity=(0.0, 0.0, -9.81))
    link = capsule((0, 0, 0), (LINK, 0, 0), 0.01)
    b.body("upper arm", [link], solid=False)
    b.body("forearm", [link, Sphere(0.01, position=(TIP, 0, 0))], solid=False)
    b.body("target", [Sphere(0.009)], solid=False)
    b.joint("joint0", "revolute", "world", "upper arm", (0, 0, HEIGHT), axis=(0, 0, 1), **PASSIVE)
    b.hinge("joint1", "upper arm", "forearm", (LINK, 0, 0), (-3.0, 3.0), axis=(0, 0, 1), **PASSIVE)
    b.joint(
        "target",
        "custom",
        "world",
        "target",
        (0, 0, HEIGHT),
        axis=(0, 0, 1),
        constrained=(0, 0, 1, 1, 1, 1),
        lower=-RANGE,
        upper=RANGE,
    )
    return b.mechanism
