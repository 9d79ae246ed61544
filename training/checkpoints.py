"""Choice of the checkpoint of a run to go on from: the last one that is not damaged."""

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from vigym.engine.errors import InputError

KEPT = 2  # checkpoints in a folder: the last one, and the one before in case that is damaged
DAMAGED = ".damaged"  # at the end of the names of those that were passed over

Loaded = TypeVar("Loaded")


def found(folder: Path, name: str) -> list[int]:
    """Steps of all checkpoints in a folder, in order; `name` has {} for the steps."""
    matches = (re.fullmatch(name.format(r"(\d+)"), path.name) for path in folder.glob(name.format("*")))
    return sorted(int(match[1]) for match in matches if match)


def last(folder: Path, name: str, load: Callable[[Path], Loaded]) -> tuple[int, Loaded]:
    """Steps and content of the last checkpoint that `load` reads; those that it cannot are told and put aside."""
    damaged: list[tuple[Path, str]] = []
    for steps in reversed(found(folder, name)):
        path = folder / name.format(steps)
        try:
            content = load(path)
        except (InputError, OSError) as error:
            damaged.append((path, str(error)))
            continue
        for wrong, told in damaged:
            print(f"{told}; going on from {path.name}, the checkpoint before, instead", file=sys.stderr)
            aside = wrong.with_name(wrong.name + DAMAGED)
            shutil.rmtree(aside, ignore_errors=True)
            wrong.replace(aside)
        return steps, content
    if damaged:
        told = "; ".join(told for _, told in damaged)
        raise InputError(f"{folder} has no checkpoint left to resume from: {told}; start the training anew")
    raise InputError(f"{folder} has no checkpoint to resume from: start the training anew")
