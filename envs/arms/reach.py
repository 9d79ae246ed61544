"""VIPandaReach-v0: bring the Panda's hand to a place in the air."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from vigym.engine.compiled import compiled
from vigym.envs.arguments import NotNegative, Positive
from vigym.envs.arms.base import PandaTask, observe_hand
from vigym.envs.arms.hand import place
from vigym.envs.compiled_task import physics_of, physics_of_all, sense_solver
from vigym.envs.goal import judge_goal


@compiled
def judge(every, settings, arm, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        at = place(physics, arm)
        for k in range(3):
            me.achieved[k] = at[k]
        judge_goal(observations[n], observe_hand(observations[n], physics, arm), me, settings[0])


class PandaReach(PandaTask):
    """
    ## Description
    A Franka Emika Panda stands on a table and has to bring its hand, the place between its finger pads, to a goal in
    the air. Observations, actions, goals and rewards are those of panda-gym's `PandaReach-v3`, and success is told as
    there and in Gymnasium-Robotics; hindsight experience replay works with `compute_reward`. The table's top is z = 0;
    the arm stands at x = -0.6 m. It carries its own weight.

    Differences from `PandaReach-v3`: an episode goes on after success unless `continuing_task=False`; drives follow
    their targets with a lag of 0.04 s, PyBullet's motors are stronger than the robot's; the hand is not sent lower
    than 0.01 m; observations are of 64 bits.

    ## Action Space
    `Box(-1, 1, (3,), float32)`: where the hand is to be from where it is. It keeps pointing down; fingers stay closed.

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | way of the hand along x | 0.05 m times the action | -1 | 1 | position (m) |
    | 1 | way of the hand along y | 0.05 m times the action | -1 | 1 | position (m) |
    | 2 | way of the hand along z | 0.05 m times the action | -1 | 1 | position (m) |

    ## Observation Space
    A dict of `observation`, `Box(-3.4e38, 3.4e38, (6,), float64)`, and of `achieved_goal` and `desired_goal`, three
    numbers each. One after the other:

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | x of the hand | position (m) |
    | 1 | y of the hand | position (m) |
    | 2 | z of the hand | position (m) |
    | 3 | velocity along x of the hand | velocity (m/s) |
    | 4 | velocity along y of the hand | velocity (m/s) |
    | 5 | velocity along z of the hand | velocity (m/s) |
    | 6 | x of the achieved goal | position (m) |
    | 7 | y of the achieved goal | position (m) |
    | 8 | z of the achieved goal | position (m) |
    | 9 | x of the desired goal | position (m) |
    | 10 | y of the desired goal | position (m) |
    | 11 | z of the desired goal | position (m) |

    ## Rewards
    `compute_reward(achieved_goal, desired_goal, info)` of one goal (3,) or of many (n, 3):
    - reward_goal = -1 if the goals are more than `distance_threshold` apart, else 0; with `reward_type="dense"`, their
      distance (m), negative

    `info["is_success"]` tells if they are less apart than `distance_threshold`, `info["distance"]` how far.

    ## Starting State
    The hand 0.2 m above the middle of the table, fingers closed, at rest; the goal uniform within +-`goal_range` / 2
    along x and y, and from 0 to `goal_range` along z.

    ## Episode End
    Terminated on success with `continuing_task=False`; otherwise only when a step of the physics cannot be solved
    (`info["solver_failed"]`). Truncated after 50 steps of 0.04 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `reward_type` | str | `"sparse"` | `"sparse"`, or `"dense"` |
    | `distance_threshold` | float | `0.05` | of success, m |
    | `goal_range` | float | `0.3` | of goals, m |
    | `continuing_task` | bool | `True` | go on after success |
    | `frame_skip` | int | `4` | steps of the simulator in a control step |
    | `dt` | float | `0.01` | step of the simulator, s |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    def __init__(
        self,
        *,
        reward_type: Literal["sparse", "dense"] = "sparse",
        distance_threshold: Positive = 0.05,
        goal_range: NotNegative = 0.3,
        continuing_task: bool = True,
        frame_skip: int = 4,
        dt: float = 0.01,
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.goal_range = goal_range
        super().__init__(
            object_mass=None,
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
        half = self.goal_range / 2
        return {"goal": rng.uniform((-half, -half, 0.0), (half, half, 2 * half))}

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        own = self.settings, self.arm, self.observation, self.now
        return judge, (physics_of_all(self.sim), *own)
