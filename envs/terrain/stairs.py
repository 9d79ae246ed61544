"""Stairs on all four sides of a platform."""

import numpy as np

from vigym.envs.terrain.tile import Heights, Tile

LOWEST, HIGHEST = 0.05, 0.23  # m, of a step at the easiest and at the hardest level
TREAD = 0.31  # m
PLATFORM = 1.5  # m, half a side


def stairs(tile: Tile, level: float, rng: np.random.Generator) -> Heights:
    """Stairs that lead up from the middle. level: 0, easy, to 1, hard."""
    steps = np.floor(np.maximum(tile.from_middle() - PLATFORM, 0.0) / (tile.count(TREAD) * tile.spacing) + 1e-9)
    return (LOWEST + (HIGHEST - LOWEST) * level) * steps


def stairs_down(tile: Tile, level: float, rng: np.random.Generator) -> Heights:
    """The same that lead down."""
    return -stairs(tile, level, rng)
