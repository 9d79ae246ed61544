"""Observations of any environment as arrays."""

from typing import Any

import numpy as np


def flat(observation: Any) -> np.ndarray:
    """The observation, or the parts of a dict one after the other along the last axis."""
    if not isinstance(observation, dict):
        return observation
    return np.concatenate([observation[name] for name in ("observation", "achieved_goal", "desired_goal")], -1)
