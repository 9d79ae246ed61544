"""VICartPole-v0: keep a pole upright on a cart."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets import cartpole
from vigym.engine.compiled import compiled, inlined
from vigym.envs.arguments import NotNegative, OpenRange
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

TRACK = cartpole.TRACK


@inlined
def sense(me, physics, settings):
    """Cart and pole; healthy: pole upright, cart on its track."""
    me.x_position, me.angle = physics.joints[0], physics.joints[1]
    me.healthy = abs(me.x_position) <= TRACK and settings.lowest_angle <= me.angle <= settings.highest_angle


@inlined
def observe(out, physics, settings):
    """Write the observation."""
    if settings.observes_maximal:
        write_maximal(out, physics)
    else:
        write(out, write(out, 0, physics.joints), physics.rates)


@inlined
def reward_survive(me, settings):
    return settings.healthy_reward if me.healthy else 0.0


@inlined
def terminated(me, settings):
    return me.solver_failed or (settings.terminate_when_unhealthy and not me.healthy)


@compiled
def judge(every, settings, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    for n in env:
        physics, me, given = physics_of(every, n), now[n], settings[0]
        sense_solver(me, physics)
        sense(me, physics, given)
        observe(observations[n], physics, given)
        me.reward_survive = reward_survive(me, given)
        me.reward = me.reward_survive
        me.terminated = terminated(me, given)


class CartPole(CompiledTask):
    """
    ## Description
    A pole stands on a cart that runs on a track. Pushing the cart has to keep the pole upright. The task is that of
    Gymnasium's `CartPole-v1`, with the same figures; the force is continuous, as in `InvertedPendulum-v5`.

    ## Action Space
    `Box(-1, 1, (1,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | force on the cart | 10 N times the action | -1 | 1 | force (N) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (4,), float64)`; with `observation="maximal"` the state of every body instead.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | position of the cart | position (m) |
    | 1 | angle of the pole from upright | angle (rad) |
    | 2 | velocity of the cart | velocity (m/s) |
    | 3 | velocity of the pole's angle | angular velocity (rad/s) |

    ## Rewards
    reward = reward_survive:
    - reward_survive = `healthy_reward` in every step in which the pole is upright and the cart on its track, else 0

    ## Starting State
    All four within +-`reset_noise_scale`, uniform.

    ## Episode End
    Terminated when the cart is further than 2.4 m from the middle or the angle of the pole is outside
    `healthy_angle_range`, if `terminate_when_unhealthy`, or when a step of the physics cannot be solved
    (`info["solver_failed"]`). Truncated after 500 steps of 0.02 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `2` | steps of the simulator in a control step |
    | `dt` | float | `0.01` | step of the simulator, s |
    | `healthy_reward` | float | `1.0` | reward of a step |
    | `healthy_angle_range` | tuple | `(-0.2095, 0.2095)` | angle of the pole, rad (12 degrees) |
    | `terminate_when_unhealthy` | bool | `True` | whether a fallen pole ends the episode |
    | `reset_noise_scale` | float | `0.05` | range of the start |
    | `observation` | str | `"joints"` | `"joints"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    infos: ClassVar[Mapping[str, Any]] = {"x_position": float, "angle": float}
    terms: ClassVar[tuple[str, ...]] = ("survive",)
    senses: ClassVar[Mapping[str, Any]] = {"healthy": bool}
    memory: ClassVar[tuple[str, ...]] = ("effort",)
    n_actions = 1
    camera: ClassVar[Mapping[str, Any]] = {"distance": 5.0, "azimuth": 90.0, "elevation": -5.0, "lookat": (0, 0, 1.4)}

    def __init__(
        self,
        *,
        frame_skip: int = 2,
        dt: float = 0.01,
        healthy_reward: float = 1.0,
        healthy_angle_range: OpenRange = (-0.2095, 0.2095),
        terminate_when_unhealthy: bool = True,
        reset_noise_scale: NotNegative = 0.05,
        observation: Literal["joints", "maximal"] = "joints",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.reset_noise_scale, self.observes_maximal = reset_noise_scale, observation == "maximal"
        super().__init__(
            cartpole.build(track=TRACK + 1.0),  # an episode ends before the cart hits a stop
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )
        self.effort = np.zeros((num_envs, 2))
        self.settings = numbers(
            healthy_reward=healthy_reward,
            lowest_angle=healthy_angle_range[0],
            highest_angle=healthy_angle_range[1],
            terminate_when_unhealthy=terminate_when_unhealthy,
            observes_maximal=self.observes_maximal,
        )

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"joints": self.reset_noise_scale * rng.uniform(-1, 1, 4)}

    def start(self, env: Indices, draws: Draws) -> None:
        joints, mask = self.rows(env, draws["joints"])
        self.sim.set_joint_state(joints[:, :2], joints[:, 2:], mask)

    def controls(self, action: Array) -> dict[str, Any]:
        np.multiply(cartpole.FORCE_LIMIT, action, out=self.effort[:, :1])
        return {"effort": self.effort}

    def observation_names(self) -> list[str]:
        if self.observes_maximal:
            return self.maximal_names()
        return [
            "position of the cart",
            "angle of the pole from upright",
            "velocity of the cart",
            "velocity of the pole's angle",
        ]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        return judge, (physics_of_all(self.sim), self.settings, self.observation, self.now)
