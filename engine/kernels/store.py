"""Memory of the kernels: named fields of small blocks, one slab per lane group.

A field of shape (n, r, c) holds n blocks of r x c numbers; a store with L lanes keeps L environments side by side, the
lane being the last axis: (n, r, c, L). A field of shape () is one number: kernels read and assign it by its name alone,
`t.h = m.dt`. A store may have many groups of L lanes. A model, shared by all environments,
has one lane and no lane axis.

Some fields grow while kernels run: how many contacts there are between bodies is not known before. They come in kinds,
each with a capacity of its own in every group, and their memory is not part of the slab (`Growing`).
"""

from copy import copy
from typing import Any, NamedTuple

import numpy as np

LEAST_ROOM = 8  # of fields that grow


class Features(NamedTuple):
    """Features that a mechanism uses; others are not compiled."""

    joint_kinds: tuple[int, ...]  # 16 law + 4 free translations + free rotations, see joint.py
    contact_kinds: tuple[int, ...]  # rows of the table in geometry/
    limits: tuple[int, ...]  # pairs of limits of position or effort, or dry friction, on free axes; see axis.py
    loops: bool
    cone: str = "pyramid"  # see cone.py
    bounce: bool = False  # contacts with restitution
    soft: bool = False  # contacts with compliance
    smooth: bool = False  # pairs stop at a product of their own, instead of 0
    held: bool = False  # contacts of bodies that cannot move
    sags: bool = False  # contacts whose forces may not be determined, nor bounded
    touches: bool = False  # solids that may touch each other
    armature: bool = False  # rotors on free axes
    speeds: bool = False  # limits of the velocity of free axes
    rims: bool = False  # cylinders among the solids that may touch each other
    curves: bool = False  # motors whose effort falls with speed
    gears: bool = False  # couplings of axes

    @property
    def contacts(self) -> bool:
        """True if anything can touch the ground, or something else."""
        return bool(self.contact_kinds) or self.touches

    @property
    def lends(self) -> bool:
        """True if sliding may be lent to gaps, see lending.py."""
        return self.touches and not self.smooth

    @property
    def bordered(self) -> bool:
        """True if loops are a border around the elimination (loop.py); where bodies may touch, they are nodes."""
        return self.loops and not self.touches

    @property
    def balls(self) -> bool:
        """True if a law acts on three free rotations, see ball.py."""
        return any(16 <= kind < 32 and kind % 4 == 3 for kind in self.joint_kinds)

    @property
    def pairs(self) -> bool:
        """True if anything is complementary, so that the interior point is needed."""
        return self.contacts or bool(self.limits)


class Growing(NamedTuple):
    """Fields that grow together: shapes of the blocks of `floats`, and names of integer fields."""

    floats: dict[str, tuple[int, ...]]
    integers: tuple[str, ...] = ()


class Group:
    """The fields of one lane group as NumPy views: what kernels see when they run uncompiled.

    Assigning to a field writes into it. A single number is read as a copy.
    """

    def __init__(
        self,
        features: Features,
        views: dict[str, np.ndarray],
        scalars: dict[str, np.ndarray],
        store: "Store",
        index: int,
    ) -> None:
        self.__dict__.update(views, features=features, scalars=scalars, store=store, index=index)

    def __getattr__(self, name: str) -> Any:  # only asked for what is not a view
        scalars = self.__dict__.get("scalars", {})
        if name in scalars:
            return scalars[name][0].copy()
        grown = self.__dict__["store"].grown[self.index] if "store" in self.__dict__ else {}
        if name not in grown:
            raise AttributeError(f"no field {name!r}")
        return grown[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.scalars:
            self.scalars[name][0] = value
        else:
            getattr(self, name)[...] = value


class Store:
    """A slab `label` of float64 (and int64) fields for `groups` groups of `lanes` lanes; see the top of this file.

    `store.name` is a view of all groups, (groups, n, ..., lanes); `store[g]` one group.
    """

    def __init__(self, label, lanes, groups, features, floats, integers=(), dtype=float, growing=()):
        integers, self.growing = dict(integers), dict(growing)
        if self.growing:
            integers["room"] = (len(self.growing),)  # capacity of each kind
        self.lanes, self.groups, self.features, self.numba_type = lanes, groups, features, None
        self.lane_axis = () if label == "m" else (lanes,)
        lane_axis = self.lane_axis
        self.fields, start = {}, 0
        for name, shape in {**floats, **integers}.items():
            own = () if name in integers else lane_axis  # integers are the same in all lanes
            size = int(np.prod((*shape, *own), dtype=int))
            self.fields[name] = start, start + size, (*shape, *own)
            start += -(-size // 8) * 8  # every field starts on a cache line
        self.slab = aligned(groups, start, dtype)
        whole = self.slab.view(np.int64) if dtype is float else self.slab
        for name, (first, last, shape) in self.fields.items():
            source = whole if name in integers else self.slab
            setattr(self, name, source[:, first:last].reshape(groups, *shape))
        columns = np.array([first for first, _, _ in self.fields.values()], np.int64) * self.slab.itemsize
        rows = np.arange(groups, dtype=np.int64)[:, None] * self.slab.strides[0]
        kinds = self.growing.values()
        late = [name for kind in kinds for name in (*kind.floats, *kind.integers)]
        table = self.slab.ctypes.data + rows + columns
        self.table = np.ascontiguousarray(np.hstack([table, np.zeros((groups, len(late)), np.int64)]))
        self.address = self.table.ctypes.data
        # name, shape of a block (None for a single number), whether integer; how many of these do not grow
        self.layout = (
            lanes,
            tuple((name, tuple(shape[1:]) if shape else None, False) for name, shape in floats.items())
            + tuple((name, () if shape else None, True) for name, shape in integers.items())
            + tuple(
                entry
                for kind in kinds
                for entry in (
                    *((name, tuple(shape), False) for name, shape in kind.floats.items()),
                    *((name, (), True) for name in kind.integers),
                )
            ),
            features,
            label,
            len(self.fields),
        )
        self.scalars = [name for name, shape, _ in self.layout[1] if shape is None]
        self.columns = {name: column for column, (name, _, _) in enumerate(self.layout[1])}
        self.capacity = {kind: [0] * groups for kind in self.growing}
        self.grown: list[dict[str, np.ndarray]] = [{} for _ in range(groups)]
        for kind in self.growing:
            for group in range(groups):
                self.grow(kind, group, LEAST_ROOM)

    def __getattr__(self, name: str) -> Any:  # tells type checkers that there are more
        raise AttributeError(f"no field {name!r}")

    def __getitem__(self, index: int) -> Group:
        index = range(self.groups)[index]
        views = {name: getattr(self, name)[index] for name in self.fields if name not in self.scalars}
        scalars = {name: getattr(self, name)[index : index + 1] for name in self.scalars}
        return Group(self.features, views, scalars, self, index)

    def grow(self, kind: str, group: int, needed: int) -> None:
        """Give the fields of a kind that grows room for `needed` blocks in a group; what is there stays."""
        there = self.capacity[kind][group]
        if needed <= there:
            return
        capacity = max(needed, 2 * there)
        fields = {name: (shape, self.slab.dtype) for name, shape in self.growing[kind].floats.items()}
        fields |= {name: (None, np.int64) for name in self.growing[kind].integers}
        for name, (shape, dtype) in fields.items():
            block = () if shape is None else (*shape, *self.lane_axis)
            size = capacity * int(np.prod(block, dtype=int))
            view = aligned(1, -(-size // 8) * 8, dtype)[0, :size].reshape(capacity, *block)
            if there:
                view[:there] = self.grown[group][name]
            self.grown[group][name] = view
            self.table[group, self.columns[name]] = view.ctypes.data
        self.capacity[kind][group] = capacity
        self.tell_room()

    def tell_room(self) -> None:
        """Write down how much room there is of what grows, for compiled code."""
        for number, capacity in enumerate(self.capacity.values()):
            self.room[:, number] = capacity

    def without_room(self) -> np.ndarray:
        """A copy of the slab that does not tell how much room there is."""
        slab = self.slab.copy()
        if self.growing:
            first, last, _ = self.fields["room"]
            slab[:, first:last] = 0.0
        return slab


def exchanged(store, pairs):
    """The same memory of a store without fields that grow, with the names of the fields of each pair exchanged."""
    other = copy(store)
    other.table = store.table.copy()
    for one, two in pairs:
        setattr(other, one, getattr(store, two))
        setattr(other, two, getattr(store, one))
        columns = store.columns[one], store.columns[two]
        other.table[:, columns] = store.table[:, columns[::-1]]
    other.address = other.table.ctypes.data
    return other


def aligned(rows, columns, dtype):
    """A zeroed (rows, columns) array whose rows start on cache lines; columns is a multiple of 8."""
    columns = max(columns, 8)
    itemsize = np.dtype(dtype).itemsize
    raw = np.zeros(rows * columns * itemsize + 64, np.uint8)
    skip = -raw.ctypes.data % 64
    return raw[skip : skip + rows * columns * itemsize].view(dtype).reshape(rows, columns)
