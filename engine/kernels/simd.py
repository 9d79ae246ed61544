"""The lane compiler: plain Python on small blocks -> SIMD code with one lane per environment.

Three kinds of Python function make up the kernels, and all of them also run uncompiled on NumPy:

- a BLOCK function (`@block`) is straight-line arithmetic on a few numbers per lane, or a sequence of calls of others.
  When a call to it is compiled, the function itself is run once, on symbols instead of numbers; every operator leaves
  one LLVM vector instruction behind. Python loops, lists and helper functions inside it are gone by then: that is the
  unrolling.
- an EACH function (`@each(...)`) is the same for one body, joint, axis or contact, and is called for all of them. Where
  it depends on the kind of a joint, one specialised body is generated per kind that the mechanism really uses.
- the one function with control flow that depends on lanes (step.py) is compiled by Numba. It never touches a number: it
  calls blocks.

Memory is in `Store`s (store.py). To a kernel a store is a table of pointers; the shapes of its blocks, its lane count
and the features of the mechanism are part of its TYPE, so that they are constants to the compiler.

This is the only file that knows the internals of Numba and llvmlite.
"""

import functools
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
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

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

    def _with(self, name, other):
        other = other.value if isinstance(other, Index) else ir.Constant(I64, other)
        return Index(self.builder, getattr(self.builder, name)(self.value, other, flags=["nsw"]))

    def __add__(self, other):
        return self._with("add", other)

    def __sub__(self, other):
        return self._with("sub", other)

    def __mul__(self, other):
        return self._with("mul", other)


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
        return Block(
            self.builder, self.store, self.name, self.shape, self.builder.gep(pointer, [offset], inbounds=True)
        )


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


def _loop(builder, first, last, step, body):
    """for index in range(first, last, step): body(index)"""
    before = builder.block
    test, inside, after = (builder.append_basic_block(name) for name in ("test", "inside", "after"))
    builder.branch(test)
    builder.position_at_end(test)
    index = builder.phi(I64)
    index.add_incoming(first, before)
    builder.cbranch(builder.icmp_signed("!=", index, last), inside, after)
    builder.position_at_end(inside)
    body(Index(builder, index))
    index.add_incoming(builder.add(index, ir.Constant(I64, step), flags=["nsw"]), builder.block)
    builder.branch(test)
    builder.position_at_end(after)


def _by_kind(builder, function, kinds, kind, arguments):
    """Code for each kind in use, and a switch between them."""
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


def loop(first, last, body, step=1):
    """for k in range(first, last, step): body(k), with bounds that are only known when the kernel runs."""
    if not isinstance(first, Index):
        for k in range(first, last, step):
            body(k)
    else:
        _loop(first.builder, first.value, last.value, step, body)


def each(size, *, first=None, feature=None, kinds=False, order=0):
    """A function `f(m, s, t, i)`, or `f(kind, m, s, t, i)` with `kinds`, of one body, joint, axis or contact; called as
    `f(m, s, t)` it runs over i from m.size[first] (or 0) to m.size[size]: in any order (0), or along m.order upwards (1)
    or downwards (-1). Mechanisms without `feature` have none of them, and no code for it."""

    def decorate(function):
        def run(m, s, t):
            start, n = 0 if first is None else m.size[first], m.size[size]
            for k in range(start, n) if order >= 0 else range(n - 1, -1, -1):
                i = m.order[k] if order else k
                if kinds:
                    function(int(m.kind[i]), m, s, t, i)
                else:
                    function(m, s, t, i)

        def emit(builder, stores):
            m = stores[0]
            if feature is not None and not getattr(m.features, feature):
                return
            n, minus = m.size[size].value, ir.Constant(I64, -1)
            start = ir.Constant(I64, 0) if first is None else m.size[first].value

            def body(k):
                i = m.order[k] if order else k
                if kinds:
                    _by_kind(builder, function, m.features.kinds, m.kind[i], [*stores, i])
                else:
                    function(*stores, i)

            if order >= 0:
                _loop(builder, start, n, 1, body)
            else:
                _loop(builder, builder.add(n, minus), minus, -1, body)

        return _register(function, run, emit)

    return decorate


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
