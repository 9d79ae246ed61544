"""`vigym doctor`: what vigym runs on, whether it works here, how fast, and what to do about each problem."""

import os
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import disk_usage
from typing import NamedTuple

import numpy as np

import vigym
from vigym.assets import unitree_a1
from vigym.benchmarks import machine
from vigym.benchmarks.cache_command import kept
from vigym.benchmarks.rows import read
from vigym.engine.kernels import disk

NEEDED = ("numpy", "numba", "llvmlite", "gymnasium")
# Extra -> a package that it brings
EXTRAS = {
    "cli": "tyro",
    "render": "viser",
    "meshes": "trimesh",
    "train": "stable-baselines3",
    "compare": "matplotlib",
    "mjcf": "mujoco",
    "rllib": "ray",
}
COMMITTED = Path(__file__).parent / "results" / "amd-epyc" / "targets" / "a1.csv"
DT, STEPS, PASSES = 0.005, 100, 20
LARGE = 2e9  # bytes of compiled code
SPARE = 100e6  # bytes that compiling may need on the disk
SLOW = 2.0  # times the committed time of a step


class Finding(NamedTuple):
    """A line of the report; `advice` is empty where nothing is wrong."""

    name: str
    value: str
    advice: str = ""


def doctor() -> None:
    """Report versions, processor, compiled code, a self-test and the speed here, with advice for each problem.

    The self-test takes a few seconds, and 20 more if the physics has to be compiled first. The exit status is 1 if
    there is a problem.
    """
    problems = 0
    for examine in (versions, settings, processor, compiled_code, self_test, speed):
        for finding in examine():
            print(f"{'!!' if finding.advice else 'ok'}  {finding.name:<18} {finding.value}", flush=True)
            if finding.advice:
                print(f"    {finding.advice}", flush=True)
                problems += 1
    print(f"{problems} problem{'s' if problems != 1 else ''}" if problems else "everything is in order")
    if problems:
        sys.exit(1)


def versions() -> list[Finding]:
    """Versions of Python and of the packages; which extras are installed."""
    packages = ", ".join(f"{name} {version(name)}" for name in NEEDED)
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    has = {extra: _installed(package) for extra, package in EXTRAS.items()}
    missing = [extra for extra, there in has.items() if not there]
    extras = ", ".join(extra for extra, there in has.items() if there) or "none"
    more = f'; not {", ".join(missing)}, which pip install "vigym[{missing[0]}]" would bring' if missing else ""
    return [
        Finding("vigym", f"{vigym.__version__} in {Path(vigym.__file__).parent}"),
        Finding("system", system),
        Finding("packages", packages),
        Finding("extras", extras + more),
    ]


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def settings() -> list[Finding]:
    """Environment variables that change how Numba compiles."""
    found = {name: value for name, value in sorted(os.environ.items()) if name.startswith(("NUMBA_", "VIGYM_"))}
    told = ", ".join(f"{name}={value}" for name, value in found.items()) or "none"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return [Finding("variables", told, "NUMBA_DISABLE_JIT stops all compiling: unset it")]
    if "NUMBA_CPU_NAME" in found or found.get("NUMBA_OPT", "3") != "3":
        return [Finding("variables", told, "these make compiled code slower: unset them, except for tests")]
    return [Finding("variables", told)]


def processor() -> list[Finding]:
    """The processor, the instructions that matter, and how many cores this process may use."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    names = ("fma", "avx2", "avx512f") if platform.machine().lower() in ("x86_64", "amd64") else ("neon", "fp-armv8")
    has = [name for name in names if features.get(name)]
    advice = ""
    if names[0] == "fma" and not {"fma", "avx2"} <= set(has):
        advice = (
            "without FMA and AVX2 steps take about twice as long: a virtual machine may hide them, ask for them there"
        )
    may = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    cores = f"{may} of {os.cpu_count()}"
    return [
        Finding("processor", f"{machine.cpu()}, {' '.join(has) or 'none of ' + ' '.join(names)}", advice),
        Finding("cores", f"{cores}; num_threads={may} uses them for batches of {16 * may} and more"),
    ]


def compiled_code() -> list[Finding]:
    """The folder of compiled code: whether it is trusted, can be written, and how large it is."""
    try:
        found = kept()
        told = str(found)
        if found.files:
            try:
                disk.read(next(path.name for path in found.files if path.suffix == ".kernel"))
            except (disk.RefusedError, StopIteration) as refused:
                return [Finding("compiled code", told, f"not used: {refused}")]
        there = next(path for path in (found.folder, *found.folder.parents) if path.exists())
        if not os.access(there, os.W_OK):
            return [
                Finding("compiled code", told, f"{there} cannot be written: set VIGYM_CACHE_DIR to a folder that can")
            ]
        if disk_usage(there).free < SPARE:
            return [Finding("compiled code", told, "the disk is nearly full: free space, or set VIGYM_CACHE_DIR")]
    except (OSError, RuntimeError) as error:
        return [Finding("compiled code", str(error), "set VIGYM_CACHE_DIR to a folder of your own")]
    advice = "much of it is of old versions: vigym cache clear deletes it" if found.size > LARGE else ""
    return [Finding("compiled code", told, advice)]


def _standing(num_envs: int) -> vigym.Simulator:
    """A1s that stand."""
    sim = vigym.Simulator(unitree_a1.build(), dt=DT, num_envs=num_envs)
    sim.step(target=unitree_a1.STANDING, repeat=STEPS)
    return sim


def self_test() -> list[Finding]:
    """Let A1s land on their feet: all steps are solved, no foot sinks in, and one of four is the same as one alone."""
    began = time.perf_counter()
    four, alone = _standing(4), _standing(1)
    wrong = []
    if not four.status.converged.all():
        wrong.append("a step was not solved")
    if not four.contact_gaps().min() > -1e-9:
        wrong.append(f"a foot is {-four.contact_gaps().min():.1e} m deep in the ground")
    if not np.array_equal(four.state.x[3], alone.state.x[0]):
        wrong.append("one robot of four moves otherwise than one alone")
    told = f"{STEPS} steps of four A1s and of one, {time.perf_counter() - began:.1f} s with compiling"
    advice = "the engine is wrong here: vigym cache clear, and report it with this page if that does not help"
    return [Finding("self-test", "; ".join(wrong) or told, advice if wrong else "")]


def speed() -> list[Finding]:
    """Time of a step of the A1 that stands, the least of some passes, beside the committed one."""
    sim, least = _standing(1), np.inf
    for _ in range(PASSES):
        began = time.perf_counter()
        sim.step(target=unitree_a1.STANDING, repeat=STEPS)
        least = min(least, (time.perf_counter() - began) / STEPS)
    rows = read([COMMITTED])
    of = next(row for row in rows if (row.scene, row.engine, row.dt, row.num_envs) == ("a1-stand", "vigym", DT, 1))
    assert of.microseconds is not None
    ratio = 1e6 * least / of.microseconds
    told = (
        f"{1e6 * least:.1f} us a step of one A1, {ratio:.2f} times the committed {of.microseconds:.1f} of an AMD EPYC"
    )
    advice = "slow: is the machine busy, saving power, or without AVX2? Run it again when nothing else runs"
    return [Finding("speed", told, advice if ratio > SLOW else "")]
