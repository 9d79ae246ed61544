"""A height field: ground whose height is given on a grid."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import MechanismError
from vigym.engine.shapes import Color, Quaternion, Vector3, checked_color
from vigym.engine.validation import Array, numeric, read_only, show, unit_quaternion, vector

LARGEST = 1e6  # m, of its sizes and heights
MOST_SEEN = 400  # rows and columns that are drawn
STEEPEST = 1e6  # of its sides over each other, and of heights over them


@dataclass(frozen=True, eq=False)
class HeightField:
    """Ground that is solid below its surface: a collider of the world.

    heights: (rows, columns), m, at least 2 x 2: that of row r and column c is at y = (r/(rows - 1) - 1/2) size[1] and
        x = (c/(columns - 1) - 1/2) size[0], in the frame of `position` and `orientation`.
    size: lengths in x and y, m.
    position, orientation, color: as of a `Shape`.

    Each cell is two triangles, cut from its corner of least x and y to that of largest x and y, as MuJoCo does. It has
    no sides and no bottom: what passes its border falls.
    """

    heights: Any
    size: tuple[float, float]
    position: Vector3 = (0.0, 0.0, 0.0)
    orientation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    color: Color | None = None

    def __post_init__(self) -> None:
        expected = "finite numbers of shape (rows, columns), at least 2 x 2"
        heights = numeric(self.heights, "HeightField: heights", expected)
        if heights.ndim != 2 or min(heights.shape) < 2 or not (np.abs(heights) < LARGEST).all():
            raise MechanismError(f"HeightField: heights must be {expected}, got {show(self.heights)}")
        size = vector(self.size, (2,), "HeightField: size")
        if not ((size > 0.0) & (size < LARGEST)).all():
            raise MechanismError(f"HeightField: size must be two lengths > 0, got {show(self.size)}")
        rise, cells = float(np.ptp(heights)), size / (np.array(heights.shape[::-1]) - 1)
        if max(cells.max(), rise) > STEEPEST * cells.min():
            raise MechanismError(
                f"HeightField: cells of {cells[0]:g} x {cells[1]:g} m are too thin for heights differing by {rise:g} m"
            )
        given = {
            "heights": read_only(np.ascontiguousarray(heights, float).copy()),
            "size": tuple(size.tolist()),
            "position": tuple(vector(self.position, (3,), "HeightField: position").tolist()),
            "orientation": tuple(unit_quaternion(self.orientation, "HeightField: orientation").tolist()),
        }
        if self.color is not None:
            given["color"] = tuple(checked_color(self.color, "HeightField: color").tolist())
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def spacing(self) -> tuple[float, float]:
        """Lengths of a cell in x and y, m."""
        rows, columns = self.heights.shape
        return self.size[0] / (columns - 1), self.size[1] / (rows - 1)

    def triangles(self) -> tuple[Array, NDArray[np.int64]]:
        """Vertices (n, 3) in its frame, m, row by row, and faces (k, 3), counterclockwise from above."""
        rows, columns = self.heights.shape
        x, y = (np.linspace(-0.5, 0.5, n) for n in (columns, rows))
        corners = np.broadcast_arrays(self.size[0] * x, self.size[1] * y[:, None], self.heights)
        first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        right, last, left = first + 1, first + 1 + columns, first + columns
        faces = np.stack([first, right, last, first, last, left], -1).reshape(-1, 3)
        return np.stack(corners, -1).reshape(-1, 3), faces.astype(np.int64)

    @cached_property
    def drawn(self) -> "HeightField":
        """The field as it is shown: of more than MOST_SEEN rows or columns, as many of them, evenly."""
        picked = [np.rint(np.linspace(0, n - 1, min(n, MOST_SEEN))).astype(int) for n in self.heights.shape]
        if max(self.heights.shape) <= MOST_SEEN:
            return self
        return replace(self, heights=self.heights[np.ix_(*picked)])

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return self.heights.shape, self.heights.tobytes(), self.size, self.position, self.orientation, self.color

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HeightField) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)
