"""Trots of VIQuadruped-v0: one that follows the commanded velocity, and the paper's."""

import numpy as np

from vigym.assets import unitree_a1
from vigym.envs.quadruped_motion import SHIFT
from vigym.envs.task import Array

FRONT, LEFT = np.array([unitree_a1.sides(leg) for leg in unitree_a1.LEGS], float).T
ASIDE = unitree_a1.THIGH_AT[1] * LEFT  # (4,) of the thighs' axes from the hips', m
X, Y = unitree_a1.HIP_AT[0] * FRONT, unitree_a1.HIP_AT[1] * LEFT + ASIDE  # (4,) of the legs from the trunk's middle, m
SEGMENT = 0.2  # m, thigh and calf
WEIGHT = 9.81 * 12.453  # N
KP = np.array(unitree_a1.KP)  # N m/rad: hip, thigh, calf
NEUTRAL = unitree_a1.STANDING + unitree_a1.holding_torques() / np.tile(KP, 4)  # targets of the drives at action 0, rad

HEIGHT = 0.28  # m, of the hips above the feet's centres
LIFT = 0.1  # m, of a foot in the middle of its swing
SPEED_GAIN = 0.06  # s: feet go ahead of where they should be by this times the velocity that is too much
LEAD = 0.06  # s: kd / kp of the drives, which follow late by as much, and half a control step
LEVEL_GAIN = 0.2
SMOOTHING = 0.03  # of the mean of where up is, a control step
STROKE = 1.32  # feet stroke further than the trunk is to move, because the legs give way


def joint_angles(feet: Array) -> Array:
    """Hip, thigh and calf (..., 4, 3), rad, that put the feet's centres at `feet` (..., 4, 3), m from the hips.

    With the foot turned about the hip's axis (x) until it is straight below the thigh's, at (x, aside, -d):
    d^2 = y^2 + z^2 - aside^2, and the leg is two rods of 0.2 m with the knee behind: |x, d| = 0.4 cos(calf / 2).
    """
    x, y, z = (feet[..., k] for k in range(3))
    d = np.sqrt(np.maximum(y * y + z * z - ASIDE * ASIDE, 1e-4))
    hip = np.arctan2(z, y) - np.arctan2(-d, ASIDE)
    hip = (hip + np.pi) % (2 * np.pi) - np.pi
    calf = -2.0 * np.arccos(np.minimum(np.sqrt(x * x + d * d) / (2 * SEGMENT), 1.0))
    thigh = np.arctan2(-x, d) - 0.5 * calf
    return np.stack([hip, thigh, calf], -1)


def support_torques(angles: Array, feet: Array, force: Array) -> Array:
    """Joint torques (..., 4, 3), N m, that hold legs against forces (..., 4, 3), N, of the ground on their feet.

    -axis . (foot - p) x force for each joint: its axis, and p on it. Seen along x, thighs and calves are turned by the
    hip's angle.
    """
    hip, thigh = angles[..., 0], angles[..., 1]
    c, s, reach = np.cos(hip), np.sin(hip), SEGMENT * np.cos(thigh)
    knee = np.stack([-SEGMENT * np.sin(thigh), c * ASIDE + s * reach, s * ASIDE - c * reach], -1)
    (x, y, z), (fx, fy, fz) = (np.moveaxis(part, -1, 0) for part in (feet, force))
    dx, dy, dz = np.moveaxis(feet - knee, -1, 0)
    about_thigh = c * ((z - s * ASIDE) * fx - x * fz) + s * (x * fy - (y - c * ASIDE) * fx)
    about_calf = c * (dz * fx - dx * fz) + s * (dx * fy - dy * fx)
    return -np.stack([y * fz - z * fy, about_thigh, about_calf], -1)


class QuadrupedTrot:
    """Actions of VIQuadruped-v0 from its default observation; of the past, it remembers a mean of where up was.

    Diagonal pairs of feet swing and push in turn, as the task's clock says. A foot on the ground moves back under the
    trunk as fast as its hip is to move on, v + yaw x r; one in the air comes back. All feet are set further ahead (by
    SPEED_GAIN) if the trunk is too fast, and downhill by as much as the centre of mass is (on the mean); legs are
    shortened where the trunk is too high (by LEVEL_GAIN), which levels it. The drives' targets are the angles of such
    legs, and what it takes to hold half the weight on each leg that stands.

    action_scale, gait_period: those of the task.
    """

    def __init__(self, action_scale: float = 0.5, gait_period: float = 0.5) -> None:
        self.action_scale, self.gait_period = action_scale, gait_period
        self.up: Array | None = None

    def reset(self) -> None:
        """A new episode."""
        self.up = None

    def act(self, observation: Array) -> Array:
        """Actions (..., 12) for observations (..., 51)."""
        o = np.asarray(observation, float)
        up, velocity, command = o[..., 1:4], o[..., 16:19], o[..., 34:37]
        self.up = up if self.up is None else self.up + SMOOTHING * (up - self.up)
        now = clocks(o)
        later = (now + LEAD / self.gait_period) % 1.0
        swing, part = later < 0.5, 2.0 * (later % 0.5)  # in the air; how much of the swing or stance is over
        smooth = part - np.sin(2 * np.pi * part) / (2 * np.pi)
        ahead = np.where(swing, smooth - 0.5, 0.5 - part) * (0.5 * STROKE * self.gait_period)
        vx, vy, yaw = (command[..., k, None] for k in range(3))
        shift = SPEED_GAIN * (velocity - command)[..., :2] - HEIGHT * self.up[..., :2]
        x = (vx - yaw * Y) * ahead + shift[..., :1]
        y = (vy + yaw * X) * ahead + shift[..., 1:] + ASIDE
        nose, left = (LEVEL_GAIN * (up - self.up)[..., k, None] for k in range(2))
        z = np.where(swing, LIFT * np.sin(np.pi * part) ** 2, 0.0) + nose * X + left * Y - HEIGHT
        feet = np.stack([x, y, z], -1)
        angles = joint_angles(feet)
        load = np.where(now % 1.0 < 0.5, 0.0, 0.5 * WEIGHT)
        targets = angles + support_torques(angles, feet, load[..., None] * up[..., None, :]) / KP
        return actions_for(targets, self.action_scale)


class PaperTrot:
    """The paper's gait, for friction=0.2 and gait_period=1.0; it follows no command.

    hip 0, thigh 0.95 (0.9 + 0.1 cos), calf -1.9 - 0.1 sin of the clock of each leg.
    """

    def __init__(self, action_scale: float = 0.5) -> None:
        self.action_scale = action_scale

    def reset(self) -> None:
        """A new episode."""

    def act(self, observation: Array) -> Array:
        """Actions (..., 12) for observations (..., 51)."""
        phase = 2 * np.pi * clocks(np.asarray(observation, float))
        targets = np.stack([0.0 * phase, 0.95 * (0.9 + 0.1 * np.cos(phase)), -1.9 - 0.1 * np.sin(phase)], -1)
        return actions_for(targets, self.action_scale)


def clocks(observation: Array) -> Array:
    """Clock of every leg (..., 4), periods; a foot is in the air in the first half of each."""
    return np.arctan2(observation[..., 38, None], observation[..., 37, None]) / (2 * np.pi) + SHIFT


def actions_for(targets: Array, scale: float) -> Array:
    """Actions (..., 12) that give the drives the targets (..., 4, 3), rad, as far as the scale goes."""
    flat = targets.reshape(*targets.shape[:-2], 12)
    return np.clip((flat - NEUTRAL) / scale, -1.0, 1.0)
