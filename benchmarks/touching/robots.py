"""Robots that touch each other."""

from vigym.assets import unitree_a1
from vigym.engine.mechanism import Mechanism


def fight(apart: float = 0.75) -> Mechanism:
    """Two A1 that face each other on the ground, trunks `apart` m from each other; their links may touch each other,
    their own ones, and the ground. Names of their parts begin with "red " and "blue "."""
    m, robot = Mechanism(), unitree_a1.build(self_collision=True)
    m.merge(robot, "red ", position=(-apart / 2, 0, 0))
    m.merge(robot, "blue ", position=(apart / 2, 0, 0), orientation=(0, 0, 0, 1))
    m.add_ground()
    return m
