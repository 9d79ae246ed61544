"""Compiling Python to machine code: the one module that calls Numba's compiler (machine_code.py knows how to).

Here are the options of Numba, the kinds of compiled functions, the names of their files on disk (see cache.py) and the
words with which a user is told that one is being compiled. Code on disk is found again by what it was made of:

- kernels and what threads do: all files of this folder, as blocks run any Python while they are compiled (simd.py);
- loops and pictures: the function, the `inlined` functions that it calls and the constants that it uses, directly or
  not, in whatever files they are (dependencies.py).
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numba
from numba.core import types
from numba.core.caching import NullCache
from numba.core.registry import cpu_target

from vigym.engine.kernels import geometry, machine_code
from vigym.engine.kernels.cache import SOURCES, DiskCache
from vigym.engine.kernels.dependencies import fingerprint
from vigym.engine.kernels.simd import store_type

# Threads run side by side; a division by zero gives inf or NaN, as in NumPy, and no exception. Never fast-math: results
# are the same to the bit for all sizes of a batch, and on all machines of a class (docs/accuracy.md).
OPTIONS = {"nogil": True, "error_model": "numpy"}

# A small function that compiled ones call: part of their code, in whatever file it is. It never owns memory, so that it
# does without Numba's reference counts (`_nrt`), which would take half of the time of a picture.
inlined = numba.njit(**OPTIONS, forceinline=True, _nrt=False)
# The same, but a call: for a large function that is used in several places, and that would be optimised in each.
called = numba.njit(**OPTIONS, _nrt=False)


DISABLED = bool(numba.config.DISABLE_JIT)  # when this module was imported: functions stay as they are
if DISABLED:
    warnings.warn(
        "NUMBA_DISABLE_JIT is set: vigym's loops and pictures run as plain Python, hundreds of times slower. Unset it, "
        "unless that is what you want.",
        RuntimeWarning,
        stacklevel=2,
    )

KINDS = 16  # of mechanisms whose code a process keeps without a Simulator that uses it


def compiled(function: Callable, cache: Any, **options: Any) -> Any:
    """`function`, compiled on its first call for new types of arguments, unless `cache` has its code."""
    dispatcher = numba.njit(**OPTIONS, **options)(function)
    if not DISABLED:
        dispatcher._cache = cache
    return dispatcher


def check_enabled() -> None:
    """RuntimeError if Numba was told to compile nothing."""
    if DISABLED:
        raise RuntimeError(
            "the environment variable NUMBA_DISABLE_JIT is set, so that the kernels cannot be compiled: unset it, or "
            "pass compiled=False to Simulator, which runs them as plain Python, hundreds of times slower (in tests: "
            "pytest --uncompiled)"
        )


class Code(NamedTuple):
    """Machine code of a kernel for one kind of mechanism; it is freed with the last reference to `run`.

    run: called as run(*stores, integer, ...), without Numba's dispatch
    address: for `memory.call`
    """

    run: Callable[..., None]
    address: int


class Kernel:
    """A function on stores (simd.py), compiled for each kind of mechanism.

    The code of the `KINDS` kinds used last is kept; that of others is freed when no Simulator uses it any more, and
    comes from the disk when it is asked for again."""

    def __init__(self, function: Callable, cache: Any) -> None:
        self.function, self.cache = function, cache
        self.codes: OrderedDict[tuple, Code] = OrderedDict()  # by types of arguments, the one used last at the end
        self._one = Lock()

    def code(self, *stores: Any) -> Code:
        """The code for stores of these types, compiled if it is nowhere."""
        arguments = self._types(stores)
        with self._one:
            found = self.codes.pop(arguments, None) or self._make(arguments)
            self.codes[arguments] = found
            while len(self.codes) > KINDS:
                self.codes.popitem(last=False)
        return found

    def compile(self, *stores: Any) -> Any:
        """Numba's compile result for stores of these types, made anew: for those who look at assembly."""
        return self._compile(self._types(stores))

    def _types(self, stores: tuple) -> tuple:
        integers = self.function.__code__.co_argcount - len(stores)
        return tuple([*map(store_type, stores), *[types.intp] * integers])

    def _make(self, arguments: tuple) -> Code:
        result = self.cache.load_overload(arguments, cpu_target.target_context)
        if result is None:
            made = self._compile(arguments)
            self.cache.save_overload(arguments, made)
            # from its bytes, as if it came from the disk: without what compiling leaves behind, 5 MB
            result = machine_code.load(machine_code.dump(made), self.function, arguments)
        return Code(result.entry_point, result.library.get_pointer_to_function(result.fndesc.llvm_func_name))

    def _compile(self, arguments: tuple) -> Any:
        return machine_code.compile_apart(self.function, numba.njit(**OPTIONS)(self.function).targetoptions, arguments)


def _kernel_sources() -> str:
    """Sources of this folder, and of kinds of contacts that were added from elsewhere."""
    return SOURCES + geometry.sources()


def kernel(function: Callable) -> Kernel:
    """A kernel on stores: the physics."""
    what = "the physics for this kind of mechanism, once for this machine (5 to 20 s)"
    return Kernel(function, DiskCache(function, function.__name__, _kernel_sources, what))


def readout(function: Callable) -> Kernel:
    """A kernel on stores that only tells what contacts do."""
    what = "contact read-outs for this kind of mechanism, once for this machine (1 s)"
    return Kernel(function, DiskCache(function, function.__name__, _kernel_sources, what, small=True))


def native(function: Callable) -> Any:
    """A function that threads run without the interpreter (threads.py), called from Python only."""
    what = "what threads do, once for this machine (1 s)"
    return compiled(function, DiskCache(function, f"thread-{function.__name__}", SOURCES, what, small=True))


def entry(function: Callable) -> Any:
    """A function that kernels call by its address (collision/entries.py)."""
    what = "contacts between bodies, once for this machine (10 s)"
    return compiled(function, DiskCache(function, f"entry-{function.__name__}", SOURCES, what, small=True))


def scalar_loop(function: Callable) -> Any:
    """A plain loop on numbers, of coordinates or of a task.

    For a single environment it takes a few microseconds where NumPy takes one for every operation; for a batch it is no
    slower. It owns no memory, as `inlined` functions, which may return parts of its arrays to it."""
    what = "what surrounds the physics, once for this machine (1 to 5 s)"
    cache = DiskCache(function, f"loop-{function.__name__}", lambda: fingerprint(made), what, small=True)
    made = compiled(function, cache, _nrt=False)
    return made


def direct(function: Any, *arguments: Any) -> Callable:
    """The machine code of a `scalar_loop` for arguments of these types, which it trusts: whoever calls it passes the
    same types every time. Numba's look at the types takes longer than a loop over one environment.

    Arrays may have any strides, so that one piece of code serves all sizes of a batch."""
    if DISABLED:
        return function
    kinds = tuple(_strided(numba.typeof(argument)) for argument in arguments)
    function.compile(kinds)
    return function.overloads[kinds].entry_point


def _strided(kind: Any) -> Any:
    """The type of an array of any strides; of a tuple of them."""
    if isinstance(kind, types.Array):
        return kind.copy(layout="A", readonly=False)
    if isinstance(kind, types.NamedUniTuple | types.NamedTuple):
        return types.NamedTuple([_strided(part) for part in kind], kind.instance_class)
    return kind


def picture(function: Callable) -> Any:
    """A function that draws. With nothing but + - * /, square roots and rounding in it, it draws the same picture, to
    the bit, wherever it runs."""
    what = f"pictures ({function.__name__}), once for this machine (10 to 30 s)"
    cache = DiskCache(function, f"picture-{function.__name__}", lambda: fingerprint(made), what)
    made = compiled(function, cache)
    return made


def unkept(function: Callable) -> Any:
    """A function whose code is not kept on disk."""
    return compiled(function, NullCache())


def unkept_kernel(function: Callable) -> Kernel:
    """A kernel on stores whose code is not kept on disk."""
    return Kernel(function, NullCache())
