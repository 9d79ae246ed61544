"""Floating-point operations of a step, counted by running the kernels' source on numbers that count.

Uncompiled kernels are plain Python on NumPy arrays, one number a lane. Here those arrays are `Counted`: every addition,
subtraction, multiplication, division and square root counts one (for one lane, whatever the number of lanes), except
where the compiler does without: with a plain 0 or 1, and where the same has been worked out since something was last
written to memory. Comparisons, selections and signs are free. A fused multiply-add is two.
"""

from typing import Any, ClassVar

import numpy as np

from vigym.benchmarks.runner import Vigym
from vigym.engine.lanes import LANES
from vigym.engine.simulator import Simulator

COSTLY = {np.add, np.subtract, np.multiply, np.divide, np.true_divide, np.sqrt}


class Counted(np.ndarray):
    """An array whose arithmetic is counted in `Counted.operations`; what was `seen` is not counted again."""

    operations = 0
    seen: ClassVar[set[Any]] = set()

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """NumPy asks for this with the result of every operation on such an array."""
        if context is not None and context[0] in COSTLY:
            function, inputs = context[0], context[1][: context[0].nin]
            plain = [value for value in inputs if type(value) in (float, int)]
            if function is np.multiply and 0.0 in plain:
                return 0.0  # as the symbols of the compiler do, so that what it is added to costs nothing
            key = function, *(np.asarray(value).tobytes() for value in inputs)
            if function in (np.add, np.multiply):
                key = function, *sorted(key[1:])
            free = 0.0 in plain or (function is np.multiply and any(abs(value) == 1.0 for value in plain))
            if not free and key not in Counted.seen:
                Counted.operations += array.size // LANES
                if all(np.any(value) for value in inputs):  # zeros may well be those of something else
                    Counted.seen.add(key)
        return array.view(Counted)

    @staticmethod
    def start() -> None:
        """Count from zero."""
        Counted.operations = 0
        Counted.seen.clear()

    def __setitem__(self, index: Any, value: Any) -> None:
        Counted.seen.clear()
        super().__setitem__(index, value)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """np.where and the like give a plain array back; what is done with it counts as well."""
        result = super().__array_function__(function, types, args, options)
        return result.view(Counted) if type(result) is np.ndarray else result


def flops_per_iteration(engine: Vigym, saved: bytes, k: int) -> float:
    """Operations of one environment in step number k, done again from `saved`, by its Newton iterations.

    Lanes of a group iterate together until the last one has converged, so it is the largest number that counts.
    """
    options: dict[str, Any] = {"tolerance": engine.sim.tolerance, "cone": engine.sim.cone}
    sim = Simulator(engine.scene.mechanism, engine.dt, engine.num_envs, **options, compiled=False)
    sim.restore(saved)
    for store in (sim._lanes.store, *sim._lanes.scratch):
        for name in store.fields:
            setattr(store, name, getattr(store, name).view(Counted))
    Counted.start()
    sim.rollout(**engine.controls(k, k + 1), read=())
    return Counted.operations / float(sim.status.iterations.max())
