"""Pictures of the tosses."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from vigym.assets.cube import SIDE
from vigym.benchmarks.compare.figures import pyplot
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.data import RATE, Tosses, angles, errors
from vigym.benchmarks.tosses.study import landing

COLORS = {"vigym": "tab:red", "MuJoCo": "tab:blue", "PyBullet": "tab:green"}


def look(name: str) -> dict[str, str]:
    """Colour and dashes of an engine."""
    engine, *more = name.split(", ")
    return {"color": COLORS[engine], "linestyle": "--" if more else "-", "label": name}


def distributions(tosses: Tosses, runs: Mapping[str, Array], path: Path) -> Path:
    """Share of the tosses that are better than an error, for each engine."""
    plt = pyplot()
    from matplotlib.ticker import LogLocator, NullFormatter

    figure, panels = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    for name, simulated in runs.items():
        for panel, values in zip(panels, errors(tosses, simulated), strict=True):
            panel.plot(np.sort(values), np.linspace(0, 100, len(values)), **look(name))
    for panel, what in zip(panels, ("position error, % of the width", "rotation error, degrees"), strict=True):
        panel.set(xlabel=what, ylabel="% of tosses that are better", xscale="log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        panel.xaxis.set_major_formatter("{x:g}")
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.grid(alpha=0.3, which="both")
        panel.legend(handlelength=3, fontsize="small")
    figure.suptitle("Tosses that the fit has not seen")
    figure.savefig(path, dpi=90)
    plt.close(figure)
    return path


def pyramids(tosses: Tosses, runs: Mapping[str, Array], path: Path) -> Path:
    """Plot where cubes end, by the direction of the throw, with the pyramid and with the exact cone."""
    plt = pyplot()
    figure, panels = plt.subplots(1, 2, figsize=(12, 4.5), sharey=True, layout="constrained")
    for name, color in zip(runs, ("tab:gray", "tab:red"), strict=True):
        *offs, angle = landing(tosses, runs[name])
        for panel, off in zip(panels, offs, strict=True):
            panel.plot(np.degrees(angle) % 90, 100 * off / SIDE, ".", color=color, label=name, markersize=4)
    for panel, what in zip(panels, ("too far along the throw", "too far to its left"), strict=True):
        panel.set(title=what, xlabel="direction of the throw from an axis of the pyramid, degrees")
        panel.grid(alpha=0.3)
        panel.legend()
    panels[0].set_ylabel("at the end, % of the width")
    figure.savefig(path, dpi=90)
    plt.close(figure)
    return path


def examples(tosses: Tosses, runs: Mapping[str, Array], path: Path) -> Path:
    """The best, the median and the worst toss by the mean of all engines: height, path and rotation error."""
    plt = pyplot()
    order = np.argsort(np.sum([errors(tosses, simulated) for simulated in runs.values()], axis=(0, 1)))
    chosen = {"best": order[0], "median": order[len(order) // 2], "bad": order[-len(order) // 20], "worst": order[-1]}
    figure, panels = plt.subplots(3, 4, figsize=(16, 9), layout="constrained")
    for column, (what, i) in zip(panels.T, chosen.items(), strict=True):
        length = int(tosses.lengths[i])
        t = np.arange(length) / RATE
        real = tosses.measured[i, :length]
        column[0].plot(t, real[:, 2], "k", label="measured")
        column[1].plot(real[:, 0], real[:, 1], "k")
        for name, simulated in runs.items():
            run = simulated[i, :length]
            column[0].plot(t, run[:, 2], **look(name))
            column[1].plot(run[:, 0], run[:, 1], **look(name))
            column[2].plot(t, angles(tosses, simulated)[i, :length], **look(name))
        column[0].set(title=f"{what}: toss {tosses.ids[i]}", xlabel="s", ylabel="height of the centre, m")
        column[1].set(xlabel="x, m", ylabel="y, m")
        column[1].axis("equal")
        column[2].set(xlabel="s", ylabel="rotation error, degrees")
    panels[0, 0].legend(fontsize="small", handlelength=3)
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path
