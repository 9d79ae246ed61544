"""What the stopwatch of a peer encloses: the engine's own steps, not the Python that works out what acts in them."""

from dataclasses import replace
from importlib import import_module
from time import process_time

import numpy as np
import pytest

from vigym.benchmarks.runner import Runner
from vigym.benchmarks.scenes import build
from vigym.benchmarks.worker import RUNNERS

STEPS, BURNT = 10, 0.01  # s of CPU that a slow function takes; a step of the hopper takes some 1e-5 s


def twisted(engine: str) -> Runner:
    """A driven hopper with a torque on its sphere in every step."""
    torque = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]])
    scene = replace(build("flip"), torques=lambda t: np.repeat(torque[None], len(t), axis=0))
    module, name = RUNNERS[engine].split(":")
    return getattr(import_module(module), name)(scene, 0.002, STEPS)


def slow(monkeypatch, target: str, calls: list[str]) -> None:
    """Let a function, named by its path, take BURNT seconds more."""
    module, _, name = target.partition(":")
    owner = import_module(module)
    *outer, last = name.split(".")
    for part in outer:
        owner = getattr(owner, part)
    original = getattr(owner, last)

    def slower(*args, **options):
        calls.append(name)
        end = process_time() + BURNT
        while process_time() < end:
            pass
        return original(*args, **options)

    monkeypatch.setattr(owner, last, slower)


@pytest.mark.parametrize(
    ("engine", "controls"),
    [
        ("mujoco", ["vigym.benchmarks.peers.mujoco:rotate"]),
        (
            "pybullet",
            ["vigym.benchmarks.peers.bullet_runner:rotate", "vigym.benchmarks.peers.bullet_handle:Handle.apply"],
        ),
    ],
)
def test_what_acts_is_worked_out_off_the_clock(engine, controls, monkeypatch):
    pytest.importorskip(engine)
    runner, calls = twisted(engine), []
    for target in controls:
        slow(monkeypatch, target, calls)
    watch = runner.time()
    assert len(calls) == STEPS * len(controls)
    assert 0 < watch.cpu < BURNT


def test_timed_torques_are_those_that_are_looked_at():
    """MuJoCo's rollout ends where steps one by one end, in every environment, with the torques of that environment."""
    pytest.importorskip("mujoco")
    from vigym.benchmarks.peers.mujoco import Mujoco

    scene = twisted("mujoco").scene
    engine = Mujoco(scene, 0.002, STEPS, num_envs=2)
    engine.time()
    x = engine.written[:, -1, 1 : 1 + engine.model.nq]  # after the time
    engine.reset()
    for k in range(STEPS):
        engine.step(k)
    np.testing.assert_array_equal(x[0], engine.data.qpos)
    assert np.abs(x[1] - x[0]).max() > 1e-4
    plain = Mujoco(replace(scene, torques=None), 0.002, STEPS)
    plain.time()
    # both bodies turn about the foot by up to t^2 torque / (2 J) = 0.0002 s^2 0.7 N m / 0.004 kg m^2 = 0.04 rad
    assert np.abs(plain.written[0, -1, 4:8] - x[0, 3:7]).max() > 1e-3
