"""Joints as constraints of PyBullet: all of those in maximal coordinates, and those that close loops."""

from collections.abc import Sequence

import numpy as np

from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD, Joint
from vigym.engine.rotation import conjugate, multiply, rotate
from vigym.formats.pybullet.handle import Handle, module
from vigym.formats.pybullet.urdf_text import IDENTITY


def constrain(handle: Handle, joints: Sequence[Joint], planar: bool) -> None:
    """Balls are held together at their anchor, hinges at a second point of their axis too (unless planar), what is
    fixed is welded. Bodies have to be where the mechanism has them."""
    p, client = module(), handle.client
    for joint in joints:
        if joint.kind not in ("spherical", "revolute", "fixed"):
            _refuse(joint, f"constraints of kind {joint.kind!r}")
        if np.isfinite([joint.lower, joint.upper]).any() or joint.friction.any():
            _refuse(joint, "limits or dry friction of joints that are constraints")
        if handle.maximal and joint.parent == WORLD and WORLD not in handle.bodies:
            # a rigid body cannot be tied to nothing
            number = p.createMultiBody(0, useMaximalCoordinates=True, physicsClientId=client)
            handle.bodies[WORLD], handle.turns[WORLD] = (number, -1), IDENTITY
        points = [np.zeros(3), joint.basis[2]] if joint.kind == "revolute" and not planar else [np.zeros(3)]
        handle.constraints[joint.name] = [_tie(handle, joint, point) for point in points]


def _tie(handle: Handle, joint: Joint, offset: np.ndarray) -> int:
    """One constraint, at a point given from the anchor in the joint frame. PyBullet's frames are those of the principal
    axes; the world's own, where there is no parent."""
    p, client = module(), handle.client
    child, parent = handle.bodies[joint.child], handle.bodies.get(joint.parent, (-1, -1))
    into, outof = conjugate(handle.turns[joint.child]), conjugate(handle.turns.get(joint.parent, IDENTITY))
    frames = {
        "parentFramePosition": rotate(into, joint.child_anchor + offset),
        "childFramePosition": rotate(outof, joint.parent_anchor + rotate(joint.orientation, offset)),
    }
    kind = p.JOINT_POINT2POINT
    if joint.kind == "fixed":
        kind = p.JOINT_FIXED
        frames["parentFrameOrientation"] = np.roll(into, -1)
        frames["childFrameOrientation"] = np.roll(multiply(outof, joint.orientation), -1)
    number = p.createConstraint(*child, *parent, kind, [0, 0, 0], **frames, physicsClientId=client)
    p.changeConstraint(number, maxForce=1e10, physicsClientId=client)
    return number


def _refuse(joint: Joint, what: str) -> None:
    raise MechanismError(f"joint {joint.name!r}: no {what} in this conversion to PyBullet")
