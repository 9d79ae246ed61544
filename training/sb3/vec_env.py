"""The native batch as a VecEnv of Stable-Baselines3, whose wrappers (VecMonitor, VecNormalize, ...) go on top."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict
from stable_baselines3.common.vec_env import VecEnv

from vigym.engine.errors import InputError
from vigym.envs.vector import RobotVectorEnv
from vigym.envs.words import bare_id


class NativeVecEnv(VecEnv):
    """`num_envs` environments `env_id` that are stepped together; `kwargs` go to `gymnasium.make_vec`.

    Observations are float32, as networks take them, dicts of such for tasks with a goal. Where an episode has ended,
    the observation is the first of the next one, and the info holds `terminal_observation`, `TimeLimit.truncated`, and
    what the environment told in its last step (with `success` also as `is_success`, which SB3 counts).

    reward_terms: mean over the batch of each term of the reward in the last step
    every_info: tell infos in every step; by default only in the last one of an episode, which is much faster.

    The batch is one object: attributes and methods are those of the whole batch.
    """

    def __init__(self, env_id: str, num_envs: int, *, every_info: bool = False, **kwargs: Any) -> None:
        if "task" not in gym.spec(bare_id(env_id)).kwargs:  # not an environment of a vigym task
            raise InputError(f"{env_id} has no native batch of vigym's: use make_vec_env of SB3 for it")
        env: Any = gym.make_vec(env_id, num_envs=num_envs, autoreset_mode="SameStep", **kwargs)
        self.env: RobotVectorEnv = env
        self.every_info = every_info
        self.actions: np.ndarray | None = None
        self.reward_terms: dict[str, float] = {}
        super().__init__(num_envs, as_networks_take(env.single_observation_space), env.single_action_space)
        self.metadata, self.spec = env.metadata, env.spec

    def reset(self) -> Any:
        """New episodes everywhere, with the seeds and options that were set before."""
        options = self._options[0]
        if any(other != options for other in self._options):
            raise InputError("all environments of the batch are reset with the same options")
        observation, infos = self.env.reset(seed=self._seeds, options=options)
        self.reset_infos = [row(infos, i) for i in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return single(observation)

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`."""
        self.actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Step all environments: observations, rewards, whether an episode has ended, infos."""
        observation, reward, terminated, truncated, infos = self.env.step(self.actions)
        done = terminated | truncated
        self.reward_terms = self._mean_terms(infos)
        told = [row(infos, i) for i in range(self.num_envs)] if self.every_info else [{} for _ in range(self.num_envs)]
        for i in map(int, np.flatnonzero(done)):
            self.reset_infos[i] = row(infos, i)
            last = row(infos["final_info"], i)
            last["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
            last["terminal_observation"] = single(infos["final_obs"][i])
            if "success" in last:
                last["is_success"] = bool(last["success"])
            told[i] = last
        return single(observation), reward.astype(np.float32), done, told

    def _mean_terms(self, infos: dict[str, Any]) -> dict[str, float]:
        """Return the mean over all environments of each term of the reward, episodes that have just ended included."""
        parts = [infos, infos["final_info"]] if "final_info" in infos else [infos]
        sums: dict[str, float] = {}
        for part in parts:
            for name in filter(lambda name: name.startswith("reward_"), part):
                sums[name] = sums.get(name, 0.0) + float(part[name] @ part[f"_{name}"])
        return {name: total / self.num_envs for name, total in sums.items()}

    def close(self) -> None:
        """Let go of the renderer."""
        self.env.close()

    def get_images(self) -> Sequence[np.ndarray | None]:
        """One picture an environment; None on the live page."""
        return self.env.render() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The batch's attribute, once for every environment asked for."""
        owner = self if attr_name == "reward_terms" else self.env
        return [getattr(owner, attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set the batch's attribute."""
        self._all(indices)
        setattr(self.env, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call the batch's method once; its result, once for every environment."""
        if method_name != "compute_reward":  # which is the same for all; hindsight experience replay asks one for it
            self._all(indices)
        return [getattr(self.env, method_name)(*method_args, **method_kwargs)] * self._count(indices)

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper], indices: Any = None) -> list[bool]:
        """Never: wrappers of single environments cannot be around a batch."""
        return [False] * self._count(indices)

    def _count(self, indices: Any) -> int:
        return len(list(self._get_indices(indices)))

    def _all(self, indices: Any) -> None:
        if self._count(indices) != self.num_envs:
            raise InputError("attributes and methods are those of the whole batch: leave `indices` out")


def as_networks_take(space: gym.Space) -> gym.Space:
    """The same space, or dict of spaces, in float32."""
    if isinstance(space, Dict):
        return Dict({name: as_networks_take(part) for name, part in space.items()})
    assert isinstance(space, Box)
    return Box(space.low.astype(np.float32), space.high.astype(np.float32), dtype=np.float32)


def single(observation: Any) -> Any:
    """Observations, or a dict of them, in float32."""
    if isinstance(observation, dict):
        return {name: part.astype(np.float32) for name, part in observation.items()}
    return observation.astype(np.float32)


def row(infos: dict[str, Any], i: int) -> dict[str, Any]:
    """Return what `infos` of a batch tell about environment i."""
    return {
        name: value[i]
        for name, value in infos.items()
        if not name.startswith("_") and not name.startswith("final_") and infos[f"_{name}"][i]
    }
