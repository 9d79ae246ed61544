"""Checkpoints: everything that a training depends on, so that it goes on after a stop as if there had been none.

A checkpoint is taken between an update and the next rollout. It is one file of plain data with a checksum: the networks
and their optimizers, the normalisation, the replay buffer, states of the environments and of all generators of random
numbers, what callbacks want to have kept, and how far the monitor was.
"""

from pathlib import Path
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecMonitor

from vigym.engine.durable import read_checked
from vigym.engine.errors import InputError
from vigym.training import checkpoints, plain
from vigym.training.evaluations import check_kept
from vigym.training.runs import Told
from vigym.training.sb3 import monitor
from vigym.training.sb3.state import State, set_state, state_of, wrapper

NAME = "checkpoint_{}.npz"


def path_of(folder: Path, steps: int) -> Path:
    """The file of the checkpoint after that many steps."""
    return folder / NAME.format(steps)


def found(folder: Path) -> list[int]:
    """Steps of all checkpoints in a folder, in order."""
    return checkpoints.found(folder, NAME)


def save(folder: Path, model: BaseAlgorithm, callbacks: dict[str, Any]) -> None:
    """Write a checkpoint, read it again, then delete those that are no longer needed.

    callbacks: what these want to have kept
    """
    path = path_of(folder, model.num_timesteps)
    kept = monitor.secured(wrapper(model, VecMonitor), folder)
    plain.save(path, {"model": state_of(model), "callbacks": callbacks, "monitor": kept})
    read_checked(path)
    for old in found(folder)[: -checkpoints.KEPT]:
        path_of(folder, old).unlink()


def last(folder: Path) -> tuple[int, State]:
    """Steps and state of the last checkpoint that is not damaged, and has all it needs."""
    return checkpoints.last(folder, NAME, load)


def load(path: Path) -> State:
    """Read a checkpoint; InputError, with the file and the key, if something is missing in it or of another kind.

    What belongs to the model is looked at when it is put there."""
    state = plain.load(path)
    told = Told(state, str(path))
    told.inside("model")
    table = told.inside("monitor")
    for name in ("length", "lines"):
        table.count(name, 0)
    table.get("sha256", str)
    callbacks = told.inside("callbacks")
    check_kept(callbacks.inside("evaluations"))
    for name in ("clock", "cpu"):
        callbacks.inside("spent").get(name, float, int)
    return state


def restore(model: BaseAlgorithm, path: Path, state: State) -> None:
    """Put a new model where that of the checkpoint was; InputError if it is another kind of model."""
    try:
        set_state(model, state)
    except (LookupError, ValueError, TypeError, AttributeError, RuntimeError, ArithmeticError) as error:
        told = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path} does not fit the run's settings, or the installed packages: {told}") from error
