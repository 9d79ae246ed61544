"""VIQuadrupedRough-v0: a Unitree A1 walks over slopes, stairs, stones and gaps as it is told."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets import unitree_a1
from vigym.engine.errors import InputError
from vigym.engine.learned_actuator import ActuatorNetwork
from vigym.engine.rotation import from_rotation_vector
from vigym.engine.validation import choice, count, show, vector
from vigym.envs import rough_motion as motion
from vigym.envs.a1 import A1Task
from vigym.envs.arguments import Positive, Range
from vigym.envs.compiled_task import numbers, physics_of_all
from vigym.envs.quadruped_motion import MARGIN
from vigym.envs.robot import BASE_INFOS
from vigym.envs.task import Array, Draws, Indices
from vigym.envs.terrain.field import KINDS, ground

GAINS = ("kp", "kd", "effort_limit")
REST = np.array([-0.1, 0.8, -1.5, 0.1, 0.8, -1.5, -0.1, 1.0, -1.5, 0.1, 1.0, -1.5])  # rad, where actions are 0
KP, KD = (20.0,) * 3, (0.5,) * 3  # N m/rad, N m s/rad: hip, thigh, calf
HEIGHT = 0.42  # m, of the trunk above the highest ground around it at the start
AROUND = 0.6  # m: so far around the trunk, the ground is looked at then
STANDS = 0.2  # m/s: commands that are slower ask it to stand
N_COMMANDS = 8  # of an episode, in turn
EPISODE = 20.0  # s, after which a level is judged
SOFT = 0.9  # part of the range of joints outside which they cost
RANDOMIZATION = {"friction": (0.5, 1.25), "push": (0, 600), "push_interval": (15, 15)}


class QuadrupedRough(A1Task):
    """
    ## Description
    A Unitree A1 (12.5 kg, 12 joints) walks in all directions over rough ground at a commanded velocity. Observations,
    rewards, commands, levels, gains and ranges are those of `legged_gym`'s A1 on rough ground; where they are not, this
    page says so. The whole robot touches the ground; its own parts pass through each other.

    The ground is one height field for all environments (0.1 m between heights, friction 1), of square tiles: a row for
    each kind, from the easiest level to the hardest. All that is random about it follows from `terrain_seed`. Steps of
    stairs are as steep as the grid allows, one cell of 0.1 m for each riser. A wall of 1 m surrounds the field.

    | kind | easiest level | hardest level |
    |---|---|---|
    | slope | level | a pyramid, or a pit, that rises by 0.4 |
    | rough | bumps of 3 cm | the same with bumps of 10 cm |
    | stairs up, stairs down | steps of 5 cm, 30 cm long | steps of 23 cm |
    | stones | blocks and hollows of 5 cm | of 25 cm |
    | gaps | none | ditches 0.6 m wide and deep |

    Every environment has a level. An episode whose robot ends farther than half a tile from where it began leads to the
    next one; one that came less than half as far as told leads back. From the hardest level it goes on at any. A
    reset with a seed begins at a level drawn from the easier half. `info` has `level` and `kind` (its number).

    ## Action Space
    `Box(-1, 1, (12,), float32)`: targets of PD drives (20 N m/rad, 0.5 N m s/rad, at most 33.5 N m), cut to the limits
    of the joint. The rest pose is 0.1 rad outwards for hips, 0.8 (front) and 1 rad (rear) for thighs, -1.5 rad for
    calves. (`legged_gym` does not limit actions.) With `actuation="torque"`: torques, 33.5 N m times the action.

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
    `Box(-3.4e38, 3.4e38, (235,), float64)`: without noise. Heights are those of the ground at 17 x 11 points, 0.1 m
    from each other, around the trunk and turned with it: from 0.8 m behind to 0.8 m ahead, and for each from 0.5 m
    right to 0.5 m left.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | velocity along the trunk's x | 2 times velocity (m/s) |
    | 1 | velocity along the trunk's y | 2 times velocity (m/s) |
    | 2 | velocity along the trunk's z | 2 times velocity (m/s) |
    | 3 | angular velocity about the trunk's x | 0.25 times angular velocity (rad/s) |
    | 4 | angular velocity about the trunk's y | 0.25 times angular velocity (rad/s) |
    | 5 | angular velocity about the trunk's z | 0.25 times angular velocity (rad/s) |
    | 6 | x of the down direction in the trunk's frame | - |
    | 7 | y of the down direction in the trunk's frame | - |
    | 8 | z of the down direction in the trunk's frame | - |
    | 9 | commanded velocity along x | 2 times velocity (m/s) |
    | 10 | commanded velocity along y | 2 times velocity (m/s) |
    | 11 | commanded yaw rate | 0.25 times angular velocity (rad/s) |
    | 12 | FR hip | angle from the rest pose (rad) |
    | 13 | FR thigh | angle from the rest pose (rad) |
    | 14 | FR calf | angle from the rest pose (rad) |
    | 15 | FL hip | angle from the rest pose (rad) |
    | 16 | FL thigh | angle from the rest pose (rad) |
    | 17 | FL calf | angle from the rest pose (rad) |
    | 18 | RR hip | angle from the rest pose (rad) |
    | 19 | RR thigh | angle from the rest pose (rad) |
    | 20 | RR calf | angle from the rest pose (rad) |
    | 21 | RL hip | angle from the rest pose (rad) |
    | 22 | RL thigh | angle from the rest pose (rad) |
    | 23 | RL calf | angle from the rest pose (rad) |
    | 24 | velocity of FR hip | 0.05 times angular velocity (rad/s) |
    | 25 | velocity of FR thigh | 0.05 times angular velocity (rad/s) |
    | 26 | velocity of FR calf | 0.05 times angular velocity (rad/s) |
    | 27 | velocity of FL hip | 0.05 times angular velocity (rad/s) |
    | 28 | velocity of FL thigh | 0.05 times angular velocity (rad/s) |
    | 29 | velocity of FL calf | 0.05 times angular velocity (rad/s) |
    | 30 | velocity of RR hip | 0.05 times angular velocity (rad/s) |
    | 31 | velocity of RR thigh | 0.05 times angular velocity (rad/s) |
    | 32 | velocity of RR calf | 0.05 times angular velocity (rad/s) |
    | 33 | velocity of RL hip | 0.05 times angular velocity (rad/s) |
    | 34 | velocity of RL thigh | 0.05 times angular velocity (rad/s) |
    | 35 | velocity of RL calf | 0.05 times angular velocity (rad/s) |
    | 36 | last action of FR hip | - |
    | 37 | last action of FR thigh | - |
    | 38 | last action of FR calf | - |
    | 39 | last action of FL hip | - |
    | 40 | last action of FL thigh | - |
    | 41 | last action of FL calf | - |
    | 42 | last action of RR hip | - |
    | 43 | last action of RR thigh | - |
    | 44 | last action of RR calf | - |
    | 45 | last action of RL hip | - |
    | 46 | last action of RL thigh | - |
    | 47 | last action of RL calf | - |
    | 48-234 | trunk above the ground less 0.5 m | 5 times position (m), cut to +-1 m |

    ## Rewards
    Sum of the following times the control step (s), with the velocity v and angular velocity w of the trunk in its own
    frame, and weights that are arguments:
    - reward_velocity = `velocity_reward_weight` exp(-((vx - command)^2 + (vy - command)^2) / 0.25)
    - reward_yaw = `yaw_reward_weight` exp(-(wz - command)^2 / 0.25)
    - reward_air = `air_reward_weight` sum, over feet that come down, of how long they were in the air less 0.5 s; 0 if
      the commanded velocity is below 0.1 m/s
    - reward_vertical = -`vertical_cost_weight` vz^2
    - reward_turn = -`turn_cost_weight` (wx^2 + wy^2)
    - reward_ctrl = -`ctrl_cost_weight` sum of squared torques
    - reward_acceleration = -`acceleration_cost_weight` sum of squared accelerations of the joints
    - reward_rate = -`rate_cost_weight` sum of squared changes of the action
    - reward_collision = -`collision_cost_weight` number of thighs and calves that something other than the ground under
      their feet pushes by more than 0.1 N
    - reward_limits = -`limit_cost_weight` sum of how far joints are outside nine tenths of their range, rad
    - reward_floor = what makes the sum 0 where it would be negative, if `only_positive_rewards` (not times the step)

    ## Starting State
    Within 1 m of the middle of a tile of the environment's level and of a kind drawn at random, along both x and y, the
    trunk level, 0.42 m above the highest ground around it, turned anywhere about z; joints at half to one and a half
    times their rest pose, at rest; velocities of the trunk (m/s, rad/s) within +-0.5.

    Commands are drawn for 10 s each: velocities along x and y, 0 if together below 0.2 m/s, and a heading, which the
    commanded yaw rate follows: half the error, at most 1 rad/s. `reset(options=...)` takes `"command"` (vx, vy, yaw
    rate) for a whole episode, `"level"` and `"kind"` (its name).

    By default (`randomization`, see `Randomization`), friction is 0.5 to 1.25, and every 15 s something pushes the
    trunk in a random direction for one control step, by up to 600 N, which change the robot's velocity by 1 m/s.

    ## Episode End
    Terminated when something pushes the trunk or a hip by more than 1 N, or when a step of the physics cannot be solved
    (`info["solver_failed"]`). Truncated after 1000 steps of 0.02 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `4` | steps of the simulator in a control step |
    | `dt` | float | `0.005` | step of the simulator, s |
    | `actuation` | str | `"pd"` | `"pd"`, or `"torque"` |
    | `action_scale` | float | `0.25` | change of a drive's target for an action of 1, rad |
    | `kinds` | tuple | `("slope", "rough", "stairs up", "stairs down", "stones", "gaps")` | of ground |
    | `levels` | int | `6` | of each kind |
    | `tile_length` | float | `6.0` | side of a tile, m, at least 4; fields over 40 m look coarser than they are |
    | `terrain_seed` | int | `1` | of the ground |
    | `curriculum` | bool | `True` | levels follow the robot; else they are drawn at random |
    | `x_velocity_range` | tuple | `(-1.0, 1.0)` | of commands, m/s |
    | `y_velocity_range` | tuple | `(-1.0, 1.0)` | of commands, m/s |
    | `heading_range` | tuple | `(-3.14, 3.14)` | of commands, rad |
    | `resampling_time` | float | `10.0` | of commands, s |
    | `velocity_reward_weight` | float | `1.0` | see Rewards |
    | `yaw_reward_weight` | float | `0.5` | see Rewards |
    | `air_reward_weight` | float | `1.0` | see Rewards |
    | `vertical_cost_weight` | float | `2.0` | see Rewards |
    | `turn_cost_weight` | float | `0.05` | see Rewards |
    | `ctrl_cost_weight` | float | `2e-4` | see Rewards |
    | `acceleration_cost_weight` | float | `2.5e-7` | see Rewards |
    | `rate_cost_weight` | float | `0.01` | see Rewards |
    | `collision_cost_weight` | float | `1.0` | see Rewards |
    | `limit_cost_weight` | float | `10.0` | see Rewards |
    | `only_positive_rewards` | bool | `True` | no reward is negative |
    | `randomization` | dict or None | `{"friction": (0.5, 1.25), "push": (0, 600), "push_interval": (15, 15)}` | |
    | `actuator` | path or network | `None` | takes the place of the PD drives, see `vigym.LearnedActuator` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version
    """

    infos: ClassVar[Mapping[str, Any]] = {
        **BASE_INFOS,
        **{"height": float, "command": (float, 3), "level": np.int64, "kind": np.int64},
    }
    outcomes: ClassVar[Mapping[str, Any]] = {"foot_gap": (float, 4), "collisions": float}
    terms: ClassVar[tuple[str, ...]] = (
        *("velocity", "yaw", "air", "vertical", "turn", "ctrl", "acceleration", "rate", "collision", "limits"),
        "floor",
    )
    # up and velocity of the trunk in its own frame; whether trunk or hips touch; of each foot: seconds in the air, and
    # 1 if it touched in the last step, else 0; control steps of this episode and where it began, m; whether the next
    # episode's level is drawn anew, and whether commands have a heading
    senses: ClassVar[Mapping[str, Any]] = {
        **{"up": (float, 3), "velocity": (float, 3), "fallen": bool, "air_reward": float},
        **{"air_time": (float, 4), "touched": (float, 4), "last_action": (float, 12), "last_rates": (float, 12)},
        **{"steps": np.int64, "begin": (float, 2), "seeded": bool, "follows_heading": bool},
    }
    memory: ClassVar[tuple[str, ...]] = ("gains", "aims", "commands")
    fixed: ClassVar[tuple[str, ...]] = ("limits", "soft_limits", "foot_points", "heights", "middles", "neutral")
    overlap: ClassVar[str] = "keep"  # the model starts at the origin, whatever is there
    n_actions = 12
    options: ClassVar[tuple[str, ...]] = ("command", "level", "kind")
    camera: ClassVar[Mapping[str, Any]] = {"distance": 3.0, "azimuth": 120.0, "elevation": -25.0, "trackbodyid": 0}

    def __init__(
        self,
        *,
        frame_skip: int = 4,
        dt: float = 0.005,
        actuation: Literal["pd", "torque"] = "pd",
        action_scale: float = 0.25,
        kinds: tuple[str, ...] = tuple(KINDS),
        levels: int = 6,
        tile_length: float = 6.0,
        terrain_seed: int = 1,
        curriculum: bool = True,
        x_velocity_range: Range = (-1.0, 1.0),
        y_velocity_range: Range = (-1.0, 1.0),
        heading_range: Range = (-3.14, 3.14),
        resampling_time: Positive = 10.0,
        velocity_reward_weight: float = 1.0,
        yaw_reward_weight: float = 0.5,
        air_reward_weight: float = 1.0,
        vertical_cost_weight: float = 2.0,
        turn_cost_weight: float = 0.05,
        ctrl_cost_weight: float = 2e-4,
        acceleration_cost_weight: float = 2.5e-7,
        rate_cost_weight: float = 0.01,
        collision_cost_weight: float = 1.0,
        limit_cost_weight: float = 10.0,
        only_positive_rewards: bool = True,
        randomization: Mapping[str, Any] | None = RANDOMIZATION,
        actuator: ActuatorNetwork | str | PathLike[str] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.has_drives = actuation == "pd"
        self.action_scale, self.curriculum, self.tile_length = action_scale, curriculum, tile_length
        self.command_ranges = x_velocity_range, y_velocity_range, heading_range
        self.kinds = kinds_of(kinds)
        if not 4.0 <= tile_length <= 100.0:
            raise InputError(f"tile_length must be 4 to 100 m, got {show(tile_length)}")
        tiles = ground(self.kinds, levels, tile_length, terrain_seed)
        self.heights, self.middles, self.spacing = tiles
        mechanism = unitree_a1.build(friction=1.0, drive=self.has_drives, kp=KP, kd=KD, ground=False)
        mechanism.add_collider("ground", "world", tiles.field, friction=1.0)
        super().__init__(
            mechanism,
            observation="base",
            exclude_current_positions_from_observation=True,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
            actuator=actuator,
        )
        joints = self.sim.model.mechanism.joints
        self.limits = np.array([[joint.lower[0] for joint in joints], [joint.upper[0] for joint in joints]])
        middle, half = self.limits.mean(0), 0.5 * SOFT * np.ptp(self.limits, 0)
        self.soft_limits = np.array([middle - half - MARGIN, middle + half + MARGIN])  # `reward_limits` adds its margin
        calves = (self.sim.model.mechanism.body(f"{leg} calf") for leg in unitree_a1.LEGS)
        self.foot_points = np.array([body.shapes[-1].position for body in calves])
        self.neutral = REST
        self.gains = np.stack([self.sim.parameter(name) for name in GAINS], 1)
        self.aims, self.commands = np.zeros((num_envs, 12)), np.zeros((num_envs, N_COMMANDS, 3))
        self.now["seeded"] = True
        self.settings = numbers(
            velocity_reward_weight=velocity_reward_weight,
            yaw_reward_weight=yaw_reward_weight,
            air_reward_weight=air_reward_weight,
            vertical_cost_weight=vertical_cost_weight,
            turn_cost_weight=turn_cost_weight,
            ctrl_cost_weight=ctrl_cost_weight,
            acceleration_cost_weight=acceleration_cost_weight,
            rate_cost_weight=rate_cost_weight,
            collision_cost_weight=collision_cost_weight,
            limit_cost_weight=limit_cost_weight,
            only_positive_rewards=only_positive_rewards,
            resampling_time=resampling_time,
            dt=self.dt,
            step=dt,
        )

    # -------------------------------------------------------------------------------------------- starts
    def seeded(self, env: Indices) -> None:
        self.now["seeded"][env] = True

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        n_kinds, levels, _ = self.middles.shape
        commands = np.stack([rng.uniform(*bounds, N_COMMANDS) for bounds in self.command_ranges], -1)
        commands[np.hypot(commands[:, 0], commands[:, 1]) < STANDS, :2] = 0.0
        drawn: dict[str, Any] = {"commands": commands, "follows heading": True}
        drawn["kind"] = rng.integers(n_kinds)
        drawn["first level"], drawn["any level"] = rng.integers((levels + 1) // 2), rng.integers(levels)
        drawn["noise"] = rng.uniform(-1, 1, 21)
        drawn["told level"] = -1
        if "command" in options:
            told = vector(options["command"], (3,), "options['command']", InputError)
            drawn["commands"], drawn["follows heading"] = np.tile(told, (N_COMMANDS, 1)), False
        if "kind" in options:
            drawn["kind"] = self.kinds.index(choice(options["kind"], self.kinds, "options['kind']", InputError))
        if "level" in options:
            level = options["level"]
            known = level if level == 0 and type(level) is int else count(level, "options['level']")
            if known >= levels:
                raise InputError(f"options['level'] must be 0 to {levels - 1}, got {show(level)}")
            drawn["told level"] = known
        return drawn

    def next_levels(self, env: Indices, draws: Draws) -> Array:
        """Levels of the episodes that begin: those before, changed by how far the robots came."""
        now, (_, levels, _) = self.now[env], self.middles.shape
        way = np.hypot(now["x_position"] - now["begin"][:, 0], now["y_position"] - now["begin"][:, 1])
        asked = np.hypot(*self.commands[env, 0, :2].T) * EPISODE
        played = now["steps"] > 0
        up = played & (way > 0.5 * self.tile_length)
        down = played & ~up & (way < 0.5 * asked)
        level = np.maximum(now["level"] + up - down, 0)
        level = np.where(level >= levels, draws["any level"], level)
        level = np.where(now["seeded"], draws["first level"], level)
        if not self.curriculum:
            level = draws["any level"]
        return np.where(draws["told level"] >= 0, draws["told level"], level)

    def start(self, env: Indices, draws: Draws) -> None:
        level, noise = self.next_levels(env, draws), draws["noise"]
        now = self.now
        now["level"][env], now["kind"][env], now["seeded"][env], now["steps"][env] = level, draws["kind"], False, 0
        now["follows_heading"][env], self.commands[env] = draws["follows heading"], draws["commands"]
        x = np.zeros((len(env), 3))
        x[:, :2] = self.middles[draws["kind"], level] + noise[:, :2]
        x[:, 2] = [self.highest(*place) + HEIGHT for place in x[:, :2]]
        now["begin"][env] = x[:, :2]
        turn = np.zeros((len(env), 3))
        turn[:, 2] = np.pi * noise[:, 2]
        joints = np.clip(REST * (1.0 + 0.5 * noise[:, 3:15]), *self.limits)
        v, w = 0.5 * noise[:, 15:18], 0.5 * noise[:, 18:21]
        self.put(env, joints, np.zeros_like(joints), x, from_rotation_vector(turn), v, w, touch=False)
        self.gains[env] = np.stack([self.sim.parameter(name)[env] for name in GAINS], 1)

    def highest(self, x: float, y: float) -> float:
        """Height of the highest ground around a point, m."""
        rows, columns = self.heights.shape
        c, r = x / self.spacing + 0.5 * (columns - 1), y / self.spacing + 0.5 * (rows - 1)
        reach = AROUND / self.spacing
        return self.heights[int(r - reach) : int(r + reach) + 2, int(c - reach) : int(c + reach) + 2].max()

    # -------------------------------------------------------------------------------------------- steps
    def observation_names(self) -> list[str]:
        joints, axes = self.sim.axis_names, "xyz"
        points = [
            f"{(column - 8) / 10:g} m ahead, {(row - 5) / 10:g} m left" for column in range(17) for row in range(11)
        ]
        return [
            *(f"velocity along the trunk's {axis}" for axis in axes),
            *(f"angular velocity about the trunk's {axis}" for axis in axes),
            *(f"{axis} of the down direction in the trunk's frame" for axis in axes),
            *("commanded velocity along x", "commanded velocity along y", "commanded yaw rate"),
            *joints,
            *(f"velocity of {name}" for name in joints),
            *(f"last action of {name}" for name in joints),
            *(f"trunk above the ground less 0.5 m: {point}" for point in points),
        ]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        tables = physics_of_all(self.sim), self.sim.live("pushed"), self.settings, self.commands
        model = (self.heights, self.spacing), self.foot_points, self.neutral, self.soft_limits
        step = self.elapsed, self.action, self.aims, self.gains
        return motion.judge, (*tables, *model, *step, self.observation, self.now)


def kinds_of(names: Any) -> tuple[str, ...]:
    """Names of kinds of ground, checked."""
    if not isinstance(names, (tuple, list)) or not names:
        raise InputError(f"kinds must be a tuple of {', '.join(KINDS)}, got {show(names)}")
    return tuple(choice(name, tuple(KINDS), "kinds", InputError) for name in names)
