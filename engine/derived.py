"""Derivatives of a step as users get them: Jacobians by name, and covectors by name."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import InputError
from vigym.engine.rotation import Array


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
