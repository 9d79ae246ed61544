"""A semicircular arch of stones that only their weight and friction hold together."""

import numpy as np

from vigym.engine.mechanism import Mechanism
from vigym.engine.polyhedra import Hull
from vigym.engine.shapes import Box

STONES, RADIUS, THICKNESS, DEPTH, DENSITY, FRICTION = 11, 1.0, 0.2, 0.4, 2500.0, 0.7  # SI units
LIGHT, DARK = (0.78, 0.72, 0.62, 1.0), (0.66, 0.59, 0.49, 1.0)


def build(
    *,
    stones: int = STONES,
    radius: float = RADIUS,
    thickness: float = THICKNESS,
    depth: float = DEPTH,
    density: float = DENSITY,
    friction: float = FRICTION,
) -> Mechanism:
    """Bodies "stone 0" (at positive x) to "stone n-1", wedges that stand on two blocks of the world.

    The arch is in the plane of x and z, its middle above the origin. With an odd number of stones, the one in the
    middle, n // 2, is the keystone.

    stones: at least 3. radius: of the middle of the ring, m; thickness: of the ring, m; depth: along y, m. density:
    kg/m^3. A ring thinner than 0.1075 of its radius cannot stand however many stones it has, whatever the friction.
    """
    m = Mechanism()
    m.add_ground(friction=friction)
    base = 0.5 * thickness
    for name, side in (("right", 1.0), ("left", -1.0)):
        block = Box((3.0 * thickness, 1.5 * depth, base), position=(side * radius, 0.0, 0.5 * base), color=DARK)
        m.add_collider(f"{name} block", "world", block, friction=friction)
    middle = np.array([0.0, 0.0, base])
    for k in range(stones):
        sides = np.pi * np.array([k, k + 1]) / stones
        corners = tuple(
            (r * np.cos(angle), y, r * np.sin(angle))
            for angle in sides
            for r in (radius - 0.5 * thickness, radius + 0.5 * thickness)
            for y in (-0.5 * depth, 0.5 * depth)
        )
        centre = Hull(corners).centre()
        shape = Hull(corners, position=tuple(-centre), color=LIGHT if k % 2 else DARK)
        m.add_body(f"stone {k}", density=density, shapes=[shape], position=middle + centre, friction=friction)
    return m
