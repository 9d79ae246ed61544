"""Colliders as other engines need them: what two surfaces are to each other, and mechanisms without any."""

from vigym.engine.collider import PairLaw, pair_law
from vigym.engine.mechanism import Mechanism


def laws(mechanism: Mechanism) -> dict[tuple[int, int], PairLaw]:
    """Laws of the colliders that may touch, by their numbers, the smaller one first."""
    colliders, found = mechanism.colliders, {}
    for (a, b), own in zip(mechanism.couples, mechanism.pair_laws, strict=True):
        found[min(a, b), max(a, b)] = pair_law(colliders[a], colliders[b], own)
    return found


def without_colliders(mechanism: Mechanism) -> Mechanism:
    """The same mechanism, whose bodies pass through each other: for coordinates, which overlap does not change."""
    other = mechanism.copy()
    other._pairing.colliders.clear()
    return other
