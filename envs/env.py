"""One environment: any task as a `gymnasium.Env`."""

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from inspect import getdoc
from os import PathLike
from typing import Any

import gymnasium as gym
import numpy as np

from vigym.engine.compiled import compiled, direct
from vigym.engine.errors import InputError
from vigym.engine.recording import Recorder
from vigym.engine.validation import numeric, show
from vigym.envs.rendering import RENDER_MODES, Picture
from vigym.envs.saved import check_generator
from vigym.envs.step_gradients import StepGradients, step_gradients
from vigym.envs.task import Array, Flags, Task

ONLY, ALL = np.zeros(1, np.int64), np.ones(1, bool)  # the only environment, as indices and as a mask


def load_task(task: str | type[Task]) -> type[Task]:
    """The class of a task, from itself or from "module:name"."""
    if not isinstance(task, str):
        return task
    module, name = task.split(":")
    return getattr(import_module(module), name)


def make_task(task: str | type[Task], num_envs: int, arguments: Mapping[str, Any]) -> Task:
    """A task in so many environments."""
    return load_task(task)(num_envs=num_envs, **arguments)


@compiled
def cut(actions, limit, out):
    """Cut actions to [-limit, limit], row by row; False if there is a NaN."""
    good = True
    for i in range(actions.shape[0]):
        for k in range(actions.shape[1]):
            out[i, k] = min(max(actions[i, k], -limit), limit)
            good = good and actions[i, k] == actions[i, k]
    return good


class Actions:
    """Actions of a user, checked: floats (rows, n) cut to [-limit, limit], in memory that the next ones take
    again."""

    def __init__(self, rows: int, n: int, shape: tuple[int, ...], limit: float = 1.0) -> None:
        self.limit = float(limit)
        self.shape, self.given, self.cut = shape, np.zeros((rows, n)), np.zeros((rows, n))
        self.target = self.given.reshape(shape)

    def __call__(self, action: Any) -> Array:
        """The actions as they are told to a task; InputError if there is a NaN, or another shape."""
        if type(action) is not np.ndarray or action.dtype.kind not in "biuf":  # `numeric` would copy
            action = numeric(action, "action", f"an array of numbers, shape {self.shape}", InputError, nan=True)
        if action.shape != self.shape:
            raise InputError(f"action must have shape {self.shape}, got {action.shape}")
        np.copyto(self.target, action)
        if not self._code(self.given, self.limit, self.cut):
            raise InputError(f"action has a NaN: {action.tolist()}")
        return self.cut

    @cached_property
    def _code(self) -> Callable[[Array, float, Array], bool]:
        return direct(cut, self.given, self.limit, self.cut)

    @property
    def inside(self) -> Flags:
        """Mask of the last actions that were not cut."""
        mask: Flags = np.abs(self.given) <= self.limit
        return mask

    def __reduce__(self) -> tuple[Any, ...]:
        return Actions, (*self.given.shape, self.shape, self.limit)


def checked_options(options: Any) -> dict[str, Any]:
    """Options of a reset, those that are given."""
    if options is not None and not isinstance(options, Mapping):
        raise InputError(f"options must be a dict, got {show(options)}")
    return dict(options or {})


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
        self.__doc__ = getdoc(self.task)  # help(env.unwrapped) shows the environment's page
        self._actions = Actions(1, self.task.n_actions, (self.task.n_actions,), self.task.action_limit)
        self.action_space, self.observation_space = self.task.action_space, self.task.observation_space
        self.metadata = {"render_modes": RENDER_MODES, "render_fps": round(1.0 / self.task.dt)}
        self.render_mode = render_mode
        self.picture = Picture(self, render_mode, width, height, default_camera_config, speed, browse)

    @property
    def dt(self) -> float:
        """Time between two actions, s."""
        return self.task.dt

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode."""
        super().reset(seed=seed)
        if seed is not None:
            self.task.seeded(ONLY)
        self.task.reset(ONLY, [self.np_random], checked_options(options))
        self.picture.began(ONLY)
        self.picture.complain()
        return self.task.shown(self.task.observe()[0]), self.task.told_alone(stepped=False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One control step; an episode is only truncated by the time limit that `gymnasium.make` adds."""
        told = self._actions(action)
        observation, reward, terminated = self.task.step(told)
        self.picture.stepped(told, reward, ALL)
        info = self.task.told_alone()
        self.picture.complain()
        return self.task.shown(observation[0]), reward.item(), terminated.item(), False, info

    def step_gradients(self, action: Any) -> StepGradients:
        """Derivatives of observation, reward and next state of a step with this action, by the present state and the
        action; the environment stays where it is. An action beyond its bounds is cut, and has no effect there.

        InputError for tasks whose reward is not smooth, and if the step has no derivatives, see `sim.gradients`."""
        told = self._actions(action)
        return step_gradients(self.task, told, self._actions.inside).alone()

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
