"""How the picture kernels are compiled: as the physics is, and kept in the same folder (see engine/kernels/cache.py).

Helpers are inlined into the few entry functions; only those are kept on disk. Without fast-math, and with nothing but
+ - * /, square roots and rounding in them, they give the same picture to the bit wherever they run.
"""

from pathlib import Path

import numba

from vigym.engine.kernels import cache, simd

SOURCES = cache.source_hash(Path(__file__).parent)  # of what is imported now, whatever happens to the files later

# Helpers never own memory: without Numba's reference counts (`_nrt`) they run twice as fast.
inlined = numba.njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


def entry(function):
    """A function that Python calls: compiled on its first call, or loaded from disk."""
    what = f"pictures ({function.__name__}), once for this machine (10 to 30 s)"
    return simd.compiled(function, cache.DiskCache(f"picture-{function.__name__}", SOURCES, what))
