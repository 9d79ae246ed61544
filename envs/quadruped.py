"""VIQuadruped-v0: a Unitree A1 walks at a commanded velocity."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets import unitree_a1
from vigym.engine.errors import InputError
from vigym.engine.learned_actuator import ActuatorNetwork
from vigym.engine.validation import show, vector
from vigym.envs.a1 import A1Task
from vigym.envs.arguments import NotNegative, OpenRange, Positive, Range
from vigym.envs.compiled_task import numbers, physics_of_all
from vigym.envs.quadruped_motion import judge, least_heights
from vigym.envs.robot import BASE_INFOS, TOUCH
from vigym.envs.task import Array, Draws, Indices
from vigym.envs.terrain.field import Ground, ground
from vigym.envs.terrain.steps import add_steps, count_of

GAINS = ("kp", "kd", "effort_limit")
FIELD = 20.0  # m, side of rough ground without its border


class Quadruped(A1Task):
    """
    ## Description
    A Unitree A1 (12.5 kg, 12 joints) walks at a commanded velocity: forward, sideways, and turning, all in the frame of
    its trunk. A clock tells which diagonal pair of feet is to be lifted. Only the feet touch level ground and inclines;
    an episode ends before a knee or the trunk would. Stairs are boxes, the first riser 0.5 m ahead of the start and at
    most 50 of them in 20 m; rough ground is one height field, 24 m wide, on which every episode starts at another
    place. The whole robot touches both; its parts pass through each other. There, the clearance of a foot is that above
    the plane of the ground below its middle; `info["penetration"]` is 0 on rough ground, where it is not measured.

    ## Action Space
    `Box(-1, 1, (12,), float32)`

    With `actuation="pd"`: targets of PD drives (gains 100/5, 80/4, 60/3 N m/rad and N m s/rad of hip, thigh, calf; at
    most 33.5 N m), cut to the limits of the joint. The rest pose is the one in which the robot stands still under its
    weight. With `actuation="torque"`: torques, 33.5 N m times the action.

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | target of FR hip | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 1 | target of FR thigh | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 2 | target of FR calf | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 3 | target of FL hip | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 4 | target of FL thigh | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 5 | target of FL calf | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 6 | target of RR hip | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 7 | target of RR thigh | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 8 | target of RR calf | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 9 | target of RL hip | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 10 | target of RL thigh | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |
    | 11 | target of RL calf | rest pose + `action_scale` times the action | -1 | 1 | angle (rad) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (51,), float64)`; x and y of the trunk come first with
    `exclude_current_positions_from_observation=False`. With `observation="maximal"` the state of every body stands in
    place of elements 0 to 33; command, clock and last action still follow.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | height of the trunk above the ground | position (m) |
    | 1 | x of the up direction in the trunk's frame | - |
    | 2 | y of the up direction in the trunk's frame | - |
    | 3 | z of the up direction in the trunk's frame | - |
    | 4 | FR hip | angle (rad) |
    | 5 | FR thigh | angle (rad) |
    | 6 | FR calf | angle (rad) |
    | 7 | FL hip | angle (rad) |
    | 8 | FL thigh | angle (rad) |
    | 9 | FL calf | angle (rad) |
    | 10 | RR hip | angle (rad) |
    | 11 | RR thigh | angle (rad) |
    | 12 | RR calf | angle (rad) |
    | 13 | RL hip | angle (rad) |
    | 14 | RL thigh | angle (rad) |
    | 15 | RL calf | angle (rad) |
    | 16 | velocity along the trunk's x | velocity (m/s) |
    | 17 | velocity along the trunk's y | velocity (m/s) |
    | 18 | velocity along the trunk's z | velocity (m/s) |
    | 19 | angular velocity about the trunk's x | angular velocity (rad/s) |
    | 20 | angular velocity about the trunk's y | angular velocity (rad/s) |
    | 21 | angular velocity about the trunk's z | angular velocity (rad/s) |
    | 22 | velocity of FR hip | angular velocity (rad/s) |
    | 23 | velocity of FR thigh | angular velocity (rad/s) |
    | 24 | velocity of FR calf | angular velocity (rad/s) |
    | 25 | velocity of FL hip | angular velocity (rad/s) |
    | 26 | velocity of FL thigh | angular velocity (rad/s) |
    | 27 | velocity of FL calf | angular velocity (rad/s) |
    | 28 | velocity of RR hip | angular velocity (rad/s) |
    | 29 | velocity of RR thigh | angular velocity (rad/s) |
    | 30 | velocity of RR calf | angular velocity (rad/s) |
    | 31 | velocity of RL hip | angular velocity (rad/s) |
    | 32 | velocity of RL thigh | angular velocity (rad/s) |
    | 33 | velocity of RL calf | angular velocity (rad/s) |
    | 34 | commanded velocity along x | velocity (m/s) |
    | 35 | commanded velocity along y | velocity (m/s) |
    | 36 | commanded yaw rate | angular velocity (rad/s) |
    | 37 | cosine of the clock | - |
    | 38 | sine of the clock | - |
    | 39 | last action of FR hip | - |
    | 40 | last action of FR thigh | - |
    | 41 | last action of FR calf | - |
    | 42 | last action of FL hip | - |
    | 43 | last action of FL thigh | - |
    | 44 | last action of FL calf | - |
    | 45 | last action of RR hip | - |
    | 46 | last action of RR thigh | - |
    | 47 | last action of RR calf | - |
    | 48 | last action of RL hip | - |
    | 49 | last action of RL thigh | - |
    | 50 | last action of RL calf | - |

    ## Rewards
    Sum of, with the velocity v and angular velocity w of the trunk in its own frame, and weights that are arguments:
    - reward_velocity = `velocity_reward_weight` exp(-((vx - command)^2 + (vy - command)^2) / 0.3^2)
    - reward_yaw = `yaw_reward_weight` exp(-(wz - command)^2 / 0.5^2)
    - reward_feet = `feet_reward_weight` exp(-sum over feet of (clearance - wanted)^2 / 0.05^2), where a foot's wanted
      clearance is `foot_lift` max(0, sin(clock)), with the clock half a period on for FL and RR; 0 for all feet if the
      command is to stand still (all three below 0.05)
    - reward_survive = `healthy_reward` in every step in which the robot is healthy
    - reward_vertical = -`vertical_cost_weight` vz^2
    - reward_tilt = -`tilt_cost_weight` (wx^2 + wy^2 + 50 times the squared sine of the angle between the trunk's z and
      the ground's normal)
    - reward_ctrl = -`ctrl_cost_weight` sum of squared torques
    - reward_rate = -`rate_cost_weight` sum of squared changes of the action
    - reward_limits = -`limit_cost_weight` sum of what is missing to 0.05 rad between joints and their limits
    - reward_slip = -`slip_cost_weight` sum of squared tangential velocities of the feet that touch the ground

    ## Starting State
    Standing at the origin; joint angles, roll, pitch and yaw within +-`reset_noise_scale` rad, velocities of joints
    (rad/s), trunk (m/s) and its rotation (rad/s) as well, all uniform; lowest foot on the ground. The command is drawn
    from the three ranges, or given: `reset(options={"command": (0.5, 0.0, 0.0)})`.

    ## Episode End
    Terminated, if `terminate_when_unhealthy`, when the height of the trunk above the ground is outside
    `healthy_z_range`, the trunk's z is further than `healthy_tilt` from the ground's normal, or the trunk or a knee
    comes to the ground; or when a step of the physics cannot be solved (`info["solver_failed"]`). Truncated after 1000
    steps of 0.02 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `4` | steps of the simulator in a control step |
    | `dt` | float | `0.005` | step of the simulator, s |
    | `actuation` | str | `"pd"` | `"pd"`, or `"torque"` |
    | `action_scale` | float | `0.5` | change of a drive's target for an action of 1, rad |
    | `terrain` | str | `"flat"` | `"flat"`, `"incline"` (rises along x), `"steps"` (stairs) or `"rough"` (bumps) |
    | `slope` | float | `0.15` | of the incline, rad; negative falls |
    | `step_height` | float | `0.03` | of the stairs, m; negative goes down |
    | `step_length` | float | `0.4` | of the stairs, m |
    | `bump_level` | float | `0.2` | of rough ground, 0 to 1: bumps of 3 to 10 cm on slopes of up to 0.4 |
    | `terrain_seed` | int | `1` | of rough ground |
    | `friction` | float | `0.8` | of the feet |
    | `x_velocity_range` | tuple | `(0.2, 0.8)` | of commands, m/s |
    | `y_velocity_range` | tuple | `(-0.2, 0.2)` | of commands, m/s |
    | `yaw_rate_range` | tuple | `(-0.4, 0.4)` | of commands, rad/s |
    | `gait_period` | float | `0.5` | of the clock, s |
    | `foot_lift` | float | `0.06` | wanted clearance of a foot in the middle of its swing, m |
    | `velocity_reward_weight` | float | `1.0` | see Rewards |
    | `yaw_reward_weight` | float | `0.5` | see Rewards |
    | `feet_reward_weight` | float | `0.5` | see Rewards |
    | `healthy_reward` | float | `0.5` | see Rewards |
    | `vertical_cost_weight` | float | `1.0` | see Rewards |
    | `tilt_cost_weight` | float | `0.01` | see Rewards |
    | `ctrl_cost_weight` | float | `1e-4` | see Rewards |
    | `rate_cost_weight` | float | `0.005` | see Rewards |
    | `limit_cost_weight` | float | `2.0` | see Rewards |
    | `slip_cost_weight` | float | `0.1` | see Rewards |
    | `healthy_z_range` | tuple | `(0.16, 0.45)` | height of the trunk, m |
    | `healthy_tilt` | float | `0.8` | rad |
    | `terminate_when_unhealthy` | bool | `True` | whether a fall ends the episode |
    | `reset_noise_scale` | float | `0.05` | range of the start |
    | `exclude_current_positions_from_observation` | bool | `True` | leave out x and y of the trunk |
    | `observation` | str | `"base"` | `"base"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `actuator` | path or network | `None` | takes the place of the PD drives, see `vigym.LearnedActuator` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version, with Coulomb's circular friction cone
    """

    infos: ClassVar[Mapping[str, Any]] = {
        **BASE_INFOS,
        **{"forward_velocity": float, "sideways_velocity": float, "yaw_rate": float},
        **{"command": (float, 3), "foot_clearance": (float, 4)},
    }
    # clearance each foot reached in the last full period of the clock, and how far it slid on the ground, m
    outcomes: ClassVar[Mapping[str, Any]] = {
        "foot_lift": (float, 4),
        "foot_slide": (float, 4),
        "penetration": float,
        "slip": float,
    }
    terms: ClassVar[tuple[str, ...]] = (
        *("velocity", "yaw", "feet", "survive", "vertical", "tilt", "ctrl", "rate", "limits", "slip"),
    )
    # the world's z and the ground's normal in the trunk's frame; velocity of the trunk in its own frame, m/s; heights
    # above the ground of the trunk's centre of mass, its lowest corner and the lowest knee, m; tangential speed of the
    # feet that touch the ground, m/s; clearance that the clock asks for, highest one and sliding in this period, m
    senses: ClassVar[Mapping[str, Any]] = {
        **{"up": (float, 3), "normal": (float, 3), "velocity": (float, 3)},
        **{"height": float, "lowest_corner": float, "lowest_knee": float, "healthy": bool},
        **{"foot_slip": (float, 4), "wanted": (float, 4), "peak": (float, 4), "slid": (float, 4)},
        **{"last_action": (float, 12), "floors": (float, 4)},  # floors: height of the ground below the feet, m
    }
    memory: ClassVar[tuple[str, ...]] = ("gains", "aims")
    fixed: ClassVar[tuple[str, ...]] = ("limits", "neutral", "ground", "foot_points", "knee_points", "heights")
    overlap: ClassVar[str] = "keep"  # on rough ground, the model starts at the origin, whatever is there
    n_actions = 12
    options: ClassVar[tuple[str, ...]] = ("command",)
    camera: ClassVar[Mapping[str, Any]] = {"distance": 2.0, "azimuth": 120.0, "elevation": -15.0, "trackbodyid": 0}

    def __init__(
        self,
        *,
        frame_skip: int = 4,
        dt: float = 0.005,
        actuation: Literal["pd", "torque"] = "pd",
        action_scale: float = 0.5,
        terrain: Literal["flat", "incline", "steps", "rough"] = "flat",
        slope: float = 0.15,
        step_height: float = 0.03,
        step_length: float = 0.4,
        bump_level: NotNegative = 0.2,
        terrain_seed: int = 1,
        friction: float = 0.8,
        x_velocity_range: Range = (0.2, 0.8),
        y_velocity_range: Range = (-0.2, 0.2),
        yaw_rate_range: Range = (-0.4, 0.4),
        gait_period: Positive = 0.5,
        foot_lift: float = 0.06,
        velocity_reward_weight: float = 1.0,
        yaw_reward_weight: float = 0.5,
        feet_reward_weight: float = 0.5,
        healthy_reward: float = 0.5,
        vertical_cost_weight: float = 1.0,
        tilt_cost_weight: float = 0.01,
        ctrl_cost_weight: float = 1e-4,
        rate_cost_weight: float = 0.005,
        limit_cost_weight: float = 2.0,
        slip_cost_weight: float = 0.1,
        healthy_z_range: OpenRange = (0.16, 0.45),
        healthy_tilt: float = 0.8,
        terminate_when_unhealthy: bool = True,
        reset_noise_scale: NotNegative = 0.05,
        exclude_current_positions_from_observation: bool = True,
        observation: Literal["base", "maximal"] = "base",
        randomization: Mapping[str, Any] | None = None,
        actuator: ActuatorNetwork | str | PathLike[str] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.has_drives, self.action_scale = actuation == "pd", action_scale
        self.command_ranges = x_velocity_range, y_velocity_range, yaw_rate_range
        self.reset_noise_scale = reset_noise_scale
        self.kept = 0 if exclude_current_positions_from_observation else 2  # of x and y of the trunk
        slope = slope if terrain == "incline" else 0.0
        self.on_plane, self.is_rough = terrain in ("flat", "incline"), terrain == "rough"
        mechanism = unitree_a1.build(friction=friction, drive=self.has_drives, slope=slope, ground=self.on_plane)
        self.heights, spacing = np.zeros((2, 2)), 1.0
        if terrain == "steps":
            if not 0.0 < abs(step_height) < 0.2 or not step_length >= 0.1:
                raise InputError(f"no stairs for feet: step_height {step_height!r}, step_length {step_length!r}")
            add_steps(mechanism, friction, step_height, step_length)
        elif self.is_rough:
            if not bump_level <= 1.0:
                raise InputError(f"bump_level must be 0 to 1, got {show(bump_level)}")
            tiles = bumpy(bump_level, terrain_seed)
            self.heights, spacing = tiles.heights, tiles.spacing
            mechanism.add_collider("ground", "world", tiles.field, friction=friction)
        # whether it is stairs; rise, length and number of these; heights of a field and the spacing between them, m
        stairs = np.array([step_height, step_length, count_of(max(step_length, 0.1))])
        self.terrain = terrain == "steps", tuple(stairs), self.heights, spacing
        self.neutral = np.array([joint.target[0] for joint in mechanism.joints])  # targets that hold STANDING
        super().__init__(
            mechanism,
            observation=observation,
            exclude_current_positions_from_observation=exclude_current_positions_from_observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
            actuator=actuator,
        )
        joints = self.sim.model.mechanism.joints
        self.limits = np.array([[joint.lower[0] for joint in joints], [joint.upper[0] for joint in joints]])
        self.ground = np.array([-np.sin(slope), 0.0, np.cos(slope)])
        calves = (self.sim.model.mechanism.body(f"{leg} calf") for leg in unitree_a1.LEGS)
        self.foot_points = np.array([body.shapes[-1].position for body in calves])
        self.knee_points = np.array([joint.child_anchor for joint in joints[2::3]])
        n = num_envs
        self.gains = np.stack([self.sim.parameter(name) for name in GAINS], 1)
        self.aims = np.zeros((n, 12))  # of the last step: targets of drives, or torques
        self.settings = numbers(
            velocity_reward_weight=velocity_reward_weight,
            yaw_reward_weight=yaw_reward_weight,
            feet_reward_weight=feet_reward_weight,
            healthy_reward=healthy_reward,
            vertical_cost_weight=vertical_cost_weight,
            tilt_cost_weight=tilt_cost_weight,
            ctrl_cost_weight=ctrl_cost_weight,
            rate_cost_weight=rate_cost_weight,
            limit_cost_weight=limit_cost_weight,
            slip_cost_weight=slip_cost_weight,
            foot_lift=foot_lift,
            on_plane=self.on_plane,
            lowest=healthy_z_range[0],
            highest=healthy_z_range[1],
            least_upright=np.cos(healthy_tilt),
            terminate_when_unhealthy=terminate_when_unhealthy,
            dt=self.dt,
            gait_period=gait_period,
            clock_rate=2 * np.pi * self.dt / gait_period,
            observes_maximal=self.observes_maximal,
            kept=self.kept,
        )

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        command = np.array([rng.uniform(*bounds) for bounds in self.command_ranges])
        if "command" in options:
            command = vector(options["command"], (3,), "options['command']", InputError)
        noise = self.reset_noise_scale * rng.uniform(-1, 1, 33)
        place = rng.uniform(-FIELD / 4, FIELD / 4, 2) if self.is_rough else np.zeros(2)
        return {"noise": noise, "command": command, "place": place}

    def start(self, env: Indices, draws: Draws) -> None:
        joints, turn, rates, v, w = np.split(draws["noise"], [12, 15, 27, 30], axis=-1)
        x, q = (np.repeat(part[:1, 0], len(env), axis=0) for part in self.rest_state[:2])
        if self.is_rough:
            x[:, :2] += draws["place"]
        self.put(env, self.rest + joints, rates, x, self.turned(q, turn), v, w)
        self.now["command"][env] = draws["command"]
        self.gains[env] = np.stack([self.sim.parameter(name)[env] for name in GAINS], 1)

    def lift(self, env: Indices, x: Array, q: Array) -> Array:
        if self.on_plane:
            return super().lift(env, x, q)
        gaps = np.zeros(len(x))
        least_heights(self.terrain, x, q, self.foot_points, gaps)
        return TOUCH - gaps

    def observation_names(self) -> list[str]:
        joints, axes = self.sim.axis_names, "xyz"
        state = [
            *[f"{axis} of the trunk" for axis in "xy"][: self.kept],
            "height of the trunk above the ground",
            *(f"{axis} of the up direction in the trunk's frame" for axis in axes),
            *joints,
            *(f"velocity along the trunk's {axis}" for axis in axes),
            *(f"angular velocity about the trunk's {axis}" for axis in axes),
            *(f"velocity of {name}" for name in joints),
        ]
        return [
            *(self.maximal_names() if self.observes_maximal else state),
            "commanded velocity along x",
            "commanded velocity along y",
            "commanded yaw rate",
            "cosine of the clock",
            "sine of the clock",
            *(f"last action of {name}" for name in joints),
        ]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        model = self.settings, self.terrain, self.ground, self.foot_points, self.knee_points, self.limits
        step = self.elapsed, self.action, self.aims, self.gains
        return judge, (physics_of_all(self.sim), *model, *step, self.observation, self.now)


def bumpy(level: float, seed: int) -> Ground:
    """Return rough ground of 4 x 4 tiles of one level."""
    return ground(("rough",) * 4, 4, FIELD / 4, seed, level)
