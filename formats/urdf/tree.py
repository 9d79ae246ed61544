"""The tree of a URDF file, and which links move as one.

The link that a moving joint leads to, or the root, leads a group: all links that are fixed to it, directly or not. It
gives the body its name and its axes; the body's origin is the centre of mass of the group.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vigym.engine.joint import WORLD
from vigym.engine.rotation import rotation_matrix
from vigym.engine.shapes import Shape
from vigym.engine.validation import Array, suggestion
from vigym.formats.urdf.contact import extent
from vigym.formats.urdf.inertia import box_inertia, combine, possible, repair
from vigym.formats.urdf.parts import IDENTITY, JointPart, Link, Pose, placed
from vigym.formats.urdf.xml import Element

LARGEST = 1e100  # of masses, inertias and places: sums and products of a few of them are still numbers


@dataclass(frozen=True)
class Options:
    """Options of `read_urdf`; see there. base: pose of the root link in the world."""

    floating: bool
    base: Pose
    default_mass: float
    repair_inertia: bool


@dataclass(frozen=True, eq=False)
class Group:
    """Links that move as one. Everything is in the frame of the leading link, or of the world.

    name: of the leading link and of the body, or "world". mass, com (3,), inertia (3, 3) about com: of all together;
    zero for what is fixed to the world. members: links and their poses, the leading one first.
    """

    name: str
    mass: float
    com: Array
    inertia: Array
    members: tuple[tuple[Link, Pose], ...]

    def place(self, pose: Pose) -> Pose:
        """A pose in the frame of the leading link, seen from the body's frame."""
        return Pose(pose.position - self.com, pose.orientation)

    def shapes(self) -> list[Shape]:
        """Solids and surfaces that are drawn, in the body's frame."""
        return [
            placed(look, self.place(pose @ Pose(np.array(look.position), np.array(look.orientation))))
            for link, pose in self.members
            for look in link.looks
        ]


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Maps by link name: its group, its pose `inside` the group, its pose in the world when all joints are at zero."""

    group: dict[str, Group]
    inside: dict[str, Pose]
    rest: dict[str, Pose]

    def bodies(self) -> list[Group]:
        """Groups that move, in the order in which the file names their leading links."""
        return [group for name, group in self.group.items() if group.name == name and name != WORLD]

    def fixed(self) -> list[Group]:
        """The group of what is fixed to the world, if there is one."""
        return [group for group in dict.fromkeys(self.group.values()) if group.name == WORLD]


def find_root(robot: Element, links: Mapping[str, Link], joints: Sequence[JointPart]) -> str:
    """The link that is nobody's child; an error unless the joints make one tree of all links."""
    parents: dict[str, JointPart] = {}
    for joint in joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                problem = f"link {name!r} is unknown; {suggestion(name, links)}"
                raise joint.element.need(role).error(f"{role} of joint {joint.name!r}: {problem}")
        if joint.child in parents:
            first = parents[joint.child]
            problem = f"link {joint.child!r} is the child of joint {first.name!r} (line {first.element.line}) already"
            raise joint.element.error(f"{problem}; a URDF is a tree, so remove one of the two joints")
        parents[joint.child] = joint
    roots = [name for name in links if name not in parents]
    if len(roots) > 1:
        raise links[roots[1]].element.error(
            f"there are {len(roots)} links without a parent joint: {', '.join(map(repr, roots[:10]))}; "
            "connect them, or give each tree its own file"
        )
    connected = set(roots)  # to a link without a parent; whoever walks up and meets itself is in a cycle
    for start in links:
        name, way = start, dict.fromkeys([start])
        while name not in connected:
            name = parents[name].parent
            if name in way:
                raise parents[name].element.error(f"the joints above link {name!r} form a cycle; remove one of them")
            way[name] = None
        connected.update(way)
    if not roots:
        raise robot.error("there is no link; add one")
    return roots[0]


def arrange(links: Mapping[str, Link], joints: Sequence[JointPart], root: str, options: Options) -> Arrangement:
    """Tree of links that move together, from the root outwards."""
    children: dict[str, list[JointPart]] = {name: [] for name in links}
    for joint in joints:
        children[joint.parent].append(joint)
        if joint.child == WORLD and joint.kind != "fixed":
            raise links[WORLD].element.error(f"{WORLD!r} is the name of what does not move; rename the link")
    if options.floating and root == WORLD:
        raise links[root].element.error(f"root link {WORLD!r} is what does not move; load it with floating=False")
    leader = {root: root if options.floating else WORLD}
    inside = {root: IDENTITY if options.floating else options.base}
    rest = {root: options.base}
    pending = [root]
    while pending:
        name = pending.pop()
        for joint in children[name]:
            fixed = joint.kind == "fixed"
            leader[joint.child] = leader[name] if fixed else joint.child
            inside[joint.child] = inside[name] @ joint.origin if fixed else IDENTITY
            rest[joint.child] = rest[name] @ joint.origin
            if not (np.abs(rest[joint.child].position) < LARGEST).all():
                raise joint.element.error(f"its place is {LARGEST:g} m away, or further; correct its <origin>")
            pending.append(joint.child)
    above = {joint.child: joint for joint in joints}
    found: dict[str, list[tuple[Link, Pose]]] = {}
    for link in links:
        found.setdefault(leader[link], []).append((links[link], inside[link]))
    groups = {}
    for name, members in found.items():
        members.sort(key=lambda member: member[0].name != name)  # its first link first; the others as in the file
        groups[name] = _group(name, tuple(members), above.get(name), options)
    return Arrangement({link: groups[leader[link]] for link in links}, inside, rest)


def _group(name: str, members: tuple[tuple[Link, Pose], ...], joint: JointPart | None, options: Options) -> Group:
    if name == WORLD:
        return Group(WORLD, 0.0, np.zeros(3), np.zeros((3, 3)), members)
    parts = []
    for link, pose in members:
        mass, inertia = link.mass, link.inertia
        if mass is None:
            mass, inertia = options.default_mass, options.default_mass * np.eye(3)
        R = rotation_matrix(pose.orientation)
        parts.append((mass, pose.apply(link.com), R @ inertia @ R.T))
    mass, com, inertia = combine(parts)
    if not (np.abs([mass, *com, *inertia.flat]) < LARGEST).all():
        raise members[0][0].element.error(f"its mass or inertia is {LARGEST:g} or more; correct its <inertial>")
    if mass <= 0.0:
        if joint is None:
            fix = "the robot cannot float without it: load it with floating=False, or add an <inertial>"
        else:
            fix = f"joint {joint.name!r} (line {joint.element.line}) could not move it: add an <inertial>"
        raise members[0][0].element.error(f"it has no mass; {fix}, or give default_mass=")
    return Group(name, mass, com, _sound_inertia(mass, inertia, members, options), members)


def _sound_inertia(mass: float, inertia: Array, members: tuple[tuple[Link, Pose], ...], options: Options) -> Array:
    if possible(inertia):
        return inertia
    link = members[0][0]
    inertial = link.element.find("inertial") or link.element
    together = "" if len(members) == 1 else f", with the {len(members) - 1} links fixed to it,"
    moments = np.linalg.eigvalsh(inertia)
    what = f"link {link.name!r}{together} has principal moments {', '.join(f'{m:.4g}' for m in moments)} kg m^2"
    law = "they must be positive, and none larger than the sum of the other two"
    if not options.repair_inertia:
        raise inertial.error(f"{what}; {law}: correct them, or give repair_inertia=True")
    if moments[2] > 0.0:
        mended = repair(inertia)
        shown = ", ".join(f"{m:.4g}" for m in np.linalg.eigvalsh(mended))
        inertial.note(f"{what}; {law}; mended to {shown}")
        return mended
    shapes = [(g, pose) for part, pose in members for g in part.collisions or part.visuals]
    corners = np.concatenate([np.zeros((0, 3)), *(extent(geometry, pose) for geometry, pose in shapes)])
    if not len(corners) or not (size := np.ptp(corners, axis=0)).any():
        raise inertial.error(f"{what}, and no shape to take them from; give <inertia> values > 0")
    inertial.note(f"{what}; taken from the box around its shapes, {' x '.join(f'{s:.4g}' for s in size)} m, instead")
    J = box_inertia(mass, size)
    if not (J < LARGEST).all():
        raise inertial.error(f"{what}, and shapes too large to take them from; give <inertia> values > 0")
    return J if possible(J) else repair(J)
