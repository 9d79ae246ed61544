"""The look of a picture: a bright, slightly blue day. Colours are given as shown."""

import math

import numpy as np

from vigym.engine.validation import Array
from vigym.view.pictures.arrays import Look, Vector

SUN_BEHIND = 128.0  # degrees from the direction of view to the sun, to the left: behind the viewer's left shoulder
SUN_HEIGHT = 52.0  # degrees above the horizon


def look(distance: float) -> Look:
    """Look for a camera that faces something `distance` m away: tiles and the ground's fading grow with it."""
    return Look(
        zenith=_linear(0.55, 0.71, 0.90),
        horizon=_linear(0.93, 0.95, 0.97),
        bright=_linear(0.83, 0.85, 0.87),
        dark=_linear(0.73, 0.76, 0.79),
        tile=tile_size(distance),
        fade=5.0 * distance,
        sun=(0.95, 0.92, 0.86),
        sky=(0.42, 0.45, 0.50),
        bounce=(0.22, 0.21, 0.20),
        shine=0.16,
    )


def tile_size(distance: float) -> float:
    """1, 2 or 5 times a power of ten, m: about a seventh of the distance."""
    size = distance / 7.0
    power = 10.0 ** math.floor(math.log10(size))
    return power * min((1.0, 2.0, 5.0, 10.0), key=lambda step: abs(math.log(step * power / size)))


def light(azimuth: float) -> Array:
    """Unit vector (3,) towards the sun, for a view along `azimuth` (degrees)."""
    a, e = math.radians(azimuth + SUN_BEHIND), math.radians(SUN_HEIGHT)
    return np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])


def _linear(red: float, green: float, blue: float) -> Vector:
    return red * red, green * green, blue * blue
