"""One environment: any task as a `gymnasium.Env`."""

from collections.abc import Mapping
from importlib import import_module
from os import PathLike
from typing import Any

import gymnasium as gym
import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.recording import Recorder
from vigym.engine.validation import numeric, show
from vigym.envs.arguments import checked
from vigym.envs.rendering import RENDER_MODES, Picture
from vigym.envs.saved import check_generator
from vigym.envs.task import Array, Task

ONLY, ALL = np.zeros(1, np.int64), np.ones(1, bool)  # the only environment, as indices and as a mask


def load_task(task: str | type[Task]) -> type[Task]:
    """The class of a task, from itself or from "module:name"."""
    if not isinstance(task, str):
        return task
    module, name = task.split(":")
    return getattr(import_module(module), name)


def make_task(task: str | type[Task], num_envs: int, arguments: Mapping[str, Any]) -> Task:
    """A task in so many environments, its own arguments checked."""
    made = load_task(task)
    return made(num_envs=num_envs, **checked(made, arguments))


def checked_actions(action: Any, shape: tuple[int, ...]) -> Array:
    """Actions as floats of that shape, cut to [-1, 1]; InputError if there is a NaN."""
    array = action
    if type(action) is not np.ndarray or action.dtype.kind not in "biuf":  # `numeric` would copy
        array = numeric(action, "action", f"an array of numbers, shape {shape}", InputError, nan=True)
    array = array.astype(np.float64, copy=False)
    if array.shape != shape:
        raise InputError(f"action must have shape {shape}, got {array.shape}")
    if np.isnan(array).any():
        raise InputError(f"action has a NaN: {array.tolist()}")
    return np.minimum(np.maximum(array, -1.0), 1.0)  # a third of the time of np.clip, on a few numbers


def checked_options(options: Any) -> dict[str, Any]:
    """Options of a reset, those that are given."""
    if options is not None and not isinstance(options, Mapping):
        raise InputError(f"options must be a dict, got {show(options)}")
    return dict(options or {})


def plain(values: Mapping[str, Array]) -> dict[str, Any]:
    """Values of the only environment: Python numbers, and arrays of their own."""
    return {name: value.item() if value.ndim == 1 else value[0].copy() for name, value in values.items()}


class RobotEnv(gym.Env):
    """A task (`task`, its class or "module:name") in one environment; `kwargs` are the task's own arguments.

    render_mode: None, "rgb_array", "depth_array", or "human" for the live page; width, height: of the picture;
    default_camera_config: as in Gymnasium's MuJoCo environments (distance, azimuth, elevation, lookat, trackbodyid);
    speed: of the live page at first, times real time; browse: open a browser for it.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES}  # noqa: RUF012, declared so by Gymnasium

    def __init__(
        self,
        task: str | type[Task],
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
        default_camera_config: Mapping[str, Any] | None = None,
        speed: float = 1.0,
        browse: bool = True,
        **kwargs: Any,
    ) -> None:
        self.task = make_task(task, 1, kwargs)
        self.action_space, self.observation_space = self.task.action_space, self.task.observation_space
        self.metadata = {"render_modes": RENDER_MODES, "render_fps": round(1.0 / self.task.dt)}
        self.render_mode = render_mode
        self.picture = Picture(self, render_mode, width, height, default_camera_config, speed, browse)

    @property
    def dt(self) -> float:
        """Time between two actions, s."""
        return self.task.dt

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start a new episode."""
        super().reset(seed=seed)
        self.task.reset(ONLY, [self.np_random], checked_options(options))
        self.picture.began(ONLY)
        self.picture.complain()
        return self.task.observe()[0].copy(), plain(self.task.info())

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One control step; an episode is only truncated by the time limit that `gymnasium.make` adds."""
        told = checked_actions(action, (self.task.n_actions,))[None]
        terms, reward, terminated, outcome = self.task.step(told)
        self.picture.stepped(told, reward, ALL)
        info = plain(self.task.info() | outcome | terms)
        self.picture.complain()
        return self.task.observe()[0].copy(), float(reward[0]), bool(terminated[0]), False, info

    def record(self, path: str | PathLike[str]) -> Recorder:
        """Write poses, forces, gaps, joint errors, actions and rewards to a file from now on, until it is closed."""
        return self.picture.record(path)

    def render(self) -> Any:
        """A picture, as `render_mode` says."""
        return self.picture.render(0)

    def close(self) -> None:
        """Let go of the renderer, end the page and the recording."""
        self.picture.close()

    def get_state(self) -> dict[str, Any]:
        """Everything the future depends on: physics, task, generator of random numbers; not Gymnasium's `TimeLimit`."""
        return self.task.snapshot() | {"rng": self.np_random.bit_generator.state}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to what `get_state` returned, bit by bit; InputError, and nothing has changed, if it is not a state
        of such an environment. What the environment was made with stays, weights of rewards for one."""
        found = self.task.checked(state, "rng")
        check_generator(state["rng"], self.np_random, "rng")
        self.task.restore(found)
        self.np_random.bit_generator.state = state["rng"]
        self.picture.began(ONLY)
        self.picture.complain()
