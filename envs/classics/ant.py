"""VIAnt-v0: run on four legs, as Gymnasium's Ant-v5."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets.classics import ant
from vigym.engine.compiled import compiled, inlined
from vigym.envs.arguments import NotNegative, OpenRange
from vigym.envs.classics.base import (
    ClassicTask,
    observe_state,
    rate_names,
    sense_joints,
    sense_root,
    state_fields,
)
from vigym.envs.classics.pushes import pushes_of, sense_pushes
from vigym.envs.compiled_task import numbers, physics_of, physics_of_all, sense_solver, sum_of_squares

N_PARTS = 13  # bodies of MuJoCo's model
LEGS = "front left", "front right", "back left", "back right"


@inlined
def sense_way(me, at_start, settings):
    """Position of the torso, its mean velocity over the control step, and whether its height is healthy."""
    x, y, z = me.qpos[0], me.qpos[1], me.qpos[2]
    me.x_velocity = 0.0 if at_start else (x - me.x_position) / settings.dt
    me.y_velocity = 0.0 if at_start else (y - me.y_position) / settings.dt
    me.x_position, me.y_position = x, y
    me.distance_from_origin = np.sqrt(x * x + y * y)
    me.healthy = settings.lowest <= z <= settings.highest


@inlined
def observe(out, me, physics, settings):
    """Write the observation."""
    k = observe_state(out, me, physics, settings)
    if settings.observes_forces:
        for part in range(len(me.forces)):
            for i in range(6):
                out[k + 6 * part + i] = me.forces[part, i]


@inlined
def cut_forces(forces, settings):
    """Cut torques and forces to their range."""
    for part in range(len(forces)):
        for i in range(6):
            forces[part, i] = min(max(forces[part, i], settings.lowest_force), settings.highest_force)


@inlined
def reward_contact(me, settings):
    total = 0.0
    for part in range(len(me.forces)):
        total += sum_of_squares(me.forces[part])
    return -settings.contact_cost_weight * total


@compiled
def judge(every, pushes, settings, order, centre, elapsed, actions, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    given = settings[0]
    for n in env:
        physics, me, at_start = physics_of(every, n), now[n], elapsed[n] == 0
        if not at_start:
            me.length = 1.0
        sense_solver(me, physics)
        sense_root(me, physics, centre)
        sense_joints(me, physics, order, 7, 6)
        sense_way(me, at_start, given)
        sense_pushes(me.forces, physics, pushes, n, at_start, given.step)
        cut_forces(me.forces, given)
        observe(observations[n], me, physics, given)
        me.reward_forward = given.forward_reward_weight * me.x_velocity
        me.reward_ctrl = -given.ctrl_cost_weight * sum_of_squares(actions[n])
        me.reward_contact = reward_contact(me, given)
        me.reward_survive = given.healthy_reward if me.healthy else 0.0
        me.reward = me.reward_forward + me.reward_ctrl + me.reward_contact + me.reward_survive
        me.terminated = me.solver_failed or (given.terminate_when_unhealthy and not me.healthy)


class Ant(ClassicTask):
    """
    ## Description
    The four-legged robot of Gymnasium's `Ant-v5`: it has to run along x without a fall. Spaces, figures, rewards and
    ends are the same, and so are starts for the same seed.

    Differences from `Ant-v5`: contacts and the limits of joints are hard, MuJoCo's are soft. A start beyond a limit, as
    that of the ankles is by 30 degrees in most episodes, returns to it within tenths of a second. Contact forces are
    means of the last step of the simulator; their torques assume that a part is touched at its lowest point. Velocities
    are means of the last step instead of those at its end; the motion is that of this engine's variational integrator
    at the same step, MuJoCo's is of fourth order; actions beyond the space are cut before they cost; a step of the
    physics that cannot be solved ends the episode. There is no `main_body`: rewards are for the torso. As in `Ant-v5`,
    the quaternion of the start is not of length 1 until the first step.

    ## Action Space
    `Box(-1, 1, (8,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | torque of the back right hip | 150 N m times the action | -1 | 1 | torque (N m) |
    | 1 | torque of the back right ankle | 150 N m times the action | -1 | 1 | torque (N m) |
    | 2 | torque of the front left hip | 150 N m times the action | -1 | 1 | torque (N m) |
    | 3 | torque of the front left ankle | 150 N m times the action | -1 | 1 | torque (N m) |
    | 4 | torque of the front right hip | 150 N m times the action | -1 | 1 | torque (N m) |
    | 5 | torque of the front right ankle | 150 N m times the action | -1 | 1 | torque (N m) |
    | 6 | torque of the back left hip | 150 N m times the action | -1 | 1 | torque (N m) |
    | 7 | torque of the back left ankle | 150 N m times the action | -1 | 1 | torque (N m) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (105,), float64)`; with `observation="maximal"` the state of every body instead of the first
    27. With `exclude_current_positions_from_observation=False`, x and y of the torso come first; with
    `include_cfrc_ext_in_observation=False`, contact forces are left out.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | z of the torso | position (m) |
    | 1 | w of the torso's quaternion | - |
    | 2 | x of the torso's quaternion | - |
    | 3 | y of the torso's quaternion | - |
    | 4 | z of the torso's quaternion | - |
    | 5 | front left hip | angle (rad) |
    | 6 | front left ankle | angle (rad) |
    | 7 | front right hip | angle (rad) |
    | 8 | front right ankle | angle (rad) |
    | 9 | back left hip | angle (rad) |
    | 10 | back left ankle | angle (rad) |
    | 11 | back right hip | angle (rad) |
    | 12 | back right ankle | angle (rad) |
    | 13 | velocity along x of the torso | velocity (m/s) |
    | 14 | velocity along y of the torso | velocity (m/s) |
    | 15 | velocity along z of the torso | velocity (m/s) |
    | 16 | angular velocity about the torso's x | angular velocity (rad/s) |
    | 17 | angular velocity about the torso's y | angular velocity (rad/s) |
    | 18 | angular velocity about the torso's z | angular velocity (rad/s) |
    | 19 | velocity of front left hip | angular velocity (rad/s) |
    | 20 | velocity of front left ankle | angular velocity (rad/s) |
    | 21 | velocity of front right hip | angular velocity (rad/s) |
    | 22 | velocity of front right ankle | angular velocity (rad/s) |
    | 23 | velocity of back left hip | angular velocity (rad/s) |
    | 24 | velocity of back left ankle | angular velocity (rad/s) |
    | 25 | velocity of back right hip | angular velocity (rad/s) |
    | 26 | velocity of back right ankle | angular velocity (rad/s) |
    | 27-32 | contact on the torso | torque x, y, z (N m), force x, y, z (N) |
    | 33-38 | contact on the front left stub | torque x, y, z (N m), force x, y, z (N) |
    | 39-44 | contact on the front left leg | torque x, y, z (N m), force x, y, z (N) |
    | 45-50 | contact on the front left foot | torque x, y, z (N m), force x, y, z (N) |
    | 51-56 | contact on the front right stub | torque x, y, z (N m), force x, y, z (N) |
    | 57-62 | contact on the front right leg | torque x, y, z (N m), force x, y, z (N) |
    | 63-68 | contact on the front right foot | torque x, y, z (N m), force x, y, z (N) |
    | 69-74 | contact on the back left stub | torque x, y, z (N m), force x, y, z (N) |
    | 75-80 | contact on the back left leg | torque x, y, z (N m), force x, y, z (N) |
    | 81-86 | contact on the back left foot | torque x, y, z (N m), force x, y, z (N) |
    | 87-92 | contact on the back right stub | torque x, y, z (N m), force x, y, z (N) |
    | 93-98 | contact on the back right leg | torque x, y, z (N m), force x, y, z (N) |
    | 99-104 | contact on the back right foot | torque x, y, z (N m), force x, y, z (N) |

    Contact torques are about the robot's centre of mass; torques and forces are cut to `contact_force_range`.

    ## Rewards
    With x of the torso and the time of a control step, dt, reward = reward_forward + reward_ctrl + reward_contact +
    reward_survive:
    - reward_forward = `forward_reward_weight` (x after - x before) / dt
    - reward_ctrl = -`ctrl_cost_weight` times the sum of the squared actions
    - reward_contact = -`contact_cost_weight` times the sum of the squared contact torques and forces
    - reward_survive = `healthy_reward` if the torso's height is healthy, else 0

    ## Starting State
    The torso 0.75 m high, all joints at 0, at rest, with uniform noise within +-`reset_noise_scale` on all coordinates,
    the quaternion's included, and normal noise of that deviation on all velocities.

    ## Episode End
    Terminated when the torso's height is outside `healthy_z_range`, if `terminate_when_unhealthy`, or when a step of
    the physics cannot be solved (`info["solver_failed"]`). Truncated after 1000 steps of 0.05 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `5` | steps of the simulator in a control step |
    | `dt` | float | `0.01` | step of the simulator, s |
    | `forward_reward_weight` | float | `1.0` | reward of moving along x |
    | `ctrl_cost_weight` | float | `0.5` | cost of actions |
    | `contact_cost_weight` | float | `5e-4` | cost of contact forces |
    | `healthy_reward` | float | `1.0` | reward of every step in which the robot is healthy |
    | `terminate_when_unhealthy` | bool | `True` | whether an unhealthy robot ends the episode |
    | `healthy_z_range` | tuple | `(0.2, 1.0)` | height of the torso, m |
    | `contact_force_range` | tuple | `(-1.0, 1.0)` | to which contact torques and forces are cut |
    | `reset_noise_scale` | float | `0.1` | range of the start |
    | `exclude_current_positions_from_observation` | bool | `True` | leave x and y of the torso out |
    | `include_cfrc_ext_in_observation` | bool | `True` | have contact forces in the observation |
    | `observation` | str | `"gymnasium"` | `"gymnasium"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    nq, nv, floats = 15, 14, True
    infos: ClassVar[Mapping[str, Any]] = {"x_position": float, "y_position": float, "distance_from_origin": float}
    outcomes: ClassVar[Mapping[str, Any]] = {"x_velocity": float, "y_velocity": float}
    senses: ClassVar[Mapping[str, Any]] = {
        **state_fields(nq, nv),
        **{"length": float, "healthy": bool, "forces": (float, (N_PARTS, 6))},
    }
    terms: ClassVar[tuple[str, ...]] = ("forward", "ctrl", "contact", "survive")
    n_actions = 8
    order, motors, gears = tuple(range(8)), (6, 7, 0, 1, 2, 3, 4, 5), (ant.GEAR,) * 8
    rest_qpos = (0.0, 0.0, ant.HEIGHT, 1.0, *[0.0] * 11)
    camera: ClassVar[Mapping[str, Any]] = {"distance": 4.0, "azimuth": 135.0, "elevation": -20.0, "trackbodyid": 0}

    def __init__(
        self,
        *,
        frame_skip: int = 5,
        dt: float = 0.01,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 5e-4,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: OpenRange = (0.2, 1.0),
        contact_force_range: OpenRange = (-1.0, 1.0),
        reset_noise_scale: NotNegative = 0.1,
        exclude_current_positions_from_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        observation: Literal["gymnasium", "maximal"] = "gymnasium",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.reset_noise_scale, self.observes_forces = reset_noise_scale, include_cfrc_ext_in_observation
        self.skipped = 2 if exclude_current_positions_from_observation else 0
        super().__init__(
            ant.build(),
            observation=observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )
        self.settings = numbers(
            observes_maximal=self.observes_maximal,
            observes_forces=include_cfrc_ext_in_observation,
            skipped=float(self.skipped),
            most_rate=np.inf,
            dt=self.dt,
            step=self.sim.dt,
            forward_reward_weight=forward_reward_weight,
            ctrl_cost_weight=ctrl_cost_weight,
            contact_cost_weight=contact_cost_weight,
            healthy_reward=healthy_reward,
            terminate_when_unhealthy=terminate_when_unhealthy,
            lowest=healthy_z_range[0],
            highest=healthy_z_range[1],
            lowest_force=contact_force_range[0],
            highest_force=contact_force_range[1],
        )

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        return self.uniform(rng, self.reset_noise_scale, normal=True)

    def observation_names(self) -> list[str]:
        parts = ["torso", *(f"{leg} {part}" for leg in LEGS for part in ("stub", "leg", "foot"))]
        kinds = [f"{kind} {axis}" for kind in ("torque", "force") for axis in "xyz"]
        forces = [f"contact on the {part}: {kind}" for part in parts for kind in kinds]
        return super().observation_names() + (forces if self.observes_forces else [])

    def names(self) -> list[str]:
        joints = [f"{leg} {joint}" for leg in LEGS for joint in ("hip", "ankle")]
        place = [*(f"{axis} of the torso" for axis in "xyz"), *(f"{axis} of the torso's quaternion" for axis in "wxyz")]
        velocity = [f"velocity along {axis} of the torso" for axis in "xyz"]
        spin = [f"angular velocity about the torso's {axis}" for axis in "xyz"]
        return [*place[self.skipped :], *joints, *velocity, *spin, *rate_names(joints)]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        tables = physics_of_all(self.sim), pushes_of(self.sim, ant.PARTS), self.settings, self.places, self.origin
        return judge, (*tables, self.elapsed, self.action, self.observation, self.now)
