"""Stones: blocks of several heights that lie about."""

import numpy as np

from vigym.envs.terrain.tile import Heights, Tile

LOWEST, HIGHEST = 0.05, 0.25  # m, of the highest blocks at the easiest and at the hardest level
SIDES = 0.4, 2.0  # m
NUMBER = 0.3  # blocks on a square metre
PLATFORM = 1.0  # m, half a side of the free place in the middle


def stones(tile: Tile, level: float, rng: np.random.Generator) -> Heights:
    """Blocks and hollows, at most as high and deep as the level says, around a free place. level: 0, easy, to 1,
    hard."""
    ground, most = tile.flat(), LOWEST + (HIGHEST - LOWEST) * level
    for _ in range(round(NUMBER * (tile.cells * tile.spacing) ** 2)):
        rows, columns = (tile.count(rng.uniform(*SIDES)) for _ in range(2))
        ground[tile.place(rng, rows, columns)] = most * rng.choice((-1.0, -0.5, 0.5, 1.0))
    ground[tile.inside(PLATFORM)] = 0.0
    return ground
