"""Colliders of a mechanism: which of them may touch, and the laws of those that were given their own."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from itertools import count, product
from typing import Any, NamedTuple

import numpy as np

from vigym.engine.collider import GROUNDS, KINDS, LAW, Collider, bits, checked_law, make_collider
from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD
from vigym.engine.shapes import Plane, Shape
from vigym.engine.validation import flag, show, suggestion

Names = frozenset[tuple[str, str]]  # two of ("body", name) or ("collider", name)


class Solids(NamedTuple):
    """Colliders that `add_body` makes of a body's shapes: whether there are any, their options and their names."""

    collide: bool
    options: dict[str, Any]
    names: tuple[str, ...] = ()


def solids(collide: bool, law: Mapping[str, object], group: int, mask: int, what: str) -> Solids:
    """Options of `add_body` for the colliders of its shapes, checked."""
    options = checked_law(law, what) | {"group": bits(group, f"{what}: group"), "mask": bits(mask, f"{what}: mask")}
    return Solids(flag(collide, f"{what}: collide"), options)


class Pairing:
    """Colliders by name, and what was said of pairs of them.

    A pair is told by two names, each of a body (or "world"), which stands for all its colliders, or else of a collider.
    """

    def __init__(self) -> None:
        self.colliders: dict[str, Collider] = {}
        self.solids: dict[str, Solids] = {}  # of each body
        self.untouchable: dict[str, str] = {}  # bodies that should touch, but whose shapes cannot; the kind of one
        self.allowed: set[frozenset[str]] = set()  # bodies that touch although a joint connects them
        self._ignored: set[Names] = set()
        self._laws: dict[Names, dict[str, float]] = {}  # later ones win

    def copy(self) -> "Pairing":
        """An independent one with the same colliders."""
        other = copy(self)
        other.colliders, other.untouchable = dict(self.colliders), dict(self.untouchable)
        other.solids = dict(self.solids)
        other.allowed, other._ignored, other._laws = set(self.allowed), set(self._ignored), dict(self._laws)
        return other

    def add(self, collider: Collider) -> None:
        """Add a collider of a name that is new."""
        if collider.name in self.colliders:
            there = self.colliders[collider.name]
            whose = f" (shapes of body {there.body!r} are colliders)" if there.body == there.name else ""
            raise MechanismError(f"collider {collider.name!r} exists already{whose}; names must be unique")
        self.colliders[collider.name] = collider

    def set_solids(self, body: str, shapes: Sequence[Shape], solids: Solids) -> None:
        """Make colliders of the shapes of a body that can be some, by the body's name, and numbers behind it.

        They take the place of those that were made before. Nothing changes if that raises."""
        before = self.solids.get(body, solids).names
        others = {name: collider for name, collider in self.colliders.items() if name not in before}
        made: dict[str, Collider] = {}
        for shape in shapes if solids.collide else ():
            if isinstance(shape, KINDS) and not isinstance(shape, GROUNDS):
                names = (f"{body} {k}" if k else body for k in count())
                name = next(name for name in names if name not in others and name not in made)
                made[name] = make_collider(name, body, shape, **solids.options)
        meant = {name for pair in (*self._ignored, *self._laws) for kind, name in pair if kind == "collider"}
        for name in before:
            if name in meant and name not in made:
                raise MechanismError(
                    f"body {body!r}: there would be no collider {name!r} any more, of which ignore_contact, "
                    "ignore_colliders or set_pair tells"
                )
        order = list(self.colliders)
        place = order.index(before[0]) if before else len(order)
        first = {name: others[name] for name in order[:place] if name in others}
        self.colliders = first | made | others
        self.solids[body] = solids._replace(names=tuple(made))
        self.untouchable.pop(body, None)
        if solids.collide and shapes and not made:
            self.untouchable[body] = type(shapes[0]).__name__

    def merge(self, other: "Pairing", moved: Callable[[Collider], Collider], renamed: Callable[[str], str]) -> None:
        """Take over all of another one: its colliders as `moved` returns them, its bodies as they are `renamed`, and
        what was said of its pairs."""
        names = {name: moved(collider).name for name, collider in other.colliders.items()}
        for collider in other.colliders.values():
            self.add(moved(collider))
        for body, mine in other.solids.items():
            self.solids[renamed(body)] = mine._replace(names=tuple(names[name] for name in mine.names))
        self.untouchable |= {renamed(body): kind for body, kind in other.untouchable.items()}
        self.allowed |= {frozenset(map(renamed, pair)) for pair in other.allowed}

        def pair_of(pair: Names) -> Names:
            return frozenset((kind, renamed(name) if kind == "body" else names[name]) for kind, name in pair)

        self._ignored |= {pair_of(pair) for pair in other._ignored}
        self._laws |= {pair_of(pair): law for pair, law in other._laws.items()}

    def ignore(self, names: Names) -> None:
        """Let two pass through each other."""
        self._ignored.add(names)

    def set_law(self, names: Names, given: Mapping[str, float | None], what: str) -> None:
        """Give two colliders, or those of bodies, numbers of their own."""
        law = checked_law({name: value for name, value in given.items() if value is not None}, what)
        if not law:
            raise MechanismError(f"{what}: give at least one of {', '.join(LAW)}")
        before = self._laws.pop(names, {})
        self._laws[names] = before | law

    def names(self, first: str, second: str, bodies: Collection[str], what: str) -> Names:
        """Two different names of `bodies`, or else of colliders; MechanismError that begins with `what` if they are
        none."""
        found = []
        for name in (first, second):
            if not isinstance(name, str):
                raise MechanismError(f"{what}: names must be strings, got {show(name)}")
            if name in bodies:
                found.append(("body", name))
            elif name in self.colliders:
                found.append(("collider", name))
            else:
                hint = suggestion(name, [*bodies, *self.colliders])
                neither = "neither a body nor a collider" if bodies else "no collider"
                raise MechanismError(f"{what}: {name!r} is {neither}; {hint}")
        if found[0] == found[1]:
            raise MechanismError(f"{what}: give two different names, got {first!r} twice")
        return frozenset(found)

    def couples(self, connections: Iterable[frozenset[str]]) -> list[tuple[int, int]]:
        """Numbers of the colliders that may touch each other, the one of a body first; see `Mechanism.couples`."""
        colliders = list(self.colliders.values())
        number = {name: k for k, name in enumerate({collider.body: None for collider in colliders})}
        body = np.array([number[collider.body] for collider in colliders], int)
        group, mask = (np.array([getattr(c, name) for c in colliders], np.int64) for name in ("group", "mask"))
        plane = np.array([isinstance(collider.shape, Plane) for collider in colliders], bool)
        meets = (group[:, None] & mask) != 0
        may = meets & meets.T & (body[:, None] != body) & ~(plane[:, None] & plane)
        places = self._places()
        for names in (*(frozenset(("body", name) for name in pair) for pair in connections), *self._ignored):
            first, second = (places.get(name, []) for name in names)
            may[np.ix_(first, second)] = may[np.ix_(second, first)] = False
        found = []
        for i, j in np.argwhere(np.tril(may)).tolist():  # i was added after j
            found.append((i, j) if colliders[j].body == WORLD else (j, i))
        return sorted(found)

    def own_laws(self, couples: Iterable[tuple[int, int]]) -> list[dict[str, float]]:
        """Numbers of each couple that were given to it."""
        found: dict[frozenset[int], dict[str, float]] = {frozenset(couple): {} for couple in couples}
        places = self._places()
        for names, law in self._laws.items():
            for pair in product(*(places.get(name, []) for name in names)):
                if frozenset(pair) in found:
                    found[frozenset(pair)] |= law
        return list(found.values())

    def _places(self) -> dict[tuple[str, str], list[int]]:
        """Numbers of the colliders that a name means."""
        places: dict[tuple[str, str], list[int]] = {}
        for k, collider in enumerate(self.colliders.values()):
            places.setdefault(("body", collider.body), []).append(k)
            places["collider", collider.name] = [k]
        return places
