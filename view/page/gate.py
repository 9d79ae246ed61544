"""The gate of the live page: which values a page may set, and for how long they hold.

Pages are not trusted: whatever they send is compared with the rule of the widget it is for, and anything else is
ignored, with one warning of each kind. A value holds while the page that set it is connected; after that the widget
goes back to the value it had at first. So a loop goes on when the page that paused it is closed.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from vigym.view.page.access import Access

# Connections at a time that were let in, and that have not asked for anything yet: neither may use up the files that a
# process may open, nor the second the places of the first
MOST_VISITORS, MOST_WAITING = 64, 64

Rule = Callable[[Any], bool]
Visitor = Any  # a connection; compared by identity

log = logging.getLogger("vigym.view.page")


@dataclass
class Field:
    """One widget: its handle, which values it may take, its first one, and who set it last."""

    handle: Any
    rule: Rule
    first: Any
    pressed: Callable[[Visitor], None] | None = None
    holder: Visitor = None


class Gate:
    """Access to one page, its visitors, and its widgets by their uuid. What has no entry cannot be set."""

    def __init__(self) -> None:
        self.access = Access()
        self.in_force = False  # set by the server that asks this gate
        self.visitors: set[Visitor] = set()
        self.waiting: dict[Visitor, None] = {}  # in the order in which they came
        self._fields: dict[str, Field] = {}
        self._told: set[str] = set()

    def wait(self, visitor: Visitor) -> Visitor | None:
        """Note a connection that has not said what it wants; return the one to hang up on, if there are too many.

        Browsers ask at once: whoever has waited longest has no intention to."""
        longest = next(iter(self.waiting)) if len(self.waiting) >= MOST_WAITING else None
        self.waiting.pop(longest, None)
        self.waiting[visitor] = None
        return longest

    def let_in(self, visitor: Visitor) -> bool:
        """Count a connection among the visitors; False if there are too many."""
        if len(self.visitors) >= MOST_VISITORS:
            return False
        self.waiting.pop(visitor, None)
        self.visitors.add(visitor)
        return True

    def leave(self, visitor: Visitor) -> None:
        """Forget a connection that is closed."""
        self.visitors.discard(visitor)
        self.waiting.pop(visitor, None)

    def allow(self, handle: Any, rule: Rule) -> Any:
        """Let pages set a widget of viser to values of which rule(value) is true; return its handle."""
        self._fields[uuid_of(handle)] = Field(handle, rule, handle.value)
        return handle

    def allow_press(self, handle: Any, pressed: Callable[[Visitor], None]) -> None:
        """Let pages press a button; pressed(visitor) is called by the server's thread."""
        self._fields[uuid_of(handle)] = Field(handle, lambda value: value is True, None, pressed)

    def hold(self, handle: Any, visitor: Visitor) -> None:
        """Note that a widget has its value because of this visitor."""
        self._fields[uuid_of(handle)].holder = visitor

    def value(self, handle: Any) -> Any:
        """The value of a widget; its first one if the page that set it has left."""
        field = self._fields[uuid_of(handle)]
        # The holder is not forgotten: what it sent before it left may still be on its way through viser.
        if field.holder is not None and field.holder not in self.visitors:
            handle.value = field.first
            return field.first
        return handle.value

    def accept(self, uuid: str, updates: dict[str, Any], visitor: Visitor) -> bool:
        """Return whether viser may carry out these updates of a widget."""
        field = self._fields.get(uuid)
        if field is None or set(updates) != {"value"}:
            self.warn("a page tried to change something that is not one of its controls")
            return False
        if not field.rule(updates["value"]):
            self.warn("a page set a control to a value that it cannot have")
            return False
        if field.pressed is not None:
            field.pressed(visitor)
            return False
        field.holder = visitor
        return True

    def warn(self, what: str) -> None:
        """Log what was ignored; each kind once."""
        if what not in self._told:
            self._told.add(what)
            log.warning("vigym: %s; this and all others of its kind are ignored", what)


def uuid_of(handle: Any) -> str:
    """The name of a widget in messages. viser has no public name for it; `tests/view/page` would notice a change."""
    return handle._impl.uuid


# -------------------- rules


def is_switch(value: Any) -> bool:
    """True or False."""
    return isinstance(value, bool)


def one_of(names: Iterable[str]) -> Rule:
    """One of these names."""
    known = frozenset(names)
    return lambda value: isinstance(value, str) and value in known


def between(low: float, high: float, *, whole: bool = False) -> Rule:
    """A number from `low` to `high`, both finite; an integer if `whole`."""

    def rule(value: Any) -> bool:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and low <= value <= high and (not whole or value == int(value))  # not if it is NaN

    return rule
