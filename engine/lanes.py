"""The buffers of all environments: SIMD lanes inside, arrays (num_envs, ...) outside; and the call of the kernel."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.engine.kernels import jit, layout
from vigym.engine.kernels.collision import entries, growth
from vigym.engine.kernels.step import publish, step
from vigym.engine.kernels.threads import WORD
from vigym.engine.model import Model, Options
from vigym.engine.parts import first_part, parts
from vigym.engine.rotation import Array
from vigym.engine.turn import Turn
from vigym.engine.workers import Plan

LANES = 4  # environments side by side in one SIMD register (AVX2); 8 were slower

_step, _publish = jit.kernel(step), jit.readout(publish)

Indices = NDArray[np.int64]


class Track(NamedTuple):
    """A field at every step: (steps, num_envs, n, k), or (steps, num_envs, n) if it has one column."""

    field: str
    array: Array


class Lanes:
    """Constants, states and scratch memory of `num_envs` environments in groups of `lanes`, and the threads' shares.

    steps: that the last call has made, in all environments but those that failed
    turn, readers: for whoever writes into the state, and for those who only read but need the scratch memory for it:
    they wait for each other
    """

    def __init__(self, model: Model, options: Options, num_envs: int, num_threads: int, compiled: bool) -> None:
        if compiled:
            jit.check_enabled()
        self.lanes = 1 if model.crowded else LANES
        groups = -(-num_envs // self.lanes)
        sizes, features = model.sizes, model.features
        self.num_envs, self.compiled = num_envs, compiled
        self.constants = model.constants(options)
        self.store = layout.state_store(features, sizes, self.lanes, groups)
        threads = min(num_threads, groups)
        self.scratch = [layout.scratch_store(features, sizes, self.lanes) for _ in range(threads)]
        if features.touches:
            self._grower = growth.grower(self.store, self.scratch)
            for thread, scratch in enumerate(self.scratch):
                scratch.thread[0], scratch.more[0] = thread, ctypes.cast(self._grower, ctypes.c_void_p).value
                scratch.entries[0] = entries.addresses(model.hulls.asked) if compiled else 0
        self._job = self.constants, self.store, self.scratch[0], 0, groups
        self.is_published = False  # the published fields belong to the state that is there
        self.steps = self._clock = 0  # of the last call, and of all
        self._begun = np.zeros(num_envs, np.int64)  # the clock when each environment was set
        self.turn, self.readers = Turn(), RLock()
        self._first_part = first_part(groups, model.n_bodies + model.n_contacts)
        self._direct = self._first_part if compiled and threads == 1 else 0  # steps in one call, without a plan
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
        return rows.copy().reshape(len(rows) * self.lanes, *rows.shape[2:])[: self.num_envs]

    def live(self, name: str) -> Array:
        """A view of a field, (groups, lanes, n, k), or (groups, lanes) of a single number; not to be written to."""
        view = self._rows[name].view()
        view.flags.writeable = False
        return view

    def writable(self, name: str) -> Array:
        """The same, to be written to."""
        return self._rows[name]

    def values(self, name: str) -> Array:
        """A copy of a field that has one column, (num_envs, n)."""
        return self.get(name)[..., 0]

    def published(self, name: str) -> Array:
        """A copy of a field that contacts publish."""
        if not self.is_published:
            self.publish()
        return self.get(name)

    def row(self, name: str, env: int) -> Array:
        """A copy of a field of one environment, (n, k)."""
        return self._rows[name][divmod(env, self.lanes)].copy()

    def set(self, name: str, value: Array) -> None:
        """Write (num_envs, n, k), or (num_envs, n) if the field has one column."""
        rows = self._rows[name]
        full, rest = divmod(self.num_envs, self.lanes)
        if full:
            rows[:full] = value[: full * self.lanes].reshape(full, self.lanes, *rows.shape[2:])
        if rest:
            rows[full, :rest] = value[full * self.lanes :].reshape(rest, *rows.shape[2:])

    def groups_of(self, env: Indices) -> Indices:
        """Numbers of the lane groups that have the environments `env`, each once."""
        return env // self.lanes if len(env) == 1 else np.unique(env // self.lanes)

    def put(self, env: Indices, **fields: Array | float) -> None:
        """Write (len(env), n, k), or what can be broadcast to that, into fields of the environments `env`."""
        group, lane = np.divmod(env, self.lanes)
        where: Any = (group, lane)
        if len(env) == 1:  # a slice takes a quarter of the time
            where = int(group[0]), slice(int(lane[0]), int(lane[0]) + 1)
        for name, value in fields.items():
            self._rows[name][where] = value

    def memory(self, group: int) -> dict[str, Array]:
        """Return what a lane group remembers of contacts between bodies: fields (contacts, numbers, lanes); empty
        without."""
        fields = self.store.grown[group]
        return {name: fields[name] for name in self.store.growing["memory"].floats} if fields else {}

    def forget(self, env: Indices) -> None:
        """Forget the contacts between the bodies of the environments `env`."""
        if self.store.features.touches:
            for group, lane in zip(*np.divmod(env, self.lanes), strict=True):
                self.memory(group)["memory_key"][:, 0, lane] = 0.0

    def elapsed(self) -> Indices:
        """Steps since each environment was made or set (num_envs,)."""
        return self._clock - self._begun

    def restart(self, env: Indices) -> None:
        """Count the steps of the environments `env` from here."""
        self._begun[env] = self._clock

    def saved(self) -> bytes:
        """Everything that changes: the slab, elapsed steps, then what lane groups remember of contacts, each with its
        number."""
        parts = [self.store.without_room().tobytes(), self.elapsed().tobytes()]
        for group in range(self.store.groups if self.store.features.touches else 0):
            memory = self.memory(group)
            there = memory["memory_key"] > 0
            used = int(there.any((1, 2)).sum())
            # beyond the end of a lane's list is what an earlier step left there
            own = [np.where(there[:used], field[:used], 0.0) for field in memory.values()]
            parts += [np.int64(used).tobytes(), *(field.tobytes() for field in own)]
        return b"".join(parts)

    def fits(self, data: bytes) -> bool:
        """Return whether these bytes are as many as `saved` returns."""
        start = self.store.slab.nbytes + self._begun.nbytes
        for group in range(self.store.groups if self.store.features.touches else 0):
            size = 8 * sum(int(np.prod(field.shape[1:])) for field in self.memory(group).values())
            start += 8 + size * int.from_bytes(data[start : start + 8], "little")
        return start == len(data)

    def restore(self, data: bytes) -> None:
        """Go back to what `saved` returned."""
        start = self.store.slab.nbytes
        self.store.slab[...] = np.frombuffer(data[:start]).reshape(self.store.slab.shape)
        self._begun = self._clock - np.frombuffer(data, np.int64, self.num_envs, start)
        start += self._begun.nbytes
        for group in range(self.store.groups if self.store.features.touches else 0):
            used = int.from_bytes(data[start : start + 8], "little")
            start += 8
            self.store.grow("memory", group, used + 1)
            for field in self.memory(group).values():
                size = used * int(np.prod(field.shape[1:])) * 8
                field[:used] = np.frombuffer(data[start : start + size]).reshape(used, *field.shape[1:])
                field[used:] = 0.0
                start += size
        self.store.tell_room()

    def zero(self, name: str) -> None:
        """Set a field to zero in all environments."""
        getattr(self.store, name)[...] = 0.0

    def run(self, repeat: int, resumed: bool = False) -> None:
        """Advance all environments by `repeat` steps; resumed: as part of the call that the last run began.

        An interrupt leaves whole steps, `steps` of them; many steps are made in parts, between which it is heard.
        """
        self.is_published = False
        if repeat <= self._direct:
            run = self._run
            # before the call: an interrupt is heard after it
            self.steps = self.steps + repeat if resumed else repeat
            self._clock += repeat
            run(repeat, resumed)
            return
        advance = self._share if self.compiled else self._run_uncompiled
        for done, size in parts(repeat, self._first_part if self.compiled else 1):
            advance(size, resumed or done > 0)

    def _run_uncompiled(self, steps: int, resumed: bool) -> None:
        before = self.steps if resumed else 0
        with self.undone(np.arange(self.num_envs)), np.errstate(all="ignore"):
            step(self.constants[0], self.store, self.scratch[0][0], 0, self.store.groups, steps, resumed)
            self.steps = before + steps
            self._clock += steps

    def _share(self, steps: int, resumed: bool, script: int = 0) -> None:
        """Make steps with all threads; see `Plan.run`."""
        before = self.steps if resumed else 0
        try:
            self._plan.run(steps, resumed=resumed, script=script)
        finally:
            self.steps = before + self._plan.made
            self._clock += self._plan.made

    @cached_property
    def _run(self) -> Any:
        """The machine code of steps of all groups, called with `repeat` and `resumed`; compiled when first used."""
        return partial(self._step.run, *self._job)

    @cached_property
    def _step(self) -> jit.Code:
        """The machine code of a step for these stores, compiled when it is first asked for."""
        return _step.code(*self._job[:3])

    @cached_property
    def _publish(self) -> Callable[..., None]:
        """The same of what publishes."""
        return _publish.code(*self._job[:3]).run

    def publish(self, env: Indices | None = None) -> None:
        """Write down what the contacts of the environments `env`, or of all, tell of their state."""
        whole = env is None or len(env) == self.num_envs
        spans = [(0, self.store.groups)]
        if env is not None and not whole:
            spans = [(group, group + 1) for group in self.groups_of(env).tolist()]
        with self.readers, self.turn.taken():
            if self.is_published and env is None:
                return
            if self.store.features.contacts:
                for first, last in spans:
                    if self.compiled:
                        self._publish(*self._job[:3], first, last)
                    else:
                        with np.errstate(all="ignore"):
                            publish(self.constants[0], self.store, self.scratch[0][0], first, last)
            self.is_published |= whole

    @contextmanager
    def undone(self, env: Indices, *, always: bool = False) -> Iterator[None]:
        """Undo what a block changes of the environments `env` if it raises (or is interrupted), or `always`."""
        groups = self.groups_of(env)
        slab, is_published = self.store.slab[groups], self.is_published
        memories = [{name: field.copy() for name, field in self.memory(group).items()} for group in groups]
        done = False
        try:
            yield
            done = True
        finally:
            if always or not done:
                self.store.slab[groups], self.is_published = slab, is_published
                self.store.tell_room()
                for group, memory in zip(groups, memories, strict=True):
                    for name, field in memory.items():
                        self.memory(group)[name][: len(field)] = field

    def play(self, steps: int, inward: Sequence[Track], outward: Sequence[Track]) -> None:
        """A call of so many steps, each with what `inward` says before it, and written down in `outward` after it.

        It is made in parts, as in `run`.
        """
        self.is_published = False
        tracks = [track._replace(array=np.ascontiguousarray(track.array)) for track in (*inward, *outward)]
        head = [self.num_envs, self.lanes, self.store.slab.strides[0], len(inward), len(outward)]
        places = [self.place(track) for track in tracks]
        for done, size in parts(steps, self._first_part):
            script = list(head)
            for (column, field, array, *sizes), track in zip(places, tracks, strict=True):
                script += column, field, array + done * track.array.strides[0], *sizes
            numbers = np.array(script, np.int64)
            self._share(size, done > 0, numbers.ctypes.data)

    def place(self, track: Track) -> tuple[int, ...]:
        """A field of the states in a script, see kernels/threads.py."""
        start, end, _ = self.store.fields[track.field]
        n = (end - start) // self.lanes
        return -1, self.store.slab.ctypes.data + WORD * start, track.array.ctypes.data, n, n, n * self.num_envs

    @cached_property
    def _plan(self) -> Plan:
        scratch = [store.address for store in self.scratch]
        addresses = self.constants.address, self.store.address, scratch
        return Plan(self._step.address, *addresses, self.store.groups)
