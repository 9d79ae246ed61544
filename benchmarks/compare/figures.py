"""Pictures of a case: eight panels, and a ninth for the height of a foot."""

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
LIMIT = "distance from own limit, m"
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
    feet = [contact.name for contact in scene.mechanism.contacts]
    foot = feet.index(case.foot) if case.foot else None
    titles = {
        "path": (f"path of {case.body}", *_labels(case)),
        "gap": ("lowest contact", "s", "mm (finer scale below 0.1)"),
        "foot": (f"height of {case.foot}", "s", "mm"),
        "slip": ("slip of all contacts in their stances", "s", "mm"),
        "open": ("joints open", "s", "m"),
        "energy": ("energy", "s", "J"),
        "pole": ("angular momentum about the vertical", "s", "N m s"),
        "limit": ("convergence to each engine's own limit", f"time step, ms (compared every {EVERY:g} s)", LIMIT),
        "cost": ("cost", "time step, ms", "s of CPU a simulated second"),
    }
    if foot is None:
        del titles["foot"]
    rows, size = (2, (18, 8.5)) if foot is None else (3, (15, 12))
    figure, grid = plt.subplots(rows, len(titles) // rows, figsize=size, layout="constrained")
    figure.suptitle(f"{case.title}; motions at steps of {1e3 * case.shown:g} ms")
    panels = dict(zip(titles, grid.flat, strict=True))
    style = styles(case)
    for r, d in shown:
        _motion(panels, case, r.x[:, case.index(scene)], foot, r, d, style[r.mode.label])
    for name in ("limit", "cost"):
        _by_step(panels[name], table, style, name)
    panels["gap"].set_yscale("symlog", linthresh=0.1)
    panels["open"].set_yscale("log")
    for name, panel in panels.items():
        title, x, y = titles[name]
        panel.set(title=title, xlabel=x, ylabel=y)
        panel.grid(alpha=0.3)
        if not panel.has_data():
            panel.set_axis_off()
            panel.text(0.5, 0.5, "nothing to show", transform=panel.transAxes, ha="center", color="gray")
    panels["path"].legend(fontsize="small")
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path


def _labels(case: Case) -> tuple[str, str]:
    return tuple("s" if axis == "t" else f"{axis}, m" for axis in case.plane)  # type: ignore[return-value]


def _motion(
    panels: dict[str, Any], case: Case, body: Array, foot: int | None, r: Recording, d: Derived, style: dict[str, Any]
) -> None:
    """The panels that show a motion over time (or its path), until its energy comes from nowhere."""
    blown = np.flatnonzero(case.passive & (d.energy > BLOWN * abs(d.energy[0])))
    end = int(blown[0]) if len(blown) else len(r.times)
    t = r.times[:end]
    along = [t if axis == "t" else body[:end, AXES.index(axis)] for axis in case.plane]
    panels["path"].plot(*along, **style)
    if d.gaps.shape[1]:
        panels["gap"].plot(t, 1e3 * d.gaps[:end].min(1), **style)
        panels["slip"].plot(t, 1e3 * d.slip[:end].sum(1), **style)
    if foot is not None:
        panels["foot"].plot(t, 1e3 * d.gaps[:end, foot], **style)
    if d.separation.any():
        panels["open"].plot(t, np.maximum(d.separation[:end], 1e-16), **style)
    panels["energy"].plot(t, d.energy[:end], **style)
    panels["pole"].plot(t, d.pole[:end], **style)


def _by_step(panel: Any, table: Sequence[Figures], style: dict[str, dict[str, Any]], name: str) -> None:
    for mode, look in style.items():
        rows = [(row.dt, getattr(row, name)) for row in table if row.label == mode]
        points = [(dt, value) for dt, value in rows if value is not None and np.isfinite(value) and value > 0]
        if points:
            panel.loglog(*zip(*points, strict=True), marker="o", **look)
    steps = sorted({row.dt for row in table})
    if panel.has_data():
        panel.set_xticks(steps, [f"{1e3 * dt:g}" for dt in steps])
        panel.set_xticks([], minor=True)
