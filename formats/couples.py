"""Colliders as other engines need them: which bodies never touch, and what two surfaces are to each other."""

from math import sqrt

from vigym.engine.collider import Collider
from vigym.engine.mechanism import Mechanism


def pair_friction(a: Collider, b: Collider) -> float:
    """Coulomb coefficient of two colliders."""
    return sqrt(a.friction * b.friction)


def without_colliders(mechanism: Mechanism) -> Mechanism:
    """The same mechanism, whose bodies pass through each other: for coordinates, which overlap does not change."""
    other = mechanism.copy()
    other._colliders.clear()
    return other
