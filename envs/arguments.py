"""Arguments of environments, checked against what a task declares before anything is built."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.validation import count, number, numeric, show

RANGE = tuple[float, float]
POSITIVE = ("gait_period", "velocity_scale")
NOT_NEGATIVE = ("reset_noise_scale",)
INFINITE = ("effort_limit", "healthy_z_range", "healthy_angle_range")  # no limit


def checked(task: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as their declared types: flags, counts, numbers and ranges; others, and unknown names, as they are."""
    declared = signature(task).parameters
    return {
        name: _as(declared[name].annotation, value, name) if name in declared else value
        for name, value in given.items()
    }


def _as(kind: Any, value: Any, name: str) -> Any:
    if kind is bool:
        if not isinstance(value, (bool, np.bool_)):
            raise InputError(f"{name} must be True or False, got {show(value)}")
        return bool(value)
    if kind is int:
        return count(value, name)
    if kind is float and not (name in INFINITE and value is not None and np.ndim(value) == 0 and value == np.inf):
        above, least = (0.0 if name in names else None for names in (POSITIVE, NOT_NEGATIVE))
        return number(value, name, InputError, above=above, at_least=least)
    if kind == RANGE:
        return bounds(value, name, infinite=name in INFINITE)
    return value


def bounds(value: Any, what: str, *, infinite: bool = False) -> RANGE:
    """A range (low, high)."""
    expected = "(low, high), two numbers with low <= high"
    array = numeric(value, what, expected, InputError)
    if array.shape != (2,) or array[0] > array[1] or not (infinite or np.isfinite(array).all()):
        raise InputError(f"{what} must be {expected}, got {show(value)}")
    return float(array[0]), float(array[1])
