"""Measured tosses of two bricks on a hinge: reading them, and scoring what an engine makes of them.

The elbow of ContactNets' authors, 148 frames a second. A file holds, in metres and radians:

    states    (frames of all tosses, 15): q of brick 1 (scalar first), x of it, hinge angle, w of it (BODY frame), v of
              it (world), hinge rate
    offsets   (n + 1): toss i is states[offsets[i]:offsets[i + 1]]
    ids       (n): its number in the original set
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vigym.benchmarks.elbow.linkage import SIZE
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.errors import InputError
from vigym.engine.rotation import conjugate, multiply, to_rotation_vector

COLUMNS = 15


def is_elbow(path: Path) -> bool:
    """Tell whether a file holds tosses of a linkage, and not of a cube."""
    try:
        with np.load(path) as file:
            return "states" in file.files and file["states"].ndim == 2 and file["states"].shape[1] == COLUMNS
    except (OSError, ValueError, EOFError):
        return False


def load(path: Path) -> Array:
    """All tosses, (n, frames, 15), as long as the shortest one."""
    with np.load(path) as file:
        if missing := {"states", "offsets"} - set(file.files):
            raise InputError(f"{path} has no {', '.join(sorted(missing))}; it is not a file of tosses")
        states, offsets = file["states"], file["offsets"]
    if offsets.ndim != 1 or len(offsets) < 3 or offsets[0] != 0 or offsets[-1] != len(states):
        raise InputError(f"{path}: states {states.shape} and {len(offsets)} offsets do not fit")
    if (np.diff(offsets) < 2).any():
        raise InputError(f"{path}: offsets must rise from 0, by at least 2 frames a toss")
    if not np.isfinite(states).all() or (np.linalg.norm(states[:, :4], axis=-1) < 0.5).any():
        raise InputError(f"{path}: states that are not numbers, or quaternions that are zero")
    frames = int(np.diff(offsets).min())
    tosses = np.stack([states[first : first + frames] for first in offsets[:-1]])
    tosses[..., :4] /= np.linalg.norm(tosses[..., :4], axis=-1, keepdims=True)
    return tosses


def turned(q: Array, other: Array) -> Array:
    """Rotation vector (..., 3) from the orientation q to the other one, in the frame of q."""
    return to_rotation_vector(multiply(conjugate(q), other))


def misses(tosses: Array, simulated: Array) -> Array:
    """Errors of every frame (3, n, frames): position of brick 1 (% of its length), its rotation and the hinge's angle
    (degrees). simulated: (n, frames, 8), q and x of brick 1 and the angle; one that is lost misses by 180."""
    apart = 100 / SIZE[0] * np.linalg.norm(simulated[..., 4:7] - tosses[..., 4:7], axis=-1)
    angle = np.linalg.norm(turned(tosses[..., :4], simulated[..., :4]), axis=-1)
    bent = np.abs(np.remainder(simulated[..., 7] - tosses[..., 7] + np.pi, 2 * np.pi) - np.pi)
    found = np.stack([apart, np.degrees(angle), np.degrees(bent)])
    return np.where(np.isfinite(found), found, 180.0)


def scores(found: Array, horizons: Sequence[int]) -> Array:
    """Errors of each toss, (horizons, 3, n): means over its first frames."""
    return np.stack([found[..., : frames + 1].mean(-1) for frames in horizons])
