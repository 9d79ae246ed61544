"""A rollout as a function of arrays, and its derivative: what the libraries of this folder share.

Inputs have the names of what they set: "x", "q", "v", "w" of the state before the rollout, controls, parameters.
Outputs have those of `Simulator.rollout`.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.engine import parameters
from vigym.engine.backward import PLACES
from vigym.engine.controls import CONTROLS
from vigym.engine.errors import InputError
from vigym.engine.rollout import READ
from vigym.engine.rotation import Array, multiply
from vigym.engine.simulator import Simulator
from vigym.engine.tape import Tape
from vigym.engine.validation import show, suggestion, words

STATE = ("x", "q", "v", "w")
Arrays = dict[str, Array]


@dataclass(frozen=True)
class Rollout:
    """A rollout of `steps` rows of controls, each for `repeat` time steps.

    shapes: of all inputs, as the function takes them
    read: names of the outputs
    """

    sim: Simulator
    steps: int
    repeat: int
    shapes: Mapping[str, tuple[int, ...]]
    read: Sequence[str]
    overlap: str

    def output_shape(self, name: str) -> tuple[int, ...]:
        """Shape of an output."""
        return self.steps, self.sim.num_envs, *self.sim._lanes.shape(READ[name])

    def run(self, inputs: Arrays, *, gradients: bool = False) -> Arrays:
        """Set what is given of state and parameters, and make the steps."""
        sim = self.sim
        if laws := {name: value for name, value in inputs.items() if name in parameters.FIELDS}:
            sim.set_parameters(**laws)
        if state := {name: value for name, value in inputs.items() if name in STATE}:
            sim.set_state(**state, overlap=self.overlap)
        controls: dict[str, Any] = {name: value for name, value in inputs.items() if name in CONTROLS}
        return sim.rollout(**controls, steps=self.steps, repeat=self.repeat, read=self.read, gradients=gradients)

    def pull(self, tape: Tape, q: Array | None, cotangents: Mapping[str, Array], names: Sequence[str]) -> Arrays:
        """Derivatives by the inputs `names`, from those by the outputs; q: that of the state, if it is an input."""
        sim = self.sim
        wanted = [name for name in names if name not in STATE]
        with sim._turn.taken():
            pulled = sim._backward.pull(tape, cotangents, wanted, None)
        for env in np.flatnonzero((pulled.status != "ok") & (pulled.status != "relaxed"))[:1]:
            warnings.warn(f"environment {env} has no gradients: {pulled.status[env]}", RuntimeWarning, stacklevel=2)
        found = {name: pulled[name] for name in wanted}
        by_state = pulled["state"].reshape(sim.num_envs, -1, 12)
        for name in names:
            if name in STATE:
                found[name] = by_state[..., PLACES[name]]
        if "q" in found and q is not None:  # a rotation vector dth in the body frame is 2 conj(q) dq
            turn = np.concatenate([np.zeros((*found["q"].shape[:-1], 1)), found["q"]], -1)
            found["q"] = 2.0 * multiply(q, turn)
        return found


def rollout_of(
    sim: Simulator,
    given: Mapping[str, tuple[int, ...]],
    steps: int | None,
    repeat: int,
    read: Sequence[str],
    overlap: str,
) -> Rollout:
    """Check the names and shapes of all inputs; those that are alike for all steps, or environments, are widened to
    `Rollout.shapes` by the caller."""
    if not isinstance(sim, Simulator):
        raise InputError(f"sim must be a vigym.Simulator, got {type(sim).__name__}")
    model, envs, n = sim.model, sim.num_envs, sim.model.n_bodies
    blank = {name: np.broadcast_to(0.0, shape) for name, shape in given.items() if name in CONTROLS}
    steps = sim._controls.count_steps(blank, steps)
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in given.items():
        if name in STATE:
            own: tuple[int, ...] = (n, 4 if name == "q" else 3)
            lead: tuple[int, ...] = (envs,)
        elif name in CONTROLS:
            own, lead = (n, 3) if CONTROLS[name].on_bodies else (model.n_axes,), (steps, envs)
        else:
            own, lead = parameters.shape(model, name), (envs,)
        shapes[name] = *lead, *own
        if shape not in [(*lead[k:], *own) for k in range(len(lead) + 1)]:
            raise InputError(f"{name} must have shape {shapes[name]} or {own}, got {shape}")
    return Rollout(sim, steps, repeat, shapes, names_read(read), overlap)


def names_read(read: Sequence[str]) -> list[str]:
    """Names of all outputs: the state, which further steps begin from, and what else is to be read."""
    extra = words([read] if isinstance(read, str) else read, "read", InputError)
    for name in extra:
        if name not in READ:
            raise InputError(f"a rollout cannot read {show(name)}: {suggestion(name, READ)}")
    return list(dict.fromkeys([*STATE, *extra]))


def inputs_of(state: Any, laws: Any, controls: Mapping[str, Any]) -> dict[str, Any]:
    """All inputs by name, checked; None counts as not given."""
    if not isinstance(state, Mapping | None):
        raise InputError(f"state must be a mapping with x, q, v and w, got {show(state)}")
    if not isinstance(laws, Mapping | None):
        raise InputError(f"parameters must be a mapping of names to values, got {show(laws)}")
    found: dict[str, Any] = {}
    if state is not None:
        for name in STATE:
            if name not in state:
                raise InputError(f"state has no {name!r}; a state has x, q, v and w")
            found[name] = state[name]
    for name, value in controls.items():
        if name not in CONTROLS:
            raise InputError(f"there is no control {show(name)}: {suggestion(name, CONTROLS)}")
        if value is not None:
            found[name] = value
    for name, value in (laws or {}).items():
        if name not in parameters.FIELDS:
            raise InputError(f"parameter {show(name)} is unknown; known: {', '.join(parameters.FIELDS)}")
        found[name] = value
    return found
