"""Environments beside Gymnasium's own: steps a second, how much of a step is not physics, pictures a second."""

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from vigym.benchmarks.tables import markdown
from vigym.engine.durable import write_rows, write_whole
from vigym.envs.registration import ENVIRONMENTS

BATCH, THREADS = 64, 2
PEER_BATCH = 8  # processes of Gymnasium's AsyncVectorEnv
LEAST_GAIN, LEAST_FRAMES = 5.0, 60.0
MOST_OVERHEAD, MOST_OVERHEAD_SMALL = {"VISnake-v0": 0.1, "VIQuadruped-v0": 0.1}, 0.3
# Gymnasium's environment that is most alike, and how many times its steps a second ours should make alone
PEERS = {
    "VICartPole-v0": ("InvertedPendulum-v5", 1.0),
    "VIHopper-v0": ("Hopper-v5", 1.8),
    "VIQuadruped-v0": ("Ant-v5", 1.6),
}


class Figure(NamedTuple):
    """One line of the result; goal in words, reached: None where there is no goal."""

    name: str
    measured: float
    unit: str
    goal: str = ""
    reached: bool | None = None


def actions_of(env: Any, seed: int = 0) -> list[np.ndarray]:
    """Random actions, drawn beforehand: they are not what is measured."""
    return list(np.random.default_rng(seed).uniform(-1, 1, (64, *env.action_space.shape)).astype(np.float32))


def steps_per_second(env: Any, actions: list[np.ndarray], count: int) -> float:
    """Environments' steps a second of a batch, resets included."""
    began = time.perf_counter()
    for k in range(count):
        env.step(actions[k % len(actions)])
    return count * env.num_envs / (time.perf_counter() - began)


def microseconds(env: Any, actions: list[np.ndarray], count: int) -> tuple[float, float]:
    """Microseconds of a step of one environment, and the same with the resets that random actions make necessary."""
    steps, clock = 0.0, time.perf_counter
    began = clock()
    for k in range(count):
        last = clock()
        _, _, terminated, truncated, _ = env.step(actions[k % len(actions)])
        steps += clock() - last
        if terminated or truncated:
            env.reset()
    return 1e6 * steps / count, 1e6 * (clock() - began) / count


def batches(repeats: int, count: int) -> list[Figure]:
    """VIQuadruped-v0 in a native batch, Ant-v5 in processes, both on all cores; the best of passes that take turns."""
    with (
        closing(gym.make_vec("VIQuadruped-v0", num_envs=BATCH, num_threads=THREADS)) as ours,
        closing(gym.make_vec("Ant-v5", num_envs=PEER_BATCH, vectorization_mode="async")) as theirs,
    ):
        envs, own, peer = {env: actions_of(env) for env in (ours, theirs)}, 0.0, 0.0
        for env in envs:
            env.reset(seed=0)
        for _ in range(repeats):
            own = max(own, steps_per_second(ours, envs[ours], count))
            peer = max(peer, steps_per_second(theirs, envs[theirs], 4 * count))
    return [
        Figure(f"VIQuadruped-v0, batch of {BATCH}, {THREADS} threads", own, "steps/s"),
        Figure(f"Ant-v5, AsyncVectorEnv of {PEER_BATCH}", peer, "steps/s"),
        Figure("VIQuadruped-v0 over Ant-v5", own / peer, "", f"at least {LEAST_GAIN:g}", own / peer >= LEAST_GAIN),
    ]


def singles(repeats: int, count: int) -> list[Figure]:
    """One environment each, beside Gymnasium's; the best of passes that take turns."""
    figures = []
    for name, (peer, least) in PEERS.items():
        with closing(gym.make(name)) as ours, closing(gym.make(peer)) as theirs:
            envs = {env: actions_of(env) for env in (ours, theirs)}
            for env in envs:
                env.reset(seed=0)
            passes = [
                [microseconds(env, actions, 10 * count) for env, actions in envs.items()] for _ in range(repeats + 1)
            ]
        (own, own_resets), (other, other_resets) = np.min(passes, axis=0)
        gain = other_resets / own_resets
        figures += [
            Figure(f"{name}, alone", own, "us a step"),
            Figure(f"{peer}, alone", other, "us a step"),
            Figure(f"{name} over {peer}, steps a second without resets", other / own, ""),
            Figure(f"{name} over {peer}, resets included", gain, "", f"at least {least:g}", bool(gain >= least)),
        ]
    return figures


def overheads(repeats: int, count: int) -> list[Figure]:
    """Return what is left of a step of a batch, on one thread, when the physics is taken away; episodes do not end
    in it."""
    figures = []
    for name in ENVIRONMENTS:
        with closing(gym.make_vec(name, num_envs=BATCH)) as env:
            share = share_outside(env, min(count, 15), repeats)  # before anyone falls
        most = MOST_OVERHEAD.get(name, MOST_OVERHEAD_SMALL)
        label = f"{name}, batch of {BATCH}: outside the engine"
        figures.append(Figure(label, share, "", f"below {most:.0%}", share < most))
    return figures


def share_outside(env: Any, steps: int, repeats: int) -> float:
    """Share of the time of an episode's first steps that is not spent in the kernels; every step is the same in all
    `repeats`, and its parts inside and outside count with the least time that they took."""
    lanes = env.task.sim._lanes
    physics, inside, clock = lanes.run, 0.0, time.perf_counter

    def timed(repeat: int) -> None:
        nonlocal inside
        began = clock()
        physics(repeat)
        inside = clock() - began

    env.reset(seed=0)
    action = np.zeros(env.action_space.shape, np.float32)
    env.step(action)  # compiles
    times = np.zeros((repeats, steps, 2))
    lanes.run = timed
    try:
        for k in range(repeats):
            env.reset(seed=0)
            for i in range(steps):
                began = clock()
                env.step(action)
                times[k, i] = inside, clock() - began - inside
    finally:
        del lanes.run
    within, outside = times.min(0).sum(0)
    return float(outside / (within + outside))


def pictures(repeats: int) -> list[Figure]:
    """A robot drawn on one core; the fastest of many, since each takes only milliseconds."""
    with closing(gym.make("VIQuadruped-v0", render_mode="rgb_array", width=480, height=480)) as env:
        env.reset(seed=0)
        env.render()  # compiles
        times = []
        for _ in range(20 * repeats):
            began = time.perf_counter()
            env.render()
            times.append(time.perf_counter() - began)
    rate, name = 1.0 / min(times), "VIQuadruped-v0, pictures of 480 x 480"
    return [Figure(name, rate, "frames/s", f"at least {LEAST_FRAMES:g}", rate >= LEAST_FRAMES)]


def measure(quick: bool, repeats: int) -> list[Figure]:
    """All figures."""
    count = 30 if quick else 150
    return batches(repeats, count) + singles(repeats, count) + overheads(3 * repeats, count) + pictures(repeats)


def write(figures: Sequence[Figure], folder: Path, title: str) -> list[Path]:
    """The figures as CSV and Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    table, page = folder / "envs.csv", folder / "envs.md"
    write_rows(table, [Figure._fields, *figures])
    write_whole(page, f"# {title}\n\n{text(figures)}")
    return [table, page]


def text(figures: Sequence[Figure]) -> str:
    """A Markdown table."""
    verdict = {True: "yes", False: "NO", None: ""}
    lines = [
        [figure.name, f"{figure.measured:,.4g} {figure.unit}".strip(), figure.goal, verdict[figure.reached]]
        for figure in figures
    ]
    return markdown(["", "measured", "goal", "reached"], lines)
