"""A hash of everything that the machine code of a function depends on: its own code, and whatever it refers to.

A function that Numba compiles refers to other compiled functions and to constants by global names, by attributes of
modules, by closures and by default values. All of them end up in its machine code, wherever they are defined; code
on disk is stale as soon as one of them changes. What is hashed is Python's bytecode, as Numba compiles that: comments
do not count, and it does not matter what happens to the files after they were imported.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

from vigym.engine.kernels.cache import SOURCES, DiskCache

KERNELS = __name__.rpartition(".")[0]  # the package of this file
LIBRARIES = {"numpy", "numba", "llvmlite"}
FOREIGN = LIBRARIES | sys.stdlib_module_names  # what they hold changes only with the versions of Python and Numba


def fingerprint(function: Callable) -> str:
    """The hash of `function`, which may be compiled or not; TypeError if it refers to what cannot be hashed."""
    found: list[Any] = [function]
    digest = hashlib.sha256(sys.version.encode())
    for one in found:  # grows on the way
        if one is not function and isinstance(getattr(one, "_cache", None), DiskCache):
            raise TypeError(
                f"{_plain(one).__qualname__} is compiled by itself, and cannot be a part of "
                f"{_plain(function).__qualname__}: make it @inlined"
            )
        digest.update(repr(_describe_function(one, found)).encode())
    if any(_plain(one).__module__.startswith(KERNELS) for one in found):
        digest.update(SOURCES.encode())  # Numba compiles its own forms of some of their functions, see simd.py
    return digest.hexdigest()


def _describe_function(function: Any, found: list[Any]) -> tuple:
    options = function.targetoptions if isinstance(function, Dispatcher) else None
    plain = _plain(function)
    cells = [cell.cell_contents for cell in plain.__closure__ or ()]
    given = [*cells, *(plain.__defaults__ or ()), *sorted((plain.__kwdefaults__ or {}).items())]
    names = sorted(_names(plain.__code__))
    referred = [(name, value) for name in names for value in _values(plain.__globals__, name, names)]
    return (
        plain.__module__,
        plain.__qualname__,
        options,
        _describe_code(plain.__code__, found),
        [_describe(value, found) for value in given],
        [(name, _describe(value, found)) for name, value in referred],
    )


def _plain(function: Any) -> Any:
    """The Python function that a compiled one is made of."""
    if isinstance(function, Dispatcher):
        return function.py_func
    return function._defn if isinstance(function, _Intrinsic) else function


def _names(code: CodeType) -> set[str]:
    """Names of globals and attributes in a function and in those that it defines."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def _values(namespace: dict[str, Any], name: str, names: list[str]) -> Iterator[Any]:
    """The value of a global name; if that is a module, all its attributes that the function may mean."""
    if name in namespace:
        value = namespace[name]
        if not isinstance(value, ModuleType):
            yield value
        elif value.__name__.partition(".")[0] not in FOREIGN:
            for attribute in names:
                if attribute != name:
                    yield from _values(vars(value), attribute, names)


def _describe_code(code: CodeType, found: list[Any]) -> tuple:
    return (
        code.co_code,
        code.co_flags,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
        getattr(code, "co_exceptiontable", b""),  # from Python 3.11 on
        [_describe(constant, found) for constant in code.co_consts],
    )


def _describe(value: Any, found: list[Any]) -> Any:
    """Something with a `repr` that is the same in every process, and another one if `value` changes."""
    if isinstance(value, Enum):
        return type(value).__qualname__, value.name, _describe(value.value, found)
    if value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return type(value).__name__, value
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [_describe(part, found) for part in value]
    if isinstance(value, (set, frozenset)):
        return "set", sorted(repr(_describe(part, found)) for part in value)
    if isinstance(value, CodeType):
        return _describe_code(value, found)
    package = (getattr(_plain(value), "__module__", None) or type(value).__module__).partition(".")[0]
    if package in LIBRARIES or (package in FOREIGN and callable(value)):
        return package, getattr(value, "__qualname__", None) or getattr(value, "__name__", type(value).__name__)
    if isinstance(value, type) and issubclass(value, Enum):
        return value.__qualname__, [(member.name, _describe(member.value, found)) for member in value]
    if isinstance(value, type):
        return value.__qualname__, getattr(value, "_fields", None)
    if isinstance(value, (FunctionType, Dispatcher, _Intrinsic)):
        if not any(value is one for one in found):
            found.append(value)
        return "function", next(k for k, one in enumerate(found) if value is one)
    raise TypeError(f"cannot tell when {value!r} changes: compiled functions may refer to functions and constants")
