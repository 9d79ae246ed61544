"""The scenes of the benchmark, by name; shared with the tests."""

from collections.abc import Callable
from typing import Any

from vigym.benchmarks.scenes.a1 import a1
from vigym.benchmarks.scenes.chain import chain, flying_chain, free_chain
from vigym.benchmarks.scenes.disc import disc
from vigym.benchmarks.scenes.hopper import flip, hopper
from vigym.benchmarks.scenes.incline import incline
from vigym.benchmarks.scenes.loops import loops
from vigym.benchmarks.scenes.scene import Scene
from vigym.benchmarks.scenes.top import top
from vigym.benchmarks.scenes.toss import toss
from vigym.benchmarks.scenes.touching import coil, cubes, gripper, heap, humanoid, pinch, ready, stack

__all__ = ["SCENES", "Scene", "build"]

SCENES: dict[str, Callable[..., Scene]] = {
    "disc": disc,
    "chain": chain,
    "a1": a1,
    "hopper": hopper,
    "flip": flip,
    "toss": toss,
    "incline": incline,
    "top": top,
    "free-chain": free_chain,
    "flying-chain": flying_chain,
    "loops": loops,
    "stack": stack,
    "pinch": pinch,
    "heap": heap,
    "cubes": cubes,
    "coil": coil,
    "gripper": gripper,
    "ready": ready,
    "humanoid": humanoid,
}


def build(name: str, **parameters: Any) -> Scene:
    """The scene of that name, with the parameters that its function takes."""
    return SCENES[name](**parameters)
