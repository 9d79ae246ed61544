"""Experiments 1 and 2: time of a step against the number of contacts of a disc, and of links of a chain.

100 steps of 0.01 s, friction 0.2, tolerance 1e-6, best of 100 runs, as in the paper. The runs of all sizes are
interleaved, so that a busy minute of the machine meets all of them and not one.
"""

from pathlib import Path

import numpy as np

from vigym.benchmarks.reproduction.drawing import GREY, VIGYM, label, panels, save
from vigym.benchmarks.reproduction.result import AGREES, DIFFERS, NEW, Result
from vigym.benchmarks.rows import Row, Table
from vigym.benchmarks.runner import Vigym
from vigym.benchmarks.scenes import build
from vigym.benchmarks.scenes.chain import PAPER
from vigym.benchmarks.targets import SMALLEST, exponent

STEPS, TOLERANCE = 100, 1e-6
NARROW = 100  # the paper's largest size
STRAIGHT = 0.99, 1.1  # what is called linear: R^2 at least, exponent at most


def measure(name: str, unit: str, sizes: list[int], runs: int, parameters: dict[str, float]) -> list[Row]:
    """Best CPU and wall time of STEPS steps from the start, for every size; and what the steps cost."""
    from tqdm import tqdm

    engines, rows = [], []
    for size in tqdm(sizes, desc=f"{name}: first pass", unit="size"):
        scene = build(name, **{unit: size}, **parameters)
        engine = Vigym(scene, scene.dt, STEPS, tolerance=TOLERANCE)
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


def draw(rows: list[Row], folder: Path, name: str, unit: str, fits: dict[str, tuple[float, float, float]]) -> Result:
    """The paper's figure, and the same on to larger sizes."""
    result = Result(name, "")
    small = [row for row in rows if row.size <= NARROW]
    figure, (left, right) = panels(2)
    left.plot([r.size for r in small], [r.microseconds or 0 for r in small], "o", color=VIGYM, ms=4, label="measured")
    a, b, square = fits["paper"]
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
    result.pictures.append(save(figure, folder, f"{name}.png", caption))
    return result


def scaling(name: str, unit: str, title: str, folder: Path, quick: bool, parameters: dict[str, float]) -> Result:
    """Measure, fit, judge."""
    sizes = [2, 10, 30, 100, 200] if quick else [*range(2, NARROW + 1, 2), 150, 200, 300, 500, 700, 1000]
    runs = 5 if quick else 100
    rows = measure(name, unit, sizes, runs, parameters)
    table = Table(folder / f"{name}.csv")
    for row in rows:
        table.add(row)
    small = [row for row in rows if row.size <= NARROW]
    fits = {"paper": line(small), "all": line(rows)}
    result = draw(rows, folder, name, unit, fits)
    result.title, result.files = title, [f"{name}.csv"]
    (a, b, square), powers = fits["paper"], (exponent(small), exponent(rows))
    least, most = STRAIGHT
    straight = square >= least and (powers[0] is None or powers[0] <= most)
    power = "-" if powers[0] is None else f"{powers[0]:.3f}"
    fit = f"{round(a, 1) + 0.0} us + {b:.3f} us times the number of {unit}, R^2 = {square:.4f}, exponent {power}"
    symbol = "c" if name == "disc" else "n"
    growth = "O(c)" if name == "disc" else "O(n + c)"
    result.claim(
        f"time of a step, {symbol} = 2 to {NARROW}",
        f"linear: {growth} clearly visible (no figures given)",
        fit,
        AGREES if straight else DIFFERS,
    )
    a, b, square = fits["all"]
    power = "-" if powers[1] is None else f"{powers[1]:.3f}"
    largest = rows[-1]
    result.claim(
        f"the same up to {symbol} = {sizes[-1]}",
        "not tried",
        f"R^2 = {square:.4f}, exponent {power}; {largest.microseconds:,.0f} us a step at the largest",
        NEW,
    )
    failures, deep = sum(row.failures or 0 for row in rows), max(row.penetration or 0.0 for row in rows)
    mean = [row.iterations or 0.0 for row in rows]
    result.claim("steps that could not be solved", "not told", f"{failures} of {STEPS * len(rows):,}", NEW)
    result.claim("deepest penetration", "not told", f"{deep:.1e} m" if deep else "none", NEW)
    result.claim("Newton iterations a step", "not told", f"{min(mean):.1f} to {max(mean):.1f} (mean of a size)", NEW)
    result.method = [
        f"{STEPS} steps of 0.01 s, friction 0.2, tolerance 1e-6; CPU time of one core, best of {runs} runs from the "
        "same start; sizes take turns, run by run. The paper's time step of 0.01 ms is a misprint of 0.01 s.",
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


def disc(folder: Path, quick: bool) -> Result:
    """A cylinder on its base with c contact points, sliding at 1 m/s until friction stops it."""
    result = scaling("disc", "contacts", "A single body with c contacts", folder, quick, {})
    result.method.insert(
        0,
        "A cylinder (1 kg, radius 0.5 m, height 0.1 m) with c contact points on the rim of its base starts on the "
        "ground at 1 m/s and slides to rest after half a second. The paper does not give its start.",
    )
    return result


def chain(folder: Path, quick: bool) -> Result:
    """n links with ball joints and n + 1 contacts, falling and sliding."""
    result = scaling("chain", "links", "A chain of n links with n + 1 contacts", folder, quick, {"drop": PAPER})
    result.method.insert(
        0,
        "n cylinders (1 kg, 1 m, radius 0.05 m) with ball joints between them and n + 1 contact points fall from "
        f"{PAPER} m, land, and slide sideways at 0.5 m/s. The paper does not give its start.",
    )
    return result
