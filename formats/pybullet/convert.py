"""PyBullet: a mechanism as multi-bodies (reduced coordinates), or as rigid bodies with constraints (maximal ones)."""

import os
import tempfile
from collections.abc import Sequence

import numpy as np

from vigym.engine.body import Body
from vigym.engine.errors import MechanismError
from vigym.engine.joint import Joint
from vigym.engine.mechanism import Mechanism
from vigym.engine.simulator import Simulator
from vigym.engine.state import State
from vigym.formats.couples import without_colliders
from vigym.formats.limits import leave_out_velocity_limits
from vigym.formats.pybullet.colliders import add_colliders, check_colliders
from vigym.formats.pybullet.constraints import constrain
from vigym.formats.pybullet.ground import Surface, add_ground, set_surface, surfaces
from vigym.formats.pybullet.handle import Handle, module
from vigym.formats.pybullet.urdf_text import BASE, parts, principal, surface_link, urdf
from vigym.formats.tree import shallow_tree

__all__ = ["Handle", "module", "to_pybullet"]

Member = tuple[Body, Joint | None, list[Surface]]  # a body, the joint that leads to it, its surfaces


def to_pybullet(
    mechanism: Mechanism, client: int | None = None, maximal: bool = False, planar_loops: bool = False
) -> Handle:
    """Put a mechanism into PyBullet, where a `Simulator` starts. What it cannot express raises MechanismError.

    client: of `pybullet.connect`; None connects a new one without a window (`pybullet.DIRECT`).
    maximal: every body is a rigid body of its own, and joints are point-to-point constraints (hinges: two of them).
    planar_loops: hinges that are constraints hold at one point, which is enough where all hinges are parallel.

    Joints with several free axes become chains of hinges and sliders, with links in between that have no mass. Springs,
    dampers and drives, which PyBullet has not, are efforts: call `handle.apply()` before every step. Dry friction is
    PyBullet's velocity motor with that maximal force. Restitution works where a body moves some millimetres a step; at
    shorter steps PyBullet brakes it before it touches. Damping, which PyBullet has by default, and sleeping are off.
    Colliders touch as in vigym, with the same friction; where a body has several surfaces, they are on massless links.
    """
    p = module()
    check_colliders(mechanism)
    leave_out_velocity_limits(mechanism, "PyBullet")
    for coupling in mechanism.couplings:
        raise MechanismError(f"coupling {coupling.name!r}: couplings of joints are not converted to PyBullet")
    if maximal and mechanism.contacts and not mechanism.couples:  # one surface a body: that which touches something
        mechanism = without_colliders(mechanism)
    client = p.connect(p.DIRECT) if client is None else client
    handle = Handle(client, mechanism, maximal)
    p.setGravity(*mechanism.gravity, physicsClientId=client)
    tree, touching = shallow_tree(mechanism), surfaces(mechanism)
    roots: dict[int, list[int]] = {}  # one list of bodies for each free body, and one (n) for all that the world holds
    n = len(mechanism.bodies)
    for i in tree.order:
        above = i
        while tree.joints[above] is not None and tree.parent[above] != n:
            above = tree.parent[above]
        alone = maximal or tree.joints[above] is None
        roots.setdefault(int(i) if maximal else int(above) if alone else n, []).append(int(i))
    for members in roots.values():
        bodies = [mechanism.bodies[i] for i in members]
        joints = [None if maximal else tree.joints[i] for i in members]
        _load(handle, [(body, joint, touching[body.name]) for body, joint in zip(bodies, joints, strict=True)])
    sim = Simulator(without_colliders(mechanism), compiled=False)
    handle.place(State(*(part[0] for part in sim.state)))
    closing = mechanism.joints if maximal else [mechanism.joints[j] for j in tree.loops]
    constrain(handle, [joint for joint in closing if joint.kind != "floating"], planar_loops)
    add_ground(handle, touching)
    add_colliders(handle, touching)
    return handle


def _load(handle: Handle, members: Sequence[Member]) -> None:
    """One object: the links of a tree."""
    p, client = module(), handle.client
    anchored = members[0][1] is not None
    for body, _, groups in members:
        if handle.maximal and len(groups) > 1:
            raise MechanismError(f"body {body.name!r}: PyBullet has one surface and one plane a rigid body")
    with tempfile.NamedTemporaryFile("w", suffix=".urdf", delete=False) as file:
        file.write(
            urdf([(body, joint, [surface.group for surface in groups]) for body, joint, groups in members], anchored)
        )
    try:
        flags = p.URDF_USE_INERTIA_FROM_FILE | p.URDF_MAINTAIN_LINK_ORDER
        if any(surface.plane is None for _, _, groups in members for surface in groups):
            flags |= p.URDF_USE_SELF_COLLISION
        number = p.loadURDF(
            file.name, useFixedBase=anchored, useMaximalCoordinates=handle.maximal, flags=flags, physicsClientId=client
        )
    finally:
        os.unlink(file.name)
    links = {BASE if anchored else members[0][0].name: -1}
    for link in range(p.getNumJoints(number, physicsClientId=client)):
        links[p.getJointInfo(number, link, physicsClientId=client)[12].decode()] = link
    for body, joint, groups in members:
        moments, turn = principal(body)
        handle.bodies[body.name], handle.turns[body.name] = (number, links[body.name]), turn
        # Mass and inertia together: given alone, the mass of a rigid body becomes garbage.
        p.changeDynamics(
            number, links[body.name], mass=body.mass, localInertiaDiagonal=moments.tolist(), physicsClientId=client
        )
        handle.surfaces[body.name] = [(number, links[surface_link(body, k)]) for k in range(len(groups))]
        for where, surface in zip(handle.surfaces[body.name], groups, strict=True):
            set_surface(where, surface, client)
        if joint is not None:
            handle.joints[joint.name] = [(number, links[part.link]) for part in parts(joint)]
            _set_motors(handle, joint)
    for link in links.values():
        p.changeDynamics(
            number,
            link,
            linearDamping=0,
            angularDamping=0,
            jointDamping=0,
            maxJointVelocity=1e9,
            activationState=p.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=client,
        )


def _set_motors(handle: Handle, joint: Joint) -> None:
    """PyBullet's motors are on by default: off, or with the force of the dry friction."""
    p, client = module(), handle.client
    if joint.armature.any():
        raise MechanismError(f"joint {joint.name!r}: PyBullet has no armature")
    if np.isfinite(joint.no_load_speed).any():
        raise MechanismError(f"joint {joint.name!r}: PyBullet has no motor whose effort falls with speed")
    for part, where in zip(parts(joint), handle.joints[joint.name], strict=True):
        if part.kind == "spherical":
            if joint.friction[part.first :].any():
                raise MechanismError(f"joint {joint.name!r}: PyBullet has no dry friction about a ball joint's axes")
            options = {"targetPosition": [0, 0, 0, 1], "positionGain": 0, "velocityGain": 0, "force": [0, 0, 0]}
            p.setJointMotorControlMultiDof(*where, p.POSITION_CONTROL, **options, physicsClientId=client)
        elif part.kind != "fixed":
            force = float(joint.friction[part.first])
            p.setJointMotorControl2(*where, p.VELOCITY_CONTROL, targetVelocity=0, force=force, physicsClientId=client)
