"""Numbers, indices and blocks while code is generated, and the functions that work on them and on NumPy alike.

A block function (simd.py) is run once on these symbols: every operator leaves an LLVM instruction behind. Numbers of a
store that is `dual` carry a derivative along: those of all that is computed with them come with the values.
"""

import numpy as np
from llvmlite import ir

DOUBLE, I32, I64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)
# What the optimiser may do: fuse multiply-adds, ignore the sign of zero, multiply by a reciprocal. NaN must survive.
FAST_MATH = ("contract", "nsz", "arcp")
LABELS = ("m", "s", "t")  # the stores of a kernel: model, state, scratch; they never overlap


def lane_type(lanes):
    return DOUBLE if lanes == 1 else ir.VectorType(DOUBLE, lanes)


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
        return self.value, constant(other, self.lanes)

    def _emit(self, name, other, swap=False):
        if isinstance(other, Dual):
            return NotImplemented
        a, b = self._pair(other)
        return Lanes(self.builder, getattr(self.builder, name)(*((b, a) if swap else (a, b)), flags=FAST_MATH))

    def __add__(self, other):
        return self if is_number(other, 0.0) else self._emit("fadd", other)

    __radd__ = __add__

    def __sub__(self, other):
        return self if is_number(other, 0.0) else self._emit("fsub", other)

    def __rsub__(self, other):
        return -self if is_number(other, 0.0) else self._emit("fsub", other, swap=True)

    def __mul__(self, other):
        if is_number(other, 0.0):
            return 0.0
        return self if is_number(other, 1.0) else -self if is_number(other, -1.0) else self._emit("fmul", other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._emit("fdiv", other)

    def __rtruediv__(self, other):
        return 0.0 if is_number(other, 0.0) else self._emit("fdiv", other, swap=True)

    def __neg__(self):
        return Lanes(self.builder, self.builder.fneg(self.value, flags=FAST_MATH))

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
        name, module = f"llvm.{name}.{suffix}", self.builder.module
        function = module.globals.get(name)
        if function is None:
            function = ir.Function(module, ir.FunctionType(self.value.type, [self.value.type]), name)
        return Lanes(self.builder, self.builder.call(function, [self.value]))


class Dual:
    """One value per lane and its derivative while code is generated; a derivative that is plainly 0 costs nothing."""

    __slots__ = ("change", "value")

    def __init__(self, value, change):
        self.value, self.change = value, change

    def __add__(self, other):
        return Dual(self.value + real(other), self.change + slope(other))

    __radd__ = __add__

    def __sub__(self, other):
        return Dual(self.value - real(other), self.change - slope(other))

    def __rsub__(self, other):
        return Dual(other - self.value, -self.change)

    def __mul__(self, other):
        if is_number(other, 0.0):
            return 0.0
        value = real(other)
        return Dual(self.value * value, self.change * value + self.value * slope(other))

    __rmul__ = __mul__

    def __truediv__(self, other):
        value, ratio = real(other), self.value / real(other)
        return Dual(ratio, (self.change - ratio * slope(other)) / value)

    def __rtruediv__(self, other):
        ratio = other / self.value
        return Dual(ratio, -(ratio * self.change) / self.value)

    def __neg__(self):
        return Dual(-self.value, -self.change)

    def root(self):
        """Square root; that of 0 has the derivative 0 where nothing changes."""
        size = sqrt(self.value)
        return Dual(size, self.change / (2.0 * maximum(size, 1e-300)))


def real(x):
    """The value alone, without a derivative or an imaginary part."""
    if isinstance(x, Dual):
        return x.value
    return x if isinstance(x, Lanes) else np.real(x)


def slope(x):
    """The derivative that comes with a number."""
    return x.change if isinstance(x, Dual) else 0.0


def is_number(value, number):
    return not isinstance(value, Lanes | Dual) and value == number


def constant(value, lanes):
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


def position(index):
    """The LLVM value of an index."""
    return index.value if isinstance(index, Index) else ir.Constant(I64, index)


class Fields:
    """A store while code is generated: `t.D[i]` is block i of the field D, `m.parent[i]` an index, `t.h` a number."""

    def __init__(self, builder, store, table):
        self.__dict__.update(builder=builder, store=store, table=table)

    @property
    def features(self):
        return self.store.features

    def __getattr__(self, name):
        field = self._field(name)
        return field if field.shape is not None else field[0]

    def __setattr__(self, name, value):
        field = self._field(name)
        if field.shape is not None or field.integer:
            raise AttributeError(f"{name!r} is not a field that holds a single number")
        field.block(0)[()] = value

    def _field(self, name):
        for field, shape, integer in self.store.fields:
            if field == name:
                address = field_address(self.builder, self.store, self.table, name)
                return Field(self.builder, self.store, name, shape, integer, address)
        raise AttributeError(f"no field {name!r}")


class Field:
    """All blocks of a field while code is generated."""

    def __init__(self, builder, store, name, shape, integer, address):
        self.builder, self.store, self.name, self.shape = builder, store, name, shape
        self.integer, self.address = integer, address

    def __getitem__(self, index):
        if self.integer:
            pointer = self.builder.inttoptr(self.address, I64.as_pointer())
            return Index(self.builder, load_index(self.builder, pointer, position(index), self.store.label))
        return self.block(index) if self.shape is not None else self.block(index)[()]

    def block(self, index):
        """Block `index`, which loads and stores."""
        pointer = self.builder.inttoptr(self.address, DOUBLE.as_pointer())
        shape = self.shape or ()
        stride = ir.Constant(I64, int(np.prod(shape, dtype=int)) * self.store.width)
        offset = self.builder.mul(position(index), stride, flags=["nsw"])
        return Block(self.builder, self.store, self.name, shape, self.builder.gep(pointer, [offset], inbounds=True))


class Block:
    """A block while code is generated: indexing it loads, assigning to it stores."""

    def __init__(self, builder, store, name, shape, pointer):
        self.builder, self.store, self.name, self.shape, self.pointer = builder, store, name, shape, pointer

    def _address(self, index, part=0):
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != len(self.shape) or any(not 0 <= i < n for i, n in zip(index, self.shape, strict=True)):
            raise IndexError(f"index {index} into a block of {self.name}, whose shape is {self.shape}")
        offset = 0
        for i, n in zip(index, self.shape, strict=True):
            offset = offset * n + i
        place = offset * self.store.width + part * self.store.lanes
        pointer = self.builder.gep(self.pointer, [ir.Constant(I64, place)], inbounds=True)
        return self.builder.bitcast(pointer, lane_type(self.store.lanes).as_pointer())

    def __getitem__(self, index):
        value = self._load(self._address(index))
        return Dual(value, self._load(self._address(index, 1))) if self.store.dual else value

    def __setitem__(self, index, value):
        self._store(real(value) if self.store.dual else value, self._address(index))
        if self.store.dual:
            self._store(slope(value), self._address(index, 1))

    def _load(self, address):
        return Lanes(self.builder, self._annotate(self.builder.load(address, align=8)))

    def _store(self, value, address):
        lanes = self.store.lanes
        value = value.widen(lanes) if isinstance(value, Lanes) else constant(value, lanes)
        self._annotate(self.builder.store(value, address, align=8))

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


def field_address(builder, store, table, name):
    index = [field for field, _, _ in store.fields].index(name)
    load = builder.load(builder.gep(table, [ir.Constant(I64, index)]))
    if index < store.fixed:  # fields that grow are moved
        load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load


def load_index(builder, pointer, index, label):
    load = builder.load(builder.gep(pointer, [index], inbounds=True))
    if label == "m":  # no kernel writes the integers of a model
        load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load


def sqrt(x):
    """Square root, lane by lane."""
    if isinstance(x, Dual):
        return x.root()
    return x.call("sqrt") if isinstance(x, Lanes) else np.sqrt(x)


def rint(x):
    """Nearest integer, lane by lane."""
    x = real(x)
    return x.call("rint") if isinstance(x, Lanes) else np.rint(np.real(x))


def less(a, b):
    """a < b, lane by lane; on complex numbers the real parts decide, so that complex steps follow the same branch."""
    a, b = real(a), real(b)
    if isinstance(a, Lanes):
        return a.compare("<", b)
    if isinstance(b, Lanes):
        return b.compare(">", a)
    return a < b


def select(mask, a, b):
    """a where mask holds, else b, lane by lane."""
    if not isinstance(mask, Lanes):
        return np.where(mask, a, b)
    if isinstance(a, Dual) or isinstance(b, Dual):
        return Dual(select(mask, real(a), real(b)), select(mask, slope(a), slope(b)))
    lanes = max(x.lanes for x in (mask, a, b) if isinstance(x, Lanes))
    a, b = (x.widen(lanes) if isinstance(x, Lanes) else constant(x, lanes) for x in (a, b))
    return Lanes(mask.builder, mask.builder.select(mask.widen(lanes), a, b))


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


def emit_loop(builder, first, last, step, body):
    """for index in range(first, last, step): body(index)"""
    before = builder.block
    test, inside, after = (builder.append_basic_block(name) for name in ("test", "inside", "after"))
    builder.branch(test)
    builder.position_at_end(test)
    index = builder.phi(I64)
    index.add_incoming(first, before)
    builder.cbranch(builder.icmp_signed("<" if step > 0 else ">", index, last), inside, after)
    builder.position_at_end(inside)
    body(Index(builder, index))
    index.add_incoming(builder.add(index, ir.Constant(I64, step), flags=["nsw"]), builder.block)
    builder.branch(test)
    builder.position_at_end(after)


def for_range(first, last, body, step=1):
    """for k in range(first, last, step): body(k), with bounds that are only known when the kernel runs."""
    if not isinstance(first, Index):
        for k in range(first, last, step):
            body(k)
    else:
        emit_loop(first.builder, first.value, last.value, step, body)
