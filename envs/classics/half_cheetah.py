"""VIHalfCheetah-v0: run along a line on a hind leg and a front leg, as Gymnasium's HalfCheetah-v5."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets.classics import half_cheetah
from vigym.engine.compiled import compiled
from vigym.envs.arguments import NotNegative
from vigym.envs.classics.base import observe_state, sense_joints, state_fields
from vigym.envs.classics.runner import RunnerTask, reward_ctrl, reward_forward, sense_way
from vigym.envs.compiled_task import physics_of, sense_solver


@compiled
def judge(every, settings, order, elapsed, actions, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    given = settings[0]
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        sense_joints(me, physics, order, 0, 0)
        sense_way(me, elapsed[n] == 0, given)
        observe_state(observations[n], me, physics, given)
        me.reward_forward = reward_forward(me, given)
        me.reward_ctrl = reward_ctrl(actions[n], given)
        me.reward = me.reward_forward + me.reward_ctrl
        me.terminated = me.solver_failed


class HalfCheetah(RunnerTask):
    """
    ## Description
    The running robot of Gymnasium's `HalfCheetah-v5`, which moves in a plane: it has to run forward as fast as it can.
    Spaces, figures, rewards and ends are the same, and so are starts for the same seed.

    Differences from `HalfCheetah-v5`: contacts and the limits of joints are hard, MuJoCo's are soft (a start beyond a
    limit
    returns to it within tenths of a second, and a start in the ground is pushed out slowly); velocities are means of
    the last step of the simulator instead of those at its end; the motion is that of this engine's variational
    integrator at the same step; actions beyond the space are cut before they cost; a step of the physics that cannot be
    solved ends the episode.

    ## Action Space
    `Box(-1, 1, (6,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | torque of the back thigh joint | 120 N m times the action | -1 | 1 | torque (N m) |
    | 1 | torque of the back shin joint | 90 N m times the action | -1 | 1 | torque (N m) |
    | 2 | torque of the back foot joint | 60 N m times the action | -1 | 1 | torque (N m) |
    | 3 | torque of the front thigh joint | 120 N m times the action | -1 | 1 | torque (N m) |
    | 4 | torque of the front shin joint | 60 N m times the action | -1 | 1 | torque (N m) |
    | 5 | torque of the front foot joint | 30 N m times the action | -1 | 1 | torque (N m) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (17,), float64)`; with `observation="maximal"` the state of every body instead. With
    `exclude_current_positions_from_observation=False`, x of the torso comes first.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | z of the torso | position (m) |
    | 1 | angle of the torso | angle (rad) |
    | 2 | back thigh joint | angle (rad) |
    | 3 | back shin joint | angle (rad) |
    | 4 | back foot joint | angle (rad) |
    | 5 | front thigh joint | angle (rad) |
    | 6 | front shin joint | angle (rad) |
    | 7 | front foot joint | angle (rad) |
    | 8 | velocity of x of the torso | velocity (m/s) |
    | 9 | velocity of z of the torso | velocity (m/s) |
    | 10 | velocity of angle of the torso | angular velocity (rad/s) |
    | 11 | velocity of back thigh joint | angular velocity (rad/s) |
    | 12 | velocity of back shin joint | angular velocity (rad/s) |
    | 13 | velocity of back foot joint | angular velocity (rad/s) |
    | 14 | velocity of front thigh joint | angular velocity (rad/s) |
    | 15 | velocity of front shin joint | angular velocity (rad/s) |
    | 16 | velocity of front foot joint | angular velocity (rad/s) |

    ## Rewards
    With x of the torso and the time of a control step, dt, reward = reward_forward + reward_ctrl:
    - reward_forward = `forward_reward_weight` (x after - x before) / dt
    - reward_ctrl = -`ctrl_cost_weight` times the sum of the squared actions

    ## Starting State
    Standing, at rest, with uniform noise within +-`reset_noise_scale` on all coordinates, and normal noise of that
    deviation on all velocities. z is counted from 0.7 m above the ground.

    ## Episode End
    Terminated only when a step of the physics cannot be solved (`info["solver_failed"]`). Truncated after 1000 steps of
    0.05 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `5` | steps of the simulator in a control step |
    | `dt` | float | `0.01` | step of the simulator, s |
    | `forward_reward_weight` | float | `1.0` | reward of moving along x |
    | `ctrl_cost_weight` | float | `0.1` | cost of actions |
    | `reset_noise_scale` | float | `0.1` | range of the start |
    | `exclude_current_positions_from_observation` | bool | `True` | leave x of the torso out |
    | `observation` | str | `"gymnasium"` | `"gymnasium"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    nq, nv = 9, 9
    senses: ClassVar[Mapping[str, Any]] = state_fields(nq, nv)
    terms: ClassVar[tuple[str, ...]] = ("forward", "ctrl")
    hinges = (
        "back thigh joint",
        "back shin joint",
        "back foot joint",
        "front thigh joint",
        "front shin joint",
        "front foot joint",
    )
    n_actions = 6
    smooth = True
    order, motors = (1, 0, *range(2, 9)), tuple(range(3, 9))
    gears, rest_qpos = tuple(part.gear for part in half_cheetah.PARTS), (0.0,) * 9

    def __init__(
        self,
        *,
        frame_skip: int = 5,
        dt: float = 0.01,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        reset_noise_scale: NotNegative = 0.1,
        exclude_current_positions_from_observation: bool = True,
        observation: Literal["gymnasium", "maximal"] = "gymnasium",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        super().__init__(
            half_cheetah.build(),
            reset_noise_scale=reset_noise_scale,
            exclude_current_positions_from_observation=exclude_current_positions_from_observation,
            observation=observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
            settings={
                "forward_reward_weight": forward_reward_weight,
                "ctrl_cost_weight": ctrl_cost_weight,
            },
        )

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        return self.uniform(rng, self.reset_noise_scale, normal=True)

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        return judge, super().judge()[1]
