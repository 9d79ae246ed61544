"""Inertial measurement units."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine import coordinates
from vigym.engine.rotation import Array, conjugate, multiply, rotate
from vigym.engine.sensors.sensor import Sensor, mount
from vigym.engine.simulator import Simulator


class Imu(Sensor):
    """Accelerometer and gyroscope at a point of a body, in the sensor's frame.

    A reading is (num_envs, 6): the acceleration less gravity, m/s^2 (9.81 upwards at rest), which is the mean since the
    last reading, as that of a device that adds up; and the angular velocity, rad/s. Where readings begin, the
    acceleration is that of a body that keeps its velocity.

    body: name. point: (3,) in the body's frame, whose origin is the centre of mass, m. orientation: sensor frame to
    body frame, quaternion. Further arguments: see `Sensor`.
    """

    def __init__(
        self,
        sim: Simulator,
        body: str,
        point: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        **options: Any,
    ) -> None:
        self._body, self._point, self._turn = mount(sim, body, point, orientation)
        self._velocity = np.zeros((sim.num_envs, 3))
        super().__init__(sim, (6,), **options)

    def _measure(self, began: Array, passed: Array) -> Array:
        i, sim = self._body, self.sim
        x, q, v, w, h0 = (sim._get(name) for name in ("x", "q", "v", "w", "h0"))
        x0, q0 = coordinates.pose_before(x, q, v, w, h0)
        way = x[:, i] - x0[:, i] + rotate(q[:, i], self._point) - rotate(q0[:, i], self._point)
        velocity = way / h0[:, None]
        change = np.where(began[:, None], 0.0, velocity - self._velocity)
        proper = change / np.where(passed > 0.0, passed, 1.0)[:, None] - sim.model.mechanism.gravity
        self._velocity = velocity
        # velocities are means over steps, so that their change belongs to the pose between the steps
        into = conjugate(multiply(np.where(began[:, None], q[:, i], q0[:, i]), self._turn))
        return np.concatenate([rotate(into, proper), rotate(conjugate(self._turn), w[:, i])], -1)
