"""Ground of triangles as the kernels have it: its numbers and integers, one ground after the other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.engine.collider import Collider
from vigym.engine.height_field import HeightField
from vigym.engine.kernels.store import Group
from vigym.engine.validation import Array


class Terrain(NamedTuple):
    """All grounds of a mechanism, see kernels/collision/terrain.py.

    numbers: (n,). integers: (k,). first: (n_colliders,), where those of a collider begin in `integers`; 0 for others.
    """

    numbers: Array
    integers: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def is_there(self) -> bool:
        """True if there is any ground."""
        return bool(self.first.any())

    @property
    def sizes(self) -> dict[str, int]:
        """Fields of layout.Sizes."""
        return {"ground_numbers": len(self.numbers), "ground_integers": len(self.integers)}

    def write(self, m: Group) -> None:
        """Write it into the model store."""
        m.ground_numbers[:, 0], m.ground_integers[:] = self.numbers, self.integers
        m.collider_ground[:] = self.first


def terrain_of(colliders: Sequence[Collider]) -> Terrain:
    """The grounds among these colliders."""
    numbers, integers = [np.zeros(1)], [np.zeros(1, np.int64)]
    first = np.zeros(len(colliders), np.int64)
    for k, collider in enumerate(colliders):
        if isinstance(collider.shape, HeightField):
            first[k], start = sum(map(len, integers)), sum(map(len, numbers))
            more, counts = of_field(collider.shape)
            numbers += more
            integers.append(np.array([start, *counts], np.int64))
    return Terrain(np.concatenate(numbers), np.concatenate(integers), first)


def of_field(field: HeightField) -> tuple[list[Array], tuple[int, int]]:
    """Numbers of a height field, and its columns and rows."""
    rows, columns = field.heights.shape
    head = [0.5 * field.size[0], 0.5 * field.size[1], *field.spacing, field.heights.min(), field.heights.max()]
    return [np.array(head), field.heights.ravel()], (columns, rows)
