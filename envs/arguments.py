"""Arguments of tasks, checked as they are declared before anything is built.

`frame_skip: int` is a positive count, `slope: float` a finite number, `actuation: Literal["pd", "torque"]` one of
these. What else an argument must be is part of its type:

    def __init__(self, *, gait_period: Positive = 0.5, healthy_z_range: OpenRange = (0.16, np.inf)) -> None:
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.validation import choice, count, number, numeric, show


class Number(NamedTuple):
    """A rule for a number: greater than `above`, not less than `at_least`, and whether it may be infinite."""

    above: float | None = None
    at_least: float | None = None
    infinite: bool = False

    def __call__(self, value: Any, name: str) -> float:
        """The number; InputError if it breaks the rule."""
        if self.infinite and np.ndim(value) == 0 and value is not None and value == np.inf:
            return np.inf
        return number(value, name, InputError, above=self.above, at_least=self.at_least)


class Bounds(NamedTuple):
    """A rule for a range (low, high), and whether its ends may be infinite."""

    infinite: bool = False

    def __call__(self, value: Any, name: str) -> tuple[float, float]:
        """The range; InputError if it breaks the rule."""
        expected = "(low, high), two numbers with low <= high"
        array = numeric(value, name, expected, InputError)
        if array.shape != (2,) or array[0] > array[1] or not (self.infinite or np.isfinite(array).all()):
            raise InputError(f"{name} must be {expected}, got {show(value)}")
        return float(array[0]), float(array[1])


def true_or_false(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False, got {show(value)}")
    return bool(value)


Positive = Annotated[float, Number(above=0.0)]
NotNegative = Annotated[float, Number(at_least=0.0)]
Limit = Annotated[float, Number(infinite=True)]  # infinite: there is none
Range = Annotated[tuple[float, float], Bounds()]
OpenRange = Annotated[tuple[float, float], Bounds(infinite=True)]

RULES: dict[Any, Any] = {bool: true_or_false, int: count, float: Number(), tuple[float, float]: Bounds()}


def rule_of(declared: Any) -> Callable[[Any, str], Any] | None:
    """Rule by which an argument of a declared type is checked; None if it is not."""
    if get_origin(declared) is Annotated:
        return next((part for part in declared.__metadata__ if callable(part)), None)
    if get_origin(declared) is Literal:
        return lambda value, name: choice(value, get_args(declared), name, InputError)
    return RULES.get(declared)


def checks(function: Callable) -> Callable:
    """`function` with its keyword arguments as their declared types; those of other types, and unknown ones, as they
    are."""
    rules = {name: rule_of(parameter.annotation) for name, parameter in signature(function).parameters.items()}

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        values = {name: rule(value, name) if (rule := rules.get(name)) else value for name, value in given.items()}
        return function(*args, **values)

    return checked
