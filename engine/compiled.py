"""Decorators of loops on numbers outside the kernels: `@compiled` the loop, `@inlined` the functions it calls. `direct`
is the machine code of a loop, for calls that are made often."""

from vigym.engine.kernels.jit import direct, inlined
from vigym.engine.kernels.jit import scalar_loop as compiled

__all__ = ["compiled", "direct", "inlined"]
