"""A scissor lift: crossed bars, one pair on top of the other, every cell but the last one closed into a loop."""

from typing import Any

import numpy as np

from vigym.benchmarks.scenes.scene import Array, Scene
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import from_rotation_vector
from vigym.engine.state import State

MASS, LENGTH = 1.0, 1.0  # kg, m, of a bar
LEFT, RIGHT = (-LENGTH / 2, 0, 0), (LENGTH / 2, 0, 0)
HINGE: dict[str, Any] = {"kind": "revolute", "axis": (0, -1, 0)}  # angles count upwards from the x axis
LEAN = 0.6  # rad


def lift(cells: int, driven: bool = True) -> Mechanism:
    """Bars a (rising to the right) and b (to the left): hinged in the middle, and at their ends to the next pair.

    a0 stands on a driven hinge, b0 on a shoe that slides along x. The drive holds the weight of everything above:
    its torque is dE/d(angle) = sum_k 2 m g (k + 1/2) l cos(angle), about m g l cells^2. Without the drive it falls.
    """
    m = Mechanism()
    inertia = (0.01, MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 12)
    torque = MASS * 9.81 * LENGTH * cells**2 if driven else 0.0
    m.add_body("shoe", mass=MASS, inertia=(0.01, 0.01, 0.01))
    for k in range(cells):
        m.add_body(f"a{k}", mass=MASS, inertia=inertia)
        m.add_body(f"b{k}", mass=MASS, inertia=inertia)
        if k == 0:
            m.add_joint("foot", parent="world", child="a0", child_anchor=LEFT, kp=20 * torque, kd=2 * torque, **HINGE)
            m.add_joint("slide", "prismatic", "world", "shoe", axis=(1, 0, 0))
            m.add_joint("heel", parent="shoe", child="b0", child_anchor=LEFT, **HINGE)
        for end, start in (("a", "b"), ("b", "a")) if k else ():
            ends: dict[str, Any] = {"parent_anchor": RIGHT, "child_anchor": LEFT}
            m.add_joint(f"{end}{k - 1} {start}{k}", parent=f"{end}{k - 1}", child=f"{start}{k}", **ends, **HINGE)
        m.add_joint(f"cross {k}", parent=f"a{k}", child=f"b{k}", **HINGE)
    return m


def loops(cells: int = 5, dt: float = 0.005, seconds: float = 0.5) -> Scene:
    """A lift of so many cells that goes up and down once a second between 0.5 and 0.7 rad."""
    m = lift(cells)
    foot = [joint.name for joint in m.joints].index("foot")
    n_axes = sum(joint.n_free for joint in m.joints)

    def targets(t: Array) -> Array:
        out = np.zeros((len(t), n_axes))
        out[:, foot] = LEAN + 0.1 * np.sin(2 * np.pi * t)
        return out

    across, rise = LENGTH * np.cos(LEAN), LENGTH * np.sin(LEAN)
    x = [[across, 0, 0]] + [[across / 2, 0, (k + 0.5) * rise] for k in range(cells) for _ in "ab"]
    turns = [from_rotation_vector(np.array([0, -angle, 0])) for angle in (LEAN, np.pi - LEAN)]
    q = np.array([[1.0, 0, 0, 0], *turns * cells])
    still = np.zeros((2 * cells + 1, 3))
    start = State(np.array(x), q, still, still.copy())
    return Scene("loops", m, start, dt, round(seconds / dt), cells, targets, planar=True)
