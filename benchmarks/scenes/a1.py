"""The Unitree A1 under PD control: standing, and the paper's trot."""

import numpy as np

from vigym.assets import unitree_a1
from vigym.benchmarks.scenes.scene import Array, Scene, at_rest

FRICTION = {"stand": 0.8, "trot": 0.2}


def trot(t: Array) -> Array:
    """Targets (k, 12) at times t (k,), rad; once a second, diagonal legs together, half a period apart.

    hip 0, thigh 0.95 (0.9 + 0.1 cos(2 pi t)), calf -1.9 - 0.1 sin(2 pi t).
    """
    shift = {"FR": 0.0, "RL": 0.0, "FL": np.pi, "RR": np.pi}
    phase = 2 * np.pi * t[:, None] + np.array([shift[leg] for leg in unitree_a1.LEGS])
    angles = [0 * phase, 0.95 * (0.9 + 0.1 * np.cos(phase)), -1.9 - 0.1 * np.sin(phase)]
    return np.stack(angles, -1).reshape(len(t), 12)


def a1(gait: str = "stand", dt: float = 0.001, seconds: float = 0.5, friction: float | None = None) -> Scene:
    """The robot (12.5 kg, 12 hinges with limits and drives, 4 feet); gait: "stand" or "trot"."""
    m = unitree_a1.build(friction=FRICTION[gait] if friction is None else friction)
    if gait == "stand":
        return Scene("a1-stand", m, at_rest(m, unitree_a1.STANDING, 0.0), dt, round(seconds / dt))
    return Scene("a1-trot", m, at_rest(m, trot(np.zeros(1))[0], 0.0), dt, round(seconds / dt), targets=trot)
