"""The lane compiler: plain Python on small blocks -> SIMD code with one lane per environment.

Three kinds of Python function make up the kernels, and all of them also run uncompiled on NumPy:

- a BLOCK function (`@block`) is straight-line arithmetic on a few numbers per lane, or a sequence of calls of others.
  When a call to it is compiled, the function itself is run once, on symbols instead of numbers; every operator leaves
  one LLVM vector instruction behind. Python loops, lists and helper functions inside it are gone by then: that is the
  unrolling.
- an EACH function (`@each(...)`) is the same for one body, joint, axis or contact, and is called for all of them. Where
  it depends on the kind of a joint or contact, one specialised body is generated per kind that the mechanism uses.
- the one function with control flow that depends on lanes (step.py) is compiled by Numba. It never touches a number: it
  calls blocks.

Memory is in `Store`s (store.py). To a kernel a store is a table of pointers; the shapes of its blocks, its lane count
and the features of the mechanism are part of its TYPE, so that they are constants to the compiler.

This file, memory.py, dependencies.py and machine_code.py know the internals of Numba; symbols.py is the part that
writes LLVM instructions; jit.py is the one that says what is compiled, and how.
"""

import functools
import hashlib
import operator

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import (
    NativeValue,
    intrinsic,
    models,
    overload,
    register_jitable,
    register_model,
    typeof_impl,
    unbox,
)

from vigym.engine.kernels.store import Store
from vigym.engine.kernels.symbols import (
    I64,
    Fields,
    absolute,
    constant,
    emit_loop,
    field_address,
    for_range,
    less,
    load_index,
    maximum,
    minimum,
    on,
    real,
    rint,
    select,
    slope,
    sqrt,
)

__all__ = [
    "absolute",
    "any_lane",
    "as_pointer",
    "block",
    "each",
    "for_range",
    "group",
    "less",
    "maximum",
    "minimum",
    "on",
    "real",
    "rint",
    "rows",
    "select",
    "shared",
    "slope",
    "sqrt",
    "store_type",
]

BLOCKS = 1 << 40  # more than any field has


# ------------------------------------------------------------------------------------------------ types
class StoreType(types.Type):
    """A store: lane count, ((name, inner shape, is_integer), ...), features of the mechanism, label; how many of the
    fields, which are the first ones, do not grow. If `dual`, every number of it is followed by its derivative, lanes by
    lanes."""

    def __init__(self, layout, dual=False):
        self.lanes, self.fields, self.features, self.label, self.fixed = self.layout = layout
        self.dual, self.width = dual, 2 * self.lanes if dual else self.lanes
        # a short name: Numba writes the names of types into every symbol
        name = "Twofold" if dual else "Store"
        super().__init__(name=name + hashlib.sha256(repr(layout).encode()).hexdigest()[:12])

    @property
    def key(self):
        return *self.layout, self.dual


class IndexType(types.Type):
    """An integer field of a store (parents, kinds, order): all that a kernel may read by itself."""

    def __init__(self, label):
        self.label = label
        super().__init__(name=f"IndexField{label}")


@register_model(IndexType)
@register_model(StoreType)
class _PointerModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, I64.as_pointer())


@typeof_impl.register(Store)
def _typeof_store(store, context):
    return store_type(store)


def store_type(store):
    """The Numba type of a store, made once per store."""
    if store.numba_type is None:
        store.numba_type = StoreType(store.layout)
    return store.numba_type


@unbox(StoreType)
def _unbox_store(ty, obj, c):
    address = c.pyapi.object_getattr_string(obj, "address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    failed = cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    return NativeValue(c.builder.bitcast(pointer, I64.as_pointer()), is_error=failed)


# ------------------------------------------------------------------------------------------------ stores in kernels
@infer_getattr
class _StoreAttribute(AttributeTemplate):
    key = StoreType

    def generic_resolve(self, store, name):
        if (name, None, True) in store.fields:
            return types.intp
        return IndexType(store.label) if (name, (), True) in store.fields else None


@lower_getattr_generic(StoreType)
def _store_getattr(context, builder, store, table, name):
    pointer = builder.inttoptr(field_address(builder, store, table, name), I64.as_pointer())
    if (name, (), True) in store.fields:
        return pointer
    return load_index(builder, pointer, ir.Constant(I64, 0), store.label)


@infer_global(operator.getitem)
class _IndexGetitem(AbstractTemplate):
    def generic(self, args, kws):
        return signature(types.intp, args[0], types.intp) if isinstance(args[0], IndexType) else None


@lower_builtin(operator.getitem, IndexType, types.Integer)
def _index_getitem(context, builder, sig, args):
    return load_index(builder, *args, sig.args[0].label)


def group(store, index):
    """Lane group `index` of a store."""
    return store[index]


@infer_global(group)
class _GroupTemplate(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0], args[0], types.intp)


@lower_builtin(group, StoreType, types.Integer)
def _group(context, builder, sig, args):
    step = ir.Constant(I64, len(sig.args[0].fields))
    return builder.gep(args[0], [builder.mul(args[1], step)])


def any_lane(store, name):
    """True if the number `name` is not zero in some lane."""
    return bool(np.any(getattr(store, name) != 0))


@infer_global(any_lane)
class _AnyLaneTemplate(AbstractTemplate):
    prefer_literal = True

    def generic(self, args, kws):
        return signature(types.boolean, *args)


@lower_builtin(any_lane, StoreType, types.StringLiteral)
def _any_lane(context, builder, sig, args):
    value = real(getattr(Fields(builder, sig.args[0], args[0]), sig.args[1].literal_value)).value
    lanes = sig.args[0].lanes
    mask = builder.fcmp_unordered("!=", value, constant(0.0, lanes))
    bits = builder.bitcast(mask, ir.IntType(lanes))
    return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(lanes), 0))


def rows(store, name):
    """All blocks of a field as an array (blocks, numbers, lanes), or (blocks,) of integers, for scalar code; compiled
    code has it of handles (collision/handle.py)."""
    array = store.scalars[name] if name in store.scalars else getattr(store, name)
    return array if array.dtype == np.int64 else array.reshape(len(array), -1, store.store.lanes)


@intrinsic
def as_pointer(context, address, like):
    """The address as a pointer to numbers of the type of `like`."""
    kind = types.CPointer(like)

    def generate(context, builder, sig, args):
        return builder.inttoptr(args[0], context.get_value_type(kind))

    return kind(types.int64, like), generate


# ------------------------------------------------------------------------------------------------ decorators
def _call(function, stores, emit):
    """Call the LLVM function that `emit(builder, stores)` fills; it is made once per module."""
    builder, module = stores[0].builder, stores[0].builder.module
    types_ = [store.store for store in stores]
    name = ".".join(("vigym", function.__module__, function.__qualname__, *(store.name for store in types_)))
    if name not in module.globals:
        made = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64.as_pointer()] * len(stores)), name)
        made.linkage = "internal"
        made.attributes.add("noinline")  # small functions compile faster, and calls cost nothing here
        made.attributes.add("nounwind")
        inner = ir.IRBuilder(made.append_basic_block("entry"))
        emit(inner, [Fields(inner, store, table) for store, table in zip(types_, made.args, strict=True)])
        inner.ret_void()
    builder.call(module.globals[name], [store.table for store in stores])


def _by_kind(builder, function, kinds, kind, arguments):
    """Code for each kind in use, and a switch between them."""
    if kind is None:
        function(kinds[0], *arguments)
        return
    end = builder.append_basic_block("end")
    switch = builder.switch(kind.value, end)
    for value in kinds:
        case = builder.append_basic_block(f"kind{value}")
        switch.add_case(ir.Constant(I64, value), case)
        builder.position_at_end(case)
        function(value, *arguments)
        builder.branch(end)
    builder.position_at_end(end)


def _register(source, run, emit):
    """The function that callers see: on NumPy it is `run`; when compiled, or called while code is generated, it is a
    call of the code that `emit` generates."""

    @functools.wraps(source)
    def function(m, s, t):
        if isinstance(m, Fields):
            _call(source, (m, s, t), emit)
        else:
            run(m, s, t)

    class Template(AbstractTemplate):
        key = function

        def generic(self, args, kws):
            return signature(types.none, *args)

    infer_global(function, types.Function(Template))

    @lower_builtin(function, *[StoreType] * 3)
    def lower(context, builder, sig, args):
        _call(source, [Fields(builder, store, table) for store, table in zip(sig.args, args, strict=True)], emit)
        return context.get_dummy_value()

    return function


def block(function):
    """A function `f(m, s, t)`: arithmetic on what all lanes have one of, or a sequence of calls."""
    return _register(function, function, lambda builder, stores: function(*stores))


def each(count, *, first=None, feature=None, kind=None, plain=False, order=0, here=False):
    """A function `f(m, s, t, i)` of one body, joint, axis or contact, or `f(kind, m, s, t, i)` with a `kind`.

    Called as `f(m, s, t)` it runs over i from the number `first` of the model (or 0) to its number `count`: in any
    order (0), or along m.order, or where bodies may touch t.order, upwards (1) or
    downwards (-1). `kind` names the model's field that holds the kind of
    each; the kinds in use are the feature of that name in the plural, and each gets code of its own; `plain` does
    without a switch between them where all are of one kind. Mechanisms without `feature` have none of them, and no code
    for it. `here`: the number is one of the scratch store, and changes from step to step."""

    def decorate(function):
        def run(m, s, t):
            if feature is not None and not getattr(m.features, feature):
                return
            start, n = 0 if first is None else getattr(m, first), int(np.real(getattr(t if here else m, count)))
            for k in range(start, n) if order >= 0 else range(n - 1, -1, -1):
                i = (t if m.features.touches else m).order[k] if order else k
                if kind is not None:
                    function(int(getattr(m, kind)[i]), m, s, t, i)
                else:
                    function(m, s, t, i)

        def emit(builder, stores):
            m = stores[0]
            if feature is not None and not getattr(m.features, feature):
                return
            n, minus = getattr(stores[2] if here else m, count).value, ir.Constant(I64, -1)
            start = ir.Constant(I64, 0) if first is None else getattr(m, first).value

            def body(k):
                i = (stores[2] if m.features.touches else m).order[k] if order else k
                if kind is not None:
                    kinds = getattr(m.features, f"{kind}s")
                    own = None if plain and len(kinds) == 1 else getattr(m, kind)[i]
                    _by_kind(builder, function, kinds, own, [*stores, i])
                else:
                    function(*stores, i)

            if order >= 0:
                emit_loop(builder, start, n, 1, body)
            else:
                emit_loop(builder, builder.add(n, minus), minus, -1, body)

        return _register(function, run, emit)

    return decorate


# ------------------------------------------------------------------------------------------------ functions of loops
# A plain function of numbers that Numba's own loops (engine/motion.py) may call too. It stays a plain function.
shared = register_jitable

overload(sqrt)(lambda x: lambda x: np.sqrt(x))
overload(less)(lambda a, b: lambda a, b: a < b)
overload(select)(lambda mask, a, b: lambda mask, a, b: a if mask else b)
