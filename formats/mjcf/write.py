"""A mechanism as MuJoCo's XML (MJCF).

Bodies keep their frames (origin at the centre of mass), trees become nested bodies, joints that close loops equality
constraints. Frames and coordinates agree: a free axis of a vigym joint is one slide or hinge of MuJoCo with the same
sign, in the same order; three free rotations are a ball. Colliders are geoms (colliders.py). What MuJoCo cannot
express raises MechanismError.
"""

import xml.etree.ElementTree as ET
from typing import Literal

import numpy as np

from vigym.engine.body import Body
from vigym.engine.errors import InputError, MechanismError
from vigym.engine.graph import Tree
from vigym.engine.joint import Joint
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import rotate
from vigym.engine.validation import show
from vigym.formats.limits import leave_out_velocity_limits
from vigym.formats.mjcf.colliders import SOFT, add_colliders, plane_name
from vigym.formats.mjcf.rebound import bouncing
from vigym.formats.text import text
from vigym.formats.tree import first_axes, shallow_tree

Integrator = Literal["Euler", "implicit", "implicitfast", "RK4"]
Cone = Literal["exact", "pyramid", "elliptic", "pyramidal"]
CONES = {"exact": "elliptic", "pyramid": "pyramidal", "elliptic": "elliptic", "pyramidal": "pyramidal"}
POINT = 1e-3  # m: a contact point is a sphere of this radius, above a plane that is lower by as much
SOLREF = (0.02, 1.0)  # MuJoCo's default
FAR = 1e6  # m or rad: where a one-sided limit has its other side


def to_mjcf(
    mechanism: Mechanism,
    dt: float = 0.01,
    *,
    integrator: Integrator = "Euler",
    solref: tuple[float, float] | None = None,
    cone: Cone = "exact",
    impratio: float = 1.0,
    planar_loops: bool = False,
) -> str:
    """MJCF of a mechanism; its coordinates are zero where the mechanism's are.

    dt: time step, s.
    integrator: with "Euler" the kd of a drive becomes damping of its joint, which that integrator treats implicitly
        (the same effort, as long as no effort limit cuts it); with all others it stays in the actuator.
    solref: time constant (s) and damping ratio of contacts, limits and loops; None is MuJoCo's default, (0.02, 1).
        Contacts with restitution are as stiff, with the damping ratio that makes them rebound so.
    cone: of friction, "exact" (MuJoCo's elliptic one) or "pyramid", as in `Simulator`; MuJoCo's names are taken, too.
    impratio: ratio of the stiffness of friction to that of the normal force.
    planar_loops: close loops of hinges at one point, which is enough where all hinges are parallel, and not at two.

    Controls are the targets of the drives, in the order of `driven_axes`; target velocities are those of the joints.
    Dampers and springs of a ball are the same as in vigym; its drives act along the child's axes, near zero coordinates
    the same as in vigym.
    """
    if cone not in CONES:
        raise InputError(f"cone must be one of {', '.join(map(repr, CONES))}, got {show(cone)}")
    leave_out_velocity_limits(mechanism, "MuJoCo")
    root = ET.Element("mujoco", model="mechanism")
    ET.SubElement(root, "compiler", angle="radian", inertiafromgeom="false", fusestatic="false")
    options = {"timestep": repr(dt), "gravity": text(mechanism.gravity), "integrator": integrator}
    option = ET.SubElement(root, "option", options | {"cone": CONES[cone], "impratio": repr(impratio)})
    if solref is not None:
        default = ET.SubElement(root, "default")
        for tag, attributes in (
            ("geom", ("solref",)),
            ("pair", ("solref",)),
            ("equality", ("solref",)),
            ("joint", ("solreflimit", "solreffriction")),
        ):
            ET.SubElement(default, tag, {name: text(solref) for name in attributes})
    world = ET.SubElement(root, "worldbody")
    contact, equality, actuator = (ET.SubElement(root, tag) for tag in ("contact", "equality", "actuator"))
    tree = shallow_tree(mechanism)
    elements = {"world": world}
    for i in tree.order:
        body, joint = mechanism.bodies[i], tree.joints[i]
        parent = world if joint is None else elements[joint.parent]
        elements[body.name] = _body(parent, body, joint)
        if joint is None:
            ET.SubElement(elements[body.name], "freejoint", name=f"{body.name} free")
        else:
            _joints(elements[body.name], joint, integrator == "Euler")
            _drives(actuator, joint, integrator == "Euler")
    _loops(mechanism, tree, elements, equality, planar_loops)
    _couplings(mechanism, tree, equality)
    stiffness = SOLREF if solref is None else solref
    _contacts(mechanism, elements, contact, stiffness)
    add_colliders(root, mechanism, tree, elements, option, contact, stiffness)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def axis_names(joint: Joint) -> list[str]:
    """Names of the MuJoCo joints of a tree joint: one for each free axis, or one ball for three rotations."""
    rotations = [f"{joint.name} r{row}" for motion, row in joint.free_axes if motion == "rotation"]
    slides = [f"{joint.name} t{row}" for motion, row in joint.free_axes if motion == "translation"]
    return [*slides, *([f"{joint.name} ball"] if len(rotations) == 3 else rotations)]


def driven_axes(mechanism: Mechanism) -> list[int]:
    """The free axis (as vigym counts them) that each actuator of the converted mechanism drives."""
    first, tree = first_axes(mechanism), shallow_tree(mechanism)
    axes = []
    for i in tree.order:
        joint = tree.joints[i]
        if joint is not None:
            axes += [first[joint.name] + k for k in range(joint.n_free) if joint.kp[k] or joint.kd[k]]
    return axes


def _body(parent: ET.Element, body: Body, joint: Joint | None) -> ET.Element:
    """The body in its parent at zero coordinates: pos = ap - R(q_off) ac, quat = q_off."""
    at, turn = body.position, body.orientation
    if joint is not None:
        at, turn = joint.parent_anchor - rotate(joint.orientation, joint.child_anchor), joint.orientation
    element = ET.SubElement(parent, "body", name=body.name, pos=text(at), quat=text(turn))
    J = body.inertia
    off = J[0, 1], J[0, 2], J[1, 2]
    full = {"fullinertia": text([*np.diag(J), *off])} if any(off) else {"diaginertia": text(np.diag(J))}
    ET.SubElement(element, "inertial", {"pos": "0 0 0", "mass": repr(body.mass), **full})
    return element


def _joints(element: ET.Element, joint: Joint, kd_as_damping: bool) -> None:
    if joint.kind == "fixed":
        return
    free = joint.free_axes
    ball = sum(motion == "rotation" for motion, _ in free) == 3
    first_rotation = sum(motion == "translation" for motion, _ in free)
    for k, name in enumerate(axis_names(joint)):
        axes = slice(k, k + 1) if not (ball and k == first_rotation) else slice(k, k + 3)
        attributes = {"name": name, "pos": text(joint.child_anchor)}
        damping = joint.damping + (joint.kd if kd_as_damping else 0.0)
        if axes.stop - axes.start == 3:
            attributes["type"] = "ball"
            _refuse(joint, np.isfinite([joint.lower[axes], joint.upper[axes]]).any(), "limits of a ball joint's axes")
            _refuse(joint, bool(joint.rest[axes].any()), "springs of a ball joint with a rest position")
            for values in (joint.stiffness, joint.friction, damping):
                _refuse(joint, np.ptp(values[axes]) > 0, "different values on the axes of a ball joint")
        else:
            motion, row = free[k]
            attributes |= {"type": "slide" if motion == "translation" else "hinge", "axis": text(joint.basis[row])}
            lower, upper = max(joint.lower[k], -FAR), min(joint.upper[k], FAR)
            if lower > -FAR or upper < FAR:
                attributes |= {"limited": "true", "range": text([lower, upper])}
            attributes["springref"] = repr(float(joint.rest[k]))
        attributes |= {"stiffness": repr(float(joint.stiffness[k])), "damping": repr(float(damping[k]))}
        attributes |= {"frictionloss": repr(float(joint.friction[k])), "armature": repr(float(joint.armature[k]))}
        ET.SubElement(element, "joint", attributes)


def _drives(actuator: ET.Element, joint: Joint, kd_as_damping: bool) -> None:
    """An actuator for every driven axis, whose control is the target; on a ball joint it acts along one axis of the
    rotation vector."""
    names = axis_names(joint)
    for k in range(joint.n_free):
        _refuse(joint, np.isfinite(joint.no_load_speed[k]), "a motor whose effort falls with speed")
        if joint.kp[k] == 0.0 and joint.kd[k] == 0.0:
            continue
        attributes = {"name": f"{joint.name} drive {k}", "joint": names[min(k, len(names) - 1)]}
        if names[-1].endswith(" ball") and k >= len(names) - 1:
            attributes["gear"] = text([*joint.basis[k - len(names) + 1], 0, 0, 0])
        kp, kd = joint.kp[k], joint.kd[k]
        bias = kd * joint.target_velocity[k], -kp, 0.0 if kd_as_damping else -kd  # constant, by length, by velocity
        attributes |= {"gainprm": repr(float(kp)), "biastype": "affine", "biasprm": text(bias)}
        if np.isfinite(joint.effort_limit[k]):
            attributes["forcerange"] = text([-joint.effort_limit[k], joint.effort_limit[k]])
        ET.SubElement(actuator, "general", attributes)


def _loops(
    mechanism: Mechanism, tree: Tree, elements: dict[str, ET.Element], equality: ET.Element, planar: bool
) -> None:
    """Closing joints: balls are connected at their anchor, hinges at a second point of their axis too (unless planar),
    fixed joints are welded."""
    for j in tree.loops:
        joint = mechanism.joints[j]
        laws = (joint.stiffness, joint.damping, joint.kp, joint.kd, joint.friction, joint.armature)
        limits = np.isfinite([joint.lower, joint.upper, joint.velocity_limit]).any()
        _refuse(
            joint, bool(np.any(laws)) or bool(limits), "springs, dampers, drives, rotors or limits where a loop closes"
        )
        points = {"spherical": [np.zeros(3)], "revolute": [np.zeros(3), joint.basis[2]], "fixed": [np.zeros(3)]}
        _refuse(joint, joint.kind not in points, f"loops that a joint of kind {joint.kind!r} closes")
        for k, offset in enumerate(points[joint.kind][: 1 if planar else None]):
            sites = []
            for side, name, anchor, turn in (
                ("parent", joint.parent, joint.parent_anchor, joint.orientation),
                ("child", joint.child, joint.child_anchor, np.array([1.0, 0.0, 0.0, 0.0])),
            ):
                sites.append(f"{joint.name} {side} {k}")
                at = text(anchor + rotate(turn, offset))
                ET.SubElement(elements[name], "site", name=sites[-1], pos=at, quat=text(turn), size="0.001")
            kind = "weld" if joint.kind == "fixed" else "connect"
            ET.SubElement(equality, kind, name=f"{joint.name} {k}", site1=sites[0], site2=sites[1])


def _contacts(
    mechanism: Mechanism, elements: dict[str, ET.Element], contact: ET.Element, solref: tuple[float, float]
) -> None:
    """Spheres and planes that collide with nothing but each other: pairs name who meets whom, with what friction."""
    planes: dict[tuple[float, ...], str] = {}
    silent = {"contype": "0", "conaffinity": "0"}
    for c in mechanism.contacts:
        if c.compliance:
            raise MechanismError(f"contact {c.name!r}: {SOFT}")
        radius = c.radius if c.radius > 0 else POINT
        level = c.offset + c.radius - radius
        key = (*c.normal, level)
        if key not in planes:
            planes[key] = plane_name(len(planes))
            at, up = text(level * c.normal), text(c.normal)
            where = {"name": planes[key], "type": "plane", "size": "0 0 1", "pos": at, "zaxis": up}
            ET.SubElement(elements["world"], "geom", where | silent)
        sphere = {"name": c.name, "type": "sphere", "size": repr(radius), "pos": text(c.point)}
        ET.SubElement(elements[c.body], "geom", sphere | silent)
        friction = text([c.friction, c.friction, 0.0, 0.0, 0.0])
        condim = "3" if c.friction > 0 else "1"
        pair = {"geom1": planes[key], "geom2": c.name, "condim": condim, "friction": friction}
        if c.restitution > 0:
            pair["solref"] = text(bouncing(c.restitution, solref))
        ET.SubElement(contact, "pair", pair)


def _couplings(mechanism: Mechanism, tree: Tree, equality: ET.Element) -> None:
    """Couplings of one axis to another; coordinates are zero where those of MuJoCo are."""
    closing = {mechanism.joints[j].name for j in tree.loops}
    for coupling in mechanism.couplings:
        if len(coupling.leaders) > 1 or closing & {axis.joint for axis in coupling.axes}:
            raise MechanismError(
                f"coupling {coupling.name!r}: MuJoCo has none of several leaders, nor where a loop closes"
            )
        names = [axis_names(mechanism.joint(axis.joint))[axis.number] for axis in coupling.axes]
        coefficients = text([coupling.offset, *coupling.coefficients[0]])
        ET.SubElement(equality, "joint", name=coupling.name, joint1=names[0], joint2=names[1], polycoef=coefficients)


def _refuse(joint: Joint, condition: bool | np.bool_, what: str) -> None:
    if condition:
        raise MechanismError(f"joint {joint.name!r}: MuJoCo has no {what}")
