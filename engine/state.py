"""State of environments: pose, velocity, and status of the last step. Copies: writing into them changes nothing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.engine.rotation import Array


class State(NamedTuple):
    """Bodies in the order added. A pose and the velocity that led to it.

    x: (num_envs, n_bodies, 3) centre of mass, world, m
    q: (num_envs, n_bodies, 4) unit quaternion, scalar first, body to world
    v: (num_envs, n_bodies, 3) velocity, world, m/s
    w: (num_envs, n_bodies, 3) angular velocity, BODY frame, rad/s
    """

    x: Array
    q: Array
    v: Array
    w: Array


class Told(NamedTuple):
    """Report of the kernels on the last call; see `Status`."""

    converged: NDArray[np.bool_]
    iterations: NDArray[np.int64]
    residual: Array
    substeps: NDArray[np.int64]
    relaxed: NDArray[np.int64]


class Status(Told):
    """Outcome of the last step, one entry for each environment.

    converged: False if a step could not be solved, even in 256ths; the environment is then where it was before
        that step, and takes no part in the rest of the call (of `step(repeat=...)` or `rollout`).
    iterations: Newton iterations, over all steps and substeps of the call
    residual: largest relative residual at the end, see `tolerance` of `Simulator`
    substeps: 1, or into how many parts the steps of the call were cut; 0 if the last one could not be solved
    relaxed: how many of them could only be solved with a bound on friction that is less than `friction` times the
        normal force in some contact. All else holds: gaps, joints, friction against the motion.
    steps: time steps of the call: as many as it was asked for, or those before an interrupt; 0 once a state was set.
        A property beside the tuple of the others
    """

    made: int = 0  # steps of the call

    @property
    def steps(self) -> NDArray[np.int64]:
        """Time steps of the call, (num_envs,)."""
        was_set = self.converged & (self.substeps == 0)
        return np.where(was_set, 0, self.made)


# What the kernels tell of a call: a field of the state store for each entry of `Told`, and its type
STATUS = {"converged": bool, "iterations": int, "residual": float, "substeps": int, "relaxed": int}
