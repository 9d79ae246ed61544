"""The buffers of all environments: SIMD lanes inside, arrays (num_envs, ...) outside; and the call of the kernel."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.engine.kernels import jit, layout
from vigym.engine.kernels.simd import address_of, specialized
from vigym.engine.kernels.step import publish, step
from vigym.engine.kernels.threads import WORD
from vigym.engine.model import Model, Options
from vigym.engine.rotation import Array
from vigym.engine.workers import Plan

LANES = 4  # environments side by side in one SIMD register (AVX2); 8 were slower

_step, _publish = jit.kernel(step), jit.readout(publish)

Indices = NDArray[np.int64]


class Snapshot(NamedTuple):
    """Memory of some lane groups at some time."""

    groups: Indices
    slab: Array
    published: bool


class Track(NamedTuple):
    """A field at every step: (steps, num_envs, n, k), or (steps, num_envs, n) if it is one of its columns."""

    field: str
    array: Array
    column: int | None = None


class Lanes:
    """Constants, states and scratch memory of `num_envs` environments in groups of LANES, and the threads' shares."""

    def __init__(self, model: Model, options: Options, num_envs: int, num_threads: int, compiled: bool) -> None:
        groups = -(-num_envs // LANES)
        sizes, features = model.sizes, model.features
        self.num_envs, self.compiled = num_envs, compiled
        self.constants = model.constants(options)
        self.store = layout.state_store(features, sizes, LANES, groups)
        threads = min(num_threads, groups)
        self.scratch = [layout.scratch_store(features, sizes, LANES) for _ in range(threads)]
        self._job = self.constants, self.store, self.scratch[0], 0, groups
        self._entries: dict[Any, Any] = {}
        self.published = False  # whether what contacts tell is that of the state
        # views of the fields as (groups, lanes, n, k)
        self._rows = {name: np.moveaxis(getattr(self.store, name), -1, 1) for name in self.store.fields}
        for name, value in model.defaults().items():
            getattr(self.store, name)[...] = value[None, ..., None]
        self.store.h0[...] = options.dt
        self.store.q[:, :, 0] = 1.0  # lanes that fill up the last group
        self.store.converged[...] = 1.0
        for name in ("ca", "cb", "la", "lb"):
            getattr(self.store, name)[...] = 1.0
        self.set("real", np.ones(num_envs))

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a field in one environment, (n, k), or (n,) if it has one column."""
        n, k = self._rows[name].shape[2:]
        return (n,) if k == 1 else (n, k)

    def get(self, name: str) -> Array:
        """A copy of a field, (num_envs, n, k), or (num_envs,) of a single number."""
        rows = self._rows[name]
        return rows.copy().reshape(len(rows) * LANES, *rows.shape[2:])[: self.num_envs]

    def told(self, name: str, env: int | None = None) -> Array:
        """A copy of a field that contacts publish, of all environments or of one."""
        if not self.published:
            self.publish()
        return self.get(name) if env is None else self.row(name, env)

    def row(self, name: str, env: int) -> Array:
        """A copy of a field of one environment, (n, k)."""
        return self._rows[name][divmod(env, LANES)].copy()

    def set(self, name: str, value: Array, env: Indices | None = None, column: int | None = None) -> None:
        """Write (len(env), n, k) into the environments `env`, (num_envs, n, k) into all, or (..., n) into a column."""
        rows = self._rows[name] if column is None else self._rows[name][..., column]
        if env is not None:
            rows[env // LANES, env % LANES] = value
            return
        full, rest = divmod(self.num_envs, LANES)
        rows[:full] = value[: full * LANES].reshape(full, LANES, *rows.shape[2:])
        if rest:
            rows[full, :rest] = value[full * LANES :]

    def put(self, env: Indices, **fields: Array | float) -> None:
        """Write (len(env), n, k), or what fits there, into several fields of the environments `env`."""
        group, lane = np.divmod(env, LANES)
        for name, value in fields.items():
            self._rows[name][group, lane] = value

    def zero(self, name: str) -> None:
        """Set a field to zero in all environments."""
        getattr(self.store, name)[...] = 0.0

    def run(self, repeat: int, resumed: bool = False) -> None:
        """Advance all environments by `repeat` steps; resumed: as part of the call that the last run began."""
        self.published = False
        if not self.compiled:
            with np.errstate(all="ignore"):
                step(self.constants[0], self.store, self.scratch[0][0], 0, self.store.groups, repeat, resumed)
            return
        entry = self._entry(_step)
        if len(self.scratch) > 1:
            self._plan.run(repeat, resumed=resumed)
        else:
            entry(*self._job, repeat, resumed)

    def _entry(self, kernel: Any) -> Any:
        """The machine code of a kernel for these stores, compiled when it is first asked for."""
        if kernel not in self._entries:
            self._entries[kernel] = specialized(kernel, *self._job[:3])
        return self._entries[kernel]

    def publish(self, env: Indices | None = None) -> None:
        """Write down what the contacts of the environments `env`, or of all, tell of their state."""
        groups, whole = self.store.groups, env is None or len(env) == self.num_envs
        self.published |= whole
        if not self.store.features.contacts:
            return
        if not self.compiled:
            with np.errstate(all="ignore"):
                publish(self.constants[0], self.store, self.scratch[0][0], 0, groups)
            return
        entry = self._entry(_publish)
        some = [] if env is None or whole else np.unique(env // LANES).tolist()
        for first, last in [(0, groups)] if whole else [(group, group + 1) for group in some]:
            entry(*self._job[:3], first, last)

    def snapshot(self, env: Indices) -> Snapshot:
        """All that belongs to the environments `env` (and their neighbours), for `put_back`."""
        groups = np.unique(env // LANES)
        return Snapshot(groups, self.store.slab[groups], self.published)

    def put_back(self, snapshot: Snapshot) -> None:
        """Undo all changes since the snapshot."""
        self.store.slab[snapshot.groups], self.published = snapshot.slab, snapshot.published

    def play(self, steps: int, inward: Sequence[Track], outward: Sequence[Track]) -> None:
        """A call of so many steps, each with what `inward` says before it, and written down in `outward` after it."""
        self.published = False
        tracks = [track._replace(array=np.ascontiguousarray(track.array)) for track in (*inward, *outward)]
        stride = self.store.slab.strides[0]
        script = [self.num_envs, LANES, stride, len(inward), len(outward)]
        for track in tracks:
            script += self._place(track)
        numbers = np.array(script, np.int64)
        self._plan.run(steps, script=numbers.ctypes.data)

    def _place(self, track: Track) -> tuple[int, int, int, int]:
        """Address of the field in the first group, and of the array; numbers of an environment, how far apart there."""
        start, _, (n, k, _) = self.store.fields[track.field]
        address = self.store.slab.ctypes.data + WORD * (start + LANES * (track.column or 0))
        return address, track.array.ctypes.data, *((n * k, 1) if track.column is None else (n, k))

    @cached_property
    def _plan(self) -> Plan:
        scratch = [store.address for store in self.scratch]
        addresses = self.constants.address, self.store.address, scratch
        return Plan(address_of(_step, *self._job[:3]), *addresses, self.store.groups)
