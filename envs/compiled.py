"""How the arithmetic of tasks is compiled: as the physics is, and kept in the same folder, see engine/kernels/cache.py.

A task may write what it computes from step to step as one loop over environments, on numbers. For a single environment
that takes a few microseconds where NumPy takes one for every operation; for a batch it is no slower. Compiled code is
kept by the source of the file it is in.
"""

import hashlib
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vigym.engine.kernels import cache, simd


class TaskCache(cache.DiskCache):
    """The disk cache of one function."""

    def __init__(self, function: Callable) -> None:
        super().__init__(f"task-{function.__name__}")
        source = Path(function.__code__.co_filename).read_bytes() + Path(__file__).read_bytes()
        used = {name: function.__globals__.get(name) for name in function.__code__.co_names}
        constants = {name: float(value) for name, value in used.items() if isinstance(value, (int, float))}
        self.source = hashlib.sha256(f"{sys.version} {constants}".encode() + source).hexdigest()

    def path(self, sig: Any, context: Any) -> Path:
        key = f"{self.source} {simd.target(context)} {sig}"
        return cache.folder() / f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.kernel"

    def load_overload(self, sig: Any, context: Any) -> Any:
        """The compiled function, or None; a file that cannot be used is treated as absent."""
        try:
            return simd.load(context, cache.unseal(self.path(sig, context).read_bytes()))
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ValueError, TypeError, RuntimeError):
            print("vigym: compiling the task, once for this machine (1 to 3 s) ...", file=sys.stderr, flush=True)
            self.started = time.perf_counter()
            return None


def compiled(function: Callable) -> Callable:
    """`function`, compiled on its first call for new types of arguments, or loaded from disk.

    It may use numbers of its file, and no function of another file: only these and its file's source are looked at.
    """
    return simd.compiled(function, TaskCache(function))
