"""The original files of ContactNets as one file: `python -m vigym.benchmarks.tosses.convert FOLDER OUT [EVERY]`.

The public set (github.com/DAIRLab/contact-nets, data/tosses_processed) has 570 files, 0.pt, 1.pt, ..., one a toss: a
torch tensor of float64, (1, frames, 19), 148 frames a second, with x (3), q (4, scalar first), v (3), w (3, body frame)
and six zeros (controls), lengths in half widths of the cube, 0.0524 m. v and w are differences from the frame before,
then medians of three frames. The same rows as CSV files (0.csv, ...) are read too, without torch. EVERY: 2 takes every
second toss (0, 2, ...); all unless given.
"""

import sys
from pathlib import Path

import numpy as np

from vigym.assets.cube import SIDE
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.data import COLUMNS
from vigym.engine.durable import write_arrays
from vigym.engine.errors import InputError

LENGTHS = [0, 1, 2, 7, 8, 9]  # columns of x and v
REST = 0.8, 1.2  # half widths: between these is the centre of a cube that lies on a face; measured, 0.95 to 0.99


def read(path: Path) -> Array:
    """One original file: (frames, 13), in metres."""
    if path.suffix == ".pt":
        try:
            import torch
        except ImportError:
            raise InputError(f'{path} needs torch, which "vigym[train]" brings: pip install "vigym[train]"') from None
        rows = torch.load(path, map_location="cpu", weights_only=True).double().numpy()
    else:
        rows = np.loadtxt(path, delimiter=",", ndmin=2)
    rows = rows.reshape(-1, rows.shape[-1])[:, :COLUMNS].copy()
    size = np.linalg.norm(rows[:, 3:7], axis=-1) if rows.shape[1] == COLUMNS else np.zeros(1)
    if not np.allclose(size, 1.0, atol=1e-2):
        raise InputError(f"{path}: columns 3 to 6 of {rows.shape[1]} are not quaternions; it is not a toss")
    if not REST[0] < rows[-1, 2] < REST[1]:
        height = f"{rows[-1, 2]:.3g}"
        raise InputError(f"{path}: lengths should be half widths, but the cube ends at a height of {height}, not of 1")
    rows[:, LENGTHS] *= SIDE / 2
    return rows


def convert(folder: Path | str, out: Path | str, every: int | str = 1) -> int:
    """Write all tosses of a folder, or each `every`-th, to one file; how many they are."""
    if not str(every).isdecimal() or int(every) < 1:
        raise InputError(f"every must be a number of tosses, at least 1, got {every!r}")
    paths = [path for path in Path(folder).glob("*.*") if path.suffix in (".pt", ".csv") and path.stem.isdigit()]
    if not paths:
        raise InputError(f"no files 0.pt, 1.pt, ... (or .csv) in {folder}")
    paths = sorted(paths, key=lambda path: int(path.stem))[:: int(every)]
    tosses = [read(path) for path in paths]
    offsets = np.cumsum([0, *map(len, tosses)])
    ids = np.array([int(path.stem) for path in paths])
    write_arrays(out, {"states": np.concatenate(tosses), "offsets": offsets, "toss_ids": ids})
    return len(paths)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    try:
        print(f"wrote {convert(*sys.argv[1:])} tosses to {sys.argv[2]}")
    except (InputError, OSError) as error:
        sys.exit(str(error))
