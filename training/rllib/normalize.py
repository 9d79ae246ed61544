"""Normalisation of observations and rewards on Ray RLlib, with statistics that all runners share.

RLlib's own MeanStdFilter is not used, since its merging moves the mean towards 0 (tests/rllib/test_normalize.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from ray.rllib.connectors.connector_v2 import ConnectorV2

Array = NDArray[np.float64]
CLIP, EPSILON = 10.0, 1e-8  # as SB3's VecNormalize


@dataclass(frozen=True)
class Statistics:
    """Statistics of rows seen so far: how many, their mean, and the sum of squares of what they differ from it."""

    count: int = 0
    mean: Any = 0.0
    squares: Any = 0.0

    @classmethod
    def of(cls, rows: Array) -> "Statistics":
        """Compute those of rows (count, ...)."""
        mean = rows.mean(0)
        return cls(len(rows), mean, ((rows - mean) ** 2).sum(0))

    def __add__(self, other: "Statistics") -> "Statistics":
        """Combine the rows of both: Chan, Golub and LeVeque (1979)."""
        count, apart = self.count + other.count, other.mean - self.mean
        if count == 0:
            return self
        mean = self.mean + apart * (other.count / count)
        return Statistics(count, mean, self.squares + other.squares + apart**2 * (self.count * other.count / count))

    @property
    def scale(self) -> Any:
        """Standard deviation, a bit more than 0; 1 if nothing was seen."""
        return np.sqrt(self.squares / self.count + EPSILON) if self.count else 1.0


class Normalize(ConnectorV2):
    """Observations by their mean and deviation, rewards by the deviation of discounted returns; cut to +-10.

    Each runner knows `known`, which is what all runners had seen at the last merge, and `new`, what it saw since; the
    sum of the two is what it normalises by. A merge, after each iteration, adds what is new to what is known.
    """

    def __init__(
        self, input_observation_space: Any = None, input_action_space: Any = None, *, gamma: float, **others: Any
    ) -> None:
        super().__init__(input_observation_space, input_action_space, **others)
        self.gamma = gamma
        self.known = {"observations": Statistics(), "returns": Statistics()}
        self.new = dict.fromkeys(self.known, Statistics())
        self.returns: Array = np.zeros(0)  # of the episodes that run, discounted

    def recompute_output_observation_space(self, observations: Any, actions: Any) -> gym.Space:
        """Space of the observations afterwards."""
        return gym.spaces.Box(-CLIP, CLIP, observations.shape, np.float32)

    def of(self, name: str) -> Statistics:
        """All that this runner knows about "observations" or "returns"."""
        return self.known[name] + self.new[name]

    def __call__(self, *, batch: Any, episodes: Sequence[Any], explore: bool | None = None, **others: Any) -> Any:
        """Normalise the last observation and reward of every episode in place; episodes are one an environment.

        What is seen without exploration does not count.
        """
        if len(self.returns) != len(episodes):
            self.returns = np.zeros(len(episodes))
        self.scale_observations(episodes, count=explore is not False)
        self.scale_rewards(episodes, count=explore is not False)
        return batch

    def scale_observations(self, episodes: Sequence[Any], *, count: bool) -> None:
        """See and normalise the last observation of each."""
        rows = np.array([episode.get_observations(-1) for episode in episodes], float)
        if count:
            self.new["observations"] += Statistics.of(rows)
        known = self.of("observations")
        scaled = np.clip((rows - known.mean) / known.scale, -CLIP, CLIP).astype(np.float32)
        for episode, row in zip(episodes, scaled, strict=True):
            episode.observation_space = self.observation_space
            episode.set_observations(at_indices=-1, new_data=row)

    def scale_rewards(self, episodes: Sequence[Any], *, count: bool) -> None:
        """See and scale the last reward of each that has one; a new episode has none."""
        stepped = np.array([len(episode) > 0 for episode in episodes])
        rewards = np.array([episode.get_rewards(-1) if len(episode) else 0.0 for episode in episodes], float)
        self.returns = np.where(stepped, self.gamma * self.returns + rewards, 0.0)
        if count and stepped.any():
            self.new["returns"] += Statistics.of(self.returns[stepped])
        scaled = np.clip(rewards / self.of("returns").scale, -CLIP, CLIP)
        for k in np.flatnonzero(stepped).tolist():
            episodes[k].set_rewards(at_indices=-1, new_data=float(scaled[k]))
            if episodes[k].is_done:
                self.returns[k] = 0.0

    def get_state(self, components: Any = None, **others: Any) -> dict[str, Any]:
        """Return the statistics that are shared, and those of new rows."""
        return {"known": dict(self.known), "new": dict(self.new)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `get_state` or `merge_states` gave."""
        self.known, self.new = dict(state["known"]), dict(state["new"])

    def merge_states(self, states: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The state of all runners from now on; `states` are theirs until now."""
        for state in states:
            self.known = {name: known + state["new"][name] for name, known in self.known.items()}
        return {"known": dict(self.known), "new": dict.fromkeys(self.known, Statistics())}
