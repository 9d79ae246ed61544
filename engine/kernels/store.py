"""Memory of the kernels: named fields of small blocks, one slab per lane group.

A field of shape (n, r, c) holds n blocks of r x c numbers; a store with L lanes keeps L environments side by side, the
lane being the last axis: (n, r, c, L). A field of shape () is one number: kernels read and assign it by its name alone,
`t.h = m.dt`. A store may have many groups of L lanes. A store with one lane (a model, shared by all environments) has
no lane axis.
"""

from typing import Any, NamedTuple

import numpy as np


class Features(NamedTuple):
    """What a mechanism uses; what it does not use is not compiled."""

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

    @property
    def contacts(self) -> bool:
        """True if anything can touch the ground."""
        return bool(self.contact_kinds)

    @property
    def balls(self) -> bool:
        """True if a law acts on three free rotations, see ball.py."""
        return any(kind >= 16 and kind % 4 == 3 for kind in self.joint_kinds)

    @property
    def pairs(self) -> bool:
        """Whether anything is complementary, so that the interior point is needed."""
        return self.contacts or bool(self.limits)


class Group:
    """The fields of one lane group as NumPy views: what kernels see when they run uncompiled.

    Assigning to a field writes into it. A single number is read as a copy.
    """

    def __init__(self, features: Features, views: dict[str, np.ndarray], scalars: dict[str, np.ndarray]) -> None:
        self.__dict__.update(views, features=features, scalars=scalars)

    def __getattr__(self, name: str) -> Any:  # only asked for what is not a view
        scalars = self.__dict__.get("scalars", {})
        if name not in scalars:
            raise AttributeError(f"no field {name!r}")
        return scalars[name][0].copy()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.scalars:
            self.scalars[name][0] = value
        else:
            getattr(self, name)[...] = value


class Store:
    """A slab `label` of float64 (and int64) fields for `groups` groups of `lanes` lanes; see the top of this file.

    `store.name` is a view of all groups, (groups, n, ..., lanes); `store[g]` one group.
    """

    def __init__(self, label, lanes, groups, features, floats, integers=(), dtype=float):
        integers = dict(integers)
        self.lanes, self.groups, self.features, self.numba_type = lanes, groups, features, None
        lane_axis = (lanes,) if lanes > 1 else ()
        self.fields, start = {}, 0
        for name, shape in {**floats, **integers}.items():
            size = int(np.prod(shape, dtype=int)) * lanes
            self.fields[name] = start, start + size, (*shape, *lane_axis)
            start += -(-size // 8) * 8  # every field starts on a cache line
        self.slab = aligned(groups, start, dtype)
        whole = self.slab.view(np.int64) if dtype is float else self.slab
        for name, (first, last, shape) in self.fields.items():
            source = whole if name in integers else self.slab
            setattr(self, name, source[:, first:last].reshape(groups, *shape))
        columns = np.array([first for first, _, _ in self.fields.values()], np.int64) * self.slab.itemsize
        rows = np.arange(groups, dtype=np.int64)[:, None] * self.slab.strides[0]
        self.table = np.ascontiguousarray(self.slab.ctypes.data + rows + columns)
        self.address = self.table.ctypes.data
        # name, shape of a block (None for a single number), whether integer
        self.layout = (
            lanes,
            tuple((name, tuple(shape[1:]) if shape else None, False) for name, shape in floats.items())
            + tuple((name, () if shape else None, True) for name, shape in integers.items()),
            features,
            label,
        )
        self.scalars = [name for name, shape, _ in self.layout[1] if shape is None]

    def __getattr__(self, name: str) -> Any:  # tells type checkers that there are more
        raise AttributeError(f"no field {name!r}")

    def __getitem__(self, index: int) -> Group:
        index = range(self.groups)[index]
        views = {name: getattr(self, name)[index] for name in self.fields if name not in self.scalars}
        return Group(self.features, views, {name: getattr(self, name)[index : index + 1] for name in self.scalars})


def aligned(rows, columns, dtype):
    """A zeroed (rows, columns) array whose rows start on cache lines; columns is a multiple of 8."""
    columns = max(columns, 8)
    itemsize = np.dtype(dtype).itemsize
    raw = np.zeros(rows * columns * itemsize + 64, np.uint8)
    skip = -raw.ctypes.data % 64
    return raw[skip : skip + rows * columns * itemsize].view(dtype).reshape(rows, columns)
