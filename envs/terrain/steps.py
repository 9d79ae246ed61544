"""Stairs of boxes along x: tread j begins at x = FIRST + (j - 1) length, at the height j rise (negative: down).

The robot starts on tread 0. It and the last tread are 20 m long.
"""

import numpy as np

from vigym.engine.compiled import inlined
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box

FIRST = 0.5  # m, from the start to the first riser
LENGTH, MOST = 20.0, 50  # m of stairs, but no more steps than that
ENDS, WIDTH, DEPTH = 20.0, 40.0, 0.2  # m: first and last tread; across; below the lowest one
STONES = (0.80, 0.79, 0.76, 1.0), (0.70, 0.69, 0.66, 1.0)  # every other tread


def count_of(length: float) -> int:
    """Return the number of risers."""
    return min(int(np.ceil(LENGTH / length)), MOST)


def add_steps(m: Mechanism, friction: float, rise: float, length: float) -> None:
    """Add the treads as colliders of the world."""
    n = count_of(length)
    bottom = min(n * rise, 0.0) - DEPTH
    for j in range(n + 1):
        near = FIRST + (j - 1) * length if j else FIRST - ENDS
        far = FIRST + j * length if j < n else near + ENDS
        top = j * rise
        size, middle = (far - near, WIDTH, top - bottom), ((near + far) / 2, 0.0, (top + bottom) / 2)
        m.add_collider(f"tread {j}", "world", Box(size, position=middle, color=STONES[j % 2]), friction=friction)


@inlined
def tread_at(x, rise, length, n):
    """Height of the tread at x."""
    return rise * min(max(np.floor((x - FIRST) / length) + 1.0, 0.0), n)
