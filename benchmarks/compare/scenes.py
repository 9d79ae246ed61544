"""`vigym compare SCENE ...`: run the cases, write a table, a picture and the figures (CSV) of each."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from vigym.benchmarks.compare.cases import Case
from vigym.benchmarks.compare.figures import draw
from vigym.benchmarks.compare.record import Figures, Recording, derive, figures, record
from vigym.benchmarks.tables import markdown
from vigym.engine.durable import write_rows

HEADER = [
    "engine",
    "step, ms",
    "deepest, mm",
    "slip, mm a stance",
    "joints open, mm",
    "energy gained, J",
    "momentum lost",
    "from own limit, mm",
    "from the formula, mm",
    "cost, ms a second",
]


def run(case: Case, folder: Path, tell: Callable[[str], None] = print) -> list[Figures]:
    """All engines at all time steps; figures and the picture of the case."""
    scene, table, shown = case.build(), [], []
    for mode in case.modes:
        try:
            fine: Recording | None = record(mode, scene, case.fine, case.seconds, timed=False)
        except ModuleNotFoundError as error:
            tell(f'{mode.label} is left out: {error}; pip install "vigym[compare]" brings it')
            continue
        for dt in case.dts:
            tell(f"{case.name}: {mode.label}, {1e3 * dt:g} ms")
            recording = record(mode, scene, dt, case.seconds)
            derived = derive(case, scene, recording)
            table.append(figures(case, scene, recording, derived, fine))
            if dt == case.shown:
                shown.append((recording, derived))
    write_rows(folder / f"{case.name}.csv", [[part.name for part in fields(Figures)], *map(astuple, table)])
    draw(case, scene, shown, table, folder / f"{case.name}.png")
    return table


def read(path: Path) -> list[Figures]:
    """The figures of a case from its file."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        Figures(
            row.pop("label"),
            failures=int(row.pop("failures")),
            diverged=row.pop("diverged") == "True",
            **{name: float(value) if value else None for name, value in row.items()},  # type: ignore[arg-type]
        )
        for row in rows
    ]


def number(value: float | None, unit: float = 1.0, least: float = 1e-9) -> str:
    """Two digits; a dash where there is nothing, 0 for what is less than `least` units."""
    if value is None:
        return "-"
    value /= unit
    return "0" if abs(value) < least else f"{value:.0f}" if 100 <= abs(value) < 1e5 else f"{value:.2g}"


def text(table: Sequence[Figures]) -> str:
    """The table of a case (Markdown); columns that say nothing are left out."""
    lines = []
    for row in table:
        cells = [
            number(row.deepest, 1e-3),
            number(row.slip, 1e-3),
            number(row.separation, 1e-3),
            number(row.gained),
            number(row.momentum),
            "diverged" if row.diverged else number(row.limit, 1e-3),
            number(row.exact, 1e-3),
            number(row.cost, 1e-3),
        ]
        lines.append([row.label, f"{1e3 * row.dt:g}", *cells])
    kept = [k for k in range(len(HEADER)) if any(line[k] != "-" for line in lines)]
    return markdown([HEADER[k] for k in kept], [[line[k] for k in kept] for line in lines])


def failures(table: Sequence[Figures]) -> dict[str, int]:
    """Steps that an engine could not solve, by label, where there are any."""
    found: dict[str, int] = {}
    for row in table:
        if row.failures:
            found[row.label] = found.get(row.label, 0) + row.failures
    return found
