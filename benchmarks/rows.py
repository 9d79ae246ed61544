"""Jobs that workers are given, rows that they return, and the files that keep rows."""

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from vigym.engine.durable import append_whole, naming, write_rows

ACCURACY = "not timed: against own fine steps"  # `timing` of rows of that kind
SIZES = ("contacts", "links", "cells", "bodies")  # parameters of scenes that say how large they are


@dataclass
class Job:
    """One measurement.

    suite: the part of the benchmark that it belongs to; kind: "speed", "accuracy", "overhead" or "startup".
    engine: "vigym", "mujoco" or "pybullet"; mode: a name for `options`, which go to the engine's runner.
    scene, parameters: what is simulated. num_envs, threads: how many at once.
    steps: how many are run; None is the scene's own number.
    repeats: passes, of which the fastest counts; more until they have taken `least` s together (short ones need a quiet
        moment), fewer once they have taken `budget` s.
    timeout: s, after which the worker is stopped.
    """

    suite: str
    engine: str
    scene: str
    parameters: dict[str, Any] = field(default_factory=dict)
    mode: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    kind: str = "speed"
    num_envs: int = 1
    threads: int = 1
    steps: int | None = None
    repeats: int = 3
    least: float = 0.0
    budget: float = 10.0
    timeout: float = 120.0

    @property
    def group(self) -> tuple[str, ...]:
        """Jobs of one group share a process."""
        return self.suite, self.engine, self.mode, self.scene, self.kind

    @property
    def size(self) -> int:
        """Contacts, links, cells or bodies; 0 for scenes that do not grow."""
        return next((self.parameters[name] for name in SIZES if name in self.parameters), 0)

    def surpasses(self, other: "Job") -> bool:
        """Return whether this is the same as another job, or the same with more of everything: it will take no less
        time."""
        same = [
            (job.group, job.threads, job.options, {k: v for k, v in job.parameters.items() if k not in SIZES})
            for job in (self, other)
        ]
        return same[0] == same[1] and self.size >= other.size and self.num_envs >= other.num_envs


@dataclass
class Row:
    """One line of results; None is not known, or has no meaning here.

    size: contacts, links, cells or bodies; dt: s; drop: m; status: ok, diverged, crashed, timeout, missing, refused.
    microseconds: a step of one environment, CPU time (wall time with several threads), the fastest pass.
    wall: the same, wall time. steps_per_second: of all environments together.
    gain: with several threads, wall time of one thread (on each core in turn, harmonic mean) over theirs, median of all
        turns; apart: the same of as many simulations that share nothing, side by side.
    penetration: deepest, m; separation: largest of a joint's anchors, m; creep: of what should be at rest, m/s.
    iterations: of the solver, mean of a step; failures: steps that could not be solved; retried: steps that vigym could
        solve only with relaxed contacts or in parts; relaxed, cut: of these, the ones and the others (or both).
    gained: largest rise of the energy of what nothing drives, in m of height of the whole weight.
    travel: horizontal, of the first body, m; energy_error: largest, of the energy there was to turn into motion.
    foot_error, travel_error: against the same engine's own fine steps; m, and relative.
    seconds: where no step is timed (start of a process). timing: what was timed. note: what went wrong.
    """

    suite: str
    scene: str
    engine: str
    mode: str = ""
    size: int = 0
    dt: float | None = None
    drop: float | None = None
    num_envs: int = 1
    threads: int = 1
    steps: int | None = None
    status: str = "ok"
    microseconds: float | None = None
    wall: float | None = None
    steps_per_second: float | None = None
    gain: float | None = None
    apart: float | None = None
    penetration: float | None = None
    separation: float | None = None
    creep: float | None = None
    iterations: float | None = None
    failures: int | None = None
    retried: int | None = None
    relaxed: int | None = None
    cut: int | None = None
    gained: float | None = None
    travel: float | None = None
    energy_error: float | None = None
    foot_error: float | None = None
    travel_error: float | None = None
    seconds: float | None = None
    timing: str = ""
    note: str = ""

    @property
    def label(self) -> str:
        """Engine and mode."""
        return f"{self.engine} {self.mode}".strip()


COLUMNS = [column.name for column in fields(Row)]
INTEGERS, TEXTS = (
    {"size", "num_envs", "threads", "steps", "failures", "retried", "relaxed", "cut"},
    {"suite", "scene", "engine", "mode"},
)
TEXTS |= {"status", "timing", "note"}


def to_text(value: Any) -> str:
    """None is empty; numbers with six digits are precise enough for what clocks can tell."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def from_text(name: str, text: str) -> Any:
    """The inverse of `to_text` for a column."""
    if name in TEXTS:
        return text
    if text == "":
        return None
    return int(text) if name in INTEGERS else float(text)


class Table:
    """A CSV file that is written line by line, so that what was measured is kept whatever happens next."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        write_rows(path, [COLUMNS])

    def add(self, row: Row) -> None:
        line = io.StringIO(newline="")
        csv.writer(line).writerow([to_text(value) for value in asdict(row).values()])
        with naming(self.path), open(self.path, "rb+", buffering=0) as file:
            append_whole(file, file.seek(0, os.SEEK_END), line.getvalue().encode())


def read(paths: Iterable[Path]) -> list[Row]:
    """All rows of these files."""
    rows = []
    for path in paths:
        with path.open(newline="") as file:
            rows += [Row(**{k: from_text(k, v) for k, v in line.items()}) for line in csv.DictReader(file)]
    return rows
