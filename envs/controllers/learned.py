"""Learned policies: a small network from observations to actions, in a file that NumPy alone can read."""

import io
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.durable import MARK, SEAL_SIZE, unsealed, write_whole
from vigym.engine.errors import InputError
from vigym.engine.files import read_regular
from vigym.engine.npz import read_arrays
from vigym.engine.validation import show

Array = NDArray[np.float64]
Floats = NDArray[np.float32]

MOST_BYTES = 50_000_000  # of a policy's file, packed or unpacked: weights of three layers of 2,000 units
MOST_CHARACTERS = 100_000  # of what it tells about itself

ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "Tanh": np.tanh,
    "ReLU": lambda x: np.maximum(x, 0.0),
    "ELU": lambda x: np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0))),
}
# Parts of an observation with a goal, one after the other as the network takes them
PARTS = ("observation", "achieved_goal", "desired_goal")
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
        mean, scale = np.asarray(mean, float), np.asarray(scale, float)
        if mean.ndim != 1 or scale.shape != mean.shape or not (scale > 0.0).all():
            raise InputError(f"mean and scale must be of one shape (n,), scale > 0, got {mean.shape} and {scale.shape}")
        if not clip > 0.0:
            raise InputError(f"clip must be > 0, got {clip}")
        sizes = [len(mean), *(len(bias) for _, bias in layers)]
        if not layers or [weights.shape for weights, _ in layers] != list(pairwise(sizes)):
            raise InputError(f"layers do not fit: {[weights.shape for weights, _ in layers]} after {len(mean)} inputs")
        self.layers, self.activation, self.squash = list(layers), activation, squash
        self.mean, self.scale, self.clip = mean, scale, float(clip)
        self.about = dict(about or {})

    def reset(self) -> None:
        """A new episode: there is no memory."""

    def act(self, observation: Array | Mapping[str, Array]) -> Array:
        """Actions (..., n_actions) for observations (..., n_observations), or for dicts of those with a goal."""
        if isinstance(observation, Mapping):
            observation = np.concatenate([observation[part] for part in PARTS], axis=-1)
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
        """Read a file; InputError if it is damaged, not that of a policy, or larger than MOST_BYTES. No code in it is
        run."""
        try:
            arrays = read_arrays(content(path), MOST_BYTES)
            told = _told(arrays)
            count = sum(name.startswith("weights") for name in arrays)
            layers = [(_floats(arrays, f"weights{k}", 2), _floats(arrays, f"bias{k}", 1)) for k in range(count)]
            mean, scale = _floats(arrays, "mean", 1), _floats(arrays, "scale", 1)
            return cls(layers, mean=mean, scale=scale, **told)
        except InputError as error:
            raise InputError(f"{path} is not a policy that `vigym train` wrote: {error}") from error


def _floats(arrays: Mapping[str, NDArray[Any]], name: str, n_axes: int) -> NDArray[Any]:
    """An array of finite numbers with so many axes."""
    if name not in arrays:
        raise InputError(f"it has no {name}")
    array = arrays[name]
    if array.dtype.kind != "f" or array.ndim != n_axes:
        raise InputError(f"{name} must be floats of {n_axes} axes, got {array.dtype} of shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite")
    return array


def _told(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Arguments of a policy that are no arrays, which the file has as JSON."""
    told = arrays.get("told")
    if told is None or told.dtype.kind != "U" or told.shape or told.nbytes > 4 * MOST_CHARACTERS:
        raise InputError(f"it has no text of at most {MOST_CHARACTERS:,} characters called told")
    try:
        values = json.loads(str(told))
    except (ValueError, RecursionError) as cause:
        raise InputError(f"told is not JSON: {show(str(cause))}") from cause
    kinds = {"activation": str, "clip": float, "squash": bool, "about": dict}
    for name, kind in kinds.items():
        if not isinstance(values, dict) or not isinstance(values.get(name), kind):
            raise InputError(f"told has no {name}, or not of its kind: {show(values)}")
    return {name: values[name] for name in kinds}


def content(path: Path) -> bytes:
    """Return what is in a policy's file, before its checksum; with a warning if it was written when there were none."""
    data = read_regular(path, MOST_BYTES)
    if MARK not in data[-SEAL_SIZE:] and data[-ZIP_END_SIZE:].startswith(ZIP_END):
        warnings.warn(f"{path} has no checksum, as policies of earlier versions of vigym", stacklevel=3)
        return data
    return unsealed(data)


def committed(env_id: str) -> Path:
    """Path of the policy that vigym brings along for an environment, if it has one."""
    return Path(str(files("vigym.assets"))) / "policies" / f"{env_id}.npz"


def learned(env_id: str) -> LearnedPolicy:
    """The policy that vigym brings along; InputError if there is none."""
    path = committed(env_id)
    if not path.exists():
        raise InputError(f"vigym brings no learned policy for {env_id}; `vigym train {env_id}` makes one")
    return LearnedPolicy.load(path)
