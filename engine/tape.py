"""Steps of one call, written down for their derivatives: what was before the first one, and after each.

Mechanisms that the compiled kernels know (linearised.py) need the state and the unknowns of every step; of others, all
that a simulator saves is kept.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.gradients import BEFORE, UNKNOWNS
from vigym.engine.kernels.impact import SOLVES
from vigym.engine.lanes import Lanes, Track
from vigym.engine.linearised import Linearised
from vigym.engine.model import Model
from vigym.engine.rotation import Array

TOLD = ("converged", "substeps", "relaxed", "even", "rebounds")
COUNTED = ("substeps", "relaxed")  # which add up in a call
OF_REBOUNDS = ("factor", *(f"{phase.prefix}_{name}" for phase in SOLVES if phase.prefix for name in ("V", *UNKNOWNS)))


class Tape:
    """Steps of a call.

    controls: those of every step, by name, (steps, num_envs, *shape)
    repeat: steps with the same controls
    blocks: derivatives of single steps that backward passes have found, for further ones
    rows: fields (steps + 1, num_envs, numbers) before the first step and after each; a few of them if whole states are
    kept, as bytes, in `saves`
    """

    def __init__(self, model: Model, lanes: Lanes, steps: int, controls: Sequence[Track], repeat: int) -> None:
        self.steps, self.repeat, self.num_envs = steps, repeat, lanes.num_envs
        self.controls = {name: array.copy() for name, array in controls}
        self.is_whole = not Linearised.covers(model)
        self.saves: list[bytes] = []
        self.blocks: dict[tuple[object, ...], tuple[Any, Any, dict[str, Array]]] = {}  # derivatives of single steps
        self._lanes, self._slab = lanes, lanes.store.slab.copy()
        names: tuple[str, ...] = (*TOLD, "q")
        if not self.is_whole:
            names = (*BEFORE, *UNKNOWNS, *TOLD, *(OF_REBOUNDS if model.features.bounce else ()))
        sizes = {name: lanes.get(name)[0].size for name in names}
        self.rows = {name: np.empty((steps + 1, self.num_envs, size)) for name, size in sizes.items() if size}
        for name, array in self.rows.items():
            array[0] = 0.0 if name in COUNTED else lanes.get(name).reshape(array[0].shape)

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        arrays = *self.rows.values(), *self.controls.values(), self._slab
        return sum(array.nbytes for array in arrays) + sum(map(len, self.saves))

    @property
    def block_bytes(self) -> int:
        """Memory of the derivatives of single steps."""
        return sum(value.nbytes for _, _, found in self.blocks.values() for value in found.values())

    @property
    def tracks(self) -> list[Track]:
        """Return the tracks that a rollout writes."""
        return [Track(name, array[1:]) for name, array in self.rows.items()]

    @property
    def recorders(self) -> list[Any]:
        """Return the recorders that see every step of a rollout."""
        return [self] if self.is_whole else []

    def frame(self, steps: int) -> None:
        """Keep all of a state."""
        self.saves.append(self._lanes.saved())

    def end(self) -> None:
        """Take note that all steps are there."""
        for name in COUNTED:
            self.rows[name][1:] = np.diff(self.rows[name], axis=0)

    def told(self, name: str) -> NDArray[np.float64]:
        """Return the report of every step, (steps, num_envs)."""
        return self.rows[name][1:, :, 0]

    def special(self) -> NDArray[np.bool_]:
        """The steps of which compiled kernels do not give the derivatives, (steps, num_envs)."""
        if self.is_whole:
            return self.told("converged") > 0
        odd = (self.told("substeps") != 1) | (self.told("even") > 0) | (self.told("rebounds") > 0)
        if "struck" in self.rows:  # on which the next step depends
            odd |= (self.after("struck") > 0).any(-1)
        return odd & (self.told("converged") > 0)

    def rewind(self, lanes: Lanes) -> None:
        """Put what does not change in the call into other lanes."""
        if not self.is_whole:
            lanes.store.slab[...] = self._slab

    def load(self, lanes: Lanes, step: int) -> None:
        """Put what one step has left into other lanes, as if it had been the last one."""
        lanes.steps, lanes.is_published = 1, False
        if self.is_whole:
            lanes.restore(self.saves[step])
        else:
            for name, array in self.rows.items():
                lanes.set(name, array[step + 1])
            for name in BEFORE:
                if name in self.rows:
                    lanes.set(f"old_{name}", self.rows[name][step])
            for name, control in self.controls.items():
                lanes.set(name, control[step])
        for name in COUNTED:
            lanes.set(name, self.rows[name][step + 1])

    def quaternions(self) -> Array:
        """Orientations after every step, (steps, num_envs, n_bodies, 4)."""
        return self.rows["q"][1:].reshape(self.steps, self.num_envs, -1, 4)

    def before(self, name: str) -> Array:
        """A field before every step."""
        return self.rows[name][:-1]

    def after(self, name: str) -> Array:
        """A field after every step."""
        return self.rows[name][1:]
