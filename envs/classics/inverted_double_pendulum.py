"""VIInvertedDoublePendulum-v0: keep two poles upright on a cart, as Gymnasium's InvertedDoublePendulum-v5."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets.classics import inverted_double_pendulum
from vigym.engine.compiled import compiled, inlined
from vigym.engine.kernels.axis import HIGH, LOW
from vigym.envs.arguments import NotNegative
from vigym.envs.classics.base import ClassicTask, cut, sense_joints, state_fields
from vigym.envs.compiled_task import numbers, physics_of, physics_of_all, sense_solver, write_maximal
from vigym.envs.task import Flags

LENGTH = inverted_double_pendulum.LENGTH
LOWEST = 1.0  # m, of the tip
STOPPED = 1e-3  # N: at an end of the track


@inlined
def sense_tip(me):
    """Position of the upper end of the poles along the track, and its height, m."""
    one, both = me.qpos[1], me.qpos[1] + me.qpos[2]
    me.tip_x = me.qpos[0] + LENGTH * (np.sin(one) + np.sin(both))
    me.tip_z = LENGTH * (np.cos(one) + np.cos(both))


@inlined
def observe(out, me, physics, settings):
    """Write the observation."""
    if settings.observes_maximal:
        write_maximal(out, physics)
        return
    out[0] = me.qpos[0]
    for k in range(2):
        out[1 + k], out[3 + k] = np.sin(me.qpos[1 + k]), np.cos(me.qpos[1 + k])
    for k in range(3):
        out[5 + k] = cut(me.qvel[k], 10.0)
    out[8] = cut(me.stop, 10.0)


@inlined
def reward_distance(me):
    return -0.01 * me.tip_x * me.tip_x - (me.tip_z - 2.0) * (me.tip_z - 2.0)


@inlined
def reward_velocity(me):
    return -1e-3 * me.qvel[1] * me.qvel[1] - 5e-3 * me.qvel[2] * me.qvel[2]


@compiled
def judge(every, limits, settings, order, elapsed, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    given, lanes = settings[0], limits.shape[1]
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        sense_joints(me, physics, order, 0, 0)
        sense_tip(me)
        pairs = limits[n // lanes, n % lanes, 0]
        me.stop = 0.0 if elapsed[n] == 0 else pairs[LOW] - pairs[HIGH]
        observe(observations[n], me, physics, given)
        me.terminated = me.solver_failed or me.tip_z <= LOWEST
        me.reward_survive = 0.0 if me.terminated else given.healthy_reward
        me.reward_distance = me.distance_penalty = reward_distance(me)
        me.reward_velocity = me.velocity_penalty = reward_velocity(me)
        me.reward = me.reward_survive + me.reward_distance + me.reward_velocity


class InvertedDoublePendulum(ClassicTask):
    """
    ## Description
    The cart and two poles of Gymnasium's `InvertedDoublePendulum-v5`: pushing the cart has to keep the poles upright.
    Spaces, figures, rewards and ends are the same, and so are starts for the same seed.

    Differences from `InvertedDoublePendulum-v5`: the track's ends are hard, MuJoCo's are soft and begin 0.01 m earlier,
    so that the last observation differs where the cart touches one; velocities are means of the last step of the
    simulator instead of those at its end; the motion is that of this engine's variational integrator at the same step,
    MuJoCo's is of fourth order; a step of the physics that cannot be solved ends the episode. The penalties have the
    names reward_distance and reward_velocity, too.

    ## Action Space
    `Box(-1, 1, (1,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | force on the cart | 500 N times the action | -1 | 1 | force (N) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (9,), float64)`; with `observation="maximal"` the state of every body instead. Velocities and
    the force are cut to +-10.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | position of the cart | position (m) |
    | 1 | sine of the lower pole's angle from upright | - |
    | 2 | sine of the upper pole's angle from the lower one | - |
    | 3 | cosine of the lower pole's angle from upright | - |
    | 4 | cosine of the upper pole's angle from the lower one | - |
    | 5 | velocity of the cart | velocity (m/s) |
    | 6 | velocity of the lower pole's angle | angular velocity (rad/s) |
    | 7 | velocity of the upper pole's angle | angular velocity (rad/s) |
    | 8 | force of the track's ends on the cart | force (N) |

    ## Rewards
    With x and z of the tip, the upper end of the poles, reward = reward_survive + reward_distance + reward_velocity:
    - reward_survive = `healthy_reward` in every step that does not end the episode, else 0
    - reward_distance = -0.01 x^2 - (z - 2)^2
    - reward_velocity = -0.001 w1^2 - 0.005 w2^2, of the velocities of both angles

    `info` has the last two as distance_penalty and velocity_penalty, too, as Gymnasium does.

    ## Starting State
    Coordinates within +-`reset_noise_scale`, uniform; velocities normal with that deviation.

    ## Episode End
    Terminated when the tip is not higher than 1 m, or when a step of the physics cannot be solved
    (`info["solver_failed"]`). Truncated after 1000 steps of 0.05 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `5` | steps of the simulator in a control step |
    | `dt` | float | `0.01` | step of the simulator, s |
    | `healthy_reward` | float | `10.0` | reward of a step |
    | `reset_noise_scale` | float | `0.1` | range of the start |
    | `observation` | str | `"gymnasium"` | `"gymnasium"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    nq, nv = 3, 3
    outcomes: ClassVar[Mapping[str, Any]] = {"distance_penalty": float, "velocity_penalty": float}
    senses: ClassVar[Mapping[str, Any]] = {**state_fields(nq, nv), "tip_x": float, "tip_z": float, "stop": float}
    terms: ClassVar[tuple[str, ...]] = ("survive", "distance", "velocity")
    n_actions = 1
    smooth = True
    order, motors, gears, rest_qpos = (0, 1, 2), (0,), (inverted_double_pendulum.GEAR,), (0.0, 0.0, 0.0)
    camera: ClassVar[Mapping[str, Any]] = {"distance": 4.0, "azimuth": 90.0, "elevation": -10.0, "lookat": (0, 0, 0.5)}

    def __init__(
        self,
        *,
        frame_skip: int = 5,
        dt: float = 0.01,
        healthy_reward: float = 10.0,
        reset_noise_scale: NotNegative = 0.1,
        observation: Literal["gymnasium", "maximal"] = "gymnasium",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.reset_noise_scale = reset_noise_scale
        super().__init__(
            inverted_double_pendulum.build(),
            observation=observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )
        self.settings = numbers(observes_maximal=self.observes_maximal, healthy_reward=healthy_reward)

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        return self.uniform(rng, self.reset_noise_scale, normal=True)

    def rough(self) -> Flags:
        return np.abs(self.now["stop"]) > STOPPED  # the force of a stop is observed

    def names(self) -> list[str]:
        poles = "lower pole's angle from upright", "upper pole's angle from the lower one"
        turns = [f"{function} of the {pole}" for function in ("sine", "cosine") for pole in poles]
        rates = [f"velocity of the {name}" for name in ("cart", "lower pole's angle", "upper pole's angle")]
        return ["position of the cart", *turns, *rates, "force of the track's ends on the cart"]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        tables = physics_of_all(self.sim), self.sim.live("la"), self.settings, self.places
        return judge, (*tables, self.elapsed, self.observation, self.now)
