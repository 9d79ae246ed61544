"""VIHumanoidStandup-v0: stand up from the back, as Gymnasium's HumanoidStandup-v5."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets.classics import humanoid
from vigym.engine.compiled import compiled
from vigym.envs.arguments import NotNegative, OpenRange
from vigym.envs.classics.humanoid_base import HumanoidTask, observe_humanoid, sense_humanoid, squared_forces
from vigym.envs.compiled_task import physics_of, sum_of_squares

HEIGHT = humanoid.LYING_HEIGHT


@compiled
def judge(every, parts, axes, pushes, efforts, settings, order, centre, elapsed, actions, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    given = settings[0]
    for n in env:
        physics, me, at_start = physics_of(every, n), now[n], elapsed[n] == 0
        sense_humanoid(me, physics, parts, axes, pushes, efforts, order, centre, n, at_start, given)
        observe_humanoid(observations[n], me, physics, given)
        me.z_distance_from_origin = me.qpos[2] - HEIGHT
        cost = given.impact_cost_weight * squared_forces(me)
        me.reward_linup = me.qpos[2] / given.step
        me.reward_quadctrl = -given.ctrl_cost_weight * sum_of_squares(actions[n])
        me.reward_impact = -min(max(cost, given.least_cost), given.most_cost)
        me.reward_survive = 1.0
        me.reward = me.reward_linup + me.reward_quadctrl + me.reward_impact + me.reward_survive
        me.terminated = me.solver_failed


class HumanoidStandup(HumanoidTask):
    """
    ## Description
    The humanoid of Gymnasium's `HumanoidStandup-v5`: it lies on its back and has to stand up. Spaces,
    figures, rewards and ends are the same, and so are starts for the same seed.

    Differences from `HumanoidStandup-v5`: contacts and the limits of joints are hard, MuJoCo's are soft (a start beyond
    a limit, as that of the knees is by 2 degrees, returns to it within tenths of a second, and a start in the ground is
    pushed out slowly). Contact forces are means of the last step of the simulator; their torques assume that a body is
    touched at its lowest point, also by another body. Each hip has a body of 0.1 g between its universal joint and its
    hinge, which stand for MuJoCo's three hinges. Velocities are means of the last step instead of those at its end; the
    motion is that of this engine's variational integrator at the same step, MuJoCo's is of fourth order; a step of the
    physics that cannot be solved ends the episode. As in `HumanoidStandup-v5`, the quaternion of the start is not of
    length 1 until the first step.

    ## Action Space
    `Box(-0.4, 0.4, (17,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | torque of abdomen_y | 100 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 1 | torque of abdomen_z | 100 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 2 | torque of abdomen_x | 100 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 3 | torque of right_hip_x | 100 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 4 | torque of right_hip_z | 100 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 5 | torque of right_hip_y | 300 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 6 | torque of right_knee | 200 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 7 | torque of left_hip_x | 100 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 8 | torque of left_hip_z | 100 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 9 | torque of left_hip_y | 300 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 10 | torque of left_knee | 200 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 11 | torque of right_shoulder1 | 25 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 12 | torque of right_shoulder2 | 25 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 13 | torque of right_elbow | 25 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 14 | torque of left_shoulder1 | 25 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 15 | torque of left_shoulder2 | 25 N m times the action | -0.4 | 0.4 | torque (N m) |
    | 16 | torque of left_elbow | 25 N m times the action | -0.4 | 0.4 | torque (N m) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (348,), float64)`; with `observation="maximal"` the state of every body instead of the first
    45. With `exclude_current_positions_from_observation=False`, x and y of the torso come first; `include_...=False`
    leaves inertias (cinert), velocities (cvel), torques of motors (qfrc_actuator) or contact forces (cfrc_ext) out.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | z of the torso | position (m) |
    | 1 | w of the torso's quaternion | - |
    | 2 | x of the torso's quaternion | - |
    | 3 | y of the torso's quaternion | - |
    | 4 | z of the torso's quaternion | - |
    | 5 | abdomen_z | angle (rad) |
    | 6 | abdomen_y | angle (rad) |
    | 7 | abdomen_x | angle (rad) |
    | 8 | right_hip_x | angle (rad) |
    | 9 | right_hip_z | angle (rad) |
    | 10 | right_hip_y | angle (rad) |
    | 11 | right_knee | angle (rad) |
    | 12 | left_hip_x | angle (rad) |
    | 13 | left_hip_z | angle (rad) |
    | 14 | left_hip_y | angle (rad) |
    | 15 | left_knee | angle (rad) |
    | 16 | right_shoulder1 | angle (rad) |
    | 17 | right_shoulder2 | angle (rad) |
    | 18 | right_elbow | angle (rad) |
    | 19 | left_shoulder1 | angle (rad) |
    | 20 | left_shoulder2 | angle (rad) |
    | 21 | left_elbow | angle (rad) |
    | 22 | velocity along x of the torso | velocity (m/s) |
    | 23 | velocity along y of the torso | velocity (m/s) |
    | 24 | velocity along z of the torso | velocity (m/s) |
    | 25 | angular velocity about the torso's x | angular velocity (rad/s) |
    | 26 | angular velocity about the torso's y | angular velocity (rad/s) |
    | 27 | angular velocity about the torso's z | angular velocity (rad/s) |
    | 28 | velocity of abdomen_z | angular velocity (rad/s) |
    | 29 | velocity of abdomen_y | angular velocity (rad/s) |
    | 30 | velocity of abdomen_x | angular velocity (rad/s) |
    | 31 | velocity of right_hip_x | angular velocity (rad/s) |
    | 32 | velocity of right_hip_z | angular velocity (rad/s) |
    | 33 | velocity of right_hip_y | angular velocity (rad/s) |
    | 34 | velocity of right_knee | angular velocity (rad/s) |
    | 35 | velocity of left_hip_x | angular velocity (rad/s) |
    | 36 | velocity of left_hip_z | angular velocity (rad/s) |
    | 37 | velocity of left_hip_y | angular velocity (rad/s) |
    | 38 | velocity of left_knee | angular velocity (rad/s) |
    | 39 | velocity of right_shoulder1 | angular velocity (rad/s) |
    | 40 | velocity of right_shoulder2 | angular velocity (rad/s) |
    | 41 | velocity of right_elbow | angular velocity (rad/s) |
    | 42 | velocity of left_shoulder1 | angular velocity (rad/s) |
    | 43 | velocity of left_shoulder2 | angular velocity (rad/s) |
    | 44 | velocity of left_elbow | angular velocity (rad/s) |
    | 45-54 | inertia of torso | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 55-64 | inertia of lwaist | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 65-74 | inertia of pelvis | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 75-84 | inertia of right_thigh | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 85-94 | inertia of right_shin | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 95-104 | inertia of right_foot | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 105-114 | inertia of left_thigh | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 115-124 | inertia of left_shin | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 125-134 | inertia of left_foot | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 135-144 | inertia of right_upper_arm | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 145-154 | inertia of right_lower_arm | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 155-164 | inertia of left_upper_arm | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 165-174 | inertia of left_lower_arm | xx, yy, zz, xy, xz, yz (kg m^2), mass times x, y, z (kg m), mass (kg) |
    | 175-180 | velocity of torso | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 181-186 | velocity of lwaist | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 187-192 | velocity of pelvis | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 193-198 | velocity of right_thigh | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 199-204 | velocity of right_shin | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 205-210 | velocity of right_foot | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 211-216 | velocity of left_thigh | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 217-222 | velocity of left_shin | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 223-228 | velocity of left_foot | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 229-234 | velocity of right_upper_arm | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 235-240 | velocity of right_lower_arm | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 241-246 | velocity of left_upper_arm | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 247-252 | velocity of left_lower_arm | angular x, y, z (rad/s), linear x, y, z (m/s) |
    | 253-269 | torque of motors | of the joints in the order of elements 5 to 21 (N m) |
    | 270-275 | contact on torso | torque x, y, z (N m), force x, y, z (N) |
    | 276-281 | contact on lwaist | torque x, y, z (N m), force x, y, z (N) |
    | 282-287 | contact on pelvis | torque x, y, z (N m), force x, y, z (N) |
    | 288-293 | contact on right_thigh | torque x, y, z (N m), force x, y, z (N) |
    | 294-299 | contact on right_shin | torque x, y, z (N m), force x, y, z (N) |
    | 300-305 | contact on right_foot | torque x, y, z (N m), force x, y, z (N) |
    | 306-311 | contact on left_thigh | torque x, y, z (N m), force x, y, z (N) |
    | 312-317 | contact on left_shin | torque x, y, z (N m), force x, y, z (N) |
    | 318-323 | contact on left_foot | torque x, y, z (N m), force x, y, z (N) |
    | 324-329 | contact on right_upper_arm | torque x, y, z (N m), force x, y, z (N) |
    | 330-335 | contact on right_lower_arm | torque x, y, z (N m), force x, y, z (N) |
    | 336-341 | contact on left_upper_arm | torque x, y, z (N m), force x, y, z (N) |
    | 342-347 | contact on left_lower_arm | torque x, y, z (N m), force x, y, z (N) |

    Inertias, velocities and contact torques are about the robot's centre of mass, in the world's axes: velocities are
    those that a body would have there.

    ## Rewards
    With z of the torso and the step of the simulator, dt, reward = reward_linup + reward_quadctrl + reward_impact +
    reward_survive:
    - reward_linup = z / dt
    - reward_quadctrl = -`ctrl_cost_weight` times the sum of the squared actions
    - reward_impact = -`impact_cost_weight` times the sum of the squared contact torques and forces, cut to
      `impact_cost_range`
    - reward_survive = 1, which Gymnasium adds without a name

    ## Starting State
    On its back, the torso 0.105 m high, at rest, with uniform noise within +-`reset_noise_scale` on all coordinates,
    the quaternion's included, and velocities.

    ## Episode End
    Terminated only when a step of the physics cannot be solved (`info["solver_failed"]`). Truncated after 1000 steps of
    0.015 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `5` | steps of the simulator in a control step |
    | `dt` | float | `0.003` | step of the simulator, s |
    | `uph_cost_weight` | float | `1.0` | has no effect, as in Gymnasium |
    | `ctrl_cost_weight` | float | `0.1` | cost of actions |
    | `impact_cost_weight` | float | `5e-7` | cost of contact forces |
    | `impact_cost_range` | tuple | `(-np.inf, 10.0)` | to which this cost is cut |
    | `reset_noise_scale` | float | `0.01` | range of the start |
    | `exclude_current_positions_from_observation` | bool | `True` | leave x and y of the torso out |
    | `include_cinert_in_observation` | bool | `True` | have inertias in the observation |
    | `include_cvel_in_observation` | bool | `True` | have velocities of bodies in the observation |
    | `include_qfrc_actuator_in_observation` | bool | `True` | have torques of motors in the observation |
    | `include_cfrc_ext_in_observation` | bool | `True` | have contact forces in the observation |
    | `observation` | str | `"gymnasium"` | `"gymnasium"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    infos: ClassVar[Mapping[str, Any]] = {"z_distance_from_origin": float}
    terms: ClassVar[tuple[str, ...]] = ("linup", "quadctrl", "impact", "survive")
    rest_qpos = (0.0, 0.0, humanoid.LYING_HEIGHT, 1.0, *[0.0] * 20)

    def __init__(
        self,
        *,
        frame_skip: int = 5,
        dt: float = 0.003,
        uph_cost_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        impact_cost_weight: float = 5e-7,
        impact_cost_range: OpenRange = (-np.inf, 10.0),
        reset_noise_scale: NotNegative = 0.01,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        observation: Literal["gymnasium", "maximal"] = "gymnasium",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        super().__init__(
            lying=True,
            reset_noise_scale=reset_noise_scale,
            exclude_current_positions_from_observation=exclude_current_positions_from_observation,
            include_cinert_in_observation=include_cinert_in_observation,
            include_cvel_in_observation=include_cvel_in_observation,
            include_qfrc_actuator_in_observation=include_qfrc_actuator_in_observation,
            include_cfrc_ext_in_observation=include_cfrc_ext_in_observation,
            observation=observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
            settings={
                "uph_cost_weight": uph_cost_weight,
                "ctrl_cost_weight": ctrl_cost_weight,
                "impact_cost_weight": impact_cost_weight,
                "least_cost": impact_cost_range[0],
                "most_cost": impact_cost_range[1],
            },
        )

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        return judge, self.tables()
