"""Springs, dampers, drives and efforts on joints in PyBullet: vigym's laws, evaluated at the beginning of a step.

    motor  = effort + kp (target - phi) + kd (target_velocity - rate),  cut to +- effort_limit
    effort = motor - stiffness (phi - rest) - damping rate

On a single axis phi is the joint's coordinate. Where three rotations are free, efforts are torques along the child's
axes, and rates the angular velocity w along them. Springs and drives measure the rotation vectors from rest and from
the target, the shorter way round; these change at the rate K w, so that the torque of an effort on them is K^T effort.
"""

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.errors import InputError
from vigym.engine.joint import Joint
from vigym.engine.joint_kinds import has_law
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, rotate, to_rotation_vector
from vigym.engine.validation import Array
from vigym.formats.pybullet.urdf_text import parts
from vigym.formats.tree import first_axes, shallow_tree

if TYPE_CHECKING:
    from vigym.formats.pybullet.handle import Handle

GAINS = ("stiffness", "rest", "damping", "kp", "kd", "effort_limit")
ACTING = ("stiffness", "damping", "kp", "kd")


def rate_of_rotation_vector(phi: Array) -> Array:
    """K (3, 3): d(phi)/dt = K w, with the angular velocity w in the frame that turns."""
    angle = float(np.linalg.norm(phi))
    X = np.array([[0.0, -phi[2], phi[1]], [phi[2], 0.0, -phi[0]], [-phi[1], phi[0], 0.0]])
    c = 1 / 12 if angle < 1e-3 else (1 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    return np.eye(3) + 0.5 * X + c * X @ X


class Efforts:
    """Efforts on the joints of a converted mechanism.

    singles: object -> links and axes (as vigym counts them) of its hinges and sliders, (2, n); lawful: only those on
    which a law acts. balls, loose: of the tree, and joints that are constraints, each with its first axis.
    """

    def __init__(self, p: ModuleType, handle: "Handle") -> None:
        self.p, self.handle, self.client = p, handle, handle.client
        mechanism, first = handle.mechanism, first_axes(handle.mechanism)
        joints = [joint for joint in mechanism.joints if joint.kind != "floating"]

        def column(option: str) -> Array:
            return np.concatenate([np.zeros(0), *(getattr(joint, option) for joint in joints)])

        self.gains = {option: column(option) for option in GAINS}
        self.target, self.target_velocity = column("target"), column("target_velocity")
        self.nothing = np.zeros(len(self.target))
        acts = np.any([self.gains[option] != 0 for option in ACTING], axis=0)
        found: list[tuple[int, int, int]] = []
        self.balls: list[tuple[Joint, int]] = []
        for joint in shallow_tree(mechanism).joints:
            if joint is None or joint.name not in handle.joints:
                continue
            for part, where in zip(parts(joint), handle.joints[joint.name], strict=True):
                if part.kind == "spherical":
                    self.balls.append((joint, first[joint.name] + part.first))
                elif part.kind != "fixed":
                    found.append((*where, first[joint.name] + part.first))
        self.singles = _by_object(found)
        self.lawful = _by_object([entry for entry in found if acts[entry[2]]])
        self.loose = [(joint, first[joint.name]) for joint in joints if joint.name in handle.constraints]
        self.index = {body.name: i for i, body in enumerate(mechanism.bodies)}

    def apply(self, effort: ArrayLike | None, target: ArrayLike | None, target_velocity: ArrayLike | None) -> None:
        """See `Handle.apply`."""
        self.handle.need_room()
        applied = self._checked("effort", effort, self.nothing)
        self.target = self._checked("target", target, self.target)
        self.target_velocity = self._checked("target_velocity", target_velocity, self.target_velocity)
        for number, (links, axes) in (self.lawful if effort is None else self.singles).items():
            states = self.p.getJointStates(number, links, physicsClientId=self.client)
            at, rate = np.array([state[:2] for state in states]).T
            forces = self._law(axes, at, rate, applied).tolist()
            self.p.setJointMotorControlArray(
                number, links, self.p.TORQUE_CONTROL, forces=forces, physicsClientId=self.client
            )
        for joint, k in self.balls:
            if effort is not None or has_law(joint):
                self._turn_ball(joint, k, applied)
        loose = [entry for entry in self.loose if entry[0].n_free and (effort is not None or has_law(entry[0]))]
        if loose:
            self._turn_loose(loose, applied)

    def _checked(self, what: str, given: ArrayLike | None, default: Array) -> Array:
        if given is None:
            return default
        values = np.array(given, float)
        if values.shape != default.shape or not np.isfinite(values).all():
            raise InputError(f"{what} must be finite and of shape {default.shape}, got {given!r}")
        return values

    def _law(self, axes: list[int] | slice, phi: Array, rate: Array, effort: Array) -> Array:
        """Efforts on these axes at their coordinates and rates."""
        stiffness, rest, damping, kp, kd, limit = (self.gains[option][axes] for option in GAINS)
        motor = effort[axes] + kp * (self.target[axes] - phi) + kd * (self.target_velocity[axes] - rate)
        return np.clip(motor, -limit, limit) - stiffness * (phi - rest) - damping * rate

    def _ball(self, joint: Joint, k: int, phi: Array, w: Array, effort: Array) -> Array:
        """Torque on the child at a rotation vector and angular velocity (3,), all in the child's frame."""
        axes = slice(k, k + 3)
        stiffness, rest, damping, kp, kd, limit = (self.gains[option][axes] for option in GAINS)
        e, rate = from_rotation_vector(joint.basis @ phi), joint.basis @ w

        def pull(gain: Array, origin: Array) -> Array:
            error = to_rotation_vector(multiply(conjugate(from_rotation_vector(origin)), e))
            return rate_of_rotation_vector(error).T @ (gain * error)

        motor = effort[axes] - pull(kp, self.target[axes]) + kd * (self.target_velocity[axes] - rate)
        torque = np.clip(motor, -limit, limit) - pull(stiffness, rest) - damping * rate
        return joint.basis.T @ torque

    def _turn_ball(self, joint: Joint, k: int, effort: Array) -> None:
        """PyBullet turns balls, and pushes them, in the frame of the child's principal axes."""
        where, turn = self.handle.joints[joint.name][-1], self.handle.turns[joint.child]
        state = self.p.getJointStateMultiDof(*where, physicsClientId=self.client)
        phi = rotate(turn, to_rotation_vector(np.roll(state[0], 1)))
        torque = self._ball(joint, k, phi, rotate(turn, np.array(state[1])), effort)
        force = rotate(conjugate(turn), torque).tolist()
        self.p.setJointMotorControlMultiDof(*where, self.p.TORQUE_CONTROL, force=force, physicsClientId=self.client)

    def _turn_loose(self, joints: list[tuple[Joint, int]], effort: Array) -> None:
        """Hinges and balls that are constraints: torques on both bodies."""
        q, omega = self.handle.poses()[1], self.handle.velocities()[1]
        q, omega = np.vstack([q, [1.0, 0, 0, 0]]), np.vstack([omega, np.zeros(3)])  # the world is the last body
        for joint, k in joints:
            child, parent = self.index[joint.child], self.index.get(joint.parent, -1)
            e = multiply(conjugate(joint.orientation), multiply(conjugate(q[parent]), q[child]))
            phi, w = to_rotation_vector(e), rotate(conjugate(q[child]), omega[child] - omega[parent])
            if joint.n_free == 1:
                axis = joint.basis[2]
                torque = axis * self._law(slice(k, k + 1), phi @ axis, w @ axis, effort)
            else:
                torque = self._ball(joint, k, phi, w, effort)
            turning = rotate(q[child], torque)
            for name, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
                if name in self.index:
                    where, frame = self.handle.bodies[name], self.p.WORLD_FRAME
                    self.p.applyExternalTorque(*where, (sign * turning).tolist(), frame, physicsClientId=self.client)


def _by_object(entries: list[tuple[int, int, int]]) -> dict[int, tuple[list[int], list[int]]]:
    found: dict[int, tuple[list[int], list[int]]] = {}
    for number, link, axis in entries:
        links, axes = found.setdefault(number, ([], []))
        links.append(link)
        axes.append(axis)
    return found
