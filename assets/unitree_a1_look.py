"""Solids and looks of the Unitree A1: boxes, cylinders, capsules and spheres; they carry no mass.

Trunk, hips, thighs, calves and feet have about the sizes of the solids in the robot's public description; head, plate,
stripes and colours are ours. Shapes are placed in link frames (see `unitree_a1`), then moved by the centre of mass.
"""

from typing import NamedTuple

import numpy as np

from vigym.assets.links import from_com
from vigym.engine.shapes import Box, Capsule, Cylinder, Shape, Sphere
from vigym.engine.validation import Array

SILVER = (0.78, 0.79, 0.80, 1.0)
DARK = (0.13, 0.14, 0.16, 1.0)
GREY = (0.32, 0.33, 0.36, 1.0)
BLUE = (0.16, 0.42, 0.78, 1.0)
RUBBER = (0.05, 0.05, 0.05, 1.0)
HIDDEN = (0.0, 0.0, 0.0, 0.0)  # of solids that stand for several that are drawn

ALONG_X = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)  # turns the z axis of a cylinder to x
ALONG_Y = (np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0)  # to y


class Look(NamedTuple):
    """shapes: solid; visuals: only drawn."""

    shapes: list[Shape]
    visuals: list[Shape]


def trunk(com: Array) -> Look:
    """A box with a plate on top, a motor block between the hips at each end, and a head with two cameras.

    Solid are the box, and a second one for motor blocks and head."""
    shapes: list[Shape] = [
        Box((0.267, 0.194, 0.114), color=SILVER),
        Box((0.532, 0.1, 0.09), position=(0.026, 0.0, 0.0), color=HIDDEN),
    ]
    visuals: list[Shape] = [
        Box((0.25, 0.12, 0.02), position=(0.0, 0.0, 0.064), color=DARK),
        Box((0.11, 0.09, 0.09), position=(-0.185, 0.0, 0.0), color=DARK),
        Box((0.11, 0.09, 0.09), position=(0.185, 0.0, 0.0), color=DARK),
        Box((0.06, 0.11, 0.075), position=(0.262, 0.0, 0.012), color=SILVER),
        Box((0.006, 0.096, 0.045), position=(0.294, 0.0, 0.016), color=RUBBER),
        Box((0.267, 0.006, 0.012), position=(0.0, 0.098, 0.02), color=BLUE),
        Box((0.267, 0.006, 0.012), position=(0.0, -0.098, 0.02), color=BLUE),
    ]
    for y in (-0.028, 0.028):
        visuals.append(Cylinder(0.012, 0.01, position=(0.298, y, 0.018), orientation=ALONG_X, color=BLUE))
    return Look(from_com(shapes, com), from_com(visuals, com))


def leg(part: str, front: int, left: int, com: Array) -> Look:
    """Hip, thigh or calf; front, left: +1 or -1, see `unitree_a1.sides`.

    Solid are a ball for the hip, a capsule for the thigh, the calf's capsule, and the foot."""
    if part == "hip":
        shapes: list[Shape] = [Sphere(0.046, position=(0.0, 0.025 * left, 0.0), color=HIDDEN)]
        visuals: list[Shape] = [
            Cylinder(0.04, 0.05, position=(-0.03 * front, 0.0, 0.0), orientation=ALONG_X, color=GREY),
            Cylinder(0.046, 0.04, position=(0.0, 0.025 * left, 0.0), orientation=ALONG_Y, color=DARK),
        ]
    elif part == "thigh":
        shapes = [Capsule(0.017, 0.18, position=(0.0, 0.0, -0.1), color=HIDDEN)]
        visuals = [
            Cylinder(0.046, 0.045, position=(0.0, -0.012 * left, 0.0), orientation=ALONG_Y, color=SILVER),
            Cylinder(0.02, 0.004, position=(0.0, 0.0115 * left, 0.0), orientation=ALONG_Y, color=BLUE),
            Box((0.034, 0.0245, 0.2), position=(0.0, 0.0, -0.1), color=SILVER),
            Cylinder(0.024, 0.032, position=(0.0, 0.0, -0.2), orientation=ALONG_Y, color=DARK),
        ]
    else:
        shapes = [
            Capsule(0.009, 0.17, position=(0.0, 0.0, -0.105), color=DARK),
            Sphere(0.02, position=(0.0, 0.0, -0.2), color=RUBBER),
        ]
        visuals = [Box((0.024, 0.018, 0.07), position=(0.004, 0.0, -0.035), color=DARK)]
    return Look(from_com(shapes, com), from_com(visuals, com))
