"""All tiles as one height field, and its height at a point."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from vigym.engine.compiled import inlined
from vigym.engine.height_field import HeightField
from vigym.envs.terrain.gaps import gaps
from vigym.envs.terrain.rough import rough
from vigym.envs.terrain.slope import slope
from vigym.envs.terrain.stairs import stairs, stairs_down
from vigym.envs.terrain.stones import stones
from vigym.envs.terrain.tile import Heights, Tile

SPACING = 0.1  # m, between heights
BORDER = 2.0  # m of flat ground around all tiles
WALL = 1.0  # m, height of its rim, which keeps robots on the field
KINDS: dict[str, Callable[[Tile, float, np.random.Generator], Heights]] = {
    "slope": slope,
    "rough": rough,
    "stairs up": stairs,
    "stairs down": stairs_down,
    "stones": stones,
    "gaps": gaps,
}


class Ground(NamedTuple):
    """heights: (rows, columns), m; x along columns, y along rows. middles: (n_kinds, n_levels, 2), m, of the tiles."""

    heights: Heights
    middles: Heights
    spacing: float

    @property
    def field(self) -> HeightField:
        """Ground as a collider."""
        rows, columns = self.heights.shape
        return HeightField(self.heights, ((columns - 1) * self.spacing, (rows - 1) * self.spacing), color=EARTH)


EARTH = (0.62, 0.56, 0.47, 1.0)


@lru_cache(maxsize=8)
def ground(kinds: tuple[str, ...], levels: int, length: float, seed: int, only: float | None = None) -> Ground:
    """Tiles of `length` m: a row along x for each kind, from the easiest level to the hardest, or all of the level
    `only` (0, easy, to 1, hard). Each tile has random numbers of its own, which follow from seed, kind and level."""
    tile, edge = Tile(round(length / SPACING), SPACING), round(BORDER / SPACING)
    heights = np.zeros((len(kinds) * tile.cells + 2 * edge, levels * tile.cells + 2 * edge))
    for k, kind in enumerate(kinds):
        for level in range(levels):
            place = list(KINDS).index(kind) if only is None else k  # kinds may be the same then
            rng = np.random.default_rng([seed, place, level])
            r, c = edge + k * tile.cells, edge + level * tile.cells
            hardness = only if only is not None else level / (levels - 1) if levels > 1 else 0.0
            heights[r : r + tile.cells, c : c + tile.cells] = KINDS[kind](tile, hardness, rng)
    heights[[0, -1]], heights[:, [0, -1]] = WALL, WALL
    rows, columns = heights.shape
    x = (edge + (np.arange(levels) + 0.5) * tile.cells - 0.5 * columns) * SPACING
    y = (edge + (np.arange(len(kinds)) + 0.5) * tile.cells - 0.5 * rows) * SPACING
    heights.flags.writeable = False
    return Ground(heights, np.stack(np.broadcast_arrays(x, y[:, None]), -1), SPACING)


@inlined
def height_at(heights, spacing, x, y):
    """Height of the ground at a point, and its slopes along x and y; its triangles are those of `HeightField`. Beyond
    its border, those of the nearest point."""
    rows, columns = heights.shape
    across, along = x / spacing + 0.5 * (columns - 1), y / spacing + 0.5 * (rows - 1)
    across, along = min(max(across, 0.0), columns - 1.0), min(max(along, 0.0), rows - 1.0)
    c, r = min(int(across), columns - 2), min(int(along), rows - 2)
    across, along = across - c, along - r
    first, last = heights[r, c], heights[r + 1, c + 1]
    if across >= along:
        side = heights[r, c + 1]
        by_x, by_y = side - first, last - side
    else:
        side = heights[r + 1, c]
        by_x, by_y = last - side, side - first
    return first + across * by_x + along * by_y, by_x / spacing, by_y / spacing
