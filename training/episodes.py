"""Episodes of a controller, one a seed, all at once in a native batch."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from vigym.envs.words import bare_id
from vigym.training.measures import MEASURES, measured


class Controller(Protocol):
    """Map observations (n, n_observations) to actions (n, n_actions), anew in every episode."""

    def reset(self) -> None:
        """A new episode."""

    def act(self, observation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Actions for observations."""


class Episodes(NamedTuple):
    """Outcome of episodes (n,): returns, lengths in control steps, and the task's measures, success among them."""

    seeds: list[int]
    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    measures: dict[str, NDArray[Any]]

    @property
    def success(self) -> NDArray[np.bool_] | None:
        """Mask of successful episodes; None if the environment is not one of vigym's."""
        return self.measures.get("success")

    def write(self, path: Path) -> None:
        """One row an episode."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["seed", "return", "length", *self.measures])
            rows = zip(self.seeds, self.returns, self.lengths, *self.measures.values(), strict=True)
            writer.writerows([f"{value:.6g}" if isinstance(value, float) else value for value in row] for row in rows)


def run_episodes(
    env_id: str,
    controller: Controller,
    seeds: Sequence[int],
    *,
    options: dict[str, Any] | None = None,
    replay: Path | None = None,
    **env_kwargs: Any,
) -> Episodes:
    """One episode a seed; `options` are those of the reset. The controller sees all observations at once.

    replay: a file for a recording of the first episode
    """
    n, name = len(seeds), bare_id(env_id)
    env: Any = gym.make_vec(env_id, num_envs=n, autoreset_mode="NextStep", **env_kwargs)
    names = MEASURES[name].infos if name in MEASURES else ()
    seen: dict[str, list[NDArray[Any]]] = {info: [] for info in names}
    controller.reset()
    observation, _ = env.reset(seed=list(seeds), options=options)
    recorder = None if replay is None else env.record(replay)
    returns, lengths = np.zeros(n), np.zeros(n, np.int64)
    running, whole = np.ones(n, bool), np.zeros(n, bool)
    while running.any():
        observation, reward, terminated, truncated, infos = env.step(controller.act(observation))
        returns[running] += reward[running]
        lengths[running] += 1
        for info in names:
            value = np.array(infos[info], float)
            value[~running] = np.nan
            seen[info].append(value)
        whole |= running & truncated & ~terminated
        running &= ~(terminated | truncated)
        if recorder is not None and not running[0]:
            recorder.close()
    env.close()
    told = {info: np.stack(values) for info, values in seen.items()}
    for info, values in told.items():  # as if all episodes had been as long as they may be
        missing = (env.max_episode_steps or 0) - len(values)
        if missing > 0:
            told[info] = np.concatenate([values, np.full((missing, *values.shape[1:]), np.nan)])
    measures = measured(name, told, whole, env.task.dt) if name in MEASURES else {}
    return Episodes(list(seeds), returns, lengths, measures)
