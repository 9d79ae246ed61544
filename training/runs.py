"""The folder of a run, laid out as rl_zoo3 does it: `logs/ppo/VIHopper-v0_1`.

VIHopper-v0.zip                      the model at the end
best_model.zip, best_policy.npz      the best model so far; its policy, normalisation included, for NumPy alone
best_vecnormalize.pkl                the normalisation that belongs to the best model
evaluations.npz                      returns and lengths of all evaluations
0.monitor.csv                        return and length of every episode of the training
rl_model_*_steps.zip, .pkl           the last checkpoints: model, normalisation, replay buffer, all other state
tensorboard/                         curves for TensorBoard
VIHopper-v0/config.yml, args.yml     hyperparameters and arguments (JSON, which is YAML as well)
VIHopper-v0/vecnormalize.pkl         the normalisation at the end
"""

import json
import os
import re
from ast import literal_eval
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import gymnasium as gym

from vigym.engine.errors import InputError
from vigym.envs.env import load_task

BEST_POLICY = "best_policy.npz"
# In the folder of a run that is finished: seconds it took, on the clock and of the processor
TIMES = "times.json"
BATCH = {"num_envs": "--set n_envs=...", "num_threads": "--threads"}  # arguments that the commands choose themselves


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
    def details(self) -> Path:
        """The folder within the folder."""
        return self.folder / self.env_id

    @property
    def is_finished(self) -> bool:
        """Whether the training has come to its end."""
        return (self.details / TIMES).exists()

    def write(self) -> None:
        """Write down what the run is, in its folder."""
        self.details.mkdir(exist_ok=True)
        args = {"algo": self.algo, "env": self.env_id, "seed": self.seed, "env_kwargs": self.env_kwargs}
        for name, content in (("config.yml", self.settings), ("args.yml", args | {"vigym": self.arguments})):
            (self.details / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Run":
        """What `write` wrote."""
        found = list(folder.glob("*/args.yml"))
        if len(found) != 1:
            raise InputError(f"{folder} is not the folder of a run: it has no single */args.yml")
        try:
            args = json.loads(found[0].read_text(encoding="utf-8"))
            settings = json.loads((found[0].parent / "config.yml").read_text(encoding="utf-8"))
            told = args["algo"], args["env"], args["seed"], args["env_kwargs"], settings, args["vigym"]
        except (OSError, KeyError, ValueError) as error:
            raise InputError(f"{folder} is not the folder of a run of vigym train: {error}") from error
        return cls(folder, *told)


def new_folder(logs: Path, algo: str, env_id: str) -> Path:
    """Make a folder for the next run of that algorithm and environment: logs/ALGO/ID_1, ID_2, ...; nobody else gets
    the same one."""
    while True:
        names = [path.name for path in (logs / algo).glob(f"{env_id}_*")]
        taken = [int(match[1]) for name in names if (match := re.fullmatch(rf"{re.escape(env_id)}_(\d+)", name))]
        folder = logs / algo / f"{env_id}_{max(taken, default=0) + 1}"
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


def write_whole(path: Path, save: Callable[[Path], Any]) -> None:
    """Let `save` write a file that appears under its name when it is complete, and on disk."""
    partial = path.with_name(f"partial_{path.name}")
    save(partial)
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    partial.replace(path)


def known_env(env_id: str) -> str:
    """The id, if Gymnasium knows it; InputError otherwise."""
    try:
        gym.spec(env_id)
    except gym.error.Error as error:
        known = ", ".join(name for name in gym.registry if name.startswith("VI"))
        raise InputError(f"{env_id!r} is not an environment; vigym's are {known} ({error})") from None
    return env_id


def assignments(words: Iterable[str]) -> dict[str, Any]:
    """name=value, with Python's numbers, tuples, ...; what is not one of these is a string."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"expected name=value, got {word!r}")
        try:
            found[name] = literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def env_arguments(env_id: str, words: Iterable[str]) -> dict[str, Any]:
    """Arguments of an environment, name=value; InputError for those that a task of vigym does not know."""
    given = assignments(words)
    for name in given.keys() & BATCH.keys():
        raise InputError(f"{name} is not an argument of single environments: {BATCH[name]} sets it")
    if task := gym.spec(env_id).kwargs.get("task"):
        known = [name for name in signature(load_task(task)).parameters if name not in BATCH]
        if unknown := sorted(set(given) - set(known)):
            raise InputError(f"{env_id} has no argument {unknown[0]!r}; it has {', '.join(known)}")
    return given
