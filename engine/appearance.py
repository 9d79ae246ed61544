"""Looks of a mechanism: the shapes of its bodies, its colliders, the planes of its ground."""

import numpy as np

from vigym.engine.collider import Collider
from vigym.engine.graph import connected
from vigym.engine.joint import WORLD
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import Array
from vigym.engine.shapes import Plane


def colliders_of(mechanism: Mechanism) -> dict[str, list[Collider]]:
    """Colliders of the world, and of every body, by name."""
    found: dict[str, list[Collider]] = {name: [] for name in (WORLD, *(body.name for body in mechanism.bodies))}
    for collider in mechanism.colliders:
        found[collider.body].append(collider)
    return found


def is_furnished(mechanism: Mechanism) -> bool:
    """True if the world has solids other than planes."""
    return any(not isinstance(collider.shape, Plane) for collider in colliders_of(mechanism)[WORLD])


def usual_weight(mechanism: Mechanism) -> float:
    """A force to compare those of contacts with, N: the weight of a robot, whose bodies joints connect; of several such
    parts, or of loose bodies, the geometric mean of the weight of all and that of the heaviest part."""
    mass = np.array([body.mass for body in mechanism.bodies])
    heaviest = np.bincount(connected(mechanism), mass).max()
    return (float(np.linalg.norm(mechanism.gravity)) or 9.81) * float(np.sqrt(mass.sum()) * np.sqrt(heaviest))


def planes_of(mechanism: Mechanism) -> list[tuple[Array, float]]:
    """Normal and offset of the different planes of the world that contacts and colliders have; the plane z = 0 if there
    are neither planes nor other colliders in it."""
    world = colliders_of(mechanism)[WORLD]
    given = [(contact.normal, contact.offset) for contact in mechanism.contacts]
    for collider in world:
        if isinstance(collider.shape, Plane):
            normal = collider.rotation[:, 2]
            given.append((normal, float(normal @ np.array(collider.shape.position))))
    found: dict[tuple[float, ...], tuple[Array, float]] = {}
    for normal, offset in given:
        with np.errstate(over="ignore"):
            rounded = np.round([*normal, offset], 9) + 0.0
        found.setdefault(tuple(rounded.tolist()), (normal, offset))
    return list(found.values()) if found or world else [(np.array([0.0, 0.0, 1.0]), 0.0)]
