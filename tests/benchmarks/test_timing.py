"""A peer's stopwatch encloses the engine's own steps, not the Python that works out what acts in them."""

import itertools
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from vigym.benchmarks.rows import Job, Row
from vigym.benchmarks.runner import Runner, Stopwatch
from vigym.benchmarks.scenes import build
from vigym.benchmarks.worker import RUNNERS, Yardstick, clock

STEPS = 10


def twisted(engine: str) -> Runner:
    """A driven hopper with a torque on its sphere in every step."""
    torque = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]])
    scene = replace(build("flip"), torques=lambda t: np.repeat(torque[None], len(t), axis=0))
    module, name = RUNNERS[engine].split(":")
    return getattr(import_module(module), name)(scene, 0.002, STEPS)


class Clock:
    """Stands in for the clocks of a stopwatch: time passes only where a test says so."""

    def __init__(self, monkeypatch) -> None:
        self.now = 0.0
        for name in ("process_time", "perf_counter"):
            monkeypatch.setattr(f"vigym.benchmarks.runner.{name}", lambda: self.now)


def slow(monkeypatch, target: str, calls: list[str], clock: Clock) -> None:
    """Let a function, named by its path, take a second."""
    module, _, name = target.partition(":")
    owner = import_module(module)
    *outer, last = name.split(".")
    for part in outer:
        owner = getattr(owner, part)
    original = getattr(owner, last)

    def slower(*args, **options):
        calls.append(name)
        clock.now += 1.0
        return original(*args, **options)

    monkeypatch.setattr(owner, last, slower)


@pytest.mark.parametrize(
    ("engine", "controls"),
    [
        ("mujoco", ["vigym.benchmarks.peers.mujoco:rotate"]),
        (
            "pybullet",
            ["vigym.benchmarks.peers.bullet_runner:rotate", "vigym.formats.pybullet.handle:Handle.apply"],
        ),
    ],
)
def test_what_acts_is_worked_out_off_the_clock(engine, controls, monkeypatch):
    pytest.importorskip(engine)
    runner, calls, clock = twisted(engine), [], Clock(monkeypatch)
    for target in controls:
        slow(monkeypatch, target, calls, clock)
    watch = runner.time()
    assert len(calls) == STEPS * len(controls)
    assert (watch.cpu, watch.wall) == (0.0, 0.0)


def test_a_stopwatch_adds_up(monkeypatch):
    clock, watch = Clock(monkeypatch), Stopwatch()
    for inside in (2.0, 3.0):
        clock.now += 10.0
        with watch:
            clock.now += inside
    assert (watch.cpu, watch.wall) == (5.0, 5.0)


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


class Made:
    """An engine of two threads, or a yardstick, that takes the times it is told."""

    steps, num_envs, threads = 10, 4, 2

    def __init__(self, *walls: float, apart: float = 0.5) -> None:
        self.walls, self.wall_apart, self.turns = iter(walls), apart, 0

    def time(self) -> Stopwatch:
        watch = Stopwatch()
        watch.wall = watch.cpu = next(self.walls)
        return watch

    def one_thread(self) -> float:
        self.turns += 1
        return next(self.walls)

    def apart(self) -> float:
        return self.wall_apart


def test_gain_is_the_median_of_turns():
    """One turn is disturbed, and so is one pass of one thread: neither decides."""
    row, job = Row("batch", "disc", "vigym", threads=2), Job("batch", "vigym", "disc", threads=2, repeats=5)
    clock(Made(0.5, 0.5, 0.9, 0.5, 0.4), row, job, Made(0.95, 1.0, 1.0, 3.0, 0.76))
    assert row.gain == pytest.approx(1.9)
    assert row.apart == pytest.approx(2.0)
    assert row.wall == pytest.approx(1e6 * 0.4 / 40)  # the fastest pass


def test_more_turns_while_there_is_no_second_core(monkeypatch):
    looks = itertools.count()  # s: at the beginning, and once a turn
    monkeypatch.setattr("vigym.benchmarks.worker.perf_counter", lambda: float(next(looks)))
    row = Row("batch", "disc", "vigym", threads=2)
    job = Job("batch", "vigym", "disc", num_envs=64, threads=2, repeats=2, least=0.0, budget=100.0)
    crowded = Made(*[1.0] * 200, apart=0.9)
    clock(Made(*[1.0] * 200), row, job, crowded)
    assert crowded.turns == 101  # as many as the budget allows
    assert (row.gain, row.apart) == (1.0, pytest.approx(1 / 0.9))
    quiet = Made(1.0, 1.0)
    clock(Made(0.5, 0.5), row, job, quiet)
    assert quiet.turns == 2


def test_yardstick():
    """One thread with all environments, simulations with a share each: all of them do the steps they are to do."""
    job, scene = Job("batch", "vigym", "disc", {"contacts": 2}, num_envs=8, threads=2), build("disc", contacts=2)
    yardstick = Yardstick(job, scene, STEPS)
    assert [engine.num_envs for engine in (yardstick.alone, *yardstick.shares)] == [8, 4, 4]
    assert {engine.threads for engine in (yardstick.alone, *yardstick.shares)} == {1}
    yardstick.one_thread()
    yardstick.apart()
    # the first environment moves in the same way in all of them
    one, share = (engine.sim.state.x[0] for engine in (yardstick.alone, yardstick.shares[0]))
    np.testing.assert_array_equal(one, share)
    assert (one != scene.start.x).any()
