"""Ctrl-C ends a long call between two steps: the simulator is where as many steps lead, to the bit."""

import copy
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scenes import chain, pendulum

from vigym import Mechanism, Simulator
from vigym.engine import parts
from vigym.engine.recording import Recording

MANY = 3_000_000  # steps: seconds in which nothing else would happen

needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")


class Stop(BaseException):
    """Exception that a signal raises here, as Ctrl-C raises KeyboardInterrupt."""


@pytest.fixture
def interrupted(monkeypatch):
    """Calls a function and interrupts it once it has made some steps of a simulator."""

    def call(sim: Simulator, work: Callable[[], Any], least: int = 1) -> int:
        def handler(*_: object) -> None:
            if sim.status.steps.max() >= least:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                raise Stop

        before = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        try:
            with pytest.raises(Stop):
                work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
        return int(sim.status.steps.max())

    return call


def swinging(num_envs: int, num_threads: int, **options) -> Simulator:
    sim = Simulator(pendulum(), num_envs=num_envs, num_threads=num_threads, **options)
    sim.set_joint_state(np.linspace(-1, 1, num_envs)[:, None])
    return sim


def assert_as_if_whole(sim: Simulator, whole: Simulator) -> None:
    assert sim.save() == whole.save()  # states, warm starts, counters
    for name in (*sim.status._fields, "steps"):
        np.testing.assert_array_equal(getattr(sim.status, name), getattr(whole.status, name), err_msg=name)
    sim.step(), whole.step()  # it is usable
    assert sim.save() == whole.save()


@needs_timer
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("num_envs", [1, 64])
def test_a_long_step(interrupted, num_envs, threads):
    sim, whole = swinging(num_envs, threads), swinging(num_envs, 1)
    effort = np.linspace(0.1, 0.5, num_envs)[:, None]
    made = interrupted(sim, lambda: sim.step(effort, repeat=MANY))
    assert 0 < made < MANY
    whole.step(effort, repeat=made)
    assert_as_if_whole(sim, whole)


@needs_timer
@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_rollout(interrupted, threads):
    steps, num_envs = 200_000, 8
    sim, whole = swinging(num_envs, threads), swinging(num_envs, 1)
    effort = np.random.default_rng(0).normal(size=(steps, num_envs, 1))
    out = {"joint_positions": np.full((steps, num_envs, 1), np.nan)}
    made = interrupted(sim, lambda: sim.rollout(effort, out=out))
    assert 0 < made < steps
    expected = whole.rollout(effort[:made], read=["joint_positions"])["joint_positions"]
    np.testing.assert_array_equal(out["joint_positions"][:made], expected)
    assert np.isnan(out["joint_positions"][made:]).all()
    assert_as_if_whole(sim, whole)


@needs_timer
def test_a_recorder_sees_the_steps_that_were_made(interrupted, tmp_path):
    sim = swinging(1, 1)
    with sim.record(tmp_path / "run.vigym"):
        made = interrupted(sim, lambda: sim.step(repeat=MANY))
        sim.step()
    recording = Recording.load(tmp_path / "run.vigym")
    np.testing.assert_allclose(recording.time, [0.0, 0.01 * made, 0.01 * (made + 1)])
    np.testing.assert_allclose(recording.x[-1], sim.state.x[0], atol=1e-5)


def test_uncompiled_steps_are_whole(monkeypatch):
    sim, whole = (swinging(2, 1, compiled=False) for _ in range(2))
    step, calls = parts_of_step(monkeypatch)
    with pytest.raises(Stop):
        sim.step(repeat=5)
    monkeypatch.setattr("vigym.engine.kernels.step.finish_substep", step)
    assert len(calls) == 4
    assert (sim.status.steps == 3).all()
    whole.step(repeat=3)
    assert_as_if_whole(sim, whole)


def parts_of_step(monkeypatch) -> tuple[Callable, list]:
    """Let the fourth substep end in an interrupt, half done."""
    from vigym.engine.kernels import step as kernel

    original, calls = kernel.finish_substep, []

    def finish(m, s, t):
        calls.append(0)
        s.x[...] = np.nan if len(calls) == 4 else s.x
        if len(calls) == 4:
            raise Stop
        original(m, s, t)

    monkeypatch.setattr(kernel, "finish_substep", finish)
    return original, calls


# -------------------- the parts of a call


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_parts_count_as_one_call(monkeypatch, threads):
    """Whatever the parts, states, warm starts and statuses are those of one call, in which many environments fail."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("top", mass=1.0, inertia=(1.0, 1.0, 1.0))
    torque = np.zeros((50, 1, 3))
    torque[:, 0, 2] = np.linspace(0, 2e5, 50)
    whole = Simulator(m, num_envs=50)
    whole.step(torque=torque, repeat=30)
    assert 5 < whole.status.converged.sum() < 45
    monkeypatch.setattr("vigym.engine.parts.FIRST", 1)
    monkeypatch.setattr("vigym.engine.parts.PART", 1e-5)  # a step a part, or two
    sim = Simulator(m, num_envs=50, num_threads=threads)
    sim.step(torque=torque, repeat=30)
    assert_as_if_whole(sim, whole)


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_of_a_rollout(monkeypatch, threads):
    force = np.random.default_rng(1).normal(size=(25, 6, 4, 3))
    whole = Simulator(chain(4, "spherical"), num_envs=6)
    expected = whole.rollout(force=force)
    monkeypatch.setattr("vigym.engine.parts.FIRST", 1)
    monkeypatch.setattr("vigym.engine.parts.PART", 1e-5)
    sim = Simulator(chain(4, "spherical"), num_envs=6, num_threads=threads)
    rolled = sim.rollout(force=force)
    for name, value in expected.items():
        np.testing.assert_array_equal(rolled[name], value, err_msg=name)
    assert_as_if_whole(sim, whole)


@pytest.mark.parametrize(("seconds", "low", "high"), [(1e-5, 450, 550), (0.01, 1, 1), (10.0, 1, 1)])
def test_parts_take_as_long_as_they_should(monkeypatch, seconds, low, high):
    """Steps of so many seconds: parts of PART seconds, once that is known, or of one step."""
    clock = [0.0]
    monkeypatch.setattr(parts, "perf_counter", lambda: clock[0])
    found = []
    for done, size in parts.parts(5000, 3):
        assert done == sum(found)
        found.append(size)
        clock[0] += size * seconds
    assert sum(found) == 5000
    assert found[0] == 3
    assert low <= max(found[1:-1]) <= high


def test_large_batches_begin_with_a_step():
    assert parts.first_part(groups=100_000, entities=17) == 1
    assert parts.first_part(groups=1, entities=0) > 100
    assert parts.first_part(groups=1, entities=1) > parts.first_part(groups=16, entities=17) > 1


def test_the_status_is_a_tuple_as_before():
    sim = swinging(3, 1)
    sim.step(repeat=4)
    converged, _, _, substeps, _ = sim.status
    assert (converged.all(), substeps.tolist()) == (True, [4, 4, 4])
    other = copy.deepcopy(sim.status)
    assert other.steps.tolist() == sim.status.steps.tolist() == [4, 4, 4]
    sim.set_joint_state([0.1], mask=[True, False, False])
    assert sim.status.steps.tolist() == [0, 4, 4]
