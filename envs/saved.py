"""Checks of what `set_state` is given: a state is taken whole, or refused before anything changes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.validation import show

VERSION = 2  # of the parts of a state, and of what is in them


def refused(reason: str) -> InputError:
    """The error of every state that is not taken."""
    return InputError(f"state must be what get_state of such an environment returned: {reason}")


def check_names(given: Any, names: Sequence[str], what: str) -> None:
    """Refuse anything but a dict with exactly these parts."""
    if not isinstance(given, Mapping):
        raise refused(f"{what} must be a dict, got {show(given)}")
    if missing := [name for name in names if name not in given]:
        raise refused(f"{what} has no {missing[0]!r}")
    if extra := [name for name in given if name not in names]:
        raise refused(f"{what} has a part {show(extra[0])}, which is unknown")


def check_parts(state: Any, own: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse a state whose parts are not those in `names` and in `own`, or that differs from `own`, the values that
    say whose it is."""
    version = state.get("version", 0) if isinstance(state, Mapping) and "sim" in state else None
    if type(version) is int and version < VERSION:
        raise refused("it is of an earlier version of vigym, whose states cannot be read any more")
    check_names(state, (*own, *names), "it")
    for name, value in own.items():
        if type(state[name]) is not type(value) or state[name] != value:
            raise refused(f"its {name} is {show(state[name])}, not {value!r}")


def checked_arrays(
    given: Any, own: Mapping[str, np.ndarray], what: str, infinite: Sequence[str] = ()
) -> dict[str, np.ndarray]:
    """Copies of arrays with the names, shapes and types of `own`; finite, but for those that may be `infinite`."""
    check_names(given, list(own), what)
    for name, like in own.items():
        array = given[name]
        if type(array) is not np.ndarray or array.dtype != like.dtype or array.shape != like.shape:
            raise refused(f"{what}[{name!r}] must be an array ({like.dtype}) of shape {like.shape}, got {show(array)}")
        bad = np.isnan(array) if name in infinite else ~np.isfinite(array)
        if bad.any():
            raise refused(f"{what}[{name!r}] has a {array[bad][0]}")
    return {name: given[name].copy() for name in own}


def check_generator(given: Any, rng: np.random.Generator, what: str) -> None:
    """Refuse what is not a state of such a generator; the generator stays as it is."""
    probe = type(rng.bit_generator)()
    try:
        probe.state = given
        np.testing.assert_equal(probe.state, given)  # what was left out, or made to fit, differs
    except Exception as cause:  # whatever a bit generator raises
        kind = type(probe).__name__
        raise refused(f"{what} must be the state of a generator {kind}, got {show(given)}") from cause
