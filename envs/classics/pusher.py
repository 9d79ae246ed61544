"""VIPusher-v0: push a cylinder over a table to a goal with an arm of seven hinges, as Gymnasium's Pusher-v5."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets.classics import pusher
from vigym.engine.compiled import compiled, inlined
from vigym.engine.vectors import rotate
from vigym.envs.classics.base import ClassicTask, rate_names, sense_joints, state_fields
from vigym.envs.compiled_task import numbers, physics_of, physics_of_all, sense_solver, sum_of_squares, write_maximal

N_HINGES = len(pusher.LINKS)
WRIST = N_HINGES - 1  # number of the last body of the arm
NEAREST = 0.17  # m, from the goal, beyond which the object starts


@inlined
def sense_places(me, physics, centre):
    """Position of the fingertip, the object and the goal, world, m. centre: of the wrist's mass, in its frame."""
    way = rotate(physics.q[WRIST], centre)
    for i in range(3):
        me.fingertip[i] = physics.x[WRIST, i] - way[i]
        me.object[i] = physics.x[WRIST + 1, i]
        me.goal[i] = physics.x[WRIST + 2, i]


@inlined
def distance(a, b):
    """Distance of two points, m."""
    return np.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@inlined
def observe(out, me, physics, settings):
    """Write the observation."""
    if settings.observes_maximal:
        write_maximal(out, physics)
        return
    for k in range(N_HINGES):
        out[k], out[N_HINGES + k] = me.qpos[k], me.qvel[k]
    for i in range(3):
        out[2 * N_HINGES + i] = me.fingertip[i]
        out[2 * N_HINGES + 3 + i] = me.object[i]
        out[2 * N_HINGES + 6 + i] = me.goal[i]


@compiled
def judge(every, settings, order, centre, actions, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    given = settings[0]
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        sense_joints(me, physics, order, 0, 0)
        sense_places(me, physics, centre)
        observe(observations[n], me, physics, given)
        me.reward_dist = -given.reward_dist_weight * distance(me.object, me.goal)
        me.reward_ctrl = -given.reward_control_weight * sum_of_squares(actions[n])
        me.reward_near = -given.reward_near_weight * distance(me.object, me.fingertip)
        me.reward = me.reward_dist + me.reward_ctrl + me.reward_near
        me.terminated = me.solver_failed


class Pusher(ClassicTask):
    """
    ## Description
    The arm of Gymnasium's `Pusher-v5`, with seven hinges: the fork at its end has to push a cylinder over a table to a
    goal. Nothing has weight. Spaces, figures, rewards and ends are the same, and so are starts for the same seed.

    Differences from `Pusher-v5`: contacts are hard, between the fork and the cylinder or the table, without friction as
    there; MuJoCo's are soft and begin 2 mm earlier. Limits of hinges are hard, too. Velocities are means of the last
    step of the simulator instead of those at its end; a step of the physics that cannot be solved ends the episode.

    ## Action Space
    `Box(-2, 2, (7,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | torque that pans the shoulder | the action | -2 | 2 | torque (N m) |
    | 1 | torque that lifts the shoulder | the action | -2 | 2 | torque (N m) |
    | 2 | torque that rolls the upper arm | the action | -2 | 2 | torque (N m) |
    | 3 | torque that bends the elbow | the action | -2 | 2 | torque (N m) |
    | 4 | torque that rolls the forearm | the action | -2 | 2 | torque (N m) |
    | 5 | torque that bends the wrist | the action | -2 | 2 | torque (N m) |
    | 6 | torque that rolls the wrist | the action | -2 | 2 | torque (N m) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (23,), float64)`; with `observation="maximal"` the state of every body instead.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | shoulder pan | angle (rad) |
    | 1 | shoulder lift | angle (rad) |
    | 2 | upper arm | angle (rad) |
    | 3 | elbow | angle (rad) |
    | 4 | forearm | angle (rad) |
    | 5 | wrist flex | angle (rad) |
    | 6 | wrist | angle (rad) |
    | 7 | velocity of shoulder pan | angular velocity (rad/s) |
    | 8 | velocity of shoulder lift | angular velocity (rad/s) |
    | 9 | velocity of upper arm | angular velocity (rad/s) |
    | 10 | velocity of elbow | angular velocity (rad/s) |
    | 11 | velocity of forearm | angular velocity (rad/s) |
    | 12 | velocity of wrist flex | angular velocity (rad/s) |
    | 13 | velocity of wrist | angular velocity (rad/s) |
    | 14 | x of the fingertip | position (m) |
    | 15 | y of the fingertip | position (m) |
    | 16 | z of the fingertip | position (m) |
    | 17 | x of the object | position (m) |
    | 18 | y of the object | position (m) |
    | 19 | z of the object | position (m) |
    | 20 | x of the goal | position (m) |
    | 21 | y of the goal | position (m) |
    | 22 | z of the goal | position (m) |

    ## Rewards
    reward = reward_dist + reward_ctrl + reward_near:
    - reward_dist = -`reward_dist_weight` times the distance of the object from the goal (m)
    - reward_ctrl = -`reward_control_weight` times the sum of the squared actions
    - reward_near = -`reward_near_weight` times the distance of the object from the fingertip (m)

    ## Starting State
    All hinges at zero, their velocities within +-0.005 rad/s, uniform. The object, at rest, uniform within 0.3 m from
    the goal towards the shoulder and 0.2 m to each side, but at least 0.17 m from it.

    ## Episode End
    Terminated only when a step of the physics cannot be solved (`info["solver_failed"]`). Truncated after 100 steps of
    0.05 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `5` | steps of the simulator in a control step |
    | `dt` | float | `0.01` | step of the simulator, s |
    | `reward_near_weight` | float | `0.5` | cost of the distance of object and fingertip |
    | `reward_dist_weight` | float | `1.0` | cost of the distance of object and goal |
    | `reward_control_weight` | float | `0.1` | cost of actions |
    | `observation` | str | `"gymnasium"` | `"gymnasium"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    nq = nv = N_HINGES + 4
    senses: ClassVar[Mapping[str, Any]] = {
        **state_fields(nq, nv),
        **{name: (float, 3) for name in ("fingertip", "object", "goal")},
    }
    terms: ClassVar[tuple[str, ...]] = ("dist", "ctrl", "near")
    fixed: ClassVar[tuple[str, ...]] = ("wrist",)
    n_actions, action_limit = N_HINGES, pusher.TORQUE
    smooth = True
    order = (*range(N_HINGES), 8, 7, 10, 9)  # Gymnasium has y before x
    motors, gears, rest_qpos = tuple(range(N_HINGES)), (1.0,) * N_HINGES, (0.0,) * nq
    camera: ClassVar[Mapping[str, Any]] = {
        "distance": 2.2,
        "azimuth": 150.0,
        "elevation": -35.0,
        "lookat": (0.25, -0.2, -0.2),
    }

    def __init__(
        self,
        *,
        frame_skip: int = 5,
        dt: float = 0.01,
        reward_near_weight: float = 0.5,
        reward_dist_weight: float = 1.0,
        reward_control_weight: float = 0.1,
        observation: Literal["gymnasium", "maximal"] = "gymnasium",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        super().__init__(
            pusher.build(),
            observation=observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )
        mechanism = self.sim.model.mechanism
        self.wrist = -np.array(mechanism.joint(pusher.TIP).child_anchor)  # its hinge is where its frame begins
        self.settings = numbers(
            observes_maximal=self.observes_maximal,
            reward_near_weight=reward_near_weight,
            reward_dist_weight=reward_dist_weight,
            reward_control_weight=reward_control_weight,
        )

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        qpos = np.zeros(self.nq)
        place = np.zeros(2)  # y and x, from the goal
        while np.linalg.norm(place) <= NEAREST:
            place = np.array([rng.uniform(-0.3, 0.0), rng.uniform(-0.2, 0.2)])
        qvel = rng.uniform(-0.005, 0.005, self.nv)
        qpos[-4:-2], qvel[-4:] = place, 0.0
        return {"qpos": qpos, "qvel": qvel}

    def names(self) -> list[str]:
        hinges = [link[0] for link in pusher.LINKS]
        places = [f"{axis} of the {thing}" for thing in ("fingertip", "object", "goal") for axis in "xyz"]
        return [*hinges, *rate_names(hinges), *places]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        arrays = self.settings, self.places, self.wrist, self.action, self.observation, self.now
        return judge, (physics_of_all(self.sim), *arrays)
