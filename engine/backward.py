"""Derivatives of a whole rollout, from its last step back to the first: one compiled call for all of them, but for the
steps that go another way (derivatives.py), between which it is made in parts."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine.controls import CONTROLS
from vigym.engine.derivatives import (
    FAILED,
    OK,
    REBOUND,
    RELAXED,
    UNCOVERED,
    WITHOUT,
    WORD,
    Derivatives,
    stored,
    without,
    worth,
)
from vigym.engine.derived import Pulled, finished
from vigym.engine.errors import InputError
from vigym.engine.gradients import UNKNOWNS
from vigym.engine.inputs import ALONE
from vigym.engine.linearised import BEFORE, Flow
from vigym.engine.rollout import READ
from vigym.engine.rotation import Array, conjugate, multiply
from vigym.engine.tape import Tape
from vigym.engine.twin import Stepped, Twin
from vigym.engine.validation import batch, show, suggestion

OF_JOINTS = {"joint_positions": "angle_after_bar", "joint_velocities": "rate_after_bar"}
PLACES = {"x": slice(0, 3), "q": slice(3, 6), "v": slice(6, 9), "w": slice(9, 12)}  # among the 12 numbers of a body
MOST_BYTES = 1 << 26  # of derivatives of single steps that are kept for further backward passes
FOUND = ("v", "w", *UNKNOWNS, "converged", "substeps", "even")  # that a step has left, beside what was before it


class Backward:
    """Covectors of states along a rollout, pulled back to its beginning."""

    def __init__(self, sim: Stepped) -> None:
        self.sim = sim
        self._due = np.zeros((sim.num_envs, 0))  # covector of impulses of which a rebound is due

    @cached_property
    def one(self) -> Derivatives:
        """Derivatives of single steps, in memory of their own."""
        return Derivatives(Twin(self.sim, self.sim.num_envs))

    def pull(
        self, tape: Tape, cotangent: ArrayLike | Mapping[str, ArrayLike], names: Sequence[str], out: Pulled | None
    ) -> Pulled:
        """See `Simulator.rollout_vjp`."""
        one, names = self.one, self.one.without_kept(self.one.inputs(names))
        bars = self._bars(tape, cotangent)
        tape.rewind(one.sim._lanes)
        shape: tuple[int, ...] = (tape.steps, tape.num_envs)
        arrays = {name: np.zeros((*shape, one.size(name))) for name in stored(names) if name != "state"}
        before = np.zeros((1, tape.num_envs, one.size("state")))
        self._due = np.zeros((tape.num_envs, one.size("due_impulse")))
        status = self._walk(tape, bars, arrays, before)
        if not worth(status).any():
            raise InputError(f"environment 0 has no gradients: {WITHOUT.get(str(status[0]), status[0])}")
        without(status, [before[0], *(array.swapaxes(0, 1) for array in arrays.values())])
        one.sim._controls.restored()
        applied = tape.controls.get("effort", np.zeros((*shape, one.size("effort"))))
        found = {"state": before[0]} | {
            name: self._summed(tape, name, array) for name, array in one.shaped(arrays, shape, applied, names).items()
        }
        return finished(found, status, out)

    def _summed(self, tape: Tape, name: str, array: Array) -> Array:
        """Bars of the controls that were given, and of parameters, from those of every step."""
        if name not in CONTROLS:
            return array.sum(0)
        return array.reshape(len(array) // tape.repeat, tape.repeat, *array.shape[1:]).sum(1)

    def _bars(self, tape: Tape, cotangent: ArrayLike | Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Covectors of what is after every step, by the field of the kernels; checked."""
        given = cotangent if isinstance(cotangent, Mapping) else {"state": cotangent}
        n, axes, envs = self.sim.model.n_bodies, self.sim.model.n_axes, tape.num_envs
        rows = tape.steps // tape.repeat
        shapes: dict[str, tuple[int, ...]] = {"state": (12 * n,), **dict.fromkeys(OF_JOINTS, (axes,))}
        shapes |= {name: (n, 4 if name == "q" else 3) for name in PLACES}
        whole = np.zeros((tape.steps, envs, n, 12))
        bars = {"after_bar": whole.reshape(tape.steps, envs, 12 * n)}
        last = slice(tape.repeat - 1, None, tape.repeat)
        for name, value in given.items():
            if name not in shapes:
                raise InputError(f"cotangent has no {show(name)}: {suggestion(name, ['state', *READ])}")
            if np.ndim(value) == 1 + len(shapes[name]):  # of the last state only
                final = batch(value, f"cotangent {name!r}", envs, shapes[name], InputError)
                value = np.zeros((rows, *final.shape))
                value[-1] = final
            bar = batch(value, f"cotangent {name!r}", rows, (envs, *shapes[name]), InputError)
            if name in OF_JOINTS:
                self.one.check_joints()
                bars[OF_JOINTS[name]] = np.zeros((tape.steps, envs, axes))
                bars[OF_JOINTS[name]][last] = bar
            elif name == "state":
                bars["after_bar"][last] += bar
            elif name == "q":
                bar = 0.5 * multiply(conjugate(tape.quaternions()[last]), bar)[..., 1:]
                whole[last][..., PLACES[name]] += bar
            else:
                whole[last][..., PLACES[name]] += bar
        return bars

    def _walk(self, tape: Tape, bars: dict[str, Array], arrays: dict[str, Array], before: Array) -> NDArray[np.str_]:
        """Go from the last step to the first: bars of the inputs of every step into `arrays`, of the state into
        `before`; return the status."""
        relaxed = (tape.told("relaxed") > 0).any(0)
        status = np.where(relaxed, RELAXED, np.full(tape.num_envs, OK, WORD))
        special, end = tape.special(), tape.steps
        for step in reversed(np.flatnonzero(special.any(1)).tolist()):
            self._run(tape, bars, arrays, before, step + 1, end)
            self._single(tape, bars, arrays, before, step, special[step], status)
            end = step
        self._run(tape, bars, arrays, before, 0, end)
        status[~(tape.told("converged") > 0).all(0)] = FAILED
        return status

    def _run(
        self, tape: Tape, bars: dict[str, Array], arrays: dict[str, Array], before: Array, first: int, end: int
    ) -> None:
        """The steps first..end, in lanes and threads."""
        if first == end or tape.is_whole:
            return
        part = slice(first, end)
        bars["after_bar"][end - 1] += before[0]

        def flow(field: str, array: Array) -> Flow:
            return Flow(field, array[part].reshape(end - first, tape.num_envs, -1), of_state=True, order=-1)

        inward = [flow(f"old_{name}", tape.before(name)) for name in BEFORE if name in tape.rows]
        inward += [flow(name, tape.after(name)) for name in ("h0", *FOUND) if name in tape.rows]
        inward += [flow(name, array) for name, array in tape.controls.items()]
        inward += [Flow(name, bar[part], order=-1) for name, bar in bars.items()]
        known = [name for name in arrays if name not in ALONE]  # others come from single steps only
        outward = [out._replace(array=out.array[part], order=-1) for out in self.one.flows(known, arrays)]
        same = np.lib.stride_tricks.as_strided(before, (end - first, *before.shape[1:]), (0, *before.strides[1:]))
        outward.append(Flow("before_bar", same))
        wide = not arrays.keys() <= {"effort"}
        self.one.lanes.pull(end - first, inward, outward, anew=True, by_parameters=wide)

    def _single(
        self,
        tape: Tape,
        bars: dict[str, Array],
        arrays: dict[str, Array],
        before: Array,
        step: int,
        envs: NDArray[np.bool_],
        status: NDArray[np.str_],
    ) -> None:
        """One step, which in the environments `envs` goes another way."""
        bar = bars["after_bar"][step] + before[0]
        self._run(tape, bars, arrays, before, step, step + 1)
        names = ["state", *arrays, *(["due_impulse"] if self._due.size else [])]
        key = (step, len(bars) > 1, *names)
        if key not in tape.blocks:
            found = self._blocks(tape, step, envs, names, len(bars) > 1)
            if tape.block_bytes < MOST_BYTES:  # further passes, as those of Gauss and Newton, take them again
                tape.blocks[key] = found
        judged, some, blocks = tape.blocks.get(key) or found
        lost = envs & ~worth(judged)
        status[lost] = judged[lost]
        bar, self._due = np.concatenate([bar, self._due], -1), np.zeros_like(self._due)
        before[0, lost] = 0.0
        for name, value in blocks.items():
            target = {"state": before[0], "due_impulse": self._due}.get(name)
            target = arrays[name][step] if target is None else target
            target[some] = np.einsum("er,erc->ec", bar[some], value)

    def _blocks(
        self, tape: Tape, step: int, envs: NDArray[np.bool_], names: Sequence[str], by_joints: bool
    ) -> tuple[NDArray[np.str_], NDArray[np.int64], dict[str, Array]]:
        """Status of one step, environments of `envs` that have derivatives, and these; none by joint coordinates."""
        tape.load(self.one.sim._lanes, step)
        judged = self.one.judged()
        if by_joints:
            judged[envs] = UNCOVERED
        features = self.sim.model.features
        if features.touches and features.bounce:  # contacts come and go: what is due is not followed
            judged[envs & (self.one.sim._get("rebounds") > 0)] = REBOUND
        some = np.flatnonzero(envs & worth(judged))
        return judged, some, self.one.with_due(names, some) if len(some) else {}
