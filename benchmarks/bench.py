"""`vigym bench`: vigym, MuJoCo and PyBullet on the same scenes, one after the other, and what their speed costs."""

import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from vigym.benchmarks import counters, environments, gradients, machine, plots, stages, suites, tables
from vigym.benchmarks.crew import run_all
from vigym.benchmarks.rows import Row, Table, read
from vigym.benchmarks.targets import evaluate
from vigym.engine.durable import write_whole

Suite = Literal[
    "all",
    "disc",
    "chain",
    "a1",
    "hopper",
    "free-chain",
    "loops",
    "touching",
    "batch",
    "startup",
    "targets",
    "stages",
    "envs",
    "gradients",
    "check",
    "report",
]


def bench(
    suite: Positional[Suite] = "all",
    quick: bool = False,
    out: Path | None = None,
    repeats: int = 3,
    update: bool = False,
) -> None:
    """Compare the speed of vigym, MuJoCo and PyBullet on the same scenes, and what it costs.

    Writes one CSV file a suite while it runs, then pictures (PNG) and tables (Markdown); needs the extra `compare`.

    Args:
        suite: What to measure; "touching" are bodies that touch each other; "targets" is what the project's own targets
            are judged by; "stages" says where the time of a step goes; "envs" puts environments beside Gymnasium's own;
            "gradients" measures derivatives in units of a step, beside MuJoCo's and MJX's;
            "report" makes tables and pictures again from what was measured; "check" compares iterations, flops, packed
            instructions and compile time with the committed figures, and fails when one is more than 10 % worse.
        quick: Fewer sizes and passes: within two minutes for everything.
        out: Folder for the files; vigym-bench/ and the name of the processor unless given. The committed results are
            written only if this names them, as in --out benchmarks/results/amd-epyc.
        repeats: Passes of each measurement, of which the fastest counts.
        update: With "check": replace the committed figures by the measured ones.
    """
    if suite == "check":
        if not counters.check(update=update):
            sys.exit(1)
        return
    # in folders of their own, so that a short run does not replace parts of a long one
    part = "targets" if suite == "targets" else "quick" if quick else "."
    folder = out or Path("vigym-bench") / machine.slug(machine.cpu()) / part
    if suite == "stages":
        page = folder / "stages.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        write_whole(page, "\n\n".join(map(stages.table, stages.SCENES)) + "\n")
        print(page.read_text(encoding="utf-8") + f"\nwrote {page}")
        return
    if suite == "envs":
        figures = environments.measure(quick, repeats)
        print(environments.text(figures))
        for path in environments.write(figures, folder, machine.describe()):
            print(f"wrote {path}")
        return
    if suite == "gradients":
        costs, remarks = gradients.measure(quick, repeats)
        print(gradients.text(costs, remarks))
        for path in gradients.write(costs, remarks, folder, machine.describe()):
            print(f"wrote {path}")
        return
    if suite != "report":
        measure(suite, quick, folder, repeats)
    rows = write(folder, print_targets=suite in ("all", "targets", "report"))
    if suite == "touching":
        print(tables.touching([row for row in rows if row.suite == suite]))


def measure(suite: str, quick: bool, folder: Path, repeats: int) -> None:
    """Run the jobs of a suite; rows go to one file a suite as they come."""
    for name in ("mujoco", "pybullet", "matplotlib"):
        if find_spec(name) is None:
            print(f'{name} is not installed and left out; pip install "vigym[compare]" brings it', file=sys.stderr)
    from tqdm import tqdm

    began = time.perf_counter()
    jobs = suites.jobs(suite, quick, max(1, min(repeats, 2)) if quick else repeats)
    files: dict[str, Table] = {}
    with tqdm(total=len(jobs), unit="row") as progress:
        for job, rows in run_all(jobs):
            if job.suite not in files:
                files[job.suite] = Table(folder / f"{job.suite}.csv")
            for row in rows:
                files[job.suite].add(row)
            last = rows[-1]
            progress.set_description(f"{last.suite} {last.label} {last.size or ''} {last.status}".replace("  ", " "))
            progress.update()
    print(f"{len(jobs)} jobs in {time.perf_counter() - began:.0f} s")
    for table in files.values():
        print(f"wrote {table.path}")


def write(folder: Path, print_targets: bool) -> list[Row]:
    """Tables and pictures of all the rows in a folder."""
    paths = [folder / f"{suite}.csv" for suite in suites.SUITES]
    rows = read([path for path in paths if path.exists()])
    if not rows:
        sys.exit(f"no measurements in {folder}")
    targets = evaluate(rows)
    page = folder / "README.md"
    write_whole(page, tables.report(rows, targets, machine.describe()))
    print(f"wrote {page}")
    if find_spec("matplotlib") is not None:
        for path in plots.draw(rows, folder):
            print(f"wrote {path}")
    if print_targets:
        print(tables.judged(targets))
    return rows
