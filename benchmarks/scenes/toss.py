"""A cube that is thrown onto the ground, spinning, and tumbles until it lies."""

import numpy as np

from vigym.assets import cube
from vigym.benchmarks.scenes.scene import Scene
from vigym.engine.rotation import from_rotation_vector
from vigym.engine.state import State

HEIGHT = 0.3  # m, of its centre
VELOCITY, SPIN = (1.0, 0.5, 0.0), (3.0, 5.0, 2.0)  # m/s; rad/s, body frame
TURNED = (0.4, 0.3, 0.2)  # rad, rotation vector


def toss(dt: float = 0.005, seconds: float = 1.0, friction: float = cube.FRICTION) -> Scene:
    """The cube of the real tosses (0.105 m, 0.37 kg, a contact in each corner)."""
    m = cube.build(inertia=cube.INERTIA, friction=friction)
    q = from_rotation_vector(np.array(TURNED))
    start = State(np.array([[0.0, 0.0, HEIGHT]]), q[None], np.array([VELOCITY]), np.array([SPIN]))
    return Scene("toss", m, start, dt, round(seconds / dt))
