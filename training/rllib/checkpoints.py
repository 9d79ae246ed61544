"""Checkpoints of RLlib's algorithm and of the evaluations so far, one folder each, with checksums of all its files.

RLlib's own files are pickles: loading them runs code that is in them, so `vigym train` asks for --trust where others
could have written them (`training/trust.py`). Checksums find damage, not intent.
"""

import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from vigym.engine.errors import InputError
from vigym.training import checkpoints, plain
from vigym.training.evaluations import Evaluations
from vigym.training.runs import Told, read_json, write_json

if TYPE_CHECKING:
    from ray.rllib.algorithms.algorithm import Algorithm

CHECKPOINT, STATE, CHECKSUMS = "rllib_checkpoint_{}", "evaluations.npz", "checksums.json"


def found(folder: Path) -> list[int]:
    """Steps of all checkpoints in a folder, in order."""
    return checkpoints.found(folder, CHECKPOINT)


def last(folder: Path) -> int:
    """Steps of the last checkpoint that is not damaged; InputError if there is none."""
    return checkpoints.last(folder, CHECKPOINT, check)[0]


def save(folder: Path, steps: int, algorithm: "Algorithm", evaluations: Evaluations) -> None:
    """Write a checkpoint, which gets its name when it is complete, and delete those no longer needed."""
    whole = folder.absolute() / CHECKPOINT.format(steps)
    partial = whole.with_name(f"partial_{whole.name}")
    for path in folder.absolute().glob(f"partial_{CHECKPOINT.format('*')}"):
        shutil.rmtree(path)  # the training was killed while it wrote this one
    algorithm.save_to_path(str(partial))
    plain.save(partial / STATE, evaluations.kept)
    seal(partial)
    shutil.rmtree(whole, ignore_errors=True)
    partial.rename(whole)
    sync(whole.parent)
    check(whole)
    for old in found(folder)[: -checkpoints.KEPT]:
        shutil.rmtree(folder / CHECKPOINT.format(old))


def seal(folder: Path) -> None:
    """Force all files in a folder to the disk, and write their checksums beside them."""
    for path in folder.rglob("*"):
        sync(path)
    write_json(folder / CHECKSUMS, checksums(folder))


def check(folder: Path) -> None:
    """InputError if the folder is not as `seal` found it."""
    if not (folder / CHECKSUMS).exists():
        raise InputError(f"{folder} is damaged or of an earlier version of vigym: it has no {CHECKSUMS}")
    expected, here = Told(read_json(folder / CHECKSUMS), str(folder / CHECKSUMS)).values, checksums(folder)
    for name in sorted(expected.keys() | here.keys()):
        if expected.get(name) != here.get(name):
            wrong = "is missing" if name not in here else "does not match its checksum"
            raise InputError(f"{folder} is damaged: {name} {wrong}")


def checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of all files in a folder but that of the checksums."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / CHECKSUMS)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def sync(path: Path) -> None:
    """Force a file, or the names in a folder, to the disk."""
    if os.name == "nt":  # needs files to be open for writing
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
