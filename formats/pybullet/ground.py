"""Surfaces in PyBullet, where a link has one friction and one restitution; and the planes of contacts."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from vigym.engine.collider import Collider
from vigym.engine.contact import Contact
from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD
from vigym.engine.mechanism import Mechanism
from vigym.formats.pybullet.handle import Handle, Link, module
from vigym.formats.pybullet.urdf_text import POINT, Group

BODIES = 1  # collision group of contacts; planes, with which alone they collide, have the others, one each
MOST = 30  # planes, for each of which there is a bit


class Surface(NamedTuple):
    """Contacts, or colliders, that one link carries.

    friction, restitution: PyBullet's, whose product with those of the partner counts. compliance, damping: as in vigym.
    """

    group: Group
    friction: float
    restitution: float
    compliance: float
    damping: float

    @property
    def plane(self) -> tuple[float, ...] | None:
        """Normal and height of the one plane that it touches, if it has contacts."""
        first = self.group[0]
        return (*first.normal, level(first)) if isinstance(first, Contact) else None


def level(contact: Contact) -> float:
    """Height of the plane: a contact point is a small sphere above a plane that is lower by its radius, m."""
    return contact.offset + contact.radius - (contact.radius or POINT)


def surfaces(mechanism: Mechanism) -> dict[str, list[Surface]]:
    """Surfaces of each body: contacts that share friction, restitution, softness and plane, then colliders that share
    friction, softness and what they may touch."""
    found: dict[str, dict[tuple[object, ...], Group]] = {body.name: {} for body in mechanism.bodies}
    for contact in mechanism.contacts:
        found[contact.body].setdefault((*_laws(contact), *contact.normal, level(contact)), []).append(contact)
    for collider, partners in zip(mechanism.colliders, _touched(mechanism), strict=True):
        if collider.body != WORLD:
            found[collider.body].setdefault((*_laws(collider), partners), []).append(collider)
    return {name: [surface_of(group) for group in groups.values()] for name, groups in found.items()}


def surface_of(group: Group) -> Surface:
    """Surface of contacts, or colliders, that are alike."""
    return Surface(group, *_laws(group[0]))


def _laws(part: Contact | Collider) -> tuple[float, float, float, float]:
    """Friction, restitution, compliance and damping as PyBullet needs them."""
    if isinstance(part, Contact):
        return part.friction, part.restitution, part.compliance, part.damping
    return sqrt(part.friction), sqrt(part.restitution), part.compliance, part.damping


def _touched(mechanism: Mechanism) -> list[frozenset[int]]:
    """Numbers of the colliders that each collider may touch."""
    found: list[set[int]] = [set() for _ in mechanism.colliders]
    for a, b in mechanism.couples:
        found[a].add(b)
        found[b].add(a)
    return [frozenset(partners) for partners in found]


def set_surface(where: Link, surface: Surface, client: int) -> None:
    """Friction, restitution and softness of a link."""
    p = module()
    # friction by itself: next to other values it does not reach the links of a tree
    p.changeDynamics(*where, lateralFriction=surface.friction, physicsClientId=client)
    p.changeDynamics(*where, restitution=surface.restitution, physicsClientId=client)
    if surface.compliance:
        soft = {"contactStiffness": 1 / surface.compliance, "contactDamping": surface.damping}
        p.changeDynamics(*where, **soft, physicsClientId=client)


def add_ground(handle: Handle, touching: Mapping[str, Sequence[Surface]]) -> None:
    """A plane for every (normal, level) in use, each with a collision group that only its links collide with."""
    p, client = module(), handle.client
    planes: dict[tuple[float, ...], int] = {}
    for name, groups in touching.items():
        for where, surface in zip(handle.surfaces[name], groups, strict=True):
            key = surface.plane
            if key is None:
                continue
            if key not in planes:
                if len(planes) == MOST:
                    raise MechanismError(
                        f"contact {surface.group[0].name!r}: PyBullet tells no more than {MOST} planes apart"
                    )
                planes[key] = BODIES << (len(planes) + 1)
                _plane(handle, key, planes[key])
            p.setCollisionFilterGroupMask(*where, BODIES, planes[key], physicsClientId=client)


def _plane(handle: Handle, plane: tuple[float, ...], group: int) -> None:
    p, client = module(), handle.client
    *normal, height = plane
    shape = p.createCollisionShape(p.GEOM_PLANE, planeNormal=normal, physicsClientId=client)
    at = [height * part for part in normal]
    # maximal: rigid bodies take twice as long on a plane that is a multi-body
    number = p.createMultiBody(0, shape, basePosition=at, useMaximalCoordinates=True, physicsClientId=client)
    p.changeDynamics(number, -1, lateralFriction=1.0, restitution=1.0, physicsClientId=client)
    p.setCollisionFilterGroupMask(number, -1, group, BODIES, physicsClientId=client)
    handle.planes.append(number)
