"""Rough ground: a gentle slope with bumps."""

import numpy as np

from vigym.envs.terrain.slope import slope
from vigym.envs.terrain.tile import Heights, Tile

HIGHEST = 0.1  # m, of bumps over hollows at the hardest level
LEAST = 0.3  # part of it at the easiest level
COARSE = 0.2  # m, between heights that are drawn at random


def bumps(tile: Tile, height: float, rng: np.random.Generator) -> Heights:
    """Heights within +-height/2, drawn on a coarse grid and linear between."""
    every = tile.count(COARSE)
    coarse = 0.5 * height * rng.uniform(-1.0, 1.0, (tile.cells // every + 2, tile.cells // every + 2))
    at = np.arange(tile.cells) / every
    low, part = at.astype(int), at % 1.0
    rows = coarse[low] * (1.0 - part)[:, None] + coarse[low + 1] * part[:, None]
    return rows[:, low] * (1.0 - part) + rows[:, low + 1] * part


def rough(tile: Tile, level: float, rng: np.random.Generator) -> Heights:
    """A slope with bumps. level: 0, easy, to 1, hard."""
    return slope(tile, level, rng) + bumps(tile, HIGHEST * (LEAST + (1.0 - LEAST) * level), rng)
