"""A mechanism in PyBullet: where its parts are, its state in vigym's terms, and what acts on its joints."""

from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.errors import MechanismError
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, rotate
from vigym.engine.simulator import Simulator
from vigym.engine.state import State
from vigym.engine.validation import Array
from vigym.formats.couples import without_colliders
from vigym.formats.pybullet.efforts import Efforts
from vigym.formats.pybullet.urdf_text import parts
from vigym.formats.tree import first_axes, shallow_tree

Link = tuple[int, int]  # PyBullet's numbers of an object and of its link; the link of a root is -1
NO_TIME = 1e-12  # s: a step in which nothing moves
INSTANT = 1e-6  # s: rates over so short a step are those of the velocities, to about 1e-10
NOTHING = 1e-9  # rad, m, and the same a second: coordinates and rates that are zero but for rounding
# Coordinates of an object, seven of its base and four of a ball among them, that PyBullet's messages have room for
# (MAX_DEGREE_OF_FREEDOM). With more, setting a joint makes others NaN, and the velocity of the base and poses of links
# that it tells are wrong; its physics are not.
ROOM = 128


def module() -> ModuleType:
    """PyBullet, which is imported only when it is used (it prints when that happens)."""
    try:
        import pybullet
    except ModuleNotFoundError as error:
        message = 'PyBullet is not installed; pip install "vigym[compare]" brings it (for Python below 3.12)'
        raise ModuleNotFoundError(message, name=error.name) from None
    return pybullet


@dataclass(eq=False)
class Handle:
    """Places of the parts of a mechanism in PyBullet.

    client: of `pybullet.connect`. maximal: every body is an object of its own.
    bodies: name -> (object, link). turns: name -> orientation of the principal axes, in which PyBullet thinks, in the
    body's frame.
    joints: name -> (object, link) of each of a tree joint's free axes in order (three free rotations share one; a
    fixed joint has one too). constraints: name -> numbers of the constraints of a joint that is none of a tree.
    surfaces: name of a body -> (object, link) of its contacts, in groups of one friction, restitution and plane, and of
    its colliders. colliders: name -> (object, link) that carries it. planes: objects that contacts touch.
    """

    client: int
    mechanism: Mechanism
    maximal: bool = False
    bodies: dict[str, Link] = field(default_factory=dict)
    turns: dict[str, Array] = field(default_factory=dict)
    joints: dict[str, list[Link]] = field(default_factory=dict)
    constraints: dict[str, list[int]] = field(default_factory=dict)
    surfaces: dict[str, list[Link]] = field(default_factory=dict)
    colliders: dict[str, Link] = field(default_factory=dict)
    planes: list[int] = field(default_factory=list)
    _efforts: Efforts | None = None
    _sim: Simulator | None = None

    def apply(
        self,
        effort: ArrayLike | None = None,
        *,
        target: ArrayLike | None = None,
        target_velocity: ArrayLike | None = None,
    ) -> None:
        """Springs, dampers, drives and efforts for the next step: call it before every `stepSimulation`.

        All are (n_axes,), in the order of `Simulator.joint_positions`: the free axes of the joints in the order in
        which these were added, translations first. effort: N or N m, None is zero; target, target_velocity: of the
        drives, None leaves the last ones. The laws are vigym's, but explicit: evaluated at the beginning of the step.
        """
        if self._efforts is None:
            self._efforts = Efforts(module(), self)
        self._efforts.apply(effort, target, target_velocity)

    @cached_property
    def crowded(self) -> set[int]:
        """Objects with more coordinates than PyBullet's messages have room for, see ROOM."""
        p, objects = module(), {number for number, _ in self.bodies.values()}
        width = {p.JOINT_FIXED: 0, p.JOINT_REVOLUTE: 1, p.JOINT_PRISMATIC: 1, p.JOINT_SPHERICAL: 4}

        def coordinates(number: int) -> int:
            count = p.getNumJoints(number, physicsClientId=self.client)
            kinds = (p.getJointInfo(number, link, physicsClientId=self.client)[2] for link in range(count))
            return 7 + sum(width[kind] for kind in kinds)

        return {number for number in objects if coordinates(number) > ROOM}

    def place(self, state: State) -> None:
        """Bodies at x, q, v, w (n_bodies, 3 or 4).

        Joints of crowded objects stay as they are: at zero and without motion, if they were just loaded. After steps,
        go back to that first (`pybullet.saveState`, `restoreState`). A state with other coordinates or rates of these
        joints raises MechanismError.
        """
        self._place(state)
        if self.maximal:
            # rigid bodies keep their inertia in the world of where they were, until the end of a step
            p, client = module(), self.client
            step = p.getPhysicsEngineParameters(physicsClientId=client)["fixedTimeStep"]
            p.setTimeStep(NO_TIME, physicsClientId=client)
            p.stepSimulation(physicsClientId=client)
            p.setTimeStep(step, physicsClientId=client)
            self._place(state)

    def _place(self, state: State) -> None:
        p = module()
        if self._sim is None:
            self._sim = Simulator(without_colliders(self.mechanism), dt=INSTANT, compiled=False)
        self._sim.set_state(x=state.x, q=state.q, v=state.v, w=state.w)
        positions, rates = self._sim.joint_positions()[0], self._sim.joint_velocities()[0]
        first, tree = first_axes(self.mechanism), shallow_tree(self.mechanism)
        for i, (body, joint) in enumerate(zip(self.mechanism.bodies, tree.joints, strict=True)):
            if joint is None or self.maximal:
                self._place_root(body.name, state, i)
                continue
            if self.bodies[body.name][0] in self.crowded:
                axes = slice(first[joint.name], first[joint.name] + joint.n_free)
                if max(np.abs(values[axes]).max(initial=0.0) for values in (positions, rates)) > NOTHING:
                    limit = f"PyBullet cannot set joints of an object with more than {ROOM} coordinates"
                    raise MechanismError(f"joint {joint.name!r} does not start at rest at zero: {limit}")
                continue
            for part, where in zip(parts(joint), self.joints[joint.name], strict=True):
                k = first[joint.name] + part.first
                if part.kind in ("revolute", "prismatic"):
                    p.resetJointState(*where, positions[k], rates[k], physicsClientId=self.client)
                elif part.kind == "spherical":
                    # balls turn in the frame of the principal axes
                    into = conjugate(self.turns[body.name])
                    along = (rotate(into, values[k : k + 3] @ joint.basis) for values in (positions, rates))
                    turn, spin = np.roll(from_rotation_vector(next(along)), -1), next(along)
                    p.resetJointStateMultiDof(*where, turn.tolist(), spin.tolist(), physicsClientId=self.client)

    def _place_root(self, name: str, state: State, i: int) -> None:
        p, (number, _) = module(), self.bodies[name]
        turn = multiply(state.q[i], self.turns[name])
        p.resetBasePositionAndOrientation(number, state.x[i], np.roll(turn, -1), physicsClientId=self.client)
        p.resetBaseVelocity(number, state.v[i], rotate(state.q[i], state.w[i]), physicsClientId=self.client)

    def need_room(self) -> None:
        """MechanismError if an object is crowded: what PyBullet tells about it is wrong."""
        if self.crowded:
            raise MechanismError(f"PyBullet cannot tell the state of an object with more than {ROOM} coordinates")

    def poses(self) -> tuple[Array, Array]:
        """x (n_bodies, 3) and q (n_bodies, 4) of all bodies."""
        self.need_room()
        p, bodies = module(), self.mechanism.bodies
        x, q = np.zeros((len(bodies), 3)), np.zeros((len(bodies), 4))
        for i, body in enumerate(bodies):
            number, link = self.bodies[body.name]
            if link < 0:
                x[i], turn = p.getBasePositionAndOrientation(number, physicsClientId=self.client)
                q[i] = multiply(np.roll(turn, 1), conjugate(self.turns[body.name]))
            else:
                state = p.getLinkState(number, link, computeForwardKinematics=1, physicsClientId=self.client)
                x[i], q[i] = state[0], np.roll(state[5], 1)
        return x, q

    def velocities(self) -> tuple[Array, Array]:
        """v (n_bodies, 3) of centres of mass and angular velocities (n_bodies, 3), both in the world."""
        self.need_room()
        p, bodies = module(), self.mechanism.bodies
        v, omega = np.zeros((len(bodies), 3)), np.zeros((len(bodies), 3))
        for i, body in enumerate(bodies):
            number, link = self.bodies[body.name]
            if link < 0:
                v[i], omega[i] = p.getBaseVelocity(number, physicsClientId=self.client)
            else:
                options = {"computeLinkVelocity": 1, "computeForwardKinematics": 1, "physicsClientId": self.client}
                v[i], omega[i] = p.getLinkState(number, link, **options)[6:8]
        return v, omega
