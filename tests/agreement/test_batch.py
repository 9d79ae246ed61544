"""One environment does the same, bit for bit, whatever runs beside it.

A walking robot with contacts, limits and drives, dropped in 64 different ways and moved by random efforts, so that
neighbours need different numbers of iterations.
"""

import functools
import sys
import threading
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenes import KINDS, chain

from vigym import Simulator
from vigym.assets import unitree_a1
from vigym.assets.unitree_a1 import STANDING

ENVS, STEPS = 64, 12
MECHANISM = unitree_a1.build()


class Run(NamedTuple):
    """All that can be read after the last step, one row an environment."""

    x: np.ndarray
    q: np.ndarray
    v: np.ndarray
    w: np.ndarray
    angles: np.ndarray
    converged: np.ndarray
    iterations: np.ndarray
    residual: np.ndarray
    substeps: np.ndarray
    relaxed: np.ndarray
    forces: np.ndarray


class Inputs(NamedTuple):
    """Start (64, ...), and what acts in every step (12, 64, ...)."""

    state: tuple[np.ndarray, ...]
    effort: np.ndarray
    force: np.ndarray


@functools.cache
def random_inputs() -> Inputs:
    rng = np.random.default_rng(11)
    sim = Simulator(MECHANISM, num_envs=ENVS)
    n, a = len(MECHANISM.bodies), len(STANDING)
    sim.set_state(x=sim.state.x + np.array([0.0, 0.0, 1.0]))
    sim.set_joint_state(STANDING + 0.3 * rng.uniform(-1, 1, (ENVS, a)), rng.normal(size=(ENVS, a)))
    x, q, v, w = (part.copy() for part in sim.state)
    height = 0.05 * rng.random(ENVS) * (rng.random(ENVS) < 0.7)  # some of them already touch the ground
    x[..., 2] -= (sim.contact_gaps().min(-1) - height)[:, None]
    v += 0.5 * rng.normal(size=(ENVS, 1, 3)) - np.array([0.0, 0.0, 0.8])
    force = np.zeros((STEPS, ENVS, n, 3))
    force[..., 0, :] = 30 * rng.normal(size=(STEPS, ENVS, 3))
    return Inputs((x, q, v, w), 10 * rng.normal(size=(STEPS, ENVS, a)), force)


def simulate(envs, inputs: Inputs | None = None, threads: int = 1) -> Run:
    """Those environments, side by side in this order."""
    envs, inputs = np.asarray(envs), inputs or random_inputs()
    sim = Simulator(MECHANISM, num_envs=len(envs), num_threads=threads)
    sim.set_state(*(part[envs] for part in inputs.state))
    for effort, force in zip(inputs.effort, inputs.force, strict=True):
        sim.step(effort[envs], force[envs], target=STANDING)
    return Run(*sim.state, sim.joint_positions(), *sim.status, sim.contact_forces())


@functools.cache
def all_together() -> Run:
    """All of them at once."""
    return simulate(np.arange(ENVS))


@pytest.fixture
def together() -> Run:
    return all_together()


def assert_rows_equal(some: Run, envs, all_of_them: Run) -> None:
    for name, got, expected in zip(Run._fields, some, all_of_them, strict=True):
        np.testing.assert_array_equal(got, expected[envs], err_msg=name)


def test_environments_need_different_iterations(together):
    """Otherwise the tests below would not look at lanes that wait for others."""
    assert together.converged.all()
    assert len(set(together.iterations)) >= 4
    assert len(np.unique(together.x[:, 0, 0])) == ENVS
    touching = np.abs(together.forces).max((1, 2)) > 1.0
    assert touching.mean() > 0.5


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
def test_any_batch_size_and_position(together, size):
    """In blocks of `size`: every environment is once at every place of a lane group."""
    for first in range(0, 3 * size, size):
        envs = np.arange(first, first + size)
        assert_rows_equal(simulate(envs), envs, together)


@settings(max_examples=15)
@given(envs=st.lists(st.integers(0, ENVS - 1), min_size=1, max_size=ENVS), threads=st.integers(1, 3))
def test_any_neighbours(envs, threads):
    """Any environments in any order, some of them more than once, on any number of threads."""
    assert_rows_equal(simulate(envs, threads=threads), envs, all_together())


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("size", [3, 13, ENVS])
def test_any_number_of_threads(together, threads, size):
    envs = np.arange(size)
    assert_rows_equal(simulate(envs, threads=threads), envs, together)


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
def test_lanes_that_are_stuck_beside_calm_ones(cone):
    """Odd environments get targets that jump: their pairs are lifted off the boundary, those beside them are not."""
    odd = np.arange(8) % 2 == 1
    jumps = 1.2 * np.random.default_rng(3).normal(size=(STEPS, 8, len(STANDING))) * odd[:, None]

    def run(envs) -> tuple[np.ndarray, ...]:
        sim = Simulator(MECHANISM, num_envs=len(envs), cone=cone)
        sim.set_joint_state(STANDING)
        for jump in jumps:
            sim.step(target=STANDING + jump[envs])
        return *sim.state, *sim.status, sim._get("floor"), sim._get("ca")

    together = run(np.arange(8))
    floors = together[-2]
    assert floors[odd].min() > 0.1
    assert floors[~odd].max() < 0.01
    for env in range(8):
        for alone, expected in zip(run([env]), together, strict=True):
            np.testing.assert_array_equal(alone[0], expected[env])


@pytest.mark.parametrize("threads", [1, 2])
def test_repeat_is_many_calls(threads):
    sims = [Simulator(MECHANISM, num_envs=6, num_threads=threads) for _ in range(2)]
    for sim in sims:
        sim.set_state(*(part[:6] for part in random_inputs().state))
    controls = {
        "effort": random_inputs().effort[0, :6],
        "force": random_inputs().force[0, :6],
        "target": np.tile(STANDING, (6, 1)),
    }
    sims[0].step(**controls, repeat=20)
    for _ in range(20):
        sims[1].step(**controls)
    for sim in sims:  # the status is that of a call: make the last one the same
        sim.step(**controls)
    assert sims[0].save() == sims[1].save()
    assert np.abs(sims[0].state.x - random_inputs().state[0][:6]).max() > 0.01


def test_every_kind_of_joint():
    """A chain with all kinds, springs, dampers, drives, limits, dry friction and a contact: alone as among others."""

    def laws(kind, n_free):
        passive = {"stiffness": 2.0, "damping": 0.1, "friction": 0.2, "lower": -0.4, "upper": 0.4}
        return {**passive, "kp": 20.0, "kd": 1.0, "target": 1.0, "effort_limit": 5.0} if n_free else {}

    m = chain(len(KINDS), KINDS, options=laws)
    m.add_contact("tip", f"link {len(KINDS) - 1}", (0.15, 0, 0), offset=-1.0)
    rng = np.random.default_rng(3)
    axes = Simulator(m).joint_positions().shape[1]
    positions, rates = rng.uniform(-0.2, 0.2, (7, axes)), rng.normal(size=(7, axes))
    effort = 3 * rng.normal(size=(10, 7, axes))

    def run(envs):
        sim = Simulator(m, num_envs=len(envs))
        sim.set_joint_state(positions[envs], rates[envs])
        for controls in effort:
            sim.step(controls[envs])
        return *sim.state, *sim.status, sim.joint_positions()

    together = run(np.arange(7))
    assert len(set(together[5])) > 1  # iterations
    for env in range(7):
        for some, all_of_them in zip(run(np.array([env])), together, strict=True):
            np.testing.assert_array_equal(some[0], all_of_them[env])


# -------------------- one lane in trouble


def hurl(env: int, force: float) -> Inputs:
    """The same, but for a force on the trunk of one environment from the third step on."""
    strong = random_inputs().force.copy()
    strong[2:, env, 0] = force * np.array([1.0, -2.0, -3.0])
    return random_inputs()._replace(force=strong)


def spin(env: int, rate: float) -> Inputs:
    """The same, but for one leg that starts with a spin beyond what a whole step can describe (2/dt)."""
    w = random_inputs().state[3].copy()
    w[env, 3] = (0.0, rate, 0.0)
    return random_inputs()._replace(state=(*random_inputs().state[:3], w))


@pytest.mark.parametrize("env", range(4))
@pytest.mark.parametrize(
    ("trouble", "size"), [(hurl, 1e5), (hurl, 1e300), (spin, 1000.0)], ids=["violent", "hopeless", "spinning"]
)
def test_trouble_in_one_lane_stays_there(together, trouble, size, env):
    envs = np.arange(8)
    run = simulate(envs, trouble(env, size))
    calm = np.flatnonzero(envs != env)
    assert_rows_equal(Run(*(part[calm] for part in run)), calm, together)
    assert all(np.isfinite(part).all() for part in run)
    assert not np.array_equal(run.x[env], together.x[env])
    if size == 1e300:
        assert not run.converged[env]
    else:
        # trouble is the same with any neighbours, too
        assert_rows_equal(simulate([env], trouble(env, size)), [env], run)


def test_a_lane_that_is_cut_into_substeps():
    """Neighbours wait for all parts of a step of `spin`, and are not moved by them."""
    sim = Simulator(MECHANISM, num_envs=4)
    inputs = spin(2, 1000.0)
    sim.set_state(*(part[:4] for part in inputs.state))
    sim.step()
    assert sim.status.substeps[2] > 1
    np.testing.assert_array_equal(sim.status.substeps[[0, 1, 3]], 1)


def test_a_step_that_cannot_be_made_leaves_its_environment_where_it_was():
    sim = Simulator(MECHANISM, num_envs=4)
    sim.set_state(*(part[:4] for part in random_inputs().state))
    sim.step()
    before = sim.state
    force = np.zeros((4, len(MECHANISM.bodies), 3))
    force[1] = 1e300
    sim.step(force=force)
    np.testing.assert_array_equal(sim.status.converged, [True, False, True, True])
    for now, then in zip(sim.state, before, strict=True):
        np.testing.assert_array_equal(now[1], then[1])
        assert not np.array_equal(now[0], then[0])
    sim.step()  # and it goes on from there
    assert sim.status.converged.all()


# -------------------- the interpreter's lock


def test_other_threads_run_during_a_step():
    """The kernels give the interpreter's lock away: another thread gets it, although nobody takes it from them.

    A thread that waits for the lock has it taken from the one that holds it only after the switch interval, which is
    endless here. Kernels are called directly, since NumPy gives the lock away, too.
    """
    sim = Simulator(MECHANISM, num_envs=ENVS)
    sim.set_state(*random_inputs().state)
    sim.step()
    wake, ran = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (wake.wait(), ran.set()))
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        wake.set()
        for _ in range(100):  # once is enough, unless the system lets the thread wait
            sim._lanes.run(20)
            if ran.is_set():
                break
        during = ran.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert during
