"""The simulator: owns the buffers of all environments, checks what comes in, calls the kernels."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from os import PathLike
from threading import get_ident
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine import parameters
from vigym.engine.admission import checked_overlap
from vigym.engine.advice import advise
from vigym.engine.backward import Backward
from vigym.engine.controls import Controls, named
from vigym.engine.derivatives import Derivatives
from vigym.engine.derived import Gradients, Pulled
from vigym.engine.errors import InputError
from vigym.engine.kernels.cone import CONES
from vigym.engine.lanes import Lanes, Track
from vigym.engine.mechanism import Mechanism
from vigym.engine.model import Model, Options
from vigym.engine.placement import Placement
from vigym.engine.readouts import Readouts
from vigym.engine.recording import Recorder, write_all
from vigym.engine.rollout import make_outputs, roll
from vigym.engine.rotation import Array
from vigym.engine.saving import Saved, attributes, pack, signature, unpack
from vigym.engine.state import STATUS, Status
from vigym.engine.tape import Tape
from vigym.engine.turn import alone, busy
from vigym.engine.validation import batch, choice, chosen, count, flag, number

FIXED = ("dt", "tolerance", "smoothing", "num_envs", "cone", "num_threads", "compiled", "model")
BUILT = (
    "_lanes",
    "_get",
    "_turn",
    "_placement",
    "_controls",
    "recorders",
    "_signature",
    "_dynamics",
    "_derivatives",
    "_backward",
    "_tape",
)  # anew in a copy


class Simulator(Readouts):
    """Many copies of one mechanism, stepped together.

    mechanism: what is simulated; later changes to it have no effect here
    dt: time step, s
    num_envs: independent environments, all with the same mechanism
    tolerance: largest residual of a converged step, relative: forces to those that act on the same body (weight,
    applied forces, joints, contacts), torques to these times its radius of gyration. It means the same for a speck of
    dust and a ship. Gaps and joints are closed to 1e-10 of a body's size (of 1 m if it is larger) or better
    cone: shape of the friction cone: "exact", Coulomb's circle, or "pyramid", the paper's, weaker between its axes
    smoothing: product of force and distance at which contact, friction and limits stop, N m; 0 is hard contact. With
    more, a contact pushes by smoothing / gap before it touches, and gradients respond to nearby contacts
    num_threads: threads that share the environments; results do not depend on it
    compiled: False runs the kernels as plain Python on NumPy, slow but open to a debugger
    overlap: of colliders and contacts at the start, see `set_state`

    Environments start with all joints at zero (or at the nearest limit), at rest, and bodies without joint at the
    position and orientation given to `add_body`.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        dt: float = 0.01,
        num_envs: int = 1,
        tolerance: float = 1e-8,
        cone: str = "exact",
        *,
        smoothing: float = 0.0,
        num_threads: int = 1,
        compiled: bool = True,
        overlap: str = "error",
    ) -> None:
        if not isinstance(mechanism, Mechanism):
            raise InputError(f"mechanism must be a vigym.Mechanism, got {type(mechanism).__name__}")
        self.dt = number(dt, "dt", InputError, above=0.0)
        self.tolerance = number(tolerance, "tolerance", InputError, above=0.0)
        self.smoothing = number(smoothing, "smoothing", InputError, at_least=0.0)
        self.num_envs, self.num_threads = count(num_envs, "num_envs"), count(num_threads, "num_threads")
        self.cone = choice(cone, tuple(CONES), "cone", InputError)
        self.compiled = flag(compiled, "compiled", InputError)
        self.model = Model(mechanism, cone, smooth=self.smoothing > 0)
        advise(self.model)
        self._build()
        self._placement.start(checked_overlap(overlap))

    def __setattr__(self, name: str, value: Any) -> None:
        own = name.startswith("_") or name == "recorders" or type(self) is not Simulator
        allowed = name not in self.__dict__ if name in FIXED else own
        if not allowed:
            raise AttributeError(f"{name} is fixed when a Simulator is made, or unknown; make another one")
        super().__setattr__(name, value)

    def _build(self) -> None:
        options = Options(self.dt, self.tolerance, self.smoothing)
        self._lanes = Lanes(self.model, options, self.num_envs, self.num_threads, self.compiled)
        self._get, self._turn = self._lanes.get, self._lanes.turn
        self._placement = Placement(self.model, self._lanes, self.dt)
        self._controls = Controls(self.model, self._lanes)
        self.recorders: list[Recorder] = []
        self._tape: Tape | None = None

    # -------------------------------------------------------------------------------------------- state
    @property
    def status(self) -> Status:
        """Outcome of the last step, one entry for each environment."""
        status = Status(*(self._get(name).astype(kind) for name, kind in STATUS.items()))
        status.made = self._lanes.steps
        return status

    @alone
    def set_state(
        self,
        x: ArrayLike | None = None,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        w: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        *,
        overlap: str = "error",
    ) -> None:
        """Set pose and velocity; what is left out stays as it is.

        Arrays (num_envs, n_bodies, 3 or 4), or (n_bodies, 3 or 4) for all alike; `mask` (num_envs,) of bool chooses
        the environments to set, the others keep state and warm start; targets of drives stay. Whatever else the last
        step left is forgotten: an impact that is not over, full turns of joints, the length of a step that was cut
        (`save` keeps them). A state with a NaN, an open joint, a hard contact too deep or a coordinate beyond its
        limits raises StateError and changes nothing. `overlap="separate"` moves what overlaps apart, by the smallest
        motion that joints and limits allow (docs/contact.md); StateError if there is none. `"keep"` leaves colliders
        in each other, to be pushed apart slowly, and coordinates beyond their limits, which push them
        back at a bounded speed.
        """
        given = {name: value for name, value in zip("xqvw", (x, q, v, w), strict=True) if value is not None}
        env = chosen(mask, self.num_envs)
        self._placement.set(env, given, checked_overlap(overlap))
        self._lanes.restart(env)
        self._jump(env)

    @alone
    def set_joint_state(
        self,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        *,
        overlap: str = "error",
        **roots: ArrayLike,
    ) -> None:
        """Set all poses from joint coordinates (num_envs, n_axes) or (n_axes,), as `joint_positions` orders them.

        Bodies without a joint keep their pose and velocity, or take them from `roots`: x, q, v, w as in `set_state`,
        of which only the rows of these bodies count. In a mechanism with loops, the nearest coordinates and
        velocities that close them are taken. Velocities are those over the step that led here: the state is where a
        step at these velocities ends. overlap: as in `set_state`.
        """
        env = chosen(mask, self.num_envs)
        self._placement.set_joints(env, positions, velocities, roots, checked_overlap(overlap))
        self._lanes.restart(env)
        self._jump(env)

    def _jump(self, env: Container[int]) -> None:
        """Tell recorders that the environments `env` were put elsewhere."""
        write_all(self.recorders, lambda recorder: recorder.jump(env))

    # -------------------------------------------------------------------------------------------- stepping
    def step(
        self,
        effort: ArrayLike | None = None,
        force: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        *,
        target: ArrayLike | None = None,
        target_velocity: ArrayLike | None = None,
        repeat: int = 1,
    ) -> None:
        """Advance all environments by `repeat` time steps with the same controls. An interrupt (Ctrl-C) leaves whole
        steps: `status.steps` tells how many.

        effort: (num_envs, n_efforts) on the free joint axes, N or N m; None is zero. Together with what a drive on the
        axis adds, it is cut to the effort limit
        force, torque: (num_envs, n_bodies, 3) on bodies, force at the centre of mass in the world frame, torque in
        the BODY frame; None is zero
        target, target_velocity: (num_envs, n_efforts) of the PD drives; None leaves the last ones
        """
        if type(repeat) is not int or not 0 < repeat < 1000:
            repeat = count(repeat, "repeat")
        # as `alone`, inside: a step of a small robot takes a microsecond, and a function around it a tenth of that
        me, turn = get_ident(), self._turn
        before = turn.owner
        if not before:
            turn.owner = me
        elif before != me:
            raise busy()
        try:
            # for the same reason, calls that do nothing are not made
            tracks: Sequence[Track] = ()
            if not (effort is force is torque is target is target_velocity is None):
                tracks = self._controls.checked(named(effort, force, torque, target, target_velocity))
            if not self._placement.is_checked:
                self._placement.check_start()
            if tracks or self._controls.nonzero:
                self._controls.write(tracks)
            if self.recorders:
                self._recorded(repeat)
            else:
                self._lanes.run(repeat)
        finally:
            turn.owner = before

    def _recorded(self, repeat: int) -> None:
        """Advance all environments, and show recorders what came of it, also of an interrupted call."""
        self._lanes.steps = 0
        try:
            self._lanes.run(repeat)
        finally:
            if steps := self._lanes.steps:
                write_all(self.recorders, lambda recorder: recorder.frame(steps))

    @alone
    def rollout(
        self,
        effort: ArrayLike | None = None,
        force: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        *,
        target: ArrayLike | None = None,
        target_velocity: ArrayLike | None = None,
        steps: int | None = None,
        repeat: int = 1,
        read: Sequence[str] = ("x", "q", "v", "w"),
        out: Mapping[str, Array] | None = None,
        gradients: bool = False,
    ) -> dict[str, Array]:
        """Make many steps in one call, each as `step` does. After a step that fails, an environment takes no part in
        the rest. Interrupts leave whole steps.

        effort, ...: as in `step`, with the steps in front, (steps, num_envs, ...), or without, if they stay the same
        steps: number of steps, if no control has it in front
        repeat: time steps that each of these stands for, with the same controls
        read: what to return as it was after every step: "x", "q", "v", "w", "joint_positions", "joint_velocities"
        out: what an earlier call returned, to be written over; new memory takes its time
        gradients: keep what `rollout_vjp` needs of every time step: 4 kB an environment for a quadruped
        """
        given, kept = named(effort, force, torque, target, target_velocity), flag(gradients, "gradients", InputError)
        steps = self._controls.count_steps(given, steps)
        outputs = make_outputs(self._lanes, steps, read, out)
        tracks = self._controls.tracks(given, steps)
        if count(repeat, "repeat") > 1:
            tracks = [track._replace(array=np.repeat(track.array, repeat, axis=0)) for track in tracks]
        self._placement.check_start()
        self._controls.clear(but=given)
        tape = Tape(self.model, self._lanes, steps * repeat, tracks, repeat) if kept else None
        roll(self._lanes, self.recorders, tracks, outputs, tape, steps, repeat)
        self._tape = tape or self._tape
        return outputs

    @cached_property
    def _derivatives(self) -> Derivatives:
        return Derivatives(self)

    @cached_property
    def _backward(self) -> Backward:
        return Backward(self)

    @alone
    def rollout_vjp(
        self, cotangent: ArrayLike | Mapping[str, ArrayLike], *inputs: str, out: Pulled | None = None
    ) -> Pulled:
        """Derivatives of a number by what went into the last rollout with `gradients=True`, from those by the states
        along it: `cotangent` (steps, num_envs, 12 n_bodies), or a mapping with any of "state" (the same), "x", "q",
        "v", "w", "joint_positions" and "joint_velocities", each as `rollout` returns them. Without the steps in front,
        they are those of the last state.

        Returns arrays "state" (num_envs, 12 n_bodies), of the state before the rollout; "effort" (steps, num_envs,
        n_efforts); and those of `inputs`, see `gradients`: controls (steps, num_envs, ...), parameters (num_envs, ...).
        out: what an earlier call returned, to be written over."""
        if self._tape is None:
            raise InputError("there is no rollout to go back through: pass gradients=True to sim.rollout")
        return self._backward.pull(self._tape, cotangent, inputs, out)

    @alone
    def gradients(self, *inputs: str, coordinates: str = "maximal", out: Gradients | None = None) -> Gradients:
        """Derivatives of the next state by the state and by the efforts, for the last (single) step; and by further
        `inputs`: "force", "torque", "target", "target_velocity", "gravity", or any parameter that `set_parameters`
        takes.

        coordinates: "maximal", 12 numbers a body; or "joint": those of bodies without a joint, and joint positions and
        velocities, see `Gradients`
        out: what an earlier call with the same inputs returned, to be written over. `status` tells which environments
        have none (theirs are zero); InputError if no environment has any. See docs/gradients.md."""
        return self._derivatives.gradients(inputs, out, coordinates)

    @alone
    def vjp(self, cotangent: ArrayLike, *inputs: str, out: Pulled | None = None) -> Pulled:
        """Derivatives of a number by what went into the last step, from `cotangent` (num_envs, 12 n_bodies), those by
        the next state: cotangent . gradients, at the price of a part of a step.

        Returns arrays "state" (num_envs, 12 n_bodies), "effort" (num_envs, n_efforts), and those of `inputs`, see
        `gradients`; out: what an earlier call returned, to be written over."""
        return self._derivatives.pull(cotangent, inputs, out)

    @alone
    def jvp(
        self,
        state: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        force: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        *,
        target: ArrayLike | None = None,
        target_velocity: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Change of the next state, (num_envs, 12 n_bodies), along changes of what went into the last step: of the
        state (num_envs, 12 n_bodies) and of controls; gradients . changes, at the price of a part of a step."""
        given = named(effort, force, torque, target, target_velocity)
        return self._derivatives.push(given if state is None else {"state": state} | given, out)

    def record(self, path: str | PathLike[str], env: int = 0, **look: Any) -> Recorder:
        """Write environment `env` to a file at every `step`, until the recorder is closed; look: see `Recorder`."""
        self.recorders.append(Recorder(self, path, env, **look))
        return self.recorders[-1]

    # -------------------------------------------------------------------------------------------- parameters
    @alone
    def set_parameters(self, mask: ArrayLike | None = None, **values: ArrayLike) -> None:
        """Change parameters (see `parameter`) where `mask` says: alike for all environments, or (num_envs, ...).

        A gain, a limit or a friction of a joint can be changed where the mechanism has one.
        """
        env = chosen(mask, self.num_envs)
        shapes = {name: parameters.shape(self.model, name) for name in values}
        arrays = {
            name: batch(
                value, name, self.num_envs, shapes[name], InputError, env, infinite=name in parameters.UNLIMITED
            )
            for name, value in values.items()
        }
        for name, array in arrays.items():
            parameters.check(self.model, name, array, env)
        with self._lanes.undone(env):
            for name, array in arrays.items():
                parameters.write(self.model, self._lanes, name, array, env)
            if "offset" in arrays:  # planes may move, but not into what is above them
                for name, where, depth in self._placement.sunk(env):
                    raise InputError(
                        f"`offset` puts contact {name!r} (environment {where}) {depth:.3g} m below its plane"
                    )
            self._lanes.is_published = False
        if "effort_limit" in arrays:
            self._controls.limited()

    # -------------------------------------------------------------------------------------------- save and restore
    @alone
    def save(self) -> bytes:
        """Everything that changes: states, warm start, controls and parameters of all environments."""
        if self._placement.is_checked:
            self._lanes.publish()  # so that it does not matter whether anybody has read it
        saved = Saved(not self._placement.is_checked, self._lanes.steps, self._lanes.saved())
        return pack(self._signature, saved)

    @alone
    def restore(self, data: bytes) -> None:
        """Go back to what `save` returned, bit by bit, in this simulator or in one built alike."""
        saved = unpack(self._signature, data, self._lanes.fits)
        self._lanes.restore(saved.slab)
        self._placement.is_checked = self._lanes.is_published = not saved.unchecked
        self._lanes.steps = saved.steps
        self._controls.restored()
        self._jump(range(self.num_envs))

    @cached_property
    def _signature(self) -> Any:
        """A hash of the mechanism, as it was built, and of the options."""
        options = self.dt, self.num_envs, self._lanes.store.slab.shape
        return signature(self.model, options, [self._lanes.constants.slab])

    def __getstate__(self) -> tuple[dict[str, Any], bytes]:
        """Return its arguments, attributes of subclasses, and its state."""
        return {name: value for name, value in attributes(self).items() if name not in BUILT}, self.save()

    def __setstate__(self, state: tuple[dict[str, Any], bytes]) -> None:
        given, saved = state
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self._build()
        self.restore(saved)
