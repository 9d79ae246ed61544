"""`vigym compare tosses`: fit every engine on one half of the tosses, score it on the other, and say what is missed."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from vigym.assets.cube import FRICTION
from vigym.benchmarks import machine
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tables import markdown
from vigym.benchmarks.tosses import figures
from vigym.benchmarks.tosses.data import Score, Tosses, load, score
from vigym.benchmarks.tosses.engines import ENGINES, SoftVigymEngine, VigymEngine
from vigym.benchmarks.tosses.fit import Trials, crossed, explore, ways
from vigym.benchmarks.tosses.study import apart, other_face, variants

QUICK = 16  # tosses of a quick run
OURS = (VigymEngine.name, SoftVigymEngine.name)
DRAWS = 200  # random halves

EXPLAINED = """{count} tosses of the ContactNets set (Pfrommer, Halm, Posa, 2020; 148 frames a second), each simulated
from its first measured state, {substeps} substeps a frame: means over time of the position error (% of the cube's
width) and of the rotation error, then means and medians over tosses. Every engine is tried with {budget} sets of its
contact parameters, spread evenly over their ranges (Halton's sequence); a fit to some tosses is the set with the least
sum of both errors on them. Fitted are the tosses with an even place in the file, scored the others, which the fit has
not seen. The last column: how many simulations end on another face than the real cube. MuJoCo has elliptic cones; its
stiffness and damping are accelerations (1/s^2, 1/s). vigym and PyBullet are once hard, once with soft contacts (N/m,
N s/m)."""
CROSSED = """One way to choose the tosses that are fitted is one throw of the dice: scores of other halves differ by
0.6 % and 1.2 degrees. Over {draws} random halves, each fitted and the rest scored, both ways round, the mean scores on
tosses that were not fitted are, with the middle two thirds of the fitted values:"""
SURE = """How much of the differences is chance? Differences of these means over tosses, with their 95 % intervals
(tosses drawn again and again): above zero, vigym is closer."""
CHANGED = """Friction {friction} as measured by the authors of the data and no restitution unless the line says so, all
tosses, means over five heights of the ground within 0.4 mm of zero: single scores scatter by about 0.2 % and 0.4
degrees, since a cube that just rolls over in one simulation does not in the next."""


def report(data: Path, out: Path, substeps: int = 8, budget: int = 256, quick: bool = False) -> str:
    """Write the page `tosses.md` with its pictures; what it says."""
    from tqdm import tqdm

    tosses = load(data)
    if quick:
        tosses = tosses[:QUICK]
    tried = explore(ENGINES, tosses, substeps, budget)
    even = np.arange(len(tosses)) % 2 == 0
    odd = tosses[~even]
    fits = {name: trials.named(trials.best(even)) for name, trials in tried.items()}
    runs = {make.name: make(odd, substeps)(**fits[make.name]) for make in ENGINES}
    cones = {
        "pyramid": VigymEngine(tosses, substeps, cone="pyramid")(friction=FRICTION),
        "exact cone": VigymEngine(tosses, substeps)(friction=FRICTION),
    }
    made = [
        figures.distributions(odd, runs, out / "tosses-errors.png"),
        figures.examples(odd, runs, out / "tosses-examples.png"),
        figures.pyramids(tosses, cones, out / "tosses-pyramid.png"),
    ]
    study = list(tqdm(variants(tosses, substeps, quick), unit="variant"))
    command = f"vigym compare tosses --data {data.name} --substeps {substeps} --budget {budget}"
    explained = EXPLAINED.format(count=len(tosses), substeps=substeps, budget=budget)
    text = page(command, explained, odd, fits, runs, tried, study)
    path = out / "tosses.md"
    path.write_text(text, encoding="utf-8")
    return text + "\n" + "\n".join(f"wrote {p}" for p in [path, *made])


def cells(s: Score) -> list[str]:
    """Position mean and median, rotation mean and median."""
    return [f"{value:.1f}" for value in (s.position, s.position_median, s.rotation, s.rotation_median)]


def spread(trials: Trials, chosen: Array) -> str:
    """The middle two thirds of the values of the sets that were chosen."""
    low, high = np.percentile(trials.values[chosen], [100 / 6, 500 / 6], axis=0)
    return ", ".join(f"{p.name} {a:.3g} to {b:.3g}" for p, a, b in zip(trials.parameters, low, high, strict=True))


def page(
    command: str,
    explained: str,
    odd: Tosses,
    fits: Mapping[str, Mapping[str, float]],
    runs: Mapping[str, Array],
    tried: Mapping[str, Trials],
    study: list[tuple[str, Score]],
) -> str:
    """The page (Markdown)."""
    header = ["position %", "median", "rotation, degrees", "median"]
    one, many, pooled = [], [], {}
    halves = ways(tried[OURS[0]].errors.shape[-1], DRAWS)
    for name, trials in tried.items():
        values = ", ".join(f"{key} {value:.3g}" for key, value in fits[name].items())
        faces = f"{100 * other_face(odd, runs[name]).mean():.0f} %"
        one.append([name, values, *cells(score(odd, runs[name])), faces])
        pooled[name], mean, chosen = crossed(trials, halves)
        many.append([name, spread(trials, chosen), *cells(mean)])
    certainty = [f"{what}, against {ours}" for ours in OURS for what in ("position %", "rotation, degrees")]
    sure = []
    for name, theirs in pooled.items():
        sure.append([name])
        for ours in OURS:
            for a, b in zip(theirs, pooled[ours], strict=True):
                sure[-1].append("" if name == ours else "{:+.1f} ({:+.1f} to {:+.1f})".format(*apart(a, b)))
    failed = {name: (int(trials.failed.sum()), int((trials.failed > 0).sum())) for name, trials in tried.items()}
    parts = [
        "# Real tosses of a cube",
        f"{machine.describe()}. Made by `{command}`.",
        explained,
        markdown(["engine", "fitted", *header, "other face"], one).rstrip(),
        CROSSED.format(draws=DRAWS),
        markdown(["engine", "fitted", *header], many).rstrip(),
        SURE,
        markdown(["engine", *certainty], sure).rstrip(),
        *(
            f"{name}: {frames} frames in {sets} of the sets in which a step could not be solved."
            for name, (frames, sets) in failed.items()
            if frames
        ),
        "![errors](tosses-errors.png)",
        "![good and bad tosses](tosses-examples.png)",
        "## One thing changed at a time",
        CHANGED.format(friction=FRICTION),
        markdown(["vigym", *header], [[what, *cells(s)] for what, s in study]).rstrip(),
        "![pyramids](tosses-pyramid.png)",
    ]
    return "\n\n".join(parts) + "\n"
