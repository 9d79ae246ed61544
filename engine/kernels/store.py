"""Memory of the kernels: named fields of small blocks, one slab per lane group.

A field of shape (n, r, c) holds n blocks of r x c numbers; a store with L lanes keeps L environments side by side, the
lane being the last axis: (n, r, c, L). A store may have many groups of L lanes. A store with one lane (a model, shared
by all environments) has no lane axis.
"""

from typing import Any, NamedTuple

import numpy as np


class Features(NamedTuple):
    """What a mechanism uses; what it does not use is not compiled."""

    kinds: tuple[int, ...]  # joint kinds, 16 law + 4 free translations + free rotations
    limits: tuple[int, ...]  # pairs of limits of position or effort, or dry friction, on free axes; see axis.py
    contacts: bool
    loops: bool
    level: bool = False  # no plane is tilted
    cone: str = "pyramid"  # see cone.py
    bounce: bool = False  # contacts with restitution
    soft: bool = False  # contacts with compliance
    smooth: bool = False  # pairs stop at a product of their own, instead of 0

    @property
    def pairs(self) -> bool:
        """Whether anything is complementary, so that the interior point is needed."""
        return self.contacts or bool(self.limits)


class Group:
    """The fields of one lane group as NumPy views: what kernels see when they run uncompiled."""

    def __init__(self, features: Features, views: dict[str, np.ndarray]) -> None:
        self.features = features
        self.__dict__.update(views)

    def __getattr__(self, name: str) -> Any:  # tells type checkers that there are more
        raise AttributeError(f"no field {name!r}")


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
        self.layout = (
            lanes,
            tuple((name, tuple(shape[1:]), False) for name, shape in floats.items())
            + tuple((name, (), True) for name in integers),
            features,
            label,
        )

    def __getattr__(self, name: str) -> Any:  # tells type checkers that there are more
        raise AttributeError(f"no field {name!r}")

    def __getitem__(self, index: int) -> Group:
        return Group(self.features, {name: getattr(self, name)[index] for name in self.fields})


def aligned(rows, columns, dtype):
    """A zeroed (rows, columns) array whose rows start on cache lines; columns is a multiple of 8."""
    columns = max(columns, 8)
    itemsize = np.dtype(dtype).itemsize
    raw = np.zeros(rows * columns * itemsize + 64, np.uint8)
    skip = -raw.ctypes.data % 64
    return raw[skip : skip + rows * columns * itemsize].view(dtype).reshape(rows, columns)
