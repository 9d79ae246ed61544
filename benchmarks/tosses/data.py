"""Measured tosses of a cube: reading them, and scoring what an engine makes of them.

The tosses of ContactNets (Pfrommer, Halm, Posa, 2020), 148 frames a second. A file `tosses.npz` holds them in metres:

    states    (frames of all tosses, 13): x (m, world), q (scalar first), v (m/s, world), w (rad/s, BODY frame)
    offsets   (n + 1): toss i is states[offsets[i]:offsets[i + 1]]
    toss_ids  (n): its number in the original set

`convert` makes such a file from the original ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from vigym.assets.cube import SIDE
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.errors import InputError

RATE = 148.0  # frames a second
COLUMNS = 13


@dataclass(frozen=True, eq=False)
class Tosses:
    """measured: (n, most frames, 13), NaN after the end of a toss; ids: (n,) numbers in the original set."""

    measured: Array
    ids: Array

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, which: slice | NDArray[Any]) -> "Tosses":
        part = self.measured[which]
        most = int(np.isfinite(part[..., 0]).sum(1).max(initial=0))
        return Tosses(part[:, :most], self.ids[which])

    @property
    def lengths(self) -> Array:
        """Frames of each toss (n,)."""
        return np.isfinite(self.measured[..., 0]).sum(1)

    def halves(self) -> tuple["Tosses", "Tosses"]:
        """Every second toss, and the others: to fit on, and to score on."""
        return self[0::2], self[1::2]


def load(path: Path | str) -> Tosses:
    """Tosses from a file as above."""
    path = Path(path)
    if not path.is_file():
        raise InputError(
            f"no tosses at {path}: give the file that `vigym.benchmarks.tosses.convert` makes of the original ones"
        )
    try:
        with np.load(path) as file:
            if missing := {"states", "offsets", "toss_ids"} - set(file.files):
                raise InputError(f"{path} has no {', '.join(sorted(missing))}; it is not a file of tosses")
            states, offsets, ids = file["states"], file["offsets"], file["toss_ids"]
    except (ValueError, EOFError, BadZipFile, AttributeError) as error:
        raise InputError(f"{path} is not a file of tosses (.npz): {error}") from None
    if states.ndim != 2 or states.shape[1] != COLUMNS or offsets[-1] != len(states) or len(ids) != len(offsets) - 1:
        raise InputError(f"{path}: states {states.shape}, {len(offsets)} offsets and {len(ids)} ids do not fit")
    if (np.diff(offsets) < 1).any() or offsets[0] != 0:
        raise InputError(f"{path}: offsets must rise from 0")
    if not np.isfinite(states).all() or (np.linalg.norm(states[:, 3:7], axis=-1) < 0.5).any():
        raise InputError(f"{path}: states that are not numbers, or quaternions that are zero")
    return padded([states[a:b] for a, b in pairwise(offsets)], ids)


def padded(tosses: Sequence[Array], ids: Sequence[int] | Array) -> Tosses:
    """Tosses of any lengths, (frames, 13) each, as one array."""
    measured = np.full((len(tosses), max(map(len, tosses)), COLUMNS), np.nan)
    for row, toss in zip(measured, tosses, strict=True):
        row[: len(toss)] = toss
    return Tosses(measured, np.asarray(ids))


def angles(tosses: Tosses, simulated: Array) -> Array:
    """Between the measured and the simulated orientation, degrees (n, frames)."""
    real, made = tosses.measured[..., 3:7], simulated[..., 3:]
    same = np.abs((real * made).sum(-1)) / (np.linalg.norm(real, axis=-1) * np.linalg.norm(made, axis=-1))
    return np.degrees(2 * np.arccos(np.minimum(same, 1.0)))


def errors(tosses: Tosses, simulated: Array) -> tuple[Array, Array]:
    """Position error (% of the cube's width) and rotation error (degrees) of each toss (n,): means over its frames,
    infinite where one of them was not simulated.

    simulated: (n, frames, 7): x and q.
    """
    apart = np.linalg.norm(simulated[..., :3] - tosses.measured[..., :3], axis=-1)
    angle = angles(tosses, simulated)
    lost = np.isnan(apart) & np.isfinite(tosses.measured[..., 0])
    apart[lost] = angle[lost] = np.inf
    return 100 / SIDE * np.nanmean(apart, axis=1), np.nanmean(angle, axis=1)


@dataclass(frozen=True)
class Score:
    """Errors of many tosses: position (% of the cube's width) and rotation (degrees)."""

    position: float
    position_median: float
    rotation: float
    rotation_median: float

    @property
    def total(self) -> float:
        """Cost that fits minimise: a per cent counts as much as a degree."""
        return self.position + self.rotation


def summary(position: Array, rotation: Array) -> Score:
    """Means and medians over tosses; infinite where an engine lost a cube."""
    if not (np.isfinite(position).all() and np.isfinite(rotation).all()):
        return Score(np.inf, np.inf, np.inf, np.inf)
    return Score(*map(float, (position.mean(), np.median(position), rotation.mean(), np.median(rotation))))


def score(tosses: Tosses, simulated: Array) -> Score:
    """Score simulated tosses, as in `errors`."""
    return summary(*errors(tosses, simulated))
