"""Threads that share a step: all of it is done, once, interrupts come through, and only then."""

import os
import threading
import time

import numpy as np
import pytest
from scenes import pendulum

from vigym import Mechanism, Simulator
from vigym.engine import workers

ENVS = 50  # 13 lane groups, the last one half empty


def swinging(num_threads: int, num_envs: int = ENVS) -> Simulator:
    """Pendulums that start at angles of their own."""
    sim = Simulator(pendulum(), num_envs=num_envs, num_threads=num_threads)
    sim.set_joint_state(np.linspace(-1, 1, num_envs)[:, None])
    return sim


@pytest.fixture(scope="module")
def expected() -> list[np.ndarray]:
    """Positions after 0, 1, 2, ... steps, from a single thread."""
    sim, seen = swinging(1), []
    for _ in range(40):
        seen.append(sim.joint_positions())
        sim.step()
    assert np.abs(seen[39] - seen[0]).min() > 1e-3
    return seen


@pytest.mark.parametrize("threads", [2, 3, 8, 13, 40])
def test_every_environment_is_stepped_once(threads, expected):
    sim = swinging(threads)
    for k in range(1, 40):
        sim.step()
        np.testing.assert_array_equal(sim.joint_positions(), expected[k])


@pytest.mark.parametrize("threads", [2, 3, 13, 40])
def test_repeated_steps(threads, expected):
    sim = swinging(threads)
    for repeat, k in ((7, 7), (2, 9), (8, 17), (17, 34), (1, 35)):
        sim.step(repeat=repeat)
        np.testing.assert_array_equal(sim.joint_positions(), expected[k])


def test_a_call_in_pieces_counts_as_one():
    # bodies spin up until no substep can describe it: most environments stop within the call, at different steps
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("top", mass=1.0, inertia=(1.0, 1.0, 1.0))
    torque = np.zeros((ENVS, 1, 3))
    torque[:, 0, 2] = np.linspace(0, 2e5, ENVS)
    sims = [Simulator(m, num_envs=ENVS, num_threads=threads) for threads in (1, 3)]
    for sim in sims:
        sim.step(torque=torque, repeat=30)
    one, three = (sim.status for sim in sims)
    assert 5 < one.converged.sum() < ENVS - 5
    assert len(set(one.iterations)) > 10
    for name, expected, got in zip(one._fields, one, three, strict=True):
        np.testing.assert_array_equal(got, expected, err_msg=name)
    for name, expected, got in zip("xqvw", sims[0].state, sims[1].state, strict=True):
        np.testing.assert_array_equal(got, expected, err_msg=name)


def test_threads_that_sleep_are_woken(expected):
    sim = swinging(3)
    for k, pause in enumerate([0.0, 1e-4, 1e-3, 1e-2, 5e-2] * 4):
        time.sleep(pause)
        sim.step()
        np.testing.assert_array_equal(sim.joint_positions(), expected[k + 1])


def test_an_interrupt_waits_for_the_others(expected, monkeypatch):
    # they have not answered yet; the step is whole when the interrupt arrives
    sim = swinging(2)
    sim.step()
    crew = len(workers._idle)

    lead = workers.lead

    def interrupted(*arguments):
        lead(*arguments[:-1], 0)  # no look
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(workers, "lead", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sim.step()
    np.testing.assert_array_equal(sim.joint_positions(), expected[2])
    assert len(workers._idle) == crew
    sim.step()
    np.testing.assert_array_equal(sim.joint_positions(), expected[3])


@pytest.mark.parametrize("fresh", [False, True], ids=["later", "first step"])
def test_interrupts_at_any_point(expected, monkeypatch, fresh):
    # before anything was shared, and again while the others are waited for
    sim = swinging(2)
    if not fresh:
        sim.step()
    crew = len(workers._idle)

    def interrupted(*_):
        raise KeyboardInterrupt

    looks = iter([interrupted, interrupted, workers.is_done])
    with monkeypatch.context() as patch:
        patch.setattr(workers, "lead", interrupted)
        patch.setattr(workers, "is_done", lambda *arguments: next(looks)(*arguments))
        with pytest.raises(KeyboardInterrupt):
            sim.step()
    assert len(workers._idle) >= crew
    np.testing.assert_array_equal(sim.joint_positions(), expected[0 if fresh else 1])
    sim.step()
    np.testing.assert_array_equal(sim.joint_positions(), expected[1 if fresh else 2])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # that a process with threads is forked
def test_a_forked_process_has_threads_of_its_own(expected):
    sim = swinging(3)
    sim.step()
    child = os.fork()
    if not child:
        try:
            sim.step()
            os._exit(0 if (sim.joint_positions() == expected[2]).all() else 1)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    sim.step()
    np.testing.assert_array_equal(sim.joint_positions(), expected[2])


def test_simulators_of_many_threads(expected):
    ends = {}

    def caller(who):
        sim = swinging(3)
        for _ in range(39):
            sim.step()
        ends[who] = sim.joint_positions()

    threads = [threading.Thread(target=caller, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == [0, 1, 2, 3]
    for end in ends.values():
        np.testing.assert_array_equal(end, expected[39])


def test_threads_are_kept_and_used_again():
    sims = [swinging(3) for _ in range(5)]
    for sim in sims:
        sim.step()
    before = threading.active_count()
    for _ in range(20):
        for sim in sims:
            sim.step()
    assert threading.active_count() == before
