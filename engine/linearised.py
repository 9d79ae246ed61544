"""Derivatives of the last step in lanes and threads: covectors pulled back, changes pushed forward.

See kernels/linear.py for the method, and gradients.py for the slow way that covers everything else.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vigym.engine.kernels import jit
from vigym.engine.kernels.gradient_fields import gradient_store
from vigym.engine.kernels.linear import is_linearised
from vigym.engine.kernels.pullback import pull_back
from vigym.engine.kernels.pushforward import push_forward
from vigym.engine.kernels.store import exchanged
from vigym.engine.lanes import LANES, Lanes
from vigym.engine.model import Model
from vigym.engine.rotation import Array
from vigym.engine.workers import Plan

BEFORE = ("x", "q", "v", "w", "h0", "angle", "rate")  # kept from before the last step, as old_x, ...
FLAGS = ("anew", "by_parameters", "by_joints")

_pull_back, _push_forward = jit.kernel(pull_back), jit.kernel(push_forward)


class Flow(NamedTuple):
    """A field of the gradient store, or of the states if `of_state`, and its numbers at every turn of a call:
    (turns, num_envs, n), or (turns, n) if they are the same in all environments, n being all of them or the first ones;
    -1 for `order` begins at the end."""

    field: str
    array: Array
    of_state: bool = False
    order: int = 1


class Linearised:
    """Kernels, and the memory that they need, for the derivatives of what is in `lanes`."""

    flags: tuple[str, ...] = FLAGS

    def __init__(self, model: Model, lanes: Lanes) -> None:
        self.lanes, self.states = lanes, lanes.store
        self.before = exchanged(self.states, [(name, f"old_{name}") for name in BEFORE])
        features, sizes = model.features, model.sizes
        self.scratch = [gradient_store(features, sizes, LANES) for _ in lanes.scratch]
        self._written: set[str] = set()  # fields of the last call, which are zero for the next

    @staticmethod
    def covers(model: Model) -> bool:
        """Return whether the kernels know all that a mechanism has."""
        return is_linearised(model.features)

    def shape(self, field: str) -> tuple[int, ...]:
        """Numbers of a field in one environment, (n, k)."""
        return self.scratch[0].fields[field][2][:-1]

    def pull(self, turns: int, inward: Sequence[Flow], outward: Sequence[Flow], **flags: bool) -> None:
        """Pull `turns` covectors back; see kernels/pullback.py."""
        self._run(self._pull_plan, pull_back, turns, inward, outward, flags)

    def push(self, turns: int, inward: Sequence[Flow], outward: Sequence[Flow]) -> None:
        """Push `turns` changes forward; see kernels/pushforward.py."""
        self._run(self._push_plan, push_forward, turns, inward, outward, {})

    def _run(self, plan, function, turns: int, inward, outward, flags: Mapping[str, bool]) -> None:
        for store in self.scratch:
            for name in self.flags:
                getattr(store, name)[...] = float(flags.get(name, False))
            for name in self._written:
                getattr(store, name)[...] = 0.0
        self._written = {flow.field for flow in inward if not flow.of_state}
        if not self.lanes.compiled:
            self._run_uncompiled(function, turns, inward, outward)
            return
        script = [self.lanes.num_envs, LANES, self.states.slab.strides[0], len(inward), len(outward)]
        for flow in (*inward, *outward):
            script += self._place(flow)
        numbers = np.array(script, np.int64)
        plan().run(turns, script=numbers.ctypes.data)

    def _place(self, flow: Flow) -> tuple[int, ...]:
        """A field in a script, see kernels/threads.py."""
        store = self.states if flow.of_state else self.scratch[0]
        start = store.fields[flow.field][0]
        array = flow.array
        n = array.shape[-1]
        per_step = array.strides[0] // 8
        per_env = array.strides[1] // 8 if array.ndim == 3 else 0
        first = array.ctypes.data + (8 * per_step * (len(array) - 1) if flow.order < 0 else 0)
        field = (-1, store.slab.ctypes.data + 8 * start) if flow.of_state else (store.columns[flow.field], 0)
        return *field, first, n, per_env, flow.order * per_step

    def _run_uncompiled(self, function, turns: int, inward, outward) -> None:
        """The same on NumPy, one group after the other."""
        t, envs = self.scratch[0][0], self.lanes.num_envs
        with np.errstate(all="ignore"):
            for g in range(self.states.groups):
                lanes = slice(g * LANES, min(envs, (g + 1) * LANES))
                for turn in range(turns):
                    for flow in inward:
                        self._copy(flow, t, g, turn, lanes, into=True)
                    function(self.lanes.constants[0], self.before, t, g, g + 1, 1, turn > 0)
                    for flow in outward:
                        self._copy(flow, t, g, turn, lanes, into=False)

    def _copy(self, flow: Flow, t, g: int, turn: int, lanes: slice, into: bool) -> None:
        field = getattr(self.states, flow.field)[g] if flow.of_state else getattr(t, flow.field)
        count = lanes.stop - lanes.start
        view = field.reshape(-1, LANES)[: flow.array.shape[-1], :count]
        row = flow.array[turn if flow.order > 0 else len(flow.array) - 1 - turn]
        if into:
            view[...] = (row[lanes] if row.ndim == 2 else np.broadcast_to(row, (count, len(row)))).T
        else:
            row[lanes] = view.T

    def _plan(self, kernel: jit.Kernel) -> Plan:
        code = kernel.code(self.lanes.constants, self.before, self.scratch[0])
        scratch = [store.address for store in self.scratch]
        self._kept = [*getattr(self, "_kept", []), code]  # machine code is freed with the last reference
        addresses = self.lanes.constants.address, self.before.address, scratch
        return Plan(code.address, *addresses, self.states.groups, task=0)

    @cached_property
    def _pulling(self) -> Plan:
        return self._plan(_pull_back)

    @cached_property
    def _pushing(self) -> Plan:
        return self._plan(_push_forward)

    def _pull_plan(self) -> Plan:
        return self._pulling

    def _push_plan(self) -> Plan:
        return self._pushing
