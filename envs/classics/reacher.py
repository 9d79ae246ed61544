"""VIReacher-v0: bring the tip of an arm with two hinges to a target, as Gymnasium's Reacher-v5."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets.classics import reacher
from vigym.engine.compiled import compiled, inlined
from vigym.envs.classics.base import ClassicTask, sense_joints, state_fields
from vigym.envs.compiled_task import numbers, physics_of, physics_of_all, sense_solver, sum_of_squares, write_maximal

LINK, TIP = reacher.LINK, reacher.TIP
REACH = 0.2  # m, from the middle, within which targets are


@inlined
def sense_tip(me):
    """Vector from the target to the tip of the arm, m."""
    one, both = me.qpos[0], me.qpos[0] + me.qpos[1]
    me.miss[0] = LINK * np.cos(one) + TIP * np.cos(both) - me.qpos[2]
    me.miss[1] = LINK * np.sin(one) + TIP * np.sin(both) - me.qpos[3]


@inlined
def observe(out, me, physics, settings):
    """Write the observation."""
    if settings.observes_maximal:
        write_maximal(out, physics)
        return
    for k in range(2):
        out[k], out[2 + k] = np.cos(me.qpos[k]), np.sin(me.qpos[k])
        out[4 + k], out[6 + k], out[8 + k] = me.qpos[2 + k], me.qvel[k], me.miss[k]


@compiled
def judge(every, settings, order, actions, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    given = settings[0]
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        sense_joints(me, physics, order, 0, 0)
        sense_tip(me)
        observe(observations[n], me, physics, given)
        me.reward_dist = -given.reward_dist_weight * np.sqrt(sum_of_squares(me.miss))
        me.reward_ctrl = -given.reward_control_weight * sum_of_squares(actions[n])
        me.reward = me.reward_dist + me.reward_ctrl
        me.terminated = me.solver_failed


class Reacher(ClassicTask):
    """
    ## Description
    The arm of Gymnasium's `Reacher-v5`, with two hinges that turn in a horizontal plane: its tip has to come to a
    target. Spaces, figures, rewards and ends are the same, and so are starts for the same seed. Nothing touches
    anything.

    Differences from `Reacher-v5`: the limits of the second hinge are hard, MuJoCo's are soft; velocities are means of
    the last step of the simulator instead of those at its end; the motion is that of this engine's variational
    integrator at the same step, MuJoCo's is of fourth order; actions beyond the space are cut before they cost; a step
    of the physics that cannot be solved ends the episode.

    ## Action Space
    `Box(-1, 1, (2,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | torque of the first hinge | 200 N m times the action | -1 | 1 | torque (N m) |
    | 1 | torque of the second hinge | 200 N m times the action | -1 | 1 | torque (N m) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (10,), float64)`; with `observation="maximal"` the state of every body instead.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | cosine of the first angle | - |
    | 1 | cosine of the second angle | - |
    | 2 | sine of the first angle | - |
    | 3 | sine of the second angle | - |
    | 4 | x of the target | position (m) |
    | 5 | y of the target | position (m) |
    | 6 | velocity of the first angle | angular velocity (rad/s) |
    | 7 | velocity of the second angle | angular velocity (rad/s) |
    | 8 | x of the tip from the target | position (m) |
    | 9 | y of the tip from the target | position (m) |

    ## Rewards
    reward = reward_dist + reward_ctrl:
    - reward_dist = -`reward_dist_weight` times the distance of the tip from the target (m)
    - reward_ctrl = -`reward_control_weight` times the sum of the squared actions

    ## Starting State
    Angles within +-0.1 rad, their velocities within +-0.005 rad/s, uniform; the target uniform within 0.2 m from the
    first hinge, at rest.

    ## Episode End
    Terminated only when a step of the physics cannot be solved (`info["solver_failed"]`). Truncated after 50 steps of
    0.02 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `2` | steps of the simulator in a control step |
    | `dt` | float | `0.01` | step of the simulator, s |
    | `reward_dist_weight` | float | `1.0` | cost of the distance |
    | `reward_control_weight` | float | `1.0` | cost of actions |
    | `observation` | str | `"gymnasium"` | `"gymnasium"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    nq, nv = 4, 4
    senses: ClassVar[Mapping[str, Any]] = {**state_fields(nq, nv), "miss": (float, 2)}
    terms: ClassVar[tuple[str, ...]] = ("dist", "ctrl")
    n_actions = 2
    smooth = True
    order, motors, gears, rest_qpos = (0, 1, 2, 3), (0, 1), (reacher.GEAR,) * 2, (0.0, 0.0, 0.1, -0.1)
    camera: ClassVar[Mapping[str, Any]] = {"distance": 0.8, "azimuth": 90.0, "elevation": -60.0, "lookat": (0, 0, 0)}

    def __init__(
        self,
        *,
        frame_skip: int = 2,
        dt: float = 0.01,
        reward_dist_weight: float = 1.0,
        reward_control_weight: float = 1.0,
        observation: Literal["gymnasium", "maximal"] = "gymnasium",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        super().__init__(
            reacher.build(),
            observation=observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )
        self.settings = numbers(
            observes_maximal=self.observes_maximal,
            reward_dist_weight=reward_dist_weight,
            reward_control_weight=reward_control_weight,
        )

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        qpos = np.array(self.rest_qpos) + rng.uniform(-0.1, 0.1, 4)
        goal = rng.uniform(-REACH, REACH, 2)
        while np.linalg.norm(goal) >= REACH:
            goal = rng.uniform(-REACH, REACH, 2)
        qvel = rng.uniform(-0.005, 0.005, 4)
        qpos[2:], qvel[2:] = goal, 0.0
        return {"qpos": qpos, "qvel": qvel}

    def names(self) -> list[str]:
        turns = [f"{function} of the {which} angle" for function in ("cosine", "sine") for which in ("first", "second")]
        rates = [f"velocity of the {which} angle" for which in ("first", "second")]
        return [
            *turns,
            "x of the target",
            "y of the target",
            *rates,
            *(f"{a} of the tip from the target" for a in "xy"),
        ]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        return judge, (physics_of_all(self.sim), self.settings, self.places, self.action, self.observation, self.now)
