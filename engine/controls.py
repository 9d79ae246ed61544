"""What acts on the bodies in a step: checked, and taken over; for one step, or for each step of a rollout."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.errors import InputError
from vigym.engine.lanes import Track
from vigym.engine.rotation import Array
from vigym.engine.validation import batch, count, show, suggestion

if TYPE_CHECKING:
    from vigym.engine.simulator import Simulator

FORCES = ("effort", "force", "torque")  # zero in a step that is not given them
TARGETS = ("target", "target_velocity")  # kept until others are given
READ = {"x": "x", "q": "q", "v": "v", "w": "w", "joint_positions": "angle", "joint_velocities": "rate"}


def named(*inputs: ArrayLike | None) -> dict[str, ArrayLike]:
    """Controls by name, those that are given."""
    return {name: value for name, value in zip(FORCES + TARGETS, inputs, strict=True) if value is not None}


def shape(sim: "Simulator", name: str) -> tuple[int, ...]:
    """Of a control of one environment."""
    return (sim.model.n_bodies, 3) if name in ("force", "torque") else (sim.model.n_axes,)


def take(sim: "Simulator", given: Mapping[str, ArrayLike]) -> None:
    """Take over controls (num_envs, ...), once all of them are checked."""
    checked = {name: batch(value, name, sim.num_envs, shape(sim, name), InputError) for name, value in given.items()}
    if not sim._driven and not checked.keys().isdisjoint(TARGETS):
        raise InputError("no drive follows a target here: give joints kp or kd, or leave targets out")
    for name in sim._acting - checked.keys():
        sim._lanes.zero(name)
        sim._acting.remove(name)
    for name, value in checked.items():
        field, array, column = to_track(sim, name, value)
        sim._lanes.set(field, array, column=column)


def to_track(sim: "Simulator", name: str, value: Array) -> Track:
    """Where a control goes to, (..., num_envs, n, k), or (..., num_envs, n) if that is a column."""
    if name in TARGETS:
        return Track("target", value, TARGETS.index(name))
    sim._acting.add(name)
    if name == "effort":
        return Track(name, np.maximum(np.minimum(value, sim._effort_limit), -sim._effort_limit), 0)
    return Track(name, value)


def rollout(
    sim: "Simulator",
    given: Mapping[str, ArrayLike],
    steps: int | None,
    read: Sequence[str],
    out: Mapping[str, Array] | None,
) -> dict[str, Array]:
    """See `Simulator.rollout`."""
    steps = length(sim, given, steps)
    shapes = {name: (steps, sim.num_envs, *part(sim, name)) for name in names(read if out is None else list(out))}
    outputs = {name: np.empty(found) if out is None else room(name, out[name], found) for name, found in shapes.items()}
    checked = {
        name: batch(value, name, steps, (sim.num_envs, *shape(sim, name)), InputError) for name, value in given.items()
    }
    sim._look()
    for name, value in checked.items():
        if any(np.may_share_memory(value, array) for array in outputs.values()):
            checked[name] = value.copy()
    take(sim, {name: value[0] for name, value in checked.items()})
    inward = [to_track(sim, name, value) for name, value in checked.items()]
    outward = [Track(READ[name], array, 0 if array.ndim == 3 else None) for name, array in outputs.items()]
    if sim.compiled and not sim.recorders:
        sim._lanes.play(steps, inward, outward)
        return outputs
    for k in range(steps):
        for field, array, column in inward:
            sim._lanes.set(field, array[k], column=column)
        sim._lanes.run(1, resumed=k > 0)
        for recorder in sim.recorders:
            recorder.frame(1)
        for field, array, column in outward:
            array[k] = sim._lanes.get(field)[..., slice(None) if column is None else column]
    return outputs


def names(read: Sequence[str]) -> Sequence[str]:
    """What is read on the way, checked."""
    read = (read,) if isinstance(read, str) else tuple(read)
    for name in read:
        if name not in READ:
            raise InputError(f"a rollout cannot read {show(name)}: {suggestion(str(name), READ)}")
    return read


def part(sim: "Simulator", name: str) -> tuple[int, ...]:
    """Shape of what is read, of one environment."""
    return (sim.model.n_bodies, 4 if name == "q" else 3) if name in "xqvw" else (sim.model.n_axes,)


def room(name: str, array: Array, shape: tuple[int, ...]) -> Array:
    """An array to be written to, checked."""
    good = type(array) is np.ndarray and array.dtype == float and array.shape == shape
    if not (good and array.flags.c_contiguous and array.flags.writeable):
        raise InputError(f"out[{name!r}] must be an array (float64, contiguous) of shape {shape}, got {show(array)}")
    return array


def length(sim: "Simulator", given: Mapping[str, ArrayLike], steps: int | None) -> int:
    """Steps of a rollout: as asked for, or as many as the first control that leads with them has."""
    if steps is not None:
        return count(steps, "steps")
    for name, value in given.items():
        try:
            found = np.shape(value)
        except ValueError:  # ragged: who converts it, says so
            return 1
        if len(found) == 2 + len(shape(sim, name)):
            return count(found[0], f"the number of steps in {name}")
    raise InputError("how many steps? give a control that leads with them, (steps, num_envs, ...), or steps=")
