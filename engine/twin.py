"""Kernels and memory of a simulator, once more, for steps that it has made before."""

from typing import Any, Protocol

from vigym.engine.controls import Controls
from vigym.engine.lanes import Lanes
from vigym.engine.model import Model, Options


class Stepped(Protocol):
    """Interface that derivatives of a step need: a `Simulator`, or a `Twin` of one."""

    dt: float
    tolerance: float
    smoothing: float
    num_envs: int
    model: Model
    compiled: bool
    _lanes: Lanes
    _controls: Controls
    _get: Any


class Twin:
    """Environments of the same mechanism as those of `sim`, with states of their own.

    dt: length of the steps, which may change (see retraced.py)
    """

    def __init__(self, sim: Stepped, num_envs: int) -> None:
        self.model, self.num_envs, self.compiled = sim.model, num_envs, sim.compiled
        self.tolerance, self.smoothing, self.dt = sim.tolerance, sim.smoothing, sim.dt
        options = Options(sim.dt, sim.tolerance, sim.smoothing)
        self._lanes = Lanes(sim.model, options, num_envs, len(sim._lanes.scratch), sim.compiled)
        self._controls = Controls(sim.model, self._lanes)
        self._get = self._lanes.get

    def set_length(self, dt: float) -> None:
        """Have further steps take so long."""
        self.dt = dt
        self._lanes.constants.dt[...] = dt
