"""What the hopper's tasks share: actions, starts, where the foot is and how it moves."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from vigym.assets import hopper
from vigym.engine.compiled import compiled
from vigym.engine.rotation import from_rotation_vector
from vigym.engine.vectors import dot, rotation_matrix
from vigym.envs.robot import RobotTask
from vigym.envs.task import Array, Draws, Indices

HALF, RADIUS = hopper.POLE_LENGTH / 2, hopper.SPHERE_RADIUS  # m, from the middle of the pole to its foot; of the sphere
# N m, of the torque on the sphere; about the pole a fiftieth of the limit: so is the inertia about it of that about the
# foot, and more would be no help but make the hopper spin at random while it learns
TORQUE = hopper.TORQUE_LIMIT * np.array([1.0, 1.0, 0.02])
DEGREES = 180.0 / np.pi
CLEAR = 1e-6  # m; below it, the foot touches the ground: contacts are solved to 1e-10 m


@compiled
def look(x, q, v, w, gaps, slips, R, om, lean, tilt, foot, slip, touching, fallen):
    """Read off the state of all environments (n, body, ...) what the tasks need.

    gaps, slips: (n, 1) of the foot, as the simulator tells them, m and m/s. R: rotation matrix of the bodies, which
    share it; om: angular velocity, rad/s, world; lean: sin^2 of half the angle from upright; tilt: that angle, degrees;
    foot: its height, m; slip: its horizontal speed, m/s, if on the ground; touching: whether it is; fallen: sphere or
    upper end of the pole in the ground, which stops only the foot
    """
    for n in range(len(x)):
        w1, w2, w3 = w[n, 1]
        lean[n] = min(q[n, 1, 1] * q[n, 1, 1] + q[n, 1, 2] * q[n, 1, 2], 1.0)
        tilt[n] = DEGREES * 2.0 * np.arcsin(np.sqrt(lean[n]))
        r, rows = R[n], rotation_matrix(q[n, 1])
        for i in range(3):
            r[i, 0], r[i, 1], r[i, 2] = rows[i]
            om[n, i] = dot(rows[i], (w1, w2, w3))
        foot[n] = gaps[n, 0]
        touching[n] = foot[n] < CLEAR
        slip[n] = slips[n, 0] if touching[n] else 0.0
        fallen[n] = x[n, 0, 2] < RADIUS or x[n, 1, 2] + HALF * r[2, 2] < 0.0


class HopperTask(RobotTask):
    """A task of the hopper in space; actions are the force of the leg and the torque on the sphere, (num_envs, 4).

    friction: of the foot
    reset_noise_scale: range of the start, see `draw`
    options: those of every robot's task
    """

    memory: ClassVar[tuple[str, ...]] = ("torque", "R", "om", "lean", "tilt", "foot", "slip", "touching", "fallen")
    n_actions = 4
    camera: ClassVar[Mapping[str, Any]] = {"distance": 4.0, "azimuth": 135.0, "elevation": -10.0, "trackbodyid": 0}

    def __init__(
        self,
        *,
        friction: float,
        reset_noise_scale: float,
        **options: Any,
    ) -> None:
        self.reset_noise_scale = reset_noise_scale
        super().__init__(hopper.build(friction=friction), **options)
        num_envs = self.num_envs
        self.torque = np.zeros((num_envs, 2, 3))
        self.R, self.om = np.zeros((num_envs, 3, 3)), np.zeros((num_envs, 3))
        self.lean, self.tilt, self.foot, self.slip = (np.zeros(num_envs) for _ in range(4))
        self.touching, self.fallen = np.zeros(num_envs, bool), np.zeros(num_envs, bool)
        self.look()

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any]) -> dict[str, Any]:
        low, high = hopper.STROKE
        leg = low + min(self.reset_noise_scale, high - low) * rng.uniform(0, 1, 1)
        return {"leg": leg, "base": self.reset_noise_scale * rng.uniform(-1, 1, (3, 3))}

    def start(self, env: Indices, draws: Draws) -> None:
        turn, v, w = draws["base"].transpose(1, 0, 2)
        q = from_rotation_vector(turn)
        self.put(env, draws["leg"], np.zeros_like(draws["leg"]), np.zeros_like(v), q, v, w)
        self.state = self.sim.state
        self.look()

    def controls(self, action: Array) -> dict[str, Any]:
        self.torque[:, 0] = TORQUE * action[:, 1:]
        return {"effort": hopper.FORCE_LIMIT * action[:, :1], "torque": self.torque}

    def look(self) -> None:
        """Read the state, see `look`."""
        seen = self.R, self.om, self.lean, self.tilt, self.foot, self.slip, self.touching, self.fallen
        look(*self.state, self.sim.contact_gaps(), self.sim.contact_slips(), *seen)

    def info(self) -> dict[str, Array]:
        return super().info() | {"tilt": self.tilt.copy()}

    def contact_info(self) -> dict[str, Array]:
        return {"penetration": np.maximum(0.0, -self.foot), "slip": self.slip.copy()}
