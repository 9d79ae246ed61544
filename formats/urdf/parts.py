"""The parts of a URDF file, element by element: links, joints, geometry, materials, as plain records.

Lengths in m, masses in kg, angles in rad. Poses are (position, orientation) of a frame in the one it is written in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vigym.engine.errors import MechanismError
from vigym.engine.rotation import multiply, rotate, rotation_matrix
from vigym.engine.shapes import Box, Capsule, Color, Cylinder, Shape, Sphere
from vigym.engine.surface import Surface
from vigym.engine.validation import Array, show, suggestion
from vigym.formats.urdf.mesh import find_mesh
from vigym.formats.urdf.xml import Element

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
_LINK_PARTS = ("inertial", "visual", "collision", "contact", "audio_source", "self_collision_checking", "verbose")
_JOINT_PARTS = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller")
_SHORTEST_AXIS = 1e-9
_MOST_HINTS = 1000  # files have a few dozen tags; looking for the nearest one takes long


@dataclass(frozen=True, eq=False)
class Pose:
    """A frame in another one: `position` (3,), `orientation` (4,) unit quaternion, scalar first."""

    position: Array
    orientation: Array

    def __matmul__(self, inner: "Pose") -> "Pose":
        """The frame `inner`, which is given in this one, seen from outside."""
        return Pose(self.apply(inner.position), multiply(self.orientation, inner.orientation))

    def apply(self, point: Array) -> Array:
        """A point, or points (n, 3), of this frame, seen from outside."""
        return self.position + rotate(self.orientation, point)


def placed(solid: Shape, pose: Pose) -> Shape:
    """The solid, with its frame at `pose`."""
    x, y, z = pose.position.tolist()
    a, b, c, d = pose.orientation.tolist()
    return replace(solid, position=(x, y, z), orientation=(a, b, c, d))


IDENTITY = Pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


@dataclass(frozen=True, eq=False)
class MeshPart:
    """A mesh: `filename` as written, `path` where it was found (or None), `scale` (3,) of its coordinates."""

    filename: str
    path: Path | None
    scale: Array


@dataclass(frozen=True, eq=False)
class Geometry:
    """A visual or collision element: a solid placed in the link frame, or a mesh, or neither (not understood).

    surfaces: what a visual mesh looks like, in the link frame.
    """

    element: Element
    pose: Pose
    solid: Shape | None = None
    mesh: MeshPart | None = None
    color: Color | None = None
    surfaces: tuple[Surface, ...] = ()

    @property
    def drawn(self) -> tuple[Shape, ...]:
        """Its solid, or its surfaces."""
        return self.surfaces if self.solid is None else (self.solid,)


Surfaces = Callable[[Geometry], tuple[Surface, ...]]


@dataclass(frozen=True, eq=False)
class Link:
    """mass: None where there is no <inertial>; com: (3,) in the link frame; inertia: (3, 3) about it, link axes.

    friction: Coulomb coefficient of <contact><lateral_friction>, or None.
    """

    element: Element
    name: str
    mass: float | None
    com: Array
    inertia: Array
    visuals: tuple[Geometry, ...]
    collisions: tuple[Geometry, ...]
    friction: float | None

    @property
    def looks(self) -> tuple[Shape, ...]:
        """Solids and surfaces that are drawn, in the link frame: visual ones, or, if there are none, those that
        collide, in the colour of the visuals."""
        if drawn := tuple(shape for visual in self.visuals for shape in visual.drawn):
            return drawn
        color = next((visual.color for visual in self.visuals if visual.color is not None), None)
        return tuple(replace(part.solid, color=color) for part in self.collisions if part.solid is not None)


@dataclass(frozen=True)
class Mimic:
    """position = multiplier * position of `joint` + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class JointPart:
    """A joint as written: `origin` in the parent link's frame, `axis` in the child's; infinite where not limited."""

    element: Element
    name: str
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: Array
    lower: float
    upper: float
    effort: float
    velocity: float
    damping: float
    friction: float
    mimic: Mimic | None


def read_pose(element: Element) -> Pose:
    """The <origin> inside an element: xyz, and rpy as R = Rz(yaw) Ry(pitch) Rx(roll)."""
    origin = element.find("origin")
    if origin is None:
        return IDENTITY
    zero = (0.0, 0.0, 0.0)
    half = 0.5 * origin.vector("rpy", 3, zero)
    (cr, cp, cy), (sr, sp, sy) = np.cos(half), np.sin(half)
    q = [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]
    return Pose(origin.vector("xyz", 3, zero), np.array(q))


def read_materials(robot: Element) -> dict[str, Color]:
    """Colours by name, of materials declared at the top or first used inside a link."""
    colors = {}
    inside = [m for link in robot.all("link") for visual in link.all("visual") for m in visual.all("material")]
    for material in [*inside, *robot.all("material")]:
        name, color = material.attributes.get("name"), _color(material)
        if name and color is not None:
            colors[name] = color
    return colors


def _color(material: Element) -> Color | None:
    color = material.find("color")
    if color is None:
        return None
    values = color.vector("rgba", 4)
    if ((values < 0.0) | (values > 1.0)).any():
        color.note(f"rgba={show(color.attributes['rgba'])} is not within 0 and 1, cut off")
    r, g, b, a = np.clip(values, 0.0, 1.0).tolist()
    return (r, g, b, a)


def read_link(
    element: Element, materials: Mapping[str, Color], packages: Mapping[str, Path], surfaces: Surfaces | None = None
) -> Link:
    """A <link>; `surfaces` reads its visual meshes, which are not drawn without it."""
    _note_unknown(element, _LINK_PARTS)
    mass, com, inertia = _inertial(element.find("inertial"))
    visuals = [_geometry(part, materials, packages) for part in element.all("visual")]
    if surfaces is not None:
        visuals = [replace(visual, surfaces=surfaces(visual)) if visual.mesh else visual for visual in visuals]
    collisions = [_geometry(part, materials, packages) for part in element.all("collision")]
    contact = element.find("contact")
    lateral = None if contact is None else contact.find("lateral_friction")
    friction = None if lateral is None else lateral.number("value", at_least=0.0)
    name = element.text("name")
    return Link(element, name, mass, com, inertia, tuple(visuals), tuple(collisions), friction)


def _inertial(element: Element | None) -> tuple[float | None, Array, Array]:
    if element is None:
        return None, np.zeros(3), np.zeros((3, 3))
    pose = read_pose(element)
    mass = element.need("mass").number("value", at_least=0.0)
    tensor = element.find("inertia")
    if tensor is None:
        if mass > 0.0:
            raise element.error("<inertia> is missing inside it; add it")
        return mass, pose.position, np.zeros((3, 3))
    xx, yy, zz = (tensor.number(name) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (tensor.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    R = rotation_matrix(pose.orientation)
    return mass, pose.position, R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T


def _geometry(element: Element, materials: Mapping[str, Color], packages: Mapping[str, Path]) -> Geometry:
    pose, color = read_pose(element), None
    if (material := element.find("material")) is not None:
        color = _color(material) or materials.get(material.attributes.get("name", ""))
    for part in element.need("geometry").elements:
        if part.tag == "mesh":
            scale = part.vector("scale", 3, (1.0, 1.0, 1.0))
            if not scale.all():
                raise part.error(f"scale={show(part.attributes['scale'])} must not be zero")
            filename = part.text("filename")
            path = find_mesh(filename, part.document.folders, packages)
            return Geometry(part, pose, mesh=MeshPart(filename, path, scale), color=color)
        if part.tag in ("box", "sphere", "cylinder", "capsule"):
            try:
                solid = placed(replace(_solid(part), color=color), pose)
            except MechanismError as cause:
                part.note(f"{cause}; left out")
                return Geometry(part, pose)
            return Geometry(part, pose, solid=solid, color=color)
    inside = [part.tag for part in element.need("geometry").elements]
    what = f"<{inside[0]}> is not a shape that is known" if inside else "it is empty"
    element.need("geometry").note(f"{what} (box, sphere, cylinder, capsule, mesh), left out")
    return Geometry(element, pose)


def _solid(part: Element) -> Shape:
    if part.tag == "box":
        x, y, z = part.vector("size", 3).tolist()
        return Box((x, y, z))
    radius = part.number("radius")
    if part.tag == "sphere":
        return Sphere(radius)
    return (Cylinder if part.tag == "cylinder" else Capsule)(radius, part.number("length"))


def read_joint(element: Element) -> JointPart:
    """A <joint>."""
    name, kind = element.text("name"), element.text("type")
    _note_unknown(element, _JOINT_PARTS)
    if kind not in KINDS:
        raise element.error(f"type {kind!r} is unknown; {suggestion(kind, KINDS)}")
    axis_element = element.find("axis")
    axis = np.array([1.0, 0.0, 0.0]) if axis_element is None else axis_element.vector("xyz", 3, (1.0, 0.0, 0.0))
    directed = kind not in ("fixed", "floating", "spherical")
    if axis_element is not None and directed and np.abs(axis).max() < _SHORTEST_AXIS:
        raise axis_element.error("xyz must not be zero; give the direction of the joint")
    lower, upper, effort, velocity = _limits(element, kind)
    dynamics, mimic = element.find("dynamics"), element.find("mimic")
    return JointPart(
        element=element,
        name=name,
        kind=kind,
        parent=element.need("parent").text("link"),
        child=element.need("child").text("link"),
        origin=read_pose(element),
        axis=axis,
        lower=lower,
        upper=upper,
        effort=effort,
        velocity=velocity,
        damping=0.0 if dynamics is None else dynamics.number("damping", 0.0, at_least=0.0),
        friction=0.0 if dynamics is None else dynamics.number("friction", 0.0, at_least=0.0),
        mimic=None
        if mimic is None
        else Mimic(mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)),
    )


def _limits(element: Element, kind: str) -> tuple[float, float, float, float]:
    """Lower, upper, effort, velocity; infinite where there is no limit."""
    limit = element.find("limit")
    ranged = kind in ("revolute", "prismatic")
    if limit is None or kind == "fixed":
        if ranged:
            element.note("<limit> is missing, so it moves without limits; add it, or make the type 'continuous'")
        return -np.inf, np.inf, np.inf, np.inf
    effort = limit.number("effort", np.inf, at_least=0.0, infinite=True)
    velocity = limit.number("velocity", np.inf, at_least=0.0, infinite=True)
    if effort == 0.0:
        limit.note(f"effort=0 of joint {element.text('name')!r} is taken as not limited")
        effort = np.inf
    if velocity == 0.0:
        limit.note(f"velocity=0 of joint {element.text('name')!r} is taken as not limited")
        velocity = np.inf
    lower, upper = -np.inf, np.inf
    given = {"lower", "upper"} & limit.attributes.keys()
    if ranged and not given:
        limit.note(f"lower and upper are missing: joint {element.text('name')!r} moves without limits")
    elif ranged:
        lower, upper = (limit.number(side, 0.0, infinite=True) for side in ("lower", "upper"))
        if lower == upper:
            raise limit.error(f"lower = upper = {lower:g}: it cannot move; give it a range, or make the type 'fixed'")
        if lower > upper:
            limit.note(f"lower {lower:g} > upper {upper:g}: joint {element.text('name')!r} moves without limits")
            lower, upper = -np.inf, np.inf
    elif given:
        limit.note(f"lower and upper mean nothing for type {kind!r} (joint {element.text('name')!r}), left out")
    return lower, upper, effort, velocity


def _note_unknown(element: Element, known: tuple[str, ...]) -> None:
    """Warn about parts whose name looks like a typing mistake; what else is unknown belongs to other programs."""
    for part in element.elements:
        if part.tag not in known and (hint := _hint(part, known)).startswith("did you mean"):
            part.note(f"unknown inside {element.label}, left out; {hint}")


def _hint(part: Element, known: tuple[str, ...]) -> str:
    hints, key = part.document.hints, (known, part.tag)
    if key not in hints and len(hints) < _MOST_HINTS:
        hints[key] = suggestion(part.tag, known)
    return hints.get(key, "")
