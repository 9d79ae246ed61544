"""Steps that were cut (kernels/step.py), made once more part by part: their derivatives are the product of the parts'.

The parts are found again as the kernel finds them: as long as possible, a power of two of ticks, never longer than the
one before. Each is solved alone, as a whole step of that length. If they do not lead where the step has led, they are
not its parts, and it has no derivatives.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vigym.engine.gradients import BEFORE
from vigym.engine.inputs import KEPT
from vigym.engine.kernels.contact import TICKS
from vigym.engine.rotation import Array
from vigym.engine.twin import Stepped, Twin

if TYPE_CHECKING:
    from vigym.engine.derivatives import Derivatives

SAME = 1e-5  # relative; parts that are not those of the step lead elsewhere by far more
ONE = np.zeros(1, np.int64)  # the number of the only environment
OF_TWIN = ("real", "room", "columns_of")  # fields that are not an environment's


@dataclass(frozen=True)
class Parts:
    """Parts of a step of one environment: states after each, as `Lanes.saved` has them, and how long each took."""

    saved: Sequence[bytes]
    lengths: Sequence[float]
    status: Sequence[str]

    def worst(self, found: str) -> str:
        """Status of the whole step: that of the first part without derivatives, or else `found`."""
        return next((status for status in self.status if status not in ("ok", "relaxed")), found)


class Retraced:
    """Parts of steps, and their derivatives; `one` has those of a twin with one environment."""

    def __init__(self, one: "Derivatives") -> None:
        self.one = one

    def parts(self, sim: Stepped, env: int) -> Parts | None:
        """The parts of the last step of environment `env`, or None if they are not found."""
        twin, dt = self.one.sim, sim.dt
        assert isinstance(twin, Twin)
        lanes = twin._lanes
        for name in lanes.store.fields:
            if name not in OF_TWIN:
                lanes.set(name, sim._lanes.row(name, env)[None])
        for name in BEFORE:
            lanes.set(name, lanes.get(f"old_{name}"))
        lanes.set("fresh", np.ones(1))
        lanes.forget(np.arange(1))
        lengths, status, saved = [], [], [lanes.saved()]
        left = stride = TICKS
        while left and stride >= 1.0:
            twin.set_length(dt * stride / TICKS)
            lanes.run(1)
            if lanes.get("converged")[0] and lanes.get("substeps")[0] == 1:
                left -= stride
                lengths.append(twin.dt)
                saved.append(lanes.saved())
                status.append(str(self.one.judged()[0]))
            else:
                lanes.restore(saved[-1])
                stride *= 0.5
        if left or not same(sim, env, twin):
            return None
        return Parts(saved[1:], lengths, status)

    def blocks(self, parts: Parts, names: Sequence[str]) -> dict[str, Array]:
        """Derivatives of the whole step, (12 n_bodies + n_due, numbers) of each input; see `Derivatives.with_due`."""
        twin, one = self.one.sim, self.one
        assert isinstance(twin, Twin)
        rows = one.size("state")
        ahead = np.eye(rows + one.size("due_impulse"))
        found = {name: np.zeros((len(ahead), one.size(name))) for name in names}
        wanted = [*(["due_impulse"] if len(ahead) > rows else []), *(name for name in names if name != "state")]
        wanted = list(dict.fromkeys(wanted))
        for saved, length in zip(reversed(parts.saved), reversed(parts.lengths), strict=True):
            twin._lanes.restore(saved)
            twin.set_length(length)
            if len(ahead) > rows:
                part = {name: value[0] for name, value in one.with_due(["state", *wanted], ONE).items()}
            else:
                part = one.jacobians(["state", *wanted])
            for name in names:
                if name in KEPT:  # before the first part
                    found[name] = ahead @ part[name]
                elif name != "state":
                    found[name] += ahead @ part[name]
            both = [part["state"], part["due_impulse"]] if len(ahead) > rows else [part["state"]]
            ahead = ahead @ np.hstack(both)
        return found | ({"state": ahead[:, :rows]} if "state" in names else {})


def same(sim: Stepped, env: int, twin: Twin) -> bool:
    """Return whether a twin's environment is where environment `env` is."""
    for name in ("x", "q", "v", "w"):
        one, two = sim._lanes.row(name, env), twin._lanes.row(name, 0)
        if not np.allclose(one, two, rtol=0.0, atol=SAME * max(1.0, float(np.abs(one).max()))):
            return False
    return True
