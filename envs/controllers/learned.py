"""Learned policies: a small network from observations to actions, in a file that NumPy alone can read."""

import io
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from vigym.engine.durable import MARK, SEAL_SIZE, read_checked, write_whole
from vigym.engine.errors import InputError

Array = NDArray[np.float64]
Floats = NDArray[np.float32]

ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "Tanh": np.tanh,
    "ReLU": lambda x: np.maximum(x, 0.0),
    "ELU": lambda x: np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0))),
}
ZIP_END, ZIP_END_SIZE = b"PK\x05\x06", 22  # how a file of NumPy's ends by itself
# Where the committed policy has a higher return than the scripted controller: vigym evaluate ID --policy ...
LEARNED_IS_BETTER: tuple[str, ...] = ("VIHopper-v0", "VIHopperHop-v0", "VIQuadruped-v0", "VISnake-v0")


class LearnedPolicy:
    """Actions = cut(network((observation - mean) / scale)): layers of weights, with an activation between them.

    layers: pairs of weights (inputs, outputs) and biases (outputs,)
    activation: "Tanh", "ReLU" or "ELU"
    mean, scale: (n_observations,) what observations are normalised by; then they are cut to +-clip
    squash: whether tanh is on top of the network; else actions are cut to [-1, 1]
    about: what the file tells about its origin: env_id, command, ...
    """

    def __init__(
        self,
        layers: Sequence[tuple[Floats, Floats]],
        activation: str,
        mean: Array,
        scale: Array,
        *,
        clip: float = 10.0,
        squash: bool = False,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        if activation not in ACTIVATIONS:
            raise InputError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
        sizes = [len(mean), *(len(bias) for _, bias in layers)]
        if [weights.shape for weights, _ in layers] != list(pairwise(sizes)):
            raise InputError(f"layers do not fit: {[weights.shape for weights, _ in layers]} after {len(mean)} inputs")
        self.layers, self.activation, self.squash = list(layers), activation, squash
        self.mean, self.scale, self.clip = np.asarray(mean, float), np.asarray(scale, float), float(clip)
        self.about = dict(about or {})

    def reset(self) -> None:
        """A new episode: there is no memory."""

    def act(self, observation: Array) -> Array:
        """Actions (..., n_actions) for observations (..., n_observations)."""
        o = np.asarray(observation, float)
        if o.shape[-1:] != self.mean.shape:
            raise InputError(f"the policy is for {len(self.mean)} observations, got an array of shape {o.shape}")
        x = np.clip((o - self.mean) / self.scale, -self.clip, self.clip).astype(np.float32)
        activation = ACTIVATIONS[self.activation]
        for weights, bias in self.layers[:-1]:
            x = activation(x @ weights + bias)
        weights, bias = self.layers[-1]
        x = x @ weights + bias
        return (np.tanh(x) if self.squash else np.clip(x, -1.0, 1.0)).astype(np.float64)

    def save(self, path: Path) -> None:
        """Write the file that `load` reads, whole and with a checksum."""
        arrays: dict[str, Any] = {f"weights{k}": weights for k, (weights, _) in enumerate(self.layers)}
        arrays |= {f"bias{k}": bias for k, (_, bias) in enumerate(self.layers)}
        told = {"activation": self.activation, "squash": self.squash, "clip": self.clip, "about": self.about}
        file = io.BytesIO()
        np.savez_compressed(file, mean=self.mean, scale=self.scale, told=np.array(json.dumps(told)), **arrays)
        write_whole(path, file.getvalue(), checked=True)

    @classmethod
    def load(cls, path: Path) -> "LearnedPolicy":
        """Read a file; InputError if it is damaged, or not that of a policy. No code in it is run."""
        try:
            with np.load(io.BytesIO(content(path)), allow_pickle=False) as file:
                told = json.loads(str(file["told"]))
                count = sum(name.startswith("weights") for name in file.files)
                layers = [(file[f"weights{k}"], file[f"bias{k}"]) for k in range(count)]
                options = {name: told[name] for name in ("clip", "squash", "about")}
                return cls(layers, told["activation"], file["mean"], file["scale"], **options)
        except (OSError, EOFError, BadZipFile, KeyError, ValueError) as error:
            raise InputError(f"{path} is not a policy that `vigym train` wrote: {error}") from error


def content(path: Path) -> bytes:
    """What is in a policy's file, before its checksum; with a warning if it was written when there were none."""
    data = path.read_bytes()
    if MARK not in data[-SEAL_SIZE:] and data[-ZIP_END_SIZE:].startswith(ZIP_END):
        warnings.warn(f"{path} has no checksum, as policies of earlier versions of vigym", stacklevel=3)
        return data
    return read_checked(path)


def committed(env_id: str) -> Path:
    """Where the policy of an environment is that vigym brings along, if it does."""
    return Path(str(files("vigym.assets"))) / "policies" / f"{env_id}.npz"


def learned(env_id: str) -> LearnedPolicy:
    """The policy that vigym brings along; InputError if there is none."""
    path = committed(env_id)
    if not path.exists():
        raise InputError(f"vigym brings no learned policy for {env_id}; `vigym train {env_id}` makes one")
    return LearnedPolicy.load(path)
