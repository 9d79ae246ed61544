"""Colliders in PyBullet: those of the world, and who touches whom.

PyBullet multiplies the frictions of two links, so that a link has the square root of its collider's: the product is
vigym's. Compliances add up there as here. Of all links with colliders, those that may not touch are told so in pairs.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from vigym.engine.collider import GROUNDS, Collider, pair_law
from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD
from vigym.engine.mechanism import Mechanism
from vigym.engine.polyhedra import Hull
from vigym.engine.shapes import Box, Capsule, Cylinder, Sphere
from vigym.formats.couples import laws
from vigym.formats.pybullet.ground import Surface, set_surface, surface_of
from vigym.formats.pybullet.handle import Handle, Link, module

COLLIDERS = -(1 << 31)  # collision group of colliders, whose mask it is, too: the bit that contacts and planes leave
MOST_FRICTION = 10.0  # of a pair of links: PyBullet cuts off what is above


def check_colliders(mechanism: Mechanism) -> None:
    """MechanismError for the first couple of colliders whose surfaces PyBullet cannot have."""
    for collider in mechanism.colliders:
        if isinstance(collider.shape, GROUNDS):
            kind = type(collider.shape).__name__
            raise MechanismError(f"collider {collider.name!r}: a {kind} is not converted to PyBullet")
    for couple, law in laws(mechanism).items():
        first, second = pair = [mechanism.colliders[k] for k in couple]
        what = f"colliders {first.name!r} and {second.name!r}"
        if law.friction > MOST_FRICTION:
            raise MechanismError(f"{what}: PyBullet has no friction above {MOST_FRICTION:g}")
        if law != pair_law(first, second, {}):
            raise MechanismError(f"{what}: PyBullet has no laws of pairs (set_pair)")
        if law.restitution > 0.0 and first.restitution != second.restitution:
            raise MechanismError(f"{what}: PyBullet multiplies restitutions; give both the same one")
        dampings = [collider.damping for collider in pair]
        soft = [collider.damping for collider in pair if collider.compliance]
        if soft and sum(soft) != max(dampings):
            raise MechanismError(f"{what}: PyBullet adds the dampings of soft ones; give one of them none")


def add_colliders(handle: Handle, touching: Mapping[str, Sequence[Surface]]) -> None:
    """Objects for the colliders of the world; then let exactly those links touch that do so in vigym."""
    p, client, colliders = module(), handle.client, handle.mechanism.colliders
    for name, groups in touching.items():
        for where, surface in zip(handle.surfaces[name], groups, strict=True):
            if surface.plane is None:
                handle.colliders |= {part.name: where for part in surface.group}
    handle.colliders |= {c.name: _fixed(c, client) for c in colliders if c.body == WORLD}
    links = [handle.colliders[collider.name] for collider in colliders]
    couples = {frozenset((links[a], links[b])) for a, b in handle.mechanism.couples}
    for where in dict.fromkeys(links):
        p.setCollisionFilterGroupMask(*where, COLLIDERS, COLLIDERS, physicsClientId=client)
    for first, second in combinations(dict.fromkeys(links), 2):
        if {first, second} not in couples:
            p.setCollisionFilterPair(first[0], second[0], first[1], second[1], 0, physicsClientId=client)


def _fixed(collider: Collider, client: int) -> Link:
    """An object of the world."""
    p, shape = module(), collider.shape
    match shape:
        case Sphere(radius=radius):
            solid: dict[str, Any] = {"shapeType": p.GEOM_SPHERE, "radius": radius}
        case Capsule(radius=radius, length=length):
            solid = {"shapeType": p.GEOM_CAPSULE, "radius": radius, "height": length}
        case Box(size=edges):
            solid = {"shapeType": p.GEOM_BOX, "halfExtents": [0.5 * edge for edge in edges]}
        case Cylinder(radius=radius, length=length):
            solid = {"shapeType": p.GEOM_CYLINDER, "radius": radius, "height": length}
        case Hull(points=points):
            solid = {"shapeType": p.GEOM_MESH, "vertices": points}
        case _:
            solid = {"shapeType": p.GEOM_PLANE, "planeNormal": [0.0, 0.0, 1.0]}
    number = p.createMultiBody(
        0,
        p.createCollisionShape(**solid, physicsClientId=client),
        basePosition=shape.position,
        baseOrientation=(*shape.orientation[1:], shape.orientation[0]),
        useMaximalCoordinates=True,  # rigid bodies take twice as long on a multi-body
        physicsClientId=client,
    )
    set_surface((number, -1), surface_of([collider]), client)
    return number, -1
