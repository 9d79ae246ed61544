"""One tree of a mechanism as URDF text for PyBullet, whose own functions for that stop at 16 shapes a link."""

import hashlib
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from vigym.engine.body import Body
from vigym.engine.collider import Collider
from vigym.engine.contact import Contact
from vigym.engine.errors import MechanismError
from vigym.engine.joint import Joint
from vigym.engine.polyhedra import Hull
from vigym.engine.rotation import from_matrix, rotation_matrix
from vigym.engine.shapes import Box, Capsule, Cylinder, Sphere
from vigym.engine.validation import Array
from vigym.formats.text import text

POINT = 1e-3  # m: a contact point is a sphere of this radius, above a plane that is lower by as much
FAR = 1e6  # m or rad: where a one-sided limit has its other side
ROUND = 1e-14  # off-diagonal moments below this, relatively, are rounding; turned axes would only hurt
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
BASE = "vigym base"  # the fixed link that stands for the world


def principal(body: Body) -> tuple[Array, Array]:
    """Principal moments (3,) and the quaternion of their axes in the body's frame."""
    J = body.inertia
    if np.abs(J - np.diag(np.diag(J))).max() < ROUND * np.abs(J).max():
        return np.diag(J).copy(), IDENTITY
    moments, axes = np.linalg.eigh(J)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return moments, from_matrix(axes)


Group = list[Contact | Collider]  # of one surface: all contacts, or all colliders


class Part(NamedTuple):
    """One of PyBullet's joints, of which a joint with several free axes takes several, one after the other.

    name; kind: of URDF. axis: (3,) in the joint frame. first: number of its free axis within the vigym joint.
    link: name of what it moves; a link without mass, except for the last part, which moves the child.
    """

    name: str
    kind: str
    axis: Array
    first: int
    link: str


def parts(joint: Joint) -> list[Part]:
    """PyBullet's joints for one of vigym: slides, then hinges, or one ball for three free rotations."""
    kinds = {"translation": "prismatic", "rotation": "revolute"}
    found = [(kinds[motion], joint.basis[row]) for motion, row in joint.free_axes]
    if sum(kind == "revolute" for kind, _ in found) == 3:
        found = [*found[:-3], ("spherical", joint.basis[2])]
    found = found or [("fixed", joint.basis[2])]
    last = len(found) - 1
    names = [joint.name] if not last else [f"vigym {joint.name} {k}" for k in range(last + 1)]
    links = [*names[:last], joint.child]
    return [Part(names[k], kind, axis, k, links[k]) for k, (kind, axis) in enumerate(found)]


def surface_link(body: Body, k: int) -> str:
    """Name of the link that carries the k-th surface of a body."""
    return body.name if k == 0 else f"vigym {body.name} surface {k}"


def urdf(links: Sequence[tuple[Body, Joint | None, Sequence[Group]]], anchored: bool) -> str:
    """Links with the joint to their parent, contacts and colliders, parents first; anchored: the root is the world.

    Contacts and colliders come in groups of one surface each; all but the first are on links of their own, fixed and
    without mass.
    The frame of a link has the axes of its body and its origin at the joint, or at the centre of mass of a root.
    """
    robot = ET.Element("robot", name="mechanism")
    origin = {BASE: np.zeros(3)}  # of each link's frame, in the frame of its body
    if anchored:
        _link(robot, BASE)
    for body, joint, surfaces in links:
        origin[body.name] = np.zeros(3) if joint is None else joint.child_anchor
        for part in parts(joint)[:-1] if joint is not None else ():
            _link(robot, part.link)  # before the body: links are numbered as they are written, parents first
        for k, solids in enumerate(surfaces or [[]]):
            name = surface_link(body, k)
            _collisions(_link(robot, name, None if k else body, origin[body.name]), solids, origin[body.name])
            if k:
                _joint(robot, Part(name, "fixed", np.eye(3)[2], 0, name), body.name, np.zeros(3), IDENTITY)
        if joint is None:
            continue
        parent = BASE if joint.parent == "world" else joint.parent
        at, turn = joint.parent_anchor - origin[parent], joint.orientation
        for part in parts(joint):
            bounds = joint.lower[part.first :], joint.upper[part.first :]
            if part.kind == "spherical" and np.isfinite(bounds).any():
                raise MechanismError(f"joint {joint.name!r}: PyBullet has no limits of a ball joint's axes")
            limits = (joint.lower[part.first], joint.upper[part.first]) if joint.n_free else (0.0, 0.0)
            _joint(robot, part, parent, at, turn, *limits)
            parent, at, turn = part.link, np.zeros(3), IDENTITY
    ET.indent(robot)  # long lines are cut off when the text is read
    return ET.tostring(robot, encoding="unicode")


def roll_pitch_yaw(R: Array) -> tuple[float, float, float]:
    """URDF's angles of a rotation matrix, R = Rz(yaw) Ry(pitch) Rx(roll); also where the pitch is a quarter turn."""
    level, yaw = np.hypot(R[0, 0], R[1, 0]), np.arctan2(R[1, 0], R[0, 0])  # there any yaw will do: roll makes up for it
    c, s = np.cos(yaw), np.sin(yaw)
    return np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1]), np.arctan2(-R[2, 0], level), yaw


def _pose(element: ET.Element, at: Array, turn: Array) -> None:
    ET.SubElement(element, "origin", xyz=text(at), rpy=text(roll_pitch_yaw(rotation_matrix(turn))))


def _link(robot: ET.Element, name: str, body: Body | None = None, origin: Array | None = None) -> ET.Element:
    """A link that carries a body, or nothing."""
    link = ET.SubElement(robot, "link", name=name)
    inertial = ET.SubElement(link, "inertial")
    moments, turn = (np.zeros(3), IDENTITY) if body is None else principal(body)
    _pose(inertial, np.zeros(3) if origin is None or body is None else -origin, turn)
    ET.SubElement(inertial, "mass", value=repr(0.0 if body is None else body.mass))
    tensor = dict(zip(("ixx", "iyy", "izz"), map(repr, map(float, moments)), strict=True))
    ET.SubElement(inertial, "inertia", tensor | {"ixy": "0", "ixz": "0", "iyz": "0"})
    return link


def _collisions(link: ET.Element, group: Group, origin: Array) -> None:
    for part in group:
        collision = ET.SubElement(link, "collision")
        solid = Sphere(part.radius or POINT, position=tuple(part.point)) if isinstance(part, Contact) else part.shape
        _pose(collision, np.array(solid.position) - origin, np.array(solid.orientation))
        geometry = ET.SubElement(collision, "geometry")
        match solid:
            case Sphere(radius=radius):
                ET.SubElement(geometry, "sphere", radius=repr(radius))
            case Capsule(radius=radius, length=length):
                ET.SubElement(geometry, "capsule", radius=repr(radius), length=repr(length))
            case Box(size=edges):
                ET.SubElement(geometry, "box", size=text(edges))
            case Cylinder(radius=radius, length=length):
                ET.SubElement(geometry, "cylinder", radius=repr(radius), length=repr(length))
            case Hull():
                ET.SubElement(geometry, "mesh", filename=hull_file(part))
            case _:
                ET.SubElement(geometry, "plane", normal="0 0 1")


def hull_file(part: Contact | Collider) -> str:
    """Name of the OBJ file of a hull."""
    return hashlib.sha256(part.name.encode()).hexdigest()[:16] + ".obj"


def hull_files(groups: Iterable[Group]) -> dict[str, str]:
    """OBJ files that the text names, of which PyBullet takes the convex hulls."""
    solids = [part for group in groups for part in group if isinstance(part, Collider)]
    return {
        hull_file(part): "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in part.shape.points)
        + "".join(f"f {a} {b} {c}\n" for a, b, c in (part.shape.triangles()[1] + 1).tolist())
        for part in solids
        if isinstance(part.shape, Hull)
    }


def _joint(
    robot: ET.Element, part: Part, parent: str, at: Array, turn: Array, lower: float = -np.inf, upper: float = np.inf
) -> None:
    limited = np.isfinite([lower, upper]).any()
    kind = "continuous" if part.kind == "revolute" and not limited else part.kind
    element = ET.SubElement(robot, "joint", name=part.name, type=kind)
    ET.SubElement(element, "parent", link=parent)
    ET.SubElement(element, "child", link=part.link)
    _pose(element, at, turn)
    ET.SubElement(element, "axis", xyz=text(part.axis))
    if part.kind in ("revolute", "prismatic"):
        # without limits a slider would be locked at zero
        limits = {"lower": repr(float(max(lower, -FAR))), "upper": repr(float(min(upper, FAR)))}
        ET.SubElement(element, "limit", limits | {"effort": "1e9", "velocity": "1e9"})
