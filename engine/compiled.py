"""How plain loops on numbers are compiled, of tasks and of coordinates: as the physics is, and kept in the same folder,
see kernels/cache.py.

For a single environment such a loop takes a few microseconds where NumPy takes one for every operation; for a batch it
is no slower.
"""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

import numba

from vigym.engine.kernels import cache, simd

# Small functions that `compiled` ones call; they are part of the code of their callers.
inlined = numba.njit(nogil=True, error_model="numpy", forceinline=True)


def sources(function: Callable) -> str:
    """Hash of what the code of `function` depends on: its file, and the numbers of other files that it uses."""
    used = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    constants = {name: float(value) for name, value in used.items() if isinstance(value, (int, float))}
    digest = hashlib.sha256(f"{sys.version} {constants}".encode())
    for path in (function.__code__.co_filename, __file__):
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()


def compiled(function: Callable) -> Callable:
    """`function`, compiled on its first call for new types of arguments, or loaded from disk; see `sources`.

    It may call `inlined` functions of its own file."""
    what = "what surrounds the physics, once for this machine (1 to 5 s)"
    return simd.compiled(function, cache.DiskCache(f"loop-{function.__name__}", sources(function), what, small=True))
