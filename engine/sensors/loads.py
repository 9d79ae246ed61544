"""Sensors of forces: at contacts, and in joints."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine import coordinates
from vigym.engine.errors import InputError
from vigym.engine.rotation import Array, conjugate, cross, multiply, rotate
from vigym.engine.sensors.sensor import Sensor, numbers_of
from vigym.engine.simulator import Simulator
from vigym.engine.validation import number, unit_quaternion, vector


class ContactSensor(Sensor):
    """Forces of contact on bodies or feet, N, world: (num_envs, k, 3), means of the last step.

    bodies: names of bodies, of which each has the sum of all its contacts, with the ground and with others; or
    contacts: names of contacts (`add_contact`). threshold: N from which `touches` says that something touches.
    Further arguments: see `Sensor`.
    """

    def __init__(
        self,
        sim: Simulator,
        bodies: ArrayLike | None = None,
        *,
        contacts: ArrayLike | None = None,
        threshold: float = 1e-3,
        **options: Any,
    ) -> None:
        if (bodies is None) == (contacts is None):
            raise InputError("ContactSensor takes bodies, or contacts")
        self._is_net = contacts is None
        if contacts is None:
            self._numbers = numbers_of(bodies, sim.body_names, "bodies")
        else:
            self._numbers = numbers_of(contacts, sim.contact_names, "contacts")
        self.threshold = number(threshold, "threshold", InputError, at_least=0.0)
        super().__init__(sim, (len(self._numbers), 3), **options)

    def touches(self) -> Array:
        """Flags (num_envs, k), true where the reading is at least the threshold."""
        force = self()
        flags: Array = np.sqrt((force * force).sum(-1)) >= self.threshold
        return flags

    def _measure(self, began: Array, passed: Array) -> Array:
        sim = self.sim
        forces = sim.net_contact_forces() if self._is_net else sim.contact_forces()
        return forces[:, self._numbers]


class ForceTorque(Sensor):
    """Wrench that a joint transmits to its child: (num_envs, 6), force, N, and torque, N m, in the sensor's frame.

    It is all that holds the child and what hangs on it, mean of the last step: constraint forces, drives, springs,
    dampers, dry friction, limits, and what it takes to turn the rotor.

    joint: name. point: (3,) about which torques are, in the child's frame, m; the joint's anchor if left out.
    orientation: sensor frame to the child's frame, quaternion. Further arguments: see `Sensor`.
    """

    def __init__(
        self,
        sim: Simulator,
        joint: str,
        point: ArrayLike | None = None,
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        **options: Any,
    ) -> None:
        model = sim.model
        of_tree = {joint.name: i for i, joint in enumerate(model.tree.joints) if joint is not None}
        numbers_of(joint, list(of_tree), "joint")
        self._child = of_tree[joint]
        anchor = model.tree.joints[self._child].child_anchor  # type: ignore[union-attr]
        place = anchor if point is None else vector(point, (3,), "point", InputError)
        self._off = anchor - place
        self._turn = unit_quaternion(orientation, "orientation", InputError)
        super().__init__(sim, (6,), **options)

    def _measure(self, began: Array, passed: Array) -> Array:
        sim, i = self.sim, self._child
        x, q, v, w, h0, fresh = (sim._get(name) for name in ("x", "q", "v", "w", "h0", "fresh"))
        turn = coordinates.pose_before(x, q, v, w, h0)[1][:, i]
        wrench = np.where(fresh[:, None] > 0.0, 0.0, sim._get("wrench")[:, i])
        force, torque = wrench[:, :3], wrench[:, 3:]
        torque = torque + cross(rotate(turn, self._off), force)
        into = conjugate(multiply(turn, self._turn))
        return np.concatenate([rotate(into, force), rotate(into, torque)], -1)
