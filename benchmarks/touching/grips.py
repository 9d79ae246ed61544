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


def panda_hand(side: float = 0.05) -> Mechanism:
    """The hand of a Panda, with drives of its two fingers and one that lifts it, over a cube (0.1 kg) on the ground.

    Coordinates: height of the hand, way of the left and of the right finger, from open to shut. The fingers' tips reach
    around the cube when the hand is at 0.
    """
    m = Mechanism()
    m.add_ground(friction=0.8)
    palm, tip = Box((0.06, 0.2, 0.06)), Box((0.02, 0.015, 0.018), position=(0, 0, -0.045))
    height, open_ = 0.13, 0.04
    m.add_body("hand", mass=0.73, shapes=[palm], position=(0, 0, height), friction=0.8)
    lift: dict[str, Any] = {"kp": 2e4, "kd": 400.0, "parent_anchor": (0, 0, height)}
    m.add_joint("lift", "prismatic", "world", "hand", axis=(0, 0, 1), **lift)
    for name, way in (("left", -1.0), ("right", 1.0)):
        place = np.array([0, way * (open_ + 0.0075), -0.05])
        shapes = [Box((0.02, 0.015, 0.05), position=(0, 0, 0.0)), tip]
        start = place + np.array([0, 0, height])
        m.add_body(name, 0.1, (4e-5, 4e-5, 5e-6), shapes, position=start, friction=0.8)
        drive: dict[str, Any] = {"kp": 2e3, "kd": 50.0, "effort_limit": 20.0, "lower": 0.0, "upper": open_}
        m.add_joint(name, "prismatic", "hand", name, parent_anchor=place, axis=(0, -way, 0), **drive)
    add(m, "cube", Box((side, side, side)), (0, 0, side / 2), mass=0.1)
    return m
