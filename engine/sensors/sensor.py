"""The common part of sensors: noise, a constant error, delay, and where readings begin anew."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine.errors import InputError
from vigym.engine.lag import Lag
from vigym.engine.rotation import Array
from vigym.engine.simulator import Simulator
from vigym.engine.validation import body_number, chosen, count, number, show, unit_quaternion, vector

MOST_SEEDS = 2**62


class Sensor(ABC):
    """A sensor of a simulator's robot: call it once after each step, or every few steps.

        reading = sensor()          # (num_envs, ...)

    It can tell where an environment was set since (its time went back, or has not gone on); an environment that was
    set, and stepped beyond the time of the last reading, needs `reset`. Read twice between two steps, it tells the same
    twice.

    noise: standard deviation of each number of a reading; bias: that of a constant error, drawn when readings begin.
    delay: s, a whole number of intervals. interval: s between two readings; a step of the simulator if left out.
    seed: of noise and bias; environment i has the stream of seed + i, as environments of Gymnasium do.
    """

    def __init__(
        self,
        sim: Simulator,
        shape: tuple[int, ...],
        *,
        noise: ArrayLike = 0.0,
        bias: ArrayLike = 0.0,
        delay: float = 0.0,
        interval: float | None = None,
        seed: int = 0,
    ) -> None:
        self.sim, self.shape = sim, shape
        self._noise, self._bias = (self._spread(value, name) for value, name in ((noise, "noise"), (bias, "bias")))
        interval = sim.dt if interval is None else number(interval, "interval", InputError, above=0.0)
        self._lag = Lag(sim.num_envs, int(np.prod(shape)), interval, delay=delay)
        self._reading, self._error = np.zeros((2, sim.num_envs, *shape))
        self._time = np.full(sim.num_envs, np.inf)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Begin the streams of noise and bias anew."""
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < MOST_SEEDS:
            raise InputError(f"seed must be an integer from 0 to 2**62, got {show(seed)}")
        self._rngs = [np.random.default_rng(int(seed) + i) for i in range(self.sim.num_envs)]

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Begin anew in the environments that `mask` (num_envs,) chooses, as if they had always been as they are."""
        self._time[chosen(mask, self.sim.num_envs)] = np.inf

    def __call__(self) -> Array:
        """The reading after the last step (num_envs, ...)."""
        time = self.sim.time
        began = (time < self._time) | (self.sim._get("fresh") > 0.0)
        live = began | (time > self._time)
        if live.any():
            exact = self._measure(began, np.where(began, 0.0, time - np.where(began, 0.0, self._time)))
            self._time = time
            flat = exact.reshape(len(time), -1)
            if began.any():
                self._error[began] = self._drawn(self._bias, np.flatnonzero(began))
                self._lag.reset(began, flat)
            late = self._lag.advance(flat, live).reshape(exact.shape)
            late += self._error
            if self._noise.any():
                env = np.flatnonzero(live)
                late[env] += self._drawn(self._noise, env)
            self._reading[live] = late[live]
        return self._reading.copy()

    @abstractmethod
    def _measure(self, began: Array, passed: Array) -> Array:
        """The exact reading (num_envs, ...).

        began: (num_envs,), where readings begin anew. passed: (num_envs,) s since the last one."""

    def _drawn(self, spread: Array, env: NDArray[np.int64]) -> Array:
        if not spread.any():
            return np.zeros((len(env), *self.shape))
        return np.array([spread * self._rngs[i].standard_normal(self.shape) for i in env])

    def _spread(self, value: ArrayLike, name: str) -> Array:
        size = np.ndim(value) if isinstance(value, (int, float, list, tuple, np.ndarray)) else 0
        found = vector(value, self.shape if size else (), name, InputError)
        if (found < 0.0).any():
            raise InputError(f"{name} must be >= 0, got {show(value)}")
        return np.broadcast_to(found, self.shape).copy()


def mount(sim: Simulator, body: str, point: ArrayLike, orientation: ArrayLike) -> tuple[int, Array, Array]:
    """Number of a body, a point (3,) and an orientation (4,) in its frame, checked."""
    i = body_number(body, sim.model.bodies)
    place = vector(point, (3,), "point", InputError)
    return i, place, unit_quaternion(orientation, "orientation", InputError)


def numbers_of(names: Any, known: list[str], what: str) -> list[int]:
    """Numbers of the names among those known; InputError for others."""
    given = [names] if isinstance(names, str) else names
    try:
        found = list(given)
    except Exception as cause:
        raise InputError(f"{what} must be names, got {show(names)}") from cause
    for name in found:
        if not isinstance(name, str) or name not in known:
            raise InputError(f"{what}: {show(name)} is unknown; known: {', '.join(map(repr, known[:10])) or 'none'}")
    count(len(found), f"number of {what}")
    return [known.index(name) for name in found]
