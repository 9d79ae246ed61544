"""How loops on numbers are compiled, outside the kernels: `@compiled` the loop itself, `@inlined` what it calls."""

from vigym.engine.kernels.jit import inlined
from vigym.engine.kernels.jit import loop as compiled

__all__ = ["compiled", "inlined"]
