"""A square of ground on a grid of heights, which the generators of the kinds fill."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Heights = NDArray[np.float64]


class Tile(NamedTuple):
    """cells: along each side. spacing: m between heights, of which there is one for each cell."""

    cells: int
    spacing: float

    def flat(self) -> Heights:
        """Heights (cells, cells) of 0."""
        return np.zeros((self.cells, self.cells))

    def count(self, length: float) -> int:
        """Cells of a length, at least 1."""
        return max(round(length / self.spacing), 1)

    def from_middle(self) -> Heights:
        """Distance (cells, cells) of each cell from the middle, m, the larger one of those along x and y."""
        away = np.abs(np.arange(self.cells) + 0.5 - 0.5 * self.cells) * self.spacing
        return np.maximum(away[:, None], away)

    def inside(self, half: float) -> NDArray[np.bool_]:
        """Cells of a square in the middle, with sides of 2 `half` m."""
        return self.from_middle() < half

    def place(self, rng: np.random.Generator, rows: int, columns: int) -> tuple[slice, slice]:
        """A rectangle of so many cells at random."""
        r, c = (int(rng.integers(0, max(self.cells - n, 0) + 1)) for n in (rows, columns))
        return slice(r, r + rows), slice(c, c + columns)
