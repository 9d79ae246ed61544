"""Room for more contacts while a kernel runs: it asks, and the stores grow (store.py).

Compiled code cannot allocate memory that Python knows. It calls back: `more` of the scratch store is the address of a
function of Python's that takes (thread, group, kind, number), and returns when there is room.
"""

import ctypes

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from vigym.engine.kernels.simd import rows
from vigym.engine.kernels.symbols import I64

NAMES = ("slots", "near", "blocks", "links", "fills", "phases", "memory", "watch")  # from "memory" on, of the state
SLOTS, NEAR, BLOCKS, LINKS, FILLS, PHASES, MEMORY, WATCH = range(len(NAMES))
CALL = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)


def ensure(m, s, t, group, kind, number):
    """Give a kind of fields room for a number of blocks: of the state where it is remembered, else of the scratch."""
    if kind >= MEMORY:
        s.store.grow(NAMES[kind], s.index, number)
    else:
        t.store.grow(NAMES[kind], t.index, number)


def grower(store, scratch):
    """The function that compiled code calls, to be kept alive as long as it may; see the top of this file."""

    def grow(thread, group, kind, number):
        if kind >= MEMORY:
            store.grow(NAMES[kind], group, number)
        else:
            scratch[thread].grow(NAMES[kind], 0, number)

    return CALL(grow)


@intrinsic
def _call(context, address, thread, group, kind, number):
    def generate(context, builder, sig, args):
        function = ir.FunctionType(ir.VoidType(), [I64] * 4).as_pointer()
        builder.call(builder.inttoptr(args[0], function), list(args[1:]))
        return context.get_dummy_value()

    return types.none(*[types.int64] * 5), generate


@overload(ensure)
def _ensure(m, s, t, group, kind, number):
    def grow(m, s, t, group, kind, number):
        room = rows(s, "room")[kind - MEMORY] if kind >= MEMORY else rows(t, "room")[kind]
        if number > room:
            _call(rows(t, "more")[0], rows(t, "thread")[0], group, kind, number)

    return grow
