"""The arm of Gymnasium's Pusher-v5, with seven hinges, the cylinder that it pushes over a table, and the goal."""

from dataclasses import replace

from vigym.assets.classics.builder import ROBOT, WORLD, Builder, capsule
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Cylinder, Plane, Sphere

DENSITY = 300.0  # kg/m^3, of the arm
TORQUE = 2.0  # N m, the largest of each motor
ARMATURE = 0.04  # kg m^2 or kg, of every axis
TABLE, OBJECT, GOAL = -0.325, (0.45, -0.05, -0.275), (0.45, -0.05, -0.323)  # m: height; places at zero coordinates
RANGE, DRAG = (-10.3213, 10.3), 0.5  # of object and goal: m, N s/m
PUSHED = 4  # group of the object's collider
TIP = "wrist"  # the body whose frame is where Gymnasium has the fingertip

SHOULDER = (
    Sphere(0.05, position=(-0.06, 0.05, 0.2)),
    Sphere(0.05, position=(0.06, 0.05, 0.2)),
    Sphere(0.03, position=(-0.06, 0.09, 0.2)),
    Sphere(0.03, position=(0.06, 0.09, 0.2)),
    capsule((0, 0, -0.4), (0, 0, 0.2), 0.1),
)
UPPER_ARM = capsule((-0.1, 0, 0), (0.1, 0, 0), 0.02), capsule((0, 0, 0), (0.4, 0, 0), 0.06)
FOREARM = capsule((-0.1, 0, 0), (0.1, 0, 0), 0.02), capsule((0, 0, 0), (0.291, 0, 0), 0.05)
FORK = (
    capsule((0, -0.1, 0), (0, 0.1, 0), 0.02),
    capsule((0, -0.1, 0), (0.1, -0.1, 0), 0.02),
    capsule((0, 0.1, 0), (0.1, 0.1, 0), 0.02),
)
TIPS = Sphere(0.01, position=(0.1, -0.1, 0)), Sphere(0.01, position=(0.1, 0.1, 0))
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)

# Bodies from the shoulder on: name, shapes, place in the one before, axis, limits (rad), damping (N m s)
LINKS = (
    ("shoulder pan", SHOULDER, (0, -0.6, 0), Z, (-2.2854, 1.714602), 1.0),
    ("shoulder lift", (capsule((0, -0.1, 0), (0, 0.1, 0), 0.1),), (0.1, 0, 0), Y, (-0.5236, 1.3963), 1.0),
    ("upper arm", UPPER_ARM, (0, 0, 0), X, (-1.5, 1.7), 0.1),
    ("elbow", (capsule((0, -0.02, 0), (0, 0.02, 0), 0.06),), (0.4, 0, 0), Y, (-2.3213, 0.0), 0.1),
    ("forearm", FOREARM, (0, 0, 0), X, (-1.5, 1.5), 0.1),
    ("wrist flex", (capsule((0, -0.02, 0), (0, 0.02, 0), 0.01),), (0.321, 0, 0), Y, (-1.094, 0.0), 0.1),
    (TIP, (*FORK, *TIPS), (0, 0, 0), X, (-1.5, 1.5), 0.1),
)


def build() -> Mechanism:
    """Arm, object and goal; coordinates: the hinges from the shoulder on, x and y of the object, x and y of the goal.

    Only the fork at the end of the arm touches: the table and the object, without friction. The object does not fall.
    """
    b = Builder(density=DENSITY, gravity=(0.0, 0.0, 0.0))
    parent = "world"
    for name, shapes, at, axis, limits, damping in LINKS:
        b.body(name, shapes, solid=False)
        b.hinge(name, parent, name, at, limits, axis=axis, damping=damping, armature=ARMATURE, effort_limit=TORQUE)
        parent = name
    for k, rod in enumerate(FORK):
        shifted = replace(rod, position=tuple(rod.position - b.centres[TIP]))
        b.mechanism.add_collider(f"fork {k}", TIP, shifted, friction=0.0, group=ROBOT, mask=WORLD | PUSHED)
    table = Plane(position=(0.0, 0.0, TABLE))
    b.mechanism.add_collider("table", "world", table, friction=0.0, group=WORLD, mask=ROBOT)
    for name, shape, density, place in (
        ("object", Cylinder(0.05, 0.1), 0.01, OBJECT),
        ("goal", Cylinder(0.08, 0.002), 1e-5, GOAL),
    ):
        b.body(name, [shape], solid=False, density=density)
        lower, upper = RANGE
        options = {"lower": lower, "upper": upper, "damping": DRAG, "armature": ARMATURE}
        b.joint(name, "custom", "world", name, place, axis=Z, constrained=(0, 0, 1, 1, 1, 1), **options)
    b.mechanism.add_collider("pushed", "object", Cylinder(0.05, 0.1), friction=0.0, group=PUSHED, mask=ROBOT)
    return b.mechanism
