"""VIWalker2d-v0: walk along a line on two legs, as Gymnasium's Walker2d-v5."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from vigym.assets.classics import walker2d
from vigym.envs.arguments import NotNegative, OpenRange
from vigym.envs.classics.base import state_fields
from vigym.envs.classics.runner import RunnerTask


class Walker2d(RunnerTask):
    """
    ## Description
    The two-legged robot of Gymnasium's `Walker2d-v5`, which moves in a plane: it has to walk forward without a fall.
    Spaces, figures, rewards and ends are the same, and so are starts for the same seed.

    Differences from `Walker2d-v5`: contacts and the limits of joints are hard, MuJoCo's are soft (a start beyond a
    limit
    returns to it within tenths of a second, and a start in the ground is pushed out slowly); velocities are means of
    the last step of the simulator instead of those at its end; the motion is that of this engine's variational
    integrator at the same step; actions beyond the space are cut before they cost; a step of the physics that cannot be
    solved ends the episode.

    ## Action Space
    `Box(-1, 1, (6,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | torque of the thigh joint | 100 N m times the action | -1 | 1 | torque (N m) |
    | 1 | torque of the leg joint | 100 N m times the action | -1 | 1 | torque (N m) |
    | 2 | torque of the foot joint | 100 N m times the action | -1 | 1 | torque (N m) |
    | 3 | torque of the left thigh joint | 100 N m times the action | -1 | 1 | torque (N m) |
    | 4 | torque of the left leg joint | 100 N m times the action | -1 | 1 | torque (N m) |
    | 5 | torque of the left foot joint | 100 N m times the action | -1 | 1 | torque (N m) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (17,), float64)`; with `observation="maximal"` the state of every body instead. With
    `exclude_current_positions_from_observation=False`, x of the torso comes first. Velocities are cut to
    +-10.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | z of the torso | position (m) |
    | 1 | angle of the torso | angle (rad) |
    | 2 | thigh joint | angle (rad) |
    | 3 | leg joint | angle (rad) |
    | 4 | foot joint | angle (rad) |
    | 5 | left thigh joint | angle (rad) |
    | 6 | left leg joint | angle (rad) |
    | 7 | left foot joint | angle (rad) |
    | 8 | velocity of x of the torso | velocity (m/s) |
    | 9 | velocity of z of the torso | velocity (m/s) |
    | 10 | velocity of angle of the torso | angular velocity (rad/s) |
    | 11 | velocity of thigh joint | angular velocity (rad/s) |
    | 12 | velocity of leg joint | angular velocity (rad/s) |
    | 13 | velocity of foot joint | angular velocity (rad/s) |
    | 14 | velocity of left thigh joint | angular velocity (rad/s) |
    | 15 | velocity of left leg joint | angular velocity (rad/s) |
    | 16 | velocity of left foot joint | angular velocity (rad/s) |

    ## Rewards
    With x of the torso and the time of a control step, dt, reward = reward_forward + reward_ctrl + reward_survive:
    - reward_forward = `forward_reward_weight` (x after - x before) / dt
    - reward_ctrl = -`ctrl_cost_weight` times the sum of the squared actions
    - reward_survive = `healthy_reward` if the robot is healthy, else 0

    ## Starting State
    Upright, 1.25 m high, at rest, with uniform noise within +-`reset_noise_scale` on all coordinates and velocities.

    ## Episode End
    Terminated when the robot is not healthy, that is, height or angle of the torso is outside `healthy_z_range` or
    `healthy_angle_range`, if `terminate_when_unhealthy`, or when a step of the physics cannot be solved
    (`info["solver_failed"]`). Truncated after 1000 steps of 0.008 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `4` | steps of the simulator in a control step |
    | `dt` | float | `0.002` | step of the simulator, s |
    | `forward_reward_weight` | float | `1.0` | reward of moving along x |
    | `ctrl_cost_weight` | float | `1e-3` | cost of actions |
    | `healthy_reward` | float | `1.0` | reward of every step in which the robot is healthy |
    | `terminate_when_unhealthy` | bool | `True` | whether an unhealthy robot ends the episode |
    | `healthy_z_range` | tuple | `(0.8, 2.0)` | height of the torso, m |
    | `healthy_angle_range` | tuple | `(-1.0, 1.0)` | angle of the torso, rad |
    | `reset_noise_scale` | float | `5e-3` | range of the start |
    | `exclude_current_positions_from_observation` | bool | `True` | leave x of the torso out |
    | `observation` | str | `"gymnasium"` | `"gymnasium"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    nq, nv = 9, 9
    senses: ClassVar[Mapping[str, Any]] = state_fields(nq, nv)
    hinges = ("thigh joint", "leg joint", "foot joint", "left thigh joint", "left leg joint", "left foot joint")
    n_actions = 6
    smooth = True
    order, motors = (1, 0, *range(2, 9)), tuple(range(3, 9))
    gears, rest_qpos = (walker2d.GEAR,) * 6, (0.0, walker2d.HEIGHT, *[0.0] * 7)

    def __init__(
        self,
        *,
        frame_skip: int = 4,
        dt: float = 0.002,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-3,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: OpenRange = (0.8, 2.0),
        healthy_angle_range: OpenRange = (-1.0, 1.0),
        reset_noise_scale: NotNegative = 5e-3,
        exclude_current_positions_from_observation: bool = True,
        observation: Literal["gymnasium", "maximal"] = "gymnasium",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        super().__init__(
            walker2d.build(),
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
                "healthy_reward": healthy_reward,
                "terminate_when_unhealthy": terminate_when_unhealthy,
                "lowest": healthy_z_range[0],
                "highest": healthy_z_range[1],
                "lowest_angle": healthy_angle_range[0],
                "highest_angle": healthy_angle_range[1],
                "most_rate": 10.0,
            },
        )
