"""Measure how far a cube slips between the fingers of a hand that lifts it, in this engine and in others:
`python -m vigym.benchmarks.slip` prints the table of docs/contact.md.

A cube of 1 kg, 0.04 m, between pads of 17 mm as a Panda's, which press with 70 N each: friction (0.5) could carry
seven times its weight. Half a second after it is grasped, the hand goes up and down by 0.1 m, once a second.
"""

from collections.abc import Callable

import numpy as np

from vigym.benchmarks.peers.bullet_runner import Bullet
from vigym.benchmarks.peers.mujoco import Mujoco
from vigym.benchmarks.runner import Runner, Vigym
from vigym.benchmarks.scenes.scene import Array, Scene, at_rest
from vigym.benchmarks.tables import markdown
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Box

SIZE, MASS, PAD, GRIP, FRICTION = 0.04, 1.0, 0.017, 70.0, 0.5  # m, kg, m, N
HELD = 0.3  # s, from when on the cube is held
ENGINES: dict[str, Callable[[Scene, float, int], Runner]] = {
    "vigym": Vigym,
    "MuJoCo": lambda *scene: Mujoco(*scene, integrator="implicitfast"),
    "MuJoCo, stiff, elliptic": lambda *scene: Mujoco(*scene, integrator="implicitfast", stiff=True, elliptic=True),
    "PyBullet": Bullet,
}


def grasp() -> Mechanism:
    """A hand that a drive lifts, two pads that drives press against the cube between them."""
    m = Mechanism()
    m.add_body("hand", 0.73, (1e-3, 2.5e-3, 1.7e-3), position=(0.0, 0.0, 0.1))
    m.add_joint("lift", "prismatic", "world", "hand", kp=2e4, kd=200.0, parent_anchor=(0.0, 0.0, 0.1))
    for name, way in (("left", -1.0), ("right", 1.0)):
        place = np.array([0.0, way * (SIZE / 2 + 0.006), -0.1])
        pad = Box((PAD, 0.012, PAD))
        m.add_body(name, 0.2, shapes=[pad], position=place + np.array([0.0, 0.0, 0.1]), friction=FRICTION)
        drive = {"kp": 5000.0, "kd": 20.0, "effort_limit": GRIP, "target": 0.02}
        m.add_joint(name, "prismatic", "hand", name, parent_anchor=place, axis=(0.0, -way, 0.0), **drive)
    m.add_body("cube", MASS, shapes=[Box((SIZE,) * 3)], friction=FRICTION)
    return m


def lift(t: Array) -> Array:
    """Targets (k, 3) of hand and pads at times t (k,)."""
    up = 0.05 * (1.0 - np.cos(2 * np.pi * np.clip(t - 0.5, 0.0, None)))
    return np.stack([up, np.full(len(t), 0.02), np.full(len(t), 0.02)], -1)


def slip(runner: Runner) -> tuple[float, float]:
    """Return how far the cube has moved along the fingers' faces by the last look, and how far it was lifted, m."""
    names = [body.name for body in runner.scene.mechanism.bodies]
    hand, cube = names.index("hand"), names.index("cube")
    runner.reset()
    ways, heights = [], []
    for k in range(runner.steps):
        runner.step(k)
        poses = runner.poses()
        assert poses is not None
        ways.append(poses[0][cube] - poses[0][hand])
        heights.append(poses[0][cube, 2])
    moved = ways[-1] - ways[round(HELD / runner.dt)]
    return float(np.hypot(moved[0], moved[2])), float(max(heights) - heights[0])


def measure(dt: float = 0.002, seconds: float = 2.3) -> dict[str, tuple[float, float]]:
    """Slip and lift, m, in each engine."""
    m = grasp()
    scene = Scene("grasp", m, at_rest(m), dt, round(seconds / dt), targets=lift)
    return {name: slip(make(scene, dt, scene.steps)) for name, make in ENGINES.items()}


def main() -> None:
    """Print the table."""
    found = measure()
    rows = [[name, f"{1e3 * way:.2g}", f"{1e3 * lift:.0f}"] for name, (way, lift) in found.items()]
    print(markdown(["", "slip in 2 s, mm", "lifted by, mm"], rows))


if __name__ == "__main__":
    main()
