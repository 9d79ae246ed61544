"""Derivatives of the last step that the transposed solves of linearised.py do not know, compiled: one direction of the
inputs after the other; see kernels/differentials.py.

It covers everything but the shapes of contacts as inputs, which gradients.py does.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vigym.engine import inputs
from vigym.engine.controls import CONTROLS
from vigym.engine.kernels import jit
from vigym.engine.kernels.differentials import differentiate
from vigym.engine.kernels.gradient_fields import differential_store
from vigym.engine.kernels.store import exchanged
from vigym.engine.kernels.twofold import Twofold
from vigym.engine.lanes import LANES, Lanes
from vigym.engine.linearised import BEFORE, Flow, Linearised
from vigym.engine.model import Options
from vigym.engine.parameters import OF_COLLIDERS
from vigym.engine.recalled import recall_contacts
from vigym.engine.rotation import Array
from vigym.engine.twin import Stepped
from vigym.engine.workers import Plan

Integers = NDArray[np.int64]

OF_COPY = ("real", "room", "columns_of")  # fields that are not an environment's

_differentiate = jit.kernel(differentiate)


class Followed(Linearised):
    """Directions of the inputs of a step, followed to the state after it.

    Environments whose bodies may touch have contacts of their own: they come one at a time, their directions in lanes
    of `lanes`, which are a copy."""

    flags = ()

    def __init__(self, sim: Stepped) -> None:
        self.model, self.source = sim.model, sim._lanes
        self.alone = sim.model.features.touches
        options = Options(sim.dt, sim.tolerance, sim.smoothing)
        self.lanes = Lanes(sim.model, options, LANES, 1, sim.compiled) if self.alone else sim._lanes
        self.states = self.lanes.store
        self.before = exchanged(self.states, [(name, f"old_{name}") for name in (*BEFORE, "struck")])
        features, sizes, width = sim.model.features, sim.model.sizes, self.lanes.lanes
        known = {*inputs.FIELDS, *CONTROLS} - inputs.OF_SHAPES.keys() - set(OF_COLLIDERS)
        seeds = sum(inputs.size(sim.model, name) for name in known)
        self.scratch = [differential_store(features, sizes, width, seeds) for _ in self.lanes.scratch]
        self.twins = [(Twofold(self.before), Twofold(store)) for store in self.scratch]
        for store, (state, scratch) in zip(self.scratch, self.twins, strict=True):
            store.dual_state[0], store.dual_scratch[0] = state.address, scratch.address
            store.dual_numbers[0], store.states[0] = state.numbers, self.states.slab.ctypes.data
            store.seeds[0], store.row[0] = store.seed.ctypes.data, self.states.slab.itemsize * width
            store.pitch[0], store.n_numbers[0] = self.states.slab.strides[0], self.states.slab.shape[1] // width
        self._written: set[str] = set()

    def jacobians(self, names: Sequence[str], envs: Integers) -> dict[str, Array]:
        """Derivatives of the environments `envs` by the inputs `names`, (len(envs), 12 n_bodies + n_due, numbers), of
        the next state, then of impulses of which a rebound is due after the step."""
        others = [name for name in names if name != "state"]
        counts = [self._rows if "state" in names else 0, *(inputs.size(self.model, name) for name in others)]
        directions = np.eye(sum(counts) + 1)[:, :-1]  # the last one is that of nothing
        bodies, seeds = np.zeros((len(directions), self._rows)), directions[:, counts[0] :]
        bodies[:, : counts[0]] = directions[:, : counts[0]]
        moved = self._moved(others, bodies[:, None], seeds[:, None], envs)
        columns = np.moveaxis(moved[:-1] - moved[-1], 0, -1)
        found = dict(zip(["state", *others], np.split(columns, np.cumsum(counts)[:-1], axis=-1), strict=True))
        return {name: found[name] for name in names}

    def change(self, changes: Mapping[str, Array], envs: Integers) -> Array:
        """Changes of the next state (len(envs), 12 n_bodies) with those (num_envs, numbers) of inputs."""
        others = [name for name in changes if name != "state"]
        none = np.zeros((self.source.num_envs, self._rows))
        parts = changes.get("state", none), np.concatenate([none[:, :0], *(changes[name] for name in others)], -1)
        bodies, seeds = (np.stack([part, np.zeros_like(part)]) for part in parts)
        moved = self._moved(others, bodies, seeds, envs)
        return (moved[0] - moved[1])[:, : self._rows]

    @property
    def _rows(self) -> int:
        return 12 * self.model.n_bodies

    @property
    def _due(self) -> int:
        return inputs.size(self.model, "due_impulse")

    def _moved(self, names: Sequence[str], bodies: Array, seeds: Array, envs: Integers) -> Array:
        """Changes of the next state (directions, len(envs), 12 n_bodies + n_due) along directions of the state and of
        the inputs `names`, (directions, num_envs, numbers) or (directions, 1, numbers)."""
        slots = np.array([slot for name in names for slot in self._slots(name)], np.int64)
        for store in self.scratch:
            store.n_seeds[0] = len(slots)
            store.slot[0, : len(slots)] = slots
        if not self.alone:
            return self._follow(bodies, seeds, envs)
        turns = -(-len(bodies) // LANES)
        found = []
        for env in envs:
            self._load(int(env))
            own = [part[:, env if part.shape[1] > 1 else 0] for part in (bodies, seeds)]
            rest = turns * LANES - len(bodies)
            own = [np.pad(part, ((0, rest), (0, 0))).reshape(turns, LANES, part.shape[-1]) for part in own]
            found.append(self._follow(own[0], own[1], np.arange(LANES)))
            found[-1] = found[-1].reshape(turns * LANES, -1)[: len(bodies)]
        return np.stack(found, 1)

    def _load(self, env: int) -> None:
        """Take the state of one environment into all lanes, and its contacts into their slots."""
        for name in self.states.fields:
            if name not in OF_COPY:
                value = self.source.row(name, env)
                self.lanes.set(name, np.broadcast_to(value, (LANES, *value.shape)))
        store = self.scratch[0]
        recall_contacts(self.source, env, self.lanes.constants[0], self.states[0], store[0])
        for _, scratch in self.twins:
            scratch.grow()

    def _follow(self, bodies: Array, seeds: Array, envs: Integers) -> Array:
        """The same for environments of `lanes`, one direction a turn."""
        num_envs, turns = self.lanes.num_envs, len(bodies)
        wanted = np.zeros((num_envs, 1))
        wanted[envs] = 1.0
        moved = np.zeros((turns, num_envs, self._rows + self._due))
        after = [Flow("after_dot", moved[..., : self._rows])]
        after += [Flow("due_dot", moved[..., self._rows :])] if self._due else []
        inward = {"wanted": wanted[None], "before_dot": bodies} | ({"seed": seeds} if seeds.shape[-1] else {})
        flows = [Flow(name, np.broadcast_to(part, (turns, num_envs, part.shape[-1]))) for name, part in inward.items()]
        self._run(self._follow_plan, differentiate, turns, flows, after, {})
        return moved[:, envs]

    def _slots(self, name: str) -> list[int]:
        """The numbers of an input among those of a group's states."""
        store, found = self.before, []
        for field, entity, column in inputs.entries(self.model, name):
            start = store.table[0, store.columns[field]] - store.slab.ctypes.data
            first = start // (store.slab.itemsize * store.lanes)
            found.append(int(first) + entity * int(np.prod(store.fields[field][2][1:-1], dtype=int)) + column)
        return found

    @cached_property
    def _following(self) -> Plan:
        return self._plan(_differentiate)

    def _follow_plan(self) -> Plan:
        return self._following
