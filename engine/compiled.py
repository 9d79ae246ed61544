"""Decorators of loops on numbers outside the kernels: `@compiled` the loop, `@inlined` the functions it calls."""

from vigym.engine.kernels.jit import inlined
from vigym.engine.kernels.jit import scalar_loop as compiled

__all__ = ["compiled", "inlined"]
