"""URDF files: `load_urdf` gives a mechanism, `read_urdf` also what a mechanism has no place for."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import multiply, rotate
from vigym.engine.shapes import Color
from vigym.engine.validation import (
    Array,
    choice,
    count,
    file_path,
    flag,
    number,
    read_only,
    show,
    suggestion,
    unit_quaternion,
    vector,
    words,
)
from vigym.formats.meshes import check_extra
from vigym.formats.urdf.build import add_contacts, build, place_of
from vigym.formats.urdf.contact import CYLINDERS
from vigym.formats.urdf.parts import JointPart, Link, Mimic, Pose, read_joint, read_link, read_materials
from vigym.formats.urdf.solids import add_solids
from vigym.formats.urdf.surfaces import visual_surfaces
from vigym.formats.urdf.tree import Arrangement, Options, arrange, find_root
from vigym.formats.urdf.xml import Element, UrdfError, UrdfWarning, parse

__all__ = ["LinkFrame", "Mesh", "Mimic", "UrdfError", "UrdfModel", "UrdfWarning", "load_urdf", "read_urdf"]

MIMIC = ("couple", "error", "free")
MOST_LINKS = 10_000
Named = TypeVar("Named", Link, JointPart)
Gain = float | Mapping[str, ArrayLike]


@dataclass(frozen=True, eq=False)
class LinkFrame:
    """Place of a link: the pose of its frame in the frame of `body` ("world": it does not move), and its mass, kg."""

    body: str
    position: Array
    orientation: Array
    mass: float


@dataclass(frozen=True, eq=False)
class Mesh:
    """A visual mesh, for display: its pose in the frame of `body`, `scale` (3,) of its coordinates, its colour.

    path: None if the file was not found; filename: as written.
    """

    link: str
    body: str
    filename: str
    path: Path | None
    scale: Array
    position: Array
    orientation: Array
    color: Color | None


@dataclass(frozen=True, eq=False)
class UrdfModel:
    """A URDF file, read.

    name: of the robot. path: of the file. mechanism: what is simulated.
    links: by name, in the order of the file. meshes: visual ones.
    velocity_limits: by joint name, m/s or rad/s, as the file has them. mimics: joints that the file couples to others,
    whether the mechanism does or not. warnings: what was mended or left out.
    """

    name: str
    path: Path
    mechanism: Mechanism
    links: Mapping[str, LinkFrame]
    meshes: tuple[Mesh, ...]
    velocity_limits: Mapping[str, float]
    mimics: Mapping[str, Mimic]
    warnings: tuple[str, ...]

    def link_poses(self, x: ArrayLike, q: ArrayLike) -> tuple[Array, Array]:
        """Positions (..., n_links, 3) and orientations (..., n_links, 4) of all link frames in the world.

        x, q: poses of the bodies, (..., n_bodies, 3 | 4), as in `Simulator.state`. Links as in `links`.
        """
        x, q = np.asarray(x, float), np.asarray(q, float)
        index = {body.name: i for i, body in enumerate(self.mechanism.bodies)}
        positions = np.zeros((*x.shape[:-2], len(self.links), 3))
        orientations = np.zeros((*x.shape[:-2], len(self.links), 4))
        for k, frame in enumerate(self.links.values()):
            if frame.body == WORLD:
                positions[..., k, :], orientations[..., k, :] = frame.position, frame.orientation
            else:
                i = index[frame.body]
                positions[..., k, :] = x[..., i, :] + rotate(q[..., i, :], frame.position)
                orientations[..., k, :] = multiply(q[..., i, :], frame.orientation)
        return positions, orientations


def load_urdf(path: str | PathLike[str], *, floating: bool = False, **options: Any) -> Mechanism:
    """The mechanism of a URDF file, `read_urdf(path, floating=floating, **options).mechanism`.

    floating: the root link flies freely; otherwise it is fixed to the world. Links that are fixed to each other are one
    body, named after the one nearest to the root; joints keep their names.
    options: kp, kd, velocity_limits, contacts, friction, packages, position, orientation, cylinders, rim_points, mimic,
    default_mass, repair_inertia, meshes, collide, decompose; see `read_urdf`.
    """
    return read_urdf(path, floating=floating, **options).mechanism


def read_urdf(
    path: str | PathLike[str],
    *,
    floating: bool = False,
    kp: Gain = 0.0,
    kd: Gain = 0.0,
    velocity_limits: bool = True,
    contacts: Iterable[str] | None = None,
    friction: float = 0.8,
    packages: Mapping[str, str | PathLike[str]] | None = None,
    position: ArrayLike = (0.0, 0.0, 0.0),
    orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    cylinders: str = "rim",
    rim_points: int = 8,
    mimic: str = "couple",
    default_mass: float = 0.0,
    repair_inertia: bool = True,
    meshes: bool | None = None,
    collide: bool = False,
    decompose: bool = False,
) -> UrdfModel:
    """A URDF file with its mechanism, link frames, meshes and velocity limits.

    floating: the root link flies freely; otherwise it is fixed to the world and becomes part of it.
    kp, kd: gains of PD drives, N m/rad and N m s/rad (N/m and N s/m of slides): a number for all moving joints, or a
        dict by joint name; a drive's effort is limited by the file's <limit effort>. Joints that follow others get
        none from a number.
    velocity_limits: joints keep to the file's <limit velocity>; False leaves their velocities free.
    contacts: names of the links whose collision shapes may touch the ground z = 0; None is all links of a floating
        robot and none of a fixed one.
    friction: Coulomb coefficient of links without <contact><lateral_friction>.
    packages: folder of each package, for package:// paths; else the folders above the file are searched.
    position, orientation: (3,) m and (4,) scalar first, of the root link's frame in the world.
    cylinders: "rim", contact points around both ends, `rim_points` each; or "spheres", of the cylinder's radius.
    mimic: "couple" makes joints that <mimic> others followers (`Mechanism.add_coupling`, named as the joint), "error"
        refuses them, "free" leaves them uncoupled.
    default_mass: kg, of links without <inertial>; their inertia is as many kg m^2 about each axis (PyBullet: 1).
    repair_inertia: mend, with a warning, inertias that no solid can have; False makes them an error.
    meshes: draw visual meshes (OBJ, STL, DAE), which needs the extra `meshes`; False draws collision shapes instead;
        None is True where the extra is installed.
    collide: make colliders of all collision shapes, which touch each other, the world and whatever is added; meshes
        become their convex hulls, which needs the extra `meshes`. There are no contact points then, unless `contacts`
        names links. False: contact points alone, and nothing touches but the ground z = 0.
    decompose: with `collide`, several convex hulls of parts of each mesh, found by CoACD (`pip install coacd`).
    """
    if isinstance(path, str) and path.lstrip().startswith("<"):
        raise MechanismError(f"path must be that of a file, got its text: {show(path)}; write it to a file first")
    file = Path(file_path(path, error=MechanismError))
    floating, repair_inertia = flag(floating, "floating"), flag(repair_inertia, "repair_inertia")
    velocity_limits = flag(velocity_limits, "velocity_limits")
    if isinstance(contacts, str):
        raise MechanismError(f"contacts must be a list of names of links, got {contacts!r}; give [{contacts!r}]")
    links_to_touch = None if contacts is None else words(contacts, "contacts (names of links)")
    friction = number(friction, "friction", at_least=0.0)
    rim_points = count(rim_points, "rim_points")
    base = Pose(vector(position, (3,), "position"), unit_quaternion(orientation, "orientation"))
    options = Options(floating, base, number(default_mass, "default_mass", at_least=0.0), repair_inertia)
    cylinders, mimic = choice(cylinders, CYLINDERS, "cylinders"), choice(mimic, MIMIC, "mimic")
    folders = _folders({} if packages is None else packages)
    collide, decompose = flag(collide, "collide"), flag(decompose, "decompose")
    if decompose and not collide:
        raise MechanismError("decompose=True needs collide=True: it tells what becomes of meshes that collide")
    if meshes is not None and flag(meshes, "meshes"):
        check_extra("meshes=True")

    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is an error that says where it is
        robot = parse(file)
        materials = read_materials(robot)
        surfaces = None if meshes is False else visual_surfaces(robot)
        links = _by_name([read_link(element, materials, folders, surfaces) for element in _some(robot, "link")])
        joints = _by_name([read_joint(element) for element in _some(robot, "joint")])
        mimics = _mimics(joints, mimic)
        arrangement = arrange(links, list(joints.values()), find_root(robot, links, list(joints.values())), options)
        if not arrangement.bodies():
            raise robot.error("nothing in it can move; load it with floating=True, or leave it out")
        mechanism = build(arrangement, list(joints.values()), velocity_limits)
        followers = mimics if mimic == "couple" else {}
        for name, own in followers.items():
            with place_of(joints[name].element.need("mimic")):
                mechanism.add_coupling(name, name, own.joint, ratio=own.multiplier, offset=own.offset)
        for name, gains in _drives(robot, joints, {"kp": kp, "kd": kd}, followers).items():
            mechanism.set_drive(name, **gains)
        mechanism.add_scenery(shape for group in arrangement.fixed() for shape in group.shapes())
        touching = [links[name] for name in _contact_links(robot, links, links_to_touch, floating and not collide)]
        add_contacts(mechanism, arrangement, touching, friction, cylinders, rim_points)
        overlapping = add_solids(mechanism, arrangement, links.values(), friction, decompose) if collide else []
        if overlapping:
            shown = ", ".join(f"{first!r} and {second!r}" for first, second in overlapping[:3])
            more = f" and {len(overlapping) - 3} more pairs" if len(overlapping) > 3 else ""
            robot.note(f"shapes that overlap with all joints at zero do not touch each other: {shown}{more}")

        model = UrdfModel(
            name=robot.attributes.get("name", ""),
            path=file,
            mechanism=mechanism,
            links={name: _frame(link, arrangement, options) for name, link in links.items()},
            meshes=tuple(mesh for link in links.values() for mesh in _meshes(link, arrangement)),
            velocity_limits={name: joint.velocity for name, joint in joints.items() if np.isfinite(joint.velocity)},
            mimics=mimics,
            warnings=robot.document.warnings,
        )
    for text in model.warnings:
        warn(text, UrdfWarning, stacklevel=2)
    return model


def _folders(packages: Mapping[str, str | PathLike[str]]) -> dict[str, Path]:
    """Folders of packages by name; an error if they are anything else."""
    if not isinstance(packages, Mapping) or not all(isinstance(name, str) for name in packages):
        raise MechanismError(f"packages must be a dictionary of names and folders, got {show(packages)}")
    return {name: Path(file_path(folder, f"packages[{name!r}]", MechanismError)) for name, folder in packages.items()}


def _some(robot: Element, tag: str) -> list[Element]:
    """The links or joints of a robot; an error if there are too many of them."""
    found = list(robot.all(tag))
    if len(found) > MOST_LINKS:
        raise found[MOST_LINKS].error(f"there are {len(found):,} {tag}s; at most {MOST_LINKS:,} are read")
    return found


def _by_name(parts: Iterable[Named]) -> dict[str, Named]:
    """Links or joints by name, which must be unique."""
    found: dict[str, Named] = {}
    for part in parts:
        if part.name in found:
            line = found[part.name].element.line
            raise part.element.error(f"the name is taken by line {line}; names must be unique")
        found[part.name] = part
    return found


def _drives(
    robot: Element, joints: Mapping[str, JointPart], given: Mapping[str, Gain], followers: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Gains by joint name, of the joints that have some; `followers` have none but by name."""
    found: dict[str, dict[str, Any]] = {}
    moving = [name for name, joint in joints.items() if joint.kind not in ("fixed", "floating")]
    for gain, value in given.items():
        if isinstance(value, Mapping):
            for name in value:
                if name not in moving:
                    why = (
                        "does not move by a drive" if name in joints else f"is unknown; {suggestion(str(name), moving)}"
                    )
                    raise robot.error(f"{gain}: joint {show(name)} {why}")
        elif number(value, gain, at_least=0.0) == 0.0:
            continue
        leaders = [name for name in moving if name not in followers]
        gains = value if isinstance(value, Mapping) else dict.fromkeys(leaders, value)
        for name, own in gains.items():
            found.setdefault(name, {})[gain] = own
    return found


def _mimics(joints: Mapping[str, JointPart], mimic: str) -> dict[str, Mimic]:
    """Couplings by the name of the joint that follows; an error, or a warning, as `mimic` says."""
    found = {}
    for name, joint in joints.items():
        if joint.mimic is None:
            continue
        leader, element = joint.mimic.joint, joint.element.need("mimic")
        if leader not in joints:
            raise element.error(f"joint {leader!r} is unknown; {suggestion(leader, joints)}")
        found[name] = joint.mimic
        problem = f"joint {name!r} follows {leader!r}"
        if mimic == "error":
            raise element.error(f"{problem}; remove it, or give mimic='couple', or 'free' to leave it uncoupled")
        if mimic == "free":
            element.note(f"{problem}, a coupling that is left out")
    return found


def _contact_links(
    robot: Element, links: Mapping[str, Link], contacts: Sequence[str] | None, floating: bool
) -> list[str]:
    if contacts is None:
        return list(links) if floating else []
    names = list(dict.fromkeys(contacts))
    for name in names:
        if name not in links:
            raise robot.error(f"contacts: link {show(name)} is unknown; {suggestion(name, links)}")
        if not links[name].collisions:
            raise links[name].element.error("contacts: it has no <collision>; add one, or leave the link out")
    return names


def _frame(link: Link, arrangement: Arrangement, options: Options) -> LinkFrame:
    group = arrangement.group[link.name]
    pose = group.place(arrangement.inside[link.name])
    mass = options.default_mass if link.mass is None else link.mass
    return LinkFrame(group.name, read_only(pose.position), read_only(pose.orientation), mass)


def _meshes(link: Link, arrangement: Arrangement) -> Iterator[Mesh]:
    group = arrangement.group[link.name]
    for visual in link.visuals:
        if visual.mesh is None:
            continue
        if visual.mesh.path is None:
            visual.element.note(f"mesh {visual.mesh.filename!r} is not found, so it will not be seen")
        pose = group.place(arrangement.inside[link.name] @ visual.pose)
        yield Mesh(
            link=link.name,
            body=group.name,
            filename=visual.mesh.filename,
            path=visual.mesh.path,
            scale=read_only(visual.mesh.scale),
            position=read_only(pose.position),
            orientation=read_only(pose.orientation),
            color=visual.color,
        )
