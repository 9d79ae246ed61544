"""Experiments 1 and 2: time of a step against the number of contacts of a disc, and of links of a chain.

100 steps of 0.01 s, friction 0.2 in a pyramid, tolerance 1e-6, best of 100 runs, as in the paper. The runs of all sizes
are interleaved, so that a busy minute of the machine meets all of them and not one.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from vigym.benchmarks.reproduction.drawing import GREY, VIGYM, label, panels, save
from vigym.benchmarks.reproduction.result import AGREES, DIFFERS, NEW, Picture, Result
from vigym.benchmarks.rows import Row, Table
from vigym.benchmarks.runner import Vigym
from vigym.benchmarks.scenes import build
from vigym.benchmarks.scenes.chain import PAPER
from vigym.benchmarks.tables import number
from vigym.benchmarks.targets import SMALLEST, exponent

STEPS, TOLERANCE = 100, 1e-6
NARROW = 100  # the paper's largest size
STRAIGHT = 0.99, 1.1  # what is called linear: R^2 at least, exponent at most
STARTS = {
    "disc": "A cylinder (1 kg, radius 0.5 m, height 0.1 m) with c contact points on the rim of its base starts on the "
    "ground at 1 m/s and slides to rest after half a second. The paper does not give its start.",
    "chain": "n cylinders (1 kg, 1 m, radius 0.05 m) with ball joints between them and n + 1 contact points fall from "
    f"{PAPER} m, land, and slide sideways at 0.5 m/s. The paper does not give its start.",
}


def measure(name: str, unit: str, sizes: list[int], runs: int, parameters: dict[str, float]) -> list[Row]:
    """Best CPU and wall time of STEPS steps from the start, for every size; and what the steps cost."""
    from tqdm import tqdm

    engines, rows = [], []
    for size in tqdm(sizes, desc=f"{name}: first pass", unit="size"):
        scene = build(name, **{unit: size}, **parameters)
        engine = Vigym(scene, scene.dt, STEPS, tolerance=TOLERANCE, cone="pyramid")
        row = Row(name, name, "vigym", size=size, dt=scene.dt, steps=STEPS, failures=0, penetration=0.0)
        engine.reset()
        iterations = []
        for k in range(STEPS):  # one by one, to see every step
            engine.step(k)
            iterations.append(engine.iterations())
            row.failures = (row.failures or 0) + engine.failures()
            row.penetration = max(row.penetration or 0.0, -(engine.gap() or 0.0))
        row.iterations, row.timing = float(np.mean(iterations)), f"best CPU time of {runs} runs, interleaved"
        engines.append(engine)
        rows.append(row)
    best = np.full((len(sizes), 2), np.inf)
    for _ in tqdm(range(runs), desc=f"{name}: timed runs", unit="run"):
        for k, engine in enumerate(engines):
            watch = engine.time()
            best[k] = np.minimum(best[k], [watch.cpu, watch.wall])
    for row, (cpu, wall) in zip(rows, 1e6 * best / STEPS, strict=True):
        row.microseconds, row.wall, row.steps_per_second = float(cpu), float(wall), float(1e6 / cpu)
    return rows


def line(rows: list[Row]) -> tuple[float, float, float]:
    """a, b and R^2 of microseconds = a + b size."""
    sizes, times = np.array([[row.size, row.microseconds] for row in rows], float).T
    b, a = np.polyfit(sizes, times, 1)
    left = times - (a + b * sizes)
    return float(a), float(b), float(1.0 - (left**2).sum() / ((times - times.mean()) ** 2).sum())


def draw(rows: list[Row], folder: Path, name: str, unit: str, fit: tuple[float, float, float]) -> Picture:
    """The paper's figure with its fit, and the same on to larger sizes."""
    small = [row for row in rows if row.size <= NARROW]
    figure, (left, right) = panels(2)
    left.plot([r.size for r in small], [r.microseconds or 0 for r in small], "o", color=VIGYM, ms=4, label="measured")
    a, b, square = fit
    ends = np.array([0, max(row.size for row in small)])
    left.plot(ends, a + b * ends, color=GREY, label=f"{round(a, 1) + 0.0} + {b:.3f} {unit}, R$^2$ = {square:.4f}")
    left.set(xlim=0, ylim=0)
    label(left, "the paper's range", unit, "us a step")
    right.loglog([r.size for r in rows], [r.microseconds or 0 for r in rows], "o-", color=VIGYM, ms=4, label="measured")
    p = exponent(rows)
    text = "not enough sizes" if p is None else f"exponent {p:.3f} from {SMALLEST} on"
    sizes = np.array([SMALLEST, max(row.size for row in rows)])
    anchor = rows[-1].microseconds or 1.0
    right.loglog(sizes, anchor * sizes / sizes[-1], "--", color=GREY, label=f"linear; {text}")
    label(right, "on to larger sizes", unit, "us a step")
    caption = f"Time of a step against the number of {unit}: best of all runs, CPU time of one core."
    return save(figure, folder, f"{name}.png", caption)


def judge(rows: list[Row], folder: Path, name: str, unit: str, runs: int) -> Result:
    """Fits, and what they say about the paper's claim."""
    small = [row for row in rows if row.size <= NARROW]
    each = [replace(row, microseconds=(row.microseconds or 0.0) / (row.iterations or 1.0)) for row in rows]
    fits = {"paper": line(small), "all": line(rows)}
    result = Result(name, files=[f"{name}.csv"])
    result.pictures.append(draw(rows, folder, name, unit, fits["paper"]))
    (a, b, square), power = fits["paper"], exponent(small)
    least, most = STRAIGHT
    straight = square >= least and (power is None or power <= most)
    symbol, growth = ("c", "O(c)") if name == "disc" else ("n", "O(n + c)")
    result.claim(
        f"time of a step, {symbol} = 2 to {NARROW}",
        f"linear: {growth} clearly visible (no figures given)",
        f"{round(a, 1) + 0.0} us + {b:.3f} us times the number of {unit}, R^2 = {square:.4f}, exponent {number(power)}",
        AGREES if straight else DIFFERS,
    )
    result.claim(
        f"the same up to {symbol} = {rows[-1].size}",
        "not tried",
        f"R^2 = {fits['all'][2]:.4f}, exponent {number(exponent(rows))}; {rows[-1].microseconds:,.0f} us at the end",
        NEW,
    )
    powers = number(exponent([row for row in each if row.size <= NARROW])), number(exponent(each))
    measured = f"exponent {powers[0]} up to {NARROW}, {powers[1]} up to {rows[-1].size}"
    result.claim("time of one Newton iteration", "not told", measured, NEW)
    failures, deep = sum(row.failures or 0 for row in rows), max(row.penetration or 0.0 for row in rows)
    mean = [row.iterations or 0.0 for row in rows]
    result.claim("steps that could not be solved", "not told", f"{failures} of {STEPS * len(rows):,}", NEW)
    result.claim("deepest penetration", "not told", f"{deep:.1e} m" if deep else "none", NEW)
    result.claim("Newton iterations a step", "not told", f"{min(mean):.1f} to {max(mean):.1f} (mean of a size)", NEW)
    result.method = [
        STARTS[name],
        f"{STEPS} steps of 0.01 s, friction 0.2 in a pyramid, tolerance 1e-6; CPU time of one core, best of {runs} "
        "runs from the same start; sizes take turns, run by run. The paper's time step of 0.01 ms is a misprint of "
        "0.01 s.",
    ]
    result.notes = [
        f"Exponents are slopes of log(time) over log(size) from {SMALLEST} on: below that, constant costs of a step "
        "hide them. The time of a step is its Newton iterations, whose number changes a little from size to size, "
        "times the cost of one: `structure` counts the operations of one iteration, which are linear without any "
        "noise.",
        "The machine is virtual and others use it at the same time: the best of many interleaved runs, in CPU time, "
        "is the most robust figure there is, and single sizes may still be a few per cent off.",
        "The paper gives its times in a figure only, of a Julia program on a laptop: what is compared is the shape, "
        "not the microseconds.",
    ]
    return result


def scaling(name: str, unit: str, folder: Path, quick: bool, parameters: dict[str, float]) -> Result:
    """Measure and judge."""
    sizes = [2, 10, 30, 100, 200] if quick else [*range(2, NARROW + 1, 2), 150, 200, 300, 500, 700, 1000]
    runs = 5 if quick else 100
    rows = measure(name, unit, sizes, runs, parameters)
    table = Table(folder / f"{name}.csv")
    for row in rows:
        table.add(row)
    return judge(rows, folder, name, unit, runs)


def disc(folder: Path, quick: bool) -> Result:
    """A cylinder on its base with c contact points, sliding at 1 m/s until friction stops it."""
    return scaling("disc", "contacts", folder, quick, {})


def chain(folder: Path, quick: bool) -> Result:
    """n links with ball joints and n + 1 contacts, falling and sliding."""
    return scaling("chain", "links", folder, quick, {"drop": PAPER})
