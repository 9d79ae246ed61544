"""Environments beside Gymnasium's own: steps a second, how much of a step is not physics, pictures a second."""

import time
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from vigym.benchmarks.tables import markdown
from vigym.engine.durable import write_rows, write_whole
from vigym.envs.registration import CLASSICS, ENVIRONMENTS

BATCH, THREADS = 64, 2
PEER_BATCH = 8  # processes of Gymnasium's AsyncVectorEnv
LEAST_FRAMES = 60.0
# Ours in a native batch, the peer in processes, and how many times its steps a second ours should make; MODULE:ID is
# left out where that module is not installed
BATCHES = (
    ("VIQuadruped-v0", "Ant-v5", 5.0),
    ("VIAnt-v0", "Ant-v5", 10.0),
    ("VIHumanoid-v0", "Humanoid-v5", 5.0),
    ("VIPandaPickAndPlace-v0", "panda_gym:PandaPickAndPlace-v3", 10.0),
)
POOLED, LEAST_OVER_POOLED = {"VIAnt-v0": "Ant-v5"}, 2.0  # beside EnvPool, where it is installed
MOST_OVERHEAD, MOST_OVERHEAD_SMALL = {"VISnake-v0": 0.1, "VIQuadruped-v0": 0.1}, 0.3
CLASSIC = {"VIHopper2D-v0": "Hopper"}  # what Gymnasium calls otherwise
# Gymnasium's environment that is most alike, and how many times its steps a second ours should make alone
PEERS = {
    "VICartPole-v0": ("InvertedPendulum-v5", 1.0),
    "VIHopper-v0": ("Hopper-v5", 1.8),
    "VIQuadruped-v0": ("Ant-v5", 1.6),
    **{name: (f"{CLASSIC.get(name, name[2:-3])}-v5", 1.0) for name in CLASSICS},
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
    """Ours in a native batch, Gymnasium's in processes, EnvPool's in threads, all on all cores; the best of passes that
    take turns."""
    figures = []
    for name, peer, least in BATCHES:
        if ":" in peer and find_spec(peer.split(":")[0]) is None:
            continue
        with closing(gym.make_vec(name, num_envs=BATCH, num_threads=THREADS)) as ours:
            others = {f"{peer}, AsyncVectorEnv of {PEER_BATCH}": (asynchronous(peer), 4, least)}
            if name in POOLED and (pool := pooled(POOLED[name])) is not None:
                others[f"{POOLED[name]}, EnvPool's batch of {BATCH}"] = pool, 1, LEAST_OVER_POOLED
            envs = [(ours, 1), *((env, times) for env, times, _ in others.values())]
            actions = [actions_of(env) for env, _ in envs]
            for env, _ in envs:
                env.reset(seed=0)
            rates = [
                [steps_per_second(env, drawn, times * count) for (env, times), drawn in zip(envs, actions, strict=True)]
                for _ in range(repeats + 1)
            ]
            own, *rest = np.max(rates[1:], axis=0)
            figures.append(Figure(f"{name}, batch of {BATCH}, {THREADS} threads", own, "steps/s"))
            for (label, (env, _, goal)), rate in zip(others.items(), rest, strict=True):
                reached = bool(own / rate >= goal)
                figures.append(Figure(label, rate, "steps/s"))
                figures.append(Figure(f"{name} over {label}", own / rate, "", f"at least {goal:g}", reached))
                env.close()
    return figures


def asynchronous(env_id: str) -> Any:
    """Gymnasium's environment in processes."""
    return gym.make_vec(env_id, num_envs=PEER_BATCH, vectorization_mode="async")


def pooled(env_id: str) -> Any:
    """EnvPool's batch; None if it is not installed."""
    try:
        import envpool
    except ImportError:
        return None
    return Pool(envpool.make_gymnasium(env_id, num_envs=BATCH, num_threads=THREADS, seed=0))


class Pool:
    """EnvPool's batch, as much as is needed here: it takes actions in double precision, and its seed when it is
    made."""

    num_envs = BATCH

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self.action_space = gym.vector.utils.batch_space(pool.action_space, BATCH)
        self.close = pool.close

    def reset(self, seed: int) -> None:
        """Start new episodes."""
        self._pool.reset()

    def step(self, action: np.ndarray) -> Any:
        """Step all environments."""
        return self._pool.step(np.asarray(action, self.action_space.dtype))


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
