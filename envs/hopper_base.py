"""Common parts of the hopper's tasks: actions, starts, where the foot is and how it moves."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from vigym.assets import hopper
from vigym.engine.compiled import compiled, inlined
from vigym.engine.rotation import from_rotation_vector
from vigym.engine.vectors import dot, rotation_matrix
from vigym.envs.compiled_task import CompiledTask
from vigym.envs.robot import BASE_INFOS, RobotTask, sense_base
from vigym.envs.task import Array, Draws, Indices

HALF, RADIUS = hopper.POLE_LENGTH / 2, hopper.SPHERE_RADIUS  # m, from the middle of the pole to its foot; of the sphere
# N m, of the torque on the sphere; about the pole a fiftieth of the limit: so is the inertia about it of that about the
# foot, and more would be no help but make the hopper spin at random while it learns
TORQUE = hopper.TORQUE_LIMIT * np.array([1.0, 1.0, 0.02])
FORCE = hopper.FORCE_LIMIT  # N, of the leg
DEGREES = 180.0 / np.pi
CLEAR = 1e-6  # m; below it, the foot touches the ground: contacts are solved to 1e-10 m


@compiled
def drive(actions, efforts, torques):
    """Force of the leg (n, 1), N, and torques on the bodies (n, 2, 3), N m, for actions (n, 4)."""
    for n in range(len(actions)):
        efforts[n, 0] = FORCE * actions[n, 0]
        for k in range(3):
            torques[n, 0, k] = TORQUE[k] * actions[n, 1 + k]


@inlined
def sense_hopper(me, physics):
    """Read off the state what both tasks need; see `HopperTask.senses`."""
    x, q, w = physics.x, physics.q, physics.w
    sense_base(me, x[0], physics.v[0])
    me.lean = min(q[1, 1] * q[1, 1] + q[1, 2] * q[1, 2], 1.0)
    me.tilt = DEGREES * 2.0 * np.arcsin(np.sqrt(me.lean))
    rows = rotation_matrix(q[1])
    for i in range(3):
        me.R[i, 0], me.R[i, 1], me.R[i, 2] = rows[i]
        me.om[i] = dot(rows[i], w[1])
    me.foot = physics.gaps[0]
    me.touching = me.foot < CLEAR
    me.slip = physics.slips[0] if me.touching else 0.0
    me.penetration = max(0.0, -me.foot)
    me.fallen = x[0, 2] < RADIUS or x[1, 2] + HALF * me.R[2, 2] < 0.0


class HopperTask(CompiledTask, RobotTask):
    """A task of the hopper in space; actions are the force of the leg and the torque on the sphere, (num_envs, 4).

    friction: of the foot
    reset_noise_scale: range of the start, see `draw`
    options: those of every robot's task

    What it senses: tilt, angle from upright, degrees; penetration and slip of the foot, m and m/s; lean, sin^2 of half
    the tilt; R, rotation matrix of the bodies, which share it; om, angular velocity, rad/s, world; foot, its height, m;
    whether the foot is touching the ground; whether it has fallen, sphere or upper end of the pole in the ground, which
    stops only the foot
    """

    infos: ClassVar[Mapping[str, Any]] = {**BASE_INFOS, "tilt": float}
    outcomes: ClassVar[Mapping[str, Any]] = {"penetration": float, "slip": float}
    senses: ClassVar[Mapping[str, Any]] = {
        "R": (float, (3, 3)),
        "om": (float, 3),
        **{"lean": float, "foot": float, "touching": bool, "fallen": bool},
    }
    memory: ClassVar[tuple[str, ...]] = ("effort", "torque")
    n_actions = 4
    camera: ClassVar[Mapping[str, Any]] = {"distance": 4.0, "azimuth": 135.0, "elevation": -10.0, "trackbodyid": 0}

    def __init__(self, *, friction: float, reset_noise_scale: float, **options: Any) -> None:
        self.reset_noise_scale = reset_noise_scale
        super().__init__(hopper.build(friction=friction), **options)
        self.effort, self.torque = np.zeros((self.num_envs, 1)), np.zeros((self.num_envs, 2, 3))

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        low, high = hopper.STROKE
        leg = low + min(self.reset_noise_scale, high - low) * rng.uniform(0, 1, 1)
        return {"leg": leg, "base": self.reset_noise_scale * rng.uniform(-1, 1, (3, 3))}

    def start(self, env: Indices, draws: Draws) -> None:
        turn, v, w = draws["base"].transpose(1, 0, 2)
        q = from_rotation_vector(turn)
        self.put(env, draws["leg"], np.zeros_like(draws["leg"]), np.zeros_like(v), q, v, w)

    def controls(self, action: Array) -> dict[str, Any]:
        drive(action, self.effort, self.torque)
        return {"effort": self.effort, "torque": self.torque}
