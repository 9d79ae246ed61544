"""Checkpoints of RLlib's algorithm and of the evaluations so far, one folder each."""

import pickle
import shutil
from pathlib import Path

from ray.rllib.algorithms.algorithm import Algorithm

from vigym.engine.errors import InputError
from vigym.training.evaluations import Evaluations

CHECKPOINT, STATE = "rllib_checkpoint_{}", "evaluations.pkl"


def found(folder: Path) -> list[int]:
    """Steps of all complete checkpoints in a folder, in order."""
    before = CHECKPOINT.format("")
    return sorted(int(path.name.removeprefix(before)) for path in folder.glob(CHECKPOINT.format("*")))


def last(folder: Path) -> int:
    """Steps of the last complete checkpoint; InputError if there is none."""
    steps = found(folder)
    if not steps:
        raise InputError(f"{folder} has no checkpoint of RLlib to resume from: start the training anew")
    return steps[-1]


def save(folder: Path, steps: int, algorithm: Algorithm, evaluations: Evaluations) -> None:
    """Write a checkpoint, which gets its name when it is complete, and delete those no longer needed."""
    whole = folder.absolute() / CHECKPOINT.format(steps)
    partial = whole.with_name(f"partial_{whole.name}")
    for path in folder.absolute().glob(f"partial_{CHECKPOINT.format('*')}"):
        shutil.rmtree(path)  # the training was killed while it wrote this one
    algorithm.save_to_path(str(partial))
    (partial / STATE).write_bytes(pickle.dumps(evaluations.kept))
    shutil.rmtree(whole, ignore_errors=True)
    partial.rename(whole)
    for old in found(folder)[:-2]:
        shutil.rmtree(folder / CHECKPOINT.format(old))
