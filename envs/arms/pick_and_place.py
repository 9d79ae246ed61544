"""VIPandaPickAndPlace-v0: grasp a cube with the Panda's fingers and bring it to a goal."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.engine.compiled import compiled
from vigym.envs.arguments import NotNegative, Positive
from vigym.envs.arms.base import CUBE, SIZE, PandaTask, observe_hand, observe_object
from vigym.envs.arms.hand import N
from vigym.envs.compiled_task import physics_of, physics_of_all, sense_solver
from vigym.envs.goal import judge_goal

ON_TABLE = 0.3  # share of goals that are not in the air


@compiled
def judge(every, settings, arm, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        for k in range(3):
            me.achieved[k] = physics.x[CUBE, k]
        k = observe_hand(observations[n], physics, arm)
        observations[n, k] = physics.joints[N] + physics.joints[N + 1]
        k = observe_object(observations[n], k + 1, physics, CUBE)
        judge_goal(observations[n], k, me, settings[0])


class PandaPickAndPlace(PandaTask):
    """
    ## Description
    A Franka Emika Panda stands on a table and has to bring a cube, 0.04 m and 1 kg, to a goal on the table or above it:
    to grasp and to lift it. Nothing but friction holds the cube between the fingers. Observations, actions, goals and
    rewards are those of panda-gym's `PandaPickAndPlace-v3`, and success is told as there and in Gymnasium-Robotics;
    hindsight experience replay works with `compute_reward`. The table's top is z = 0; the arm stands at x = -0.6 m and
    carries its own weight. Friction of the cube is 0.5 with fingers, 0.25 with the table; each finger presses with up
    to 70 N.

    Differences from `PandaPickAndPlace-v3`: an episode goes on after success unless `continuing_task=False`; drives
    follow their targets with a lag of 0.04 s, PyBullet's motors are stronger than the robot's; contact is hard; the
    hand is not sent lower than 0.01 m; observations are of 64 bits.

    ## Action Space
    `Box(-1, 1, (4,), float32)`: where the hand is to be from where it is. It keeps pointing down.

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | way of the hand along x | 0.05 m times the action | -1 | 1 | position (m) |
    | 1 | way of the hand along y | 0.05 m times the action | -1 | 1 | position (m) |
    | 2 | way of the hand along z | 0.05 m times the action | -1 | 1 | position (m) |
    | 3 | way of the fingers from each other | 0.2 m times the action | -1 | 1 | position (m) |

    ## Observation Space
    A dict of `observation`, `Box(-3.4e38, 3.4e38, (19,), float64)`, and of `achieved_goal` and `desired_goal`, three
    numbers each. One after the other:

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | x of the hand | position (m) |
    | 1 | y of the hand | position (m) |
    | 2 | z of the hand | position (m) |
    | 3 | velocity along x of the hand | velocity (m/s) |
    | 4 | velocity along y of the hand | velocity (m/s) |
    | 5 | velocity along z of the hand | velocity (m/s) |
    | 6 | distance of the fingers | position (m) |
    | 7 | x of the object | position (m) |
    | 8 | y of the object | position (m) |
    | 9 | z of the object | position (m) |
    | 10 | roll of the object | angle (rad) |
    | 11 | pitch of the object | angle (rad) |
    | 12 | yaw of the object | angle (rad) |
    | 13 | velocity along x of the object | velocity (m/s) |
    | 14 | velocity along y of the object | velocity (m/s) |
    | 15 | velocity along z of the object | velocity (m/s) |
    | 16 | angular velocity about x of the object | angular velocity (rad/s) |
    | 17 | angular velocity about y of the object | angular velocity (rad/s) |
    | 18 | angular velocity about z of the object | angular velocity (rad/s) |
    | 19 | x of the achieved goal | position (m) |
    | 20 | y of the achieved goal | position (m) |
    | 21 | z of the achieved goal | position (m) |
    | 22 | x of the desired goal | position (m) |
    | 23 | y of the desired goal | position (m) |
    | 24 | z of the desired goal | position (m) |

    ## Rewards
    `compute_reward(achieved_goal, desired_goal, info)` of one goal (3,) or of many (n, 3):
    - reward_goal = -1 if the goals are more than `distance_threshold` apart, else 0; with `reward_type="dense"`, their
      distance (m), negative

    `info["is_success"]` tells if they are less apart than `distance_threshold`, `info["distance"]` how far.

    ## Starting State
    The hand 0.2 m above the middle of the table, fingers closed, at rest; the cube level on the table, its centre
    uniform within +-`obj_xy_range` / 2 along x and y; the goal, of the cube's centre, within +-`goal_xy_range` / 2 and
    up to `goal_z_range` above the table, in three of ten episodes on it.

    ## Episode End
    Terminated on success with `continuing_task=False`; otherwise only when a step of the physics cannot be solved
    (`info["solver_failed"]`). Truncated after 50 steps of 0.04 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `reward_type` | str | `"sparse"` | `"sparse"`, or `"dense"` |
    | `distance_threshold` | float | `0.05` | of success, m |
    | `goal_xy_range` | float | `0.3` | of goals, along x and y, m |
    | `goal_z_range` | float | `0.2` | of goals, above the table, m |
    | `obj_xy_range` | float | `0.3` | of cubes, along x and y, m |
    | `object_mass` | float | `1.0` | kg |
    | `friction` | float | `0.5` | of the cube with the fingers |
    | `continuing_task` | bool | `True` | go on after success |
    | `frame_skip` | int | `4` | steps of the simulator in a control step |
    | `dt` | float | `0.01` | step of the simulator, s |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    grips: ClassVar[bool] = True
    n_actions = 4

    def __init__(
        self,
        *,
        reward_type: Literal["sparse", "dense"] = "sparse",
        distance_threshold: Positive = 0.05,
        goal_xy_range: NotNegative = 0.3,
        goal_z_range: NotNegative = 0.2,
        obj_xy_range: NotNegative = 0.3,
        object_mass: Positive = 1.0,
        friction: NotNegative = 0.5,
        continuing_task: bool = True,
        frame_skip: int = 4,
        dt: float = 0.01,
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.goal_range, self.goal_lift, self.object_range = goal_xy_range / 2, goal_z_range, obj_xy_range / 2
        super().__init__(
            object_mass=object_mass,
            friction=friction,
            reward_type=reward_type,
            distance_threshold=distance_threshold,
            continuing_task=continuing_task,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        goal, cube = (rng.uniform(-half, half, 2) for half in (self.goal_range, self.object_range))
        lift = rng.uniform(0.0, self.goal_lift) if rng.random() >= ON_TABLE else 0.0
        return {"goal": (*goal, SIZE / 2 + lift), "object": (*cube, SIZE / 2)}

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        own = self.settings, self.arm, self.observation, self.now
        return judge, (physics_of_all(self.sim), *own)
