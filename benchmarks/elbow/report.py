"""`vigym compare tosses` for two bricks on a hinge: identify the linkage and contacts on one half, score the other."""

import time
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from vigym.benchmarks import machine
from vigym.benchmarks.elbow.data import load, misses, scores
from vigym.benchmarks.elbow.engines import ENGINES, Engine, SoftVigymEngine
from vigym.benchmarks.elbow.identify import NAMES, Found, from_contacts, from_flights
from vigym.benchmarks.elbow.linkage import DESCRIBED, Linkage
from vigym.benchmarks.elbow.windows import free
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tables import markdown
from vigym.benchmarks.tosses.engines import Parameter
from vigym.benchmarks.tosses.fit import named, sets
from vigym.engine.durable import write_whole
from vigym.engine.errors import InputError

HORIZONS = 10, 30, 60, 120  # frames
FITTED = 1  # which of the horizons contacts are fitted over
CLEAR, FLIGHT, STRIKE = 0.01, 10, 12  # m; frames of windows without contact and with
MOST = 40  # windows with contact
DRAWS = 2000  # of tosses, for intervals
FEWEST = 8  # tosses
RUBBING: dict[str, Any] = {"damping": 1e-4, "rubbing": 1e-4}  # of the hinge, to begin with
UNITS = "position, %", "rotation, degrees", "hinge, degrees"

EXPLAINED = """{count} tosses of two bricks on a hinge, by the authors of ContactNets, 148 frames a second. Tosses with
an even place in the file are fitted, the others scored: from their first measured state on, {substeps} substeps a
frame; means over the first frames of the error of brick 1's position (% of 0.1 m), of its rotation and of the hinge
(degrees), then over tosses. The linkage is the same in all engines, the one found below."""
FLOWN = """## The linkage, from flights

{windows} windows of {frames} frames in which all corners are {clear:g} mm above the ground or more, by Gauss-Newton on
the derivatives of the compiled steps, each window with a start of its own: {seconds:.1f} s of one core. Residuals are
{before:.2f} times the noise that is assumed (0.5 mm, 3 mrad; median) with the linkage as described and the best starts
as measured, {after:.2f} after. `share` is that of brick 1 in the mass; extents are logarithms of second moments of mass
against those described; lengths are m. The last two columns are the other half of the tosses and its distance from the
first one, which says more about the accuracy than the formal one."""
STRUCK = """## Contacts

Soft contacts of vigym by Gauss-Newton on {windows} windows of {frames} frames with contact, {seconds:.1f} s: friction
{friction:.3g}, stiffness {stiffness:.3g} N/m, damping {damping:.3g} N s/m; the cost falls from {first:.0f} to
{last:.0f}. For the comparison, every engine is tried with {budget} sets of contact parameters for each that it has,
spread evenly over their ranges, on the fitted half over {horizon} frames; the set with the least sum of the three
errors is taken. `vigym, gradients` has the contacts of Gauss-Newton instead."""
CHANCE = """By how much other engines miss more than {ours}, with 95 % intervals from tosses drawn again {draws} times:
position / rotation / hinge. Where an interval contains zero, the difference may be chance."""


def report(data: Path, out: Path, substeps: int, budget: int, quick: bool = False) -> str:
    """Write the page `elbow.md`; what it says."""
    tosses = load(data)
    if len(tosses) < FEWEST:
        raise InputError(f"{data} has {len(tosses)} tosses; {FEWEST} are needed to fit half of them and score the rest")
    if substeps < 1 or budget < 1:
        raise InputError(f"--substeps and --budget must be at least 1, got {substeps} and {budget}")
    tosses = tosses[:64] if quick else tosses
    even, odd = tosses[0::2], tosses[1::2]
    options = f"--substeps {substeps} " + ("--quick" if quick else f"--budget {budget}")
    found, told = the_linkage(even, odd)
    law, struck = the_contacts(found.linkage, even)
    fits, score = compared(found.linkage, even, odd, substeps, budget, law)
    parts = [
        "# Real tosses of two bricks on a hinge",
        f"{machine.describe()}. Made by `vigym compare tosses --data {data.name} {options}`.",
        EXPLAINED.format(count=len(tosses), substeps=substeps),
        told,
        STRUCK.format(budget=budget, horizon=HORIZONS[FITTED], **struck),
        markdown(["engine", "fitted"], [[name, listed(values)] for name, values in fits.items()]).rstrip(),
        "## The other half",
        standing(score),
        *chances(score),
    ]
    text, path = "\n\n".join(parts) + "\n", out / "elbow.md"
    write_whole(path, text)
    return f"{text}\nwrote {path}"


def the_linkage(even: Array, odd: Array) -> tuple[Found, str]:
    """The linkage that flights of the even tosses show, and what the page says of it."""
    base, found = replace(DESCRIBED, **RUBBING), []
    began = time.process_time()
    for half in (even, odd):
        which = free(half, DESCRIBED, CLEAR, FLIGHT)
        if len(which) < FEWEST:
            raise InputError(f"{len(which)} windows without contact in half of the tosses; {FEWEST} are needed")
        found.append((from_flights(base, half, which, FLIGHT), len(which)))
    seconds = (time.process_time() - began) / 2
    (first, count), (other, _) = found
    rows = [
        [name, f"{a:.3g}", f"{sigma:.1g}", f"{b:.3g}", f"{abs(a - b) / sigma:.1f}"]
        for name, a, sigma, b in zip(NAMES, first.values, first.sigmas, other.values, strict=True)
    ]
    text = FLOWN.format(
        windows=count, frames=FLIGHT, clear=1e3 * CLEAR, seconds=seconds, before=first.before, after=first.after
    )
    return first, f"{text}\n\n" + markdown(["change", "even", "sigma", "odd", "apart, sigma"], rows).rstrip()


def the_contacts(linkage: Linkage, tosses: Array) -> tuple[dict[str, float], dict[str, float]]:
    """Soft contacts from windows around the first contact, and figures for the page."""
    high, which = linkage.heights(tosses), []
    for toss, row in enumerate(high):
        struck = np.flatnonzero(row < 0.002)
        if len(struck) and 3 <= struck[0] <= len(row) - STRIKE:
            which.append((toss, int(struck[0]) - 3))
    which = which[:: max(1, len(which) // MOST)][:MOST]
    law = {"friction": 0.3, "compliance": 1e-4, "damping": 50.0}
    began = time.process_time()
    found, cost = from_contacts(linkage, law, tosses, which, STRIKE)
    told = {"windows": len(which), "frames": STRIKE, "seconds": time.process_time() - began}
    told |= {"friction": found["friction"], "stiffness": 1 / found["compliance"], "damping": found["damping"]}
    values = {name: told[name] for name in ("friction", "stiffness", "damping")}
    return values, told | {"first": cost[0], "last": cost[-1]}


def compared(
    linkage: Linkage, even: Array, odd: Array, substeps: int, budget: int, law: Mapping[str, float]
) -> tuple[dict[str, dict[str, float]], dict[str, Array]]:
    """Contacts fitted for each engine, and errors of the other half (horizons, 3, n), by the engine's name."""
    from tqdm import tqdm

    fits: dict[str, dict[str, float]] = {}
    score: dict[str, Array] = {}
    short = even[:, : HORIZONS[FITTED] + 1]
    for make in (make for make in ENGINES if find_spec(make.needs)):
        engine, tried = make(short, linkage, substeps), sets(make.parameters, budget)
        sums = [total(engine, short, make.parameters, row) for row in tqdm(tried, make.name, unit="set")]
        fits[make.name] = named(make.parameters, tried[int(np.argmin(sums))])
        score[make.name] = scores(misses(odd, make(odd, linkage, substeps)(**fits[make.name])), HORIZONS)
    name = "vigym, gradients"
    fits[name] = dict(law)
    score[name] = scores(misses(odd, SoftVigymEngine(odd, linkage, substeps)(**law)), HORIZONS)
    return fits, score


def total(engine: Engine, tosses: Array, parameters: tuple[Parameter, ...], values: Array) -> float:
    """The sum of the three errors."""
    return float(misses(tosses, engine(**named(parameters, values))).mean((1, 2)).sum())


def listed(values: Mapping[str, float]) -> str:
    """Values by name."""
    return ", ".join(f"{name} {value:.3g}" for name, value in values.items())


def standing(score: Mapping[str, Array]) -> str:
    """The table of all horizons."""
    header = ["engine", *(f"{frames} frames" for frames in HORIZONS)]
    rows = [[name, *(" / ".join(f"{v:.1f}" for v in means) for means in one.mean(-1))] for name, one in score.items()]
    return f"{' / '.join(UNITS)}.\n\n" + markdown(header, rows).rstrip()


def chances(score: Mapping[str, Array]) -> list[str]:
    """Differences from vigym's two fits, with their intervals."""
    parts, rng = [], np.random.default_rng(0)
    n = next(iter(score.values())).shape[-1]
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=DRAWS) / n
    for ours in ("vigym", "vigym, soft"):
        rows = []
        for name, one in score.items():
            if name == ours or name.startswith("vigym"):
                continue
            off = one - score[ours]
            low, high = np.percentile(off @ drawn.T, [2.5, 97.5], axis=-1)
            cells = [
                " / ".join(f"{m:+.1f} ({a:+.1f} to {b:+.1f})" for m, a, b in zip(*of, strict=True))
                for of in zip(off.mean(-1), low, high, strict=True)
            ]
            rows.append([name, *cells])
        parts += [CHANCE.format(ours=ours, draws=DRAWS)]
        parts += [markdown(["engine", *(f"{frames} frames" for frames in HORIZONS)], rows).rstrip()]
    return parts
