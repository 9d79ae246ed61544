"""Rows as Markdown."""

from collections.abc import Sequence
from itertools import compress

from vigym.benchmarks.rows import ACCURACY, Row
from vigym.benchmarks.targets import Target, exponent

GROWING = ("disc", "chain", "loops")
RARE = "retried"  # a column that is left out where there is nothing to tell
SETTINGS = "vigym has its default, the exact friction cone, and solves to 1e-6."


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table; every line has as many cells as the header."""
    told = [name != RARE or any(line[k] not in ("0", "-") for line in lines) for k, name in enumerate(header)]
    text = [f"| {' | '.join(compress(line, told))} |" for line in (header, *lines)]
    return "\n".join([text[0], f"|{'---|' * sum(told)}", *text[1:]]) + "\n"


def number(value: float | None, digits: int = 3, unit: float = 1.0) -> str:
    """A figure for a table; a dash where there is none."""
    if value is None:
        return "-"
    value = value / unit
    short = abs(value) < 10**digits - 0.5  # what rounds up to one digit more is written in full
    return "0" if value == 0 else f"{value:.{digits}g}" if short else f"{value:,.0f}"


def time_of(row: Row | None) -> str:
    """Microseconds, or what happened instead."""
    if row is None:
        return "-"
    return number(row.microseconds) if row.status == "ok" else row.status


def costs(rows: Sequence[Row]) -> list[str]:
    """The worst of: penetration (mm), separation (mm), mean iterations, failed solves, steps tried again."""

    def worst(name: str) -> float | None:
        return max((getattr(row, name) for row in rows if getattr(row, name) is not None), default=None)

    return [
        number(worst("penetration"), 2, 1e-3),
        number(worst("separation"), 2, 1e-3),
        number(worst("iterations")),
        number(worst("failures")),
        number(worst("retried")),
    ]


COSTS = ["deepest mm", "joints open mm", "iterations", "failed", RARE]


def growth(rows: Sequence[Row]) -> str:
    """Microseconds a step by size, with the exponent, one line an engine, mode and height of fall."""
    sizes = sorted({row.size for row in rows})
    lines = []
    for label, drop in dict.fromkeys((row.label, row.drop) for row in rows):
        mine = [row for row in rows if (row.label, row.drop) == (label, drop)]
        by_size = {row.size: row for row in mine}
        good = [row for row in mine if row.status == "ok"]
        name = label if drop is None else f"{label}, from {drop:g} m"
        p = exponent(good)
        lines.append([name, *(time_of(by_size.get(size)) for size in sizes), number(p), *costs(mine)])
    return markdown(["us a step", *map(str, sizes), "exponent", *COSTS], lines)


def sequence(cells: Sequence[str]) -> str:
    """Cells in one; a dash if there is nothing in any of them."""
    return " / ".join(cells) if set(cells) - {"-"} else "-"


def by_step(rows: Sequence[Row]) -> str:
    """Microseconds a step by time step, one line an engine, mode, scene and number of environments.

    Penetration and energy error depend on the step: one figure for each that was run, in the order of the columns.
    """
    rows = [row for row in rows if row.timing != ACCURACY and row.status != "missing"]
    dts = sorted({row.dt for row in rows if row.dt is not None})
    lines = []
    for key in dict.fromkeys((row.scene, row.label, row.num_envs) for row in rows):
        mine = [row for row in rows if (row.scene, row.label, row.num_envs) == key]
        at = {row.dt: row for row in mine}
        run = [at[dt] for dt in dts if dt in at]
        deepest = sequence([number(row.penetration, 2, 1e-3) for row in run])
        energy = sequence(["-" if row.energy_error is None else f"{row.energy_error:.1e}" for row in run])
        name = f"{key[0]} {key[1]}" + (f", {key[2]} at once" if key[2] > 1 else "")
        lines.append([name, *(time_of(at.get(dt)) for dt in dts), deepest, *costs(mine)[1:], energy])
    return markdown(["us a step", *(f"{1e3 * dt:g} ms" for dt in dts), *COSTS, "energy error"], lines)


def touching(rows: Sequence[Row]) -> str:
    """Bodies that touch each other, one line a scene, size, time step and engine."""
    lines = []
    for row in sorted(rows, key=lambda row: (row.scene, row.size, row.dt or 0.0, row.num_envs)):
        batch = f"x {row.num_envs}" if row.num_envs > 1 else ""
        name = f"{row.scene} {row.size or ''} {batch}".replace("  ", " ").strip()
        figures = [number(row.penetration, 2, 1e-3), number(row.creep, 2, 1e-3), number(row.gained, 2, 1e-3)]
        steps = [number(row.iterations), number(row.failures), number(row.relaxed), number(row.cut)]
        lines.append([name, number(row.dt, 3, 1e-3), row.label, time_of(row), *figures, *steps])
    header = ["scene", "step ms", "engine", "us a step", "deepest mm", "creep mm/s", "gained mm", "iterations"]
    return markdown([*header, "failed", "relaxed", "cut"], lines)


def accuracy(rows: Sequence[Row]) -> str:
    """Foot height and travel of the trot against the same engine's fine steps."""
    rows = [row for row in rows if row.timing == ACCURACY]
    dts = sorted({row.dt for row in rows if row.dt is not None})
    lines = []
    for label in dict.fromkeys(row.label for row in rows):
        at = {row.dt: row for row in rows if row.label == label}
        cells = []
        for dt in dts:
            row = at.get(dt)
            foot = None if row is None else row.foot_error
            travel = None if row is None else row.travel_error
            cells.append(f"{number(foot, 2, 1e-3)} / {number(travel, 2, 0.01)}" if foot is not None else "-")
        lines.append([label, *cells])
    return markdown(["mm of a foot / % of travel", *(f"{1e3 * dt:g} ms" for dt in dts)], lines)


BRACKETS = (
    "In brackets: how many times as fast as one thread, and how many times two simulations are that share nothing but "
    "the machine; medians of ratios measured in turns."
)


def pace(row: Row) -> str:
    """Environment steps a second, and what they gain by their threads; and what simulations that share nothing do."""
    apart = "" if row.apart is None else f", apart {row.apart:.2f}x"
    gain = "" if row.gain is None else f" ({row.gain:.2f}x{apart})"
    return number(row.steps_per_second) + gain if row.status == "ok" else row.status


def batches(rows: Sequence[Row]) -> str:
    """Environment steps a second, one line a scene, engine and number of threads; with BRACKETS."""
    counts = sorted({row.num_envs for row in rows})
    lines = []
    for key in dict.fromkeys((row.scene, row.label, row.threads) for row in rows):
        mine = [row for row in rows if (row.scene, row.label, row.threads) == key]
        at = {row.num_envs: row for row in mine}
        cells = [pace(at[n]) if n in at else "-" for n in counts]
        lines.append([key[0], key[1], str(key[2]), *cells, *costs(mine)])
    return markdown(["scene", "engine", "threads", *map(str, counts), *COSTS], lines)


def starts(rows: Sequence[Row]) -> str:
    """Overhead and start of a process."""
    lines = []
    for row in rows:
        value = f"{number(row.microseconds)} us" if row.microseconds is not None else f"{number(row.seconds)} s"
        lines.append([f"{row.scene} {row.mode}".strip(), value if row.status == "ok" else row.status, row.timing])
    return markdown(["", "measured", "what"], lines)


def judged(targets: Sequence[Target]) -> str:
    """target / measured / reached"""
    verdict = {True: "yes", False: "NO", None: "?"}
    lines = [[target.name, target.goal, target.measured, verdict[target.reached]] for target in targets]
    return markdown(["target", "goal", "measured", "reached"], lines)


def report(rows: Sequence[Row], targets: Sequence[Target], title: str) -> str:
    """All tables, and what went wrong."""
    parts = [f"# {title}\n", f"{SETTINGS}\n", "## Targets\n", judged(targets)]
    for suite in dict.fromkeys(row.suite for row in rows):
        mine = [row for row in rows if row.suite == suite]
        parts.append(f"## {suite}\n")
        if suite in GROWING:
            parts.append(growth(mine))
        elif suite == "batch":
            parts += [f"Environment steps a second. {BRACKETS}\n", batches(mine)]
        elif suite == "touching":
            parts.append(touching(mine))
        elif suite == "startup":
            parts.append(starts(mine))
        else:
            parts.append(by_step(mine))
        if any(row.timing == ACCURACY for row in mine):
            parts.append(accuracy(mine))
    wrong = [[r.suite, r.label, str(r.size or r.dt or ""), r.status, r.note] for r in rows if r.status != "ok"]
    if wrong:
        parts += ["## What went wrong\n", markdown(["suite", "engine", "size or dt", "status", "note"], wrong)]
    return "\n".join(parts)
