"""Slopes: a pyramid, or a pit, with a flat top."""

import numpy as np

from vigym.envs.terrain.tile import Heights, Tile

STEEPEST = 0.4  # rise over run, at the hardest level
PLATFORM = 1.5  # m, half a side of the flat part


def slope(tile: Tile, level: float, rng: np.random.Generator) -> Heights:
    """Ground that falls from the middle, or rises, with equal chances. level: 0, easy, to 1, hard."""
    away = tile.from_middle()
    rise = STEEPEST * level * np.maximum(away.max() - np.maximum(away, PLATFORM), 0.0)
    return rise if rng.random() < 0.5 else -rise
