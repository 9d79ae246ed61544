"""PyBullet's own loader and forward dynamics, in the terms of a `UrdfModel`: what the tests compare with."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pybullet
import pybullet_data
from pybullet_utils.bullet_client import BulletClient

from vigym.engine.joint import Joint
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, rotate
from vigym.formats.urdf import UrdfModel, UrdfWarning, read_urdf

DATA = Path(pybullet_data.getDataPath())
# Every file but the thousand single objects in random_urdfs.
FILES = sorted(path.relative_to(DATA).as_posix() for path in DATA.rglob("*.urdf") if "random_urdfs" not in path.parts)


def scalar_first(q: Any) -> np.ndarray:
    return np.roll(np.asarray(q), 1)


def scalar_last(q: Any) -> list[float]:
    return np.roll(np.asarray(q), -1).tolist()


def read(path: Path, floating: bool, **options: Any) -> UrdfModel:
    """Without contacts, coupled joints left free, and with PyBullet's mass for links that have none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return read_urdf(
            path, floating=floating, **{"contacts": (), "mimic": "free", "default_mass": 1.0, "meshes": False} | options
        )


class Peer:
    """A robot in a PyBullet world of its own, without default motors and without any damping but that of its joints.

    links: index by link name, -1 for the base. joints: index by joint name, without the fixed ones.
    """

    def __init__(self, path: Path, floating: bool, dt: float = 1e-6) -> None:
        self.client = BulletClient(pybullet.DIRECT)
        self.floating, self.dt = floating, dt
        self.client.setTimeStep(dt)
        self.client.setGravity(0.0, 0.0, -9.81)
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE
        self.body = self.client.loadURDF(str(path), useFixedBase=not floating, flags=flags)
        infos = [self.client.getJointInfo(self.body, i) for i in range(self.client.getNumJoints(self.body))]
        self.base = self.client.getBodyInfo(self.body)[0].decode()
        self.links = {self.base: -1} | {info[12].decode(): info[0] for info in infos}
        self.infos = {info[1].decode(): info for info in infos if info[2] != pybullet.JOINT_FIXED}
        self.joints = {name: info[0] for name, info in self.infos.items()}
        self.spherical = {name for name, info in self.infos.items() if info[2] == pybullet.JOINT_SPHERICAL}
        for link in self.links.values():
            self.client.changeDynamics(self.body, link, linearDamping=0.0, angularDamping=0.0)
        for name, index in self.joints.items():
            if name in self.spherical:
                self.client.setJointMotorControlMultiDof(
                    self.body, index, pybullet.POSITION_CONTROL, targetPosition=[0, 0, 0, 1], force=[0, 0, 0]
                )
            else:
                self.client.setJointMotorControl2(self.body, index, pybullet.VELOCITY_CONTROL, force=0.0)

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.disconnect()

    def mass(self, link: str) -> float:
        return self.client.getDynamicsInfo(self.body, self.links[link])[0]

    def limits(self, joint: str) -> tuple[float, float]:
        lower, upper = self.infos[joint][8:10]
        return (lower, upper) if lower <= upper else (-np.inf, np.inf)  # its way to say "none"

    def set_base(self, position: np.ndarray, orientation: np.ndarray) -> None:
        """Pose of the base link's frame; PyBullet wants that of its centre of mass."""
        com, turn = self.base_inertial()
        q = multiply(orientation, turn)
        x = position + rotate(orientation, com)
        self.client.resetBasePositionAndOrientation(self.body, x.tolist(), scalar_last(q))

    def base_inertial(self) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass and principal axes of the base link, in its frame."""
        com, turn = self.client.getDynamicsInfo(self.body, -1)[3:5]
        return np.array(com), scalar_first(turn)

    def set_joints(self, joints: list[Joint], phi: np.ndarray, rates: np.ndarray) -> None:
        """Coordinates and velocities in the order of `joints`; three of them for a spherical joint."""
        first = 0
        for joint in joints:
            q, v = phi[first : first + joint.n_free], rates[first : first + joint.n_free]
            first += joint.n_free
            if joint.name in self.spherical:
                turn = from_rotation_vector(q)
                self.client.resetJointStateMultiDof(self.body, self.joints[joint.name], scalar_last(turn), v.tolist())
            else:
                self.client.resetJointState(self.body, self.joints[joint.name], q[0], v[0])

    def link_pose(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Position and orientation of a link's frame in the world."""
        if link == self.base:
            x, q = self.client.getBasePositionAndOrientation(self.body)
            com, turn = self.base_inertial()
            orientation = multiply(scalar_first(q), conjugate(turn))
            return np.array(x) - rotate(orientation, com), orientation
        state = self.client.getLinkState(self.body, self.links[link], computeForwardKinematics=True)
        return np.array(state[4]), scalar_first(state[5])

    def velocities(self, joints: list[Joint]) -> np.ndarray:
        """Joint velocities; with a floating base, before them that of its centre of mass and its spin, in the world."""
        values = []
        if self.floating:
            linear, angular = self.client.getBaseVelocity(self.body)
            values += [*linear, *angular]
        for joint in joints:
            values += self.client.getJointStateMultiDof(self.body, self.joints[joint.name])[1]
        return np.array(values)

    def acceleration(self, joints: list[Joint], effort: np.ndarray) -> np.ndarray:
        """Change of `velocities` in one explicit step, divided by it: the accelerations of the current state."""
        before = self.velocities(joints)
        first = 0
        for joint in joints:
            tau = effort[first : first + joint.n_free]
            first += joint.n_free
            index = self.joints[joint.name]
            if joint.name in self.spherical:
                self.client.setJointMotorControlMultiDof(self.body, index, pybullet.TORQUE_CONTROL, force=tau.tolist())
            else:
                self.client.setJointMotorControl2(self.body, index, pybullet.TORQUE_CONTROL, force=tau[0])
        self.client.stepSimulation()
        return (self.velocities(joints) - before) / self.dt
