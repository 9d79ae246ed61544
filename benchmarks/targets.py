"""The figures that vigym is to reach, judged from measured rows."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from vigym.benchmarks.rows import ACCURACY, Row
from vigym.benchmarks.scenes.chain import GENTLE
from vigym.benchmarks.worker import FINE

DEEPEST = 1e-9  # m
FOOT, TRAVEL = 2e-3, 0.01  # m, relative: how far a trot may be from its own fine steps
NOT_CLOSE = ", not close enough"
SMALLEST = 10  # contacts or links: below this, constant costs hide the exponent


class Target(NamedTuple):
    """reached: None if rows are missing."""

    name: str
    goal: str
    measured: str
    reached: bool | None


def select(rows: Sequence[Row], **values: object) -> list[Row]:
    """Rows that went well and have these values."""
    return [row for row in rows if row.status == "ok" and all(getattr(row, k) == v for k, v in values.items())]


def fastest(rows: Sequence[Row]) -> float | None:
    """Microseconds of the fastest row."""
    return min((row.microseconds for row in rows if row.microseconds is not None), default=None)


def exponent(rows: Sequence[Row], smallest: int = SMALLEST) -> float | None:
    """p of the fit microseconds = a size^p, from that size on; None for less than three sizes."""
    points = sorted({row.size: row.microseconds for row in rows if row.size >= smallest and row.microseconds}.items())
    if len(points) < 3:
        return None
    sizes, times = np.log(np.array(points)).T
    return float(np.polyfit(sizes, times, 1)[0])


def steepest(rows: Sequence[Row]) -> tuple[float, float] | None:
    """The largest `exponent` of a chain, and the height (m) it fell from; of heights with three sizes at least."""
    heights = {row.drop for row in rows if row.drop is not None}
    fits = {drop: exponent(select(rows, drop=drop)) for drop in heights}
    return max(((p, drop) for drop, p in fits.items() if p is not None), default=None)


def _compare(
    name: str, goal: str, value: float | None, reached: Callable[[float], bool], form: str = "{:.2f}"
) -> Target:
    if value is None:
        return Target(name, goal, "not measured", None)
    return Target(name, goal, form.format(value), bool(reached(value)))


def _ratio(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a / b


def chain_targets(rows: Sequence[Row]) -> list[Target]:
    single = {"scene": "chain", "size": 100, "num_envs": 1, "drop": GENTLE}
    ours = fastest(select(rows, suite="chain", engine="vigym", **single))
    mujoco = fastest(select(rows, suite="chain", engine="mujoco", **single))
    bullet = fastest(select(rows, suite="chain", engine="pybullet", **single))
    batches = select(rows, suite="batch", engine="vigym", scene="chain", size=100, threads=1)
    batch = fastest([row for row in batches if row.num_envs > 1])
    return [
        _compare("1 chain of 100, MuJoCo's time over ours", "at least 15", _ratio(mujoco, ours), lambda r: r >= 15),
        _compare("1 chain of 100, PyBullet's over ours", "at least 1", _ratio(bullet, ours), lambda r: r >= 1),
        _compare(
            "1 chain of 100 in a batch, PyBullet's over ours", "at least 4", _ratio(bullet, batch), lambda r: r >= 4
        ),
    ]


def disc_targets(rows: Sequence[Row]) -> list[Target]:
    worst = steepest(select(rows, suite="chain", engine="vigym", scene="chain"))
    p, height = worst or (None, None)
    discs = select(rows, suite="disc", engine="vigym")
    batches = select(rows, suite="batch", scene="disc", size=100, threads=1)
    best = {e: fastest([r for r in batches if r.engine == e and r.num_envs > 1]) for e in ("vigym", "mujoco")}
    reached = 1.05
    return [
        _compare(
            "2 exponent of the chain up to 1000",
            "at most 1.05",
            p,
            lambda p: p <= reached,
            f"{{:.2f}}, from {height} m",
        ),
        _compare("2 exponent of the disc up to 1000", "at most 1.05", exponent(discs), lambda p: p <= reached),
        _compare(
            "3 disc of 100 in a batch, ours over MuJoCo's",
            "at most 1",
            _ratio(best["vigym"], best["mujoco"]),
            lambda r: r <= 1,
        ),
    ]


def a1_ratio(rows: Sequence[Row], batch: bool) -> float | None:
    """Our time of a step over MuJoCo's, at the step size and gait where it is worst."""
    chosen = [r for r in rows if r.suite == "a1" and (r.num_envs > 1) == batch and r.threads == 1 and r.microseconds]
    ratios = []
    for scene, dt in {(row.scene, row.dt) for row in chosen}:
        here = select(chosen, scene=scene, dt=dt)
        ratio = _ratio(*(fastest([row for row in here if row.engine == engine]) for engine in ("vigym", "mujoco")))
        ratios += [] if ratio is None else [ratio]
    return max(ratios, default=None)


def largest_step(rows: Sequence[Row], label: str) -> float | None:
    """The largest step at which, and below which, an engine's trot stays close to its own fine steps, s."""
    swept = [row for row in rows if row.label == label and row.timing == ACCURACY]
    swept = [row for row in swept if row.dt and row.dt > 1.5 * FINE]  # not the reference itself
    best = None
    for row in sorted(swept, key=lambda row: row.dt or 0.0):
        close = row.foot_error is not None and row.travel_error is not None
        if not (close and (row.foot_error or 0.0) <= FOOT and (row.travel_error or 0.0) <= TRAVEL):
            break
        best = row.dt
    return best


def real_time(rows: Sequence[Row], engine: str) -> tuple[float, str] | None:
    """Simulated seconds per second in a batch on one core at `largest_step`, of the engine's best mode; and how.

    If none of its modes is close enough at any step of the sweep, the smallest step that was timed is taken, and said.
    """
    found: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
    batch = [row for row in rows if row.suite == "a1" and row.scene == "a1-trot" and row.num_envs > 1]
    for label in sorted({row.label for row in batch if row.engine == engine}):
        largest = largest_step(rows, label) or 0.0
        times = {row.dt: row.microseconds for row in batch if row.label == label and row.status == "ok"}
        timed = {dt: time for dt, time in times.items() if dt and time}
        close = [dt for dt in timed if dt <= largest]
        for dt in [max(close)] if close else sorted(timed)[:1]:
            how = f"{label} at {1e3 * dt:g} ms" + ("" if close else NOT_CLOSE)
            found[bool(close)].append((1e6 * dt / timed[dt], how))
    return max(found[True] or found[False], default=None)


def a1_targets(rows: Sequence[Row]) -> list[Target]:
    ours, theirs = real_time(rows, "vigym"), real_time(rows, "mujoco")
    goal, name = "at least 2", "4 A1 trot, simulated seconds per second, ours over MuJoCo's"
    if ours is None or theirs is None:
        pace = Target(name, goal, "not measured", None)
    else:
        ratio = ours[0] / theirs[0]
        measured = f"{ratio:.2f} ({ours[0]:.0f}: {ours[1]}; {theirs[0]:.0f}: {theirs[1]})"
        pace = Target(name, goal, measured, ratio >= 2 and NOT_CLOSE not in ours[1])
    return [
        _compare("4 A1 in a batch, ours over MuJoCo's", "at most 1.5", a1_ratio(rows, True), lambda r: r <= 1.5),
        _compare("4 A1 alone, ours over MuJoCo's", "at most 5", a1_ratio(rows, False), lambda r: r <= 5),
        pace,
    ]


def thread_targets(rows: Sequence[Row]) -> list[Target]:
    """Wall time of one thread over that of two, in the batch that gains least."""
    batches = [row for row in select(rows, suite="batch", engine="vigym", threads=2) if row.num_envs >= 64]
    least = min((row for row in batches if row.gain), key=lambda row: row.gain or 0.0, default=None)
    which = "" if least is None else f", {least.num_envs} of {least.scene}"
    if least is not None and least.apart is not None:
        which += f"; two that share nothing {least.apart:.2f}"
    gain, form = None if least is None else least.gain, f"{{:.2f}}{which}"
    return [_compare("5 two threads over one, batches of 64 or more", "at least 1.8", gain, lambda r: r >= 1.8, form)]


def startup_targets(rows: Sequence[Row]) -> list[Target]:
    overhead = fastest(select(rows, scene="overhead"))
    seconds = {row.mode: row.seconds for row in select(rows, scene="startup")}
    return [
        _compare("6 overhead of sim.step", "below 5 us", overhead, lambda t: t < 5, "{:.1f} us"),
        _compare("6 first A1 step, warm cache", "within 1.5 s", seconds.get("warm"), lambda t: t <= 1.5, "{:.2f} s"),
        _compare("6 first A1 step, no cache", "within 15 s", seconds.get("cold"), lambda t: t <= 15, "{:.1f} s"),
    ]


def evaluate(rows: Sequence[Row]) -> list[Target]:
    """All targets."""
    ours = [row for row in rows if row.engine == "vigym"]
    deepest = max((row.penetration for row in ours if row.penetration is not None), default=None)
    failures = sum(row.failures or 0 for row in ours) + sum(row.status != "ok" for row in ours)
    return [
        _compare("0 deepest penetration of vigym", "at most 1e-9 m", deepest, lambda d: d <= DEEPEST, "{:.1e} m"),
        _compare("0 failed solves of vigym", "none", failures if ours else None, lambda n: n == 0, "{:.0f}"),
        *chain_targets(rows),
        *disc_targets(rows),
        *a1_targets(rows),
        *thread_targets(rows),
        *startup_targets(rows),
    ]
