"""Input of the ray caster: tuples of numbers, and a few tables. Lengths in m, world frame unless said otherwise.

Tables are few and wide because every array that a compiled function takes costs compile time. Colours are LINEAR: the
square of what a picture shows (a gamma of 2, whose inverse is a square root).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, float, float]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class View(NamedTuple):
    """A pinhole camera, and the sun.

    A point of the picture x pixels from its left and y from its upper edge is seen along
    `forward + (x - column) pixel right + (row - y) pixel up`: of length 1 along `forward`, so that the t of a ray is
    the depth.
    """

    eye: Vector
    right: Vector
    up: Vector
    forward: Vector
    pixel: float  # edge of a pixel at depth 1
    column: float  # middle of the picture, pixels
    row: float
    light: Vector  # unit, towards the sun


# Columns of tables. NumPy's integers, because Numba would compile a function again for every literal that it is given.
# `Solids.table`: first columns of what it holds about a solid
SIZE, POSITION, ROTATION, COLOR = np.array([0, 3, 6, 15])  # (3,) see solids.py; (3,); (3, 3) solid to world; (3,)
CORE, ROUNDING, REACH = np.array([18, 21, 22])  # (3,), 1, 1: see `solids.bounds`
WIDTH = 23
# `Solids.numbers`: its kind (see solids.py); 1 if it casts shadows; its facets are rows FIRST to LAST - 1
KIND, CASTS, FIRST, LAST = np.array([0, 1, 2, 3])
# `Plan.local`: first columns of vectors in the frame of a solid
EYE, RIGHT, UP, FORWARD, LIGHT = np.array([0, 3, 6, 9, 12])
# planes (n, 10): t1, t2, n and offset; the plane is n . p = offset, seen from where n points
T1, T2, NORMAL, OFFSET = np.array([0, 3, 6, 9])
# Numbers of what is seen: -1, -2 - k for plane k, j for solid j
SKY, PLANE = np.array([-1, -2])
# No solid throws a shadow here; the first of something
NONE, WHOLE = np.array([-1, 0])


class Solids(NamedTuple):
    """n solids."""

    table: Floats  # (n, WIDTH)
    numbers: Ints  # (n, 4)
    facets: Floats  # (F, 4) of hulls


class Look(NamedTuple):
    """Colours and light."""

    zenith: Vector
    horizon: Vector
    bright: Vector  # of the ground's tiles
    dark: Vector
    tile: float  # edge of a tile
    fade: float  # distance at which the ground is half way to the horizon's colour
    sun: Vector  # light of the sun on a surface that faces it
    sky: Vector  # light from above
    bounce: Vector  # light from below
    shine: float  # strength of highlights


class Buffers(NamedTuple):
    """Memory of the ray caster, kept from one picture to the next; see raycast.py for what is in the rows."""

    key: Ints  # (height, width) what is seen, see `rays.key`
    shadow: Ints  # (height, width) NONE, or the solid whose shadow it is in
    free: Floats  # (height, width) share of the sky that the ground there sees
    rows: Floats  # (9, width)
    numbers: Ints  # (2, width)
    near: Ints  # (3, 9) about one pixel: solids seen around it, solids whose shadows are, keys of points in it
    colors: Floats  # (9, 3) of these points
    bytes: NDArray[np.int32]  # (width,)


def buffers(width: int, height: int) -> Buffers:
    """Memory for pictures of that size."""
    return Buffers(
        np.empty((height, width), np.int64),
        np.empty((height, width), np.int64),
        np.empty((height, width)),
        np.empty((9, width)),
        np.empty((2, width), np.int64),
        np.empty((3, 9), np.int64),
        np.empty((9, 3)),
        np.empty(width, np.int32),
    )
