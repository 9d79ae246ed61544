"""The lane compiler: plain Python on small blocks -> SIMD code with one lane per environment.

Three kinds of Python function make up the kernels, and all of them also run uncompiled on NumPy:

- a BLOCK function (`@block`) is straight-line arithmetic on the blocks of one body, joint or contact. When Numba meets
  a call to it, the function itself is run once, on symbols instead of numbers; every operator leaves one LLVM vector
  instruction behind. Python loops, lists and helper functions inside it are gone by then: that is the unrolling.
- a KIND function (`@by_kind`) is a block function whose first argument is a small integer known when the mechanism
  is built (the kind of a joint). One specialised body is generated per kind that the mechanism really uses.
- a KERNEL (`@kernel`) holds the loops over bodies, joints and contacts and the control flow; Numba compiles it.
  It never touches a lane: it hands stores and indices to block functions.

Memory is in `Store`s (store.py). To a kernel a store is a table of pointers; the shapes of its blocks, its lane count
and the features of the mechanism are part of its TYPE, so that they are constants to the compiler.

This is the only file that knows the internals of Numba and llvmlite.
"""

import hashlib
import operator
import pickle

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.compiler import CompileResult
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.serialize import dumps
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import NativeValue, models, overload, register_model, typeof_impl, unbox

from vigym.engine.kernels.store import Store

DOUBLE, I32, I64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)
# What the optimiser may do: fuse multiply-adds, ignore the sign of zero, multiply by a reciprocal. NaN must survive.
FAST = ("contract", "nsz", "arcp")
LABELS = ("m", "s", "t")  # the stores of a kernel: model, state, scratch; they never overlap


# ------------------------------------------------------------------------------------------------ types
class StoreType(types.Type):
    """A store: lane count, ((name, inner shape, is_integer), ...), features of the mechanism, label."""

    def __init__(self, layout):
        self.lanes, self.fields, self.features, self.label = layout
        # a short name: Numba writes the names of types into every symbol
        super().__init__(name="Store" + hashlib.sha256(repr(layout).encode()).hexdigest()[:12])

    @property
    def key(self):
        return self.lanes, self.fields, self.features, self.label


class IndexType(types.Type):
    """An integer field of a store (parents, kinds, order): all that a kernel may read by itself."""

    def __init__(self):
        super().__init__(name="IndexField")


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


def _lane_type(lanes):
    return DOUBLE if lanes == 1 else ir.VectorType(DOUBLE, lanes)


# ------------------------------------------------------------------------------------------------ stores in kernels
def _field_address(builder, store, table, name):
    index = [field for field, _, _ in store.fields].index(name)
    load = builder.load(builder.gep(table, [ir.Constant(I64, index)]))
    load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load


@infer_getattr
class _StoreAttribute(AttributeTemplate):
    key = StoreType

    def generic_resolve(self, store, name):
        return IndexType() if (name, (), True) in store.fields else None


@lower_getattr_generic(StoreType)
def _store_getattr(context, builder, store, table, name):
    return builder.inttoptr(_field_address(builder, store, table, name), I64.as_pointer())


@infer_global(operator.getitem)
class _IndexGetitem(AbstractTemplate):
    def generic(self, args, kws):
        return signature(types.intp, args[0], types.intp) if isinstance(args[0], IndexType) else None


@lower_builtin(operator.getitem, IndexType, types.Integer)
def _index_getitem(context, builder, sig, args):
    return _load_index(builder, *args)


def _load_index(builder, pointer, index):
    load = builder.load(builder.gep(pointer, [index], inbounds=True))
    load.set_metadata("invariant.load", builder.module.add_metadata([]))  # no kernel writes integers
    return load


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
    """True if the first number of the field `name` (its first block) is not zero in some lane."""
    return bool(np.any(getattr(store, name)[0][0] != 0))


@infer_global(any_lane)
class _AnyLaneTemplate(AbstractTemplate):
    prefer_literal = True

    def generic(self, args, kws):
        return signature(types.boolean, *args)


@lower_builtin(any_lane, StoreType, types.StringLiteral)
def _any_lane(context, builder, sig, args):
    value = getattr(Fields(builder, sig.args[0], args[0]), sig.args[1].literal_value)[0][0].value
    lanes = sig.args[0].lanes
    mask = builder.fcmp_unordered("!=", value, _constant(0.0, lanes))
    bits = builder.bitcast(mask, ir.IntType(lanes))
    return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(lanes), 0))


# ------------------------------------------------------------------------------------------------ symbols
class Lanes:
    """One value per lane while code is generated; Python's operators emit LLVM instructions.

    Plain numbers 0 and 1 are folded away, so that the zeros and ones of a sparse block cost nothing.
    """

    __array_priority__ = 1000
    __slots__ = ("builder", "value")

    def __init__(self, builder, value):
        self.builder, self.value = builder, value

    @property
    def lanes(self):
        return self.value.type.count if isinstance(self.value.type, ir.VectorType) else 1

    def widen(self, lanes):
        """The same value in `lanes` lanes."""
        if self.lanes == lanes:
            return self.value
        vector = ir.Constant(ir.VectorType(self.value.type, lanes), ir.Undefined)
        first = self.builder.insert_element(vector, self.value, ir.Constant(I32, 0))
        return self.builder.shuffle_vector(first, vector, ir.Constant(ir.VectorType(I32, lanes), [0] * lanes))

    def _pair(self, other):
        if isinstance(other, Lanes):
            lanes = max(self.lanes, other.lanes)
            return self.widen(lanes), other.widen(lanes)
        return self.value, _constant(other, self.lanes)

    def _emit(self, name, other, swap=False):
        a, b = self._pair(other)
        return Lanes(self.builder, getattr(self.builder, name)(*((b, a) if swap else (a, b)), flags=FAST))

    def __add__(self, other):
        return self if _is(other, 0.0) else self._emit("fadd", other)

    __radd__ = __add__

    def __sub__(self, other):
        return self if _is(other, 0.0) else self._emit("fsub", other)

    def __rsub__(self, other):
        return -self if _is(other, 0.0) else self._emit("fsub", other, swap=True)

    def __mul__(self, other):
        if _is(other, 0.0):
            return 0.0
        return self if _is(other, 1.0) else -self if _is(other, -1.0) else self._emit("fmul", other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._emit("fdiv", other)

    def __rtruediv__(self, other):
        return 0.0 if _is(other, 0.0) else self._emit("fdiv", other, swap=True)

    def __neg__(self):
        return Lanes(self.builder, self.builder.fneg(self.value, flags=FAST))

    def __and__(self, other):
        a, b = self._pair(other)
        return Lanes(self.builder, self.builder.and_(a, b))

    def __or__(self, other):
        a, b = self._pair(other)
        return Lanes(self.builder, self.builder.or_(a, b))

    def __invert__(self):
        return Lanes(self.builder, self.builder.not_(self.value))

    def compare(self, sign, other):
        a, b = self._pair(other)
        return Lanes(self.builder, self.builder.fcmp_ordered(sign, a, b))

    def call(self, name):
        """An LLVM intrinsic of one argument; llvmlite has no names for its vector forms."""
        suffix = f"v{self.lanes}f64" if self.lanes > 1 else "f64"
        kind = ir.FunctionType(self.value.type, [self.value.type])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}.{suffix}")
        return Lanes(self.builder, self.builder.call(function, [self.value]))


def _is(value, number):
    return not isinstance(value, Lanes) and value == number


def _constant(value, lanes):
    if isinstance(value, (bool, np.bool_)):
        one = ir.Constant(ir.IntType(1), int(value))
    else:
        one = ir.Constant(DOUBLE, float(value))
    return one if lanes == 1 else ir.Constant(ir.VectorType(one.type, lanes), [one.constant] * lanes)


class Index:
    """The number of a body, joint, axis or contact while code is generated."""

    def __init__(self, builder, value):
        self.builder, self.value = builder, value

    def __add__(self, offset):
        return Index(self.builder, self.builder.add(self.value, ir.Constant(I64, offset), flags=["nsw"]))


class Fields:
    """A store while code is generated: `t.D[i]` is block i of the field D, `m.parent[i]` an index."""

    def __init__(self, builder, store, table):
        self.builder, self.store, self.table = builder, store, table

    @property
    def features(self):
        return self.store.features

    def __getattr__(self, name):
        shape, integer = next((s, n) for field, s, n in self.store.fields if field == name)
        address = _field_address(self.builder, self.store, self.table, name)
        return Field(self.builder, self.store, name, shape, integer, address)


class Field:
    """All blocks of a field while code is generated."""

    def __init__(self, builder, store, name, shape, integer, address):
        self.builder, self.store, self.name, self.shape = builder, store, name, shape
        self.integer, self.address = integer, address

    def __getitem__(self, index):
        index = index.value if isinstance(index, Index) else ir.Constant(I64, index)
        pointer = self.builder.inttoptr(self.address, (I64 if self.integer else DOUBLE).as_pointer())
        if self.integer:
            return Index(self.builder, _load_index(self.builder, pointer, index))
        stride = ir.Constant(I64, int(np.prod(self.shape, dtype=int)) * self.store.lanes)
        offset = self.builder.mul(index, stride, flags=["nsw"])
        return Block(self.builder, self.store, self.name, self.shape, self.builder.gep(pointer, [offset], inbounds=True))


class Block:
    """A block while code is generated: indexing it loads, assigning to it stores."""

    def __init__(self, builder, store, name, shape, pointer):
        self.builder, self.store, self.name, self.shape, self.pointer = builder, store, name, shape, pointer

    def _address(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != len(self.shape) or any(not 0 <= i < n for i, n in zip(index, self.shape, strict=True)):
            raise IndexError(f"index {index} into a block of {self.name}, whose shape is {self.shape}")
        offset = 0
        for i, n in zip(index, self.shape, strict=True):
            offset = offset * n + i
        pointer = self.builder.gep(self.pointer, [ir.Constant(I64, offset * self.store.lanes)], inbounds=True)
        return self.builder.bitcast(pointer, _lane_type(self.store.lanes).as_pointer())

    def __getitem__(self, index):
        load = self.builder.load(self._address(index), align=8)
        return Lanes(self.builder, self._annotate(load))

    def __setitem__(self, index, value):
        lanes = self.store.lanes
        value = value.widen(lanes) if isinstance(value, Lanes) else _constant(value, lanes)
        self._annotate(self.builder.store(value, self._address(index), align=8))

    def _annotate(self, instruction):
        """Say that fields of stores never overlap (C's restrict): worth 15 % of the speed."""
        module = self.builder.module
        cache = module.__dict__.setdefault("_vigym_scopes", {})
        me = self.store.label, self.name
        if me not in cache:
            fields, stores = module.add_metadata(["vigym.fields"]), module.add_metadata(["vigym.stores"])
            label = self.store.label
            scope = {f: module.add_metadata([f"vigym.{label}.{f}", fields]) for f, _, _ in self.store.fields}
            slab = {name: module.add_metadata([f"vigym.{name}", stores]) for name in LABELS}
            others = [scope[f] for f in scope if f != self.name] + [slab[name] for name in LABELS if name != label]
            cache[me] = module.add_metadata([scope[self.name], slab[label]]), module.add_metadata(others)
        mine, others = cache[me]
        instruction.set_metadata("alias.scope", mine)
        instruction.set_metadata("noalias", others)
        return instruction


# ------------------------------------------------------------------------------------------------ functions of lanes
def sqrt(x):
    """Square root, lane by lane."""
    return x.call("sqrt") if isinstance(x, Lanes) else np.sqrt(x)


def rint(x):
    """Nearest integer, lane by lane."""
    return x.call("rint") if isinstance(x, Lanes) else np.rint(np.real(x))


def less(a, b):
    """a < b, lane by lane; on complex numbers the real parts decide, so that complex steps follow the same branch."""
    if isinstance(a, Lanes):
        return a.compare("<", b)
    if isinstance(b, Lanes):
        return b.compare(">", a)
    return np.real(a) < np.real(b)


def select(mask, a, b):
    """a where mask holds, else b, lane by lane."""
    if not isinstance(mask, Lanes):
        return np.where(mask, a, b)
    lanes = mask.lanes
    a, b = (x.widen(lanes) if isinstance(x, Lanes) else _constant(x, lanes) for x in (a, b))
    return Lanes(mask.builder, mask.builder.select(mask.value, a, b))


def on(flag):
    """The mask of lanes whose flag (1.0 or 0.0) is set."""
    return less(0.5, flag)


def maximum(a, b):
    """The larger one, lane by lane; the second where either is NaN."""
    return select(less(b, a), a, b)


def minimum(a, b):
    """The smaller one, lane by lane; the second where either is NaN."""
    return select(less(a, b), a, b)


def absolute(x):
    """|x|, lane by lane (analytic on complex numbers)."""
    return x.call("fabs") if isinstance(x, Lanes) else select(less(x, 0.0), -x, x)


# ------------------------------------------------------------------------------------------------ decorators
def _wrap(builder, args, arg_types):
    return [
        Fields(builder, t, a) if isinstance(t, StoreType) else Index(builder, a)
        for a, t in zip(args, arg_types, strict=True)
    ]


def _register(function, lower):
    class Template(AbstractTemplate):
        key = function

        def generic(self, args, kws):
            return signature(types.none, *(types.intp if isinstance(a, types.Integer) else a for a in args))

    infer_global(function, types.Function(Template))
    lower_builtin(function, types.VarArg(types.Any))(lower)
    return function


def block(function):
    """A straight-line function of stores and indices; see the top of this file."""

    def lower(context, builder, sig, args):
        function(*_wrap(builder, args, sig.args))
        return context.get_dummy_value()

    return _register(function, lower)


def by_kind(function):
    """A block function specialised for its first argument, the kind of a joint."""

    def lower(context, builder, sig, args):
        rest = _wrap(builder, args[1:], sig.args[1:])
        end = builder.append_basic_block("end")
        switch = builder.switch(args[0], end)
        for kind in rest[0].features.kinds:
            case = builder.append_basic_block(f"kind{kind}")
            switch.add_case(ir.Constant(I64, kind), case)
            builder.position_at_end(case)
            function(kind, *rest)
            builder.branch(end)
        builder.position_at_end(end)
        return context.get_dummy_value()

    return _register(function, lower)


def _nothing(*args):
    pass


def kernel(function=None, *, feature=None):
    """A function with loops over entities. With `feature`, it is compiled to nothing in mechanisms without it."""
    if function is None:
        return lambda f: kernel(f, feature=feature)

    @overload(function, strict=False, jit_options={"error_model": "numpy"})
    def implementation(*args):
        features = next(a.features for a in args if isinstance(a, StoreType))
        return function if feature is None or getattr(features, feature) else _nothing

    return function


# ------------------------------------------------------------------------------------------------ compiling
def compiled(function, cache):
    """`function`, compiled on its first call for each new type of stores; `cache` is asked first (see cache.py)."""
    dispatcher = numba.njit(nogil=True, error_model="numpy")(function)
    dispatcher._cache = cache
    return dispatcher


def target(context):
    """What the machine code depends on besides the sources."""
    return numba.__version__, *context.codegen().magic_tuple()


def dump(result):
    """Compiled code as bytes."""
    return dumps(result._reduce())


def load(context, data):
    """Compiled code from bytes."""
    context.refresh()
    return CompileResult._rebuild(context, *pickle.loads(data))
