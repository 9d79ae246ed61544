"""Dual stores: the memory of another store, twice: each row of lanes is followed by that of its derivatives.

Blocks that are called with dual stores (simd.py) are compiled once more, for numbers that carry derivatives
(symbols.Dual). A kernel gets them by their addresses, which its scratch store keeps.
"""

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from vigym.engine.kernels.simd import StoreType
from vigym.engine.kernels.store import aligned
from vigym.engine.kernels.symbols import I64, constant, lane_type


class Twofold:
    """Memory of one lane group of a dual store, for the layout of `store`, whose integers it shares.

    address: of its table; numbers: that of its slab"""

    def __init__(self, store):
        self.store, self.grown = store, {}
        self.slab = aligned(1, 2 * store.slab.shape[1], float)
        self.numbers = self.slab.ctypes.data
        offsets = store.table[0] - store.slab.ctypes.data
        integers = [integer for _, _, integer in store.layout[1]]
        self.table = np.where(integers, store.table[0], self.numbers + 2 * offsets)
        self.address = self.table.ctypes.data

    def grow(self):
        """Copy the fields that grow, without derivatives: as many blocks as the store has, and the same integers."""
        store = self.store
        for name, field in store.grown[0].items():
            if field.dtype == float:
                self.grown[name] = np.stack([field, np.zeros_like(field)], -2)
            self.table[store.columns[name]] = self.grown.get(name, field).ctypes.data


@intrinsic
def dual(context, like, address):
    """The dual store at an address, of the layout of `like`."""
    kind = StoreType(like.layout, dual=True)

    def generate(context, builder, sig, args):
        return builder.inttoptr(args[1], I64.as_pointer())

    return kind(like, address), generate


@intrinsic
def copy_row(context, like, target, source):
    """Copy one number of all lanes from one address to another; `like` is a store that tells how many there are."""
    row = lane_type(like.lanes).as_pointer()

    def generate(context, builder, sig, args):
        value = builder.load(builder.inttoptr(args[2], row), align=8)
        builder.store(value, builder.inttoptr(args[1], row), align=8)
        return context.get_dummy_value()

    return types.none(like, target, source), generate


@intrinsic
def clear_row(context, like, target):
    """Set one number of all lanes to 0."""
    row = lane_type(like.lanes).as_pointer()

    def generate(context, builder, sig, args):
        builder.store(constant(0.0, like.lanes), builder.inttoptr(args[1], row), align=8)
        return context.get_dummy_value()

    return types.none(like, target), generate
