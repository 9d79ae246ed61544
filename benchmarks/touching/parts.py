"""Parts of the scenes: bodies that are one solid each, and turns."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Capsule, Sphere

GRAVITY = 9.81
Array = NDArray[np.float64]


def add(
    m: Mechanism,
    name: str,
    shape: Sphere | Capsule | Box,
    position: ArrayLike = (0.0, 0.0, 0.0),
    turn: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    mass: float = 1.0,
    friction: float = 0.8,
) -> None:
    """Add a body that is one solid, free to move."""
    pose: dict[str, Any] = {"position": position, "orientation": turn}
    m.add_body(name, mass=mass, shapes=[shape], collide=True, friction=friction, **pose)


def about(axis: ArrayLike, angle: float) -> Array:
    """Unit quaternion of a turn by an angle about a unit vector."""
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.asarray(axis, float))])


def random_turn(rng: np.random.Generator) -> Array:
    """Unit quaternion, any turn as likely as any other."""
    q = rng.normal(size=4)
    return np.asarray(q / np.linalg.norm(q))


def room(
    m: Mechanism, size: tuple[float, float, float], thickness: float = 0.1, friction: float = 0.8, lid: bool = False
) -> None:
    """Walls of the world around a box of this inner size that stands on z = 0, each a box; with or without a lid."""
    half, t = np.array(size) / 2, thickness
    for k, name in enumerate("xyz"):
        for side in (-1, 1):
            if k == 2 and side == 1 and not lid:
                continue
            whole, centre = 2 * half + 2 * t, np.array([0.0, 0.0, half[2]])
            whole[k], centre[k] = t, centre[k] + side * (half[k] + t / 2)
            wall = Box(tuple(whole), position=tuple(centre))
            m.add_collider(f"{name}{'+' if side > 0 else '-'}", "world", wall, friction=friction)
