"""A block on an inclined plane, across the axes of its friction pyramid: it sticks, or slips, as Coulomb says."""

import numpy as np

from vigym.benchmarks.scenes.scene import Scene
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import from_rotation_vector, rotate
from vigym.engine.shapes import Box
from vigym.engine.state import State

ANGLE = np.radians(20.0)  # tan = 0.364
STICK, SLIP = 0.4, 0.2  # friction
SIZE, MASS = (0.4, 0.3, 0.1), 1.0  # m, kg


def incline(friction: float = SLIP, dt: float = 0.005, seconds: float = 1.0) -> Scene:
    """A block (1 kg, four contacts) at rest on a plane of 20 degrees, which falls towards +x."""
    m = Mechanism()
    turn = from_rotation_vector(np.array([0.0, ANGLE, 0.0]))
    normal = rotate(turn, np.array([0.0, 0.0, 1.0]))
    at = SIZE[2] / 2 * normal
    m.add_body("block", MASS, shapes=[Box(SIZE)], position=at, orientation=turn)
    for k, (x, y) in enumerate([(-1, -1), (1, -1), (-1, 1), (1, 1)]):
        point = (x * SIZE[0] / 2, y * SIZE[1] / 2, -SIZE[2] / 2)
        m.add_contact(f"corner {k}", "block", point, friction=friction, normal=normal)
    still = np.zeros((1, 3))
    return Scene("incline", m, State(at[None], turn[None], still, still.copy()), dt, round(seconds / dt))


def slid(friction: float, seconds: float) -> float:
    """Return how far it has slid, m: g (sin - friction cos) t^2 / 2, or nothing."""
    a = 9.81 * (np.sin(ANGLE) - friction * np.cos(ANGLE))
    return max(0.0, 0.5 * a * seconds**2)
