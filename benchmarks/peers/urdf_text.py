"""One tree of a mechanism as URDF text for PyBullet, whose own functions for that stop at 16 shapes a link."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence

import numpy as np

from vigym.benchmarks.scenes.scene import Array
from vigym.engine.body import Body
from vigym.engine.contact import Contact
from vigym.engine.errors import MechanismError
from vigym.engine.joint import Joint
from vigym.engine.rotation import from_matrix, rotation_matrix

TYPES = {"fixed": "fixed", "revolute": "revolute", "prismatic": "prismatic", "spherical": "spherical"}
POINT = 1e-3  # m: a contact point is a sphere of this radius, above a plane that is lower by as much
FAR = 1e6  # m or rad: where a one-sided limit has its other side
ROUND = 1e-14  # off-diagonal moments below this, relatively, are rounding; turned axes would only hurt
BASE = "vigym base"  # the fixed link that stands for the world


def principal(body: Body) -> tuple[Array, Array]:
    """Principal moments (3,) and the quaternion of their axes in the body's frame."""
    J = body.inertia
    if np.abs(J - np.diag(np.diag(J))).max() < ROUND * np.abs(J).max():
        return np.diag(J).copy(), np.array([1.0, 0.0, 0.0, 0.0])
    moments, axes = np.linalg.eigh(J)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return moments, from_matrix(axes)


def urdf(links: Sequence[tuple[Body, Joint | None, Sequence[Contact]]], anchored: bool) -> str:
    """Links with the joint to their parent and their contacts, parents first; anchored: the root is the world.

    The frame of a link has the axes of its body and its origin at the joint, or at the centre of mass of a root.
    """
    robot = ET.Element("robot", name="mechanism")
    origin = {BASE: np.zeros(3)}  # of each link's frame, in the frame of its body
    if anchored:
        inertial = ET.SubElement(ET.SubElement(robot, "link", name=BASE), "inertial")
        ET.SubElement(inertial, "mass", value="0")
        ET.SubElement(inertial, "inertia", dict.fromkeys(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), "0"))
    for body, joint, contacts in links:
        origin[body.name] = np.zeros(3) if joint is None else joint.child_anchor
        _link(robot, body, contacts, origin[body.name])
        if joint is not None:
            parent = BASE if joint.parent == "world" else joint.parent
            _joint(robot, joint, parent, joint.parent_anchor - origin[parent])
    ET.indent(robot)  # long lines are cut off when the text is read
    return ET.tostring(robot, encoding="unicode")


def _text(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)


def _pose(element: ET.Element, at: Array, turn: Array) -> None:
    R = rotation_matrix(turn)
    rpy = np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(np.clip(R[2, 0], -1, 1)), np.arctan2(R[1, 0], R[0, 0])
    ET.SubElement(element, "origin", xyz=_text(at), rpy=_text(rpy))


def _link(robot: ET.Element, body: Body, contacts: Sequence[Contact], origin: Array) -> None:
    link = ET.SubElement(robot, "link", name=body.name)
    inertial = ET.SubElement(link, "inertial")
    moments, turn = principal(body)
    _pose(inertial, -origin, turn)
    ET.SubElement(inertial, "mass", value=repr(body.mass))
    tensor = dict(zip(("ixx", "iyy", "izz"), map(repr, map(float, moments)), strict=True))
    ET.SubElement(inertial, "inertia", tensor | {"ixy": "0", "ixz": "0", "iyz": "0"})
    for contact in contacts:
        collision = ET.SubElement(link, "collision")
        _pose(collision, contact.point - origin, np.array([1.0, 0.0, 0.0, 0.0]))
        ET.SubElement(ET.SubElement(collision, "geometry"), "sphere", radius=repr(contact.radius or POINT))


def _joint(robot: ET.Element, joint: Joint, parent: str, at: Array) -> None:
    if joint.kind not in TYPES:
        raise MechanismError(f"joint {joint.name!r}: PyBullet has no joints of kind {joint.kind!r}")
    for values, what in ((joint.stiffness, "springs"), (joint.friction, "dry friction"), (joint.damping, "dampers")):
        if values.any():
            raise MechanismError(f"joint {joint.name!r}: no {what} in this conversion to PyBullet")
    limited = bool(np.isfinite([joint.lower, joint.upper]).any())
    if limited and joint.kind == "spherical":
        raise MechanismError(f"joint {joint.name!r}: PyBullet has no limits of a ball joint's axes")
    kind = "continuous" if joint.kind == "revolute" and not limited else TYPES[joint.kind]
    element = ET.SubElement(robot, "joint", name=joint.name, type=kind)
    ET.SubElement(element, "parent", link=parent)
    ET.SubElement(element, "child", link=joint.child)
    _pose(element, at, joint.orientation)
    ET.SubElement(element, "axis", xyz=_text(joint.basis[2]))
    if joint.n_free == 1:
        # without limits a slider would be locked at zero
        lower, upper = max(joint.lower[0], -FAR), min(joint.upper[0], FAR)
        limits = {"lower": repr(float(lower)), "upper": repr(float(upper)), "effort": "1e9", "velocity": "1e9"}
        ET.SubElement(element, "limit", limits)
