"""Read-outs of a simulator: what its state, and the step that led to it, tell of joints, contacts and energies."""

from typing import Any

from numpy.typing import ArrayLike

from vigym.engine import collisions, coordinates, diagnostics, parameters
from vigym.engine.collisions import Contacts
from vigym.engine.lanes import Lanes
from vigym.engine.model import Model
from vigym.engine.placement import Placement
from vigym.engine.rotation import Array
from vigym.engine.state import State
from vigym.engine.turn import Turn, alone


class Readouts:
    """Everything that a `Simulator` tells and that changes nothing; arrays are fresh, (num_envs, ...)."""

    dt: float
    model: Model
    _lanes: Lanes
    _placement: Placement
    _get: Any
    _turn: Turn

    @property
    def state(self) -> State:
        """Pose and velocity of every body, as fresh arrays."""
        return State(self._get("x"), self._get("q"), self._get("v"), self._get("w"))

    def live(self, name: str) -> Array:
        """A view of a field of the state store (kernels/layout.py) that follows every step, for loops that run after
        each: (groups, lanes, n, k), or (groups, lanes) of a single number. Environment e is [e // lanes, e % lanes].
        Fields that contacts publish are those of the last `publish`."""
        return self._lanes.live(name)

    def publish(self) -> None:
        """Bring the live fields of contacts up to date with the state."""
        if not self._lanes.is_published:
            self._lanes.publish()

    def parameter(self, name: str) -> Array:
        """mass, inertia (of bodies), friction, restitution, compliance, contact_damping, offset (of contacts),
        stiffness, damping, kp, kd, effort_limit or joint_friction (of free joint axes): (num_envs, ...)."""
        parameters.shape(self.model, name)
        return parameters.read(self._lanes, name)

    @property
    def axis_names(self) -> list[str]:
        """Names of the free joint axes, in the order of efforts, positions and velocities."""
        return self.model.axis_names

    def joint_positions(self) -> Array:
        """Coordinates of the free joint axes (num_envs, n_efforts), m or rad; full turns are counted, but of three free
        rotations, whose coordinates are the rotation vector the shorter way round."""
        return self._lanes.values("angle")

    def joint_velocities(self) -> Array:
        """Velocities of the free joint axes (num_envs, n_efforts), m/s or rad/s: mean rates over the last step."""
        return self._lanes.values("rate")

    def joint_error(self) -> Array:
        """Largest |g| of all joints, m or sine of half an angle (num_envs,)."""
        x, q, _, _ = self.state
        return coordinates.errors(self.model, x, q).max(-1, initial=0.0)

    def contact_gaps(self) -> Array:
        """Distance of every contact from its plane, m (num_envs, n_contacts)."""
        return self._placement.published("gap")[..., 0]

    def contact_points(self) -> Array:
        """The point of the body that touches (or would), m, world (num_envs, n_contacts, 3)."""
        return self._placement.published("contact_point")

    def contact_velocities(self) -> Array:
        """Velocity of the point of the body that touches (or would), m/s, world (num_envs, n_contacts, 3).

        Friction acts against it; its tangential part is 0 where a contact sticks or rolls.
        """
        return self._placement.published("contact_velocity")

    def contact_slips(self) -> Array:
        """Speed at which the touching point of every contact slides along the surface, m/s (num_envs, n_contacts)."""
        return self._placement.published("slip")[..., 0]

    def contact_forces(self) -> Array:
        """Force of the ground on the body at every contact, N, world (num_envs, n_contacts, 3): mean of the last step,
        whose impulse is dt times it, also if the step was made in parts."""
        return self._placement.published("contact_force")

    @alone
    def net_contact_forces(self) -> Array:
        """Sum of all contact forces on every body, of the ground and of other bodies, N, world (num_envs, n_bodies, 3):
        mean of the last step, whose impulse is dt times it, also if the step was made in parts."""
        return collisions.net_forces(self.model, self._lanes, self.contact_forces(), self.dt)

    @alone
    def contacts(self, env: int | None = None) -> Contacts:
        """What touches, or is near, between colliders after the last step, in one environment or in all."""
        return collisions.contacts(self.model, self._lanes, self.dt, env)

    def distance(self, first: str, second: str) -> Array:
        """Exact distance of the colliders of two bodies, or of one and the "world", m (num_envs,); negative where they
        overlap: how far they would have to move apart."""
        return collisions.distance_between(self.model, self._get("x"), self._get("q"), first, second)

    def gaps_at(self, env: ArrayLike, x: ArrayLike, q: ArrayLike) -> Array:
        """Gaps (k, n_contacts) that the contacts of k environments would have at other poses, m; nothing changes.

        env: numbers of the environments (k,), each once; x, q: poses of all bodies, (k, n_bodies, 3 and 4)
        """
        return self._placement.gaps_at(env, x, q)

    def energy(self) -> Array:
        """Kinetic energy and potential energy of gravity and springs, in joints and soft contacts, J (num_envs,).

        Velocities are means over the last step, so heights and joint springs are taken in its middle: free fall keeps
        the energy, and so does a spring without a damper. Soft contacts count at its end, where they act.
        """
        (x, _, v, w), h0 = self.state, self._get("h0")
        x = x - 0.5 * h0[:, None, None] * v
        parts = self.parameter("mass"), self.parameter("inertia"), self.parameter("stiffness")
        motion = self.joint_positions(), self.joint_velocities(), h0
        stretch = coordinates.stretches(self.model, *motion, self._lanes.values("rest"))
        stored = diagnostics.contact_energy(self.contact_gaps(), self.parameter("compliance"))
        return stored + diagnostics.energy(self.model, x, v, w, *parts, stretch)

    def momentum(self) -> Array:
        """Linear momentum and angular momentum about the world's origin (num_envs, 6), N s and N m s."""
        mass, inertia = self.parameter("mass"), self.parameter("inertia")
        return diagnostics.momentum(*self.state, mass, inertia, self._get("h0"))
