"""VIHopper-v0: jump, turn once about a horizontal axis in the air, land upright and stay."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from vigym.assets import hopper
from vigym.engine.compiled import compiled, inlined
from vigym.envs.arguments import NotNegative
from vigym.envs.compiled_task import numbers, physics_of, physics_of_all, sense_solver, sum_of_squares, write
from vigym.envs.hopper_base import DEGREES, HopperTask, sense_hopper
from vigym.envs.robot import observe_base

COMPONENT = np.sqrt(0.5)
AXIS = np.array([COMPONENT, COMPONENT, 0.0])  # of the turn, world
FULL = 2.0 * np.pi
# A success: the turn within 20 degrees of a full one, upright within 10 degrees for 1 s
TURN_ERROR, TILT, STAND = np.radians(20.0), np.radians(10.0), 1.0
LEAN = np.sin(TILT / 2) ** 2
STANDING = hopper.POLE_LENGTH / 2 + hopper.STROKE[0]  # m, height of the sphere on the leg's lower stop
RISE = 0.6  # m above it: twice the stroke, enough to turn without haste
SPEED = 0.5  # m/s, of the sphere: at which standing still is worth half


@inlined
def turn_rate(me):
    """Angular velocity about the axis of the turn, rad/s."""
    return COMPONENT * (me.om[0] + me.om[1])


@inlined
def begin(me, physics):
    """Begin an episode: a full turn is left."""
    me.left, me.rise, me.aloft, me.landed, me.time = FULL, 0.0, False, False, 0.0
    me.left_before, me.rise_before = me.left, me.rise
    me.rate = turn_rate(me)
    me.upright, me.upright_before = 0.0, 0.0
    me.stood, me.apex = 0, physics.x[0, 2]


@inlined
def follow(me, physics, dt):
    """Follow the jump over a control step of dt s."""
    left, rise, landed, height = me.left, me.rise, me.landed, physics.x[0, 2]
    me.left_before, me.rise_before, me.upright_before = left, rise, me.upright
    last, me.rate = me.rate, turn_rate(me)
    if not landed:  # steps at the ends of a jump count by half
        aloft = 0.5 * me.aloft + (0.0 if me.touching else 0.5)
        left -= aloft * 0.5 * dt * (last + me.rate)
    if me.touching:
        landed = landed or left < FULL / 2
        if not landed:
            left, rise = FULL, 0.0
    elif not landed:
        rise = max(rise, min(height - STANDING, RISE))
    me.left, me.rise, me.aloft, me.landed = left, rise, not me.touching, landed
    me.time += dt
    me.upright = 1.0 - me.lean if left < FULL / 2 else 0.0
    me.apex = max(me.apex, height)
    stands = landed and me.touching and me.lean <= LEAN and abs(left) <= TURN_ERROR
    me.stood = me.stood + 1 if stands else 0


@inlined
def observe(out, me, physics, settings):
    """Write the observation."""
    k = observe_base(out, physics, settings)
    k = write(out, k, me.R[2])
    for i in range(3):
        out[k + i] = COMPONENT * (me.R[0, i] + me.R[1, i])
    k = write(out, k + 3, (me.left, me.rise))
    write(out, k, (1.0 * me.aloft, 1.0 * me.landed, me.time))


@inlined
def reward_turn(me, settings):
    return settings.turn_reward_weight * (abs(me.left_before) - abs(me.left)) / FULL


@inlined
def reward_jump(me, settings):
    return settings.jump_reward_weight * (me.rise - me.rise_before) / RISE


@inlined
def reward_upright(me, settings):
    return settings.upright_reward_weight * (me.upright - me.upright_before)


@inlined
def reward_stand(me, v, settings):
    off = (me.left / TURN_ERROR) ** 2 + me.lean * (2.0 / TILT) ** 2 + sum_of_squares(v) / SPEED**2
    return settings.stand_reward_weight / (1.0 + off) if me.landed and me.touching else 0.0


@inlined
def reward_spin(me, w, settings):
    return -settings.spin_cost_weight * sum_of_squares(w) if me.touching else 0.0


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
        sense_hopper(me, physics)
        if elapsed[n] == 0:
            begin(me, physics)
        else:
            follow(me, physics, given.dt)
        me.turn = DEGREES * (FULL - me.left)
        me.success = me.stood >= given.enough
        observe(observations[n], me, physics, given)
        me.reward_turn = reward_turn(me, given)
        me.reward_jump = reward_jump(me, given)
        me.reward_upright = reward_upright(me, given)
        me.reward_stand = reward_stand(me, physics.v[0], given)
        me.reward_spin = reward_spin(me, physics.w[0], given)
        me.reward_ctrl = reward_ctrl(actions[n], given)
        me.reward = (
            me.reward_turn + me.reward_jump + me.reward_upright + me.reward_stand + me.reward_spin + me.reward_ctrl
        )
        me.terminated = me.solver_failed or (given.terminate_when_unhealthy and me.fallen)


class Hopper(HopperTask):
    """
    ## Description
    The hopper in space of the paper: a sphere that slides along a pole, pushed by a force along it, and turned by
    torques about three axes. It starts on its foot, has to jump, turn once about the horizontal axis [1 1 0] while in
    the air, land upright on its foot and stay there. Only the foot is stopped by the ground.

    ## Action Space
    `Box(-1, 1, (4,), float32)`

    | Num | Action | Control | Min | Max | Unit |
    |---|---|---|---|---|---|
    | 0 | force of the leg, pushing the pole down | 60 N times the action | -1 | 1 | force (N) |
    | 1 | torque on the sphere about its x | 5 N m times the action | -1 | 1 | torque (N m) |
    | 2 | torque on the sphere about its y | 5 N m times the action | -1 | 1 | torque (N m) |
    | 3 | torque on the sphere about its z | 0.1 N m times the action | -1 | 1 | torque (N m) |

    ## Observation Space
    `Box(-3.4e38, 3.4e38, (24,), float64)`; with `observation="maximal"` the state of every body instead of the first
    13. With `exclude_current_positions_from_observation=False`, x and y of the sphere come first.

    | Num | Observation | Unit |
    |---|---|---|
    | 0 | z of the sphere | position (m) |
    | 1 | w of the sphere's quaternion | - |
    | 2 | x of the sphere's quaternion | - |
    | 3 | y of the sphere's quaternion | - |
    | 4 | z of the sphere's quaternion | - |
    | 5 | leg | position (m) |
    | 6 | velocity along x of the sphere | velocity (m/s) |
    | 7 | velocity along y of the sphere | velocity (m/s) |
    | 8 | velocity along z of the sphere | velocity (m/s) |
    | 9 | angular velocity about the sphere's x | angular velocity (rad/s) |
    | 10 | angular velocity about the sphere's y | angular velocity (rad/s) |
    | 11 | angular velocity about the sphere's z | angular velocity (rad/s) |
    | 12 | velocity of leg | velocity (m/s) |
    | 13 | upward direction along the sphere's x | - |
    | 14 | upward direction along the sphere's y | - |
    | 15 | upward direction along the sphere's z | - |
    | 16 | axis of the turn along the sphere's x | - |
    | 17 | axis of the turn along the sphere's y | - |
    | 18 | axis of the turn along the sphere's z | - |
    | 19 | what is left of the turn | angle (rad) |
    | 20 | height of this jump | position (m) |
    | 21 | whether the foot is in the air | 0 or 1 |
    | 22 | whether it has landed after a turn | 0 or 1 |
    | 23 | time since the start | time (s) |

    ## Rewards
    The turn is the integral of the angular velocity about the axis since the foot last left the ground; it counts in
    the air only (half of the steps at either end of a jump). When the foot comes down after less than half a turn, the
    turn is lost; after more than that, the hopper has landed, and the turn remains as it is. So it is with the height
    of a jump, the rise of the sphere above where it is in standing, up to 0.6 m: without it, the fastest way to stand
    again would be a whirl just above the ground. With progress = 1 - |1 - turn / 360 degrees|, and with uprightness =
    cos^2(tilt / 2) after half a turn, 0 before, reward = reward_turn + reward_jump + reward_upright + reward_stand +
    reward_spin + reward_ctrl:
    - reward_turn = `turn_reward_weight` times the change of progress: a full turn is worth the weight, all else less
    - reward_jump = `jump_reward_weight` times the change of the height of the jump / 0.6 m
    - reward_upright = `upright_reward_weight` times the change of uprightness
    - reward_stand = `stand_reward_weight` / (1 + (turn error / 20 degrees)^2 + (tilt / 10 degrees)^2 +
      (speed of the sphere / 0.5 m/s)^2) while the foot is on the ground after landing, else 0
    - reward_spin = -`spin_cost_weight` times the squared angular velocity (rad/s) while the foot is on the ground
    - reward_ctrl = -`ctrl_cost_weight` times the sum of the squared actions

    `info["success"]` is True while the hopper has been standing for at least 1 s: foot on the ground, upright within 10
    degrees, after a turn of 360 +- 20 degrees.

    ## Starting State
    Upright on the foot, on the leg's lower stop, at rest, with uniform noise within +-`reset_noise_scale` on
    orientation (rotation vector, rad), velocity (m/s) and angular velocity (rad/s), and within 0 to
    `reset_noise_scale` on the leg (m).

    ## Episode End
    Terminated when the sphere or the upper end of the pole is in the ground, if `terminate_when_unhealthy`, or when a
    step of the physics cannot be solved (`info["solver_failed"]`). Truncated after 200 steps of 0.02 s.

    ## Arguments
    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frame_skip` | int | `4` | steps of the simulator in a control step |
    | `dt` | float | `0.005` | step of the simulator, s |
    | `friction` | float | `0.2` | of the foot |
    | `turn_reward_weight` | float | `20.0` | reward of a full turn |
    | `jump_reward_weight` | float | `60.0` | reward of a jump by 0.6 m |
    | `upright_reward_weight` | float | `40.0` | reward of becoming upright again |
    | `stand_reward_weight` | float | `1.0` | reward of a step of perfect standing |
    | `spin_cost_weight` | float | `0.001` | cost of turning on the ground |
    | `ctrl_cost_weight` | float | `0.01` | cost of actions |
    | `terminate_when_unhealthy` | bool | `True` | whether a fall ends the episode |
    | `reset_noise_scale` | float | `0.05` | range of the start |
    | `exclude_current_positions_from_observation` | bool | `True` | leave x and y of the sphere out |
    | `observation` | str | `"base"` | `"base"`, or `"maximal"` for the state of every body |
    | `randomization` | dict or None | `None` | what differs between episodes, see `Randomization` |
    | `num_threads` | int | `1` | threads that share the environments of a batch |

    ## Version History
    * v0: first version, with Coulomb's circular friction cone
    """

    infos: ClassVar[Mapping[str, Any]] = {"turn": float, "apex": float, "landed": bool, "success": bool}
    terms: ClassVar[tuple[str, ...]] = ("turn", "jump", "upright", "stand", "spin", "ctrl")
    # what is left of the turn, rad; height of the jump, m; foot in the air; time, s; rate of the turn, rad/s; cos^2 of
    # half the tilt after half a turn; control steps of standing as a success asks for; some as they were a step before
    senses: ClassVar[Mapping[str, Any]] = {
        **{"left": float, "rise": float, "aloft": bool, "time": float, "rate": float, "upright": float},
        **{"stood": np.int64, "left_before": float, "rise_before": float, "upright_before": float},
    }

    def __init__(
        self,
        *,
        frame_skip: int = 4,
        dt: float = 0.005,
        friction: float = 0.2,
        turn_reward_weight: float = 20.0,
        jump_reward_weight: float = 60.0,
        upright_reward_weight: float = 40.0,
        stand_reward_weight: float = 1.0,
        spin_cost_weight: float = 0.001,
        ctrl_cost_weight: float = 0.01,
        terminate_when_unhealthy: bool = True,
        reset_noise_scale: NotNegative = 0.05,
        exclude_current_positions_from_observation: bool = True,
        observation: Literal["base", "maximal"] = "base",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        super().__init__(
            friction=friction,
            reset_noise_scale=reset_noise_scale,
            observation=observation,
            exclude_current_positions_from_observation=exclude_current_positions_from_observation,
            num_envs=num_envs,
            num_threads=num_threads,
            dt=dt,
            frame_skip=frame_skip,
            randomization=randomization,
        )
        self.settings = numbers(
            turn_reward_weight=turn_reward_weight,
            jump_reward_weight=jump_reward_weight,
            upright_reward_weight=upright_reward_weight,
            stand_reward_weight=stand_reward_weight,
            spin_cost_weight=spin_cost_weight,
            ctrl_cost_weight=ctrl_cost_weight,
            terminate_when_unhealthy=terminate_when_unhealthy,
            observes_maximal=self.observes_maximal,
            skipped=self.skipped,
            dt=self.dt,
            enough=round(STAND / self.dt),
        )

    def observation_names(self) -> list[str]:
        directions = ("upward direction", "axis of the turn")
        pose = [f"{name} along the {self.base}'s {axis}" for name in directions for axis in "xyz"]
        jump = ["what is left of the turn", "height of this jump", "whether the foot is in the air"]
        ends = ["whether it has landed after a turn", "time since the start"]
        return [*super().observation_names(), *pose, *jump, *ends]

    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        own = self.settings, self.elapsed, self.action, self.observation, self.now
        return judge, (physics_of_all(self.sim), *own)
