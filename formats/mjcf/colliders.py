"""Colliders in MuJoCo: geoms, of which exactly those touch that do so in vigym, with the friction of each pair.

MuJoCo lets two geoms touch if contype and conaffinity of either have a bit in common, with the larger friction; a pair
that is written down touches whatever else holds, with a friction of its own. Most mechanisms have one kind of collider:
the geoms of the most frequent friction, group and mask are open to each other, so that MuJoCo's own search finds them,
bodies that do not touch are excluded, and all other couples are pairs.
"""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from vigym.engine.collider import Collider, PairLaw
from vigym.engine.errors import MechanismError
from vigym.engine.graph import Tree
from vigym.engine.height_field import HeightField
from vigym.engine.mechanism import Mechanism
from vigym.engine.polyhedra import Hull, Mesh
from vigym.engine.shapes import Box, Capsule, Cylinder, Plane, Sphere
from vigym.formats.couples import laws
from vigym.formats.mjcf.rebound import bouncing
from vigym.formats.text import text

SOFT = "MuJoCo's softness is an acceleration by depth (solref), not a compliance in m/N"


def plane_name(number: int) -> str:
    """Name of the geom of a plane that contacts (`add_contact`) touch."""
    return f"plane {number}"


def collider_names(mechanism: Mechanism) -> list[str]:
    """Names of the geoms of all colliders: their own, with " collider" behind them where a contact has the same."""
    contacts = mechanism.contacts
    taken = {contact.name for contact in contacts} | {plane_name(k) for k in range(len(contacts))}
    names = []
    for collider in mechanism.colliders:
        name = collider.name
        while name in taken:
            name += " collider"
        taken.add(name)
        names.append(name)
    return names


def add_colliders(
    root: ET.Element,
    mechanism: Mechanism,
    tree: Tree,
    elements: Mapping[str, ET.Element],
    option: ET.Element,
    contact: ET.Element,
    solref: tuple[float, float],
) -> None:
    """Write the geoms of all colliders into their bodies, and who touches whom into `option` and `contact`."""
    colliders, couples, names = mechanism.colliders, mechanism.couples, collider_names(mechanism)
    welded = _welded(mechanism, tree)
    _check(mechanism, welded)
    assets = _fields(colliders, root) | _hulls(colliders, root)
    written = {k for k, c in enumerate(colliders) if _possible(c, welded)}  # nothing touches the others
    common = laws(mechanism)
    free = _open(colliders, common) & written
    for k, (collider, name) in enumerate(zip(colliders, names, strict=True)):
        if k in written:
            geom = {"name": name, **_geom(collider, k in free)}
            if k in assets:
                geom["mesh" if isinstance(collider.shape, Hull) else "hfield"] = assets[k]
            ET.SubElement(elements[collider.body], "geom", geom)
    own = _found(colliders, free, welded)
    if own:
        ET.SubElement(option, "flag", filterparent="disable")
    apart = [[colliders[k].body for k in pair] for pair in sorted(own - {(min(c), max(c)) for c in couples})]
    for first, second in dict.fromkeys((min(bodies), max(bodies)) for bodies in apart):
        ET.SubElement(contact, "exclude", body1=first, body2=second)
    for i, j in couples:
        if (min(i, j), max(i, j)) not in own:
            law = common[min(i, j), max(i, j)]
            friction = text([law.friction, law.friction, 0.0, 0.0, 0.0])
            pair = {"geom1": names[i], "geom2": names[j], "friction": friction, "condim": _condim(law.friction)}
            if law.restitution > 0.0:
                pair["solref"] = text(bouncing(law.restitution, solref))
            ET.SubElement(contact, "pair", pair)


def _welded(mechanism: Mechanism, tree: Tree) -> dict[str, str]:
    """Name of each body -> the one highest up that it is rigidly attached to, or "world"."""
    found = {"world": "world"}
    for i in tree.order:
        name, joint = mechanism.bodies[i].name, tree.joints[i]
        found[name] = found[joint.parent] if joint is not None and joint.n_free == 0 else name
    return found


def _open(colliders: Sequence[Collider], common: Mapping[tuple[int, int], PairLaw]) -> set[int]:
    """Numbers of the colliders that MuJoCo's own search finds: of one friction, without rebound, and all of them touch
    each other."""
    special = {
        k
        for (i, j), law in common.items()
        if law.restitution > 0.0 or law.friction != (colliders[i].friction * colliders[j].friction) ** 0.5
        for k in (i, j)
    }
    kinds = {
        k: (c.friction, c.group, c.mask)
        for k, c in enumerate(colliders)
        if c.group & c.mask and c.restitution == 0.0 and k not in special
    }
    usual = Counter(kinds.values()).most_common(1)
    return {k for k, kind in kinds.items() if kind == usual[0][0]} if usual else set()


def _found(colliders: Sequence[Collider], free: set[int], welded: Mapping[str, str]) -> set[tuple[int, int]]:
    """Pairs that MuJoCo's own search finds: open geoms of bodies that are not rigidly attached to each other.

    It leaves out parents and children, too, but not with `filterparent="disable"`."""
    return {
        (i, j)
        for i, j in combinations(sorted(free), 2)
        if welded[colliders[i].body] != welded[colliders[j].body]
        and not (isinstance(colliders[i].shape, Plane) and isinstance(colliders[j].shape, Plane))
    }


def _possible(collider: Collider, welded: Mapping[str, str]) -> bool:
    return not isinstance(collider.shape, Plane) or welded[collider.body] == "world"


def _fields(colliders: Sequence[Collider], root: ET.Element) -> dict[int, str]:
    """Assets of the height fields; their names, by the number of the collider.

    MuJoCo scales heights from 0 to 1, takes the row of largest y first, and gives the solid a bottom."""
    names: dict[int, str] = {}
    for k, collider in enumerate(colliders):
        if isinstance(collider.shape, HeightField):
            heights, (x, y) = collider.shape.heights, collider.shape.size
            size = [0.5 * x, 0.5 * y, float(np.ptp(heights)) or 1.0, max(x, y)]
            names[k] = f"field {k}"
            rows, columns = map(str, heights.shape)
            elevation = text(((heights[::-1] - heights.min()) / size[2]).ravel())
            given = {"name": names[k], "nrow": rows, "ncol": columns, "size": text(size), "elevation": elevation}
            ET.SubElement(_asset(root), "hfield", given)
    return names


def _hulls(colliders: Sequence[Collider], root: ET.Element) -> dict[int, str]:
    """Assets of the hulls; their names, by the number of the collider. MuJoCo takes the convex hull of a mesh's
    corners."""
    names: dict[int, str] = {}
    for k, collider in enumerate(colliders):
        if not isinstance(collider.shape, Hull):
            continue
        names[k] = f"hull {k}"
        vertices, faces = collider.shape.triangles()
        given = {"name": names[k], "vertex": text(vertices.ravel()), "face": " ".join(map(str, faces.ravel().tolist()))}
        ET.SubElement(_asset(root), "mesh", given)
    return names


def _asset(root: ET.Element) -> ET.Element:
    """Return the element of the assets, made if it is missing."""
    found = root.find("asset")
    return ET.SubElement(root, "asset") if found is None else found


def _condim(friction: float) -> str:
    return "3" if friction > 0 else "1"


def _geom(collider: Collider, free: bool) -> dict[str, str]:
    """Attributes of a geom; one that is not free touches nothing but what pairs name."""
    shape = collider.shape
    match shape:
        case Sphere(radius=radius):
            kind, size = "sphere", [radius]
        case Capsule(radius=radius, length=length):
            kind, size = "capsule", [radius, 0.5 * length]
        case Box(size=edges):
            kind, size = "box", [0.5 * edge for edge in edges]
        case HeightField():
            kind, size = "hfield", []
        case Hull():
            kind, size = "mesh", []
        case Cylinder(radius=radius, length=length):
            kind, size = "cylinder", [radius, 0.5 * length]
        case _:
            kind, size = "plane", [0.0, 0.0, 1.0]
    position = shape.position
    if isinstance(shape, HeightField):  # MuJoCo's begins with its least height
        position = tuple(np.array(position) + shape.heights.min() * collider.rotation[:, 2])
    bit = "1" if free else "0"
    found = {"type": kind, "pos": text(position), "quat": text(shape.orientation)}
    found |= {"size": text(size)} if size else {}
    found |= {"contype": bit, "conaffinity": bit}
    return found | ({"condim": _condim(collider.friction), "friction": text([collider.friction, 0, 0])} if free else {})


def _check(mechanism: Mechanism, welded: Mapping[str, str]) -> None:
    """MechanismError for the first collider that something could touch and that MuJoCo cannot have."""
    colliders = mechanism.colliders
    for (i, j), law in laws(mechanism).items():
        if law.compliance > 0.0:
            raise MechanismError(f"colliders {colliders[i].name!r} and {colliders[j].name!r}: {SOFT}")
    for k in sorted({k for couple in mechanism.couples for k in couple}):
        collider = colliders[k]
        if isinstance(collider.shape, Mesh):
            raise MechanismError(
                f"collider {collider.name!r}: MuJoCo takes the convex hull of a Mesh; give its convex parts as Hulls"
            )
        if not _possible(collider, welded):
            raise MechanismError(f"collider {collider.name!r}: MuJoCo has no planes of bodies that move; take a Box")
