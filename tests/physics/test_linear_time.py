"""The work of a step against the number of links, contacts and loops: linear.

Operations are counted by running the kernels on numbers that count (benchmarks/flops.py), which takes no quiet machine.
Problems differ in the number of Newton iterations that they need, which is not what is looked at here: operations and
times are divided by them.

Times are judged with `-m timing`: the best of several runs counts. Iterations are counted in a first pass of single
steps; the same steps are then timed in one call, from the same saved state.
"""

from time import perf_counter

import numpy as np
import pytest
from scenes import chain, check

from vigym import Simulator
from vigym.benchmarks.flops import Counted
from vigym.benchmarks.scenes import build
from vigym.engine.kernels import interior_point

ENVIRONMENTS = 4  # one group of SIMD lanes


def operations(scene: str, **size: int) -> int:
    """Floating-point operations of one Newton iteration, in motion, of one environment."""
    built = build(scene, **size)
    sim = Simulator(built.mechanism, built.dt, ENVIRONMENTS, compiled=False)
    sim.set_state(*built.starts(ENVIRONMENTS))
    sim.step()
    for store in (sim._lanes.store, *sim._lanes.scratch):
        for name in store.fields:
            setattr(store, name, getattr(store, name).view(Counted))
    group = sim._lanes.constants[0], sim._lanes.store[0], sim._lanes.scratch[0][0]
    Counted.start()
    interior_point.residual(*group)
    interior_point.newton_step(*group)
    return Counted.operations


@pytest.mark.parametrize(
    ("scene", "size", "n"), [("free-chain", "links", 10), ("disc", "contacts", 10), ("loops", "cells", 5)]
)
def test_operations_are_linear(scene, size, n):
    """f(n) = a + b n: from n to 2n grows by half of what 2n to 4n does; a quadratic one would by a quarter.

    To 0.5 %: what a symmetric mechanism computes twice is counted once, and ends of chains are not like their middles.
    """
    small, middle, large = (operations(scene, **{size: factor * n}) for factor in (1, 2, 4))
    assert (large - middle) / (middle - small) == pytest.approx(2.0, rel=5e-3)


def test_iterations_do_not_grow_with_the_contacts_of_a_body():
    """A disc that slides and rests needs as few with 200 contacts as with 20."""
    few, many = (iterations(contacts) for contacts in (20, 200))
    assert many <= few + 5


def iterations(contacts: int, steps: int = 100) -> int:
    """Newton iterations of a disc that slides for half of these steps, then rests."""
    built = build("disc", contacts=contacts)
    sim = Simulator(built.mechanism, built.dt)
    sim.set_state(*built.start)
    counted = 0
    for _ in range(steps):
        sim.step()
        check(sim)
        counted += int(sim.status.iterations[0])
    return counted


# -------------------- times


def swinging_chain(n: int) -> Simulator:
    sim = Simulator(chain(n, "revolute", length=0.1), dt=0.002, num_envs=ENVIRONMENTS)
    sim.set_joint_state(np.random.default_rng(n).normal(scale=0.05, size=(ENVIRONMENTS, n)))
    return sim


def turning_disc(n: int) -> Simulator:
    sim = Simulator(build("disc", contacts=n).mechanism, dt=0.002, num_envs=ENVIRONMENTS)
    sim.set_state(w=np.broadcast_to([0.0, 0.0, 10.0], (ENVIRONMENTS, 1, 3)))
    return sim


def count(sim: Simulator, steps: int) -> int:
    """Newton iterations of that many steps, of the lanes together (they wait for the slowest)."""
    iterations = 0
    for _ in range(steps):
        sim.step()
        check(sim)
        iterations += sim.status.iterations.max()
    return iterations


def exponent(build, sizes: list[int], repeats: int) -> float:
    """Slope of log(best time of a Newton iteration) over log(size)."""
    sims = [build(n) for n in sizes]
    # a few ms each: short enough to find a moment without interruption, too long for cold memory to matter
    steps = [max(10, 2000 // n) for n in sizes]
    starts = [sim.save() for sim in sims]
    iterations = [count(sim, k) for sim, k in zip(sims, steps, strict=True)]
    ends = [sim.state for sim in sims]
    best = np.full(len(sizes), np.inf)
    for _ in range(repeats):  # in turn, so that all sizes see the same quiet and the same busy times
        for i, sim in enumerate(sims):
            sim.restore(starts[i])
            begin = perf_counter()
            sim.step(repeat=steps[i])
            best[i] = min(best[i], perf_counter() - begin)
    for sim, end in zip(sims, ends, strict=True):  # the same work was timed
        assert all(np.array_equal(a, b) for a, b in zip(sim.state, end, strict=True))
    return np.polyfit(np.log(sizes), np.log(best / iterations), 1)[0]


@pytest.mark.timing
@pytest.mark.parametrize("scene", [swinging_chain, turning_disc], ids=["links", "contacts"])
def test_time_is_linear_up_to_500(scene):
    # quadratic is 2, a dense factorisation 3
    assert 0.8 < exponent(scene, [20, 50, 100, 200, 350, 500], repeats=200) < 1.05
