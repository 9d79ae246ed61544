"""A gripper that closes on a cube on a table and lifts it, recorded:

    python tests/view/replay/touching.py

writes corpus/whole-touching.vigym, a few frames of it.
"""

from pathlib import Path

import numpy as np

from vigym import Box, Mechanism, Simulator

TABLE = Box((0.6, 0.4, 0.04), position=(0.0, 0.0, -0.02))
PAD = Box((0.03, 0.05, 0.06), position=(0.0, 0.0, -0.05))


def gripper() -> Simulator:
    """Two fingers on a hand that goes up and down; their pads are solid, and not among the shapes that are drawn."""
    m = Mechanism()
    m.add_collider("table", "world", TABLE, friction=0.6)
    m.add_body("hand", 1.0, shapes=[Box((0.3, 0.06, 0.04))], collide=False)
    m.add_joint("lift", "prismatic", "world", "hand", parent_anchor=(0, 0, 0.3), kp=4000.0, kd=200.0)
    for name, side in (("left", -1.0), ("right", 1.0)):
        m.add_body(name, 0.2, shapes=[Box((0.02, 0.04, 0.16), color=(0.3, 0.3, 0.35))], collide=False)
        m.add_collider(f"{name} pad", name, PAD, friction=1.0)
        slide = {"axis": (-side, 0, 0), "parent_anchor": (0.1 * side, 0, -0.1), "effort_limit": 30.0}
        m.add_joint(name, "prismatic", "hand", name, kp=3000.0, kd=60.0, **slide)
    m.add_body("cube", 0.3, shapes=[Box((0.06, 0.06, 0.06))], position=(0, 0, 0.03), collide=True, friction=0.8)
    sim = Simulator(m, dt=0.01)
    sim.set_joint_state(np.array([-0.12, 0.0, 0.0]), x=sim.state.x)
    return sim


def grip(path: Path, steps: int = 100, every: int = 1) -> Simulator:
    """Record the gripper, a frame every few steps."""
    sim = gripper()
    with sim.record(path, title="pinch"):
        for k in range(0, steps, every):
            lift = -0.12 + 0.08 * np.clip((k - 40) / 50, 0.0, 1.0)
            close = 0.06 if k >= 10 else 0.0
            sim.step(target=[[lift, close, close]], repeat=every)
    return sim


if __name__ == "__main__":
    grip(Path(__file__).parent / "corpus" / "whole-touching.vigym", every=25)
