"""Derivatives of the last step, as a user asks for them: Jacobians, covectors pulled back, changes pushed forward.

The compiled kernels of linearised.py give them for the price of a part of a step, or a few. What those do not know is
followed one direction after the other (followed.py), compiled, too: loops, bodies that touch each other, drives and
springs on three free rotations; and of any mechanism, steps with a rebound, or with even arms of joints
(kernels/arms.py). The rest goes the slow way (gradients.py): shapes of contacts as inputs of such steps, and simulators
that are not compiled. Derivatives of a step that was cut are the product of those of its parts (retraced.py);
backward.py has those of rollouts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine import gradients as slow
from vigym.engine import inputs as given
from vigym.engine import parameters
from vigym.engine.derived import UNSEEN, Gradients, Pulled, finished, references, reused, written
from vigym.engine.errors import InputError
from vigym.engine.followed import Followed
from vigym.engine.linearised import Flow, Linearised
from vigym.engine.retraced import Parts, Retraced
from vigym.engine.rotation import Array
from vigym.engine.twin import Stepped, Twin
from vigym.engine.validation import batch, choice, words

# How the last step of an environment went, and what its derivatives are worth
OK, RELAXED, NONE, FAILED, PARTS, LOWERED, REBOUND = "ok", "relaxed", "none", "failed", "parts", "lowered", "rebound"
UNCOVERED, SEVERAL_STEPS = "uncovered", "several"
WITHOUT = {
    NONE: "its last step did not happen",
    FAILED: "its last step did not happen",
    PARTS: "its last step was made in parts, which could not be found again",
    SEVERAL_STEPS: "the last call made several steps: sim.rollout(repeat=..., gradients=True) and sim.rollout_vjp",
    LOWERED: "the rebound in its last step was lowered, not to create energy",
    REBOUND: "a rebound in a mechanism whose joints have armature, or, in a rollout, one between bodies",
}
WORD = "<U9"
NOBODY = np.zeros(0, np.int64)


class Derivatives:
    """Derivatives of the last step of a simulator."""

    def __init__(self, sim: Stepped) -> None:
        self.sim = sim
        self.covered = Linearised.covers(sim.model)
        self._spare: dict[str, Array] = {}
        self._parts: dict[int, Parts] = {}  # of the environments whose last step was cut

    @cached_property
    def lanes(self) -> Linearised:
        """The compiled kernels; their memory is made when it is first needed."""
        return Linearised(self.sim.model, self.sim._lanes)

    @cached_property
    def _followed(self) -> Followed | None:
        """Kernels for what those do not know, if there are any."""
        return Followed(self.sim) if self.sim.compiled else None

    @cached_property
    def _retraced(self) -> Retraced:
        return Retraced(Derivatives(Twin(self.sim, 1)))

    def status(self) -> NDArray[np.str_]:
        """Return how the last step of each environment went; InputError if none of them has derivatives."""
        found = self.judged()
        if not worth(found).any():
            raise InputError(f"environment 0 has no gradients: {WITHOUT[str(found[0])]}")
        return found

    def judged(self) -> NDArray[np.str_]:
        """The same without an error."""
        lanes, features = self.sim._lanes, self.sim.model.features
        get = lanes.get
        substeps, converged = get("substeps"), get("converged") > 0
        self._parts = {}
        if (converged & (substeps == 1)).all() and not get("relaxed").any() and not features.bounce:
            return np.full(lanes.num_envs, OK, WORD)
        found = np.where(get("relaxed") > 0, RELAXED, np.full(lanes.num_envs, OK, WORD))
        if features.bounce:
            rebounds = get("rebounds") > 0
            found[slow.lowered(self.sim)] = LOWERED
            if features.armature:
                found[rebounds] = REBOUND
        if lanes.steps > 1:
            found[substeps > 1] = SEVERAL_STEPS
        found[substeps == 0] = NONE
        found[~converged] = FAILED
        for env in np.flatnonzero((substeps > 1) & converged & (lanes.steps == 1)):
            parts = self._retraced.parts(self.sim, int(env))
            found[env] = PARTS
            if parts is not None:
                self._parts[int(env)] = parts
                found[env] = parts.worst(found=RELAXED if get("relaxed")[env] > 0 else OK)
        return found

    def slow_ones(self, status: NDArray[np.str_]) -> NDArray[np.int64]:
        """The environments whose derivatives the kernels do not give."""
        sim = self.sim
        uncovered = sim._get("even") > 0
        if sim.model.features.bounce:
            uncovered |= sim._get("rebounds") > 0
        uncovered[list(self._parts)] = True
        if self.covered and not uncovered.any():
            return NOBODY
        return np.flatnonzero((uncovered | (not self.covered)) & worth(status))

    def blocks(self, names: Sequence[str], envs: NDArray[np.int64]) -> dict[str, Array]:
        """Derivatives that the kernels do not give, of the environments `envs`: (len(envs), 12 n_bodies, numbers)."""
        rows = self.size("state")
        return {name: value[:, :rows] for name, value in self.with_due(names, envs).items()}

    def with_due(self, names: Sequence[str], envs: NDArray[np.int64]) -> dict[str, Array]:
        """The same, (len(envs), 12 n_bodies + n_due, numbers): then, of impulses of which a rebound is due after the
        step, on which the next one depends."""
        whole = np.array([env not in self._parts for env in envs], bool)
        rows = self.size("state") + self.size("due_impulse")
        found = {name: np.zeros((len(envs), rows, self.size(name))) for name in names}
        if whole.any():
            for name, value in self._of_whole_steps(names, envs[whole]).items():
                found[name][whole] = value
        for k in np.flatnonzero(~whole):
            for name, value in self._retraced.blocks(self._parts[int(envs[k])], names).items():
                found[name][k] = value
        return found

    def _of_whole_steps(self, names: Sequence[str], envs: NDArray[np.int64]) -> dict[str, Array]:
        """The same of steps that were not cut."""
        shapes = list(names) if self._followed is None else [name for name in names if name in given.OF_SHAPES]
        found = {}
        if shapes:
            of_shapes = slow.gradients(self.sim, shapes, envs)
            found = {name: of_shapes[name] for name in shapes}
        others = [name for name in names if name not in shapes]
        if others and self._followed is not None:
            found |= self._followed.jacobians(others, envs)
        return found

    # -------------------------------------------------------------------------------------------- inputs
    def inputs(self, names: Sequence[str]) -> list[str]:
        """Names of all inputs, "state" and "effort" first, checked."""
        words(names, "inputs", InputError)
        for name in names:
            given.check(self.sim.model, name)
        return list(dict.fromkeys(("state", "effort", *names)))

    @staticmethod
    def without_kept(names: list[str]) -> list[str]:
        """The same names; InputError if what is kept beside the state is among them."""
        for name in given.KEPT.keys() & names:
            raise InputError(f"derivatives by {name!r} are those of a single step's state: sim.gradients and sim.vjp")
        return names

    def size(self, name: str) -> int:
        """Numbers of an input in one environment, as the state store has them."""
        return given.size(self.sim.model, name)

    def flows(self, names: Iterable[str], arrays: Mapping[str, Array]) -> list[Flow]:
        """Flow of each input, into which the kernels write; those that they do not know, as a restitution where nothing
        rebounds, are zero."""
        for name in set(given.ALONE).intersection(names):
            arrays[name][...] = 0.0
        fields = {name: f"{given.FIELDS.get(name, name)}_bar" for name in names} | {"state": "before_bar"}
        return [Flow(fields[name], arrays[name]) for name in names if name not in given.ALONE and arrays[name].size]

    def shaped(
        self, found: dict[str, Array], lead: tuple[int, ...], effort: Array, names: Sequence[str]
    ) -> dict[str, Array]:
        """Arrays (*lead, numbers) of `stored(names)`, as a user sees them; an effort at its limit passes no more: what
        counts is the limit. `effort` is what was applied."""
        sim = self.sim
        if sim._controls.clamps:
            limit = sim._controls.effort_limit()
            limit = limit if effort.shape[-2] == sim.num_envs else limit[:, None]
            free, sign = np.abs(effort) < limit, np.sign(effort)
            if "effort_limit" in found:
                found["effort_limit"] = found["effort_limit"] + found["effort"] * np.where(free, 0.0, sign)
            found["effort"] = found["effort"] * free
        for name in found.keys() & given.SEVERAL.keys():
            found[name] = found[name].reshape(*lead, sim.model.n_bodies, given.SEVERAL[name])
        if "contact_point" in found:
            found["contact_point"] = found["contact_point"].reshape(*lead, sim.model.n_contacts, 3)
        if "last_dt" in found:
            found["last_dt"] = found["last_dt"][..., 0]
        if "inertia" in found:  # a change of both entries of a symmetric pair is half from each
            half = np.where(np.eye(3).ravel() > 0, 1.0, 0.5)
            nine = found["inertia"][..., parameters.NINE] * half
            found["inertia"] = nine.reshape(*nine.shape[:-1], 3, 3)
        if "gravity" in names:  # a force on every body, of its mass
            mass = sim._lanes.get("mass")
            mass = mass if effort.shape[-2] == sim.num_envs else mass[:, None]
            found["gravity"] = (mass * found["force"]).sum(-2)
        return {name: found[name] for name in names if name in found}

    # -------------------------------------------------------------------------------------------- Jacobians
    @cached_property
    def _units(self) -> Array:
        """Covectors of all numbers of the next state."""
        return np.eye(self.size("state"))

    def gradients(self, names: Sequence[str], out: Gradients | None, coordinates: str) -> Gradients:
        """Derivatives of the next state by the state, the efforts and the inputs `names`."""
        if choice(coordinates, ("maximal", "joint"), "coordinates", InputError) == "joint":
            return self._joint_gradients(names, out)
        names, status = self.inputs(names), self.status()
        sim, rows = self.sim, self.size("state")
        shapes = {name: (rows, sim.num_envs, self.size(name)) for name in stored(names)}
        memory = self._memory(shapes) if out is None else reused(out, shapes)
        effort = sim._lanes.values("effort")[:, None]
        found = self.shaped(self._filled(memory, status), (sim.num_envs, rows), effort, names)
        state, effort = found.pop("state"), found.pop("effort")
        return Gradients(state, effort, found, status, memory)

    def jacobians(self, names: Sequence[str]) -> dict[str, Array]:
        """Derivatives of environment 0 by the inputs `names`, (12 n_bodies, numbers), each as the state store has it;
        those by efforts are not cut to their limits."""
        rows = self.size("state")
        memory = {name: np.zeros((rows, self.sim.num_envs, self.size(name))) for name in names}
        return {name: value[0] for name, value in self._filled(memory, self.judged()).items()}

    def _filled(self, memory: Mapping[str, Array], status: NDArray[np.str_]) -> dict[str, Array]:
        """Write Jacobians into `memory`, (12 n_bodies, num_envs, numbers); (num_envs, 12 n_bodies, numbers) of it."""
        if self.covered:
            by_parameters = not memory.keys() <= {"state", "effort"}
            flows = self.flows(memory, memory)
            self.lanes.pull(self.size("state"), [Flow("after_bar", self._units)], flows, by_parameters=by_parameters)
        else:
            for array in memory.values():
                array[...] = 0.0
        found = {name: np.moveaxis(array, 0, 1) for name, array in memory.items()}
        for envs, some in self._beside(status, found):
            for name, value in self.blocks(some, envs).items():
                found[name][envs] = value
        without(status, found.values())
        return found

    def _beside(
        self, status: NDArray[np.str_], names: Iterable[str]
    ) -> Iterator[tuple[NDArray[np.int64], Sequence[str]]]:
        """Environments, and inputs of theirs, of which the kernels do not give derivatives."""
        envs, names = self.slow_ones(status), list(names)
        kept = [name for name in names if name in given.KEPT]
        if len(envs):
            yield envs, names
        if kept:
            yield np.setdiff1d(np.flatnonzero(worth(status)), envs), kept

    def _joint_gradients(self, names: Sequence[str], out: Gradients | None) -> Gradients:
        """The same in joint coordinates, see `Simulator.gradients`."""
        names, status, sim = self.without_kept(self.inputs(names)), self.status(), self.sim
        inward, columns = self._joint_units
        rows, axes = len(inward[0].array), sim.model.n_axes
        others = [name for name in stored(names) if name != "state"]
        shapes = {name: (rows, sim.num_envs, self.size(name)) for name in others}
        shapes |= {"root": (rows, sim.num_envs, int(columns.max(initial=-1)) + 1)}
        shapes |= dict.fromkeys(("position", "velocity"), (rows, sim.num_envs, axes))
        memory = self._memory(shapes) if out is None else reused(out, shapes)
        flows = self.flows(others, memory)
        flows += [Flow(f"{name}_bar", memory[name]) for name in ("root", "position", "velocity") if memory[name].size]
        self.lanes.pull(rows, inward, flows, by_parameters=len(names) > 2, by_joints=True)
        uncovered = self.slow_ones(status)
        status[uncovered] = UNCOVERED
        by_root = [memory["root"][..., part] for part in columns]
        state = np.concatenate([by_root[0], memory["position"], by_root[1], memory["velocity"]], -1)
        found = {name: np.moveaxis(memory[name], 0, 1) for name in others}
        without(status, [state.swapaxes(0, 1), *found.values()])
        found = self.shaped(found, (sim.num_envs, rows), sim._lanes.values("effort")[:, None], names)
        return Gradients(np.moveaxis(state, 0, 1), found.pop("effort"), found, status, memory)

    @cached_property
    def _joint_units(self) -> tuple[list[Flow], NDArray[np.int64]]:
        """Covectors of all numbers of the next state in joint coordinates; and where poses and velocities of bodies
        without a joint are among the 12 n_bodies."""
        roots = self._roots()
        n, axes = self.sim.model.n_bodies, self.sim.model.n_axes
        half = 6 * len(roots) + axes
        columns = (12 * roots[:, None] + np.arange(12)).reshape(-1, 2, 6).swapaxes(0, 1).reshape(2, -1)
        sizes = {"after_bar": 12 * n, "angle_after_bar": axes, "rate_after_bar": axes}
        units = {name: np.zeros((2 * half, size)) for name, size in sizes.items()}
        for part, coordinate in enumerate(("angle_after_bar", "rate_after_bar")):
            units["after_bar"][part * half + np.arange(6 * len(roots)), columns[part]] = 1.0
            units[coordinate][part * half + 6 * len(roots) + np.arange(axes), np.arange(axes)] = 1.0
        return [Flow(name, unit) for name, unit in units.items() if unit.size], columns

    def _roots(self) -> NDArray[np.int64]:
        """The bodies without a joint."""
        self.check_joints()
        return np.flatnonzero(self._without_joint)

    @property
    def _without_joint(self) -> NDArray[np.bool_]:
        return np.array([joint is None for joint in self.sim.model.tree.joints])

    def check_joints(self) -> None:
        """InputError if joint coordinates do not describe the mechanism, or not yet."""
        kinds = self.sim._lanes.constants.joint_kind[0][: self.sim.model.n_bodies]
        if not self.covered or (~self._without_joint & (kinds % 4 == 3)).any():
            raise InputError(
                "derivatives of joint coordinates do not cover loops, bodies that touch each other, and "
                'joints with three free rotations; those of the state do (coordinates="maximal")'
            )

    def _memory(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
        """New memory for derivatives, or that of earlier ones which nobody sees any more: new pages take as long as
        several steps."""
        fits = {name: array.shape for name, array in self._spare.items()} == dict(shapes)
        if not fits or max(references(self._spare)) > UNSEEN:
            self._spare = {name: np.zeros(shape) for name, shape in shapes.items()}
        return dict(self._spare)

    # -------------------------------------------------------------------------------------------- products
    def pull(self, cotangent: ArrayLike, names: Sequence[str], out: Pulled | None) -> Pulled:
        """The covector of the next state times the derivatives by the state, the efforts and the inputs `names`."""
        sim, names = self.sim, self.inputs(names)
        bar = batch(cotangent, "cotangent", sim.num_envs, (self.size("state"),), InputError)
        status = self.status()
        shapes = {name: (1, sim.num_envs, self.size(name)) for name in stored(names)}
        arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
        if self.covered:
            wide = len(names) > 2
            self.lanes.pull(1, [Flow("after_bar", bar[None])], self.flows(arrays, arrays), by_parameters=wide)
        found = {name: array[0] for name, array in arrays.items()}
        for envs, some in self._beside(status, found):
            for name, value in self.blocks(some, envs).items():
                found[name][envs] = np.einsum("er,erc->ec", bar[envs], value)
        without(status, found.values())
        return finished(self.shaped(found, (sim.num_envs,), sim._lanes.values("effort"), names), status, out)

    def push(self, changes: Mapping[str, ArrayLike], out: Array | None) -> Array:
        """The change of the next state (num_envs, 12 n_bodies) with those of the state and of controls."""
        sim, n = self.sim, self.sim.model.n_bodies
        if not changes:
            raise InputError("jvp needs at least one change: state, effort, force, torque, target or target_velocity")
        status, arrays = self.status(), {}
        for name, value in changes.items():
            shape = (n, 3) if name in given.SEVERAL else (self.size(name),)
            arrays[name] = batch(value, name, sim.num_envs, shape, InputError).reshape(sim.num_envs, -1)
        if sim._controls.clamps and "effort" in arrays:
            arrays["effort"] = arrays["effort"] * (np.abs(sim._lanes.values("effort")) < sim._controls.effort_limit())
        moved = np.zeros((1, sim.num_envs, 12 * n))
        if self.covered:
            fields = {name: "before_dot" if name == "state" else f"{name}_dot" for name in arrays}
            inward = [Flow(fields[name], array[None]) for name, array in arrays.items() if array.size]
            self.lanes.push(1, inward, [Flow("after_dot", moved)])
        envs = self.slow_ones(status)
        if self._followed is not None and len(envs):
            whole = np.setdiff1d(envs, list(self._parts))
            envs = np.setdiff1d(envs, whole)
            if len(whole):
                moved[0, whole] = self._followed.change(arrays, whole)
        if len(envs):
            blocks = self.blocks(list(arrays), envs)
            moved[0, envs] = sum(np.einsum("erc,ec->er", blocks[name], arrays[name][envs]) for name in arrays)
        without(status, [moved[0]])
        if out is None:
            return moved[0]
        return written({"out": moved[0]}, {"out": out})["out"]


def stored(names: Sequence[str]) -> list[str]:
    """The inputs of which derivatives are found; those of others follow from them."""
    return list(dict.fromkeys("force" if name == "gravity" else name for name in names))


def worth(status: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Mask of environments that have derivatives."""
    return (status == OK) | (status == RELAXED)


def without(status: NDArray[np.str_], arrays: Iterable[Array]) -> None:
    """Set the derivatives (num_envs, ...) of environments that have none to zero: the kernels do not know of rebounds,
    and leave what they find there."""
    none = ~worth(status)
    if none.any():
        for array in arrays:
            array[none] = 0.0
