"""Tasks whose observations, rewards and ends one compiled loop over the environments works out.

A file of such a task reads top to bottom: functions of one environment (what is sensed, each term of the reward, the
end), the loop `judge` that calls them, the class. Every environment has a record, `now`, whose fields have names; so
have the numbers that an environment was made with, `settings`.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from vigym.engine.compiled import direct, inlined
from vigym.engine.simulator import Simulator
from vigym.envs.task import Array, Flags, Indices, Step, Task

FIELDS = {"joints": "angle", "rates": "rate", "gaps": "gap", "slips": "slip"}  # of the simulator, by other names


class Physics(NamedTuple):
    """Read-outs for one environment; of all, with the two axes (groups, lanes) of `Simulator.live` first.

    x, q, v, w: (n_bodies, 3 or 4) as in `State`; joints, rates: (n_axes,) positions and velocities of joints;
    gaps, slips: (n_contacts,) m and m/s; iterations, converged: of the solver
    """

    x: Any
    q: Any
    v: Any
    w: Any
    joints: Any
    rates: Any
    gaps: Any
    slips: Any
    iterations: Any
    converged: Any


def physics_of_all(sim: Simulator) -> Physics:
    """Live views of what the simulator tells; gaps and slips are those of the last `publish`."""
    views = (sim.live(FIELDS.get(name, name)) for name in Physics._fields)
    return Physics(*(view[..., 0] if view.shape[3:] == (1,) else view for view in views))


@inlined
def physics_of(every, n):
    """Read-outs of the simulator for environment n."""
    lanes = every.x.shape[1]
    group, lane = n // lanes, n % lanes
    return Physics(
        every.x[group, lane],
        every.q[group, lane],
        every.v[group, lane],
        every.w[group, lane],
        every.joints[group, lane],
        every.rates[group, lane],
        every.gaps[group, lane],
        every.slips[group, lane],
        every.iterations[group, lane],
        every.converged[group, lane],
    )


@inlined
def write(out, first, values):
    """Write values to out[first], out[first + 1], ...; the index after the last of them."""
    for k in range(len(values)):
        out[first + k] = values[k]
    return first + len(values)


@inlined
def write_maximal(out, physics):
    """Write the state of every body, as `Task.maximal` orders it; the index after the last number."""
    k = 0
    for b in range(len(physics.x)):
        k = write(out, k, physics.x[b])
        k = write(out, k, physics.q[b])
        k = write(out, k, physics.v[b])
        k = write(out, k, physics.w[b])
    return k


@inlined
def sum_of_squares(values):
    """Sum of the squares of some numbers, one after the other."""
    total = 0.0
    for k in range(len(values)):
        total += values[k] * values[k]
    return total


@inlined
def sense_solver(me, physics):
    """Status of the physics of the step."""
    me.solver_iterations = int(physics.iterations)
    me.solver_failed = physics.converged == 0.0


def numbers(**values: float | bool) -> np.ndarray:
    """Numbers by name, as a structured array of one record, for compiled loops."""
    kinds = [(name, bool if isinstance(value, (bool, np.bool_)) else float) for name, value in values.items()]
    return np.array([tuple(values.values())], record_type(kinds))


def record_type(kinds: list[Any]) -> np.dtype:
    """Type of records with these fields, aligned; its fields are attributes also where loops are not compiled."""
    return np.dtype((np.record, np.dtype(kinds, align=True)))


class Told(NamedTuple):
    """Views of what records tell: names and columns (num_envs, k) of plain numbers, and all other fields."""

    numbers: list[str]
    columns: Array
    others: dict[str, Any]


Declared = Mapping[str, Any]  # name -> type of a number, or (type, shape)


class CompiledTask(Task):
    """A task with a record for each environment, `now`, which a compiled loop fills.

    Subclasses declare its fields, in addition to those they inherit, and return the loop from `judge`:
    infos: told after resets and steps; outcomes: told after steps; terms: of the reward, told after steps, with
    "reward_" in front of their names; senses: not told
    Numbers of the configuration are in `settings`, see `numbers`.
    """

    infos: ClassVar[Declared] = {}
    outcomes: ClassVar[Declared] = {"solver_iterations": np.int64, "solver_failed": bool}
    terms: ClassVar[tuple[str, ...]] = ()
    senses: ClassVar[Declared] = {"reward": float, "terminated": bool}
    memory: ClassVar[tuple[str, ...]] = ("observation",)
    fixed: ClassVar[tuple[str, ...]] = ("settings", "now")  # fields of `now` are part of states, see `remembered`

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.reward_names = [f"reward_{name}" for name in self.terms]
        self.info_names, self.outcome_names = list(self._fields("infos")), list(self._fields("outcomes"))
        self.step_names = [*self.info_names, *self.outcome_names, *self.reward_names]
        fields = self._fields("infos") | self._fields("outcomes")
        fields |= dict.fromkeys(self.reward_names, float) | self._fields("senses")
        kinds = [(name, *kind) if isinstance(kind, tuple) else (name, kind) for name, kind in fields.items()]
        kinds.sort(key=lambda kind: kind[1:] != (float,))  # plain numbers first, in the order declared: see `told`
        self.now = np.zeros(self.num_envs, record_type(kinds))
        self.observation = np.zeros((self.num_envs, self.observation_size))
        self._touches = self.sim.model.n_contacts > 0

    def _fields(self, kind: str) -> dict[str, Any]:
        """Fields that the task and all that it inherits from declare."""
        return {name: field for cls in reversed(type(self).__mro__) for name, field in vars(cls).get(kind, {}).items()}

    @abstractmethod
    def judge(self) -> tuple[Callable, tuple[Any, ...]]:
        """The compiled loop, and its arguments: arrays that stay where they are, or tuples of such. One more follows
        them, the numbers of the environments. The loop fills `observation` and `now`, `reward` and `terminated` too."""

    # -------------------------------------------------------------------------------------------- what follows from it
    def sense(self, env: Indices) -> None:
        if self._touches:
            self.sim.publish()
        self._judge(env if env is self.everyone else np.ascontiguousarray(env, np.int64))

    def observe(self) -> Array:
        return self.observation

    def rewards(self) -> dict[str, Array]:
        return {name: self.now[name] for name in self.reward_names}

    def terminated(self) -> Flags:
        return self._judgement.terminated

    def info(self) -> dict[str, Array]:
        return {name: self.now[name] for name in self.info_names}

    def outcome(self) -> dict[str, Array]:
        return {name: self.now[name] for name in self.outcome_names}

    def judged(self) -> Step:
        return self._judgement

    def told(self, *, stepped: bool = True) -> dict[str, Array]:
        told = self._told[stepped]
        infos = dict(zip(told.numbers, told.columns.T.copy(), strict=True))  # one copy for all of them
        for name, view in told.others.items():
            infos[name] = view.copy()
        return infos

    def told_alone(self, *, stepped: bool = True) -> dict[str, Any]:
        told = self._told[stepped]
        infos = dict(zip(told.numbers, told.columns[0].tolist(), strict=True))
        for name, view in told.others.items():
            infos[name] = view.item() if view.ndim == 1 else view[0].copy()
        return infos

    # -------------------------------------------------------------------------------------------- made when first used
    @cached_property
    def _judge(self) -> Callable[[Indices], None]:
        loop, arguments = self.judge()
        return partial(direct(loop, *arguments, self.everyone), *arguments)

    @cached_property
    def _judgement(self) -> Step:
        reward, terminated = self.now["reward"], self.now["terminated"]
        return Step(self.observation, reward, terminated)

    @cached_property
    def _told(self) -> dict[bool, "Told"]:
        """Views of what is told, by whether it is after a step."""
        plain = [name for name, (kind, *_) in (self.now.dtype.fields or {}).items() if kind == np.dtype(float)]
        told = {}
        for stepped, names in ((False, self.info_names), (True, self.step_names)):
            numbers = [name for name in plain if name in names]
            shape, strides = (self.num_envs, len(numbers)), (self.now.itemsize, 8)
            columns = np.ndarray(shape, float, self.now, strides=strides)  # they are the first ones of a record
            told[stepped] = Told(numbers, columns, {name: self.now[name] for name in names if name not in numbers})
        return told

    def __getstate__(self) -> dict[str, Any]:
        """All but what is made when first used, which belongs to these very arrays."""
        return {name: value for name, value in vars(self).items() if name not in ("_judge", "_judgement", "_told")}

    def remembered(self) -> dict[str, np.ndarray]:
        return super().remembered() | {name: self.now[name] for name in self.now.dtype.names or ()}
