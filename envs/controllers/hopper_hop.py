"""Hops of VIHopperHop-v0: in the air the foot is set ahead, on the ground the leg pushes and the torque accelerates."""

import numpy as np
from numpy.typing import NDArray

from vigym.assets.hopper import FORCE_LIMIT, POLE_LENGTH, STROKE
from vigym.envs.controllers.hopper import DAMPING, across
from vigym.envs.hopper_base import CLEAR, TORQUE

Array = NDArray[np.float64]

LEG = 0.25  # m, of the leg in the air
SPRING, THRUST = 250.0, 25.0  # N/m while the leg gives way, N while it pushes
SWEEP = 0.15  # s, lean over velocity: half of a stance over the length of the leg, so that it is left as it was entered
PUSH, MOST = 3.0, 1.5  # N s for the missing velocity, and N m that friction bears


class HopperHops:
    """Actions of VIHopperHop-v0 from its default observation; it has no memory.

    In the air, the pole leans against the velocity, so that the foot lands as far ahead of the sphere as it will be
    behind it at take-off. In the stance, the leg is a spring until it comes to rest, then it pushes; the torque pushes
    the foot back where velocity is missing.
    """

    def reset(self) -> None:
        """A new episode."""

    def act(self, observation: Array) -> Array:
        """Actions (..., 4) for observations (..., 23)."""
        o = np.asarray(observation, float)
        w, up, command, v = o[..., 9:12], o[..., 13:16], o[..., 16:19], o[..., 19:22]
        height, leg, rate = (o[..., k, None] for k in (0, 5, 12))
        aloft = height - (POLE_LENGTH / 2 + leg) * up[..., 2:] > CLEAR
        stance = np.where(rate < -0.1, SPRING * (STROKE[1] - leg), THRUST)
        force = np.where(aloft, 50.0 * (LEG - leg) - 3.0 * rate, stance)
        pushing = np.clip(PUSH * across(command - v), -MOST, MOST) - 0.2 * DAMPING * w
        torque = np.where(aloft, 6.0 * across(up - SWEEP * v) - 0.8 * DAMPING * w, pushing)
        return np.clip(np.concatenate([force / FORCE_LIMIT, torque / TORQUE], -1), -1.0, 1.0)
