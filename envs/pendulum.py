"""VIPendulum-v0: swing a rod up and hold it there."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from vigym.assets import pendulum
from vigym.envs.task import Array, Draws, Indices, Task


class Pendulum(Task):
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

    n_actions = 1
    camera: ClassVar[Mapping[str, Any]] = {"distance": 4.5, "azimuth": 90.0, "elevation": -5.0, "lookat": (0, 0, 1.4)}

    def __init__(
        self,
        *,
        frame_skip: int = 5,
        dt: float = 0.01,
        reset_noise_scale: float = 1.0,
        observation: str = "joints",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.reset_noise_scale = reset_noise_scale
        self.choose_observation(observation, "joints")
        super().__init__(
            pendulum.build(),
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"angle": rng.uniform(-np.pi, np.pi, 1), "velocity": self.reset_noise_scale * rng.uniform(-1, 1, 1)}

    def start(self, env: Indices, draws: Draws) -> None:
        angle, mask = self.rows(env, draws["angle"])
        velocity, _ = self.rows(env, draws["velocity"])
        self.sim.set_joint_state(angle, velocity, mask)

    def controls(self, action: Array) -> dict[str, Any]:
        return {"effort": pendulum.TORQUE_LIMIT * action}

    def observation_names(self) -> list[str]:
        if self.observes_maximal:
            return self.maximal_names()
        return ["cosine of the angle from upright", "sine of the angle from upright", "velocity of the hinge"]

    def observe(self) -> Array:
        if self.observes_maximal:
            return self.maximal()
        angle, velocity = self.sim.joint_positions(), self.sim.joint_velocities()
        return np.concatenate([-np.cos(angle), -np.sin(angle), velocity], -1)  # the hinge counts from hanging down

    def rewards(self) -> dict[str, Array]:
        angle, velocity = self.sim.joint_positions()[:, 0], self.sim.joint_velocities()[:, 0]
        from_upright = angle % (2 * np.pi) - np.pi
        torque = pendulum.TORQUE_LIMIT * self.action[:, 0]
        return {
            "reward_angle": -(from_upright**2),
            "reward_velocity": -0.1 * velocity**2,
            "reward_ctrl": -0.001 * torque**2,
        }

    def info(self) -> dict[str, Array]:
        return {"angle": self.sim.joint_positions()[:, 0] % (2 * np.pi) - np.pi}
