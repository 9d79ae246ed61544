"""Controls of all environments: efforts on joint axes, forces and torques on bodies, targets of drives.

A `Simulator` has one `Controls`. It knows which controls there are, checks what a user passes, cuts efforts to their
limits and writes controls to the lanes, for one step or as tracks for every step of a rollout.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.compiled import compiled, direct
from vigym.engine.errors import InputError
from vigym.engine.lanes import Lanes, Track
from vigym.engine.model import Model, limit_of
from vigym.engine.rotation import Array
from vigym.engine.validation import batch, count


class Control(NamedTuple):
    """A kind of control.

    on_bodies: acts on bodies, or else on free joint axes
    of_drive: followed by drives, and kept until another one is given; all others are zero in a step without them
    """

    on_bodies: bool = False
    of_drive: bool = False


CONTROLS = {
    "effort": Control(),
    "force": Control(on_bodies=True),
    "torque": Control(on_bodies=True),
    "target": Control(of_drive=True),
    "target_velocity": Control(of_drive=True),
}
MOMENTARY = frozenset(name for name, control in CONTROLS.items() if not control.of_drive)


def named(*values: ArrayLike | None) -> dict[str, ArrayLike]:
    """Controls by name, given in the order of CONTROLS; without those that are None."""
    return {name: value for name, value in zip(CONTROLS, values, strict=True) if value is not None}


def shape_of(value: ArrayLike) -> tuple[int, ...] | None:
    """Shape of what will be an array; None if it is ragged, and cannot be one."""
    try:
        return np.shape(value)
    except Exception:  # also of a foreign `__array__`
        return None


@compiled
def cut(values, most):
    """Cut values (num_envs, k) to +-most; False if one of them is not finite."""
    finite = True
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            value = values[i, k]
            finite = finite and abs(value) < np.inf
            values[i, k] = max(min(value, most[i, k]), -most[i, k])
    return finite


@compiled
def enter(values, field):
    """Write values (num_envs, k) to a field (groups, lanes, k)."""
    lanes = field.shape[1]
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            field[i // lanes, i % lanes, k] = values[i, k]


class Desk:
    """Memory of one control of all environments, (num_envs, *shape), on its way to a field of the lanes.

    cut: cut it to a limit (num_envs, k), and tell whether it is finite; enter: write it to the field
    """

    def __init__(self, num_envs: int, shape: tuple[int, ...], rows: Array) -> None:
        flat = np.zeros((num_envs, int(np.prod(shape))))
        self.values, self.unlimited = flat.reshape(num_envs, *shape), np.full(flat.shape, np.inf)
        field = rows.reshape(*rows.shape[:2], flat.shape[1])
        self.cut: Callable[[Array], bool] = partial(direct(cut, flat, flat), flat)
        self.enter: Callable[[], None] = partial(direct(enter, flat, field), flat, field)


class Controls:
    """The controls of the environments in `lanes`, a batch of `model`.

    nonzero: controls of the last step that may differ from zero, and are not kept
    clamps: whether some efforts are cut to a limit before a step
    """

    def __init__(self, model: Model, lanes: Lanes) -> None:
        self._lanes = lanes
        self._shapes = {
            name: (model.n_bodies, 3) if control.on_bodies else (model.n_axes,) for name, control in CONTROLS.items()
        }
        self._driven = model.driven_axes
        self._has_drives = bool((model.per_axis("kp") > 0).any() or (model.per_axis("kd") > 0).any())
        self.clamps = bool((np.isfinite(model.per_axis("effort_limit")) & ~self._driven).any())
        self.nonzero = MOMENTARY
        self._desks: dict[str, Desk] = {}  # made when first used
        self._limit: Array | None = None  # see `effort_limit`; looked up when it is needed

    def restored(self) -> None:
        """Take note that the lanes were written over: any control may differ from zero now, and limits are others."""
        self.nonzero = MOMENTARY
        self.limited()

    def limited(self) -> None:
        """Take note that effort limits may have changed."""
        self._limit = None

    def effort_limit(self) -> Array:
        """Limits to which efforts are cut before a step, (num_envs, n_axes); infinite where there is none, and where a
        drive acts: there, the kernels cut the sum of effort and drive."""
        if self._limit is None:
            self._limit = np.where(self._driven, np.inf, limit_of(self._lanes.values("effort_limit")))
        return self._limit

    def checked(self, given: Mapping[str, ArrayLike]) -> list[Track]:
        """The controls of one step, (num_envs, ...) or alike for all, checked; for `write`."""
        return [self._laid(name, value) for name, value in given.items()]

    def write(self, tracks: Sequence[Track]) -> None:
        """Write the controls of the next step."""
        self.clear(but=[track.field for track in tracks])
        for field, array in tracks:
            desk = self._desks.get(field)
            if desk is not None and array is desk.values:
                desk.enter()
            else:
                self._lanes.set(field, array)

    def tracks(self, given: Mapping[str, ArrayLike], steps: int) -> list[Track]:
        """The controls of every step of a rollout, (steps, num_envs, ...) or (num_envs, ...), checked; see `clear`."""
        tracks, num_envs = [], self._lanes.num_envs
        for name, value in given.items():
            shape = self._shape(name)
            if shape_of(value) == shape:  # alike for all
                value = np.broadcast_to(np.asarray(value), (num_envs, *shape))
            tracks.append(self._track(name, batch(value, name, steps, (num_envs, *shape), InputError)))
        return tracks

    def clear(self, but: Iterable[str]) -> None:
        """Set efforts, forces and torques to zero, `but` those that are written next."""
        kept = MOMENTARY.intersection(but)
        for name in self.nonzero - kept:
            self._lanes.zero(name)
        self.nonzero = kept

    def count_steps(self, given: Mapping[str, ArrayLike], steps: int | None) -> int:
        """Steps of a rollout: `steps`, or as many as the first control of shape (steps, num_envs, ...) has."""
        if steps is not None:
            return count(steps, "steps")
        for name, value in given.items():
            found = shape_of(value)
            if found is None:
                return 1  # `tracks` raises the error
            if len(found) == 2 + len(self._shapes[name]):
                return count(found[0], f"the number of steps in {name}")
        raise InputError(
            "a rollout needs a number of steps: pass `steps=`, or a control of shape (steps, num_envs, ...)"
        )

    def _shape(self, name: str) -> tuple[int, ...]:
        """Shape of a control in one environment; InputError if nothing here takes that control."""
        if CONTROLS[name].of_drive and not self._has_drives:
            raise InputError(
                f"{name} has no effect: there is no drive; give a joint kp or kd before it is simulated (mechanism."
                f"set_drive, load_urdf(kp=..., kd=...)), or omit {name}"
            )
        return self._shapes[name]

    def _laid(self, name: str, value: ArrayLike) -> Track:
        """A control of one step, checked and within its limits, on its desk if it is an array of numbers."""
        shape, n = self._shape(name), self._lanes.num_envs
        if type(value) is np.ndarray and value.dtype.kind in "biuf" and value.shape in ((n, *shape), shape):
            desk = self._desks.get(name)
            if desk is None:
                desk = self._desks[name] = Desk(n, shape, self._lanes.writable(name))
            np.copyto(desk.values, value)
            if desk.cut(self.effort_limit() if name == "effort" and self.clamps else desk.unlimited):
                return Track(name, desk.values)
        return self._track(name, batch(value, name, n, shape, InputError))

    def _track(self, name: str, value: Array) -> Track:
        """The field of a checked control, and its values; efforts within their limits."""
        if name == "effort" and self.clamps:
            limit = self.effort_limit()
            value = np.maximum(np.minimum(value, limit), -limit)
        return Track(name, value)
