"""Stores as the scalar code of this folder sees them, so that it is compiled once and not for each kind of mechanism.

To a kernel, the layout of a store is part of its type. Here it is data: a handle is (address of a group's table,
address of `columns_of`, lanes), and `columns_of` a store tells for each of NAMES which entry of the table has its
address, and how many numbers a block has. Uncompiled, a handle is the group itself.
"""

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from vigym.engine.kernels.simd import BLOCKS, StoreType, as_pointer, rows
from vigym.engine.kernels.symbols import I64, field_address

FLOATS = (
    # model
    *("free_fall", "nominal_mass", "reach", "usual", "wedged"),
    *("collider_bound", "collider_place", "collider_size", "collider_turn", "watched"),
    *("couple_compliance", "couple_damping", "couple_friction", "couple_restitution", "ground_numbers"),
    "hull_numbers",
    # state
    *("budget", "fresh", "heft", "mass"),
    *("collider_compliance", "collider_damping", "collider_friction", "collider_restitution"),
    *("memory_ca", "memory_came", "memory_cb", "memory_gap", "memory_impulse", "memory_key", "memory_normal"),
    *("memory_code", "memory_feature", "memory_firm", "memory_point", "memory_radius", "memory_rim", "memory_struck"),
    *("memory_due", "memory_settled_ca", "memory_settled_cb", "memory_steady_ca", "memory_steady_cb"),
    *("memory_swap", "far_q", "far_x", "margin", "near_q", "near_x", "watch_couple", "watch_now", "watch_room"),
    # scratch
    *("R", "centre", "gone", "head", "seen_q", "seen_x", "shifted", "stale"),
    *("V", "added", "again", "assumed", "counts", "energy", "energy0", "farther", "found", "found_V", "good"),
    *("group_due", "group_impact", "group_work", "h", "live", "look", "missed"),
    *("kept_ca", "kept_came", "kept_cb", "kept_compliance", "kept_contact_damping", "kept_due", "kept_friction"),
    "kept_impulse",
    *("kept_restitution", "kept_settled_ca", "kept_settled_cb", "kept_steady_ca", "kept_steady_cb", "kept_struck"),
    *("pair_contact_acceleration", "pair_contact_force_scale", "pair_contact_weight"),
    *("pair_joined_mass", "pair_joined_weight", "pair_sags", "pierced", "q", "qn", "x", "xn"),
    *("phase", "phase_key", "phase_settled_ca", "phase_settled_cb", "phase_steady_ca", "phase_steady_cb"),
    *("touch_code", "touch_feature", "touch_firm", "touch_gap", "touch_heft", "touch_key", "touch_mass"),
    *("touch_new", "touch_present", "touch_radius", "touch_rim", "touch_seen", "touch_swap"),
    *("whole_budget", "whole_energy", "whole_energy0", "whole_work"),
)
INTEGERS = (
    *("bounces", "child", "group", "joined", "n_bodies", "n_couples", "n_ends", "n_nodes", "parent", "rank"),
    *("children_left", "drawn_first", "drawn_second", "linked_with", "n_drawn", "order", "own_order", "usual_sequence"),
    *("end_body", "end_loop", "edge_chain", "first_after", "has_own", "heirs", "next_heir", "second_after"),
    *("seen", "sequence", "more"),
    *("collider_body", "collider_ground", "collider_kind", "couple_first", "couple_second", "ground_integers"),
    *("collider_hull", "hull_integers"),
    *("fill", "first_fill", "first_link", "link_body", "link_count", "link_in", "link_out", "own_block"),
    *("n_blocks", "n_links", "n_near", "n_slots", "near_couple", "near_first", "near_in", "near_out", "near_second"),
    *("pair_contact_body", "pair_contact_other", "pair_contact_pair", "up_in", "up_out", "thread", "room"),
    *("n_colliders", "watch_root"),
    "entries",
)
NAMES = FLOATS + INTEGERS


def describe(store):
    """Fill in `columns` of a store."""
    found = {
        name: (column, int(np.prod(shape or (), dtype=int))) for column, (name, shape, _) in enumerate(store.layout[1])
    }
    store.columns_of[:] = np.array([found.get(name, (0, 0)) for name in NAMES]).ravel()


@overload(rows, prefer_literal=True)
def _rows(store, name):
    if not isinstance(store, types.UniTuple) or not isinstance(name, types.StringLiteral):
        return None
    place = 2 * NAMES.index(name.literal_value)
    if name.literal_value in INTEGERS:

        def integers(store, name):
            table, columns = numbers_at(store[0]), numbers_at(store[1])
            return numba.carray(as_pointer(table[columns[place]], 0), (BLOCKS,))

        return integers

    def floats(store, name):
        table, columns = numbers_at(store[0]), numbers_at(store[1])
        return numba.carray(as_pointer(table[columns[place]], 0.0), (BLOCKS, columns[place + 1], store[2]))

    return floats


@numba.extending.register_jitable
def numbers_at(address):
    """The integers at an address."""
    return numba.carray(as_pointer(address, 0), (BLOCKS,))


@intrinsic
def call_entry(context, address, m, s, t, group):
    """Call the compiled function at an address (entries.py) with the handles of three stores."""
    if not all(isinstance(store, StoreType) for store in (m, s, t)):
        return None

    def generate(context, builder, sig, args):
        numbers = []
        for store, table in zip(sig.args[1:4], args[1:4], strict=True):
            columns = field_address(builder, store, table, "columns_of")
            numbers += [builder.ptrtoint(table, I64), columns, ir.Constant(I64, store.lanes)]
        word = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.IntType(32), [word.as_pointer()] * 2 + [I64] * 10)
        unused = [builder.alloca(word) for _ in range(2)]
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), [*unused, *numbers, args[4]])
        return context.get_dummy_value()

    return types.none(types.int64, m, s, t, types.int64), generate


@intrinsic
def call_consult(context, address, m, m1, m2, t, t1, t2, first, second, when, reach, start, lane):
    """Call the compiled `ground.consult` at an address, with the handles of two stores, and return its number."""

    def generate(context, builder, sig, args):
        word, real = ir.IntType(8).as_pointer(), ir.DoubleType()
        numbers = [*[I64] * 8, real, real, I64, I64]
        called = ir.FunctionType(ir.IntType(32), [real.as_pointer(), word.as_pointer(), *numbers])
        result, unused = (cgutils.alloca_once(builder, kind) for kind in (real, word))  # calls may be in loops
        builder.call(builder.inttoptr(args[0], called.as_pointer()), [result, unused, *args[1:]])
        return builder.load(result)

    integers = [types.int64] * 9
    return types.float64(*integers, types.float64, types.float64, types.int64, types.int64), generate
