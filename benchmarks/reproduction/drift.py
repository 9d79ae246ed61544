"""Experiment 6: how far joints open over 100,000 steps."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from vigym.benchmarks.measures import Measures
from vigym.benchmarks.reproduction.baumgarte import Baumgarte
from vigym.benchmarks.reproduction.drawing import GREY, VIGYM, label, panels, save
from vigym.benchmarks.reproduction.result import AGREES, DIFFERS, NEW, Picture, Result, write_csv
from vigym.benchmarks.runner import Runner, Vigym
from vigym.benchmarks.scenes import Scene, build
from vigym.benchmarks.worker import available

LINKS, DT, STEPS = 3, 0.001, 100_000
COARSE = 0.01  # s, the other time step of the paper
ALPHAS = [0.0, 1.0, 10.0, 100.0]  # 1/s
LOST = 1.0  # m: a joint that is open by the length of a link has come off
POINTS = 200  # of a curve
CLOSED = 1e-6  # m: what is called no drift

# name -> steps, largest opening up to there (m), energy error (of the energy there was to turn into motion)
Curves = dict[str, list[tuple[int, float, float]]]


def engines(scene: Scene, dt: float, steps: int) -> Iterator[tuple[str, Runner]]:
    """Ours, and PyBullet's rigid bodies if it is installed."""
    yield "vigym", Vigym(scene, dt, steps)
    if find_spec("pybullet") is not None:
        from vigym.benchmarks.peers.bullet_runner import Bullet

        yield "PyBullet, rigid bodies", Bullet(scene, dt, steps, maximal=True)


def follow(engine: Runner, name: str, every: int) -> list[tuple[int, float, float]]:
    """Look at every step of an engine."""
    from tqdm import tqdm

    measures, worst, points = Measures(engine.scene.mechanism), 0.0, []
    engine.reset()
    first = engine.energy() or 0.0
    for k in tqdm(range(engine.steps), desc=f"drift: {name}", unit="step", mininterval=0.5):
        engine.step(k)
        poses = engine.poses()
        assert poses is not None
        worst = max(worst, measures.separation(*poses))
        if (k + 1) % every == 0:
            points.append((k + 1, worst, ((engine.energy() or 0.0) - first) / available(engine.scene)))
    return points


def stabilised(scene: Scene, dt: float, steps: int, every: int) -> Curves:
    """The chains with Baumgarte's springs; one whose joint comes off ends there."""
    from tqdm import tqdm

    chains = Baumgarte(scene, dt, ALPHAS)
    names = [f"Baumgarte, alpha = {a:g}/s" if a else "no stabilisation" for a in ALPHAS]
    curves: Curves = {name: [] for name in names}
    worst, first = np.zeros(len(names)), chains.energy()
    with np.errstate(all="ignore"):
        for k in tqdm(range(steps), desc="drift: Baumgarte", unit="step", mininterval=0.5):
            chains.step()
            worst = np.fmax(worst, np.nan_to_num(chains.separation(), nan=np.inf))
            lost = ~(worst < LOST)
            if (k + 1) % every == 0 or lost.any():
                errors = (chains.energy() - first) / available(scene)
                for name, opening, error in zip(names, worst, errors, strict=True):
                    curves[name].append((k + 1, float(opening), float(error)))
            if lost.any():
                chains.keep(~lost)
                names = [name for name, gone in zip(names, lost, strict=True) if not gone]
                worst, first = worst[~lost], first[~lost]
            if not names:
                break
    return curves


def measure(dt: float, steps: int) -> Curves:
    """All of them."""
    scene = build("free-chain", links=LINKS, dt=dt)
    every = max(1, steps // POINTS)
    curves = {name: follow(engine, f"{name}, {dt:g} s", every) for name, engine in engines(scene, dt, steps)}
    return curves | stabilised(scene, dt, steps, every)


def tell(points: list[tuple[int, float, float]]) -> str:
    """The end of a curve in words."""
    steps, opening, _ = points[-1]
    return f"comes apart after {steps:,} steps" if not opening < LOST else f"{opening:.1e} m"


def drift(folder: Path, quick: bool) -> Result:
    """A chain of three links that swings for 100 s at the paper's 0.001 s, and 100 s at 0.01 s."""
    steps = 500 if quick else STEPS
    found = {DT: measure(DT, steps), COARSE: measure(COARSE, steps // 10)}
    result = Result("drift")
    header = ["time step s", "method", "step", "largest opening m", "energy error"]
    lines = [(dt, name, *point) for dt, curves in found.items() for name, points in curves.items() for point in points]
    result.files.append(write_csv(folder, "drift.csv", header, lines))
    result.pictures.append(draw(folder, found))
    ours = found[DT]["vigym"][-1][1]
    result.claim(
        f"opening of joints, {steps:,} steps of {DT:g} s",
        "no drift, no stabilisation needed",
        f"{ours:.1e} m",
        AGREES if ours < CLOSED else DIFFERS,
    )
    ours = found[COARSE]["vigym"][-1][1]
    verdict = AGREES if ours < CLOSED else DIFFERS
    result.claim(f"the same, {steps // 10:,} steps of {COARSE:g} s", "no drift", f"{ours:.1e} m", verdict)
    for name in found[DT]:
        if name != "vigym":
            paper = "stabilisation has its own numerical difficulties" if "Baum" in name else "not compared"
            told = f"{tell(found[DT][name])} at {DT:g} s; {tell(found[COARSE][name])} at {COARSE:g} s"
            result.claim(name, paper, told, NEW)
    result.method = [
        f"A chain of {LINKS} links (1 kg, 1 m) hangs on the world by ball joints, is released horizontally and "
        "swings without friction. The opening of a joint is the distance of its two anchors, by the same formula "
        "for all; curves show the largest one up to then, looked at in every step. vigym solves to 1e-6.",
        "Baumgarte: the same bodies and joints with constraints on accelerations and springs that let openings decay "
        "critically damped at rate alpha, semi-implicit Euler (`benchmarks/reproduction/baumgarte.py`).",
    ]
    result.notes = [
        "Motion of such a chain is chaotic: curves of the energy cannot be compared point by point, only by their "
        "size. Energy errors are relative to the energy that there was to turn into motion.",
    ]
    result.notes.append(
        "Where a chain with Baumgarte's springs comes apart, its energy has grown first (right): the springs hold a "
        "joint only as long as the integrator of the accelerations holds the motion, and stiffer springs need "
        "shorter steps."
    )
    if not any("PyBullet" in name for name in found[DT]):
        result.notes.append("PyBullet is not installed here (it has no wheels for every Python) and is missing.")
    return result


def draw(folder: Path, found: dict[float, Curves]) -> Picture:
    """Openings at both time steps, and energies at the finer one."""
    figure, axes = panels(3, width=4.7, height=4.4)
    colors = {"vigym": VIGYM, "PyBullet, rigid bodies": "tab:green", "no stabilisation": GREY}
    shades = iter(("tab:blue", "tab:purple", "tab:cyan"))
    for name in next(iter(found.values())):
        colors[name] = colors.get(name) or next(shades)
    for axis, (dt, curves) in zip(axes, found.items(), strict=False):
        for name, points in curves.items():
            k, opening, _ = np.array(points).T
            axis.loglog(k, np.clip(opening, 1e-16, LOST), color=colors[name], label=name)
            if not opening[-1] < LOST:
                axis.plot(k[-1], LOST, "x", color=colors[name], ms=9)
        label(axis, f"joints, steps of {dt:g} s", "step", "largest opening so far, m", legend=False)
    for name, points in found[DT].items():
        k, _, error = np.array(points).T
        axes[2].loglog(k, np.maximum.accumulate(np.abs(error)), color=colors[name], label=name)
    label(axes[2], f"energy, steps of {DT:g} s", "step", "largest error so far, relative", legend=False)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize="small")
    caption = "Largest opening of a joint so far; x: a joint has come off (1 m). Right: energy error."
    return save(figure, folder, "drift.png", caption)
