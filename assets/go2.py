"""A quadruped of the Unitree Go2's size and masses, 15.2 kg: a trunk, four legs, spheres for feet.

Masses, centres of mass, inertias, joint frames, limits, efforts, armature, damping, feet and the pose are those of the
robot's model in MuJoCo Menagerie, which are those of Unitree's public description (`go2_description`); dry friction of
its joints is left out. Figures are those of the front left leg; the others are its mirror images.
"""

import numpy as np

from vigym.assets.classics.builder import capsule
from vigym.assets.links import Links, mirrored, principal
from vigym.assets.solid import PASS_EACH_OTHER, TOUCH_EACH_OTHER
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import from_rotation_vector, rotate
from vigym.engine.shapes import Box, Cylinder, Shape, Sphere

LEGS = ("FL", "FR", "RL", "RR")
EFFORT_LIMIT = {"hip": 23.7, "thigh": 23.7, "calf": 45.43}  # N m
LIMITS = {"hip": (-1.0472, 1.0472), "calf": (-2.7227, -0.83776)}  # rad
THIGH_LIMITS = {"F": (-1.5708, 3.4907), "R": (-0.5236, 4.5379)}
ARMATURE, DAMPING = 0.01, 2.0  # kg m^2, N m s/rad
KP, KD = 80.0, 2.0  # N m/rad and N m s/rad, all joints
STANDING = np.tile([0.0, 0.9, -1.8], 4)  # rad, in the order of `axis_names`: legs as in LEGS
STANDING.flags.writeable = False
FOOT_AT, FOOT_RADIUS = (-0.002, 0.0, -0.213), 0.022  # m, in the calf

TRUNK = principal(
    6.921,
    (0.021112, 0.0, -0.005366),
    (-0.000543471, 0.713435, -0.00173769, 0.700719),
    (0.107027, 0.0980771, 0.0244531),
)
PARTS = {
    "hip": principal(
        0.678,
        (-0.0054, 0.00194, -0.000105),
        (0.497014, 0.499245, 0.505462, 0.498237),
        (8.8403e-4, 5.96003e-4, 4.79967e-4),
    ),
    "thigh": principal(
        1.152,
        (-0.00374, -0.0223, -0.0327),
        (0.829533, 0.0847635, -0.0200632, 0.551623),
        (0.00594973, 0.00584149, 8.78787e-4),
    ),
    "calf": principal(
        0.241352,
        (0.00629595, -0.000622121, -0.141417),
        (0.710672, 0.00154099, -0.00450087, 0.703508),
        (0.0014901, 0.00146356, 5.31397e-5),
    ),
}
AT = {"hip": (0.1934, 0.0465, 0.0), "thigh": (0.0, 0.0955, 0.0), "calf": (0.0, 0.0, -0.213)}  # m, in the link before
AXES = {"hip": (1.0, 0.0, 0.0), "thigh": (0.0, 1.0, 0.0), "calf": (0.0, 1.0, 0.0)}

WHITE, GREY, DARK = (0.85, 0.86, 0.88, 1.0), (0.55, 0.57, 0.62, 1.0), (0.12, 0.13, 0.15, 1.0)
ALONG_Y = (np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0)  # turns the z axis of a cylinder to y


def _solids(part: str, left: int) -> list[Shape]:
    """Solids of a leg's link, which are also drawn."""
    if part == "hip":
        return [Sphere(0.046, position=(0.0, 0.06 * left, 0.0), color=GREY)]
    if part == "thigh":
        return [_rod((0.0, 0.0, 0.0), (0.0, 0.0, -0.2), 0.022, WHITE)]
    return [
        _rod((0.0, 0.0, -0.01), (0.016, 0.0, -0.13), 0.013, DARK),
        Sphere(FOOT_RADIUS, position=FOOT_AT, color=DARK),
    ]


def _visuals(part: str) -> list[Shape]:
    """Shapes of it that are only drawn."""
    if part == "thigh":
        return [Cylinder(0.046, 0.04, orientation=ALONG_Y, color=DARK)]
    return [_rod((0.016, 0.0, -0.13), FOOT_AT, 0.011, DARK)] if part == "calf" else []


def _rod(start: tuple, end: tuple, radius: float, color: tuple) -> Shape:
    rod = capsule(start, end, radius)
    return type(rod)(rod.radius, rod.length, position=rod.position, orientation=rod.orientation, color=color)


TRUNK_SOLIDS: list[Shape] = [
    Box((0.3762, 0.15, 0.114), color=WHITE),
    Box((0.15, 0.09, 0.09), position=(0.26, 0.0, 0.01), color=DARK),
]
TRUNK_VISUALS: list[Shape] = [Box((0.2, 0.1, 0.02), position=(-0.02, 0.0, 0.066), color=DARK)]


def build(
    *, friction: float = 0.8, drive: bool = True, kp: float = KP, kd: float = KD, self_collision: bool = False
) -> Mechanism:
    """The robot, standing on the ground: 13 bodies, 12 hinges, 4 contacts; `STANDING` is where it starts.

    Bodies "trunk", "FL hip", "FL thigh", "FL calf", "FR hip", ...; hinges by the name of the link they move; contacts
    "FL foot", .... With all angles zero, every body has the axes of the trunk (x forward, y left, z up).

    friction: of the feet, and of what else touches.
    drive: PD drives at the joints; False leaves them to the simulator's `effort`.
    kp, kd: their gains, N m/rad and N m s/rad.
    self_collision: let trunk and legs touch each other; otherwise they pass through each other, but not through what
    is not part of the robot. Links that a hinge connects never touch.

    The targets of the drives are those at which it stands at `STANDING` under its weight.
    """
    y = np.array([0.0, 1.0, 0.0])
    shank = rotate(from_rotation_vector(-0.9 * y), np.array(FOOT_AT))
    height = FOOT_RADIUS + 0.213 * np.cos(0.9) - shank[2]
    robot = Links(friction=friction, **(TOUCH_EACH_OTHER if self_collision else PASS_EACH_OTHER))
    robot.base("trunk", TRUNK, (0.0, 0.0, height), TRUNK_SOLIDS, TRUNK_VISUALS)
    for k, leg in enumerate(LEGS):
        front, left = (1 if leg[0] == "F" else -1), (1 if leg[1] == "L" else -1)
        parent = "trunk"
        for j, (part, link) in enumerate(PARTS.items()):
            name = f"{leg} {part}"
            lower, upper = LIMITS.get(part, THIGH_LIMITS[leg[0]])
            robot.joint(
                name,
                parent,
                name,
                mirrored(link, front if part == "hip" else 1, left),
                _solids(part, left),
                _visuals(part),
                at=np.array(AT[part]) * (front if part == "hip" else 1, left, 1),
                axis=AXES[part],
                start=STANDING[3 * k + j],
                lower=lower,
                upper=upper,
                effort_limit=EFFORT_LIMIT[part],
                armature=ARMATURE,
                damping=DAMPING,
                kp=kp if drive else 0.0,
                kd=kd if drive else 0.0,
            )
            parent = name
        point = np.array(FOOT_AT) - robot.links[parent].com
        robot.mechanism.add_contact(f"{leg} foot", parent, point, radius=FOOT_RADIUS, friction=friction)
    robot.hold(robot.holding_efforts({f"{leg} calf": [FOOT_AT] for leg in LEGS}))
    return robot.mechanism
