"""Derivatives of a control step: of observation, reward and state, by the state before it and the action.

Physics is differentiated by the engine, step by step of the simulator; what the task makes of it runs once more as
plain Python, on numbers that carry derivatives (dual.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.coordinate_gradients import coordinates_by_state
from vigym.engine.errors import InputError
from vigym.engine.rotation import multiply
from vigym.envs.compiled_task import CompiledTask, Physics
from vigym.envs.dual import duals, plain, slope, value
from vigym.envs.task import Array, Flags, Task

SAME = 1e-9  # relative: numbers that two ways of working them out may differ by


@dataclass(frozen=True)
class StepGradients:
    """A control step that was tried, and its derivatives; environments of a batch lead.

    observation (n_observations,), reward (): those that the step would give
    state: (12 n_bodies, 12 n_bodies) of the next state by the one before, numbers as in `sim.gradients`
    action: (12 n_bodies, n_actions) of the next state by the action
    observation_by_state, observation_by_action: (n_observations, 12 n_bodies or n_actions)
    reward_by_state, reward_by_action: (12 n_bodies or n_actions,)
    status: "ok"; "relaxed", see `sim.gradients`; all others have derivatives of zero: those of `sim.gradients`, and
    "rough", where an observation has none (`Task.rough`)
    """

    observation: Array
    reward: Array
    state: Array
    action: Array
    observation_by_state: Array
    observation_by_action: Array
    reward_by_state: Array
    reward_by_action: Array
    status: Any

    def alone(self) -> "StepGradients":
        """The same of the only environment."""
        return StepGradients(**{name: values[0] for name, values in vars(self).items()})


def step_gradients(task: Task, action: Array, inside: Flags) -> StepGradients:
    """Derivatives of a control step of all environments from their present states, at which they stay.

    action: (num_envs, n_actions), within the space; inside: where it was given so, and not cut"""
    if not (isinstance(task, CompiledTask) and task.smooth):
        raise InputError(
            f"{type(task).__name__} has no step_gradients: its reward, or what it observes, is no smooth function of "
            "state and action; sim.gradients has the derivatives of its physics (env.unwrapped.task.sim)"
        )
    if task.variation.past.shape[1] > 1:
        raise InputError("step_gradients does not know actions that arrive late: leave randomization['latency'] out")
    before = task.snapshot()
    try:
        return _tried(task, action, inside)
    finally:
        task.restore(task.checked(before))


def _tried(task: CompiledTask, action: Array, inside: Flags) -> StepGradients:
    sim, n, size = task.sim, task.num_envs, 12 * task.sim.model.n_bodies
    width = size + task.n_actions
    start = Judged(task, np.broadcast_to(np.eye(size, width), (n, size, width)), np.zeros((n, 0)))
    start.judge(task.elapsed)
    np.copyto(task.action, action)
    controls, by_action = controls_by_action(task)
    given: dict[str, Any] = {**controls, **task.variation.push()}
    moved, status = np.zeros((n, size, width)), np.full(n, "ok", "<U9")
    moved[:] = np.eye(size, width)
    for _ in range(task.frame_skip):
        sim.step(**given)
        found = sim.gradients(*(name for name in by_action if name != "effort"))
        moved = found.state @ moved
        for name, columns in by_action.items():
            moved[:, :, size:] += found[name].reshape(n, size, -1) @ columns
        status = np.where((status == "ok") | ((status == "relaxed") & (found.status != "ok")), found.status, status)
    task.elapsed += 1
    task.sense(task.everyone)
    end = Judged(task, moved, action, start.records)
    end.judge(task.elapsed)
    observation, reward = task.observe().copy(), task.now["reward"].copy()
    end.check(observation, reward)
    status[task.rough() & ((status == "ok") | (status == "relaxed"))] = "rough"
    slopes = {"moved": moved, "seen": end.slopes(width), "worth": end.worths(width)}
    for name, columns in slopes.items():
        columns = np.where((status == "ok") | (status == "relaxed"), columns.T, 0.0).T
        columns[..., size:] *= inside.reshape(n, *[1] * (columns.ndim - 2), -1)
        slopes[name] = columns
    parts = [part for columns in slopes.values() for part in np.split(columns, [size], axis=-1)]
    A, B, seen, seen_by_action, worth, worth_by_action = parts
    return StepGradients(observation, reward, A, B, seen, seen_by_action, worth, worth_by_action, status)


def controls_by_action(task: Task) -> tuple[dict[str, Array], dict[str, Array]]:
    """Controls of the present action, and their derivatives by it, (num_envs, numbers, n_actions), zero ones left out:
    differences, exact as controls of smooth tasks are linear."""

    def at(action: Array) -> dict[str, Array]:
        found = task.controls(action)
        return {name: np.array(control, float).reshape(task.num_envs, -1) for name, control in found.items()}

    action = task.action.copy()
    columns = []
    for k in range(task.n_actions):
        unit = np.eye(task.n_actions)[k]
        ahead, back = at(action + unit), at(action - unit)
        columns.append({name: 0.5 * (ahead[name] - back[name]) for name in ahead})
    slopes = {name: np.stack([column[name] for column in columns], -1) for name in columns[0]}
    given: Mapping[str, Any] = task.controls(action)
    return {name: np.array(control) for name, control in given.items()}, slopes


class One:
    """The entry of one environment, at whatever place of a batch it is looked for."""

    def __init__(self, entry: Any, shape: tuple[int, ...] = ()) -> None:
        self.entry, self.shape = entry, shape

    def __getitem__(self, place: Any) -> Any:
        return self.entry


class Judged:
    """Results that a task makes of its state, with derivatives, one environment after the other.

    moved: derivatives of the state, (num_envs, 12 n_bodies, columns); action: those of which the last columns are
    derivatives, if any were taken; records: those of a judgement before, which are what a task remembers of it
    """

    def __init__(self, task: CompiledTask, moved: Array, action: Array, records: list[Any] | None = None) -> None:
        self.task, self.columns = task, moved.shape[-1]
        n, bodies = task.num_envs, task.sim.model.n_bodies
        by_body = moved.reshape(n, bodies, 12, -1)
        x, q, v, w = task.sim.state
        turn = np.moveaxis(by_body[:, :, 3:6], 2, -1)  # (n, bodies, columns, 3)
        half = np.concatenate([np.zeros((*turn.shape[:-1], 1)), 0.5 * turn], -1)
        by_q = np.moveaxis(multiply(np.broadcast_to(q[:, :, None], half.shape), half), -1, 2)
        self.pose = [(x, by_body[:, :, :3]), (q, by_q), (v, by_body[:, :, 6:9]), (w, by_body[:, :, 9:])]
        coordinates, rates = coordinates_by_state(task.sim)
        self.pose.append((task.sim.joint_positions(), coordinates @ moved))
        self.pose.append((task.sim.joint_velocities(), rates @ moved))
        by_action = np.zeros((*action.shape, self.columns))
        if action.size:
            by_action[..., -action.shape[1] :] = np.eye(action.shape[1])
        self.action = action, by_action
        self.records = records or [self.record(env) for env in range(n)]
        self.seen = np.zeros((n, task.observation_size), object)

    def record(self, env: int) -> SimpleNamespace:
        """A record of `now`."""
        names = self.task.now.dtype.names or ()
        return SimpleNamespace(**{name: loose(self.task.now[name][env]) for name in names})

    def judge(self, elapsed: NDArray[np.int64]) -> None:
        """Judge all environments."""
        loop, arguments = self.task.judge()
        loop = plain(loop)
        for env in range(self.task.num_envs):
            loop(*(self._of(argument, env, elapsed) for argument in arguments), [env])

    def _of(self, argument: Any, env: int, elapsed: NDArray[np.int64]) -> Any:
        """An argument of the loop, as one environment has it."""
        task = self.task
        if isinstance(argument, Physics):
            lanes = argument.x.shape[:2]
            moving = [One(duals(values[env], slopes[env]), lanes) for values, slopes in self.pose]
            still = [One(field[env // lanes[1], env % lanes[1]], lanes) for field in argument[len(moving) :]]
            return Physics(*moving, *still)
        if argument is task.observation:
            return One(self.seen[env])
        if argument is task.now:
            return One(self.records[env])
        if argument is task.action:
            values, slopes = self.action
            return One(duals(values[env], slopes[env]) if values.size else task.action[env])
        return elapsed if argument is task.elapsed else argument

    def check(self, observation: Array, reward: Array) -> None:
        """RuntimeError if the task has seen something else: it remembers more than the state and the record before."""
        rewards = np.array([value(record.reward) for record in self.records])
        values = np.array([[value(number) for number in row] for row in self.seen], float)
        for name, mine, theirs in (("observation", values, observation), ("reward", rewards, reward)):
            if not np.allclose(mine, theirs, rtol=SAME, atol=SAME):
                raise RuntimeError(f"the {name} of {type(self.task).__name__} is not one of state and action alone")

    def slopes(self, width: int) -> Array:
        """Derivatives of observations, (num_envs, n_observations, width)."""
        return np.array([[slope(number) + np.zeros(width) for number in row] for row in self.seen]).reshape(
            *self.seen.shape, width
        )

    def worths(self, width: int) -> Array:
        """Derivatives of rewards, (num_envs, width)."""
        return np.array([slope(record.reward) + np.zeros(width) for record in self.records])


def loose(number: Any) -> Any:
    """A field of a record that may be given numbers with derivatives."""
    return number.astype(object) if isinstance(number, np.ndarray) else number
