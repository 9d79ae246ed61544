"""Tosses that vigym makes up itself; and where the measured ones are."""

import os
from pathlib import Path

import numpy as np
import pytest

from vigym.benchmarks.tosses.cube import DESCRIBED, Cube
from vigym.benchmarks.tosses.data import Tosses, padded
from vigym.benchmarks.tosses.engines import VigymEngine
from vigym.engine.rotation import from_rotation_vector

DATA = os.environ.get("VIGYM_TOSSES")
needs_data = pytest.mark.skipif(DATA is None, reason="VIGYM_TOSSES does not say where the measured tosses are")
LOPSIDED = Cube(half=0.0513, gravity=9.6, com=(0.001, -0.002, 0.006), inertia=1e-3)


def thrown(
    count: int = 4, frames: int = 40, seed: int = 0, above: float = 0.0, cube: Cube = DESCRIBED, **contact: float
) -> Tosses:
    """Tosses that vigym makes up itself, of different lengths."""
    rng = np.random.default_rng(seed)
    starts = np.zeros((count, 1, 13))
    starts[:, 0, :3] = rng.uniform([-0.1, -0.1, 0.12], [0.1, 0.1, 0.2], (count, 3))
    starts[:, 0, 2] += above
    starts[:, 0, 3:7] = [from_rotation_vector(v) for v in rng.normal(size=(count, 3))]
    starts[:, 0, 7:9], starts[:, 0, 10:] = rng.normal(size=(count, 2)), 3 * rng.normal(size=(count, 3))
    empty = padded([np.repeat(start, frames - 3 * (k % 8), axis=0) for k, start in enumerate(starts)], range(count))
    made = VigymEngine(empty, substeps=4, cube=cube)(**contact)
    made = np.concatenate([made, np.broadcast_to(starts[..., 7:], (*made.shape[:2], 6))], axis=-1)
    return padded([run[:n] for run, n in zip(made, empty.lengths, strict=True)], range(count))


def written(tosses: Tosses, path: Path) -> Path:
    """A file of tosses."""
    states = [row[:n] for row, n in zip(tosses.measured, tosses.lengths, strict=True)]
    np.savez(path, states=np.concatenate(states), offsets=np.cumsum([0, *tosses.lengths]), toss_ids=tosses.ids)
    return path
