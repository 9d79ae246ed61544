"""`vigym compare`: the same robot, control and start in vigym, MuJoCo and PyBullet; and real tosses of a cube."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from vigym.benchmarks import machine
from vigym.benchmarks.compare import scenes
from vigym.benchmarks.compare.cases import CASES, Case
from vigym.benchmarks.compare.record import LEFT, TOUCH
from vigym.benchmarks.elbow.data import is_elbow
from vigym.benchmarks.tosses.data import load
from vigym.engine.durable import write_whole
from vigym.engine.errors import InputError

Name = Literal["disc", "toss", "incline-stick", "incline-slip", "chain", "flip", "a1-stand", "a1-trot", "top", "tosses"]
NEEDED = ("matplotlib", "mujoco", "pybullet", "scipy")

EXPLAINED = """Same mechanism, control and start in all engines, each converted by `vigym.to_mjcf` and
`vigym.to_pybullet`. "vigym" has its defaults, "pyramid" `cone="pyramid"`; "MuJoCo" its
defaults, "stiff" contacts with a time constant of two steps, elliptic cones and stiff friction; "PyBullet" multi-bodies
without damping, "maximal" rigid bodies with constraints. Drives are implicit in vigym, damped implicitly in MuJoCo, and
explicit torques in PyBullet.

Figures are from poses and velocities, by the same formulas for all: deepest contact; sliding of
contacts in a stance, from a gap below {touch:g} mm to the last such one before it reaches {left:g} mm (a contact that
chatters is in one stance), the mean of all; distance of joint anchors; energy that came from nowhere (passive scenes);
relative change of momenta that nothing acts on; largest distance of any body from the same engine's own steps of
{fine:g} ms or less; from the formula at the end, where there is one; CPU time of a simulated second, one environment.
A dash is what a run that ended early does not tell."""


def compare(
    names: Positional[tuple[Name, ...]] = (),
    quick: bool = False,
    data: Path | None = None,
    out: Path | None = None,
    substeps: int = 8,
    budget: int = 64,
    trials: Path | None = None,
) -> None:
    """Compare what vigym, MuJoCo and PyBullet make of the same scenes, and of real tosses of a cube.

    Writes a page (Markdown), pictures (PNG) and figures (CSV); needs the extra `compare`.

    Args:
        names: Scenes to compare, all unless given; "tosses" are the real ones, which need `data`.
        quick: Shorter scenes at two time steps, and a small fit: less than a minute.
        data: File of the tosses (.npz), as `python -m vigym.benchmarks.tosses.convert` makes it; or of two bricks on
            a hinge (benchmarks/elbow/data.py), whose page is elbow.md.
        out: Folder for the files; docs/comparison unless given, or quick-comparison for quick ones.
        substeps: Of a frame of the tosses.
        budget: Sets of parameters that engines are tried with, for each parameter they have; 6 in the quick form.
        trials: Trials made before (tosses-trials.npz in the folder of an earlier run), instead of new ones.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        print(f'{", ".join(missing)} not installed; pip install "vigym[compare]" brings it', file=sys.stderr)
        if "matplotlib" in missing or (data is not None and "scipy" in missing):
            sys.exit(2)
    if "tosses" in names and data is None:
        sys.exit("vigym compare tosses needs the measured tosses: --data FILE")
    if data is not None and names and "tosses" not in names:
        sys.exit("--data is for the tosses: vigym compare tosses --data FILE")
    try:
        linked = data is not None and is_elbow(data)
        if data is not None and not linked:
            load(data)
        out = out or Path("quick-comparison" if quick else "docs/comparison")
        out.mkdir(parents=True, exist_ok=True)
        chosen = [case for name, case in CASES.items() if not names or name in names]
        run_scenes([case.quick() if quick else case for case in chosen], out, complete=not names, quick=quick)
        if data is not None and linked:
            from vigym.benchmarks.elbow import report as elbow

            print(elbow.report(data, out, substeps, 4 if quick else min(budget, 32), quick=quick))
        elif data is not None:
            from vigym.benchmarks.tosses.report import report

            print(report(data, out, substeps, 6 if quick else budget, quick=quick, trials=trials))
    except (InputError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def run_scenes(cases: Sequence[Case], out: Path, complete: bool, quick: bool) -> None:
    """Run the cases and write their page; complete: it is the page of the folder, and not one of a single scene."""
    if not cases:
        return
    from tqdm import tqdm

    command = ["vigym", "compare", *([] if complete else [case.name for case in cases]), *["--quick"] * quick]
    parts = [
        "# Comparison",
        machine.describe() + f". Made by `{' '.join(command)}`.",
        EXPLAINED.format(fine=1e3 * max(case.fine for case in cases), touch=1e3 * TOUCH, left=1e3 * LEFT),
    ]
    with tqdm(total=sum(len(case.modes) * len(case.dts) for case in cases), unit="run") as progress:

        def tell(what: str) -> None:
            progress.set_description(what)
            progress.update()

        for case in cases:
            table = scenes.run(case, out, tell)
            parts += [f"## {case.title}", f"![{case.title}]({case.name}.png)", scenes.text(table).rstrip()]
            for label, count in scenes.failures(table).items():
                parts.append(f"{label}: {count} steps that it could not solve, or that it warned of.")
    page = out / ("scenes.md" if complete else f"{'-'.join(case.name for case in cases)}.md")
    write_whole(page, "\n\n".join(parts) + "\n")
    print("\n\n".join(parts[3:]))
    for path in [page, *(out / f"{case.name}{end}" for case in cases for end in (".csv", ".png"))]:
        print(f"wrote {path}")
