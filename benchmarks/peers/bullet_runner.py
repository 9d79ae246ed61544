"""Runner of the scenes in PyBullet."""

from collections.abc import Callable
from typing import Any

import numpy as np

from vigym.benchmarks.runner import Runner, Stopwatch, at_once
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.joint_kinds import has_law
from vigym.engine.rotation import conjugate, rotate
from vigym.formats.pybullet.convert import module, to_pybullet


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
        self.objects = {number for number, _ in self.handle.bodies.values()}
        self.applies = any(has_law(joint) for joint in mechanism.joints)
        self.loaded = p.saveState(physicsClientId=self.client) if self.handle.crowded else None

    def reset(self) -> None:
        if self.loaded is not None:
            self.p.restoreState(self.loaded, physicsClientId=self.client)
        self.handle.place(self.scene.start)

    def _act(self, k: int) -> None:
        """Return what acts on joints and bodies in step k."""
        if self.applies:
            self.handle.apply(target=self.targets[k])
        if self.twists is not None:
            self._twist(self.twists[k])

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
        self._act(k)
        self.p.stepSimulation(physicsClientId=self.client)

    def time(self, ready: Callable[[], object] = at_once) -> Stopwatch:
        self.reset()
        ready()
        watch, step, client = Stopwatch(), self.p.stepSimulation, self.client
        if not self.applies and self.twists is None:
            with watch:
                for _ in range(self.steps):
                    step(physicsClientId=client)
            return watch
        for k in range(self.steps):
            self._act(k)
            with watch:
                step(physicsClientId=client)
        return watch

    def poses(self) -> tuple[Array, Array] | None:
        """None if an object is crowded (see `Handle`), unless the simulation is lost: that it can always tell."""
        if not self.handle.crowded:
            return self.handle.poses()
        bases = [self.p.getBasePositionAndOrientation(n, physicsClientId=self.client) for n in self.objects]
        if np.isfinite([x for x, _ in bases]).all():
            return None
        count = len(self.scene.mechanism.bodies)
        return np.full((count, 3), np.nan), np.full((count, 4), np.nan)

    def velocities(self) -> tuple[Array, Array]:
        return self.handle.velocities()

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
