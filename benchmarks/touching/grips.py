"""Things held by friction: a rod between two plates, a cube between the fingers of a gripper."""

from typing import Any

import numpy as np

from vigym.benchmarks.touching.parts import GRAVITY, about, add
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box, Capsule


def pinch(margin: float, mass: float = 0.1, friction: float = 0.8, lying: bool = False) -> Mechanism:
    """A capsule, upright or lying along y, between two plates that press with `margin` times what its weight needs:
    2 friction force = margin mass g."""
    m, force = Mechanism(), margin * mass * GRAVITY / (2 * friction)
    for name, side in (("left", -1.0), ("right", 1.0)):
        m.add_body(name, mass=1.0, shapes=[Box((0.02, 0.1, 0.1))], collide=True, friction=friction)
        drive = {"kp": 1e4, "kd": 100.0, "effort_limit": force, "target": 0.02}
        m.add_joint(name, "prismatic", "world", name, axis=(-side, 0, 0), parent_anchor=(0.06 * side, 0, 0), **drive)
    turn = about((1, 0, 0), 0.5 * np.pi if lying else 0.0)
    add(m, "rod", Capsule(0.05, 0.05), turn=turn, mass=mass, friction=friction)
    return m


def gripper(mass: float = 0.2, side: float = 0.05, friction: float = 0.5, finger: float = 0.1) -> Mechanism:
    """A cube between two fingers, which efforts press together, on a hand that a drive moves up and down.

    Coordinates: height of the hand, way of the left and of the right finger. Bodies: hand, left, right, cube.
    """
    m, plate = Mechanism(), side / 5
    weight = (mass + 3 * finger) * GRAVITY
    m.add_body("hand", mass=finger, inertia=np.full(3, finger * side**2), position=(0, 0, 2 * side))
    lift: dict[str, Any] = {"kp": 1e4 * weight / side, "kd": 10.0 * weight / side, "parent_anchor": (0, 0, 2 * side)}
    m.add_joint("lift", "prismatic", "world", "hand", axis=(0, 0, 1), **lift)
    for name, way in (("left", -1.0), ("right", 1.0)):
        place = np.array([way * (side + plate) / 2, 0, -2 * side])
        shape = Box((plate, side, side))
        m.add_body(
            name,
            mass=finger,
            shapes=[shape],
            position=place + np.array([0, 0, 2 * side]),
            collide=True,
            friction=friction,
        )
        m.add_joint(name, "prismatic", "hand", name, parent_anchor=place, axis=(-way, 0, 0))
    add(m, "cube", Box((side, side, side)), mass=mass, friction=friction)
    return m
