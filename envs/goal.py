"""Tasks with a goal, after the conventions of Gymnasium-Robotics: observations are dicts of "observation",
"achieved_goal" and "desired_goal", and `compute_reward` says what any goals would have been worth (hindsight
experience replay asks for that)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.compiled import compiled, inlined
from vigym.engine.errors import InputError
from vigym.engine.validation import numeric
from vigym.envs.compiled_task import CompiledTask
from vigym.envs.env import RobotEnv
from vigym.envs.vector import RobotVectorEnv

GOALS = ("achieved_goal", "desired_goal")


@inlined
def distance(a, b):
    """Distance of two points (3,)."""
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return np.sqrt(x * x + y * y + z * z)


@inlined
def worth(far, dense, threshold):
    """Reward of a goal that is missed by so much."""
    if dense:
        return -far
    return -1.0 if far > threshold else 0.0


@compiled
def rewards_of(achieved, desired, dense, threshold, out):
    """Rewards (n,) of goals (n, 3)."""
    for n in range(len(out)):
        out[n] = worth(distance(achieved[n], desired[n]), dense, threshold)


@inlined
def judge_goal(out, first, me, settings):
    """Write both goals from out[first] on; reward, success and end."""
    for k in range(3):
        out[first + k], out[first + 3 + k] = me.achieved[k], me.goal[k]
    me.distance = distance(me.achieved, me.goal)
    me.is_success = me.distance < settings.distance_threshold
    me.reward_goal = worth(me.distance, settings.dense, settings.distance_threshold)
    me.reward = me.reward_goal
    me.terminated = me.solver_failed or (me.is_success and not settings.continuing_task)


class GoalTask(CompiledTask):
    """A task in which something, `achieved` of its record, is to be where `goal` is, (3,) each.

    Subclasses name what else is observed, and put `dense`, `distance_threshold` and `continuing_task` into `settings`.
    """

    settings: np.ndarray
    infos: ClassVar[Mapping[str, Any]] = {"distance": float, "is_success": bool}
    terms: ClassVar[tuple[str, ...]] = ("goal",)
    senses: ClassVar[Mapping[str, Any]] = {"achieved": (float, 3), "goal": (float, 3)}

    @property
    def parts(self) -> dict[str, int]:  # type: ignore[override]
        return {"observation": self.observation_size - 6, "achieved_goal": 3, "desired_goal": 3}

    def names(self) -> list[str]:
        """One name an element of "observation"."""
        raise NotImplementedError

    def observation_names(self) -> list[str]:
        return [*self.names(), *(f"{axis} of the {kind} goal" for kind in ("achieved", "desired") for axis in "xyz")]

    def compute_reward(self, achieved_goal: ArrayLike, desired_goal: ArrayLike) -> Any:
        """Rewards (...) of goals (..., 3); a float for one."""
        goals = []
        for name, given in zip(GOALS, (achieved_goal, desired_goal), strict=True):
            array = numeric(given, name, "goals (..., 3)", InputError)
            if array.ndim < 1 or array.shape[-1] != 3:
                raise InputError(f"{name} must be goals (..., 3), got shape {array.shape}")
            goals.append(array)
        if goals[0].shape != goals[1].shape:
            raise InputError(f"achieved_goal and desired_goal differ in shape: {goals[0].shape} and {goals[1].shape}")
        rows = [np.ascontiguousarray(goal.reshape(-1, 3), float) for goal in goals]
        given, out = self.settings[0], np.zeros(len(rows[0]))
        rewards_of(*rows, bool(given["dense"]), float(given["distance_threshold"]), out)
        return float(out[0]) if goals[0].ndim == 1 else out.reshape(goals[0].shape[:-1])


class GoalEnv(RobotEnv):
    """One environment of a `GoalTask`."""

    task: GoalTask

    def compute_reward(self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None) -> Any:
        """Rewards (...) that reaching the achieved goals (..., 3) would have had if the desired ones (..., 3) had been
        asked for; a float for one. `info` is not needed."""
        return self.task.compute_reward(achieved_goal, desired_goal)


class GoalVectorEnv(RobotVectorEnv):
    """A batch of environments of a `GoalTask`."""

    task: GoalTask

    def compute_reward(self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None) -> Any:
        """Compute rewards as in a single environment, for any number of goals."""
        return self.task.compute_reward(achieved_goal, desired_goal)
