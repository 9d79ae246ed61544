"""`vigym soak`: all parts in turns, for hours, with a report that is written anew after every turn."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from vigym.benchmarks import machine
from vigym.benchmarks.soak import fuzzing, kills, stepping
from vigym.benchmarks.soak.memory import Memory
from vigym.benchmarks.soak.result import Result
from vigym.engine.errors import InputError
from vigym.engine.validation import number

# Name -> what runs until a time, from a seed
PARTS: dict[str, Callable[[Result, float, int], None]] = {
    "steps": stepping.run,
    "files": fuzzing.fuzz,
    "recordings": kills.record,
    "training": kills.train,
}
TURN = 120.0  # s, of one part


def soak(
    hours: float = 1.0,
    out: Path = Path("soak"),
    seed: int = 0,
    parts: tuple[str, ...] = tuple(PARTS),
) -> None:
    """Run random actions, spoilt files and killed processes for hours, and report what did not hold.

    Writes a report (Markdown and JSON) and the files that failed; Ctrl-C ends it with a report. The exit status is 1 if
    something failed. Each turn has a seed of its own, the report names that of every failure.

    Args:
        hours: How long; 0.01 is the short form, of half a minute.
        out: Folder for the report.
        seed: Of the first turn; those after it count on.
        parts: "steps" in all environments, spoilt "files", "recordings" and "training" that are killed.
    """
    try:
        hours = number(hours, "--hours", InputError, above=0.0)
        if unknown := set(parts) - set(PARTS):
            raise InputError(f"--parts must be some of {', '.join(PARTS)}, got {sorted(unknown)[0]!r}")
        result = Result(out, {"hours": hours, "seed": seed, "machine": machine.describe()})
    except (InputError, OSError) as error:
        raise SystemExit(str(error)) from None
    try:
        run(result, 3600.0 * hours, seed, parts)
    except KeyboardInterrupt:
        result.about["ended"] = "by Ctrl-C"
    for path in result.write():
        print(f"wrote {path}")
    print(f"{result.n_failures} failures")
    if result.n_failures:
        sys.exit(1)


def run(result: Result, seconds: float, seed: int, parts: tuple[str, ...]) -> None:
    """All parts in turns, each at least once, until the time is over."""
    began, memory = time.monotonic(), Memory()
    turn = min(TURN, seconds / len(parts))
    while True:
        for part in parts:
            result.begin(part)
            PARTS[part](result, time.monotonic() + turn, seed)
            result.about["seconds"] = round(time.monotonic() - began)
            result.write()
        memory.look(result)
        seed += 1
        if time.monotonic() - began >= seconds:
            return
