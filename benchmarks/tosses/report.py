"""`vigym compare tosses`: fit every engine on one half of the tosses, score it on the other, and say what is missed."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from vigym.assets.cube import FRICTION
from vigym.benchmarks import machine
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tables import markdown
from vigym.benchmarks.tosses import figures
from vigym.benchmarks.tosses.data import Score, Tosses, errors, load, score
from vigym.benchmarks.tosses.engines import ENGINES, SoftVigymEngine, VigymEngine
from vigym.benchmarks.tosses.fit import Fit, fit
from vigym.benchmarks.tosses.study import apart, other_face, variants

QUICK = 16  # tosses of a quick run
OURS = (VigymEngine.name, SoftVigymEngine.name)

EXPLAINED = """{count} tosses of the ContactNets set (Pfrommer, Halm, Posa, 2020; 148 frames a second), each simulated
from its first measured state, {substeps} substeps a frame: means over time of the position error (% of the cube's
width) and of the rotation error, then means and medians over tosses. Contact parameters of every engine are fitted by
differential evolution, {budget} simulations of all tosses each, on the tosses with an even place in the file, and
scored on the others, which the fit has not seen. The last column: how many simulations end on another face than the
real cube. MuJoCo has elliptic cones; its stiffness and damping are accelerations (1/s^2, 1/s). vigym and PyBullet are
once hard, once with soft contacts (N/m, N s/m)."""
SURE = """How much of the differences is chance? Those of the means over all tosses, each simulated with the parameters
fitted on the other half, with their 95 % intervals (tosses drawn again and again): above zero, vigym is closer."""
CHANGED = """Friction {friction} as measured by the authors of the data and no restitution unless the line says so, all
tosses, means over five heights of the ground within 0.4 mm of zero: single scores scatter by about 0.2 % and 0.4
degrees, since a cube that just rolls over in one simulation does not in the next."""


def report(data: Path, out: Path, substeps: int = 8, budget: int = 100, quick: bool = False) -> str:
    """Write the page `tosses.md` with its pictures; what it says."""
    from tqdm import tqdm

    tosses = load(data)
    if quick:
        tosses = tosses[:QUICK]
    even, odd = tosses.halves()
    fits: dict[str, tuple[Fit, Fit]] = {}
    failed: dict[str, int] = {}
    runs: dict[str, tuple[Array, Array]] = {}  # of the half that was not fitted: odd, even
    for make in (progress := tqdm(ENGINES, unit="engine")):
        progress.set_description(f"fit {make.name}")
        engines = make(even, substeps), make(odd, substeps)
        found = fit(engines[0], even, budget), fit(engines[1], odd, budget)
        fits[make.name] = found
        runs[make.name] = engines[1](**found[0].values), engines[0](**found[1].values)
        failed[make.name] = sum(engine.failed for engine in engines)
    first = {name: run[0] for name, run in runs.items()}
    cones = {
        "pyramid": VigymEngine(tosses, substeps, cone="pyramid")(friction=FRICTION),
        "exact cone": VigymEngine(tosses, substeps)(friction=FRICTION),
    }
    made = [
        figures.distributions(odd, first, out / "tosses-errors.png"),
        figures.examples(odd, first, out / "tosses-examples.png"),
        figures.pyramids(tosses, cones, out / "tosses-pyramid.png"),
    ]
    study = list(tqdm(variants(tosses, substeps, quick), unit="variant"))
    text = page(data, substeps, budget, (even, odd), fits, runs, failed, study)
    path = out / "tosses.md"
    path.write_text(text, encoding="utf-8")
    return text + "\n" + "\n".join(f"wrote {p}" for p in [path, *made])


def cells(s: Score) -> list[str]:
    """Position mean and median, rotation mean and median."""
    return [f"{value:.1f}" for value in (s.position, s.position_median, s.rotation, s.rotation_median)]


def pool(halves: tuple[Tosses, Tosses], runs: tuple[Array, Array]) -> tuple[Array, Array]:
    """Position and rotation errors of all tosses, each from the parameters that were fitted without it."""
    odd, even = errors(halves[1], runs[0]), errors(halves[0], runs[1])
    return np.concatenate([odd[0], even[0]]), np.concatenate([odd[1], even[1]])


def page(
    data: Path,
    substeps: int,
    budget: int,
    halves: tuple[Tosses, Tosses],
    fits: Mapping[str, tuple[Fit, Fit]],
    runs: Mapping[str, tuple[Array, Array]],
    failed: Mapping[str, int],
    study: list[tuple[str, Score]],
) -> str:
    """The page (Markdown)."""
    header = ["position %", "median", "rotation, degrees", "median"]
    lines, both = [], []
    for name, found in fits.items():
        scores = score(halves[1], runs[name][0]), score(halves[0], runs[name][1])
        values = ", ".join(f"{key} {value:.3g}" for key, value in found[0].values.items())
        faces = [other_face(half, run).mean() for half, run in zip((halves[1], halves[0]), runs[name], strict=True)]
        lines.append([name, values, *cells(scores[0]), f"{100 * faces[0]:.0f} %"])
        mean = Score(*(0.5 * (a + b) for a, b in zip(*(vars(s).values() for s in scores), strict=True)))
        both.append([name, *cells(mean), f"{50 * sum(faces):.0f} %"])
    pooled = {name: pool(halves, run) for name, run in runs.items()}
    certainty = [f"{what}, against {ours}" for ours in OURS for what in ("position %", "rotation, degrees")]
    sure = []
    for name, theirs in pooled.items():
        sure.append([name])
        for ours in OURS:
            for a, b in zip(theirs, pooled[ours], strict=True):
                sure[-1].append("" if name == ours else "{:+.1f} ({:+.1f} to {:+.1f})".format(*apart(a, b)))
    command = f"vigym compare tosses --data {data.name}"
    parts = [
        "# Real tosses of a cube",
        f"{machine.describe()}. Made by `{command} --substeps {substeps} --budget {budget}`.",
        EXPLAINED.format(count=sum(map(len, halves)), substeps=substeps, budget=budget),
        markdown(["engine", "fitted", *header, "other face"], lines).rstrip(),
        "The same, mean of both ways round (fitted on even and scored on odd places, and the reverse):",
        markdown(["engine", *header, "other face"], both).rstrip(),
        SURE,
        markdown(["engine", *certainty], sure).rstrip(),
        *(f"{name}: {count} frames in which a step could not be solved." for name, count in failed.items() if count),
        "![errors](tosses-errors.png)",
        "![good and bad tosses](tosses-examples.png)",
        "## One thing changed at a time",
        CHANGED.format(friction=FRICTION),
        markdown(["vigym", *header], [[what, *cells(s)] for what, s in study]).rstrip(),
        "![pyramids](tosses-pyramid.png)",
    ]
    return "\n\n".join(parts) + "\n"
