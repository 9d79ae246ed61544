"""`vigym reproduce`: the paper's experiments, into a folder of CSV, PNG and a report."""

import sys
from importlib.util import find_spec
from pathlib import Path

from tyro.conf import Positional

from vigym.benchmarks import machine
from vigym.benchmarks.reproduction import report
from vigym.benchmarks.reproduction.catalogue import EXPERIMENTS, Name
from vigym.benchmarks.reproduction.result import Result, load
from vigym.benchmarks.reproduction.run import apart


def reproduce(
    experiments: Positional[tuple[Name, ...]] = (),
    quick: bool = False,
    out: Path = Path("vigym-reproduction"),
    fresh: bool = False,
) -> None:
    """Run the paper's experiments again, and set its claims beside what is measured.

    Writes CSV and PNG files, report.md and report.html. What has ended is kept: a run that was interrupted goes on
    where it was. Needs the extra `compare`. The exit status is 1 if an experiment failed.

    Args:
        experiments: Which ones; all, if none is named.
        quick: Fewer sizes, steps and runs: a minute for everything. Without it, about a quarter of an hour.
        out: Folder for the files; those of the quick form go to its folder "quick".
        fresh: Run again what has ended before.
    """
    if find_spec("matplotlib") is None:
        sys.exit('vigym reproduce draws with matplotlib: pip install "vigym[compare]"')
    for name in ("mujoco", "pybullet"):
        if find_spec(name) is None:
            print(f'{name} is not installed and left out; pip install "vigym[compare]" brings it', file=sys.stderr)
    folder, form = (out / "quick", "quick") if quick else (out, "full")
    folder.mkdir(parents=True, exist_ok=True)
    chosen = list(dict.fromkeys(experiments)) or list(EXPERIMENTS)
    failed = []
    for number, name in enumerate(chosen, 1):
        result = None if fresh else kept(folder, name, form)
        if result is not None:
            print(f"[{number}/{len(chosen)}] {name}: kept from an earlier run (--fresh runs it again)", flush=True)
        else:
            print(f"[{number}/{len(chosen)}] {name}: {EXPERIMENTS[name][1]}", flush=True)
            result = apart(name, folder, form)
        if result.status != "ok":
            failed.append(name)
            print(f"{name} failed: {result.error}", file=sys.stderr)
        report.write(folder)  # after each, so that an interrupted run leaves one behind
    for path in sorted(path for path in folder.iterdir() if path.suffix in (".csv", ".png", ".md", ".html")):
        print(f"wrote {path}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; the report says why")


def kept(folder: Path, name: Name, form: str) -> Result | None:
    """Return what an earlier run found, if it went well, in this form, on a machine with the same processor and
    versions."""
    result = load(folder, name)
    same = result is not None and (result.status, result.form, result.machine) == ("ok", form, machine.describe())
    return result if same else None
