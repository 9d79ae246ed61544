"""Mechanisms that can be simulated, but hardly are what was meant: bodies that fall forever, or through others."""

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import MechanismWarning
from vigym.engine.graph import connected
from vigym.engine.model import Model

INSTEAD = "the Hulls of its convex parts"
SILENCE = "silence it with warnings.simplefilter('ignore', vigym.MechanismWarning)"


def advise(model: Model) -> None:
    """Warn about a mechanism, in the name of whoever made the simulator that calls this."""
    for text in advice(model):
        warnings.warn(text, MechanismWarning, stacklevel=3)


def advice(model: Model) -> Iterator[str]:
    """Texts of warnings about a mechanism."""
    mechanism, bodies = model.mechanism, model.mechanism.bodies
    untouchable = mechanism.untouchable
    falling = [bodies[i].name for i in np.flatnonzero(never_stopped(model))]
    if falling:
        fix = "m.add_ground() adds a floor for all shapes"
        if falling[0] in untouchable:
            kind = untouchable[falling[0]]
            fix = f"m.add_ground() adds a floor, but a {kind} of a body touches nothing: give it {INSTEAD}"
        elif not any(collider.body == falling[0] for collider in mechanism.colliders):
            fix = "m.add_ground() adds a floor for bodies with shapes, m.add_contact(...) keeps a point above a plane"
        yield (
            f"{_named(falling)} will fall forever: gravity acts, and no joint, contact or other shape can stop it; "
            f"{fix} ({SILENCE})"
        )
    passing = [name for name in untouchable if name not in falling and _has_partner(model, name)]
    if passing:
        yield (
            f"{_named(passing)} will pass through others: a {untouchable[passing[0]]} of a body touches nothing; "
            f"give it {INSTEAD}, or collide=False if that is meant ({SILENCE})"
        )


def never_stopped(model: Model) -> NDArray[np.bool_]:
    """Mask of the bodies that gravity pulls while nothing ties them to the world or lets them touch it, directly or
    through others (n_bodies,)."""
    mechanism = model.mechanism
    if not mechanism.gravity.any():
        return np.zeros(model.n_bodies, bool)
    part, held = connected(mechanism), model.tied
    held[[model.bodies[contact.body] for contact in mechanism.contacts]] = True
    for a, b in model.couples:
        first, second = (model.bodies[model.colliders[k].body] for k in (a, b))
        if second == model.n_bodies:
            held[first] = True
        elif part[first] != part[second]:
            part[part == part[second]] = part[first]
    return ~np.isin(part, part[held])


def _has_partner(model: Model, name: str) -> bool:
    """True if another body, or the world, has a collider that the body could touch."""
    neighbours = {name}
    for joint in model.mechanism.joints:
        if joint.kind != "floating" and name in (joint.parent, joint.child):
            neighbours |= {joint.parent, joint.child}
    return any(collider.body not in neighbours for collider in model.colliders)


def _named(names: list[str]) -> str:
    more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    return f"body {names[0]!r}{more}"
