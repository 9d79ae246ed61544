"""VIHopperHop-v0: hop at a commanded horizontal velocity."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets.hopper import POLE_MASS, SPHERE_MASS
from vigym.engine.compiled import compiled, inlined
from vigym.engine.errors import InputError
from vigym.engine.validation import vector
from vigym.envs.arguments import NotNegative, Positive, Range
from vigym.envs.compiled_task import numbers, physics_of, physics_of_all, sense_solver, sum_of_squares, write
from vigym.envs.hopper_base import HopperTask, sense_hopper
from vigym.envs.robot import observe_base
from vigym.envs.task import Draws, Indices

HOP = 0.1  # m, height of the foot that makes a hop
MEMORY = 1.0  # s, in which the height of the last hop is forgotten
SHARE = SPHERE_MASS / (SPHERE_MASS + POLE_MASS)  # of the sphere in the centre of mass


@inlined
def follow(me, v, dt):
    """Follow the hops over a control step of dt s: height of the last one, m, and error of the velocity, m/s."""
    me.hop_height = max(me.foot, me.hop_height * (1.0 - dt / MEMORY))
    ahead = SHARE * v[0, 0] + (1.0 - SHARE) * v[1, 0] - me.command[0]
    aside = SHARE * v[0, 1] + (1.0 - SHARE) * v[1, 1] - me.command[1]
    me.velocity_error = np.sqrt(ahead * ahead + aside * aside)


@inlined
def observe(out, me, physics, settings):
    """Write the observation."""
    R, command, v = me.R, me.command, physics.v[0]
    k = observe_base(out, physics, settings)
    k = write(out, k, R[2])
    for i in range(3):
        out[k + i] = R[0, i] * command[0] + R[1, i] * command[1]
        out[k + 3 + i] = R[0, i] * v[0] + R[1, i] * v[1]
    out[k + 6] = me.hop_height


@inlined
def reward_velocity(me, settings):
    hop = min(me.hop_height / HOP, 1.0)
    return settings.velocity_reward_weight * hop * np.exp(-((me.velocity_error / settings.velocity_scale) ** 2))


@inlined
def reward_survive(settings):
    return settings.healthy_reward


@inlined
def reward_upright(me, settings):
    return -settings.upright_cost_weight * 4.0 * me.lean


@inlined
def reward_slip(me, settings):
    return -settings.slip_cost_weight * me.slip


@inlined
def reward_ctrl(action, settings):
    return -settings.ctrl_cost_weight * sum_of_squares(action)


@inlined
def terminated(me, settings):
    unhealthy = me.fallen or me.lean > settings.highest_lean
    return me.solver_failed or (settings.terminate_when_unhealthy and unhealthy)


@compiled
def judge(every, settings, elapsed, actions, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    given = settings[0]
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        sense_hopper(me, physics)
        if elapsed[n] == 0:
            me.hop_height, me.velocity_error = 0.0, 0.0
        else:
            follow(me, physics.v, given.dt)
        observe(observations[n], me, physics, given)
        me.reward_velocity = reward_velocity(me, given)
        me.reward_survive = reward_survive(given)
        me.reward_upright = reward_upright(me, given)
        me.reward_slip = reward_slip(me, given)
        me.reward_ctrl = reward_ctrl(actions[n], given)
        me.reward = me.reward_velocity + me.reward_survive + me.reward_upright + me.reward_slip + me.reward_ctrl
        me.terminated = terminated(me, given)


class HopperHop(HopperTask):
    """
    ## Description
    The hopper in space of the paper: a sphere that slides along a pole, pushed by a force along it, and turned by
    torques about three axes. It has to hop at a commanded velocity. The foot has little friction, so that pushes have
    to be steep; sliding and shaking are worth nothing, for only hops of some height count.

    ## Action Space
    `Box(-1, 1, (4,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | force of the leg, pushing the pole down | 60 N times the action | -1 | 1 | force (N) |
    | 1 | torque on the sphere about its x | 5 N m times the action | -1 | 1 | torque (N m) |
    | 2 | torque on the sphere about its y | 5 N m times the action | -1 | 1 | torque (N m) |
    | 3 | torque on the sphere about its z | 0.1 N m times the action | -1 | 1 | torque (N m) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (23,), float64)`; with `observation="maximal"` the state of every body instead of the first
    13. With `exclude_current_positions_from_observation=False`, x and y of the sphere come first.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | z of the sphere | position (m) |
    | 1 | w of the sphere's quaternion | - |
    | 2 | x of the sphere's quaternion | - |
    | 3 | y of the sphere's quaternion | - |
    | 4 | z of the sphere's quaternion | - |
    | 5 | leg | position (m) |
    | 6 | velocity along x of the sphere | velocity (m/s) |
    | 7 | velocity along y of the sphere | velocity (m/s) |
    | 8 | velocity along z of the sphere | velocity (m/s) |
    | 9 | angular velocity about the sphere's x | angular velocity (rad/s) |
    | 10 | angular velocity about the sphere's y | angular velocity (rad/s) |
    | 11 | angular velocity about the sphere's z | angular velocity (rad/s) |
    | 12 | velocity of leg | velocity (m/s) |
    | 13 | upward direction along the sphere's x | - |
    | 14 | upward direction along the sphere's y | - |
    | 15 | upward direction along the sphere's z | - |
    | 16 | command along the sphere's x | velocity (m/s) |
    | 17 | command along the sphere's y | velocity (m/s) |
    | 18 | command along the sphere's z | velocity (m/s) |
    | 19 | horizontal velocity along the sphere's x | velocity (m/s) |
    | 20 | horizontal velocity along the sphere's y | velocity (m/s) |
    | 21 | horizontal velocity along the sphere's z | velocity (m/s) |
    | 22 | height of the last hop | position (m) |

    The horizontal velocity is the sphere's, a vector in the world's ground plane; it and the command are given in the
    sphere's frame.

    ## Rewards
    The height of the last hop is the largest height of the foot, which is forgotten within 1 s. With the error of the
    horizontal velocity of the centre of mass, reward = reward_velocity + reward_survive + reward_upright +
    reward_slip + reward_ctrl:
    - reward_velocity = `velocity_reward_weight` min(1, height / 0.1 m) exp(-(error / `velocity_scale`)^2)
    - reward_survive = `healthy_reward`
    - reward_upright = -`upright_cost_weight` (2 sin(tilt / 2))^2
    - reward_slip = -`slip_cost_weight` times the speed of the foot on the ground (m/s)
    - reward_ctrl = -`ctrl_cost_weight` times the sum of the squared actions

    ## Starting State
    Upright on the foot, on the leg's lower stop, at rest, with uniform noise within +-`reset_noise_scale` on
    orientation (rotation vector, rad), velocity (m/s) and angular velocity (rad/s), and within 0 to
    `reset_noise_scale` on the leg (m). Both components of the command, along the world's x and y, are uniform within
    `command_range`; `reset(options={"command": (x, y)})` sets them.

    ## Episode End
    Terminated when the sphere or the upper end of the pole is in the ground or the tilt is more than `healthy_tilt`, if
    `terminate_when_unhealthy`, or when a step of the physics cannot be solved (`info["solver_failed"]`). Truncated
    after 500 steps of 0.02 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `4` | steps of the simulator in a control step |
    | `dt` | float | `0.005` | step of the simulator, s |
    | `friction` | float | `0.2` | of the foot |
    | `command_range` | tuple | `(-0.5, 0.5)` | of both components of the command, m/s |
    | `velocity_reward_weight` | float | `1.0` | reward of a step at the commanded velocity |
    | `velocity_scale` | float | `0.25` | error of the velocity that takes 63 % of it, m/s |
    | `healthy_reward` | float | `0.1` | reward of every step |
    | `upright_cost_weight` | float | `0.5` | cost of tilting |
    | `slip_cost_weight` | float | `0.2` | cost of sliding |
    | `ctrl_cost_weight` | float | `0.01` | cost of actions |
    | `healthy_tilt` | float | `1.0` | largest angle from upright, rad |
    | `terminate_when_unhealthy` | bool | `True` | whether a fall ends the episode |
    | `reset_noise_scale` | float | `0.05` | range of the start |
    | `exclude_current_positions_from_observation` | bool | `True` | leave x and y of the sphere out |
    | `observation` | str | `"base"` | `"base"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version, with Coulomb's circular friction cone
    """

    infos: ClassVar[Mapping[str, Any]] = {"command": (float, 2), "velocity_error": float, "hop_height": float}
    terms: ClassVar[tuple[str, ...]] = ("velocity", "survive", "upright", "slip", "ctrl")
    options: ClassVar[tuple[str, ...]] = ("command",)

    def __init__(
        self,
        *,
        frame_skip: int = 4,
        dt: float = 0.005,
        friction: float = 0.2,
        command_range: Range = (-0.5, 0.5),
        velocity_reward_weight: float = 1.0,
        velocity_scale: Positive = 0.25,
        healthy_reward: float = 0.1,
        upright_cost_weight: float = 0.5,
        slip_cost_weight: float = 0.2,
        ctrl_cost_weight: float = 0.01,
        healthy_tilt: float = 1.0,
        terminate_when_unhealthy: bool = True,
        reset_noise_scale: NotNegative = 0.05,
        exclude_current_positions_from_observation: bool = True,
        observation: Literal["base", "maximal"] = "base",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.command_range = command_range
        super().__init__(
            friction=friction,
            reset_noise_scale=reset_noise_scale,
            observation=observation,
            exclude_current_positions_from_observation=exclude_current_positions_from_observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )
        self.settings = numbers(
            velocity_reward_weight=velocity_reward_weight,
            velocity_scale=velocity_scale,
            healthy_reward=healthy_reward,
            upright_cost_weight=upright_cost_weight,
            slip_cost_weight=slip_cost_weight,
            ctrl_cost_weight=ctrl_cost_weight,
            highest_lean=np.sin(0.5 * healthy_tilt) ** 2,
            terminate_when_unhealthy=terminate_when_unhealthy,
            observes_maximal=self.observes_maximal,
            skipped=self.skipped,
            dt=self.dt,
        )

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        low, high = self.command_range
        drawn = rng.uniform(low, high, 2)  # in any case: the rest of the episode is the same
        if "command" in options:
            drawn = vector(options["command"], (2,), "options['command']", InputError)
        return super().draw(rng, options) | {"command": drawn}

    def observation_names(self) -> list[str]:
        directions = ("upward direction", "command", "horizontal velocity")
        pose = [f"{name} along the {self.base}'s {axis}" for name in directions for axis in "xyz"]
        return [*super().observation_names(), *pose, "height of the last hop"]

    def start(self, env: Indices, draws: Draws) -> None:
        super().start(env, draws)
        self.now["command"][env] = draws["command"]  # m/s, world

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        own = self.settings, self.elapsed, self.action, self.observation, self.now
        return judge, (physics_of_all(self.sim), *own)
