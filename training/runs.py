"""The folder of a run, laid out as rl_zoo3 does it: `logs/ppo/VIHopper-v0_1`.

run.json, VIHopper-v0/run.json       what the run is, twice
checkpoint_*.npz                     the last checkpoints
evaluations.npz                      returns and lengths of all evaluations
best_policy.npz                      the best policy so far, normalisation included, for NumPy alone
0.monitor.csv                        return and length of every episode of the training
VIHopper-v0/times.json               seconds it took, on the clock and of the processor, when it is finished
tensorboard/                         curves for TensorBoard

For SB3 and rl_zoo3, never read by vigym itself, as loading these models and pickles runs code that is in them:

VIHopper-v0.zip                      the model at the end
VIHopper-v0/vecnormalize.pkl         the normalisation at the end
best_model.zip                       the best model so far
best_vecnormalize.pkl                the normalisation that belongs to it
VIHopper-v0/config.yml, args.yml     hyperparameters and arguments (JSON, which is YAML as well)

All but the last two, the monitor and the curves end with a checksum (`vigym.engine.durable`); the monitor's is in the
checkpoints.
"""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vigym.engine.durable import read_checked, write_whole
from vigym.engine.errors import InputError
from vigym.engine.validation import show
from vigym.envs.words import file_name
from vigym.training.hyperparameters import ALGORITHMS

BEST_POLICY = "best_policy.npz"
DESCRIPTION, TIMES = "run.json", "times.json"
PARTIAL = (".partial-*", "partial_*")  # left by a training that was killed while it wrote
# Numbers of a description that must be positive integers
COUNTED = {
    "vigym": ("threads", "eval_every", "eval_episodes", "checkpoint_every"),
    "settings": ("n_timesteps", "n_envs"),
}


@dataclass(frozen=True)
class Run:
    """A run's folder, and what the run is: an algorithm on an environment, with its hyperparameters and arguments."""

    folder: Path
    algo: str
    env_id: str
    seed: int
    env_kwargs: dict[str, Any]
    settings: dict[str, Any]
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the environment in names of files."""
        return file_name(self.env_id)

    @property
    def details(self) -> Path:
        """The folder within the folder."""
        return self.folder / self.name

    @property
    def is_finished(self) -> bool:
        """True if the training has come to its end."""
        return (self.details / TIMES).exists()

    def write(self) -> None:
        """Write down what the run is, in its folder."""
        self.details.mkdir(exist_ok=True)
        args = {"algo": self.algo, "env": self.env_id, "seed": self.seed, "env_kwargs": self.env_kwargs}
        args["vigym"] = self.arguments
        for name, content in (("config.yml", self.settings), ("args.yml", args)):
            write_whole(self.details / name, json.dumps(content, indent=2) + "\n")
        for folder in (self.details, self.folder):
            write_json(folder / DESCRIPTION, args | {"settings": self.settings})

    @classmethod
    def read(cls, folder: Path) -> "Run":
        """Return what `write` wrote, from the copy if the first is damaged."""
        found = [path for path in (folder / DESCRIPTION, *folder.glob(f"*/{DESCRIPTION}")) if path.exists()]
        if not found and any(folder.glob("*/args.yml")):
            raise InputError(
                f"{folder} is of rl_zoo3, or of an earlier version of vigym, whose checkpoints were pickles and are no "
                "longer read: resume with that version"
            )
        if not found:
            raise InputError(f"{folder} is not the folder of a run of vigym train: it has no {DESCRIPTION}")
        damaged: list[str] = []
        for path in found:
            try:
                run = cls(folder, *described(read_json(path), path))
            except (InputError, OSError) as error:
                damaged.append(str(error))
                continue
            for wrong in damaged:
                print(f"{wrong}; using its copy {path} instead", file=sys.stderr)
            return run
        raise InputError(f"{folder} cannot be read: {'; '.join(damaged)}")

    def clean(self) -> None:
        """Delete what a training that was killed left half written; nobody else must be at it."""
        for pattern in PARTIAL:
            for path in self.folder.rglob(pattern):
                if path.is_file():
                    path.unlink()


def described(told: Any, path: Path) -> tuple[Any, ...]:
    """Fields of a run from its description; InputError, with the file and the key, if that is something else."""
    kinds = {"algo": str, "env": str, "seed": int, "env_kwargs": dict, "settings": dict, "vigym": dict}
    fields = Told(told, str(path))
    found = tuple(fields.get(name, kind) for name, kind in kinds.items())
    if found[0] not in ALGORITHMS:
        raise InputError(f"{path}: algo is {show(found[0])}, not one of {', '.join(ALGORITHMS)}")
    if not 0 <= found[2] < 2**32:
        raise InputError(f"{path}: seed is {show(found[2])}, not at least 0 and below 2**32")
    fields.inside("vigym").get("backend", str)
    for group, names in COUNTED.items():
        for name in names:
            fields.inside(group).count(name)
    return found


class Told:
    """A dictionary from a file of a run, whoever wrote it; what is missing or of another kind is an InputError that
    names the file and the key.

    values: the dictionary; where: the file, and the keys that lead to it
    """

    def __init__(self, values: Any, where: str) -> None:
        if not isinstance(values, dict):
            raise InputError(f"{where} is not what `vigym train` writes: not a dictionary, but {show(values)}")
        self.values, self.where = values, where

    def get(self, name: str, *kinds: type) -> Any:
        """Value under a key, of one of these types; True and False are no numbers."""
        if name not in self.values:
            raise InputError(f"{self.where} is not what `vigym train` writes: it has no {name!r}")
        value = self.values[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise InputError(f"{self.where}: {name} is {show(value)}, not of type {expected}")
        return value

    def count(self, name: str, least: int = 1) -> int:
        """A number of things: an integer that is not too large to count to."""
        value = self.get(name, int)
        if not least <= value < 2**63:
            raise InputError(f"{self.where}: {name} is {show(value)}, not an integer of at least {least}")
        return value

    def inside(self, name: str) -> "Told":
        """A dictionary in it."""
        return Told(self.get(name, dict), f"{self.where}, {name}")


def new_folder(logs: Path, algo: str, env_id: str) -> Path:
    """Make a folder for the next run of that algorithm and environment: logs/ALGO/ID_1, ID_2, ...; nobody else gets
    the same one."""
    env = file_name(env_id)
    while True:
        names = [path.name for path in (logs / algo).glob(f"{env}_*")]
        taken = [int(match[1]) for name in names if (match := re.fullmatch(rf"{re.escape(env)}_(\d+)", name))]
        folder = logs / algo / f"{env}_{max(taken, default=0) + 1}"
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir()
        except FileExistsError:
            if not folder.exists():  # what is in the way is not a folder
                raise InputError(f"{folder.parent} is not a folder: choose another --out") from None
        except OSError as error:
            raise InputError(f"no folder can be made in {logs}: {error}; choose another --out") from None
        else:
            return folder


def write_json(path: Path, content: Any) -> None:
    """Write JSON with a checksum, whole."""
    write_whole(path, json.dumps(content, indent=2), checked=True)


def read_json(path: Path) -> Any:
    """Return what `write_json` wrote; InputError if it is damaged."""
    try:
        return json.loads(read_checked(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}") from error
