"""The flip of VIHopper-v0: settle, push off, turn about [1 1 0] in the air, land on the foot and balance there."""

import numpy as np
from numpy.typing import NDArray

from vigym.assets.hopper import FORCE_LIMIT, POLE_LENGTH
from vigym.engine.rotation import conjugate, rotate
from vigym.envs.hopper_base import TORQUE

Array = NDArray[np.float64]

GRAVITY = 9.81
SETTLE = 0.39  # s before the push
LEG = 0.25  # m, of the leg in the air
EARLY = 0.2  # s before the touch-down by which the turn should be over
RATE = 12.0  # rad/s, the fastest turn asked for
DAMPING = np.array([1.0, 1.0, 0.05])  # N m s/rad, about the sphere's axes


class HopperFlip:
    """Actions of VIHopper-v0 from its default observation; it has no memory.

    On the ground, the torque is a PD law that rights the sphere, leaning against its velocity. In the air, it brings
    the angular velocity to what is left of the turn over the time that is left to touch-down, about the axis, and the
    pole into the plane across it; for the last part of the turn, the PD law that rights the sphere takes over.
    """

    def reset(self) -> None:
        """A new episode."""

    def act(self, observation: Array) -> Array:
        """Actions (..., 4) for observations (..., 24)."""
        o = np.asarray(observation, float)
        q, v, w, up, axis = o[..., 1:5], o[..., 6:9], o[..., 9:12], o[..., 13:16], o[..., 16:19]
        height, leg, rate, left, time = (o[..., k, None] for k in (0, 5, 12, 19, 23))
        aloft, landed = o[..., 21, None] > 0.5, o[..., 22, None] > 0.5

        # force of the leg
        pushing = ~landed & (time > SETTLE)
        held = 50.0 * (LEG - leg) - 3.0 * rate
        force = np.where(aloft, held, np.where(pushing, FORCE_LIMIT, -12.0 * rate))

        # torque in the air; a turn about e3 x axis takes the pole out of the plane across the axis
        drop = np.maximum(height - POLE_LENGTH / 2 - leg, 0.0)
        fall = v[..., 2:] + np.sqrt(v[..., 2:] ** 2 + 2.0 * GRAVITY * drop)
        spin = np.clip(left / np.maximum(fall / GRAVITY - EARLY, 0.05), -RATE, RATE)
        turning = DAMPING * (spin * axis - w) - 3.0 * axis[..., 2:] * across(axis)
        righting = 6.0 * across(up) - 0.8 * DAMPING * w

        # torque on the ground: towards a lean against the velocity
        drift = rotate(conjugate(q), v * np.array([1.0, 1.0, 0.0]))
        balancing = 8.0 * across(up - 0.1 * drift) - DAMPING * w
        torque = np.where(aloft, np.where((left > 0.7) & ~landed, turning, righting), balancing)
        return np.clip(np.concatenate([force / FORCE_LIMIT, torque / TORQUE], -1), -1.0, 1.0)


def across(direction: Array) -> Array:
    """e3 x direction: the axis about which e3 turns towards it."""
    out = np.zeros_like(direction)
    out[..., 0], out[..., 1] = -direction[..., 1], direction[..., 0]
    return out
