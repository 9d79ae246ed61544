"""Memory that threads share: numbers at addresses, and machine code that is called by its address."""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from vigym.engine.kernels.symbols import I64


@intrinsic
def load_acquire(context, address):
    """The integer at an address, read anew each time, whatever other threads do."""

    def generate(context, builder, sig, args):
        return builder.load_atomic(builder.inttoptr(args[0], I64.as_pointer()), "acquire", 8)

    return types.int64(types.int64), generate


@intrinsic
def store_release(context, address, value):
    """Write an integer to an address; who reads it there sees all that was written before."""

    def generate(context, builder, sig, args):
        builder.store_atomic(args[1], builder.inttoptr(args[0], I64.as_pointer()), "release", 8)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), generate


@intrinsic
def fetch_add(context, address, value):
    """Add to the integer at an address and return what it was, in one."""

    def generate(context, builder, sig, args):
        return builder.atomic_rmw("add", builder.inttoptr(args[0], I64.as_pointer()), args[1], "acq_rel")

    return types.int64(types.int64, types.int64), generate


@intrinsic
def copy(context, target, source):
    """Write the integer at one address to another."""

    def generate(context, builder, sig, args):
        target, source = (builder.inttoptr(arg, I64.as_pointer()) for arg in args)
        builder.store(builder.load(source), target)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), generate


@intrinsic
def call(context, function, m, states, t, first, last, repeat, resumed):
    """Call the machine code of `step` at the address `function` (see `address_of`): three stores and four integers.

    Numba's calling convention puts two pointers in front, for results and exceptions; kernels have neither."""

    def generate(context, builder, sig, args):
        pointer, word = I64.as_pointer(), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.IntType(32), [word.as_pointer()] * 2 + [pointer] * 3 + [I64] * 4)
        unused = [cgutils.alloca_once(builder, word) for _ in range(2)]
        stores = [builder.inttoptr(arg, pointer) for arg in args[1:4]]
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), [*unused, *stores, *args[4:]])
        return context.get_dummy_value()

    return types.none(*[types.int64] * 8), generate
