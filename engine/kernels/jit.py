"""From Python to machine code: the one module that calls Numba's compiler.

Here are the options of Numba, the kinds of compiled functions, the names of their files on disk (see cache.py) and the
words with which a user is told that one is being compiled. Code on disk is found again by what it was made of:

- kernels and what threads do: all files of this folder, as blocks run any Python while they are compiled (simd.py);
- loops and pictures: the function, the `inlined` functions that it calls and the constants that it uses, directly or
  not, in whatever files they are (dependencies.py).
"""

from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import NullCache

from vigym.engine.kernels import geometry
from vigym.engine.kernels.cache import SOURCES, DiskCache
from vigym.engine.kernels.dependencies import fingerprint

# Threads run side by side; a division by zero gives inf or NaN, as in NumPy, and no exception. Never fast-math: results
# are the same to the bit on all machines and for all sizes of a batch.
OPTIONS = {"nogil": True, "error_model": "numpy"}

# A small function that compiled ones call: part of their code, in whatever file it is. It never owns memory, so that it
# does without Numba's reference counts (`_nrt`), which would take half of the time of a picture.
inlined = numba.njit(**OPTIONS, forceinline=True, _nrt=False)


def compiled(function: Callable, cache: Any) -> Any:
    """`function`, compiled on its first call for new types of arguments, unless `cache` has its code."""
    dispatcher = numba.njit(**OPTIONS)(function)
    dispatcher._cache = cache
    return dispatcher


def _kernel_sources() -> str:
    """Sources of this folder, and of kinds of contacts that were added from elsewhere."""
    return SOURCES + geometry.sources()


def kernel(function: Callable) -> Any:
    """A kernel on stores (simd.py): the physics."""
    what = "the physics for this kind of mechanism, once for this machine (5 to 20 s)"
    return compiled(function, DiskCache(function.__name__, _kernel_sources, what))


def readout(function: Callable) -> Any:
    """A kernel on stores that only tells what contacts do."""
    what = "contact read-outs for this kind of mechanism, once for this machine (1 s)"
    return compiled(function, DiskCache(function.__name__, _kernel_sources, what, small=True))


def native(function: Callable) -> Any:
    """A function that threads run without the interpreter (threads.py)."""
    what = "what threads do, once for this machine (1 s)"
    return compiled(function, DiskCache(f"thread-{function.__name__}", SOURCES, what, small=True))


def scalar_loop(function: Callable) -> Any:
    """A plain loop on numbers, of coordinates or of a task.

    For a single environment it takes a few microseconds where NumPy takes one for every operation; for a batch it is no
    slower."""
    what = "what surrounds the physics, once for this machine (1 to 5 s)"
    cache = DiskCache(f"loop-{function.__name__}", lambda: fingerprint(made), what, small=True)
    made = compiled(function, cache)
    return made


def picture(function: Callable) -> Any:
    """A function that draws. With nothing but + - * /, square roots and rounding in it, it draws the same picture, to
    the bit, wherever it runs."""
    what = f"pictures ({function.__name__}), once for this machine (10 to 30 s)"
    cache = DiskCache(f"picture-{function.__name__}", lambda: fingerprint(made), what)
    made = compiled(function, cache)
    return made


def unkept(function: Callable) -> Any:
    """A function whose code is not kept on disk."""
    return compiled(function, NullCache())
