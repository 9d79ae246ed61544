"""VISnake-v0: a snake of many links travels forward."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets import snake
from vigym.engine.compiled import compiled, inlined
from vigym.envs.arguments import Limit, NotNegative, Positive
from vigym.envs.compiled_task import (
    CompiledTask,
    numbers,
    physics_of,
    physics_of_all,
    sense_solver,
    sum_of_squares,
    write,
)
from vigym.envs.robot import BASE_INFOS, RobotTask, observe_base, sense_base
from vigym.envs.task import Array, Draws, Indices

CLEAR = 1e-6  # m; below it, an end of a link touches the ground: contacts are solved to 1e-10 m
ROWS, COLUMNS = 10, 5  # of pegs
ALOFT = 1e-3  # m: with all ends higher than this, the snake is in the air


@inlined
def sense(me, physics):
    """Read off the state what the task needs; see `Snake.senses`."""
    x, q, v, links = physics.x, physics.q, physics.v, len(physics.x)
    for k in range(3):
        me.centre[k], me.velocity[k] = 0.0, 0.0
        for b in range(links):
            me.centre[k] += x[b, k] / links
            me.velocity[k] += v[b, k] / links
    me.upright, me.slip, me.lowest = 1.0, 0.0, physics.gaps[0]
    for b in range(links):
        me.upright -= 2.0 * (q[b, 1] * q[b, 1] + q[b, 2] * q[b, 2]) / links
    for c in range(len(physics.gaps)):
        me.lowest = min(me.lowest, physics.gaps[c])
        if physics.gaps[c] < CLEAR:
            me.slip = max(me.slip, physics.slips[c])
    me.penetration = max(0.0, -me.lowest)
    sense_base(me, me.centre, me.velocity)


@inlined
def follow(me, begins):
    """Follow the centre over a control step."""
    for k in range(3):
        if begins:
            me.begin[k] = me.last[k] = me.centre[k]
        me.moved[k] = me.centre[k] - me.last[k]
        me.last[k] = me.centre[k]
    me.distance = me.centre[0] - me.begin[0]


@inlined
def observe(out, me, physics, elapsed, settings):
    """Write the observation."""
    k = observe_base(out, physics, settings)
    clock = settings.clock_rate * elapsed
    write(out, k, (me.velocity[0], me.velocity[1], np.cos(clock), np.sin(clock)))


@inlined
def reward_forward(me, settings):
    return settings.forward_reward_weight * me.moved[0]


@inlined
def reward_drift(me, settings):
    return -settings.drift_cost_weight * abs(me.moved[1])


@inlined
def reward_roll(me, settings):
    return -settings.roll_cost_weight * (1.0 - me.upright)


@inlined
def reward_jump(me, settings):
    return -settings.jump_cost_weight if me.lowest > ALOFT else 0.0


@inlined
def reward_ctrl(action, settings):
    return -settings.ctrl_cost_weight * sum_of_squares(action)


@compiled
def judge(every, settings, elapsed, actions, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`."""
    given = settings[0]
    for n in env:
        physics, me = physics_of(every, n), now[n]
        sense_solver(me, physics)
        sense(me, physics)
        follow(me, elapsed[n] == 0)
        observe(observations[n], me, physics, elapsed[n], given)
        me.reward_forward = reward_forward(me, given)
        me.reward_drift = reward_drift(me, given)
        me.reward_roll = reward_roll(me, given)
        me.reward_jump = reward_jump(me, given)
        me.reward_ctrl = reward_ctrl(actions[n], given)
        me.reward = me.reward_forward + me.reward_drift + me.reward_roll + me.reward_jump + me.reward_ctrl
        me.terminated = me.solver_failed


def lattice(first: float, spacing: float) -> list[tuple[float, float]]:
    """Places of pegs, (x, y) m, in ROWS rows along y, the first of them at x = `first`."""
    middle = 0.5 * (COLUMNS - 1)
    places = [(row, column - middle + 0.5 * (row % 2)) for row in range(ROWS) for column in range(COLUMNS)]
    return [(first + spacing * row, spacing * column) for row, column in places]


class Snake(CompiledTask, RobotTask):
    """
    ## Description
    A snake of `num_links` links lies on the ground along x; the last link is its head. It has to travel along x. Its
    joints are hinges, in turn about y (odd joints, lifting) and z (even joints, bending), or ball joints. Friction is
    the same in all directions: winding alone hardly moves it, it has to lift parts of its body. It touches the ground
    with spheres around the links' ends; links pass through one another, unless `self_collision` is asked for. With
    `pegs`, upright pegs stand ahead of it in ten rows of five, each row half a gap aside of the one before, for it to
    push against. With the defaults, it is 1.2 m long and weighs
    3.2 kg (the paper's links are 1 m, 1 kg: `link_length=1.0, link_mass=1.0, link_radius=0.05, friction=0.2`, and
    `effort_limit`, `kp` and `kd` to match).

    ## Action Space
    `Box(-1, 1, (7,), float32)`: one for every axis of every joint, num_links - 1 with hinges, three times as many with
    ball joints.

    With `actuation="pd"`: targets of PD drives. With `actuation="torque"`: torques, `effort_limit` times the action.

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | target of joint 1 | `action_scale` times the action | -1 | 1 | angle (rad) |
    | 1 | target of joint 2 | `action_scale` times the action | -1 | 1 | angle (rad) |
    | 2 | target of joint 3 | `action_scale` times the action | -1 | 1 | angle (rad) |
    | 3 | target of joint 4 | `action_scale` times the action | -1 | 1 | angle (rad) |
    | 4 | target of joint 5 | `action_scale` times the action | -1 | 1 | angle (rad) |
    | 5 | target of joint 6 | `action_scale` times the action | -1 | 1 | angle (rad) |
    | 6 | target of joint 7 | `action_scale` times the action | -1 | 1 | angle (rad) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (29,), float64)`; x and y of link 0 come first with
    `exclude_current_positions_from_observation=False`. With `observation="maximal"` the state of every body stands in
    place of elements 0 to 24.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | z of the link 0 | position (m) |
    | 1 | w of the link 0's quaternion | - |
    | 2 | x of the link 0's quaternion | - |
    | 3 | y of the link 0's quaternion | - |
    | 4 | z of the link 0's quaternion | - |
    | 5 | joint 1 | angle (rad) |
    | 6 | joint 2 | angle (rad) |
    | 7 | joint 3 | angle (rad) |
    | 8 | joint 4 | angle (rad) |
    | 9 | joint 5 | angle (rad) |
    | 10 | joint 6 | angle (rad) |
    | 11 | joint 7 | angle (rad) |
    | 12 | velocity along x of the link 0 | velocity (m/s) |
    | 13 | velocity along y of the link 0 | velocity (m/s) |
    | 14 | velocity along z of the link 0 | velocity (m/s) |
    | 15 | angular velocity about the link 0's x | angular velocity (rad/s) |
    | 16 | angular velocity about the link 0's y | angular velocity (rad/s) |
    | 17 | angular velocity about the link 0's z | angular velocity (rad/s) |
    | 18 | velocity of joint 1 | angular velocity (rad/s) |
    | 19 | velocity of joint 2 | angular velocity (rad/s) |
    | 20 | velocity of joint 3 | angular velocity (rad/s) |
    | 21 | velocity of joint 4 | angular velocity (rad/s) |
    | 22 | velocity of joint 5 | angular velocity (rad/s) |
    | 23 | velocity of joint 6 | angular velocity (rad/s) |
    | 24 | velocity of joint 7 | angular velocity (rad/s) |
    | 25 | mean velocity of the links along x | velocity (m/s) |
    | 26 | mean velocity of the links along y | velocity (m/s) |
    | 27 | cosine of the clock | - |
    | 28 | sine of the clock | - |

    ## Rewards
    Sum of, with the centre (the mean of the links' positions) and weights that are arguments:
    - reward_forward = `forward_reward_weight` times the distance that the centre moved along x, over the control step
    - reward_drift = -`drift_cost_weight` times the magnitude of the same along y
    - reward_roll = -`roll_cost_weight` (1 - the mean cosine of the angles between the links' z axes and the world's):
      it is to stay on its belly, not to roll
    - reward_jump = -`jump_cost_weight` if all of the snake is more than 1 mm above the ground, else 0
    - reward_ctrl = -`ctrl_cost_weight` times the sum of the squared actions

    ## Starting State
    Straight along x with its head in front; joint angles (rad) and velocities (rad/s) and yaw (rad) within
    +-`reset_noise_scale`, uniform; lowest end on the ground.

    ## Episode End
    Never terminated, unless a step of the physics cannot be solved (`info["solver_failed"]`). Truncated after 400 steps
    of 0.05 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `num_links` | int | `8` | 2 to 1000 |
    | `joints` | str | `"hinge"` | `"hinge"`, or `"ball"` |
    | `link_length` | float | `0.15` | m |
    | `link_mass` | float | `0.4` | kg |
    | `link_radius` | float | `0.035` | m |
    | `friction` | float | `0.8` | of the skin, and of pegs |
    | `self_collision` | bool | `False` | links touch each other that no joint connects |
    | `pegs` | bool | `False` | pegs stand ahead of the snake |
    | `peg_spacing` | float | `0.3` | between pegs of a row, and between rows, m |
    | `effort_limit` | float | `6.0` | of each axis, N m |
    | `kp` | float | `30.0` | of the drives, N m/rad |
    | `kd` | float | `1.0` | of the drives, N m s/rad |
    | `frame_skip` | int | `5` | steps of the simulator in a control step |
    | `dt` | float | `0.01` | step of the simulator, s |
    | `actuation` | str | `"pd"` | `"pd"`, or `"torque"` |
    | `action_scale` | float | `1.2` | a drive's target for an action of 1, rad |
    | `gait_period` | float | `1.7` | of the clock, s |
    | `forward_reward_weight` | float | `10.0` | see Rewards |
    | `drift_cost_weight` | float | `1.0` | see Rewards |
    | `roll_cost_weight` | float | `0.2` | see Rewards |
    | `jump_cost_weight` | float | `1.0` | see Rewards |
    | `ctrl_cost_weight` | float | `0.01` | see Rewards |
    | `reset_noise_scale` | float | `0.05` | range of the start |
    | `exclude_current_positions_from_observation` | bool | `True` | leave out x and y of link 0 |
    | `observation` | str | `"base"` | `"base"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version, with Coulomb's circular friction cone: a pyramid's friction depends on the heading, which the
      first gait of the snake made use of
    """

    infos: ClassVar[Mapping[str, Any]] = {**BASE_INFOS, "distance": float}  # of the centre
    outcomes: ClassVar[Mapping[str, Any]] = {"penetration": float, "slip": float}
    terms: ClassVar[tuple[str, ...]] = ("forward", "drift", "roll", "jump", "ctrl")
    # mean of the links' positions and velocities, m and m/s; mean cosine of the angles between the z axes of links and
    # world; gap of the lowest contact, m; centre at the start and a control step ago, and its way since then, m
    senses: ClassVar[Mapping[str, Any]] = {
        **{"centre": (float, 3), "velocity": (float, 3), "upright": float, "lowest": float},
        **{"begin": (float, 3), "last": (float, 3), "moved": (float, 3)},
    }
    camera: ClassVar[Mapping[str, Any]] = {"distance": 2.5, "azimuth": 120.0, "elevation": -25.0, "trackbodyid": 0}

    def __init__(
        self,
        *,
        num_links: int = 8,
        joints: Literal["hinge", "ball"] = "hinge",
        link_length: float = 0.15,
        link_mass: float = 0.4,
        link_radius: float = 0.035,
        friction: float = 0.8,
        self_collision: bool = False,
        pegs: bool = False,
        peg_spacing: Positive = 0.3,
        effort_limit: Limit = 6.0,
        kp: float = 30.0,
        kd: float = 1.0,
        frame_skip: int = 5,
        dt: float = 0.01,
        actuation: Literal["pd", "torque"] = "pd",
        action_scale: float = 1.2,
        gait_period: Positive = 1.7,
        forward_reward_weight: float = 10.0,
        drift_cost_weight: float = 1.0,
        roll_cost_weight: float = 0.2,
        jump_cost_weight: float = 1.0,
        ctrl_cost_weight: float = 0.01,
        reset_noise_scale: NotNegative = 0.05,
        exclude_current_positions_from_observation: bool = True,
        observation: Literal["base", "maximal"] = "base",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        self.has_drives, self.reset_noise_scale = actuation == "pd", reset_noise_scale
        self.scale = action_scale if self.has_drives else effort_limit
        self.n_actions = (num_links - 1) * (1 if joints == "hinge" else 3)
        super().__init__(
            snake.build(
                links=num_links,
                joints=joints,
                length=link_length,
                mass=link_mass,
                radius=link_radius,
                contact_radius=link_radius,
                friction=friction,
                effort_limit=effort_limit,
                kp=kp if self.has_drives else 0.0,
                kd=kd if self.has_drives else 0.0,
                self_collision=self_collision,
                pegs=lattice(num_links * link_length, peg_spacing) if pegs else (),
            ),
            observation=observation,
            exclude_current_positions_from_observation=exclude_current_positions_from_observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )
        self.settings = numbers(
            forward_reward_weight=forward_reward_weight,
            drift_cost_weight=drift_cost_weight,
            roll_cost_weight=roll_cost_weight,
            jump_cost_weight=jump_cost_weight,
            ctrl_cost_weight=ctrl_cost_weight,
            clock_rate=2 * np.pi * self.dt / gait_period,
            observes_maximal=self.observes_maximal,
            skipped=self.skipped,
        )

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"noise": self.reset_noise_scale * rng.uniform(-1, 1, 2 * self.n_actions + 1)}

    def start(self, env: Indices, draws: Draws) -> None:
        joints, rates, yaw = np.split(draws["noise"], [self.n_actions, 2 * self.n_actions], axis=-1)
        x, q = (np.repeat(part[:1, 0], len(env), axis=0) for part in self.rest_state[:2])
        self.put(env, joints, rates, x, self.turned(q, yaw * np.array([0.0, 0.0, 1.0])))

    def controls(self, action: Array) -> dict[str, Any]:
        return {"target" if self.has_drives else "effort": self.scale * action}

    def observation_names(self) -> list[str]:
        centre = [f"mean velocity of the links along {axis}" for axis in "xy"]
        return [*super().observation_names(), *centre, "cosine of the clock", "sine of the clock"]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        own = self.settings, self.elapsed, self.action, self.observation, self.now
        return judge, (physics_of_all(self.sim), *own)
