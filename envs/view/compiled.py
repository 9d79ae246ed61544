"""How the picture kernels are compiled: as the physics is, and kept in the same folder (see engine/kernels/cache.py).

Helpers are inlined into the few entry functions; only those are kept on disk. Without fast-math, and with nothing but
+ - * /, square roots and rounding in them, they give the same picture to the bit wherever they run.
"""

import hashlib
import pickle
import sys
import time
from pathlib import Path

import numba

from vigym.engine.kernels import cache, simd

SOURCES = cache.source_hash(Path(__file__).parent)  # of what is imported now, whatever happens to the files later

# Helpers never own memory: without Numba's reference counts (`_nrt`) they run twice as fast.
inlined = numba.njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


class PictureCache(cache.DiskCache):
    """The disk cache of one entry function, keyed by the sources of this folder."""

    def path(self, sig, context) -> Path:
        key = f"{SOURCES} {simd.target(context)} {[(str(t), t.key) for t in sig]}"
        return cache.folder() / f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.kernel"

    def load_overload(self, sig, context):
        """The compiled function, or None; a file that cannot be used is treated as absent."""
        try:
            return simd.load(context, cache.unseal(self.path(sig, context).read_bytes()))
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ValueError, TypeError, RuntimeError):
            print(
                f"vigym: compiling the pictures ({self.name}), once for this machine (10 to 30 s) ...",
                file=sys.stderr,
                flush=True,
            )
            self.started = time.perf_counter()
            return None


def entry(function):
    """A function that Python calls: compiled on its first call, or loaded from disk."""
    return simd.compiled(function, PictureCache(f"picture-{function.__name__}"))
