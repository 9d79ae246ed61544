"""The continuous check: figures that do not depend on how fast or how busy a machine is.

Newton iterations and floating-point operations a step on fixed scenes, the share of packed instructions in the compiled
step, and its compile time in units of a reference that is compiled in the same run. The committed figures are in
`baseline.json`; more than SLACK worse fails.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from vigym.benchmarks.flops import flops_per_iteration
from vigym.benchmarks.runner import Vigym
from vigym.benchmarks.scenes import build
from vigym.engine.durable import write_whole

BASELINE = Path(__file__).with_name("baseline.json")
SLACK = 0.1
TOLERANCE = 1e-6

# Scene, parameters, steps; short, but long enough to fall, slide, come to rest, walk.
SCENES: dict[str, tuple[str, dict[str, Any], int]] = {
    "disc of 10": ("disc", {"contacts": 10}, 60),
    "disc of 50": ("disc", {"contacts": 50}, 60),
    "chain of 20": ("chain", {"links": 20, "drop": 0.3}, 60),
    "A1 standing": ("a1", {"gait": "stand", "dt": 0.005}, 60),
    "A1 trotting": ("a1", {"gait": "trot", "dt": 0.005}, 200),
}
NUM_ENVS = 4
LARGER_IS_BETTER = ("packed share",)
X86 = platform.machine().lower() in ("x86_64", "amd64")  # whose instructions are known here


def scene_figures(name: str) -> dict[str, float]:
    """Mean Newton iterations and flops a step of NUM_ENVS environments that start a little differently."""
    scene_name, parameters, steps = SCENES[name]
    scene = build(scene_name, **parameters)
    engine = Vigym(scene, scene.dt, steps, num_envs=NUM_ENVS, tolerance=TOLERANCE)
    engine.reset()
    total, sample = 0.0, steps // 2
    saved = b""
    for k in range(steps):
        if k == sample:
            saved = engine.sim.save()
        engine.step(k)
        total += engine.iterations()
        if engine.failures():
            raise RuntimeError(f"{name}: step {k} failed")
    iterations = total / steps
    flops = flops_per_iteration(engine, saved, sample) * iterations
    return {f"{name}: iterations": iterations, f"{name}: flops": flops}


def compile_figures(most: float | None = None, tries: int = 5) -> dict[str, float]:
    """Packed share and compile time of the A1's step, measured in processes of their own with an empty cache.

    A busy machine disturbs both the step's time and the reference's: the median of several tries counts, except that
    one that is not above `most` is good enough.
    """
    found: dict[str, float] = {}
    times: list[float] = []
    while len(times) < tries and (most is None or min(times, default=np.inf) > most):
        found = _compile_figures()
        times.append(found["compile time"])
    return found | {"compile time": float(np.median(times) if most is None else min(times))}


def _compile_figures() -> dict[str, float]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        result = subprocess.run(
            [sys.executable, "-m", "vigym.benchmarks.compile_time"],
            env={**os.environ, "VIGYM_CACHE_DIR": folder, "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
    if result.returncode:
        raise RuntimeError(f"compiling failed: {result.stderr.strip().splitlines()[-1:]}")
    found = json.loads(result.stdout.splitlines()[-1])
    return found if X86 else {"compile time": found["compile time"]}


def figures(before: dict[str, float] | None = None) -> dict[str, float]:
    """All of them; `before` are those that they will be compared with."""
    found: dict[str, float] = {}
    for name in SCENES:
        found |= scene_figures(name)
    committed = (before or {}).get("compile time")
    return found | compile_figures(None if committed is None else committed * (1 + SLACK))


def worse(name: str, now: float, before: float) -> float:
    """Relative change of a figure for the worse; negative if it is better."""
    return before / now - 1.0 if name in LARGER_IS_BETTER else now / before - 1.0


def compare(now: dict[str, float], before: dict[str, float]) -> list[tuple[str, float | None, float | None, bool]]:
    """(name, committed, measured, good) of every figure; one that only one side has is not good."""
    lines = []
    for name in sorted({**before, **now}):
        a, b = before.get(name), now.get(name)
        good = a is not None and b is not None and worse(name, b, a) <= SLACK
        lines.append((name, a, b, good))
    return lines


def check(update: bool = False, path: Path = BASELINE) -> bool:
    """Measure, print, and say whether nothing got more than SLACK worse; `update` commits what was measured."""
    now = figures(None if update else json.loads(path.read_text()))
    if update:
        write_whole(path, json.dumps({name: float(f"{value:.6g}") for name, value in now.items()}, indent=2) + "\n")
        print(f"wrote {path}")
    before = json.loads(path.read_text())
    lines = compare(now, before if X86 else {k: v for k, v in before.items() if k != "packed share"})
    for name, before, value, good in lines:
        left, right = ("-" if number is None else f"{number:12.5g}" for number in (before, value))
        print(f"{'ok   ' if good else 'WORSE'} {name:28} committed {left} measured {right}")
    return all(good for *_, good in lines)
