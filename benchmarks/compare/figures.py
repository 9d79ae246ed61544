"""Pictures of a case: eight panels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vigym.benchmarks.compare.cases import Case
from vigym.benchmarks.compare.record import EVERY, Derived, Figures, Recording
from vigym.benchmarks.scenes.scene import Array, Scene

COLORS = {"vigym": "tab:red", "mujoco": "tab:blue", "pybullet": "tab:green"}
DASHES = ("-", "--", ":")
AXES = "xyz"
BLOWN = 1.5  # a passive motion is drawn until it has so many times the energy that it started with


def pyplot() -> Any:
    """Matplotlib without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def styles(case: Case) -> dict[str, dict[str, Any]]:
    """A colour for each engine, dashes for its modes."""
    seen: dict[str, int] = {}
    found = {}
    for mode in case.modes:
        k = seen.get(mode.engine, 0)
        found[mode.label] = {"color": COLORS[mode.engine], "linestyle": DASHES[k % len(DASHES)], "label": mode.label}
        seen[mode.engine] = k + 1
    return found


def draw(
    case: Case, scene: Scene, shown: Sequence[tuple[Recording, Derived]], table: Sequence[Figures], path: Path
) -> Path:
    """All panels of a case; `shown` are the recordings at the step `case.shown`."""
    plt = pyplot()
    figure, panels = plt.subplots(2, 4, figsize=(18, 8.5), layout="constrained")
    figure.suptitle(f"{case.title}; motions at steps of {1e3 * case.shown:g} ms")
    style = styles(case)
    for r, d in shown:
        _motion(panels.flat, case, r.x[:, case.index(scene)], r, d, style[r.mode.label])
    titles = (
        (f"path of {case.body}", *_labels(case)),
        ("lowest contact", "s", "mm (finer scale below 0.1)"),
        ("slip of all contacts while they touch", "s", "mm"),
        ("joints open", "s", "m"),
        ("energy", "s", "J"),
        ("angular momentum about the vertical", "s", "N m s"),
    )
    for panel, (title, x, y) in zip(panels.flat, titles, strict=False):
        panel.set(title=title, xlabel=x, ylabel=y)
    panels[0, 1].set_yscale("symlog", linthresh=0.1)
    panels[0, 3].set_yscale("log")
    _by_step(panels[1, 2], table, style, "limit", "distance from own limit, m")
    panels[1, 2].set(title="convergence to each engine's own limit")
    _by_step(panels[1, 3], table, style, "cost", "s of CPU a simulated second")
    panels[1, 3].set(title="cost")
    for panel in panels.flat:
        panel.grid(alpha=0.3)
        if not panel.has_data():
            panel.set_axis_off()
            panel.text(0.5, 0.5, "nothing to show", transform=panel.transAxes, ha="center", color="gray")
    panels[0, 0].legend(fontsize="small")
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path


def _labels(case: Case) -> tuple[str, str]:
    return tuple("s" if axis == "t" else f"{axis}, m" for axis in case.plane)  # type: ignore[return-value]


def _motion(panels: Any, case: Case, body: Array, r: Recording, d: Derived, style: dict[str, Any]) -> None:
    """The six panels that show a motion over time (or its path), until its energy comes from nowhere."""
    blown = np.flatnonzero(case.passive & (d.energy > BLOWN * abs(d.energy[0])))
    end = int(blown[0]) if len(blown) else len(r.times)
    t = r.times[:end]
    along = [t if axis == "t" else body[:end, AXES.index(axis)] for axis in case.plane]
    panels[0].plot(*along, **style)
    if d.gaps.shape[1]:
        panels[1].plot(t, 1e3 * d.gaps[:end].min(1), **style)
        panels[2].plot(t, 1e3 * d.slip[:end].sum(1), **style)
    if d.separation.any():
        panels[3].plot(t, np.maximum(d.separation[:end], 1e-16), **style)
    panels[4].plot(t, d.energy[:end], **style)
    panels[5].plot(t, d.pole[:end], **style)


def _by_step(panel: Any, table: Sequence[Figures], style: dict[str, dict[str, Any]], name: str, label: str) -> None:
    for mode, look in style.items():
        rows = [(row.dt, getattr(row, name)) for row in table if row.label == mode]
        points = [(dt, value) for dt, value in rows if value is not None and np.isfinite(value) and value > 0]
        if points:
            panel.loglog(*zip(*points, strict=True), marker="o", **look)
    panel.set(xlabel=f"time step, s (compared every {EVERY:g} s)" if name == "limit" else "time step, s", ylabel=label)
