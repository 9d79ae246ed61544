"""Common parts of robots that run in a plane. Coordinates: x, z and angle of the torso, then hinges."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from vigym.engine.compiled import compiled, inlined
from vigym.engine.mechanism import Mechanism
from vigym.envs.classics.base import ClassicTask, observe_state, rate_names, sense_joints
from vigym.envs.compiled_task import numbers, physics_of, physics_of_all, sense_solver, sum_of_squares


@inlined
def sense_way(me, at_start, settings):
    """Position of the torso along x, and its mean velocity over the control step."""
    me.x_velocity = 0.0 if at_start else (me.qpos[0] - me.x_position) / settings.dt
    me.x_position = me.qpos[0]
    me.z_distance_from_origin = me.qpos[1] - settings.rest_height


@inlined
def sense_health(me, settings):
    """Healthy: height and angle of the torso, other coordinates but x, and velocities, are within their ranges."""
    me.healthy = settings.lowest < me.qpos[1] < settings.highest
    me.healthy = me.healthy and settings.lowest_angle < me.qpos[2] < settings.highest_angle
    for k in range(2, len(me.qpos)):
        me.healthy = me.healthy and settings.lowest_state < me.qpos[k] < settings.highest_state
    for k in range(len(me.qvel)):
        me.healthy = me.healthy and settings.lowest_state < me.qvel[k] < settings.highest_state


@inlined
def reward_forward(me, settings):
    return settings.forward_reward_weight * me.x_velocity


@inlined
def reward_ctrl(action, settings):
    return -settings.ctrl_cost_weight * sum_of_squares(action)


@inlined
def reward_survive(me, settings):
    return settings.healthy_reward if me.healthy else 0.0


@inlined
def terminated(me, settings):
    return me.solver_failed or (settings.terminate_when_unhealthy and not me.healthy)


@compiled
def judge(every, settings, order, elapsed, actions, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    given = settings[0]
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        sense_joints(me, physics, order, 0, 0)
        sense_way(me, elapsed[n] == 0, given)
        sense_health(me, given)
        observe_state(observations[n], me, physics, given)
        me.reward_forward = reward_forward(me, given)
        me.reward_ctrl = reward_ctrl(actions[n], given)
        me.reward_survive = reward_survive(me, given)
        me.reward = me.reward_forward + me.reward_ctrl + me.reward_survive
        me.terminated = terminated(me, given)


class RunnerTask(ClassicTask):
    """A robot that runs along x; healthy as long as nothing is said about it.

    hinges: names of the hinges, in the order of qpos
    settings: those of the task by name, see `judge`
    options: those of every task
    """

    infos: ClassVar[Mapping[str, Any]] = {"x_position": float, "z_distance_from_origin": float}
    outcomes: ClassVar[Mapping[str, Any]] = {"x_velocity": float}
    senses: ClassVar[Mapping[str, Any]] = {"healthy": bool}
    terms: ClassVar[tuple[str, ...]] = ("forward", "ctrl", "survive")
    hinges: ClassVar[tuple[str, ...]]
    camera: ClassVar[Mapping[str, Any]] = {"distance": 4.0, "azimuth": 90.0, "elevation": -10.0, "trackbodyid": 0}

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        reset_noise_scale: float,
        exclude_current_positions_from_observation: bool,
        settings: Mapping[str, Any],
        **options: Any,
    ) -> None:
        self.reset_noise_scale, self.skipped = reset_noise_scale, int(exclude_current_positions_from_observation)
        super().__init__(mechanism, **options)
        usual = {"rest_height": self.rest_qpos[1], "healthy_reward": 0.0, "terminate_when_unhealthy": False}
        usual |= dict.fromkeys(("lowest", "lowest_angle", "lowest_state"), -np.inf)
        usual |= dict.fromkeys(("highest", "highest_angle", "highest_state", "most_rate"), np.inf)
        own = {"observes_maximal": self.observes_maximal, "skipped": float(self.skipped), "dt": self.dt}
        self.settings = numbers(**usual | own | dict(settings))

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        return self.uniform(rng, self.reset_noise_scale)

    def names(self) -> list[str]:
        coordinates = ["x of the torso", "z of the torso", "angle of the torso", *self.hinges]
        return [*coordinates[self.skipped :], *rate_names(coordinates)]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        tables = physics_of_all(self.sim), self.settings, self.places
        return judge, (*tables, self.elapsed, self.action, self.observation, self.now)
