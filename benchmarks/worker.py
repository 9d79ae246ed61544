"""The process that measures: one job a line on standard input (JSON), its rows on standard output.

Engines run here and not in the benchmark itself, so that one that crashes or hangs takes nothing else along.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from importlib import import_module
from statistics import harmonic_mean
from threading import Barrier
from time import perf_counter, process_time
from typing import Any

import numpy as np

from vigym.benchmarks.measures import Measures
from vigym.benchmarks.rows import ACCURACY, Job, Row
from vigym.benchmarks.runner import Runner, Stopwatch, at_once
from vigym.benchmarks.scenes import Scene, build

# Loaded when they are asked for: peers are optional.
RUNNERS = {
    "vigym": "vigym.benchmarks.runner:Vigym",
    "mujoco": "vigym.benchmarks.peers.mujoco:Mujoco",
    "pybullet": "vigym.benchmarks.peers.bullet_runner:Bullet",
}
ABSURD = 0.5  # m: joints that are open, or contacts that are deeper than this, mean that a simulation has diverged
FASTEST = 1e3  # m/s, and the same of any body
LOOKS = 2000  # poses that are looked at in a run, at most
FINE = 0.00025  # s, time step of the reference that a trot is compared with
EVERY = 0.02  # s between the points of time at which they are compared
CROWDED = 1.5  # times one thread: less than what simulations that share nothing gain on cores that nobody else uses
FEW = 16  # environments, below which they do not gain that much: they would fill lanes together


def runner(job: Job, scene: Scene, dt: float, steps: int) -> Runner:
    """The job's engine with this scene."""
    module, name = RUNNERS[job.engine].split(":")
    return getattr(import_module(module), name)(
        scene, dt, steps, num_envs=job.num_envs, threads=job.threads, **job.options
    )


def empty_row(job: Job, **values: Any) -> Row:
    """The row of a job before anything is known."""
    known: dict[str, Any] = {"drop": job.parameters.get("drop"), "dt": job.parameters.get("dt")}
    row = Row(job.suite, job.scene, job.engine, job.mode, job.size, num_envs=job.num_envs, threads=job.threads, **known)
    for name, value in values.items():
        setattr(row, name, value)
    return row


def run(job: Job) -> list[Row]:
    """Measure; never raises on what an engine refuses or what is not installed."""
    try:
        return {"speed": speed, "accuracy": accuracy, "overhead": overhead}[job.kind](job)
    except ModuleNotFoundError as error:
        return [empty_row(job, status="missing", note=str(error))]
    except ValueError as error:
        return [empty_row(job, status="refused", note=str(error))]


def observe(engine: Runner, row: Row) -> None:
    """One pass that looks at the first environment after each step (or every so many), untimed."""
    scene, measures = engine.scene, Measures(engine.scene.mechanism)
    every = max(1, engine.steps // LOOKS)
    engine.reset()
    passive = scene.targets is None and scene.torques is None
    iterations, gap, energies = [], np.inf, [engine.energy()] if passive else []
    row.failures = row.retried = row.relaxed = row.cut = 0
    first = last = middle = scene.start.x
    row.separation = 0.0 if engine.poses() is not None else None
    for k in range(engine.steps):
        engine.step(k)
        iterations.append(engine.iterations())
        row.failures += engine.failures()
        row.retried += engine.retried()
        row.relaxed += engine.relaxed()
        row.cut += engine.cut()
        if (k + 1) % every:
            continue
        told = engine.gap()
        gap = min(gap, np.inf if told is None else told)
        poses = engine.poses()
        if poses is not None:
            last = poses[0]
            gap = min(gap, measures.gaps(*poses).min(initial=np.inf), measures.distances(*poses).min(initial=np.inf))
            middle = last if 2 * (k + 1) <= engine.steps else middle
            row.separation = max(row.separation or 0.0, measures.separation(*poses))
            if not np.isfinite(last).all() or np.abs(last).max() > FASTEST * engine.dt * engine.steps + 1e4:
                row.status, row.note = "diverged", f"at step {k + 1}"
                break
        if passive:
            energies.append(engine.energy())
    row.penetration = max(0.0, -gap) if np.isfinite(gap) else None
    if scene.rests and row.separation is not None:
        row.creep = float(np.linalg.norm(last - middle, axis=-1).max() / (0.5 * engine.steps * engine.dt))
    row.iterations = None if iterations[0] is None else float(np.mean([i or 0.0 for i in iterations]))
    row.travel = None if row.separation is None else float(np.hypot(*(last[0] - first[0])[:2]))
    if passive and None not in energies:
        known = np.array(energies, float)
        row.gained = float((known - np.minimum.accumulate(known)).max()) / weight(scene) if weight(scene) else None
    if scene.conserves and None not in energies:
        row.energy_error = float(np.abs(np.array(energies, float) - energies[0]).max() / available(scene))
    if max(row.penetration or 0.0, row.separation or 0.0) > ABSURD and row.status == "ok":
        row.status, row.note = "diverged", "joints open or bodies deep in the ground"
    # vigym tells of a failed step and goes on from where it was; others are where they should not be
    if row.failures and row.engine != "vigym":
        row.status, row.note = "diverged", row.note or f"{row.failures} warnings of bad accelerations"


def weight(scene: Scene) -> float:
    """Weight of all bodies, N."""
    return sum(body.mass for body in scene.mechanism.bodies) * float(np.linalg.norm(scene.mechanism.gravity))


def available(scene: Scene) -> float:
    """Energy that the scene's start has above hanging straight down, J: weight times half the length."""
    return weight(scene) * float(np.abs(scene.start.x[:, 0]).mean())


def speed(job: Job) -> list[Row]:
    """Return what a step takes and costs."""
    scene = build(job.scene, **job.parameters)
    steps = job.steps or scene.steps
    engine = runner(job, scene, scene.dt, steps)
    row = empty_row(job, scene=scene.name, dt=scene.dt, size=scene.size, steps=steps, timing=engine.timing)
    observe(engine, row)
    if row.status == "ok":
        clock(engine, row, job, Yardstick(job, scene, steps) if job.threads > 1 else None)
    return [row]


class Yardstick:
    """Yardstick of several threads: one thread, and as many simulations that share nothing.

    Cores of a virtual machine are not alike, and change with what others do there: one thread has a turn on each core,
    and simulations that share nothing show what all of them give at once.
    """

    def __init__(self, job: Job, scene: Scene, steps: int) -> None:
        single = replace(job, threads=1)
        share = replace(single, num_envs=job.num_envs // job.threads)
        self.alone = runner(single, scene, scene.dt, steps)
        self.shares = [runner(share, scene, scene.dt, steps) for _ in range(job.threads)]
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self.cores = [cores[k % len(cores)] if cores else None for k in range(job.threads)]

    def one_thread(self) -> float:
        """Wall time of one thread, harmonic mean of all cores."""
        return harmonic_mean([pinned(self.alone, core) for core in self.cores])

    def apart(self) -> float:
        """Wall time of simulations with a share of the environments each, side by side on a core each: harmonic mean,
        as of threads that take over what others have left."""
        # all start together: one that gets ready would keep Python from another that is done
        together = Barrier(len(self.shares), timeout=60.0)

        def share(engine: Runner, core: int | None) -> float:
            return pinned(engine, core, together.wait)

        with ThreadPoolExecutor(len(self.shares)) as pool:
            return harmonic_mean(pool.map(share, self.shares, self.cores))


def pinned(engine: Runner, core: int | None, ready: Callable[[], object] = at_once) -> float:
    """Wall time of a pass on one core, if that can be chosen."""
    allowed = None if core is None else os.sched_getaffinity(0)
    try:
        if core is not None:
            os.sched_setaffinity(0, {core})
        return engine.time(ready).wall
    finally:
        if allowed is not None:
            os.sched_setaffinity(0, allowed)


def clock(engine: Runner, row: Row, job: Job, yardstick: Yardstick | None = None) -> None:
    """The fastest of several passes; if there is a yardstick, in turns with it, and the median of what a turn shows.

    What disturbs a virtual machine lasts longer than a turn: ratios within one are hardly touched by it. The ratio of
    the fastest passes would be: two cores are left alone together less often than either of them. While the machine
    has no second core to give (simulations that share nothing gain less than CROWDED), it takes its time.
    """
    count = engine.steps * engine.num_envs
    passes: list[Stopwatch] = []
    gains: list[tuple[float, float]] = []
    began = perf_counter()

    def enough() -> bool:
        spent = perf_counter() - began
        disturbed = bool(gains) and job.num_envs >= FEW and float(np.median(gains, axis=0)[1]) < CROWDED
        return spent > job.budget or (len(passes) >= job.repeats and spent > job.least and not disturbed)

    while not passes or not enough():
        passes.append(engine.time())
        if yardstick is not None:
            one, apart = yardstick.one_thread(), yardstick.apart()
            gains.append((one / passes[-1].wall, one / apart))
    row.wall = 1e6 * min(watch.wall for watch in passes) / count
    if gains:
        row.gain, row.apart = (float(ratio) for ratio in np.median(gains, axis=0))
    cpu = 1e6 * min(watch.cpu for watch in passes) / count
    row.microseconds = cpu if engine.threads == 1 else row.wall
    row.steps_per_second = 1e6 / row.microseconds


def accuracy(job: Job) -> list[Row]:
    """Feet and travel of the first environment at several steps `dts`, against the same engine at FINE steps.

    foot_error: largest difference of any foot's height, at times a multiple of EVERY apart, m; travel_error: difference
    of the way that the trunk has made, relative to that way.
    """
    parameters = dict(job.parameters)
    dts = parameters.pop("dts")
    reference: tuple[np.ndarray, float] | None = None
    rows = []
    for dt in [FINE, *dts]:
        scene = build(job.scene, **parameters, dt=dt)
        engine = runner(job, scene, dt, scene.steps)
        measures = Measures(scene.mechanism)
        engine.reset()
        heights, failures, retried, every = [], 0, 0, round(EVERY / dt)
        for k in range(scene.steps):
            engine.step(k)
            failures += engine.failures()
            retried += engine.retried()
            if (k + 1) % every == 0:
                poses = engine.poses()
                assert poses is not None
                heights.append(measures.gaps(*poses))
        poses = engine.poses()
        assert poses is not None
        travel = float(np.hypot(*(poses[0][0] - scene.start.x[0])[:2]))
        if reference is None:
            reference = np.array(heights), travel
        row = empty_row(job, scene=scene.name, dt=dt, steps=scene.steps, travel=travel)
        row.failures, row.retried, row.timing = failures, retried, ACCURACY
        row.foot_error = float(np.abs(np.array(heights) - reference[0]).max())
        row.travel_error = abs(travel - reference[1]) / reference[1]
        if not np.isfinite(row.foot_error + row.travel_error) or row.foot_error > ABSURD:
            row.status, row.foot_error, row.travel_error = "diverged", None, None
        rows.append(row)
    return rows


def overhead(job: Job) -> list[Row]:
    """Python's share of `sim.step()` on a single body that falls: a call of one step, less a step inside a call."""
    from vigym import Mechanism, MechanismWarning, Simulator

    m, calls = Mechanism(), 2000
    m.add_body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)  # it is meant to fall
        sim = Simulator(m, dt=1e-6)
    sim.step()
    single, inside = [], []
    for _ in range(max(5, job.repeats)):
        began = process_time()
        for _ in range(calls):
            sim.step()
        single.append(process_time() - began)
        began = process_time()
        sim.step(repeat=calls)
        inside.append(process_time() - began)
    extra = 1e6 * (min(single) - min(inside)) / calls
    return [empty_row(job, microseconds=extra, steps=calls, dt=1e-6, timing="sim.step() less the step itself")]


def main() -> None:
    """Answer jobs until there are no more. What engines print goes to standard error, away from the answers."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        rows = run(Job(**json.loads(line)))
        answers.write(json.dumps([asdict(row) for row in rows]) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
