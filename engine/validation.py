"""Strict conversion of user arguments to numbers, arrays and names.

Every function takes `what`, the argument's name as the user knows it ("body 'rod': mass"), and raises
`error` with a message of the form "<what> must be <expected>, got <value>".
"""

import difflib
import math
import os
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import InputError, MechanismError, VigymError

Array = NDArray[np.float64]
Scalar = TypeVar("Scalar", bound=np.generic)

# A direction or quaternion shorter than this is a mistake (or all zeros), not a direction.
_SHORTEST = 1e-12
_MOST_NAMES, _LONGEST_NAME = 1000, 100  # among which `suggestion` looks for the nearest

_repr = reprlib.Repr()
_repr.maxother = _repr.maxstring = 80


def show(value: object) -> str:
    """A short, single-line `repr` for error messages; never raises."""
    text = " ".join(_repr.repr(value).split())
    return text if len(text) <= 200 else f"{text[:197]}..."


def numeric(
    value: Any, what: str, expected: str, error: type[VigymError] = MechanismError, *, nan: bool = False
) -> Array:
    """A fresh float64 array of any shape, without NaN unless `nan`."""
    try:
        raw = np.asarray(value)
    except Exception as cause:  # ragged lists, but also whatever a foreign `__array__` raises
        raise error(f"{what} must be {expected}, got {show(value)}") from cause
    # NumPy would parse strings, turn None into NaN and drop imaginary parts: only real dtypes pass.
    if raw.dtype.kind not in "biuf":
        raise error(f"{what} must be {expected}, got {show(value)}")
    with np.errstate(over="ignore"):  # a long double out of range becomes inf, which the callers judge
        array = np.array(raw, dtype=np.float64, order="C")
    if not nan and np.isnan(array).any():
        raise error(f"{what} must be {expected}, got NaN in {show(value)}")
    return array


def vector(value: Any, shape: tuple[int, ...], what: str, error: type[VigymError] = MechanismError) -> Array:
    """A fresh float64 array of exactly `shape`, without NaN and infinities."""
    expected = f"an array of finite numbers of shape {shape}" if shape else "a finite number"
    array = numeric(value, what, expected, error)
    if array.shape != shape:
        raise error(f"{what} must be {expected}, got shape {array.shape}: {show(value)}")
    if not np.isfinite(array).all():
        raise error(f"{what} must be {expected}, got {show(value)}")
    return array


def number(
    value: Any,
    what: str,
    error: type[VigymError] = MechanismError,
    *,
    above: float | None = None,
    at_least: float | None = None,
) -> float:
    """A finite float, optionally `> above` or `>= at_least`."""
    result = float(vector(value, (), what, error))
    if above is not None and not result > above:
        raise error(f"{what} must be a finite number > {above:g}, got {show(value)}")
    if at_least is not None and not result >= at_least:
        raise error(f"{what} must be a finite number >= {at_least:g}, got {show(value)}")
    return result


def sliding_friction(value: Any, what: str) -> float:
    """A Coulomb coefficient."""
    if (isinstance(value, (tuple, list)) and len(value) > 1) or (isinstance(value, np.ndarray) and value.size > 1):
        raise MechanismError(
            f"{what} is one number, that of sliding, got {show(value)}: contacts have no torsional or rolling "
            "friction (docs/contact.md: what stands for it)"
        )
    return number(value, what, at_least=0.0)


def unit_vector(value: Any, what: str, error: type[VigymError] = MechanismError, *, size: int = 3) -> Array:
    """`value` (size,) divided by its Euclidean norm, as it is if that is 1 to rounding, so that doing it twice changes
    nothing; a zero vector has no direction and is an error."""
    array = vector(value, (size,), what, error)
    largest = np.abs(array).max()
    if largest < _SHORTEST:
        raise error(f"{what} must not be zero, got {show(value)}")
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(array, -exponent)  # exact, and its length cannot overflow
    length = math.hypot(*scaled)
    is_unit = exponent <= 1 and abs(math.ldexp(length, exponent) - 1.0) <= 4.0 * np.finfo(float).eps
    return array if is_unit else scaled / length


def unit_quaternion(value: Any, what: str, error: type[VigymError] = MechanismError) -> Array:
    """A normalised quaternion (4,), scalar first; its sign is kept."""
    return unit_vector(value, what, error, size=4)


def identifier(value: Any, what: str, error: type[VigymError] = MechanismError) -> str:
    """A name: a string that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise error(f"{what} must be a non-empty string, got {show(value)}")
    return str(value)  # a plain str also for NumPy's string scalars


def choice(value: Any, known: Sequence[str], what: str, error: type[VigymError] = MechanismError) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in known:
        raise error(f"{what} must be one of {', '.join(map(repr, known))}, got {show(value)}")
    return value


def flag(value: Any, what: str, error: type[VigymError] = MechanismError) -> bool:
    """True or False, also as NumPy's, or as 1 or 0."""
    if not isinstance(value, (bool, int, np.bool_)) or value not in (0, 1):
        raise error(f"{what} must be one of True, False, got {show(value)}")
    return bool(value)


def words(value: Any, what: str, error: type[VigymError] = MechanismError) -> list[str]:
    """A list of words, as any iterable of strings but a string."""
    try:
        found = list(value)
    except Exception as cause:
        raise error(f"{what} must be a list of words, got {show(value)}") from cause
    if isinstance(value, (str, bytes)) or not all(isinstance(word, str) for word in found):
        raise error(f"{what} must be a list of words, got {show(value)}")
    return found


def file_path(value: Any, what: str = "path", error: type[VigymError] = InputError) -> str:
    """Path of a file: a string or path that the system can have; a number would be that of an open file."""
    expected = f"{what} must be a path (a string or a pathlib.Path), got {show(value)}"
    if not isinstance(value, (str, os.PathLike)):
        raise error(expected)
    try:
        path = os.fspath(value)
        is_possible = isinstance(path, str) and b"\0" not in os.fsencode(path)
    except Exception as cause:  # of a foreign `__fspath__`; half a pair of UTF-16
        raise error(expected) from cause
    if not is_possible:
        raise error(expected)
    return path


def suggestion(value: str, known: Iterable[str]) -> str:
    """The end of an "unknown name" message: the close matches, else everything there is (up to 10)."""
    names = list(known)
    # The search takes as long as the product of all lengths: what is not typed by hand is not searched.
    typed = [name for name in names[:_MOST_NAMES] if len(name) <= _LONGEST_NAME]
    if len(value) <= _LONGEST_NAME and (close := difflib.get_close_matches(value, typed)):
        return "did you mean " + " or ".join(repr(name) for name in close) + "?"
    if not names:
        return "there are none yet"
    return "known: " + ", ".join(repr(name) for name in names[:10]) + (", ..." if len(names) > 10 else "")


def body_number(name: Any, numbers: Mapping[str, int]) -> int:
    """Number of the body of that name; InputError if there is none."""
    known = [known for known in numbers if known != "world"]
    if not isinstance(name, str):
        raise InputError(f"body must be the name of one, got {show(name)}")
    if name not in known:
        raise InputError(f"body {show(name)} is unknown; {suggestion(name, known)}")
    return numbers[name]


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, locked: what was validated stays valid."""
    array.flags.writeable = False
    return array


def count(value: int, name: str) -> int:
    """A positive integer."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value < 2**31:
        raise InputError(f"{name} must be a positive integer (below 2**31), got {show(value)}")
    return int(value)


def batch(
    value: Any,
    name: str,
    num_envs: int,
    shape: tuple[int, ...],
    error: type[VigymError],
    env: NDArray[np.int64] | None = None,
    *,
    infinite: bool = False,
) -> Array:
    """A float array (num_envs, *shape), alike for all if given as `shape`, or only its rows `env`; finite, or at least
    without NaN if it may be `infinite`."""
    full = (num_envs, *shape)
    if type(value) is np.ndarray and value.dtype.kind in "biuf":
        array = value
    else:
        array = numeric(value, name, f"an array of numbers, shape {full} or {shape}", error, nan=True)
    if array.shape not in (full, shape):
        raise error(f"{name} must have shape {full} or {shape}, got {array.shape}")
    array = array.astype(float, copy=False)
    if array.shape != full:
        array = np.broadcast_to(array, full)
    array = array if env is None else array[env]
    good = ~np.isnan(array) if infinite else np.isfinite(array)
    if np.count_nonzero(good) < good.size:  # a microsecond faster than good.all()
        where = [int(k) for k in np.argwhere(~good)[0]]
        entry = where if env is None else [int(env[where[0]]), *where[1:]]
        raise error(f"{name}{entry} is {array[tuple(where)]}")
    return array


def chosen(mask: Any, num_envs: int) -> NDArray[np.int64]:
    """Numbers of the environments that a mask of booleans chooses; all of them if it is None."""
    if mask is None:
        return np.arange(num_envs)
    try:
        array = np.asarray(mask)
    except Exception as cause:  # ragged lists
        raise InputError(f"mask must be {num_envs} booleans, got {show(mask)}") from cause
    if array.shape != (num_envs,) or array.dtype != bool:
        raise InputError(f"mask must be {num_envs} booleans, got {array.dtype} of shape {array.shape}")
    return np.flatnonzero(array)


def indices(value: Any, name: str, size: int) -> NDArray[np.int64]:
    """Numbers (k,) from 0 to size - 1, none of them twice; InputError if they are anything else."""
    try:
        found = np.asarray(value)
    except Exception:  # ragged lists
        found = np.zeros((0, 0))
    good = found.ndim == 1 and (not found.size or found.dtype.kind in "iu")
    if good and found.size:
        found = found.astype(np.int64)
        good = found.min() >= 0 and found.max() < size and np.bincount(found).max() == 1
    if not good:
        raise InputError(f"{name} must be numbers of environments from 0 to {size - 1}, each once, got {show(value)}")
    return found.astype(np.int64, copy=False)
