"""Gaps: ditches around a platform, one behind the other."""

import numpy as np

from vigym.envs.terrain.tile import Heights, Tile

WIDEST = 0.6  # m, at the hardest level; none at the easiest
DEPTH = 0.6  # m
LAND = 0.8  # m, between two gaps
PLATFORM = 1.0  # m, half a side


def gaps(tile: Tile, level: float, rng: np.random.Generator) -> Heights:
    """Ditches as wide as the level says. level: 0, easy, to 1, hard."""
    width = round(WIDEST * level / tile.spacing) * tile.spacing
    beyond = tile.from_middle() - PLATFORM
    return np.where((beyond >= 0.0) & (beyond % (width + LAND) < width - 1e-9), -DEPTH, 0.0)
