"""Checkpoints: everything that a training depends on, so that it goes on after a stop as if there had been none.

A checkpoint is taken between an update and the next rollout. It is one file of plain data with a checksum: the networks
and their optimizers, the normalisation, the replay buffer, states of the environments and of all generators of random
numbers, what callbacks want to have kept, and how far the monitor was. Two are kept, so that there is one to go on from
if the last one is damaged.
"""

import re
import sys
from pathlib import Path
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecMonitor

from vigym.engine.durable import read_checked
from vigym.engine.errors import InputError
from vigym.training import plain
from vigym.training.sb3 import monitor
from vigym.training.sb3.state import State, set_state, state_of, wrapper

KEPT = 2  # checkpoints in a folder: the last one, and the one before in case that is damaged
NAME = "checkpoint_{}.npz"
DAMAGED = ".damaged"


def path_of(folder: Path, steps: int) -> Path:
    """The file of the checkpoint after that many steps."""
    return folder / NAME.format(steps)


def found(folder: Path) -> list[int]:
    """Steps of all checkpoints in a folder, in order."""
    names = (re.fullmatch(NAME.format(r"(\d+)"), path.name) for path in folder.glob(NAME.format("*")))
    return sorted(int(match[1]) for match in names if match)


def save(folder: Path, model: BaseAlgorithm, callbacks: dict[str, Any]) -> None:
    """Write a checkpoint, read it again, then delete those that are no longer needed.

    callbacks: what these want to have kept
    """
    path = path_of(folder, model.num_timesteps)
    kept = monitor.secured(wrapper(model, VecMonitor), folder)
    plain.save(path, {"model": state_of(model), "callbacks": callbacks, "monitor": kept})
    read_checked(path)
    for old in found(folder)[:-KEPT]:
        path_of(folder, old).unlink()


def last(folder: Path) -> tuple[int, State]:
    """Steps and state of the last checkpoint that is not damaged; damaged ones are told and put aside."""
    damaged: dict[Path, Exception] = {}
    for steps in reversed(found(folder)):
        path = path_of(folder, steps)
        try:
            state = plain.load(path)
        except (InputError, OSError) as error:
            damaged[path] = error
            continue
        for wrong, error in damaged.items():
            print(f"{error}; going on from {path.name}, the checkpoint before, instead", file=sys.stderr)
            wrong.replace(wrong.with_name(wrong.name + DAMAGED))
        return steps, state
    if damaged:
        told = "; ".join(map(str, damaged.values()))
        raise InputError(f"{folder} has no checkpoint left to resume from: {told}; start the training anew")
    raise InputError(f"{folder} has no checkpoint to resume from: start the training anew")


def restore(model: BaseAlgorithm, path: Path, state: State) -> None:
    """Put a new model where that of the checkpoint was; InputError if it is another kind of model."""
    try:
        set_state(model, state)
    except (KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        raise InputError(f"{path} does not fit the run's settings, or the installed packages: {error}") from error
