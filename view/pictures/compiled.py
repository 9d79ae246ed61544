"""Decorators of the picture kernels: `@entry` what Python calls, `@inlined` the helpers, part of the entries."""

from vigym.engine.kernels.jit import called, inlined
from vigym.engine.kernels.jit import picture as entry

__all__ = ["called", "entry", "inlined"]
