"""PyBullet: a mechanism as multi-bodies (reduced coordinates), or as rigid bodies with constraints (maximal ones)."""

import os
import tempfile
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from vigym.benchmarks.peers.tree import shallow_tree
from vigym.benchmarks.peers.urdf_text import POINT, principal, urdf
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.contact import Contact
from vigym.engine.errors import MechanismError
from vigym.engine.joint import Joint
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import conjugate, multiply, rotate
from vigym.engine.simulator import Simulator
from vigym.engine.state import State

GROUND, BODIES = 1, 2  # collision groups: bodies meet planes, and nothing else


def module() -> ModuleType:
    """PyBullet, which is imported only when it is used (it prints when that happens)."""
    try:
        import pybullet
    except ModuleNotFoundError as error:
        message = 'PyBullet is not installed; pip install "vigym[compare]" brings it (for Python below 3.12)'
        raise ModuleNotFoundError(message, name=error.name) from None
    return pybullet


@dataclass
class Handle:
    """Where the parts of a mechanism are in PyBullet.

    bodies: name -> (object, link); the link of a root is -1. joints: name -> (object, link) of tree joints.
    turns: name -> orientation of the principal axes, in which PyBullet thinks, in the body's frame.
    planes: objects of the ground; loops: constraints.
    """

    client: int
    bodies: dict[str, tuple[int, int]] = field(default_factory=dict)
    joints: dict[str, tuple[int, int]] = field(default_factory=dict)
    turns: dict[str, Array] = field(default_factory=dict)
    planes: list[int] = field(default_factory=list)
    loops: list[int] = field(default_factory=list)


def to_pybullet(
    mechanism: Mechanism, client: int | None = None, maximal: bool = False, planar_loops: bool = False
) -> Handle:
    """Put a mechanism into PyBullet; all coordinates are zero. What it cannot express raises MechanismError.

    client: of `pybullet.connect`; None connects a new one without a window (`pybullet.DIRECT`).
    maximal: every body is a rigid body of its own, and joints are point-to-point constraints (hinges: two of them).
    planar_loops: hinges that are constraints hold at one point, which is enough where all hinges are parallel.

    Restitution works where a body moves some millimetres a step; at shorter steps PyBullet brakes it before it touches.
    Damping, which PyBullet has by default, sleeping and the motors of joints are off. Drives are not converted:
    `Bullet` computes their efforts.
    """
    p = module()
    client = p.connect(p.DIRECT) if client is None else client
    handle = Handle(client)
    p.setGravity(*mechanism.gravity, physicsClientId=client)
    tree = shallow_tree(mechanism)
    contacts: dict[str, list[Contact]] = {body.name: [] for body in mechanism.bodies}
    for contact in mechanism.contacts:
        contacts[contact.body].append(contact)
    roots: dict[int, list[int]] = {}  # one list of bodies for each free body, and one (n) for all that the world holds
    n = len(mechanism.bodies)
    for i in tree.order:
        above = i
        while tree.joints[above] is not None and tree.parent[above] != n:
            above = tree.parent[above]
        alone = maximal or tree.joints[above] is None
        roots.setdefault(int(i) if maximal else int(above) if alone else n, []).append(int(i))
    for root, members in roots.items():
        links = [
            (mechanism.bodies[i], None if maximal else tree.joints[i], contacts[mechanism.bodies[i].name])
            for i in members
        ]
        _load(handle, urdf(links, anchored=root == n), [mechanism.bodies[i].name for i in members], links, maximal)
    joints = mechanism.joints if maximal else [mechanism.joints[j] for j in tree.loops]
    _place(handle, mechanism)
    if maximal and any(joint.parent == "world" for joint in joints):  # a rigid body cannot be tied to nothing
        number = p.createMultiBody(0, useMaximalCoordinates=True, physicsClientId=client)
        handle.bodies["world"], handle.turns["world"] = (number, -1), np.array([1.0, 0.0, 0.0, 0.0])
    for joint in joints:
        if joint.kind != "floating":
            _constrain(handle, joint, planar_loops)
    _ground(handle, mechanism, contacts)
    return handle


def _load(handle: Handle, text: str, names: list[str], links: Any, maximal: bool) -> None:
    p, client = module(), handle.client
    with tempfile.NamedTemporaryFile("w", suffix=".urdf", delete=False) as file:
        file.write(text)
    try:
        anchored = links[0][1] is not None
        flags = p.URDF_USE_INERTIA_FROM_FILE | p.URDF_MAINTAIN_LINK_ORDER
        number = p.loadURDF(
            file.name, useFixedBase=anchored, useMaximalCoordinates=maximal, flags=flags, physicsClientId=client
        )
    finally:
        os.unlink(file.name)
    found = {} if anchored else {names[0]: -1}
    for link in range(p.getNumJoints(number, physicsClientId=client)):
        info = p.getJointInfo(number, link, physicsClientId=client)
        found[info[12].decode()] = link
        handle.joints[info[1].decode()] = number, link
        if info[2] in (p.JOINT_REVOLUTE, p.JOINT_PRISMATIC):
            p.setJointMotorControl2(number, link, p.VELOCITY_CONTROL, force=0, physicsClientId=client)
        elif info[2] == p.JOINT_SPHERICAL:
            options = {"targetPosition": [0, 0, 0, 1], "positionGain": 0, "velocityGain": 0, "force": [0, 0, 0]}
            p.setJointMotorControlMultiDof(number, link, p.POSITION_CONTROL, **options, physicsClientId=client)
    for body, _, contacts in links:
        where = number, found[body.name]
        moments, turn = principal(body)
        handle.bodies[body.name], handle.turns[body.name] = where, turn
        surfaces = {(contact.friction, contact.restitution) for contact in contacts} or {(0.0, 0.0)}
        if len(surfaces) > 1 or len({(*c.normal, _level(c)) for c in contacts}) > 1:
            what = "one friction and restitution a link, and this conversion one plane"
            raise MechanismError(f"body {body.name!r}: PyBullet has {what}")
        ((friction, restitution),) = surfaces
        # Mass and inertia together: given alone, the mass of a rigid body becomes garbage. Friction by itself: next to
        # other values it does not reach the links of a tree.
        p.changeDynamics(*where, mass=body.mass, localInertiaDiagonal=moments.tolist(), physicsClientId=client)
        p.changeDynamics(*where, lateralFriction=friction, physicsClientId=client)
        p.changeDynamics(
            *where,
            linearDamping=0,
            angularDamping=0,
            jointDamping=0,
            restitution=restitution,
            maxJointVelocity=1e9,
            activationState=p.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=client,
        )


def _level(contact: Contact) -> float:
    return contact.offset + contact.radius - (contact.radius or POINT)


def _place(handle: Handle, mechanism: Mechanism) -> None:
    """Roots where the mechanism has them; as rigid bodies, all of them, before constraints tie them together."""
    sim = Simulator(mechanism, compiled=False)
    state = State(*(part[0] for part in sim.state))
    for i, body in enumerate(mechanism.bodies):
        if handle.bodies[body.name][1] < 0:
            set_body(handle, body.name, state, i)


def set_body(handle: Handle, name: str, state: State, i: int) -> None:
    """Pose and velocity of a root from row i of x, q, v, w."""
    p, (number, _) = module(), handle.bodies[name]
    turn = multiply(state.q[i], handle.turns[name])
    p.resetBasePositionAndOrientation(number, state.x[i], np.roll(turn, -1), physicsClientId=handle.client)
    spin = rotate(state.q[i], state.w[i])
    p.resetBaseVelocity(number, state.v[i], spin, physicsClientId=handle.client)


def _constrain(handle: Handle, joint: Joint, planar: bool) -> None:
    p = module()
    offsets = {"spherical": [np.zeros(3)], "revolute": [np.zeros(3), joint.basis[2]]}
    if joint.kind not in offsets:
        raise MechanismError(
            f"joint {joint.name!r}: no constraints of kind {joint.kind!r} in this conversion to PyBullet"
        )
    child, parent = handle.bodies[joint.child], handle.bodies.get(joint.parent, (-1, -1))
    for offset in offsets[joint.kind][: 1 if planar else None]:
        # frames are those of the principal axes; the world's own, where there is no parent
        inner = rotate(conjugate(handle.turns[joint.child]), joint.child_anchor + offset)
        outer = joint.parent_anchor + rotate(joint.orientation, offset)
        if joint.parent in handle.turns:
            outer = rotate(conjugate(handle.turns[joint.parent]), outer)
        frames = {"parentFramePosition": inner, "childFramePosition": outer}
        number = p.createConstraint(
            *child, *parent, p.JOINT_POINT2POINT, [0, 0, 0], **frames, physicsClientId=handle.client
        )
        p.changeConstraint(number, maxForce=1e10, physicsClientId=handle.client)
        handle.loops.append(number)


def _ground(handle: Handle, mechanism: Mechanism, contacts: dict[str, list[Contact]]) -> None:
    """A plane for every (normal, level) in use, each with a group of its own that only its bodies collide with."""
    p, client = module(), handle.client
    groups: dict[tuple[float, ...], int] = {}
    for body in mechanism.bodies:
        number, link = handle.bodies[body.name]
        mask = 0
        for contact in contacts[body.name][:1]:
            key = (*contact.normal, _level(contact))
            if key not in groups:
                groups[key] = GROUND << (2 * len(groups))
                shape = p.createCollisionShape(
                    p.GEOM_PLANE, planeNormal=contact.normal.tolist(), physicsClientId=client
                )
                at = (_level(contact) * contact.normal).tolist()
                # maximal: rigid bodies take twice as long on a plane that is a multi-body
                plane = p.createMultiBody(0, shape, basePosition=at, useMaximalCoordinates=True, physicsClientId=client)
                p.changeDynamics(plane, -1, lateralFriction=1.0, restitution=1.0, physicsClientId=client)
                p.setCollisionFilterGroupMask(plane, -1, groups[key], BODIES, physicsClientId=client)
                handle.planes.append(plane)
            mask = groups[key]
        p.setCollisionFilterGroupMask(number, link, BODIES, mask, physicsClientId=client)
