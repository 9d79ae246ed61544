"""The smallest trainings: a fraction of a second each, with checkpoints and evaluations on the way."""

import json
from pathlib import Path

import numpy as np

from vigym.__main__ import main
from vigym.engine.durable import read_checked
from vigym.training import plain
from vigym.training.runs import TIMES
from vigym.training.sb3 import checkpoints

ENV = "VICartPole-v0"
NETWORK = "policy_kwargs={'net_arch': [4], 'activation_fn': 'Tanh'}"
SETTINGS = {
    "ppo": ["n_envs=2", "n_steps=16", "batch_size=32", "n_epochs=1", NETWORK],
    "sac": ["n_envs=2", "learning_starts=8", "batch_size=8", "buffer_size=64", "normalize=True", NETWORK],
}
EVERY = 32


def command(out: Path, algo: str = "ppo", steps: int = 160) -> list[str]:
    """Words of a training, whose folder is `folder_in(out, algo)`."""
    often = ["--checkpoint-every", str(EVERY), "--eval-every", str(EVERY), "--eval-episodes", "1"]
    return ["train", ENV, "--algo", algo, "--steps", str(steps), *often, "--out", str(out), "--set", *SETTINGS[algo]]


def folder_in(out: Path, algo: str = "ppo") -> Path:
    return out / algo / f"{ENV}_1"


def trained(out: Path, algo: str = "ppo") -> Path:
    """The folder of a finished training."""
    assert main(command(out, algo)) == 0
    return folder_in(out, algo)


def interrupted(out: Path, algo: str = "ppo") -> Path:
    """The folder of a training as if it had been killed after its last checkpoint."""
    folder = trained(out, algo)
    (folder / ENV / TIMES).unlink()
    return folder


def outcome(folder: Path) -> dict:
    """Everything that was learned and written in the end, but for the time of day."""
    assert (folder / ENV / TIMES).exists()
    for path in (*folder.glob("*.npz"), *folder.glob("*.zip"), *folder.glob("*.pkl")):
        read_checked(path)
    last = checkpoints.found(folder)[-1]
    state = plain.load(checkpoints.path_of(folder, last))["model"]
    rows = (folder / "0.monitor.csv").read_text().splitlines()
    return {
        "steps": last,
        "networks": json.dumps(plain.encoded(state["networks"], arrays := [])),
        "arrays": [array.tobytes() for array in arrays],
        "generators": repr(state["generators"]),
        "episodes": [row.split(",")[:2] for row in rows[1:]],
        "best": (folder / "best_policy.npz").read_bytes(),
        "evaluations": {name: array.tolist() for name, array in np.load(folder / "evaluations.npz").items()},
    }


def flip(path: Path, at: int | None = None) -> None:
    """Change one bit of a file, in its middle unless told."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if at is None else at] ^= 1
    path.write_bytes(data)
