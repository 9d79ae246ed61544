"""VIInvertedPendulum-v0: keep a pole upright on a cart, as Gymnasium's InvertedPendulum-v5."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets.classics import inverted_pendulum
from vigym.engine.compiled import compiled
from vigym.envs.arguments import NotNegative
from vigym.envs.classics.base import ClassicTask, observe_state, sense_joints, state_fields
from vigym.envs.compiled_task import numbers, physics_of, physics_of_all, sense_solver

UPRIGHT = 0.2  # rad


@compiled
def judge(every, settings, order, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    given = settings[0]
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        sense_joints(me, physics, order, 0, 0)
        observe_state(observations[n], me, physics, given)
        me.terminated = me.solver_failed or abs(me.qpos[1]) > UPRIGHT
        me.reward_survive = 0.0 if me.terminated else 1.0
        me.reward = me.reward_survive


class InvertedPendulum(ClassicTask):
    """
    ## Description
    The cart and pole of Gymnasium's `InvertedPendulum-v5`: pushing the cart has to keep the pole upright. Spaces,
    figures, rewards and ends are the same, and so are starts for the same seed.

    Differences from `InvertedPendulum-v5`: the track's ends are hard, MuJoCo's are soft; velocities are means of the
    last step of the simulator instead of those at its end; the motion is that of this engine's variational integrator
    at the same step, MuJoCo's is of fourth order; a step of the physics that cannot be solved ends the episode.

    ## Action Space
    `Box(-3, 3, (1,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | force on the cart | 100 N times the action | -3 | 3 | force (N) |

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
    - reward_survive = 1 in every step that does not end the episode, else 0

    ## Starting State
    All four within +-`reset_noise_scale`, uniform.

    ## Episode End
    Terminated when the angle of the pole is more than 0.2 rad, or when a step of the physics cannot be solved
    (`info["solver_failed"]`). Truncated after 1000 steps of 0.04 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `2` | steps of the simulator in a control step |
    | `dt` | float | `0.02` | step of the simulator, s |
    | `reset_noise_scale` | float | `0.01` | range of the start |
    | `observation` | str | `"gymnasium"` | `"gymnasium"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    nq, nv = 2, 2
    senses: ClassVar[Mapping[str, Any]] = state_fields(nq, nv)
    terms: ClassVar[tuple[str, ...]] = ("survive",)
    n_actions, action_limit = 1, 3.0
    order, motors, gears, rest_qpos = (0, 1), (0,), (inverted_pendulum.GEAR,), (0.0, 0.0)
    camera: ClassVar[Mapping[str, Any]] = {"distance": 3.0, "azimuth": 90.0, "elevation": -10.0, "lookat": (0, 0, 0.2)}

    def __init__(
        self,
        *,
        frame_skip: int = 2,
        dt: float = 0.02,
        reset_noise_scale: NotNegative = 0.01,
        observation: Literal["gymnasium", "maximal"] = "gymnasium",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.reset_noise_scale = reset_noise_scale
        super().__init__(
            inverted_pendulum.build(),
            observation=observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )
        self.settings = numbers(observes_maximal=self.observes_maximal, skipped=0.0, most_rate=np.inf)

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        return self.uniform(rng, self.reset_noise_scale)

    def names(self) -> list[str]:
        return [
            "position of the cart",
            "angle of the pole from upright",
            "velocity of the cart",
            "velocity of the pole's angle",
        ]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        return judge, (physics_of_all(self.sim), self.settings, self.places, self.observation, self.now)
