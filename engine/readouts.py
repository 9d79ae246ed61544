"""Read-outs of a simulator: what its state, and the step that led to it, tell of joints, contacts and energies."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine import collisions, coordinates, diagnostics, dynamics, parameters
from vigym.engine.collisions import Contacts
from vigym.engine.dynamics import Dynamics
from vigym.engine.errors import InputError
from vigym.engine.lanes import Lanes
from vigym.engine.model import Model
from vigym.engine.placement import Placement
from vigym.engine.rotation import Array
from vigym.engine.state import State
from vigym.engine.turn import Turn, alone
from vigym.engine.validation import body_number, vector


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
        """Pose and velocity of every body, copies that cannot be written to: `set_state` changes them."""
        get = self._get
        state = State(get("x"), get("q"), get("v"), get("w"))
        for part in state:
            part.setflags(write=False)
        return state

    @property
    def time(self) -> Array:
        """Simulated time since each environment was made, or set by `set_state` or `set_joint_state`, s (num_envs,).

        It counts the steps of all calls, also those in which an environment could not be solved and stood still."""
        return self.dt * self._lanes.elapsed().astype(float)

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
        collider_friction, collider_restitution, collider_compliance, collider_damping (of colliders), stiffness,
        damping, kp, kd, effort_limit, joint_friction, armature, velocity_limit or no_load_speed (of free joint axes):
        (num_envs, ...)."""
        parameters.shape(self.model, name)
        return parameters.read(self._lanes, name)

    def coupling_efforts(self) -> Array:
        """Efforts by which couplings acted on their followers in the last step (num_envs, n_couplings), in the order of
        `mechanism.couplings`, N or N m; on a leader acts minus its slope times that. `joint_efforts` does not count
        them."""
        mechanism, loops = self.model.mechanism, self.model.loops
        numbers = [loops.parts.index(loops.n_joints + k) for k in range(len(mechanism.couplings))]
        return self._get("wrench")[:, [self.model.n_bodies + number for number in numbers], 0]

    @property
    def axis_names(self) -> list[str]:
        """Names of the free joint axes, in the order of efforts, positions and velocities."""
        return self.model.axis_names

    @property
    def body_names(self) -> list[str]:
        """Names of the bodies, in the order of the arrays of `state`."""
        return [body.name for body in self.model.mechanism.bodies]

    @property
    def contact_names(self) -> list[str]:
        """Names of the contacts, in the order of `contact_gaps` and its neighbours."""
        return [contact.name for contact in self.model.mechanism.contacts]

    @property
    def collider_names(self) -> list[str]:
        """Names of the colliders, by their numbers in `contacts()`."""
        return [collider.name for collider in self.model.mechanism.colliders]

    @property
    def velocity_names(self) -> list[str]:
        """Names of the generalized velocities: vx, vy, vz (world) and wx, wy, wz (its own frame) of every body that no
        joint ties to a parent, then the free joint axes."""
        return dynamics.velocity_names(self.model)

    def joint_positions(self) -> Array:
        """Coordinates of the free joint axes (num_envs, n_efforts), m or rad; full turns are counted, but of three free
        rotations, whose coordinates are the rotation vector the shorter way round."""
        return self._lanes.values("angle")

    def joint_velocities(self) -> Array:
        """Velocities of the free joint axes (num_envs, n_efforts), m/s or rad/s: mean rates over the last step."""
        return self._lanes.values("rate")

    def joint_error(self) -> Array:
        """Largest |g| of all joints, m or sine of half an angle (num_envs,)."""
        return coordinates.errors(self.model, self._get("x"), self._get("q")).max(-1, initial=0.0)

    def joint_efforts(self) -> Array:
        """All that acts along the free joint axes in the last step, N or N m (num_envs, n_efforts): efforts, drives,
        springs, dampers, dry friction and position limits, not the inertia of rotors. Of its last part if the step was
        made in parts; zero in an environment that was set since, or whose step failed."""
        x, q, v, w, h0, fresh = (self._get(name) for name in ("x", "q", "v", "w", "h0", "fresh"))
        efforts = self._dynamics.efforts(*coordinates.pose_before(x, q, v, w, h0), self._get("wrench"))
        if self.model.features.armature:  # inertia, not something that acts
            efforts = efforts - self._lanes.values("rotor")
        return np.where(fresh[:, None] > 0, 0.0, efforts)

    def generalized_velocities(self) -> Array:
        """Velocities in the order of `velocity_names` (num_envs, n_velocities): means over the last step, as those of
        the state and of joints."""
        return self._dynamics.velocities(self._get("v"), self._get("w"), self.joint_velocities())

    def jacobian(self, body: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Derivatives of the velocity of a point of a body (3 rows, world, m/s) and of its angular velocity (3 rows,
        world, rad/s) by the generalized velocities: (num_envs, 6, n_velocities).

        point: (3,) in the body's frame, whose origin is the centre of mass, m. For a mechanism without free bodies,
        the columns are the joint axes; `velocity_names` names them. Joints that close loops have columns of zeros.
        """
        number = body_number(body, self.model.bodies)
        where = vector(point, (3,), "point", InputError)
        return self._dynamics.jacobian(self._get("x"), self._get("q"), number, where)

    def mass_matrix(self) -> Array:
        """Mass matrix M by generalized velocities u, (num_envs, n_velocities, n_velocities): u . M u / 2 is the kinetic
        energy, that of rotors included. Joints that close loops have rows and columns of zeros."""
        pose = self._get("x"), self._get("q")
        parts = self.parameter("mass"), self.parameter("inertia"), self.parameter("armature")
        return self._dynamics.mass_matrix(*pose, *parts)

    def bias_forces(self) -> Array:
        """Coriolis, centrifugal and gravity forces, (num_envs, n_velocities): M du/dt + bias = applied forces, with the
        generalized velocities u. Springs, dampers, drives and contacts count as applied."""
        return self._bias(self.generalized_velocities())

    def gravity_efforts(self) -> Array:
        """Efforts on the joint axes that carry the weight of all that hangs on them, N or N m (num_envs, n_efforts):
        `step(effort=sim.gravity_efforts())` holds an arm still."""
        number = self._dynamics.columns.number
        return self._bias(np.zeros((self._lanes.num_envs, number)))[:, number - self.model.n_axes :]

    def _bias(self, velocities: Array) -> Array:
        parts = self._get("x"), self._get("q"), self.parameter("mass"), self.parameter("inertia")
        return self._dynamics.bias(*parts, velocities)

    @cached_property
    def _dynamics(self) -> Dynamics:
        return Dynamics(self.model)

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
        """Contacts that touch, or are near, between colliders after the last step, in one environment or in all."""
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
        """Kinetic energy, of rotors too, and potential energy of gravity and springs, in joints, soft contacts and soft
        colliders, J (num_envs,).

        Velocities are means over the last step, so heights and joint springs are taken in its middle: free fall keeps
        the energy, and so does a spring without a damper. Soft contacts and colliders count at its end, where they act;
        where colliders touch is found by a step, so that theirs is 0 in an environment that was set since.
        """
        (x, _, v, w), h0 = self.state, self._get("h0")
        x = x - 0.5 * h0[:, None, None] * v
        parts = self.parameter("mass"), self.parameter("inertia"), self.parameter("stiffness")
        motion = self.joint_positions(), self.joint_velocities(), h0
        stretch = coordinates.stretches(self.model, *motion, self._lanes.values("rest"))
        stored = diagnostics.contact_energy(self.contact_gaps(), self.parameter("compliance"))
        if any(law.compliance > 0.0 for law in self.model.pair_laws):
            stored = stored + self._stored_energy()
        return stored + diagnostics.energy(self.model, x, v, w, *parts, stretch, self.parameter("armature"), motion[1])

    @alone
    def _stored_energy(self) -> Array:
        return collisions.stored_energy(self.model, self._lanes)

    def momentum(self) -> Array:
        """Linear momentum and angular momentum about the world's origin (num_envs, 6), N s and N m s."""
        mass, inertia = self.parameter("mass"), self.parameter("inertia")
        return diagnostics.momentum(*self.state, mass, inertia, self._get("h0"))
