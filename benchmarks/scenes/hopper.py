"""The paper's hopper: a heavy sphere on a pole that slides through it, hopping on the spot."""

import numpy as np

from vigym.assets import hopper as asset
from vigym.benchmarks.scenes.scene import Array, Scene, at_rest

KP, KD = 500.0, 20.0  # N/m, N s/m
RATE = 1.5  # hops a second


def hop(t: Array) -> Array:
    """Targets (k, 1) at times t (k,), m: the pole is pushed down by 0.2 m during the first third of each period."""
    return np.where((RATE * t) % 1.0 < 1 / 3, 0.25, 0.05)[:, None]


def hopper(dt: float = 0.001, seconds: float = 0.5) -> Scene:
    """Sphere (1 kg, radius 0.1 m), pole (0.2 kg, 0.8 m, radius 0.05 m) on a slider, one contact, friction 0.2."""
    m = asset.build(kp=KP, kd=KD)
    return Scene("hopper", m, at_rest(m, hop(np.ones(1))[0], height=0.0), dt, round(seconds / dt), targets=hop)
