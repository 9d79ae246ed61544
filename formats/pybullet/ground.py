"""Contacts with planes in PyBullet, where a link has one friction and one restitution."""

from collections.abc import Mapping, Sequence

from vigym.engine.contact import Contact
from vigym.engine.errors import MechanismError
from vigym.engine.mechanism import Mechanism
from vigym.formats.pybullet.handle import Handle, module
from vigym.formats.pybullet.urdf_text import POINT

BODIES = 1  # collision group of everything that is not a plane; planes have the others, one each
MOST = 30  # planes, for each of which there is a bit


def level(contact: Contact) -> float:
    """Height of the plane: a contact point is a small sphere above a plane that is lower by its radius, m."""
    return contact.offset + contact.radius - (contact.radius or POINT)


def surfaces(mechanism: Mechanism) -> dict[str, list[list[Contact]]]:
    """Contacts of each body in groups that share friction, restitution, softness and plane."""
    found: dict[str, dict[tuple[float, ...], list[Contact]]] = {body.name: {} for body in mechanism.bodies}
    for c in mechanism.contacts:
        alike = c.friction, c.restitution, c.compliance, c.damping, *c.normal, level(c)
        found[c.body].setdefault(alike, []).append(c)
    return {name: list(groups.values()) for name, groups in found.items()}


def add_ground(handle: Handle, touching: Mapping[str, Sequence[Sequence[Contact]]]) -> None:
    """A plane for every (normal, level) in use, each with a collision group that only its links collide with."""
    p, client = module(), handle.client
    planes: dict[tuple[float, ...], int] = {}
    for name, groups in touching.items():
        for where, group in zip(handle.surfaces[name], groups, strict=True):
            key = (*group[0].normal, level(group[0]))
            if key not in planes:
                if len(planes) == MOST:
                    raise MechanismError(f"contact {group[0].name!r}: PyBullet tells no more than {MOST} planes apart")
                planes[key] = BODIES << (len(planes) + 1)
                _plane(handle, group[0], planes[key])
            p.setCollisionFilterGroupMask(*where, BODIES, planes[key], physicsClientId=client)


def _plane(handle: Handle, contact: Contact, group: int) -> None:
    p, client = module(), handle.client
    shape = p.createCollisionShape(p.GEOM_PLANE, planeNormal=contact.normal.tolist(), physicsClientId=client)
    at = (level(contact) * contact.normal).tolist()
    # maximal: rigid bodies take twice as long on a plane that is a multi-body
    plane = p.createMultiBody(0, shape, basePosition=at, useMaximalCoordinates=True, physicsClientId=client)
    p.changeDynamics(plane, -1, lateralFriction=1.0, restitution=1.0, physicsClientId=client)
    p.setCollisionFilterGroupMask(plane, -1, group, BODIES, physicsClientId=client)
    handle.planes.append(plane)
