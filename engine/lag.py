"""Delay and first-order lag of commands on their way to motors: what stands between a controller and its drives."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine.errors import InputError
from vigym.engine.rotation import Array
from vigym.engine.validation import batch, chosen, count, number, show

WHOLE = 1e-6  # of a step by which a delay may miss a whole number of them
MOST_STEPS = 10_000  # of a delay


class Lag:
    """Commands (num_envs, n) that arrive `delay` later, and then are followed with a time constant.

        y' = (u(t - delay) - y) / time_constant,    within a step: y += (1 - exp(-dt/time_constant)) (u - y)

    Call it once before every step, with the command of that step; it returns what arrives, for `sim.step`:

        lag = vigym.Lag(sim.num_envs, len(sim.axis_names), sim.dt, delay=0.01, time_constant=0.02)
        sim.step(target=lag(target))

    num_envs, n: shape of commands. dt: s, between two calls. delay: s, a whole number of dt. time_constant: s, with 0
    commands are followed at once. start: the command before the first call. Both are numbers, or (n,) or (num_envs, n).
    """

    def __init__(
        self,
        num_envs: int,
        n: int,
        dt: float,
        *,
        delay: float = 0.0,
        time_constant: ArrayLike = 0.0,
        start: ArrayLike = 0.0,
    ) -> None:
        self.num_envs, self.n = count(num_envs, "num_envs"), count(n, "n")
        dt, delay = number(dt, "dt", InputError, above=0.0), number(delay, "delay", InputError, at_least=0.0)
        steps = round(delay / dt)
        if abs(steps - delay / dt) > WHOLE or steps > MOST_STEPS:
            raise InputError(f"delay must be a whole number of dt = {dt:g} s, at most {MOST_STEPS}, got {delay:g} s")
        constants = self._filled(time_constant, "time_constant")
        if (constants < 0.0).any():
            raise InputError(f"time_constant must be >= 0, got {show(time_constant)}")
        with np.errstate(divide="ignore"):
            self._gain = -np.expm1(-dt / constants)  # 1 where it is 0
        self._waiting = np.zeros((steps, num_envs, n))
        self._value, self._oldest = np.zeros((num_envs, n)), np.zeros(num_envs, int)  # a place in the queue
        self.reset(start=start)

    def reset(self, mask: ArrayLike | None = None, start: ArrayLike = 0.0) -> None:
        """Begin anew in the environments that `mask` (num_envs,) chooses, as if `start` had always been the command."""
        env, value = chosen(mask, self.num_envs), self._filled(start, "start")
        self._waiting[:, env] = value[env]
        self._value[env] = value[env]

    def __call__(self, command: ArrayLike) -> Array:
        """The command (num_envs, n) that arrives in this step."""
        return self.advance(self._filled(command, "command"))

    def advance(self, command: Array, live: NDArray[np.bool_] | None = None) -> Array:
        """The same, of a checked command (num_envs, n), in the environments that are `live` (num_envs,), or in all."""
        env = slice(None) if live is None else live
        arrived = command
        if len(self._waiting):
            number = np.arange(self.num_envs)
            arrived = self._waiting[self._oldest, number]
            self._waiting[self._oldest[env], number[env]] = command[env]
            self._oldest[env] = (self._oldest[env] + 1) % len(self._waiting)
        self._value[env] += (self._gain * (arrived - self._value))[env]
        return self._value.copy()

    def _filled(self, value: ArrayLike, name: str) -> Array:
        if np.ndim(value) == 0:
            value = np.full(self.n, value)
        return np.array(batch(value, name, self.num_envs, (self.n,), InputError))
