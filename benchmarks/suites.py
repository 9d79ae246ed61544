"""Suites of the benchmark: jobs, by suite, in full and in the quick form that is done within two minutes."""

from collections.abc import Callable, Sequence
from typing import Any

from vigym.benchmarks.rows import Job
from vigym.benchmarks.scenes.chain import GENTLE, PAPER

Mode = tuple[str, str, dict[str, Any]]  # engine, name, options of its runner
VIGYM: Mode = ("vigym", "", {})
MUJOCO: Mode = ("mujoco", "", {})
STIFF: Mode = ("mujoco", "stiff", {"stiff": True})
IMPLICIT: Mode = ("mujoco", "implicitfast", {"integrator": "implicitfast"})
IMPLICIT_STIFF: Mode = ("mujoco", "implicitfast stiff", {"integrator": "implicitfast", "stiff": True})
ELLIPTIC: Mode = ("mujoco", "implicitfast elliptic", {"integrator": "implicitfast", "elliptic": True})
ELLIPTIC_STIFF: Mode = (
    "mujoco",
    "implicitfast stiff elliptic",
    {"integrator": "implicitfast", "stiff": True, "elliptic": True},
)
EXACT_STIFF: Mode = ("mujoco", "stiff elliptic", {"stiff": True, "elliptic": True})
RK4: Mode = ("mujoco", "RK4", {"integrator": "RK4"})
REDUCED: Mode = ("pybullet", "reduced", {"maximal": False})
RIGID: Mode = ("pybullet", "rigid", {"maximal": True})

DTS = (0.001, 0.002, 0.005, 0.01)  # s
SWEEP = (0.0005, 0.001, 0.002, 0.0025, 0.004, 0.005, 0.01, 0.02)  # s; all go into EVERY of worker.py
QUICK_SWEEP = (0.001, 0.002, 0.0025, 0.005, 0.01)  # s
TROT = {"gait": "trot", "seconds": 2.0}


def jobs_of(suite: str, mode: Mode, scene: str, *cases: dict[str, Any], **options: Any) -> list[Job]:
    """One job for every set of parameters, smallest first."""
    engine, name, settings = mode
    return [Job(suite, engine, scene, parameters, name, settings, **options) for parameters in cases]


def up_to(limit: int, sizes: list[int]) -> list[int]:
    return [size for size in sizes if size <= limit]


def disc(quick: bool) -> list[Job]:
    sizes = [2, 10, 100, 1000] if quick else [2, 5, 10, 20, 50, 100, 200, 500, 1000]
    jobs = []
    for mode, limit in ((VIGYM, 1000), (MUJOCO, 100 if quick else 1000), (RIGID, 100 if quick else 1000)):
        jobs += jobs_of("disc", mode, "disc", *({"contacts": c} for c in up_to(limit, sizes)))
    return jobs


def chain(quick: bool) -> list[Job]:
    sizes = [10, 100, 1000] if quick else [2, 5, 10, 20, 50, 100, 200, 500, 1000]
    jobs = []
    for drop in (GENTLE,) if quick else (GENTLE, PAPER):
        limits = ((VIGYM, 1000), (MUJOCO, 100 if quick else 200), (REDUCED, 10 if quick else 100), (RIGID, 1000))
        for mode, limit in limits:
            limit = min(limit, 100) if quick and mode is RIGID else limit
            jobs += jobs_of("chain", mode, "chain", *({"links": n, "drop": drop} for n in up_to(limit, sizes)))
    if quick:
        for mode in (VIGYM, MUJOCO, RIGID):
            jobs += jobs_of("chain", mode, "chain", {"links": 20, "drop": PAPER})
    return jobs


def a1(quick: bool) -> list[Job]:
    gaits, jobs = ("stand", "trot"), []
    for mode in (VIGYM, MUJOCO, STIFF, REDUCED) if quick else (VIGYM, MUJOCO, STIFF, IMPLICIT, IMPLICIT_STIFF, REDUCED):
        cases = [{"gait": gait, "dt": dt} for gait in gaits for dt in ((0.001, 0.005) if quick else DTS)]
        jobs += jobs_of("a1", mode, "a1", *cases)
    every = (VIGYM, MUJOCO, STIFF, IMPLICIT, IMPLICIT_STIFF, ELLIPTIC, ELLIPTIC_STIFF, REDUCED)
    return jobs + a1_sweep(quick, (VIGYM, MUJOCO, ELLIPTIC_STIFF) if quick else every)


def a1_sweep(quick: bool, modes: Sequence[Mode]) -> list[Job]:
    """Return how large a step may be, against own fine steps; and 64 environments on one core at all the steps of
    the sweep (PyBullet has no batches)."""
    dts, steps = (QUICK_SWEEP, 50) if quick else (SWEEP, 100)
    cases = [{"gait": "trot", "dt": dt, "seconds": steps * dt} for dt in dts]
    jobs = []
    for mode in modes:
        jobs += jobs_of("a1", mode, "a1", TROT | {"dts": list(dts)}, kind="accuracy")
    for mode in modes:
        jobs += [] if mode is REDUCED else jobs_of("a1", mode, "a1", *cases, num_envs=64)
    return jobs


def hopper(quick: bool) -> list[Job]:
    # effort limits matter here, and only with this integrator does a MuJoCo drive keep its own
    dts = (0.001, 0.005) if quick else DTS
    modes = (VIGYM, IMPLICIT, REDUCED) if quick else (VIGYM, IMPLICIT, IMPLICIT_STIFF, REDUCED)
    return [job for mode in modes for job in jobs_of("hopper", mode, "hopper", *({"dt": dt} for dt in dts))]


def free_chain(quick: bool) -> list[Job]:
    cases = [{"links": 10, "dt": dt, "seconds": 2.0 if quick else 10.0} for dt in ((0.002, 0.01) if quick else DTS)]
    modes = (VIGYM, MUJOCO, RK4, REDUCED, RIGID)
    return [job for mode in modes for job in jobs_of("free-chain", mode, "free-chain", *cases)]


def loops(quick: bool) -> list[Job]:
    sizes = [2, 10] if quick else [2, 5, 10, 20, 50]
    modes = (VIGYM, MUJOCO, REDUCED) if quick else (VIGYM, MUJOCO, STIFF, REDUCED)
    return [job for mode in modes for job in jobs_of("loops", mode, "loops", *({"cells": n} for n in sizes))]


def touching(quick: bool) -> list[Job]:
    """Bodies that touch each other; MuJoCo also with the hardest contacts and exact cones."""
    jobs = []
    for mode in (VIGYM, MUJOCO, EXACT_STIFF, REDUCED):
        for scene, sizes in (("stack", [5] if quick else [5, 20]), ("heap", [9] if quick else [9, 27])):
            jobs += jobs_of("touching", mode, scene, *({"bodies": n} for n in sizes))
        jobs += jobs_of("touching", mode, "pinch", *({"dt": dt} for dt in ((0.01,) if quick else (0.002, 0.01))))
    return jobs + crowds(quick)


def crowds(quick: bool) -> list[Job]:
    """Jobs for the time of touching bodies by size, alone and in batches, and for what a robot pays to be ready."""
    jobs, batch = [], 16 if quick else 64
    for mode in (VIGYM, MUJOCO):
        jobs += jobs_of("touching", mode, "cubes", {"bodies": 9 if quick else 27})
        for num_envs in (1, batch):
            for on in ("nothing", "itself", "plane", "field"):
                jobs += jobs_of("touching", mode, "ready", {"on": on}, num_envs=num_envs)
            if not quick:
                jobs += jobs_of("touching", mode, "gripper", {}, num_envs=num_envs)
                jobs += jobs_of("touching", mode, "humanoid", {}, num_envs=num_envs)
        if not quick:
            jobs += jobs_of("touching", mode, "coil", *({"links": n} for n in (10, 30, 100, 300, 1000)))
            jobs += jobs_of("touching", mode, "stack", *({"bodies": n} for n in (2, 10, 50)))
            jobs += jobs_of("touching", mode, "stack", {"bodies": 20}, num_envs=batch)
            jobs += jobs_of("touching", mode, "heap", *({"bodies": n} for n in (50, 100)))
    return jobs


# Scene of a batch, its parameters, and the most environments that vigym and MuJoCo get of it.
BATCHES: list[tuple[str, dict[str, Any], int, int]] = [
    ("disc", {"contacts": 100}, 4096, 4096),
    ("chain", {"links": 100}, 4096, 64),
    ("a1", {"gait": "trot", "dt": 0.005}, 4096, 4096),
    ("hopper", {"dt": 0.005}, 4096, 4096),
    ("free-chain", {"links": 10}, 4096, 4096),
    ("loops", {"cells": 5}, 4096, 4096),
]
QUICK_BATCHES: list[tuple[str, dict[str, Any], int, int]] = [
    ("disc", {"contacts": 100}, 512, 64),
    ("chain", {"links": 100}, 64, 1),
    ("a1", {"gait": "trot", "dt": 0.005}, 512, 64),
]
BATCH_STEPS = 50


def batch(quick: bool) -> list[Job]:
    counts = [1, 64, 512] if quick else [1, 4, 16, 64, 256, 1024, 4096]
    jobs = []
    for scene, parameters, ours, theirs in QUICK_BATCHES if quick else BATCHES:
        for mode, limit in ((VIGYM, ours), (MUJOCO, theirs)):
            for num_envs in up_to(limit, counts):
                for threads in (1, 2) if num_envs > 1 else (1,):
                    options = {"num_envs": num_envs, "threads": threads, "steps": BATCH_STEPS}
                    jobs += jobs_of("batch", mode, scene, parameters, **options)
    return jobs


def startup(quick: bool) -> list[Job]:
    """Overhead of a call, and processes that start."""
    return [Job("startup", "vigym", "overhead", kind="overhead"), Job("startup", "vigym", "startup", kind="startup")]


def targets(quick: bool) -> list[Job]:
    """Only what the targets are judged by."""
    fallen = jobs_of("chain", VIGYM, "chain", *({"links": n, "drop": PAPER} for n in (10, 100, 1000)))
    trots = a1_sweep(True, [ELLIPTIC])  # MuJoCo's fastest of those that keep close at steps of a few ms
    jobs = disc(True) + chain(True) + fallen + a1(True) + trots + batch(True) + startup(quick)
    return [job for job in jobs if job.mode != "reduced"]


SUITES: dict[str, Callable[[bool], list[Job]]] = {
    "disc": disc,
    "chain": chain,
    "a1": a1,
    "hopper": hopper,
    "free-chain": free_chain,
    "loops": loops,
    "touching": touching,
    "batch": batch,
    "startup": startup,
}


def jobs(suite: str, quick: bool, repeats: int) -> list[Job]:
    """Jobs of a suite, of "all", or of "targets"."""
    if suite == "all":
        chosen = [job for make in SUITES.values() for job in make(quick)]
    else:
        chosen = (targets if suite == "targets" else SUITES[suite])(quick)
    for job in chosen:
        job.repeats = repeats
        job.least, job.budget, job.timeout = (0.3, 2.0, 60.0) if quick else (1.0, 20.0, 600.0)
        if job.threads > 1:  # medians of turns, and a machine that may have no second core for a while
            job.least, job.budget = (2.0, 8.0) if quick else (6.0, 40.0)
    return chosen
