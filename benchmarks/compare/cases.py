"""Cases of the comparison: scenes, durations, time steps, engines."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from vigym.benchmarks.runner import Runner
from vigym.benchmarks.scenes import Scene, build
from vigym.benchmarks.scenes.incline import ANGLE, SLIP, STICK, slid
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.scenes.top import ARM, LEAN, SPIN, precession
from vigym.benchmarks.worker import RUNNERS


@dataclass(frozen=True)
class Mode:
    """An engine, and how it is set."""

    label: str
    engine: str
    options: dict[str, Any] = field(default_factory=dict)

    def runner(self, scene: Scene, dt: float, seconds: float) -> Runner:
        """It, with a scene."""
        module, name = RUNNERS[self.engine].split(":")
        return getattr(import_module(module), name)(scene, dt, round(seconds / dt), **self.options)


EXACT = Mode("vigym", "vigym", {"tolerance": 1e-8})
PYRAMID = Mode("vigym, pyramid", "vigym", {"tolerance": 1e-8, "cone": "pyramid"})
MUJOCO = Mode("MuJoCo", "mujoco")
STIFF = Mode("MuJoCo, stiff", "mujoco", {"stiff": True, "elliptic": True})
BULLET = Mode("PyBullet", "pybullet")
RIGID = Mode("PyBullet, maximal", "pybullet", {"maximal": True})


@dataclass(frozen=True)
class Case:
    """One comparison.

    title: in a few words; scene, parameters: see `vigym.benchmarks.scenes`; seconds: simulated.
    dts: time steps, s; fine: that of each engine's own limit; shown: the one whose motion is drawn.
    body: the one whose path is drawn, along the world axes `plane`; foot: the contact whose height is drawn.
    passive: nothing drives it, so that energy can only be lost.
    exact: where the body ought to be at the end, m, if a formula says so.
    """

    name: str
    title: str
    scene: str
    seconds: float
    parameters: dict[str, Any] = field(default_factory=dict)
    dts: tuple[float, ...] = (0.001, 0.002, 0.005, 0.01)
    fine: float = 0.0001
    shown: float = 0.005
    modes: tuple[Mode, ...] = (EXACT, PYRAMID, MUJOCO, STIFF, BULLET)
    body: str = ""
    plane: str = "xz"
    foot: str = ""
    passive: bool = False
    exact: Callable[[], Array] | None = None

    def build(self) -> Scene:
        """The scene."""
        return build(self.scene, **self.parameters)

    def index(self, scene: Scene) -> int:
        """Number of the body that is drawn."""
        return [body.name for body in scene.mechanism.bodies].index(self.body)

    def quick(self) -> "Case":
        """The same, shorter, at two time steps."""
        return replace(self, seconds=min(self.seconds, 0.3), dts=(0.005, 0.01), fine=0.001, shown=0.01, exact=None)


def _block(name: str, title: str, friction: float) -> Case:
    """A block on a slope, and where it is after 1 s."""

    def exact() -> Array:
        down, normal = np.array([np.cos(ANGLE), 0.0, -np.sin(ANGLE)]), np.array([np.sin(ANGLE), 0.0, np.cos(ANGLE)])
        return slid(friction, 1.0) * down + 0.05 * normal

    return Case(
        name, title, "incline", 1.0, {"friction": friction}, body="block", plane="tx", passive=True, exact=exact
    )


def _around() -> Array:
    angle = precession(SPIN) * 2.0
    return ARM * np.array([np.sin(LEAN) * np.cos(angle), np.sin(LEAN) * np.sin(angle), np.cos(LEAN)])


CASES = {
    case.name: case
    for case in (
        Case(
            "disc",
            "A disc slides to a stop",
            "disc",
            1.0,
            {"contacts": 10},
            body="disc",
            plane="tx",
            passive=True,
            exact=lambda: np.array([1.0 / (2 * 0.2 * 9.81), 0.0, 0.05]),
        ),
        Case("toss", "A cube is thrown", "toss", 1.0, body="cube", passive=True),
        _block("incline-stick", "A block sticks on a slope", STICK),
        _block("incline-slip", "A block slips down a slope", SLIP),
        Case(
            "chain",
            "A chain of ten links drops from 0.3 m",
            "chain",
            1.0,
            {"links": 10, "drop": 0.3},
            modes=(EXACT, PYRAMID, MUJOCO, STIFF, BULLET, RIGID),
            body="link 0",
            plane="tz",
            passive=True,
        ),
        Case("flip", "The hopper jumps and turns over", "flip", 1.0, body="sphere", plane="tz", foot="foot"),
        Case(
            "a1-stand",
            "The Unitree A1 stands",
            "a1",
            0.5,
            {"gait": "stand"},
            body="trunk",
            plane="tz",
            foot="FR foot",
            shown=0.001,
        ),
        Case(
            "a1-trot",
            "The Unitree A1 trots",
            "a1",
            2.0,
            {"gait": "trot"},
            body="trunk",
            foot="FR foot",
            fine=0.0002,
            shown=0.001,
        ),
        Case(
            "top",
            "A heavy top goes round",
            "top",
            2.0,
            modes=(
                EXACT,
                MUJOCO,
                Mode("MuJoCo, implicit", "mujoco", {"integrator": "implicit"}),
                Mode("MuJoCo, RK4", "mujoco", {"integrator": "RK4"}),
                BULLET,
                RIGID,
            ),
            body="top",
            plane="xy",
            passive=True,
            exact=_around,
        ),
    )
}
