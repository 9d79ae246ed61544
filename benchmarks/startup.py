"""Time that a new process takes to its first step of the A1, with compiled code on disk and without."""

import os
import subprocess
import sys
import tempfile
from time import perf_counter

from vigym.benchmarks.rows import Job, Row
from vigym.benchmarks.worker import empty_row

FIRST_STEP = """
import vigym
from vigym.assets import unitree_a1
sim = vigym.Simulator(unitree_a1.build(), dt=0.005)
sim.step()
assert sim.status.converged.all()
"""


def startup(job: Job) -> list[Row]:
    """Wall time of whole processes, s: the fastest of several with a warm cache, one with an empty one."""
    rows = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cold = _first_step(folder)
        warm = [_first_step(folder) for _ in range(max(2, job.repeats))]
    for mode, times in (("cold", [cold]), ("warm", warm)):
        row = empty_row(job, mode=mode, timing="process to first step, wall time")
        done = [time for time, error in times if error is None]
        if done:
            row.seconds = min(done)
        else:
            row.status, row.note = "crashed", times[0][1] or ""
        rows.append(row)
    return rows


def _first_step(cache: str) -> tuple[float, str | None]:
    """Seconds, and the last line of the error if there was one."""
    began = perf_counter()
    result = subprocess.run(
        [sys.executable, "-c", FIRST_STEP],
        env={**os.environ, "VIGYM_CACHE_DIR": cache},
        capture_output=True,
        text=True,
    )
    error = result.stderr.strip().splitlines()[-1:] if result.returncode else []
    return perf_counter() - began, error[0][:200] if error else None
