"""VIPendulum-v0: swing a rod up and hold it there."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets import pendulum
from vigym.engine.compiled import compiled, inlined
from vigym.envs.arguments import NotNegative
from vigym.envs.compiled_task import (
    CompiledTask,
    numbers,
    physics_of,
    physics_of_all,
    sense_solver,
    write,
    write_maximal,
)
from vigym.envs.task import Array, Draws, Indices

TURN = 2 * np.pi
TORQUE_LIMIT = pendulum.TORQUE_LIMIT


@inlined
def sense(me, physics):
    """Angle from upright, in [-pi, pi); the hinge counts from hanging down."""
    me.angle = physics.joints[0] % TURN - np.pi


@inlined
def observe(out, physics, settings):
    """Write the observation."""
    if settings.observes_maximal:
        write_maximal(out, physics)
    else:
        angle = physics.joints[0]
        write(out, 0, (-np.cos(angle), -np.sin(angle), physics.rates[0]))


@inlined
def reward_angle(me):
    return -(me.angle**2)


@inlined
def reward_velocity(physics):
    return -0.1 * physics.rates[0] ** 2


@inlined
def reward_ctrl(action):
    torque = TORQUE_LIMIT * action[0]
    return -0.001 * torque**2


@compiled
def judge(every, settings, actions, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        sense(me, physics)
        observe(observations[n], physics, settings[0])
        me.reward_angle = reward_angle(me)
        me.reward_velocity = reward_velocity(physics)
        me.reward_ctrl = reward_ctrl(actions[n])
        me.reward = me.reward_angle + me.reward_velocity + me.reward_ctrl
        me.terminated = me.solver_failed


class Pendulum(CompiledTask):
    """
    ## Description
    A rod hangs on a hinge. The motor is too weak to lift it: it has to be swung up, and then held upright. The task is
    that of Gymnasium's `Pendulum-v1`, with the same figures.

    ## Action Space
    `Box(-1, 1, (1,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | torque on the hinge | 2 N m times the action | -1 | 1 | torque (N m) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (3,), float64)`; with `observation="maximal"` the state of every body instead.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | cosine of the angle from upright | - |
    | 1 | sine of the angle from upright | - |
    | 2 | velocity of the hinge | angular velocity (rad/s) |

    ## Rewards
    reward = reward_angle + reward_velocity + reward_ctrl, with the angle from upright in [-pi, pi]:
    - reward_angle = -angle^2
    - reward_velocity = -0.1 velocity^2
    - reward_ctrl = -0.001 torque^2

    ## Starting State
    Any angle, and a velocity within +-`reset_noise_scale` rad/s, both uniform.

    ## Episode End
    Truncated after 200 steps of 0.05 s; never terminated, unless a step of the physics cannot be solved
    (`info["solver_failed"]`).

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `5` | steps of the simulator in a control step |
    | `dt` | float | `0.01` | step of the simulator, s |
    | `reset_noise_scale` | float | `1.0` | range of the velocity at the start, rad/s |
    | `observation` | str | `"joints"` | `"joints"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    infos: ClassVar[Mapping[str, Any]] = {"angle": float}
    terms: ClassVar[tuple[str, ...]] = ("angle", "velocity", "ctrl")
    n_actions = 1
    smooth = True
    camera: ClassVar[Mapping[str, Any]] = {"distance": 4.5, "azimuth": 90.0, "elevation": -5.0, "lookat": (0, 0, 1.4)}

    def __init__(
        self,
        *,
        frame_skip: int = 5,
        dt: float = 0.01,
        reset_noise_scale: NotNegative = 1.0,
        observation: Literal["joints", "maximal"] = "joints",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.reset_noise_scale, self.observes_maximal = reset_noise_scale, observation == "maximal"
        super().__init__(
            pendulum.build(),
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )
        self.settings = numbers(observes_maximal=self.observes_maximal)

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"angle": rng.uniform(-np.pi, np.pi, 1), "velocity": self.reset_noise_scale * rng.uniform(-1, 1, 1)}

    def start(self, env: Indices, draws: Draws) -> None:
        angle, mask = self.rows(env, draws["angle"])
        velocity, _ = self.rows(env, draws["velocity"])
        self.sim.set_joint_state(angle, velocity, mask)

    def controls(self, action: Array) -> dict[str, Any]:
        return {"effort": TORQUE_LIMIT * action}

    def observation_names(self) -> list[str]:
        if self.observes_maximal:
            return self.maximal_names()
        return ["cosine of the angle from upright", "sine of the angle from upright", "velocity of the hinge"]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        return judge, (physics_of_all(self.sim), self.settings, self.action, self.observation, self.now)
