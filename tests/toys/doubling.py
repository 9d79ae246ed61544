"""The smallest kernel, for tests of compiled code on disk."""

from vigym.engine.kernels import cache
from vigym.engine.kernels.jit import Kernel
from vigym.engine.kernels.simd import block
from vigym.engine.kernels.store import Store


@block
def double(m, s, t):
    t.y[0][0] = 2.0 * s.x[0][0]


def kernel(m, s, t):
    double(m, s, t)


def doubled() -> bool:
    """Tell whether 2 * 21 is 42 by a newly made kernel, which asks the disk first, and keeps its code there."""
    m, s, t = (Store(label, 4, 1, None, {field: (1, 1)}) for label, field in ("mc", "sx", "ty"))
    s.x[...] = 21.0
    Kernel(kernel, cache.DiskCache(kernel, "double", cache.SOURCES, "the physics")).code(m, s, t).run(m, s, t)
    return bool((t.y == 42.0).all())
