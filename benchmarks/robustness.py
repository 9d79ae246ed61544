"""Steps that fail, are relaxed or are cut, per million, from the mildest use to the wildest (extremes.py).

A step is a control step of one environment. It FAILS if the solver cannot make one of its time steps, even in
256ths; it is RELAXED, or CUT, if a time step in it was (`Simulator.status`).
"""

import pickle
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vigym.benchmarks.extremes import NUM_ENVS, Case, Steps, cases
from vigym.benchmarks.tables import markdown, number
from vigym.engine.controls import CONTROLS
from vigym.engine.durable import write_rows
from vigym.engine.simulator import Simulator

GOALS = {"default": 0.0, "randomized": 1.0, "extreme": 50.0, "touching": 0.0}  # failures per million
MOST_SAVED = 20  # failures of a case that are saved


class Count(NamedTuple):
    """Steps of a case, and how many of them failed, were relaxed, were cut."""

    case: Case
    steps: int
    failed: int
    relaxed: int
    cut: int
    seconds: float


class Failure(NamedTuple):
    """A step that failed: the simulator before it, its controls and number of time steps, and the environment."""

    case: str
    sim: Simulator
    controls: dict[str, Any]
    repeat: int
    env: int


def rewound(scene: Steps, before: bytes, repeat: int) -> tuple[Simulator, dict[str, Any], int]:
    """A copy of the scene's simulator as it was before its last step, and what that step was given."""
    lanes = scene.sim._lanes
    after = lanes.saved()
    given = {name: lanes.get(name) for name in (*CONTROLS, "offset")}
    lanes.restore(before)
    lanes.set("offset", given.pop("offset"))  # a task moves planes before it steps
    sim = pickle.loads(pickle.dumps(scene.sim))
    lanes.restore(after)
    drives = bool(scene.sim.model.driven_axes.any())
    shown = {name: value for name, value in given.items() if drives or not CONTROLS[name].of_drive}
    flat = {name: value if CONTROLS[name].on_bodies else value[..., 0] for name, value in shown.items()}
    return sim, flat, repeat


def failures(name: str, scene: Steps, before: bytes, repeat: int) -> Iterator[Failure]:
    """The environments whose last step failed."""
    failed = np.flatnonzero(~scene.sim.status.converged)
    made = rewound(scene, before, repeat)
    for env in failed.tolist():
        yield Failure(name, *made, env)


def measure(case: Case, steps: int, seed: int = 0, folder: Path | None = None, num_envs: int = NUM_ENVS) -> Count:
    """Make at least so many steps; failures go into files of `folder`, if there is one."""
    scene, count, saved = case.make(num_envs, seed), Counter[str](), 0
    began, rounds = time.perf_counter(), -(-steps // num_envs)
    for _ in range(rounds):
        before = scene.sim._lanes.saved() if folder else None
        repeat = scene.step()
        status = scene.sim.status
        failed = ~status.converged
        count["failed"] += int(failed.sum())
        count["relaxed"] += int((status.relaxed > 0).sum())
        count["cut"] += int((~failed & (status.substeps > repeat)).sum())
        if folder is not None and before is not None and failed.any() and saved < MOST_SAVED:
            for failure in failures(f"{case.kind}: {case.name}", scene, before, repeat):
                saved += 1
                name = "".join(letter if letter.isalnum() else "-" for letter in f"{case.kind} {case.name}")
                (folder / f"{name}-{seed}-{saved}.pkl").write_bytes(pickle.dumps(failure._asdict()))
        scene.end()
    parts = count["failed"], count["relaxed"], count["cut"]
    return Count(case, rounds * num_envs, *parts, time.perf_counter() - began)


def per_million(some: int, steps: int) -> str:
    """A share, as a figure for a table."""
    return number(1e6 * some / steps)


def line(count: Count) -> list[str]:
    """A row of the table of cases."""
    shares = [per_million(some, count.steps) for some in (count.failed, count.relaxed, count.cut)]
    return [count.case.kind, count.case.name, f"{count.steps:,}", *shares]


def table(counts: Sequence[Count]) -> list[list[Any]]:
    """Rows of a file: a header, and the numbers of steps of each case."""
    rows = [[count.case.kind, count.case.name, count.steps, count.failed, count.relaxed, count.cut] for count in counts]
    return [["class", "case", "steps", "failed", "relaxed", "cut"], *rows]


def classes(counts: Sequence[Count]) -> str:
    """A table with one row a class, and the goals."""
    rows = []
    for kind in dict.fromkeys(count.case.kind for count in counts):
        own = [count for count in counts if count.case.kind == kind]
        steps = sum(count.steps for count in own)
        failed, relaxed, cut = (sum(getattr(count, name) for count in own) for name in ("failed", "relaxed", "cut"))
        goal = f"{GOALS[kind]:g}" if kind in GOALS else "-"
        shares = [per_million(some, steps) for some in (failed, relaxed, cut)]
        rows.append([kind, f"{steps:,}", *shares, goal])
    return markdown(["per million steps", "steps", "failed", "relaxed", "cut", "failures wanted, at most"], rows)


@dataclass
class Robustness:
    """Count failed, relaxed and cut steps; Markdown tables, one row a class and one a case with any of them.

    steps: environment steps of each case
    only: classes, or parts of names of cases, to be run; all by default
    seed: of actions and randomisation
    save: folder for the failures, each the fields of a `Failure` as a pickled dict
    out: CSV file of the numbers of steps of each case
    num_envs: environments of each case; fewer go farther in as many steps
    """

    steps: int = 100_000
    only: tuple[str, ...] = ()
    seed: int = 0
    save: Path | None = None
    out: Path | None = None
    num_envs: int = NUM_ENVS

    def run(self) -> int:
        """Print the tables; return the exit status, 1 if there are more failures than wanted."""
        if self.save is not None:
            self.save.mkdir(parents=True, exist_ok=True)
        counts = []
        for case in cases():
            if self.only and not any(part in f"{case.kind}: {case.name}" for part in self.only):
                continue
            counts.append(measure(case, self.steps, self.seed, self.save, self.num_envs))
            if self.out is not None:
                write_rows(self.out, table(counts))
            print(" | ".join(line(counts[-1])), f"| {counts[-1].seconds:.0f} s", file=sys.stderr, flush=True)
        told = [line(count) for count in counts if count.failed or count.relaxed or count.cut]
        print(classes(counts))
        print(markdown(["class", "case", "steps", "failed", "relaxed", "cut"], told), end="")
        return int(any(count.failed > GOALS.get(count.case.kind, np.inf) * count.steps / 1e6 for count in counts))


if __name__ == "__main__":
    import tyro

    sys.exit(tyro.cli(Robustness).run())
