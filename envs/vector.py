"""A batch of environments: any task as a `gymnasium.vector.VectorEnv`, stepped together in SIMD lanes and threads.

It does what `gymnasium.vector.SyncVectorEnv` does with as many single environments, seeds, time limits, automatic
resets and infos included, to the bit; tests compare the two.
"""

from collections.abc import Mapping, Sequence
from inspect import getdoc
from os import PathLike
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils.seeding import np_random as make_generator
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from vigym.engine.errors import InputError
from vigym.engine.recording import Recorder
from vigym.engine.validation import count, show
from vigym.envs.env import Actions, checked_options, make_task
from vigym.envs.rendering import RENDER_MODES, Picture
from vigym.envs.saved import check_generator, checked_arrays, refused
from vigym.envs.step_gradients import StepGradients, step_gradients
from vigym.envs.task import Array, Flags, Task


class RobotVectorEnv(gym.vector.VectorEnv):
    """`num_envs` environments of a task; `kwargs` are the task's own arguments.

    max_episode_steps: control steps after which an episode is truncated; None or -1 for never, as in `gymnasium.make`
    autoreset_mode: NEXT_STEP, SAME_STEP or DISABLED, see Gymnasium
    num_threads: threads that share the environments
    render_mode ... browse: see `RobotEnv`
    """

    metadata: dict[str, Any] = {  # noqa: RUF012, declared so by Gymnasium
        "render_modes": RENDER_MODES,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        task: str | type[Task],
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
        default_camera_config: Mapping[str, Any] | None = None,
        speed: float = 1.0,
        browse: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.task = make_task(task, num_envs, kwargs)
        self.__doc__ = getdoc(self.task)  # help(env.unwrapped) shows the environment's page
        self._actions = Actions(num_envs, self.task.n_actions, (num_envs, self.task.n_actions), self.task.action_limit)
        self.num_envs, self.max_episode_steps = num_envs, None
        if max_episode_steps is not None and max_episode_steps != -1:
            self.max_episode_steps = count(max_episode_steps, "max_episode_steps")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.render_mode = render_mode
        self.metadata = {
            "render_modes": RENDER_MODES,
            "render_fps": round(1.0 / self.task.dt),
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_action_space, self.single_observation_space = self.task.action_space, self.task.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.picture = Picture(self, render_mode, width, height, default_camera_config, speed, browse)
        seeded = [make_generator() for _ in range(num_envs)]
        self._rngs, self._seeds = [rng for rng, _ in seeded], [seed for _, seed in seeded]
        self._idle = np.ones(num_envs, bool)  # environments that were never reset
        self._over = np.zeros(num_envs, bool)  # episodes that have ended and not begun anew
        self._observation = np.zeros((num_envs, self.task.observation_size))

    @property
    def dt(self) -> float:
        """Time between two actions, s."""
        return self.task.dt

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generator of every environment."""
        return tuple(self._rngs)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of every environment."""
        return tuple(self._seeds)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes, everywhere or where options["reset_mask"] says; seeds are seed, seed + 1, ..."""
        options = checked_options(options)
        mask = self._reset_mask(options.pop("reset_mask", None))
        if seed is None or isinstance(seed, (int, np.integer)):
            seeds = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise InputError(f"seed must be a number or {self.num_envs} of them, got {len(seeds)}")
        for i in np.flatnonzero(mask):
            if seeds[i] is not None:
                self._rngs[i], self._seeds[i] = make_generator(seeds[i])
                self.task.seeded(self.task.everyone[i : i + 1])
        self._begin(mask, options)
        self._observation[mask] = self.task.observe()[mask]
        self.picture.complain()
        return self.task.shown(self._observation), masked(self.task.told(stepped=False), mask)

    def _reset_mask(self, mask: Any) -> Flags:
        if mask is None:
            return np.ones(self.num_envs, bool)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise InputError(f"options['reset_mask'] must be an array of {self.num_envs} booleans")
        if not mask.any():
            raise InputError("options['reset_mask'] chooses no environment")
        return mask

    def _begin(self, mask: Flags, options: Mapping[str, Any]) -> None:
        env = np.flatnonzero(mask)
        self.task.reset(env, [self._rngs[i] for i in env], options)
        self._over[mask] = self._idle[mask] = False
        self.picture.began(env)

    def step(self, actions: Any) -> tuple[Any, Array, Flags, Flags, dict[str, Any]]:
        """One control step of all environments; in mode NEXT_STEP, those that have ended are reset instead."""
        mode = self.autoreset_mode
        if np.count_nonzero(self._idle):  # `any` takes six times as long
            raise ResetNeeded(f"environments {np.flatnonzero(self._idle)} have not begun: reset them first")
        ended = np.count_nonzero(self._over)
        if ended and mode == AutoresetMode.DISABLED:
            raise InputError(f"environments {np.flatnonzero(self._over)} have ended: reset them first")
        acting = ~self._over  # those to be reset take part, too: their lanes would idle otherwise
        told = self._actions(actions)
        observation, reward, terminated = self.task.step(told)
        reward, terminated = reward.copy(), terminated & acting
        self.picture.stepped(told, reward, acting)
        if ended:
            self._begin(~acting, {})
            observation = self.task.observe()
            reward[~acting] = 0.0
        truncated = np.zeros(self.num_envs, bool)
        if self.max_episode_steps is not None:
            truncated = acting & (self.task.elapsed >= self.max_episode_steps)
        self._over = terminated | truncated
        stepped = self.task.told()
        last: dict[str, Any] = {}
        if mode == AutoresetMode.SAME_STEP and np.count_nonzero(self._over):
            over = self._over.copy()
            last = {"final_obs": self._objects(observation, over), "_final_obs": over}
            last |= {"final_info": masked(stepped, over), "_final_info": over.copy()}
            self._begin(over, {})
            observation, acting = self.task.observe(), ~over
        infos = self._infos(stepped, acting) | last
        self._observation = observation.copy()
        self.picture.complain()
        return self.task.shown(self._observation), reward, terminated, truncated, infos

    def step_gradients(self, actions: Any) -> StepGradients:
        """The same as that of the single environment, with a status for each one of the batch."""
        if self._idle.any():
            raise ResetNeeded(f"environments {np.flatnonzero(self._idle)} have not begun: reset them first")
        told = self._actions(actions)
        return step_gradients(self.task, told, self._actions.inside)

    def _infos(self, stepped: Mapping[str, Array], acting: Flags) -> dict[str, Any]:
        """Gymnasium's form of infos: what a reset tells of all environments, what a step tells of those `acting`."""
        if np.count_nonzero(acting) == self.num_envs:
            return masked(stepped, acting)
        always = self.task.told(stepped=False)
        only = {name: value for name, value in stepped.items() if name not in always}
        return masked(always, np.ones(self.num_envs, bool)) | masked(only, acting)

    def _objects(self, observation: Array, mask: Flags) -> np.ndarray:
        """Observations as objects where the mask says, None elsewhere."""
        out = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(mask):
            out[i] = self.task.shown(observation[i])
        return out

    def record(self, path: str | PathLike[str], env: int = 0) -> Recorder:
        """Write poses, forces, gaps, joint errors, actions and rewards of one environment to a file from now on."""
        return self.picture.record(path, env)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """One picture an environment, as Gymnasium's wrappers expect; `render_grid` has them in one."""
        return self.picture.every(self.num_envs)

    def render_grid(self) -> np.ndarray:
        """The pictures of all environments as tiles of one."""
        return self.picture.grid(self.num_envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of the renderer, end the page and the recording."""
        self.picture.close()

    def get_state(self) -> dict[str, Any]:
        """Everything the future depends on: physics, task, generators of random numbers, episodes that are over."""
        rngs = [rng.bit_generator.state for rng in self._rngs]
        batch = {name: value.copy() for name, value in self._batch().items()}
        return self.task.snapshot() | {"rngs": rngs, "batch": batch}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to what `get_state` returned, bit by bit; InputError, and nothing has changed, if it is not a state
        of such environments. What they were made with stays, weights of rewards for one."""
        found, rngs = self.task.checked(state, "rngs", "batch"), state["rngs"]
        if not isinstance(rngs, (list, tuple)) or len(rngs) != self.num_envs:
            raise refused(f"rngs must be a list of {self.num_envs} states, got {show(rngs)}")
        for i, rng in enumerate(self._rngs):
            check_generator(rngs[i], rng, f"rngs[{i}]")
        batch = checked_arrays(state["batch"], self._batch(), "batch")
        if self.autoreset_mode == AutoresetMode.SAME_STEP and batch["over"].any():
            raise refused(f"episodes {np.flatnonzero(batch['over'])} are over, which SAME_STEP never leaves")
        self.task.restore(found)
        for rng, saved in zip(self._rngs, rngs, strict=True):
            rng.bit_generator.state = saved
        self._idle, self._over, self._observation = batch["idle"], batch["over"], batch["observation"]
        self.picture.began(np.arange(self.num_envs))
        self.picture.complain()

    def _batch(self) -> dict[str, np.ndarray]:
        """Masks of environments never reset and of episodes that are over, and the last observations."""
        return {"idle": self._idle, "over": self._over, "observation": self._observation}


def masked(values: Mapping[str, Array], mask: Flags) -> dict[str, Any]:
    """Gymnasium's form of infos: each array with a mask of the environments that have it, zero in the others."""
    chosen, mask = np.count_nonzero(mask), mask.copy()  # one for all: a copy for each would take as long as the rest
    if not chosen:
        return {}
    infos: dict[str, Any] = {}
    for name, value in values.items():
        if chosen < len(mask):
            where = mask.reshape(-1, *[1] * (value.ndim - 1))
            value = np.where(where, value, np.zeros((), value.dtype))
        infos[name], infos[f"_{name}"] = value, mask
    return infos
