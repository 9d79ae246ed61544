"""Numbers that carry derivatives, for judgements of tasks outside compiled loops (see step_gradients.py)."""

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from vigym.envs.task import Array


class Dual:
    """A number `value` with its derivatives `slope`, (columns,), by as many inputs.

    Arithmetic, comparisons (of values) and the functions of SLOPES follow the chain rule; anything else raises
    TypeError."""

    __slots__ = ("slope", "value")

    def __init__(self, value: float, slope: Array) -> None:
        self.value, self.slope = float(value), slope

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.slope!r})"

    def __float__(self) -> float:
        return self.value

    def __add__(self, other: Any) -> "Dual":
        return Dual(self.value + value(other), self.slope + slope(other))

    def __mul__(self, other: Any) -> "Dual":
        return Dual(self.value * value(other), self.slope * value(other) + self.value * slope(other))

    def __truediv__(self, other: Any) -> "Dual":
        quotient = self.value / value(other)
        return Dual(quotient, (self.slope - quotient * slope(other)) / value(other))

    def __pow__(self, power: float) -> "Dual":
        return Dual(self.value**power, power * self.value ** (power - 1) * self.slope)

    def __mod__(self, period: float) -> "Dual":
        return Dual(self.value % period, self.slope)

    def __neg__(self) -> "Dual":
        return Dual(-self.value, -self.slope)

    def __abs__(self) -> "Dual":
        return -self if self.value < 0.0 else self

    def __sub__(self, other: Any) -> "Dual":
        return self + -other

    def __rsub__(self, other: float) -> "Dual":
        return -self + other

    def __rtruediv__(self, other: float) -> "Dual":
        return Dual(other, 0.0 * self.slope) / self

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> bool:
        return self.value < value(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= value(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > value(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= value(other)

    def __eq__(self, other: object) -> bool:
        return self.value == value(other)

    __hash__ = None  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's functions of one number, and its operators where the other side is a number of NumPy."""
        if method != "__call__" or options:
            return NotImplemented
        if ufunc in SLOPES and inputs[0] is self:
            return Dual(float(ufunc(self.value)), SLOPES[ufunc](self.value) * self.slope)
        if ufunc in OPERATORS and not isinstance(inputs[0], Dual):
            return OPERATORS[ufunc](float(inputs[0]), self)
        return NotImplemented


SLOPES: dict[Any, Callable[[float], float]] = {
    np.sin: lambda x: float(np.cos(x)),
    np.cos: lambda x: -float(np.sin(x)),
    np.exp: lambda x: float(np.exp(x)),
    np.sqrt: lambda x: 0.5 / float(np.sqrt(x)) if x > 0.0 else 0.0,  # at a kink: of a distance that is zero
    np.arctan: lambda x: 1.0 / (1.0 + x * x),
    np.tanh: lambda x: 1.0 - float(np.tanh(x)) ** 2,
}
OPERATORS: dict[Any, Callable[[Any, Any], Any]] = {
    np.add: lambda a, b: b + a,
    np.subtract: lambda a, b: -b + a,
    np.multiply: lambda a, b: b * a,
    np.divide: lambda a, b: b.__rtruediv__(a),
    np.less: lambda a, b: b > a,
    np.less_equal: lambda a, b: b >= a,
    np.greater: lambda a, b: b < a,
    np.greater_equal: lambda a, b: b <= a,
}


def value(number: Any) -> float:
    """Value of a number, with derivatives or without."""
    return getattr(number, "value", number)


def slope(number: Any) -> Any:
    """Derivatives of a number, 0 of those without."""
    return getattr(number, "slope", 0.0)


def duals(values: Array, slopes: Array) -> np.ndarray:
    """Objects of any shape, from values and slopes (*shape, columns)."""
    out = np.empty(values.shape, object)
    for k in np.ndindex(values.shape):
        out[k] = Dual(float(values[k]), slopes[k])
    return out


def plain(function: Any, done: dict[Any, Any] | None = None) -> Any:
    """A compiled loop as a function of Python, and so all that it calls."""
    done = {} if done is None else done
    if function in done:
        return done[function]
    python = getattr(function, "py_func", function)
    scope = dict(python.__globals__)
    copied = types.FunctionType(python.__code__, scope, python.__name__, python.__defaults__, python.__closure__)
    done[function] = copied
    for name in python.__code__.co_names:
        called = scope.get(name)
        if hasattr(called, "py_func") or (isinstance(called, types.FunctionType) and called.__module__ != "numpy"):
            scope[name] = plain(called, done)
    return copied
