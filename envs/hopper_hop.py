"""VIHopperHop-v0: hop at a commanded horizontal velocity."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from vigym.assets.hopper import POLE_MASS, SPHERE_MASS
from vigym.engine.compiled import compiled
from vigym.engine.errors import InputError
from vigym.engine.validation import vector
from vigym.envs.arguments import bounds
from vigym.envs.hopper_base import HopperTask
from vigym.envs.task import Array, Draws, Flags, Indices

HOP = 0.1  # m, height of the foot that makes a hop
MEMORY = 1.0  # s, in which the height of the last hop is forgotten
SHARE = SPHERE_MASS / (SPHERE_MASS + POLE_MASS)  # of the sphere in the centre of mass


@compiled
def follow(v, lean, foot, slip, action, dt, weights, command, peak, error, terms):
    """Follow the hops over a control step of dt s, and judge it: terms (5, n) of the reward, with their `weights`.

    command: (n, 2) m/s; peak: height of the last hop, m; error: of the velocity, m/s
    """
    for n in range(len(v)):
        peak[n] = max(foot[n], peak[n] * (1.0 - dt / MEMORY))
        ahead = SHARE * v[n, 0, 0] + (1.0 - SHARE) * v[n, 1, 0] - command[n, 0]
        aside = SHARE * v[n, 0, 1] + (1.0 - SHARE) * v[n, 1, 1] - command[n, 1]
        error[n] = np.sqrt(ahead * ahead + aside * aside)
        effort = 0.0
        for k in range(4):
            effort += action[n, k] * action[n, k]
        terms[0, n] = weights[0] * min(peak[n] / HOP, 1.0) * np.exp(-((error[n] / weights[5]) ** 2))
        terms[1, n] = weights[1]
        terms[2, n] = -weights[2] * 4.0 * lean[n]
        terms[3, n] = -weights[3] * slip[n]
        terms[4, n] = -weights[4] * effort


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

    memory: ClassVar[tuple[str, ...]] = ("command", "peak", "error")
    fixed: ClassVar[tuple[str, ...]] = ("weights",)
    options: ClassVar[tuple[str, ...]] = ("command",)

    def __init__(
        self,
        *,
        frame_skip: int = 4,
        dt: float = 0.005,
        friction: float = 0.2,
        command_range: tuple[float, float] = (-0.5, 0.5),
        velocity_reward_weight: float = 1.0,
        velocity_scale: float = 0.25,
        healthy_reward: float = 0.1,
        upright_cost_weight: float = 0.5,
        slip_cost_weight: float = 0.2,
        ctrl_cost_weight: float = 0.01,
        healthy_tilt: float = 1.0,
        terminate_when_unhealthy: bool = True,
        reset_noise_scale: float = 0.05,
        exclude_current_positions_from_observation: bool = True,
        observation: str = "base",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        costs = upright_cost_weight, slip_cost_weight, ctrl_cost_weight
        self.weights = np.array([velocity_reward_weight, healthy_reward, *costs, velocity_scale], float)
        self.command_range, self.healthy_tilt = bounds(command_range, "command_range"), healthy_tilt
        self.terminate_when_unhealthy = terminate_when_unhealthy
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
        self.command = np.zeros((num_envs, 2))  # m/s, world
        self.peak = np.zeros(num_envs)  # height of the last hop, m
        self.error = np.zeros(num_envs)  # of the velocity, m/s

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        low, high = self.command_range
        drawn = rng.uniform(low, high, 2)  # in any case: the rest of the episode is the same
        if "command" in options:
            drawn = vector(options["command"], (2,), "options['command']", InputError)
        return super().draw(rng, options) | {"command": drawn}

    def start(self, env: Indices, draws: Draws) -> None:
        super().start(env, draws)
        self.command[env], self.peak[env], self.error[env] = draws["command"], 0.0, 0.0

    def observation_names(self) -> list[str]:
        directions = ("upward direction", "command", "horizontal velocity")
        pose = [f"{name} along the {self.base}'s {axis}" for name in directions for axis in "xyz"]
        return [*super().observation_names(), *pose, "height of the last hop"]

    def observe(self) -> Array:
        R, command, v = self.R, self.command, self.state.v[:, 0]
        wanted = R[:, 0] * command[:, :1] + R[:, 1] * command[:, 1:]
        moving = R[:, 0] * v[:, :1] + R[:, 1] * v[:, 1:2]
        return np.concatenate([super().observe(), R[:, 2], wanted, moving, self.peak[:, None]], -1)

    def rewards(self) -> dict[str, Array]:
        self.look()
        terms = np.empty((5, self.num_envs))
        seen = self.state.v, self.lean, self.foot, self.slip, self.action
        follow(*seen, self.dt, self.weights, self.command, self.peak, self.error, terms)
        names = ("reward_velocity", "reward_survive", "reward_upright", "reward_slip", "reward_ctrl")
        return dict(zip(names, terms, strict=True))

    def terminated(self) -> Flags:
        tilted = self.lean > np.sin(0.5 * self.healthy_tilt) ** 2
        return (self.fallen | tilted) & self.terminate_when_unhealthy

    def info(self) -> dict[str, Array]:
        return super().info() | {
            "command": self.command.copy(),
            "velocity_error": self.error.copy(),
            "hop_height": self.peak.copy(),
        }
