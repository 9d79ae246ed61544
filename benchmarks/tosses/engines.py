"""A cube thrown as it was measured, in each engine: from the first state of every toss to its last frame.

An engine is made once for some tosses and a number of substeps a frame; calling it with contact parameters simulates
all tosses: (n, frames, 7), x and q, NaN after the end of a toss. Its parameters are listed with their ranges.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vigym.assets.cube import FRICTION as USUAL
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.cube import DESCRIBED, UP, Cube
from vigym.benchmarks.tosses.data import RATE, Tosses
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, rotate
from vigym.engine.simulator import Simulator

GROUPS = 6  # tosses of like length are simulated together


@dataclass(frozen=True)
class Parameter:
    """One that is fitted, in `low` to `high`; logarithmic: the fit sees its logarithm."""

    name: str
    low: float
    high: float
    logarithmic: bool = False


# Around 0.18, which was measured, and around what contacts of a stiff cube on a table can be: the same ranges for all
# that have the parameter, chosen once from scores of all tosses with wider ones.
FRICTION = Parameter("friction", 0.17, 0.2)
RESTITUTION = Parameter("restitution", 0.0, 0.6)
SOFTNESS = (
    Parameter("stiffness", 2e3, 3e5, logarithmic=True),  # N/m
    Parameter("damping", 2e1, 2e2, logarithmic=True),  # N s/m
)


class Engine(ABC):
    """`simulate` runs one group of tosses, whose first states and number of frames are given.

    needs: the package; failed: in the last call, frames that ended in a step that could not be solved, and tosses that
    MuJoCo gave up. Inside, states are those of the cube's centre of mass.
    """

    name, needs, failed = "", "vigym", 0
    parameters: tuple[Parameter, ...] = (FRICTION,)

    def __init__(self, tosses: Tosses, substeps: int = 8, later: float = 0.0, cube: Cube = DESCRIBED) -> None:
        """later: by how much measured velocities are moved ahead in time before the first step, s."""
        self.substeps, self.dt, self.shape, self.cube = substeps, 1 / RATE / substeps, tosses.measured.shape[:2], cube
        self.lengths = tosses.lengths
        order = np.argsort(self.lengths, kind="stable")
        self.groups = [group for group in np.array_split(order, min(GROUPS, len(order))) if len(group)]
        fall = np.concatenate([np.zeros(7), -cube.gravity * later * UP, np.zeros(3)])
        self.measured = [cube.to_mass(tosses.measured[group, 0] + fall) for group in self.groups]
        self.starts: list[Array] = []
        self.frames = [int(self.lengths[group].max()) for group in self.groups]

    def __call__(self, ground: float = 0.0, **values: float) -> Array:
        out, up = np.full((*self.shape, 7), np.nan), ground * UP
        self.starts = [start - np.concatenate([up, np.zeros(10)]) for start in self.measured]
        self.set(**values)
        for k, group in enumerate(self.groups):
            out[group, : self.frames[k]] = self.cube.to_centre(self.simulate(k)) + np.concatenate([up, np.zeros(4)])
        out[np.arange(self.shape[1]) >= self.lengths[:, None]] = np.nan
        return out

    @abstractmethod
    def set(self, friction: float = USUAL, **others: float) -> None:
        """Take over contact parameters; each engine has its own."""

    @abstractmethod
    def simulate(self, k: int) -> Array:
        """Group k: (tosses, frames, 7)."""


class VigymEngine(Engine):
    """cone: as in `Simulator`; turn: of the world against the axes of the friction pyramid, rad."""

    name = "vigym"
    parameters: tuple[Parameter, ...] = (FRICTION, RESTITUTION)
    contact: ClassVar[dict[str, float]] = {"restitution": 0.1}  # any > 0: then it can be set

    def __init__(
        self,
        tosses: Tosses,
        substeps: int = 8,
        later: float = 0.0,
        cube: Cube = DESCRIBED,
        cone: str = "exact",
        turn: float = 0.0,
    ) -> None:
        super().__init__(tosses, substeps, later, cube)
        self.turn = from_rotation_vector(np.array([0.0, 0.0, turn]))
        m = cube.mechanism(**self.contact)
        self.sims = [Simulator(m, self.dt, len(group), cone=cone) for group in self.groups]

    def set(self, friction: float = USUAL, restitution: float = 0.0, **others: float) -> None:
        self.place(friction=friction, restitution=restitution)

    def place(self, **contact: float) -> None:
        """All cubes at their starts, with these parameters of the contacts."""
        self.failed = 0
        for sim, start in zip(self.sims, self.starts, strict=True):
            sim.set_parameters(**{name: np.full(8, value) for name, value in contact.items()})
            x, v = (rotate(self.turn, start[:, part]) for part in (slice(0, 3), slice(7, 10)))
            q = multiply(self.turn, start[:, 3:7])
            sim.set_state(x=x[:, None], q=q[:, None], v=v[:, None], w=start[:, None, 10:13])

    def simulate(self, k: int) -> Array:
        sim, back = self.sims[k], conjugate(self.turn)
        out = np.empty((len(self.groups[k]), self.frames[k], 7))
        for frame in range(self.frames[k]):
            if frame:
                sim.step(repeat=self.substeps)
                self.failed += int((~sim.status.converged).sum())
            x, q, _, _ = sim.state
            out[:, frame, :3], out[:, frame, 3:] = rotate(back, x[:, 0]), multiply(back, q[:, 0])
        return out


class SoftVigymEngine(VigymEngine):
    """Contacts that give way; stiffness (N/m) and damping (N s/m) of each."""

    name, parameters = "vigym, soft", (FRICTION, *SOFTNESS)
    contact: ClassVar[dict[str, float]] = {"compliance": 1e-4}

    def set(
        self,
        friction: float = USUAL,
        restitution: float = 0.0,
        stiffness: float = 1e4,
        damping: float = 70.0,
        **others: float,
    ) -> None:
        self.place(friction=friction, compliance=1 / stiffness, contact_damping=damping)


class MujocoEngine(Engine):
    """Stiffness (1/s^2) and damping (1/s) of contacts are MuJoCo's own: accelerations by depth and by its rate."""

    name, needs = "MuJoCo", "mujoco"
    parameters: tuple[Parameter, ...] = (
        FRICTION,
        Parameter("stiffness", 3e2, 3e5, logarithmic=True),
        Parameter("damping", 1e2, 1.5e3, logarithmic=True),
    )

    def __init__(self, tosses: Tosses, substeps: int = 8, later: float = 0.0, cube: Cube = DESCRIBED) -> None:
        super().__init__(tosses, substeps, later, cube)
        import mujoco
        from mujoco import rollout

        from vigym.formats.mjcf.write import to_mjcf

        self.mujoco, self.rollout = mujoco, rollout
        xml = to_mjcf(cube.mechanism(), self.dt, cone="elliptic")
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)

    def set(self, friction: float = USUAL, stiffness: float = 2500.0, damping: float = 100.0, **others: float) -> None:
        self.failed = 0
        self.model.pair_friction[:, :2] = friction
        self.model.pair_solref[:] = -stiffness, -damping

    def simulate(self, k: int) -> Array:
        start, steps = self.starts[k], (self.frames[k] - 1) * self.substeps
        initial = np.zeros((len(start), self.mujoco.mj_stateSize(self.model, self.mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        initial[:, 1:] = start  # time, then x and q, then v and w, as they were measured
        states, _ = self.rollout.rollout(self.model, self.data, initial, nstep=steps)
        path = np.concatenate([initial[:, None], states[:, self.substeps - 1 :: self.substeps]], axis=1)
        given_up = (np.diff(path[:, :, 0], axis=1) <= 0).any(1)  # it starts anew, at time 0, and says so in a log
        self.failed += int(given_up.sum())
        path[given_up] = np.nan
        return path[:, :, 1:8]


class SoftMujocoEngine(MujocoEngine):
    """Contacts that hardly resist at first, and wholly from a depth `width` (m) on."""

    name = "MuJoCo, soft"
    parameters = (*MujocoEngine.parameters, Parameter("width", 1e-3, 3e-2, logarithmic=True))

    def set(
        self,
        friction: float = USUAL,
        stiffness: float = 2500.0,
        damping: float = 400.0,
        width: float = 1e-2,
        **others: float,
    ) -> None:
        super().set(friction, stiffness, damping)
        self.model.pair_solimp[:, :3] = 0.1, 0.9, width


class BulletEngine(Engine):
    """Stiffness (N/m) and damping (N s/m) of contacts, and restitution."""

    name, needs = "PyBullet, soft", "pybullet"
    parameters: tuple[Parameter, ...] = (FRICTION, *SOFTNESS, RESTITUTION)

    def __init__(self, tosses: Tosses, substeps: int = 8, later: float = 0.0, cube: Cube = DESCRIBED) -> None:
        super().__init__(tosses, substeps, later, cube)
        from vigym.formats.pybullet.convert import module, to_pybullet

        self.p: Any = module()
        self.client = self.p.connect(self.p.DIRECT)
        self.p.setPhysicsEngineParameter(fixedTimeStep=1 / RATE, numSubSteps=substeps, physicsClientId=self.client)
        self.handle = to_pybullet(cube.mechanism(), self.client)
        self.body = self.handle.bodies["cube"][0]

    def set(
        self,
        friction: float = USUAL,
        restitution: float = 0.0,
        stiffness: float = 0.0,
        damping: float = 0.0,
        **others: float,
    ) -> None:
        change, client = self.p.changeDynamics, self.client
        change(self.body, -1, lateralFriction=friction, physicsClientId=client)
        change(self.body, -1, restitution=restitution, physicsClientId=client)
        if stiffness:
            change(self.body, -1, contactStiffness=stiffness, contactDamping=damping, physicsClientId=client)

    def simulate(self, k: int) -> Array:
        p, client, number = self.p, self.client, self.body
        out = np.full((len(self.groups[k]), self.frames[k], 7), np.nan)
        for toss, start in enumerate(self.starts[k]):
            q = start[3:7]
            p.resetBasePositionAndOrientation(number, start[:3], np.roll(q, -1), physicsClientId=client)
            p.resetBaseVelocity(number, start[7:10], rotate(q, start[10:13]), physicsClientId=client)
            for frame in range(int(self.lengths[self.groups[k][toss]])):
                if frame:
                    p.stepSimulation(physicsClientId=client)
                x, turn = p.getBasePositionAndOrientation(number, physicsClientId=client)
                out[toss, frame, :3], out[toss, frame, 3:] = x, (turn[3], *turn[:3])
        return out


class RigidBulletEngine(BulletEngine):
    """Without stiffness and damping: PyBullet's contacts as they are unless one asks."""

    name, parameters = "PyBullet", (FRICTION, RESTITUTION)


ENGINES: tuple[type[Engine], ...] = (
    VigymEngine,
    SoftVigymEngine,
    MujocoEngine,
    SoftMujocoEngine,
    RigidBulletEngine,
    BulletEngine,
)
