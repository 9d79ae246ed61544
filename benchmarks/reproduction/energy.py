"""Experiment 7: energy and momentum of a free chain against the step size, beside MuJoCo and PyBullet."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vigym.benchmarks.reproduction.drawing import label, panels, save
from vigym.benchmarks.reproduction.result import AGREES, DIFFERS, NEW, Picture, Result, write_csv
from vigym.benchmarks.runner import Runner
from vigym.benchmarks.scenes import Scene, build
from vigym.benchmarks.suites import IMPLICIT, MUJOCO, REDUCED, RIGID, RK4, VIGYM, Mode
from vigym.benchmarks.worker import RUNNERS, available

DTS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02]  # s
LINKS, SECONDS, LOOKS = 10, 10.0, 1000
FULLY: Mode = ("mujoco", "implicit", {"integrator": "implicit"})
MODES = {
    "vigym": (VIGYM, "tab:red", "-"),
    "MuJoCo Euler": (MUJOCO, "tab:blue", "-"),
    "MuJoCo implicit": (FULLY, "tab:blue", "--"),
    "MuJoCo implicitfast": (IMPLICIT, "tab:blue", ":"),
    "MuJoCo RK4": (RK4, "tab:purple", "-"),
    "PyBullet reduced": (REDUCED, "tab:green", "-."),
    "PyBullet rigid bodies": (RIGID, "tab:olive", "-"),
}
RUNAWAY = 1000.0  # times the energy there was: a run that has diverged
WORDS = {"free-chain": "hanging chain", "flying-chain": "flying chain"}
HALVES = slice(0, 3), slice(3, 6)  # linear and angular
EXACT = 1e-6  # relative: what is called conserved, at a tolerance of 1e-6


class Errors(NamedTuple):
    """Largest errors of a run, relative; NaN if it diverged. Momenta only where nothing holds the chain."""

    scene: str
    name: str
    dt: float
    energy: float
    linear: float
    angular: float


def runner(mode: Mode, scene: Scene) -> Runner:
    """The engine with this scene."""
    engine, _, options = mode
    module, name = RUNNERS[engine].split(":")
    return getattr(import_module(module), name)(scene, scene.dt, scene.steps, **options)


def errors(name: str, scene: Scene) -> Errors:
    """One run."""
    engine = runner(MODES[name][0], scene)
    engine.reset()
    every = max(1, scene.steps // LOOKS)
    flying = scene.name == "flying-chain"
    first, start = engine.energy(), engine.momentum()
    assert first is not None
    assert start is not None
    whole = first if flying else available(scene)
    energy, change, lost = 0.0, np.zeros(6), False
    for k in range(scene.steps):
        engine.step(k)
        lost = lost or bool(engine.failures())
        if (k + 1) % every == 0:
            now, momentum = engine.energy(), engine.momentum()
            assert now is not None
            assert momentum is not None
            energy, change = max(energy, abs(now - first)), np.fmax(change, np.abs(momentum - start))
            lost = lost or not np.isfinite([now, *momentum]).all() or energy > RUNAWAY * whole
        if lost:
            return Errors(scene.name, name, scene.dt, np.nan, np.nan, np.nan)
    sizes = np.linalg.norm(start[:3]), np.linalg.norm(start[3:])
    parts = [
        float(np.linalg.norm(change[s]) / size) if flying else np.nan for s, size in zip(HALVES, sizes, strict=True)
    ]
    return Errors(scene.name, name, scene.dt, energy / whole, *parts)


def runs(quick: bool) -> Iterator[Errors]:
    """All engines that are here, all step sizes."""
    from tqdm import tqdm

    dts, seconds = ([0.005, 0.01], 0.5) if quick else (DTS, SECONDS)
    names = [name for name, (mode, _, _) in MODES.items() if mode[0] == "vigym" or find_spec(mode[0]) is not None]
    cases = [(scene, dt, name) for scene in ("free-chain", "flying-chain") for dt in dts for name in names]
    for scene_name, dt, name in tqdm(cases, desc="energy", unit="run"):
        yield errors(name, build(scene_name, links=5 if quick else LINKS, dt=dt, seconds=seconds))


def order(rows: list[Errors], name: str, scene: str) -> float:
    """p of the fit error = a dt^p."""
    points = [(row.dt, row.energy) for row in rows if (row.scene, row.name) == (scene, name) and row.energy > 0]
    if len(points) < 2:
        return np.nan
    steps, sizes = np.log(np.array(points)).T
    return float(np.polyfit(steps, sizes, 1)[0])


def wins(rows: list[Errors], scene: str) -> tuple[int, int]:
    """Count the step sizes at which vigym has the smallest energy error (Runge-Kutta left out), and all step sizes."""
    dts = sorted({row.dt for row in rows})
    count = 0
    for dt in dts:
        mine = [row for row in rows if (row.scene, row.dt) == (scene, dt) and row.name != "MuJoCo RK4"]
        count += min(mine, key=lambda row: (np.isnan(row.energy), row.energy)).name == "vigym"
    return count, len(dts)


def energy(folder: Path, quick: bool) -> Result:
    """Two chains: one hangs and swings, one flies."""
    rows = list(runs(quick))
    result = Result("energy")
    header = ["scene", "method", "time step s", "energy error", "linear momentum error", "angular momentum error"]
    result.files.append(write_csv(folder, "energy.csv", header, rows))
    result.pictures.append(draw(folder, rows))

    ours = [row for row in rows if (row.scene, row.name) == ("flying-chain", "vigym")]
    for what in ("linear", "angular"):
        worst = max(getattr(row, what) for row in ours)
        result.claim(
            f"{what} momentum of a flying chain, largest change",
            "variational (symplectic) integrator; no figures",
            f"{worst:.1e} of itself, at all step sizes",
            AGREES if worst < EXACT else DIFFERS,
        )
    orders = [order(rows, "vigym", scene) for scene in ("free-chain", "flying-chain")]
    result.claim(
        "energy error of vigym against the step size",
        "first-order integrator (symplectic Euler)",
        f"falls with the step to the power {orders[0]:.1f} (hanging chain) and {orders[1]:.1f} (flying chain)",
        AGREES if min(orders) > 0.8 else DIFFERS,
    )
    result.claim(
        "step sizes at which vigym's energy error is the smallest, Runge-Kutta aside",
        "not compared",
        "; ".join(f"{words}: {' of '.join(map(str, wins(rows, scene)))}" for scene, words in WORDS.items()),
        NEW,
    )
    dt = 0.01
    for scene, words in WORDS.items():
        at = {row.name: row.energy for row in rows if row.scene == scene and row.dt == dt}
        told = "; ".join(f"{name} {'diverged' if np.isnan(value) else f'{value:.1e}'}" for name, value in at.items())
        result.claim(f"energy error, {words}, {dt:g} s", "not compared", told, NEW)
    at = {row.name: row.angular for row in rows if row.scene == "flying-chain" and row.dt == dt}
    told = "; ".join(f"{name} {'diverged' if np.isnan(value) else f'{value:.1e}'}" for name, value in at.items())
    result.claim(f"angular momentum error, flying chain, {dt:g} s", "not compared", told, NEW)
    result.method = [
        f"Chains of {5 if quick else LINKS} links with ball joints, {0.5 if quick else SECONDS:g} s. One hangs on "
        "the world, is released horizontally and swings: its energy error is relative to what there was to turn "
        "into motion. One flies without gravity, bent and tumbling: energy, linear and angular momentum are "
        f"relative to their start. Errors are the largest of a run, looked at {LOOKS} times.",
    ]
    result.notes = [
        "Where it loses: a fourth-order Runge-Kutta method in reduced coordinates (MuJoCo RK4) keeps the energy of "
        "a smooth motion much better at small steps, at four evaluations a step. "
        "MuJoCo's implicitfast differs from Euler in damping forces, of "
        "which there are none here, so that both curves coincide.",
        "vigym's velocities are means over a step; its energy is that of the velocities and the heights in the "
        "middle of a step.",
    ]
    missing = [name for name in ("mujoco", "pybullet") if find_spec(name) is None]
    if missing:
        result.notes.append(f"Not installed here and missing: {', '.join(missing)}.")
    return result


def draw(folder: Path, rows: list[Errors]) -> Picture:
    """Four plots over the step size."""
    figure, axes = panels(4, width=5.2, height=3.7, lines=2)
    plots: list[tuple[str, str, str]] = [
        ("free-chain", "energy", "hanging chain: energy"),
        ("flying-chain", "energy", "flying chain: energy"),
        ("flying-chain", "linear", "flying chain: linear momentum"),
        ("flying-chain", "angular", "flying chain: angular momentum"),
    ]
    for axis, (scene, what, title) in zip(axes, plots, strict=True):
        for name, (_, color, dashes) in MODES.items():
            mine: list[Any] = [row for row in rows if (row.scene, row.name) == (scene, name)]
            if mine:
                values = [max(getattr(row, what), 1e-17) for row in mine]
                axis.loglog([1e3 * row.dt for row in mine], values, dashes, marker="o", ms=3, color=color, label=name)
        label(axis, title, "time step, ms", "largest error, relative", legend=False)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize="small")
    caption = "Largest errors against the step size; a point that is missing is a run that diverged."
    return save(figure, folder, "energy.png", caption)
