"""The gait of VISnake-v0: bend to the left and to the right, and walk on the ends and the middle in turn."""

import numpy as np

from vigym.envs.task import Array

BEND = 3.7  # rad, of the whole body to either side
TAPER = -1.55  # of the bending: the tail bends more, the head the other way
LIFT = 2.3  # rad, of all lifting joints together
WAVES = 1.58  # of lifting, along the body; they run forward
LATE = 1.75  # rad, of lifting against bending
STEER = 1.0  # rad of bending for a rad of heading


class SnakeGait:
    """Actions of VISnake-v0 (hinges, drives) from its default observation; it has no memory.

    With the clock c and joints k at s = 8 k / num_links: even joints bend the body into an arc, to one side and to the
    other, as sin(c); odd joints lift it, as sin(2 c - 2 pi WAVES s / 8 + LATE): twice as often, so that what happens on
    one side happens on the other, and it goes straight; what is left of the heading is steered against by a little more
    bending to one side. Where the body is on the ground, bending carries it forward; where bending would carry it back,
    it is lifted.

    num_links, action_scale: those of the task.
    """

    def __init__(self, num_links: int = 8, action_scale: float = 1.2) -> None:
        self.joint = np.arange(1, num_links)
        self.place = self.joint / num_links  # 0 is the tail, 1 the head
        self.action_scale = action_scale

    def reset(self) -> None:
        """A new episode."""

    def act(self, observation: Array) -> Array:
        """Actions (..., num_links - 1) for observations that end with cosine and sine of the clock."""
        o = np.asarray(observation, float)
        clock = np.arctan2(o[..., -1:], o[..., -2:-1])
        lifts = self.joint % 2 == 1
        swing = BEND * (1.0 + TAPER * (8 * self.place - 4) / 3) * np.sin(clock)
        bend = (swing - STEER * self.heading(o)[..., None]) / max((~lifts).sum(), 1)
        lift = LIFT / lifts.sum() * np.sin(2 * clock - 2 * np.pi * WAVES * self.place + LATE)
        return np.clip(np.where(lifts, lift, bend) / self.action_scale, -1.0, 1.0)

    def heading(self, o: Array) -> Array:
        """Mean direction of the links, rad from x, from the yaw of the tail and the bending joints."""
        w, x, y, z = np.moveaxis(o[..., 1:5], -1, 0)
        yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        n = len(self.joint)
        bends = np.where(self.joint % 2 == 0, o[..., 5 : 5 + n], 0.0)
        return yaw + (bends * (1.0 - self.place)).sum(-1)  # joint k turns the links from k on
