"""The process of one experiment: `python -m vigym.benchmarks.reproduction.run NAME FOLDER quick|full`.

A process of its own, so that an engine that crashes takes nothing else along, and no experiment disturbs the next one.
"""

import os
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import cast

from vigym.benchmarks import machine
from vigym.benchmarks.crew import SINGLE
from vigym.benchmarks.reproduction.catalogue import EXPERIMENTS, Name, function
from vigym.benchmarks.reproduction.result import Result, load


def run(name: Name, folder: Path, form: str) -> Result:
    """Run an experiment here and keep what it found, or what went wrong."""
    began = time.perf_counter()
    try:
        result = function(name)(folder, form == "quick")
    except Exception as error:
        traceback.print_exc()
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        result = Result(name, status="failed", error=f"{type(error).__name__}: {error} ({place})")
    result.name, result.title, result.form = name, EXPERIMENTS[name][1], form
    result.machine, result.seconds = machine.describe(), time.perf_counter() - began
    result.save(folder)
    return result


def apart(name: Name, folder: Path, form: str) -> Result:
    """Run an experiment in a process of its own; one that dies without a word has failed."""
    (folder / f"{name}.json").unlink(missing_ok=True)
    began = time.perf_counter()
    command = [sys.executable, "-m", "vigym.benchmarks.reproduction.run", name, str(folder), form]
    code = subprocess.run(command, env={**os.environ, **SINGLE}).returncode
    result = load(folder, name)
    if result is None:
        result = Result(name, EXPERIMENTS[name][1], form, "failed", f"its process ended with {code}")
        result.machine, result.seconds = machine.describe(), time.perf_counter() - began
        result.save(folder)
    return result


if __name__ == "__main__":
    sys.exit(0 if run(cast(Name, sys.argv[1]), Path(sys.argv[2]), sys.argv[3]).status == "ok" else 1)
