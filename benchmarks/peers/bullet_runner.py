"""What runs PyBullet."""

from typing import Any

import numpy as np

from vigym.benchmarks.peers.bullet import module, set_body, to_pybullet
from vigym.benchmarks.peers.tree import shallow_tree
from vigym.benchmarks.runner import Runner, Stopwatch
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, rotate
from vigym.engine.simulator import Simulator
from vigym.engine.state import State

INSTANT = 1e-6  # s: rates over so short a step are those of the velocities, to about 1e-10
SHORTEST = 40  # links: getLinkState returns wrong poses for trees of about 50 links and more


class Bullet(Runner):
    """maximal: rigid bodies and constraints instead of multi-bodies in reduced coordinates."""

    timing = "stepSimulation"

    def __init__(self, *args: Any, maximal: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.num_envs > 1 or self.threads > 1:
            raise ValueError("PyBullet has one environment in one thread")
        p, mechanism = module(), self.scene.mechanism
        self.p, self.maximal, self.constant = p, maximal, self.scene.targets is None
        self.client = p.connect(p.DIRECT)
        p.setPhysicsEngineParameter(fixedTimeStep=self.dt, numSubSteps=0, physicsClientId=self.client)
        self.handle = to_pybullet(mechanism, self.client, maximal, self.scene.planar)
        self.targets = self.scene.controls(self.steps, self.dt)
        self.twists = self.scene.twists(self.steps, self.dt)
        sim = Simulator(mechanism, dt=INSTANT, compiled=False)
        start = self.scene.start
        sim.set_state(x=start.x, q=start.q, v=start.v, w=start.w)
        self.phi, self.rates = sim.joint_positions()[0], sim.joint_velocities()[0]
        self._find_axes()

    def _find_axes(self) -> None:
        joints = [joint for joint in self.scene.mechanism.joints if joint.kind != "floating"]
        first = np.cumsum([0, *(joint.n_free for joint in joints)])
        self.first = {joint.name: int(k) for joint, k in zip(joints, first, strict=False)}
        driven = [joint for joint in joints if joint.kp.any() or joint.kd.any()]
        if any(joint.n_free > 1 for joint in driven) or (driven and self.maximal):
            raise ValueError("PyBullet: drives only on hinges and sliders in reduced coordinates")
        self.links = [self.handle.joints[joint.name][1] for joint in driven]
        self.robot = self.handle.joints[driven[0].name][0] if driven else -1
        self.axes = [self.first[joint.name] for joint in driven]
        self.gains = np.array([[j.kp[0], j.kd[0], j.effort_limit[0]] for j in driven]).reshape(-1, 3).T

    def reset(self) -> None:
        p, tree = self.p, shallow_tree(self.scene.mechanism)
        start = State(*self.scene.start)
        for i, body in enumerate(self.scene.mechanism.bodies):
            joint = tree.joints[i]
            if joint is None or self.maximal:
                set_body(self.handle, body.name, start, i)
            elif joint.n_free:
                k = self.first[joint.name]
                where = self.handle.joints[joint.name]
                if joint.n_free == 1:
                    p.resetJointState(*where, self.phi[k], self.rates[k], physicsClientId=self.client)
                else:
                    # balls turn in the frame of the principal axes
                    into = conjugate(self.handle.turns[body.name])
                    turn = np.roll(from_rotation_vector(rotate(into, self.phi[k : k + 3])), -1)
                    rates = rotate(into, self.rates[k : k + 3])
                    p.resetJointStateMultiDof(*where, turn.tolist(), rates.tolist(), physicsClientId=self.client)

    def _drive(self, k: int) -> None:
        """Efforts of the drives at the beginning of the step: kp (target - angle) - kd rate, within their limits."""
        if not self.links:
            return
        states = self.p.getJointStates(self.robot, self.links, physicsClientId=self.client)
        angle, rate = np.array([state[:2] for state in states]).T
        kp, kd, limit = self.gains
        effort = np.clip(kp * (self.targets[k, self.axes] - angle) - kd * rate, -limit, limit)
        self.p.setJointMotorControlArray(
            self.robot, self.links, self.p.TORQUE_CONTROL, forces=effort.tolist(), physicsClientId=self.client
        )

    def _twist(self, torques: Array) -> None:
        """Torques on bodies, given in their frames, for the next step."""
        poses = self.poses()
        assert poses is not None
        for body, q, torque in zip(self.scene.mechanism.bodies, poses[1], torques, strict=True):
            if torque.any():
                where, frame = self.handle.bodies[body.name], self.p.WORLD_FRAME
                world = rotate(q, torque).tolist()
                self.p.applyExternalTorque(*where, world, frame, physicsClientId=self.client)

    def step(self, k: int) -> None:
        self._drive(k)
        if self.twists is not None:
            self._twist(self.twists[k])
        self.p.stepSimulation(physicsClientId=self.client)

    def time(self) -> Stopwatch:
        self.reset()
        watch, step, client = Stopwatch(), self.p.stepSimulation, self.client
        if self.twists is not None:
            with watch:
                for k in range(self.steps):
                    self.step(k)
            return watch
        if not self.links:
            with watch:
                for _ in range(self.steps):
                    step(physicsClientId=client)
            return watch
        for k in range(self.steps):
            self._drive(k)
            with watch:
                step(physicsClientId=client)
        return watch

    def poses(self) -> tuple[Array, Array] | None:
        bodies = self.scene.mechanism.bodies
        if not self.maximal and len(bodies) > SHORTEST:
            return None
        x, q = np.zeros((len(bodies), 3)), np.zeros((len(bodies), 4))
        for i, body in enumerate(bodies):
            number, link = self.handle.bodies[body.name]
            if link < 0:
                at, turn = self.p.getBasePositionAndOrientation(number, physicsClientId=self.client)
                q[i] = multiply(np.roll(turn, 1), conjugate(self.handle.turns[body.name]))
            else:
                state = self.p.getLinkState(number, link, computeForwardKinematics=1, physicsClientId=self.client)
                at, turn = state[0], state[5]
                q[i] = np.roll(turn, 1)
            x[i] = at
        return x, q

    def velocities(self) -> tuple[Array, Array]:
        bodies = self.scene.mechanism.bodies
        v, omega = np.zeros((len(bodies), 3)), np.zeros((len(bodies), 3))
        for i, body in enumerate(bodies):
            number, link = self.handle.bodies[body.name]
            if link < 0:
                v[i], omega[i] = self.p.getBaseVelocity(number, physicsClientId=self.client)
            else:
                state = self.p.getLinkState(
                    number, link, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=self.client
                )
                v[i], omega[i] = state[6], state[7]
        return v, omega

    def gap(self) -> float | None:
        """From PyBullet's own contacts, which are those of the beginning of the step."""
        found = self.p.getContactPoints(physicsClientId=self.client)
        return min((point[8] for point in found or ()), default=None)

    def energy(self) -> float | None:
        poses = self.poses()
        if poses is None:
            return None
        mechanism = self.scene.mechanism
        mass = np.array([body.mass for body in mechanism.bodies])
        v, omega = self.velocities()
        total = 0.5 * (mass * (v * v).sum(-1)).sum() - (mass * (poses[0] @ mechanism.gravity)).sum()
        for body, q, spin in zip(mechanism.bodies, poses[1], omega, strict=True):
            w = rotate(conjugate(q), spin)
            total += 0.5 * w @ body.inertia @ w
        return float(total)

    def momentum(self) -> Array | None:
        poses = self.poses()
        if poses is None:
            return None
        v, omega = self.velocities()
        total = np.zeros(6)
        for body, x, q, speed, spin in zip(self.scene.mechanism.bodies, *poses, v, omega, strict=True):
            turning = rotate(q, body.inertia @ rotate(conjugate(q), spin))
            total += np.concatenate([body.mass * speed, np.cross(x, body.mass * speed) + turning])
        return total
