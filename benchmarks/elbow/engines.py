"""Linkages thrown as they were measured, in each engine: from the first state of every toss on.

Calling an engine with contact parameters simulates all tosses: (n, frames, 8), q and x of brick 1 and the angle of the
hinge. The linkage is the same in all; starts that are a little in the ground are lifted out of it, in all of them.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from vigym.benchmarks.elbow.linkage import Linkage
from vigym.benchmarks.elbow.windows import RATE, place
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.engines import Parameter
from vigym.engine.rotation import conjugate, multiply, rotate
from vigym.engine.simulator import Simulator

FRICTION, RESTITUTION = Parameter("friction", 0.1, 0.5), Parameter("restitution", 0.0, 0.5)
SOFTNESS = (
    Parameter("stiffness", 2e3, 3e5, logarithmic=True),  # N/m
    Parameter("damping", 1e1, 3e2, logarithmic=True),  # N s/m
)


class Engine(ABC):
    """needs: the package."""

    name, needs = "", "vigym"
    parameters: tuple[Parameter, ...] = (FRICTION, RESTITUTION)

    def __init__(self, tosses: Array, linkage: Linkage, substeps: int) -> None:
        self.linkage, self.substeps, self.dt, self.frames = linkage, substeps, 1 / RATE / substeps, tosses.shape[1]
        starts = tosses[:, 0].copy()
        starts[:, 6] += np.maximum(0.0, -linkage.heights(starts))
        self.motion = [np.array(part) for part in linkage.to_mass(starts)]

    @abstractmethod
    def simulate(self, **law: float) -> tuple[Array, Array, Array]:
        """x and q of brick 1's centre of mass, and the angle: (n, frames, 3), (n, frames, 4), (n, frames)."""

    def __call__(self, **law: float) -> Array:
        x, q, angle = self.simulate(**law)
        return np.concatenate([q, self.linkage.to_centre(x, q), angle[..., None]], -1)


class VigymEngine(Engine):
    """Hard contacts, with restitution."""

    name = "vigym"
    contact: ClassVar[dict[str, Any]] = {"friction": 0.3, "restitution": 0.1}

    def __init__(self, tosses: Array, linkage: Linkage, substeps: int) -> None:
        super().__init__(tosses, linkage, substeps)
        self.sim = Simulator(linkage.mechanism(**self.contact), self.dt, len(tosses))

    def simulate(self, **law: float) -> tuple[Array, Array, Array]:
        sim = self.sim
        sim.set_parameters(**{name: np.full(16, value) for name, value in self.named(**law).items()})
        place(sim, self.motion)
        read = sim.rollout(steps=self.frames - 1, repeat=self.substeps, read=["x", "q", "joint_positions"])
        starts = self.motion[0], self.motion[1], self.motion[2]
        later = read["x"][:, :, 0], read["q"][:, :, 0], read["joint_positions"][:, :, 0]
        x, q, angle = (np.concatenate([a[None], b]).swapaxes(0, 1) for a, b in zip(starts, later, strict=True))
        return x, q, angle

    def named(self, **law: float) -> dict[str, float]:
        """Parameters of the simulator."""
        return law


class SoftVigymEngine(VigymEngine):
    """Contacts that give way."""

    name, parameters = "vigym, soft", (FRICTION, *SOFTNESS)
    contact: ClassVar[dict[str, Any]] = {"friction": 0.3, "compliance": 1e-4, "damping": 50.0}

    def named(self, **law: float) -> dict[str, float]:
        compliance, damping = 1 / law["stiffness"], law["damping"]
        return {"friction": law["friction"], "compliance": compliance, "contact_damping": damping}


class MujocoEngine(Engine):
    """Stiffness (1/s^2) and damping (1/s) of contacts are MuJoCo's own; elliptic cones."""

    name, needs = "MuJoCo", "mujoco"
    parameters = (
        FRICTION,
        Parameter("stiffness", 3e2, 3e5, logarithmic=True),
        Parameter("damping", 1e2, 1.5e3, logarithmic=True),
    )

    def __init__(self, tosses: Array, linkage: Linkage, substeps: int) -> None:
        super().__init__(tosses, linkage, substeps)
        import mujoco
        from mujoco import rollout

        from vigym.formats.mjcf.write import to_mjcf

        self.mujoco, self.rollout = mujoco, rollout
        self.model = mujoco.MjModel.from_xml_string(to_mjcf(linkage.mechanism(), self.dt, cone="exact"))
        self.data = mujoco.MjData(self.model)

    def simulate(self, **law: float) -> tuple[Array, Array, Array]:
        self.model.pair_friction[:, :2] = law["friction"]
        self.model.pair_solref[:] = -law["stiffness"], -law["damping"]
        x, q, angle, v, w, rate = self.motion
        size = self.mujoco.mj_stateSize(self.model, self.mujoco.mjtState.mjSTATE_FULLPHYSICS)
        initial = np.zeros((len(x), size))
        initial[:, 1:16] = np.concatenate([x, q, angle[:, None], v, w, rate[:, None]], -1)
        states, _ = self.rollout.rollout(self.model, self.data, initial, nstep=(self.frames - 1) * self.substeps)
        path = np.concatenate([initial[:, None], states[:, self.substeps - 1 :: self.substeps]], axis=1)
        path[(np.diff(path[:, :, 0], axis=1) <= 0).any(1)] = np.nan  # it starts anew where it gives up
        return path[..., 1:4], path[..., 4:8], path[..., 8]


class BulletEngine(Engine):
    """Contacts as they are unless one asks; damping of the hinge is PyBullet's own."""

    name, needs = "PyBullet", "pybullet"

    def __init__(self, tosses: Array, linkage: Linkage, substeps: int) -> None:
        super().__init__(tosses, linkage, substeps)
        from vigym.formats.pybullet.convert import module, to_pybullet

        self.p: Any = module()
        self.client = self.p.connect(self.p.DIRECT)
        self.p.setPhysicsEngineParameter(fixedTimeStep=1 / RATE, numSubSteps=substeps, physicsClientId=self.client)
        self.handle = to_pybullet(linkage.mechanism(), self.client)
        self.hinge = self.handle.joints["hinge"][0]
        self.p.changeDynamics(*self.hinge, jointDamping=linkage.damping, physicsClientId=self.client)

    def simulate(self, **law: float) -> tuple[Array, Array, Array]:
        p, client, handle = self.p, self.client, self.handle
        number, turn = handle.bodies["brick 1"][0], handle.turns["brick 1"]
        for where in {(number, -1), *(link for links in handle.surfaces.values() for link in links)}:
            p.changeDynamics(*where, lateralFriction=law["friction"], physicsClientId=client)
            p.changeDynamics(*where, restitution=law["restitution"], physicsClientId=client)
        x, q, angle = (np.full((len(self.motion[0]), self.frames, k), np.nan) for k in (3, 4, 1))
        for toss, (x0, q0, angle0, v, w, rate) in enumerate(zip(*self.motion, strict=True)):
            p.resetBasePositionAndOrientation(number, x0, np.roll(multiply(q0, turn), -1), physicsClientId=client)
            p.resetBaseVelocity(number, v, rotate(q0, w), physicsClientId=client)
            p.resetJointState(*self.hinge, angle0, rate, physicsClientId=client)
            for frame in range(self.frames):
                if frame:
                    p.stepSimulation(physicsClientId=client)
                x[toss, frame], now = p.getBasePositionAndOrientation(number, physicsClientId=client)
                q[toss, frame] = multiply(np.roll(now, 1), conjugate(turn))
                angle[toss, frame] = p.getJointState(*self.hinge, physicsClientId=client)[0]
        return x, q, angle[..., 0]


ENGINES: tuple[type[Engine], ...] = (VigymEngine, SoftVigymEngine, MujocoEngine, BulletEngine)
