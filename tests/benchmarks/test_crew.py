"""Workers: rows of every engine; what crashes, hangs, diverges or is refused is a row too."""

from importlib.util import find_spec

import pytest

from vigym.benchmarks.crew import run_all
from vigym.benchmarks.rows import Job, Row
from vigym.benchmarks.worker import run

DISC = {"contacts": 4}


def rows_of(jobs: list[Job]) -> list[Row]:
    return [row for _, rows in run_all(jobs) for row in rows]


def test_a_row_for_every_engine():
    jobs = [
        Job("disc", "vigym", "disc", DISC, repeats=1),
        Job("disc", "mujoco", "disc", DISC, repeats=1),
        Job("disc", "pybullet", "disc", DISC, "rigid", {"maximal": True}, repeats=1),
    ]
    rows = rows_of(jobs)
    assert [row.engine for row in rows] == ["vigym", "mujoco", "pybullet"]
    for row in rows:
        if find_spec(row.engine) is None:
            assert row.status == "missing"
            continue
        assert row.status == "ok", row.note
        assert row.size == 4
        assert row.microseconds is not None
        assert row.failures == 0
        # v^2 / (2 friction g) = 0.2548 m, to first order in h: half a step at 1 m/s
        assert row.travel == pytest.approx(0.2548, abs=0.006)
        assert row.penetration < (1e-9 if row.engine == "vigym" else 0.01)
        assert (row.iterations is None) == (row.engine == "pybullet")


def test_a_crash_or_a_hang_is_one_row():
    jobs = [
        Job("disc", "vigym", "no such scene"),
        Job("disc", "vigym", "disc", DISC, repeats=1),
        Job("disc", "vigym", "disc", {"contacts": 5}, repeats=1, timeout=0.0),
        Job("disc", "vigym", "disc", {"contacts": 6}, repeats=1),
        Job("disc", "vigym", "disc", {"contacts": 6, "drop": 0.01}, repeats=1),
        Job("loops", "vigym", "loops", {"cells": 2}, repeats=1, steps=3),
    ]
    rows = rows_of(jobs)
    assert [row.status for row in rows] == ["crashed", "ok", "timeout", "timeout", "ok", "ok"]
    assert "no such scene" in rows[0].note
    assert "smaller" in rows[3].note


def test_a_peer_that_diverges_is_a_row():
    """A chain that swings at steps of a tenth of a second: too long for explicit forces."""
    pytest.importorskip("mujoco")
    (row,) = run(Job("free-chain", "mujoco", "free-chain", {"links": 10, "dt": 0.1}, repeats=1))
    assert row.status == "diverged"
    assert row.note
    assert row.microseconds is None


def test_what_an_engine_refuses_is_a_row():
    pytest.importorskip("pybullet")
    (row,) = run(Job("hopper", "pybullet", "hopper", {}, "rigid", {"maximal": True}))
    assert row.status == "refused"
    assert "prismatic" in row.note


def test_a_batch_in_mujoco():
    pytest.importorskip("mujoco")
    for threads in (1, 2):
        job = Job("batch", "mujoco", "a1", {"gait": "trot", "dt": 0.005}, num_envs=3, threads=threads, steps=5)
        (row,) = run(job)
        assert row.status == "ok"
        assert row.timing == "mujoco.rollout"
        assert row.steps_per_second == pytest.approx(1e6 / row.microseconds)
        assert (row.gain is None) == (threads == 1)  # in turns with one thread


def test_accuracy_against_own_fine_steps():
    parameters = {"gait": "trot", "seconds": 0.1, "dts": [0.005, 0.01]}
    fine, small, large = run(Job("a1", "vigym", "a1", parameters, kind="accuracy"))
    assert (fine.foot_error, fine.travel_error) == (0.0, 0.0)
    assert 0 < small.foot_error < large.foot_error < 0.02
    assert small.steps == 20


def test_steps_tried_again_are_counted():
    """The top spins at 120 rad/s: 0.6 rad in a step of 5 ms, 2.4 rad in one of 20 ms; a step may turn by 1.45."""
    again = [run(Job("top", "vigym", "top", {"dt": dt}, repeats=1, steps=10))[0] for dt in (0.005, 0.02)]
    assert [(row.status, row.failures, row.retried) for row in again] == [("ok", 0, 0), ("ok", 0, 10)]


def test_overhead():
    (row,) = run(Job("startup", "vigym", "overhead", kind="overhead", repeats=1))
    assert row.status == "ok"
    assert row.microseconds is not None
