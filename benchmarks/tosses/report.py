"""`vigym compare tosses`: fit every engine on one half of the tosses, score it on the other, and say what is missed."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from vigym.assets.cube import FRICTION
from vigym.benchmarks import machine
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tables import markdown
from vigym.benchmarks.tosses import figures
from vigym.benchmarks.tosses.cube import DESCRIBED, Cube
from vigym.benchmarks.tosses.data import Score, Tosses, load, score
from vigym.benchmarks.tosses.engines import ENGINES, Engine, SoftVigymEngine, VigymEngine
from vigym.benchmarks.tosses.fit import Trials, explore, read, save
from vigym.benchmarks.tosses.halves import apart, crossed, mean, ways
from vigym.benchmarks.tosses.measure import measured, slides, strikes
from vigym.benchmarks.tosses.study import heavy_side, in_flight, other_face, steps_between, variants
from vigym.engine.durable import write_whole
from vigym.engine.errors import InputError

FEWEST = 4
QUICK = 16  # tosses of a quick run
HALVES, DRAWS = 200, 400  # random halves; draws of tosses for intervals
AGAIN = 20  # times that the cube is measured, from tosses drawn anew
HEADER = ["position %", "median", "rotation, degrees", "median", "sum"]
KINDS = "measured", "described", "flown"
SUBSETS = {"a quarter": 4, "half": 2, "all": 1}  # of the sets
Makes = Sequence[type[Engine]]

EXPLAINED = """{count} tosses of the ContactNets set (Pfrommer, Halm, Posa, 2020; 148 frames a second; numbers {first}
to {last}), simulated from their first measured states unless said otherwise, {substeps} substeps a frame: means over
time of the position error (% of the cube's width) and of the rotation error, then means and medians over tosses. vigym
has its default, the exact friction cone, and MuJoCo an elliptic one, which is not its default; PyBullet's is round.

Contact parameters: every engine is tried with {budget} sets of them for each parameter that it has, spread evenly over
their ranges (Halton's sequence), on all tosses; a fit to some tosses is the set with the least sum of both errors on
them. The ranges are the same for all that have the parameter; they were chosen from scores of all tosses with wider
ones:

{ranges}

MuJoCo's stiffness and damping are accelerations (1/s^2, 1/s); "soft" has a smaller impedance at first (`solimp` 0.1,
0.9, width). vigym and PyBullet are once hard, with restitution, and once soft (N/m, N s/m); soft contacts of vigym
rebound by these alone. PyBullet's restitution of hard contacts does next to nothing at short steps, since it brakes
bodies before they touch.{absent}"""
CUBE = """## The cube

Before any contact law is chosen, the measurements tell what was thrown: flights show the centre of mass and gravity,
tosses at rest the width, impulses of single corners the inertia (`benchmarks/tosses/measure.py`). Measured are the
tosses with an even place in the file, which are also those that are fitted; the spread is that of tosses drawn again.

{table}

Width differs by {width:+.1f} % and gravity by {gravity:+.1f} %: where both do by the same share, all lengths were
measured short by it. Mass is taken as given, so that inertia means its ratio to the mass, and as equal about all axes.
The cube ends with the face nearest to its centre of mass down in {down} tosses, and up in {up}. All engines throw the
same cube. Where other halves are fitted below, it is still this one, from the even tosses.

Impulses also tell how contacts are, whatever law they follow (medians and quartiles): a corner that strikes by itself
leaves with {restitution} of its speed, its tangential impulse is {striking} of the normal one where it slides; a cube
that slides on a face loses speed as with friction {sliding}."""
FITTED = """Fitted are the tosses with an even place in the file, scored the others, which the fit has not seen. The
last column: how many simulations end on another face than the real cube."""
CROSSED = """One way to choose the tosses that are fitted is one throw of the dice: the scores of {ours} on different
halves have standard deviations of {position:.1f} % and {rotation:.1f} degrees. Over {halves} random halves, both ways
round, the mean scores on the tosses that were not fitted are, with the middle two thirds of the fitted values:"""
SURE = """How much of the differences is chance? 95 % intervals, from tosses drawn {draws} times out of these; each time
all engines are fitted to ten halves of the draw and scored on the rest. Above zero, vigym is closer; with so many
intervals, one or the other excludes zero by chance."""
FEWER = """Are these enough sets? Mean scores as above, position % / rotation in degrees, when only the first of them
are tried:"""
FLOWN = """## Starts from the flight

The first measured state is noisy, above all its angular velocity. The cube as measured again, all engines started from
the flight through all frames before it touches the ground, and tried with {budget} sets for each parameter:"""
CHANGED = """## One thing changed at a time

vigym with friction {friction}, as measured by the authors of the data, and no restitution unless the line says so, for
the cube as described and as measured: position % / rotation in degrees. All tosses, means over five heights of the
ground within 0.4 mm of zero: single scores scatter, since a cube that just rolls over in one simulation does not in the
next."""


def report(data: Path, out: Path, substeps: int, budget: int, quick: bool = False, trials: Path | None = None) -> str:
    """Write the page `tosses.md` with its pictures, and the trials; what the page says. trials: made before."""
    tosses = load(data)
    if len(tosses) < FEWEST:
        raise InputError(f"{data} has {len(tosses)} tosses; {FEWEST} are needed to fit half of them and score the rest")
    if substeps < 1 or budget < 1:
        raise InputError(f"--substeps and --budget must be at least 1, got {substeps} and {budget}")
    fitted = tosses.halves()[0]
    cube = measured(fitted)
    what = the_cube(fitted, cube, tosses)
    if quick:
        tosses = tosses[:QUICK]
    makes = [make for make in ENGINES if find_spec(make.needs)]
    if trials is None:
        tried = throw(makes, tosses, cube, substeps, budget)
        save(out / "tosses-trials.npz", substeps, **tried)
    else:
        tried = {kind: read(trials, substeps, kind, makes, tosses) for kind in KINDS}
        budget = tried["measured"][VigymEngine.name].budget
    found, made = page(makes, tosses, cube, substeps, tried, out, quick)
    options = f"--substeps {substeps} " + ("--quick" if quick else f"--budget {budget}")
    head = [
        "# Real tosses of a cube",
        f"{machine.describe()}. Made by `vigym compare tosses --data {data.name} {options}`.",
        introduction(tosses, makes, substeps, budget),
        what,
    ]
    text, path = "\n\n".join([*head, *found]) + "\n", out / "tosses.md"
    write_whole(path, text)
    return text + "\n" + "\n".join(f"wrote {p}" for p in [path, *made])


def throw(makes: Makes, tosses: Tosses, cube: Cube, substeps: int, budget: int) -> dict[str, dict[str, Trials]]:
    """Trials of all kinds; flights start closer to the truth, and are tried with half of the sets."""
    flown = in_flight(tosses, cube), max(1, budget // 2), cube
    kinds = {"measured": (tosses, budget, cube), "described": (tosses, budget, DESCRIBED), "flown": flown}
    return {
        kind: explore(makes, starts, sets, substeps=substeps, cube=thrown)
        for kind, (starts, sets, thrown) in kinds.items()
    }


def page(
    makes: Makes,
    tosses: Tosses,
    cube: Cube,
    substeps: int,
    tried: Mapping[str, Mapping[str, Trials]],
    out: Path,
    quick: bool,
) -> tuple[list[str], list[Path]]:
    """Paragraphs of what was found, and the pictures that were drawn."""
    from tqdm import tqdm

    even = np.arange(len(tosses)) % 2 == 0
    odd, parts, made = tosses[~even], [], []
    for kind, which in (("measured", cube), ("described", DESCRIBED)):
        fits = {name: one.named(int(one.best(even[None])[0])) for name, one in tried[kind].items()}
        runs = {make.name: make(odd, substeps, cube=which)(**fits[make.name]) for make in makes}
        parts += [f"## The cube as {kind}", FITTED, one_half(odd, fits, runs), many_halves(tried[kind])]
        parts += [*standing(tried[kind]), *fewer_sets(tried[kind])]
        if kind == "measured":
            made.append(figures.distributions(odd, runs, out / "tosses-errors.png"))
            made.append(figures.examples(odd, runs, out / "tosses-examples.png"))
            parts += ["![errors](tosses-errors.png)", "![good and bad tosses](tosses-examples.png)"]
    cones = {
        name: VigymEngine(tosses, substeps, cube=cube, cone=cone)(friction=FRICTION)
        for name, cone in (("pyramid", "pyramid"), ("exact cone", "exact"))
    }
    made.append(figures.pyramids(tosses, cones, out / "tosses-pyramid.png"))
    studies = [dict(tqdm(variants(tosses, substeps, which, quick), unit="variant")) for which in (DESCRIBED, cube)]
    studies[0] |= {} if quick else dict(steps_between(tosses, substeps, cube))
    parts += [
        FLOWN.format(budget=tried["flown"][VigymEngine.name].budget),
        *standing(tried["flown"]),
        *(f"The cube as {kind}, {line}" for kind in KINDS for line in failures(tried[kind])),
        CHANGED.format(friction=FRICTION),
        changes(*studies),
        "![pyramids](tosses-pyramid.png)",
    ]
    return parts, made


def the_cube(fitted: Tosses, cube: Cube, tosses: Tosses) -> str:
    """The cube as described and as measured."""
    rng = np.random.default_rng(0)
    drawn = [figures_of(measured(fitted[rng.integers(0, len(fitted), len(fitted))])) for _ in range(AGAIN)]
    names = "half width, mm", "gravity, m/s^2", *(f"centre of mass, {axis}, mm" for axis in "xyz"), "inertia, g m^2"
    rows = [
        [name, f"{said:.4g}", f"{found:.4g}", f"{off:.1g}"]
        for name, said, found, off in zip(
            names, figures_of(DESCRIBED), figures_of(cube), np.std(drawn, axis=0), strict=True
        )
    ]
    down, (restitution, striking) = heavy_side(tosses, cube), strikes(fitted, cube)
    return CUBE.format(
        table=markdown(["", "described", "measured", "spread"], rows).rstrip(),
        width=100 * (cube.half / DESCRIBED.half - 1),
        gravity=100 * (cube.gravity / DESCRIBED.gravity - 1),
        down=np.count_nonzero(down > 0),
        up=np.count_nonzero(down < 0),
        restitution=quartiles(restitution),
        striking=quartiles(striking),
        sliding=quartiles(slides(fitted, cube)),
    )


def quartiles(values: Array) -> str:
    """The median, and the quartiles beside it."""
    low, middle, high = np.percentile(values, [25, 50, 75]) if len(values) else [np.nan] * 3
    return f"{middle:.2f} ({low:.2f} to {high:.2f}, {len(values)} cases)"


def figures_of(cube: Cube) -> list[float]:
    """Half width (mm), gravity, centre of mass (mm), inertia (g m^2)."""
    return [1e3 * cube.half, cube.gravity, *(1e3 * c for c in cube.com), 1e3 * cube.inertia]


def changes(described: Mapping[str, Score], measured: Mapping[str, Score]) -> str:
    """The table of single changes, in the cube as described and as measured."""
    rows = [
        [
            what,
            *(f"{s[what].position:.1f} / {s[what].rotation:.1f}" if what in s else "" for s in (described, measured)),
        ]
        for what in described
    ]
    return markdown(["vigym", "cube as described", "cube as measured"], rows).rstrip()


def cells(s: Score) -> list[str]:
    """Position mean and median, rotation mean and median, sum of the means."""
    return [f"{value:.1f}" for value in (s.position, s.position_median, s.rotation, s.rotation_median, s.total)]


def introduction(tosses: Tosses, makes: Makes, substeps: int, budget: int) -> str:
    """Describe the method, with the ranges of all parameters."""
    rows = [[make.name, ", ".join(f"{p.name} {p.low:g} to {p.high:g}" for p in make.parameters)] for make in makes]
    absent = sorted({make.needs for make in ENGINES} - {make.needs for make in makes})
    return EXPLAINED.format(
        count=len(tosses),
        first=tosses.ids.min(),
        last=tosses.ids.max(),
        substeps=substeps,
        budget=budget,
        ranges=markdown(["engine", "ranges"], rows).rstrip(),
        absent=f" Not installed, and left out: {', '.join(absent)}." if absent else "",
    )


def one_half(odd: Tosses, fits: Mapping[str, Mapping[str, float]], runs: Mapping[str, Array]) -> str:
    """The table of the tosses that were not fitted."""
    rows = []
    for name, run in runs.items():
        values = ", ".join(f"{key} {value:.3g}" for key, value in fits[name].items())
        rows.append([name, values, *cells(score(odd, run)), f"{100 * other_face(odd, run).mean():.0f} %"])
    return markdown(["engine", "fitted", *HEADER, "other face"], rows).rstrip()


def many_halves(tried: Mapping[str, Trials]) -> str:
    """Explain why one half is not enough."""
    scores, _ = crossed(tried[VigymEngine.name], ways(count(tried), HALVES))
    position, rotation = np.std([(one.position, one.rotation) for one in scores], axis=0)
    return CROSSED.format(ours=VigymEngine.name, position=position, rotation=rotation, halves=HALVES)


def standing(tried: Mapping[str, Trials]) -> Iterator[str]:
    """The table of means over random halves, and how sure their differences are."""
    halves = ways(count(tried), HALVES)
    found = {name: crossed(trials, halves) for name, trials in tried.items()}
    means = {name: mean(scores) for name, (scores, _) in found.items()}
    rows = [[name, spread(tried[name], chosen), *cells(means[name])] for name, (_, chosen) in found.items()]
    yield markdown(["engine", "fitted", *HEADER], rows).rstrip()
    yield SURE.format(draws=DRAWS)
    columns = []
    for ours in (VigymEngine.name, SoftVigymEngine.name):
        limits = apart(tried, ours, DRAWS)
        for k, what in enumerate(("position", "rotation", "total")):
            off = {name: getattr(them, what) - getattr(means[ours], what) for name, them in means.items()}
            told = [between(off[name], limits[name][k]) if name != ours else "" for name in tried]
            columns.append([f"{what.replace('total', 'sum')}, against {ours}", *told])
    header, *rows = (list(row) for row in zip(["engine", *tried], *columns, strict=True))
    yield markdown(header, rows).rstrip()


def fewer_sets(tried: Mapping[str, Trials]) -> Iterator[str]:
    """The table of means when fewer sets are tried."""
    halves, rows = ways(count(tried), HALVES), []
    for name, trials in tried.items():
        means = [mean(crossed(trials.first(part), halves)[0]) for part in SUBSETS.values()]
        rows.append([name, *(f"{s.position:.1f} / {s.rotation:.1f}" for s in means)])
    yield FEWER
    yield markdown(["engine", *SUBSETS], rows).rstrip()


def count(tried: Mapping[str, Trials]) -> int:
    """Tosses."""
    return tried[VigymEngine.name].errors.shape[-1]


def between(off: float, limits: Array) -> str:
    """A difference and its interval."""
    return f"{off:+.1f} ({limits[0]:+.1f} to {limits[1]:+.1f})"


def spread(trials: Trials, chosen: Array) -> str:
    """The middle two thirds of the values of the sets that were chosen."""
    low, high = np.percentile(trials.values[chosen], [100 / 6, 500 / 6], axis=0)
    return ", ".join(f"{p.name} {a:.3g} to {b:.3g}" for p, a, b in zip(trials.parameters, low, high, strict=True))


def failures(tried: Mapping[str, Trials]) -> Iterator[str]:
    """A line for every engine that failed somewhere."""
    for name, trials in tried.items():
        if trials.failed.any():
            sets = np.count_nonzero(trials.failed)
            yield f"{name}: failed in {trials.failed.sum()} frames, in {sets} of the sets (see `failed` of `Engine`)."
