"""Derivatives of a step as users get them: Jacobians by name, covectors by name, and their memory, used again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from sys import getrefcount

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import InputError
from vigym.engine.rotation import Array
from vigym.engine.validation import show


class Pulled(dict[str, Array]):
    """Covectors by name: "state" (num_envs, 12 n_bodies), "effort" (num_envs, n_efforts), and the inputs asked for.

    status: as in `Gradients`
    """

    status: NDArray[np.str_]


@dataclass(frozen=True)
class Gradients:
    """Derivatives of the next state; 12 numbers a body: x (3), rotation vector in the body frame (3), v (3), w (3).
    Arms of joints that were even (kernels/arms.py) count as even.

    state: (num_envs, 12 n_bodies, 12 n_bodies) by the state before the step
    effort: (num_envs, 12 n_bodies, n_efforts) by the efforts
    gradients["friction"], ...: (num_envs, 12 n_bodies, *shape) by other inputs asked for; dict(gradients) has all
    status: (num_envs,) of str. "ok"; "relaxed": friction was bounded by other forces than the law asks for, of which
    the derivatives know nothing. All others have derivatives of zero: "none", no step was made; "failed"; "parts", it
    was made in parts, which were not found again; "several", the call made many steps, without `gradients=True`;
    "lowered", a rebound was lowered; "rebound", of bodies that touch each other; "uncovered", only in joint
    coordinates: a step in parts, with a rebound, or with even arms of joints

    In joint coordinates, a state is: x and rotation vector of the bodies without a joint, joint positions; then v and
    w of these bodies, joint velocities. Its size takes the place of 12 n_bodies.
    """

    state: Array
    effort: Array
    others: dict[str, Array] = field(default_factory=dict)
    status: NDArray[np.str_] = field(default_factory=lambda: np.array([]))
    memory: dict[str, Array] = field(default_factory=dict, repr=False)  # for `out`

    def keys(self) -> list[str]:
        """Return the names of the inputs."""
        return ["state", "effort", *self.others]

    def __getitem__(self, name: str) -> Array:
        if name in self.keys():
            return self.others[name] if name in self.others else getattr(self, name)
        raise InputError(f"derivatives by {name!r} were not asked for: sim.gradients({name!r}) gives them")

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())


def finished(found: dict[str, Array], status: NDArray[np.str_], out: Pulled | None) -> Pulled:
    """Bars and status, in the memory of `out` if there is any."""
    pulled = Pulled(found)
    pulled.status = status
    if out is None:
        return pulled
    if not isinstance(out, Pulled):
        raise InputError(f"out must be what an earlier call returned, got {show(out)}")
    written(pulled, out)
    out.status = status
    return out


def references(memory: Mapping[str, Array]) -> list[int]:
    """Return how many references there are to each array, views of it among them."""
    return [getrefcount(array) for array in memory.values()]


UNSEEN = references({"": np.zeros(1)})[0]  # of an array that nobody has but the memory


def reused(out: Gradients, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """The memory of earlier derivatives by the same inputs."""
    if not isinstance(out, Gradients):
        raise InputError(f"out must be what an earlier call returned, got {show(out)}")
    if {name: array.shape for name, array in out.memory.items()} != dict(shapes):
        raise InputError(f"out must have derivatives by the same inputs: {', '.join(shapes)}")
    return out.memory


def written(found: Mapping[str, Array], out: Mapping[str, Array]) -> Mapping[str, Array]:
    """Write arrays into those that are given, which must fit."""
    if not isinstance(out, Mapping) or out.keys() != found.keys():
        raise InputError(f"out must have arrays for {', '.join(found)}, got {show(out)}")
    for name, value in found.items():
        there = out[name]
        if type(there) is not np.ndarray or there.shape != value.shape or there.dtype != float:
            raise InputError(f"out[{name!r}] must be a float64 array of shape {value.shape}, got {show(there)}")
        there[...] = value
    return out
