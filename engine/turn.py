"""Whose turn it is: a simulator works for one thread at a time, and says so to the others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import get_ident
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from vigym.engine.errors import BusyError


class Turn:
    """A lock that nobody waits for. The thread that has it may take it again, so that what it calls in between may, and
    a handler of signals.

    owner: the thread that has it, or 0. To take it is to look at `owner` and to set it, with no call and no jump in
    between: there, the interpreter does not pass on to another thread, nor hear a signal. So no interrupt can leave it
    taken, as it can an RLock, which also takes twice the time
    """

    __slots__ = ("owner",)

    def __init__(self) -> None:
        self.owner = 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """A block that no other thread disturbs; BusyError if one has the turn."""
        me = get_ident()
        before = self.owner
        if not before:
            self.owner = me
        elif before != me:
            raise busy()
        try:
            yield
        finally:
            self.owner = before


def busy() -> BusyError:
    """The error of a thread whose turn it is not."""
    return BusyError(
        "this Simulator is at work in another thread: one simulator belongs to one thread at a time; "
        "copy.deepcopy(sim) makes one for another thread"
    )


class HasTurn(Protocol):
    """Base of classes with methods that work `alone`."""

    _turn: Turn


P = ParamSpec("P")
Owner = TypeVar("Owner", bound=HasTurn)
Result = TypeVar("Result")


def alone(method: Callable[Concatenate[Owner, P], Result]) -> Callable[Concatenate[Owner, P], Result]:
    """A method that only one thread at a time may be in, of all methods of an object that are `alone`."""

    @wraps(method)
    def guarded(self: Owner, *args: P.args, **kwargs: P.kwargs) -> Result:
        with self._turn.taken():
            return method(self, *args, **kwargs)

    return guarded
