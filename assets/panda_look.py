"""Solids and looks of the Panda: capsules, boxes, cylinders and spheres in link frames (see `panda`); no mass.

Sizes are about those of the coarse solids in the robot's public description; pads are 17 mm wide and high, as those of
its model in MuJoCo Menagerie. Shapes of the hand are given in its own frame, and placed on the last link.
"""

from dataclasses import replace

import numpy as np

from vigym.assets.classics.builder import capsule
from vigym.engine.rotation import multiply, rotate
from vigym.engine.shapes import Box, Cylinder, Shape, Sphere

WHITE = (0.93, 0.94, 0.95, 1.0)
GREY = (0.55, 0.57, 0.60, 1.0)
DARK = (0.16, 0.17, 0.19, 1.0)
BLUE = (0.16, 0.52, 0.78, 1.0)
HIDDEN = (0.0, 0.0, 0.0, 0.0)  # of solids that stand for several that are drawn
ALONG_Y = (np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0)  # turns the z axis of a cylinder to y


def _rod(start: tuple, end: tuple, radius: float, color: tuple) -> Shape:
    return replace(capsule(start, end, radius), color=color)


BASE_SOLID = Box((0.2, 0.19, 0.14), position=(-0.04, 0.0, 0.07))
BASE: list[Shape] = [
    _rod((-0.09, 0.0, 0.06), (0.0, 0.0, 0.07), 0.06, WHITE),
    Cylinder(0.075, 0.14, position=(0.0, 0.0, 0.07), color=WHITE),
    Box((0.14, 0.19, 0.02), position=(-0.04, 0.0, 0.01), color=DARK),
    Cylinder(0.066, 0.01, position=(0.0, 0.0, 0.145), color=GREY),
]

SOLIDS: list[list[Shape]] = [
    [_rod((0.0, 0.0, -0.12), (0.0, 0.0, -0.02), 0.07, HIDDEN)],
    [_rod((0.0, -0.02, 0.0), (0.0, -0.12, 0.0), 0.07, HIDDEN)],
    [_rod((0.0, 0.0, -0.12), (0.05, 0.0, 0.0), 0.065, HIDDEN)],
    [_rod((0.0, 0.0, 0.0), (-0.07, 0.09, 0.0), 0.065, HIDDEN)],
    [_rod((0.0, 0.0, -0.26), (0.0, 0.05, -0.06), 0.06, HIDDEN)],
    [_rod((0.0, 0.0, 0.0), (0.08, 0.0, 0.0), 0.055, HIDDEN)],
]
VISUALS: list[list[Shape]] = [
    [
        Cylinder(0.066, 0.13, position=(0.0, 0.0, -0.125), color=WHITE),
        _rod((0.0, 0.0, -0.06), (0.0, 0.0, -0.01), 0.066, WHITE),
        _rod((0.0, -0.035, 0.0), (0.0, 0.035, 0.0), 0.062, WHITE),
        Cylinder(0.05, 0.006, position=(0.0, 0.098, 0.0), orientation=ALONG_Y, color=DARK),
        Cylinder(0.05, 0.006, position=(0.0, -0.098, 0.0), orientation=ALONG_Y, color=DARK),
    ],
    [
        _rod((0.0, 0.0, -0.03), (0.0, 0.0, 0.03), 0.063, WHITE),
        Cylinder(0.066, 0.1, position=(0.0, -0.12, 0.0), orientation=ALONG_Y, color=WHITE),
        _rod((0.0, -0.02, 0.0), (0.0, -0.1, 0.0), 0.06, WHITE),
        Cylinder(0.062, 0.01, position=(0.0, -0.175, 0.0), orientation=ALONG_Y, color=GREY),
    ],
    [
        Cylinder(0.066, 0.07, position=(0.0, 0.0, -0.1), color=WHITE),
        _rod((0.0, 0.0, -0.08), (0.05, 0.0, -0.01), 0.056, WHITE),
        _rod((0.0825, -0.04, 0.0), (0.0825, 0.04, 0.0), 0.052, WHITE),
        Cylinder(0.042, 0.006, position=(0.0825, 0.094, 0.0), orientation=ALONG_Y, color=DARK),
        Cylinder(0.042, 0.006, position=(0.0825, -0.094, 0.0), orientation=ALONG_Y, color=DARK),
    ],
    [
        _rod((0.0, 0.0, -0.03), (0.0, 0.0, 0.03), 0.053, WHITE),
        _rod((-0.01, 0.02, 0.0), (-0.0825, 0.09, 0.0), 0.052, WHITE),
        Cylinder(0.06, 0.05, position=(-0.0825, 0.105, 0.0), orientation=ALONG_Y, color=WHITE),
        Cylinder(0.056, 0.01, position=(-0.0825, 0.134, 0.0), orientation=ALONG_Y, color=GREY),
    ],
    [
        Cylinder(0.06, 0.05, position=(0.0, 0.0, -0.225), color=WHITE),
        _rod((0.0, 0.0, -0.21), (0.0, 0.055, -0.08), 0.045, WHITE),
        _rod((0.0, 0.06, -0.1), (0.0, 0.06, -0.02), 0.035, WHITE),
        _rod((0.0, -0.01, 0.0), (0.0, 0.06, 0.0), 0.045, WHITE),
    ],
    [
        _rod((0.0, 0.0, -0.02), (0.0, 0.0, 0.03), 0.048, WHITE),
        _rod((0.02, 0.0, 0.0), (0.088, 0.0, 0.0), 0.044, WHITE),
        Cylinder(0.03, 0.006, position=(0.0, 0.0, 0.08), color=BLUE),
    ],
]


def _on_flange(shapes: list[Shape]) -> list[Shape]:
    """Shapes of the hand in the frame of the last link."""
    turn = np.array([np.cos(np.pi / 8), 0.0, 0.0, -np.sin(np.pi / 8)])
    placed = []
    for shape in shapes:
        x, y, z = rotate(turn, np.array(shape.position))
        q = multiply(turn, np.array(shape.orientation))
        placed.append(replace(shape, position=(x, y, z + 0.107), orientation=tuple(q)))
    return placed


# the last link, and the hand with its broad side along y
SOLIDS.append(_on_flange([Box((0.06, 0.2, 0.066), position=(0.0, 0.0, 0.033), color=HIDDEN)]))
VISUALS.append(
    [
        _rod((0.0, 0.0, -0.02), (0.0, 0.0, 0.05), 0.045, WHITE),
        Cylinder(0.046, 0.016, position=(0.0, 0.0, 0.098), color=GREY),
        *_on_flange(
            [
                Box((0.05, 0.2, 0.05), position=(0.0, 0.0, 0.04), color=WHITE),
                Box((0.062, 0.11, 0.05), position=(0.0, 0.0, 0.025), color=WHITE),
                Box((0.03, 0.17, 0.004), position=(0.0, 0.0, 0.066), color=DARK),
                Sphere(0.008, position=(0.026, 0.0, 0.035), color=BLUE),
            ]
        ),
    ]
)
# a finger: its pad, whose inner face is at y = 0, and what carries it
FINGER_SOLIDS: list[Shape] = [
    Box((0.017, 0.012, 0.017), position=(0.0, 0.006, 0.0445), color=DARK),
    Box((0.02, 0.014, 0.036), position=(0.0, 0.012, 0.018), color=GREY),
]
FINGER_VISUALS: list[Shape] = []
