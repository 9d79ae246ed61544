"""Learned actuators: a small network of plain arrays that tells the effort of a motor from what its joint has done.

    inputs = [position_scale errors, velocity_scale velocities],   error = target - position
    effort = effort_scale network(inputs)

`history` says of which calls errors and velocities are seen: (0, 1, 2) are this one and the two before. One network
serves all joints, and all layers but the last have the activation behind them.
"""

import io
import json
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine.compiled import compiled
from vigym.engine.durable import write_whole
from vigym.engine.errors import InputError
from vigym.engine.files import read_regular
from vigym.engine.npz import read_arrays
from vigym.engine.validation import Array, batch, choice, chosen, count, number, show

ACTIVATIONS = ("relu", "elu", "tanh", "softsign")
MOST_BYTES, MOST_HISTORY = 2**24, 1000  # of a file; calls
_SCALES = ("position_scale", "velocity_scale", "effort_scale")
_KEYS = {"activation", "history", *_SCALES}


@compiled
def layer(inputs, weights, bias, kind, out):
    """Write the activation of inputs (k, n_in) weights (n_in, n_out) + bias (n_out,) to out; kind: -1 for none."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = bias[j]
            for k in range(weights.shape[0]):
                total += inputs[i, k] * weights[k, j]
            if kind == 0:
                total = max(total, 0.0)
            elif kind == 1 and total < 0.0:
                total = np.expm1(total)
            elif kind == 2:
                total = np.tanh(total)
            elif kind == 3:
                total = total / (1.0 + abs(total))
            out[i, j] = total


class ActuatorNetwork:
    """A network of layers (weights (n_in, n_out), bias (n_out,)), from 2 len(history) inputs to one effort, N or N m.

    activation: "relu", "elu", "tanh" or "softsign", behind all layers but the last. history: calls that are seen, 0 for
    the present one. position_scale, velocity_scale: of the inputs; effort_scale: of what the last layer says.
    """

    def __init__(
        self,
        layers: Sequence[tuple[ArrayLike, ArrayLike]],
        *,
        activation: str = "softsign",
        history: Sequence[int] = (0,),
        position_scale: float = 1.0,
        velocity_scale: float = 1.0,
        effort_scale: float = 1.0,
    ) -> None:
        self.activation = choice(activation, ACTIVATIONS, "activation", InputError)
        self.history = _calls(history)
        scales = zip(_SCALES, (position_scale, velocity_scale, effort_scale), strict=True)
        self.position_scale, self.velocity_scale, self.effort_scale = (
            number(value, name, InputError) for name, value in scales
        )
        width = 2 * len(self.history)
        self.layers: list[tuple[Array, Array]] = []
        for k, (weights, bias) in enumerate(layers):
            own, offset = _floats(weights, f"weights{k}", 2), _floats(bias, f"bias{k}", 1)
            if own.shape[0] != width or offset.shape != own.shape[1:]:
                raise InputError(
                    f"weights{k} must be ({width}, n) and bias{k} (n,), got shapes {own.shape} and {offset.shape}"
                )
            width = own.shape[1]
            self.layers.append((own, offset))
        if width != 1 or not self.layers:
            raise InputError(f"the last layer must have one output, the effort; it has {width}")

    def __call__(self, errors: Array, velocities: Array) -> Array:
        """Efforts (k,) for errors and velocities (k, len(history)), each row by itself."""
        x = np.concatenate([self.position_scale * errors, self.velocity_scale * velocities], -1)
        kind = ACTIVATIONS.index(self.activation)
        for j, (weights, bias) in enumerate(self.layers):
            out = np.empty((len(x), len(bias)))
            layer(x, weights, bias, kind if j < len(self.layers) - 1 else -1, out)
            x = out
        return self.effort_scale * x[:, 0]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the .npz file that `load` reads: weights0, bias0, weights1, ... and a JSON text, `told`."""
        arrays: dict[str, Any] = {}
        for k, (weights, bias) in enumerate(self.layers):
            arrays |= {f"weights{k}": weights, f"bias{k}": bias}
        told = {name: getattr(self, name) for name in sorted(_KEYS)}
        file = io.BytesIO()
        np.savez(file, told=np.array(json.dumps(told)), **arrays)
        write_whole(Path(path), file.getvalue())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "ActuatorNetwork":
        """Read a file that `save` wrote; InputError if it is something else. No code in it is run."""
        try:
            arrays = read_arrays(read_regular(path, MOST_BYTES), MOST_BYTES)
            told = _told(arrays.pop("told", None))
            layers: list[tuple[ArrayLike, ArrayLike]] = []
            while f"weights{len(layers)}" in arrays:
                k = len(layers)
                layers.append((arrays.pop(f"weights{k}"), arrays.pop(f"bias{k}", np.zeros(0))))
            if arrays:
                raise InputError(f"it has an array {show(min(arrays))}, which no layer takes")
            return cls(layers, **told)
        except InputError as error:
            raise InputError(f"{fspath(path)} is not an actuator's network: {error}") from error


class LearnedActuator:
    """Motors of n joints in a batch, which a network stands for. Call it before each step; it returns the efforts:

        motors = vigym.LearnedActuator("motors.npz", sim.num_envs, len(sim.axis_names))
        sim.step(effort=motors(target, sim.joint_positions(), sim.joint_velocities()))

    network: an `ActuatorNetwork`, or the path of its file. Environments begin anew with `reset(mask)`, as if they had
    always been as they are in the next call.
    """

    def __init__(self, network: ActuatorNetwork | str | PathLike[str], num_envs: int, n: int) -> None:
        if isinstance(network, (str, PathLike)):
            network = ActuatorNetwork.load(network)
        if not isinstance(network, ActuatorNetwork):
            raise InputError(f"network must be an ActuatorNetwork or the path of its file, got {show(network)}")
        self.network, self.num_envs, self.n = network, count(num_envs, "num_envs"), count(n, "n")
        calls = 1 + max(network.history)
        # errors and velocities of the last calls, the latest first; 1 where there were none
        self.memory: dict[str, NDArray[np.float64]] = {
            "actuator_errors": np.zeros((num_envs, calls, n)),
            "actuator_velocities": np.zeros((num_envs, calls, n)),
            "actuator_begins": np.ones(num_envs),
        }

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Begin anew in the environments that `mask` (num_envs,) chooses."""
        self.memory["actuator_begins"][chosen(mask, self.num_envs)] = 1.0

    def __call__(self, target: ArrayLike, positions: ArrayLike, velocities: ArrayLike) -> Array:
        """Efforts (num_envs, n), N or N m, for targets, joint positions and velocities (num_envs, n) or (n,)."""
        given = {"target": target, "positions": positions, "velocities": velocities}
        aim, phi, rate = (batch(value, name, self.num_envs, (self.n,), InputError) for name, value in given.items())
        begins = self.memory["actuator_begins"] > 0.0
        seen = []
        for name, value in (("actuator_errors", aim - phi), ("actuator_velocities", rate)):
            past = self.memory[name]
            past[:, 1:] = past[:, :-1]
            past[:, 0] = value
            past[begins] = value[begins, None]
            rows = past[:, list(self.network.history)]
            seen.append(np.moveaxis(rows, 1, -1).reshape(self.num_envs * self.n, -1))
        self.memory["actuator_begins"][:] = 0.0
        return self.network(*seen).reshape(self.num_envs, self.n)


def _floats(value: Any, name: str, n_axes: int) -> Array:
    try:
        array = np.ascontiguousarray(value, float)
    except (TypeError, ValueError) as cause:
        raise InputError(f"{name} must be numbers of {n_axes} axes, got {show(value)}") from cause
    if array.ndim != n_axes or not np.isfinite(array).all():
        raise InputError(f"{name} must be finite numbers of {n_axes} axes, got shape {array.shape}")
    return array


def _calls(history: Any) -> tuple[int, ...]:
    """Numbers of calls, checked."""
    good = isinstance(history, (tuple, list)) and 0 < len(history) <= MOST_HISTORY
    if not good or any(type(k) is not int or not 0 <= k < MOST_HISTORY for k in history):
        raise InputError(
            f"history must be integers from 0 to {MOST_HISTORY - 1}, such as (0, 1, 2), got {show(history)}"
        )
    return tuple(history)


def _told(text: Any) -> Mapping[str, Any]:
    """Arguments of a network that are no arrays, which the file has as JSON."""
    if text is None or text.dtype.kind != "U" or text.shape or text.nbytes > 40_000:
        raise InputError("it has no text called told")
    try:
        values = json.loads(str(text))
    except (ValueError, RecursionError) as cause:
        raise InputError("its text called told is not JSON") from cause
    if not isinstance(values, dict) or set(values) != _KEYS:
        raise InputError(f"told must have {', '.join(sorted(_KEYS))}")
    return values
