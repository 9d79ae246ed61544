"""Controllers of the Panda's tasks: reach a place, push a cube from behind, grasp it and bring it along."""

from collections.abc import Mapping

import numpy as np

from vigym.envs.arms.base import SIZE, TABLE
from vigym.envs.arms.hand import REACH
from vigym.envs.task import Array

SLOWING = 9.81 * TABLE  # m/s^2, of a cube that slides
Observation = Mapping[str, Array]


def towards(way: Array, share: float = 1.0) -> Array:
    """Actions (..., 3) that bring the hand a share of the way (..., 3), m, as far as one step goes."""
    return np.clip(share * way / REACH, -1.0, 1.0)


def split(observation: Observation) -> tuple[Array, Array, Array]:
    """Observation, place of the hand and goal."""
    o = np.asarray(observation["observation"], float)
    return o, o[..., :3], np.asarray(observation["desired_goal"], float)


class PandaReaches:
    """Actions of VIPandaReach-v0: straight to the goal; it has no memory."""

    def reset(self) -> None:
        """A new episode."""

    def act(self, observation: Observation) -> Array:
        """Actions (..., 3)."""
        _, hand, goal = split(observation)
        return towards(goal - hand)


class PandaPushes:
    """Actions of VIPandaPush-v0: high over the cube to its far side, down, and forth, steering; it has no memory.

    The closed fingers are behind the cube if they are off its middle by BEHIND, against the way to the goal, and not
    more than ASIDE across. From there they go for a point of the cube's way, towards the goal.
    """

    HIGH, LOW = 0.1, 0.02  # m, of the hand: above the cube, and at it
    BEHIND, ASIDE = 0.055, 0.018  # m
    NEAR = 0.012  # m: the goal is reached
    FASTEST = 0.5  # m/s
    STEP = 0.06  # s: the hand follows late, so that it is asked for more than its way in a control step

    def reset(self) -> None:
        """A new episode."""

    def act(self, observation: Observation) -> Array:
        """Actions (..., 3)."""
        o, hand, goal = split(observation)
        cube = o[..., 6:9]
        way = (goal - cube)[..., :2]
        far = np.linalg.norm(way, axis=-1, keepdims=True)
        ahead = way / np.maximum(far, 1e-9)
        there = (hand - cube)[..., :2]
        along = (there * ahead).sum(-1, keepdims=True)
        across = there - along * ahead
        off = np.linalg.norm(across, axis=-1, keepdims=True)
        behind = cube[..., :2] - self.BEHIND * ahead
        low = hand[..., 2:] < 0.05
        ready = (along < -0.02) & (off < self.ASIDE)
        miss = behind - hand[..., :2]
        over = np.linalg.norm(miss, axis=-1, keepdims=True) < 0.02
        done = far < self.NEAR
        # down behind the cube, or up and over
        down = np.where(over, self.LOW, self.HIGH)
        travel = np.where(over | (hand[..., 2:] > 0.07), miss, 0.0)
        around = np.concatenate([travel, down - hand[..., 2:]], -1)
        speed = np.minimum(self.FASTEST, 0.7 * np.sqrt(2 * SLOWING * far))  # the cube slides on when the hand stops
        push = np.concatenate([self.STEP * speed * ahead - 0.8 * across, self.LOW - hand[..., 2:]], -1)
        chosen = np.where(low & ready, push, around)
        return np.where(done, 0.0, towards(chosen))


class PandaGrasps:
    """Actions of VIPandaPickAndPlace-v0: open over the cube, down, close, and to the goal; it has no memory.

    The cube is held if it is between the pads and the fingers are as far apart as it is wide.
    """

    HIGH = 0.09  # m, of the hand over the cube while it is not above it
    LOW = 0.004  # m, of the hand below the cube's middle when it grasps
    OVER, BETWEEN = 0.012, 0.008  # m: off the cube's middle, to go down, and to close

    def reset(self) -> None:
        """A new episode."""

    def act(self, observation: Observation) -> Array:
        """Actions (..., 4)."""
        o, hand, goal = split(observation)
        width, cube = o[..., 6:7], o[..., 7:10]
        aim = cube - np.array([0.0, 0.0, self.LOW])
        miss = aim - hand
        off = np.linalg.norm(miss[..., :2], axis=-1, keepdims=True)
        inside = (off < 0.02) & (np.abs(miss[..., 2:]) < self.BETWEEN)
        held = inside & (width < SIZE + 2e-3)
        over = (off < self.OVER) & ((width > SIZE + 0.02) | inside)
        down = np.where(over, miss[..., 2:], miss[..., 2:] + self.HIGH)
        approach = np.concatenate([miss[..., :2], down], -1)
        grip = np.where(inside, -1.0, 1.0)
        move = np.where(held, towards(goal - cube), np.where(inside, 0.0, towards(approach)))
        return np.concatenate([move, grip], -1)
