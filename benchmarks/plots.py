"""Rows as PNG pictures."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vigym.benchmarks.rows import Row
from vigym.benchmarks.tables import GROWING
from vigym.benchmarks.targets import exponent

COLORS = {"vigym": "tab:red", "mujoco": "tab:blue", "pybullet": "tab:green"}
DASHES = ("-", "--", ":", "-.", (0, (1, 3)), (0, (5, 1, 1, 1, 1, 1)))


def picture(
    rows: Sequence[Row],
    path: Path,
    title: str,
    x: tuple[str, Callable[[Row], float | None]],
    y: tuple[str, Callable[[Row], float | None]],
    key: Callable[[Row], str],
    fit: bool = False,
) -> Path | None:
    """A log-log plot of y over x, one line for each key; `fit` puts the exponent into the legend. None if empty."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    drawn: dict[str, int] = {}
    for name in dict.fromkeys(key(row) for row in rows):
        mine = [row for row in rows if key(row) == name and row.status == "ok"]
        points = sorted((a, b) for row in mine if (a := x[1](row)) and (b := y[1](row)))
        if not points:
            continue
        engine = mine[0].engine
        style: dict[str, Any] = {"color": COLORS.get(engine), "linestyle": DASHES[drawn.get(engine, 0) % len(DASHES)]}
        drawn[engine] = drawn.get(engine, 0) + 1
        p = exponent(mine) if fit else None
        axes.loglog(*zip(*points, strict=True), marker="o", label=name if p is None else f"{name} (^{p:.2f})", **style)
    if drawn:
        axes.set(title=title, xlabel=x[0], ylabel=y[0])
        axes.grid(which="both", alpha=0.3)
        axes.legend(fontsize="small")
        figure.savefig(path, dpi=120)
    plt.close(figure)
    return path if drawn else None


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """All pictures that these rows are enough for."""
    time = "us a step", lambda row: row.microseconds
    made = []
    for suite in dict.fromkeys(row.suite for row in rows):
        mine = [row for row in rows if row.suite == suite]
        path = folder / f"{suite}.png"
        if suite in GROWING:
            name = {"disc": "contacts", "chain": "links", "loops": "cells"}[suite]

            def fallen(row: Row) -> str:
                return row.label if row.drop is None else f"{row.label}, from {row.drop:g} m"

            made.append(picture(mine, path, suite, (name, lambda row: row.size), time, fallen, fit=True))
        elif suite == "batch":
            for scene in dict.fromkeys(row.scene for row in mine):
                made.append(
                    picture(
                        [row for row in mine if row.scene == scene],
                        folder / f"batch-{scene}.png",
                        f"batch of {scene}",
                        ("environments", lambda row: row.num_envs),
                        ("environment steps a second", lambda row: row.steps_per_second),
                        lambda row: f"{row.label}, {row.threads} thread{'s' * (row.threads > 1)}",
                    )
                )
        elif suite not in ("startup", "touching"):
            across = "time step, s", lambda row: row.dt
            single = [row for row in mine if row.num_envs == 1]
            energetic = any(row.energy_error is not None for row in mine)
            what = ("energy error", lambda row: row.energy_error) if energetic else time
            made.append(picture(single, path, suite, across, what, lambda row: f"{row.scene} {row.label}"))
            swept = [row for row in mine if row.foot_error]
            error = "error of foot height, m", lambda row: row.foot_error
            title = f"{suite}, against own fine steps"
            made.append(picture(swept, folder / f"{suite}-accuracy.png", title, across, error, lambda row: row.label))
    return [path for path in made if path is not None]
