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
from vigym.benchmarks.flops import flops_per_iteration
from vigym.benchmarks.runner import Vigym
from vigym.benchmarks.scenes import build

ENVIRONMENTS = 4  # one group of SIMD lanes


@pytest.mark.parametrize(("scene", "size"), [("free-chain", "links"), ("disc", "contacts"), ("loops", "cells")])
def test_operations_are_linear(scene, size):
    """f(n) = a + b n: from n to 2n grows by half of what 2n to 4n does; a quadratic one would by a quarter.

    To 2 %: the operations of the first guess are shared by few iterations, and what a step skips is not the same.
    """
    flops = []
    for n in (4, 8, 16):
        built = build(scene, **{size: n})
        engine = Vigym(built, built.dt, 1, num_envs=ENVIRONMENTS)
        engine.reset()
        flops.append(flops_per_iteration(engine, engine.sim.save(), 0))
    first, second = np.diff(flops)
    assert second / first == pytest.approx(2.0, rel=0.02)
    assert flops[0] < first + 0.2 * flops[0]  # and little is there that does not grow


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
