"""VIHopper-v0: jump, turn once about a horizontal axis in the air, land upright and stay."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from vigym.assets import hopper
from vigym.engine.compiled import compiled
from vigym.envs.hopper_base import HopperTask
from vigym.envs.task import Array, Draws, Flags, Indices

COMPONENT = np.sqrt(0.5)
AXIS = np.array([COMPONENT, COMPONENT, 0.0])  # of the turn, world
FULL = 2.0 * np.pi
# A success: the turn within 20 degrees of a full one, upright within 10 degrees for 1 s
TURN_ERROR, TILT, STAND = np.radians(20.0), np.radians(10.0), 1.0
LEAN = np.sin(TILT / 2) ** 2
STANDING = hopper.POLE_LENGTH / 2 + hopper.STROKE[0]  # m, height of the sphere on the leg's lower stop
RISE = 0.6  # m above it: twice the stroke, enough to turn without haste
SPEED = 0.5  # m/s, of the sphere: at which standing still is worth half


@compiled
def follow(x, v, w, om, lean, touching, action, dt, weights, progress, rate, upright, stood, apex, terms):
    """Follow the jump over a control step of dt s, and judge it: terms (6, n) of the reward, with their `weights`.

    progress, rate, upright, stood, apex: see `Hopper`
    """
    for n in range(len(x)):
        left, rise, aloft, landed = progress[n, 0], progress[n, 1], progress[n, 2] > 0.0, progress[n, 3] > 0.0
        before, lower, last, wry = abs(left), rise, rate[n], upright[n]
        rate[n] = COMPONENT * (om[n, 0] + om[n, 1])
        if not landed:  # steps at the ends of a jump count by half
            left -= 0.5 * (aloft + (not touching[n])) * 0.5 * dt * (last + rate[n])
        if touching[n]:
            landed = landed or left < FULL / 2
            if not landed:
                left, rise = FULL, 0.0
        elif not landed:
            rise = max(rise, min(x[n, 0, 2] - STANDING, RISE))
        progress[n, 0], progress[n, 1], progress[n, 2], progress[n, 3] = left, rise, not touching[n], landed
        progress[n, 4] += dt
        upright[n] = 1.0 - lean[n] if left < FULL / 2 else 0.0
        apex[n] = max(apex[n], x[n, 0, 2])
        standing = landed and touching[n]
        stood[n] = stood[n] + 1 if standing and lean[n] <= LEAN and abs(left) <= TURN_ERROR else 0

        v1, v2, v3 = v[n, 0]
        w1, w2, w3 = w[n, 0]
        off = (left / TURN_ERROR) ** 2 + lean[n] * (2.0 / TILT) ** 2 + (v1 * v1 + v2 * v2 + v3 * v3) / SPEED**2
        effort = 0.0
        for k in range(4):
            effort += action[n, k] * action[n, k]
        terms[0, n] = weights[0] * (before - abs(left)) / FULL
        terms[1, n] = weights[1] * (rise - lower) / RISE
        terms[2, n] = weights[2] * (upright[n] - wry)
        terms[3, n] = weights[3] / (1.0 + off) if standing else 0.0
        terms[4, n] = -weights[4] * (w1 * w1 + w2 * w2 + w3 * w3) if touching[n] else 0.0
        terms[5, n] = -weights[5] * effort


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

    memory: ClassVar[tuple[str, ...]] = ("progress", "rate", "upright", "stood", "apex")
    fixed: ClassVar[tuple[str, ...]] = ("weights",)

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
        reset_noise_scale: float = 0.05,
        exclude_current_positions_from_observation: bool = True,
        observation: str = "base",
        randomization: Mapping[str, Any] | None = None,
        num_envs: int = 1,
        num_threads: int = 1,
    ) -> None:
        rewards = turn_reward_weight, jump_reward_weight, upright_reward_weight, stand_reward_weight
        self.weights = np.array([*rewards, spin_cost_weight, ctrl_cost_weight], float)
        self.terminate_when_unhealthy = terminate_when_unhealthy
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
        self.enough = round(STAND / self.dt)
        # what is left of the turn, rad; height of the jump, m; foot in the air; landed after half a turn; time, s
        self.progress = np.zeros((num_envs, 5))
        self.rate = np.zeros(num_envs)  # of the turn, rad/s
        self.upright = np.zeros(num_envs)  # cos^2 of half the tilt after half a turn
        self.stood = np.zeros(num_envs, np.int64)  # control steps of standing as a success asks for
        self.apex = np.zeros(num_envs)  # highest position of the sphere, m

    def start(self, env: Indices, draws: Draws) -> None:
        super().start(env, draws)
        self.progress[env] = FULL, 0.0, 0.0, 0.0, 0.0
        self.rate[env] = COMPONENT * (self.om[env, 0] + self.om[env, 1])
        self.upright[env], self.stood[env], self.apex[env] = 0.0, 0, self.state.x[env, 0, 2]

    def observation_names(self) -> list[str]:
        directions = ("upward direction", "axis of the turn")
        pose = [f"{name} along the {self.base}'s {axis}" for name in directions for axis in "xyz"]
        jump = ["what is left of the turn", "height of this jump", "whether the foot is in the air"]
        ends = ["whether it has landed after a turn", "time since the start"]
        return [*super().observation_names(), *pose, *jump, *ends]

    def observe(self) -> Array:
        R = self.R
        return np.concatenate([super().observe(), R[:, 2], COMPONENT * (R[:, 0] + R[:, 1]), self.progress], -1)

    def rewards(self) -> dict[str, Array]:
        self.look()
        terms, (x, _, v, w) = np.empty((6, self.num_envs)), self.state
        seen = x, v, w, self.om, self.lean, self.touching, self.action
        follow(*seen, self.dt, self.weights, self.progress, self.rate, self.upright, self.stood, self.apex, terms)
        names = ("turn", "jump", "upright", "stand", "spin", "ctrl")
        return {f"reward_{name}": term for name, term in zip(names, terms, strict=True)}

    def terminated(self) -> Flags:
        return self.fallen & self.terminate_when_unhealthy

    def info(self) -> dict[str, Array]:
        return super().info() | {
            "turn": np.degrees(FULL - self.progress[:, 0]),
            "apex": self.apex.copy(),
            "landed": self.progress[:, 3] > 0.0,
            "success": self.stood >= self.enough,
        }
