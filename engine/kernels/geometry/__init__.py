"""Shapes that touch: one file per kind of contact, one row per kind in KINDS; only kinds in use are compiled.

A kind is a module that knows shapes, and nothing of forces, friction or the solver (contact.py is the same for all):

    FIELDS              the numbers that describe a contact in the model store: name -> shape; "radius" among them
    describe(contact)   their values, from what the user gave: name -> value
    touch(m, s, c, x, R)
                        where contact c touches (`Touch`), its body being at x, R; asked for the current pose, where the
                        force acts, and for the next, where the gap counts
    fixed_axes(m, c)    axes of `touch` if they are the same at all poses, which saves storing them; else None instead
                        of a function

A body's shape here is a core point with a radius around it: a point, a sphere.
"""

import inspect
from typing import Any

from vigym.engine.kernels.geometry import level_plane, plane
from vigym.engine.kernels.geometry.touch import Touch

__all__ = ["KINDS", "Touch", "fields", "number", "of", "sources"]

# The name by which a contact asks for its kind -> the module. A kind's number is its place here.
KINDS: dict[str, Any] = {
    "level plane": level_plane,
    "plane": plane,
}


def of(kind: int) -> Any:
    """The module of a kind."""
    return list(KINDS.values())[kind]


def number(name: str) -> int:
    """The number of the kind of that name."""
    return list(KINDS).index(name)


def sources() -> str:
    """Sources of kinds that live elsewhere: compiled code depends on them, too."""
    modules = [module for module in KINDS.values() if not module.__name__.startswith(f"{__name__}.")]
    return "".join(inspect.getsource(module) for module in modules)


def fields(kinds: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """The fields that contacts of these kinds have in the model store: name -> shape of a block."""
    found: dict[str, tuple[int, ...]] = {}
    for kind in kinds:
        for name, shape in of(kind).FIELDS.items():
            if found.setdefault(name, shape) != shape:
                raise ValueError(f"kinds of contacts disagree on the field {name!r}: {found[name]} and {shape}")
    return found
