"""The paper's hopper: a heavy sphere on a pole that slides through it, hopping on the spot."""

import numpy as np

from vigym.assets import hopper as asset
from vigym.benchmarks.scenes.scene import Array, Scene, at_rest

KP, KD = 500.0, 20.0  # N/m, N s/m
RATE = 1.5  # hops a second

# A flip that lands on its foot: what is done when was tried out with fine steps.
FLIP_KP, FLIP_KD = 400.0, 10.0  # N/m, N s/m
CROUCH, TUCK = 0.02, 0.15  # m, of the leg: before the push, and in the air
PUSH, LEAVE = 0.1, 0.2  # s: from when to when it pushes
TURN, STOP, BRIEF = 0.25, 0.73, 0.05  # s: when a torque turns it, and stops it; for how long
TORQUE = 5.0  # N m


def hop(t: Array) -> Array:
    """Targets (k, 1) at times t (k,), m: the pole is pushed down by 0.2 m during the first third of each period."""
    return np.where((RATE * t) % 1.0 < 1 / 3, 0.25, 0.05)[:, None]


def leap(t: Array) -> Array:
    """Targets (k, 1) of a flip, m."""
    return np.select([t <= PUSH, t <= LEAVE], [CROUCH, asset.STROKE[1]], TUCK)[:, None]


def twist(t: Array) -> Array:
    """Torques (k, 2, 3) of a flip, N m: on the sphere about [1 1 0], to turn, and against it, to stop."""
    amount = TORQUE * ((t > TURN) & (t < TURN + BRIEF)) - TORQUE * ((t > STOP) & (t < STOP + BRIEF))
    return amount[:, None, None] * np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]) / np.sqrt(2)


def flip(dt: float = 0.001, seconds: float = 1.0) -> Scene:
    """The hopper jumps, is turned about [1 1 0] in the air, and comes down; what it does is settled beforehand."""
    m = asset.build(kp=FLIP_KP, kd=FLIP_KD)
    start = at_rest(m, [CROUCH], height=0.0)
    return Scene("flip", m, start, dt, round(seconds / dt), targets=leap, torques=twist)


def hopper(dt: float = 0.001, seconds: float = 0.5) -> Scene:
    """Sphere (1 kg, radius 0.1 m), pole (0.2 kg, 0.8 m, radius 0.05 m) on a slider, one contact, friction 0.2."""
    m = asset.build(kp=KP, kd=KD)
    return Scene("hopper", m, at_rest(m, hop(np.ones(1))[0], height=0.0), dt, round(seconds / dt), targets=hop)
