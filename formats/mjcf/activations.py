"""Activations of actuators: states between controls and forces.

    none:         a = ctrl
    integrator:   a' = ctrl
    filter:       a' = (ctrl - a) / time_constant

A force in a step is that of the activation before it, as in MuJoCo; filters are exact for controls that are constant
over a step.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine.errors import InputError
from vigym.engine.validation import Array, batch, chosen, count, number
from vigym.formats.mjcf.notes import Notes

_NONE, _INTEGRATOR, _FILTER, _EXACT = 0, 1, 2, 3  # mjtDyn


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Activation dynamics of a model's actuators (nu,), in the order of ctrl.

    integrates: mask of integrators. constant: time constants of filters, s; 0 for those without a state.
    control_range, range: (nu, 2), of controls and of activations. early: mask of those whose force is that of the
    activation at the end of the step.
    """

    integrates: NDArray[np.bool_]
    constant: Array
    control_range: Array
    range: Array
    early: NDArray[np.bool_]


class Activations:
    """Activations (num_envs, nu) in a batch; each call is a step, takes its controls and returns what acts in it.

    Environments begin anew with `reset(mask)`. `values`: the present ones.
    """

    def __init__(self, dynamics: Dynamics | None, num_envs: int, nu: int, dt: float) -> None:
        self.num_envs, self._nu = count(num_envs, "num_envs"), nu
        self._dynamics, self._dt = dynamics, number(dt, "dt", InputError, above=0.0)
        self.values = np.zeros((num_envs, nu))

    def reset(self, mask: ArrayLike | None = None, values: ArrayLike = 0.0) -> None:
        """Begin anew, with these activations, in the environments that `mask` (num_envs,) chooses."""
        if np.ndim(values) == 0:
            values = np.full(self._nu, values)
        env = chosen(mask, self.num_envs)
        self.values[env] = batch(values, "values", self.num_envs, (self._nu,), InputError)[env]

    def __call__(self, ctrl: ArrayLike) -> Array:
        """Return what acts in this step: activations, or the controls (num_envs, nu) of actuators without a state."""
        given = np.array(batch(ctrl, "ctrl", self.num_envs, (self._nu,), InputError))
        own = self._dynamics
        if own is None:
            return given
        within, before = np.clip(given, *own.control_range.T), self.values.copy()
        with np.errstate(divide="ignore"):
            gain = -np.expm1(-self._dt / own.constant)  # 1 where it is 0
        change = np.where(own.integrates, self._dt * within, gain * (within - before))
        self.values = np.clip(before + change, *own.range.T)
        stateless = ~own.integrates & (own.constant == 0.0)
        return np.where(stateless | own.early, self.values, before)


def has_known_dynamics(model: Any, i: int) -> bool:
    """Return whether the activation of an actuator is one of those above, with a single state."""
    return model.actuator_dyntype[i] in (_NONE, _INTEGRATOR, _FILTER, _EXACT) and model.actuator_actnum[i] <= 1


def read_dynamics(model: Any, names: list[str], control_range: Array, notes: Notes) -> Dynamics | None:
    """Activation dynamics of all actuators; None if none of them has a state."""
    known = np.array([has_known_dynamics(model, i) for i in range(model.nu)], bool)
    kind = np.where(known, model.actuator_dyntype, _NONE)
    if not (kind != _NONE).any():
        return None
    shown = ", ".join(repr(names[i]) for i in np.flatnonzero(kind != _NONE)[:3])
    notes.change(f"activations of actuators ({shown}) act if controls go through `activations(sim)`")
    limited = (np.asarray(model.actuator_actlimited) != 0) & (kind != _NONE)
    endless = np.where((kind == _NONE)[:, None], control_range, [-np.inf, np.inf])
    return Dynamics(
        integrates=kind == _INTEGRATOR,
        constant=np.where((kind == _FILTER) | (kind == _EXACT), np.maximum(model.actuator_dynprm[:, 0], 1e-15), 0.0),
        control_range=control_range,
        range=np.where(limited[:, None], model.actuator_actrange, endless),
        early=np.asarray(model.actuator_actearly) != 0,
    )
