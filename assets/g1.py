"""A humanoid of the Unitree G1's size and masses: 12 hinges in the legs, one in the waist, 10 in the arms.

Masses, centres of mass, inertias, joint frames, limits, efforts, armature, damping and the points of the feet are those
of an early model of Unitree's G1 in MuJoCo Menagerie (commit 95659f9), which is after Unitree's public description; its
fingers are left out, and so is dry friction of its joints. Gains are vigym's own: it stands with them. Figures are
those of the left side; the right one is its mirror image. Shapes are simple solids of about its size.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vigym.assets.classics.builder import capsule
from vigym.assets.links import Link, Links, mirrored, principal
from vigym.assets.solid import PASS_EACH_OTHER, TOUCH_EACH_OTHER
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Shape, Sphere

ARMATURE, DAMPING = 0.01, 0.5  # kg m^2, N m s/rad
KP = {"hip": 400.0, "knee": 400.0, "ankle": 400.0, "waist": 300.0, "shoulder": 60.0, "elbow": 60.0}  # N m/rad
KD = {"hip": 25.0, "knee": 25.0, "ankle": 25.0, "waist": 10.0, "shoulder": 2.0, "elbow": 2.0}  # N m s/rad
SOLE, SOLE_RADIUS = [(x, y, -0.03) for x in (-0.06, 0.13) for y in (0.02, -0.02)], 0.001  # m, in the foot
STANDING = np.zeros(23)  # rad, in the order of `axis_names`: knees bent by 29 degrees, forearms forward
STANDING.flags.writeable = False
AXES = {"pitch": (0.0, 1.0, 0.0), "roll": (1.0, 0.0, 0.0), "yaw": (0.0, 0.0, 1.0)}
WHITE, GREY, DARK = (0.85, 0.86, 0.88, 1.0), (0.55, 0.57, 0.62, 1.0), (0.12, 0.13, 0.15, 1.0)


class Part(NamedTuple):
    """A link of the left side: its joint's frame in the link before it, axis, limits, rad, and effort, N m."""

    name: str
    at: tuple[float, float, float]
    turn: tuple[float, float, float, float]
    axis: str
    limits: tuple[float, float]
    effort: float
    link: Link
    shapes: tuple[Shape, ...]


Color = tuple[float, float, float, float]


def _rod(end: tuple[float, float, float], radius: float, color: Color) -> Shape:
    """A capsule from the origin of a link."""
    rod = capsule((0.0, 0.0, 0.0), end, radius)
    return type(rod)(rod.radius, rod.length, position=rod.position, orientation=rod.orientation, color=color)


LEVEL = (1.0, 0.0, 0.0, 0.0)
PELVIS = principal(2.86, (0.0, 0.0, -0.07605), (1.0, 0.0, -0.000405289, 0.0), (0.0079143, 0.0069837, 0.0059404))
TORSO = principal(
    7.52036,
    (0.00187791, 0.00229457, 0.208747),
    (0.999957, 0.00624375, -0.00636707, -0.0026338),
    (0.12848, 0.111753, 0.0350394),
)
LEG = (
    Part(
        "hip pitch",
        (0.0, 0.06445, -0.1027),
        (0.984807, 0.0, -0.17365, 0.0),
        "pitch",
        (-2.35, 3.05),
        88.0,
        principal(
            1.299,
            (0.001962, 0.049392, -0.000941),
            (0.420735, 0.907025, -0.0155675, -0.00670646),
            (0.00138785, 0.000955478, 0.00086947),
        ),
        (Sphere(0.05, position=(0.0, 0.05, 0.0), color=GREY),),
    ),
    Part(
        "hip roll",
        (0.0, 0.0523, 0.0),
        LEVEL,
        "roll",
        (-0.26, 2.53),
        88.0,
        principal(
            1.446,
            (0.024757, -0.001036, -0.086323),
            (0.977498, -0.00692636, 0.210181, 0.0165269),
            (0.00244106, 0.00230425, 0.00142899),
        ),
        (_rod((0.01966, -0.0012139, -0.1241), 0.05, WHITE),),
    ),
    Part(
        "hip yaw",
        (0.01966, -0.0012139, -0.1241),
        LEVEL,
        "yaw",
        (-2.75, 2.75),
        88.0,
        principal(
            2.052,
            (-0.053554, -0.011477, -0.14067),
            (0.645099, 0.15885, 0.202109, 0.71956),
            (0.0114475, 0.0107868, 0.00214501),
        ),
        (_rod((-0.078292, -0.0017335, -0.177225), 0.045, WHITE),),
    ),
    Part(
        "knee",
        (-0.078292, -0.0017335, -0.177225),
        (0.967714, 0.0, 0.252052, 0.0),
        "pitch",
        (-0.33489, 2.5449),
        139.0,
        principal(
            2.252,
            (0.005505, 0.006534, -0.116629),
            (0.799234, -0.0128894, 0.0354278, 0.599836),
            (0.0127418, 0.0124382, 0.00192524),
        ),
        (_rod((0.0, 0.0040687, -0.28), 0.035, GREY),),
    ),
    Part(
        "ankle pitch",
        (0.0, 0.0040687, -0.30007),
        (0.99678, 0.0, -0.0801788, 0.0),
        "pitch",
        (-0.68, 0.73),
        40.0,
        principal(
            0.074,
            (-0.007269, 0.0, 0.011137),
            (0.603053, 0.369225, 0.369225, 0.603053),
            (1.89e-5, 1.40805e-5, 6.9195e-6),
        ),
        (Sphere(0.02, color=GREY),),
    ),
    Part(
        "ankle roll",
        (0.0, 0.0, -0.017558),
        LEVEL,
        "roll",
        (-0.2618, 0.2618),
        40.0,
        principal(
            0.391,
            (0.024762, 2e-5, -0.012526),
            (0.000771333, 0.734476, 0.000921291, 0.678634),
            (0.00110394, 0.0010657, 0.000149255),
        ),
        (Box((0.2, 0.06, 0.022), position=(0.035, 0.0, -0.019), color=DARK),),
    ),
)
ARM = (
    Part(
        "shoulder pitch",
        (-0.0025, 0.10396, 0.25928),
        (0.990268, 0.139172, 0.0, 0.0),
        "pitch",
        (-2.9671, 2.7925),
        20.0,
        principal(
            0.713,
            (-0.001431, 0.048811, 0.001304),
            (0.786417, 0.588396, -0.180543, 0.0523639),
            (0.000466421, 0.000440181, 0.000410999),
        ),
        (Sphere(0.035, position=(0.0, 0.05, 0.0), color=GREY),),
    ),
    Part(
        "shoulder roll",
        (0.0, 0.052, 0.0),
        (0.990268, -0.139172, 0.0, 0.0),
        "roll",
        (-1.5882, 2.2515),
        20.0,
        principal(
            0.642,
            (-0.003415, 0.006955, -0.064598),
            (0.70683, 0.0105364, 0.00575207, 0.707282),
            (0.000683514, 0.000616029, 0.000372857),
        ),
        (_rod((-0.00354, 0.0062424, -0.1032), 0.032, WHITE),),
    ),
    Part(
        "shoulder yaw",
        (-0.00354, 0.0062424, -0.1032),
        LEVEL,
        "yaw",
        (-2.618, 2.618),
        20.0,
        principal(
            0.713,
            (0.000375, -0.00444, -0.072374),
            (0.903834, -0.0374183, 0.00985482, 0.42613),
            (0.000977874, 0.000964661, 0.000379065),
        ),
        (_rod((0.0, 0.00189, -0.0855), 0.03, WHITE),),
    ),
    Part(
        "elbow pitch",
        (0.0, 0.00189, -0.0855),
        LEVEL,
        "pitch",
        (-0.2268, 3.4208),
        20.0,
        principal(
            0.601,
            (0.064497, 0.002873, 0.0),
            (0.582347, 0.582495, 0.400893, 0.401069),
            (0.00049549, 0.0004712, 0.00025371),
        ),
        (_rod((0.1, 0.0, 0.0), 0.03, GREY),),
    ),
    Part(
        "elbow roll",
        (0.1, 0.0, 0.0),
        LEVEL,
        "roll",
        (-2.0943, 2.0943),
        20.0,
        principal(
            0.50826,
            (0.133814, 0.00147121, 0.000265832),
            (0.496781, 0.497877, 0.498782, 0.506502),
            (0.00239763, 0.00226639, 0.000285577),
        ),
        (_rod((0.2, 0.0, 0.0), 0.03, DARK),),
    ),
)
TORSO_SHAPES: list[Shape] = [
    Box((0.15, 0.19, 0.3), position=(0.0, 0.0, 0.17), color=WHITE),
    Sphere(0.075, position=(0.02, 0.0, 0.42), color=DARK),
]
PELVIS_SHAPES: list[Shape] = [Box((0.12, 0.14, 0.1), position=(0.0, 0.0, -0.06), color=DARK)]


def build(*, friction: float = 0.8, drive: bool = True, self_collision: bool = False) -> Mechanism:
    """The robot, standing on the ground: 24 bodies, 23 hinges, 8 contacts; `STANDING` is where it starts.

    Bodies "pelvis", "left hip pitch", "left hip roll", "left hip yaw", "left knee", "left ankle pitch", "left ankle
    roll", those of the right leg, "torso", "left shoulder pitch", "left shoulder roll", "left shoulder yaw", "left
    elbow pitch", "left elbow roll", those of the right arm; hinges by the name of the link they move, that of the torso
    "waist"; contacts "left sole 1" to "right sole 4". Axes of pelvis and torso are x forward, y left, z up.

    friction: of the feet, and of what else touches.
    drive: PD drives at the joints; False leaves them to the simulator's `effort`.
    self_collision: let its parts touch each other; otherwise they pass through each other, but not through what is not
    part of the robot. Links that a hinge connects never touch.

    The targets of the drives are those at which it stands at `STANDING` under its weight.
    """
    robot = Links(friction=friction, **(TOUCH_EACH_OTHER if self_collision else PASS_EACH_OTHER))
    robot.base("pelvis", PELVIS, (0.0, 0.0, _height()), PELVIS_SHAPES)
    for side in (1, -1):
        _limb(robot, "pelvis", LEG, side, drive)
    gains: dict[str, Any] = {"kp": KP["waist"], "kd": KD["waist"]} if drive else {}
    options: dict[str, Any] = {
        "lower": -2.618,
        "upper": 2.618,
        "effort_limit": 88.0,
        "armature": ARMATURE,
        "damping": DAMPING,
    }
    robot.joint("waist", "pelvis", "torso", TORSO, TORSO_SHAPES, **options, **gains)
    for side in (1, -1):
        _limb(robot, "torso", ARM, side, drive)
    for foot in ("left ankle roll", "right ankle roll"):
        for k, point in enumerate(SOLE):
            place = np.array(point) - robot.links[foot].com
            name = f"{foot.split()[0]} sole {k + 1}"
            robot.mechanism.add_contact(name, foot, place, radius=SOLE_RADIUS, friction=friction)
    robot.hold(robot.holding_efforts({f"{side} ankle roll": SOLE for side in ("left", "right")}))
    return robot.mechanism


def _limb(robot: Links, parent: str, parts: tuple[Part, ...], side: int, drive: bool) -> None:
    """Add a leg or an arm; side: 1 left, -1 right, mirrored at the plane y = 0."""
    for part in parts:
        name = f"{'left' if side > 0 else 'right'} {part.name}"
        w, x, y, z = part.turn
        limits = part.limits if part.axis == "pitch" else sorted(side * end for end in part.limits)
        kind = part.name.split()[0]
        robot.joint(
            name,
            parent,
            name,
            mirrored(part.link, 1, side),
            [_mirrored(shape, side) for shape in part.shapes],
            at=np.array(part.at) * (1, side, 1),
            turn=(w, side * x, y, side * z),
            axis=AXES[part.axis],
            lower=limits[0],
            upper=limits[1],
            effort_limit=part.effort,
            armature=ARMATURE,
            damping=DAMPING,
            kp=KP[kind] if drive else 0.0,
            kd=KD[kind] if drive else 0.0,
        )
        parent = name


def _mirrored(shape: Shape, side: int) -> Shape:
    """The mirror image of a shape of the left side."""
    (px, py, pz), (w, x, y, z) = shape.position, shape.orientation
    return replace(shape, position=(px, side * py, pz), orientation=(w, side * x, y, side * z))


def _height() -> float:
    """Height of the pelvis, m, at which the soles touch the ground."""
    legs = Links()
    legs.base("pelvis", PELVIS, (0.0, 0.0, 0.0))
    _limb(legs, "pelvis", LEG, 1, False)
    return SOLE_RADIUS - float(min(legs.place("left ankle roll", point)[2] for point in SOLE))
