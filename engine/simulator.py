"""The simulator: owns the buffers of all environments, checks what comes in, calls the kernels."""

from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from os import PathLike
from threading import get_ident
from typing import Any

from numpy.typing import ArrayLike

from vigym.engine import collisions, coordinates, diagnostics, parameters
from vigym.engine.collisions import Contacts
from vigym.engine.controls import Controls, named
from vigym.engine.errors import InputError
from vigym.engine.gradients import Gradients, gradients
from vigym.engine.kernels.cone import CONES
from vigym.engine.lanes import Lanes, Track
from vigym.engine.mechanism import Mechanism
from vigym.engine.model import Model, Options
from vigym.engine.placement import Placement
from vigym.engine.recording import Recorder, write_all
from vigym.engine.rollout import make_outputs, play
from vigym.engine.rotation import Array
from vigym.engine.saving import Saved, attributes, pack, signature, unpack
from vigym.engine.state import STATUS, State, Status
from vigym.engine.turn import alone, busy
from vigym.engine.validation import batch, choice, chosen, count, flag, number

FIXED = ("dt", "tolerance", "smoothing", "num_envs", "cone", "num_threads", "compiled", "model")
BUILT = ("_lanes", "_get", "_turn", "_placement", "_controls", "recorders", "_signature")  # anew in a copy


class Simulator:
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
    ) -> None:
        if not isinstance(mechanism, Mechanism):
            raise InputError(f"mechanism must be a vigym.Mechanism, got {type(mechanism).__name__}")
        self.dt = number(dt, "dt", InputError, above=0.0)
        self.tolerance = number(tolerance, "tolerance", InputError, above=0.0)
        self.smoothing = number(smoothing, "smoothing", InputError, at_least=0.0)
        self.num_envs, self.num_threads = count(num_envs, "num_envs"), count(num_threads, "num_threads")
        self.cone, self.compiled = (
            choice(cone, tuple(CONES), "cone", InputError),
            flag(compiled, "compiled", InputError),
        )
        self.model = Model(mechanism, cone, smooth=self.smoothing > 0)
        self._build()
        self._placement.start()

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

    # -------------------------------------------------------------------------------------------- state
    @property
    def state(self) -> State:
        """Pose and velocity of every body, as fresh arrays."""
        return State(self._get("x"), self._get("q"), self._get("v"), self._get("w"))

    @property
    def status(self) -> Status:
        """How the last step went, one entry an environment."""
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
    ) -> None:
        """Set pose and velocity; what is left out stays as it is.

        Arrays (num_envs, n_bodies, 3 or 4), or (n_bodies, 3 or 4) for all alike; `mask` (num_envs,) of bool chooses
        the environments to set, the others keep state and warm start; targets of drives stay. Whatever else the last
        step left is forgotten: an impact that is not over, full turns of joints, the length of a step that was cut
        (`save` keeps them). A state with a NaN, an open joint, a hard contact too deep or a coordinate beyond its
        limits raises StateError and changes nothing.
        """
        given = {name: value for name, value in zip("xqvw", (x, q, v, w), strict=True) if value is not None}
        env = chosen(mask, self.num_envs)
        self._placement.set(env, given)
        self._jump(env)

    @alone
    def set_joint_state(
        self,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        **roots: ArrayLike,
    ) -> None:
        """Set all poses from joint coordinates (num_envs, n_axes) or (n_axes,), as `joint_positions` orders them.

        Bodies without a joint keep their pose and velocity, or take them from `roots`: x, q, v, w as in `set_state`,
        of which only the rows of these bodies count. In a mechanism with loops, the nearest coordinates and
        velocities that close them are taken. Velocities are those over the step that led here: the state is where a
        step at these velocities ends.
        """
        if unknown := roots.keys() - set("xqvw"):
            raise TypeError(f"set_joint_state() got an unexpected keyword argument {min(unknown)!r}")
        env = chosen(mask, self.num_envs)
        self._placement.set_joints(env, positions, velocities, roots)
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
        if type(repeat) is not int or repeat != 1:
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
        read: Sequence[str] = ("x", "q", "v", "w"),
        out: Mapping[str, Array] | None = None,
    ) -> dict[str, Array]:
        """As `step` again and again, in one call; after a step that fails, an environment takes no part in the rest. An
        interrupt leaves whole steps, as in `step`.

        effort, ...: as in `step`, with the steps in front, (steps, num_envs, ...), or without, if they stay the same
        steps: number of steps, if no control has it in front
        read: what to return as it was after every step: "x", "q", "v", "w", "joint_positions", "joint_velocities"
        out: what an earlier call returned, to be written over; new memory takes its time
        """
        given = named(effort, force, torque, target, target_velocity)
        steps = self._controls.count_steps(given, steps)
        outputs = make_outputs(self._lanes, steps, read, out)
        tracks = self._controls.tracks(given, steps)
        self._placement.check_start()
        self._controls.clear(but=given)
        play(self._lanes, self.recorders, steps, tracks, outputs)
        return outputs

    # -------------------------------------------------------------------------------------------- read-out
    @property
    def axis_names(self) -> list[str]:
        """Names of the free joint axes, in the order of efforts, positions and velocities."""
        return self.model.axis_names

    def joint_positions(self) -> Array:
        """Coordinates of the free joint axes (num_envs, n_efforts), m or rad; full turns are counted, but of three free
        rotations, whose coordinates are the rotation vector the shorter way round."""
        return self._lanes.values("angle")

    def joint_velocities(self) -> Array:
        """Velocities of the free joint axes (num_envs, n_efforts), m/s or rad/s: mean rates over the last step."""
        return self._lanes.values("rate")

    def joint_error(self) -> Array:
        """Largest |g| of all joints, m or sine of half an angle (num_envs,)."""
        x, q, _, _ = self.state
        return coordinates.errors(self.model, x, q).max(-1, initial=0.0)

    def contact_gaps(self) -> Array:
        """Distance of every contact from its plane, m (num_envs, n_contacts)."""
        return self._placement.published("gap")[..., 0]

    def contact_points(self) -> Array:
        """The point of the body that touches (or would), m, world (num_envs, n_contacts, 3)."""
        return self._placement.published("contact_point")

    def contact_velocities(self) -> Array:
        """Velocity of the point of the body that touches (or would), m/s, world (num_envs, n_contacts, 3).

        Friction acts against it; its tangential part is 0 where a contact sticks or rolls.
        """
        return self._placement.published("contact_velocity")

    def contact_slips(self) -> Array:
        """Speed at which the touching point of every contact slides along the surface, m/s (num_envs, n_contacts)."""
        return self._placement.published("slip")[..., 0]

    def contact_forces(self) -> Array:
        """Force of the ground on the body at every contact, N, world (num_envs, n_contacts, 3): mean of the last step,
        whose impulse is dt times it, also if the step was made in parts."""
        return self._placement.published("contact_force")

    @alone
    def contacts(self, env: int | None = None) -> Contacts:
        """What touches, or is near, between colliders after the last step, in one environment or in all."""
        return collisions.contacts(self.model, self._lanes, self.dt, env)

    def distance(self, first: str, second: str) -> Array:
        """Exact distance of the colliders of two bodies, or of one and the "world", m (num_envs,); negative where they
        overlap: how far they would have to move apart."""
        return collisions.distance_between(self.model, self._get("x"), self._get("q"), first, second)

    def gaps_at(self, env: ArrayLike, x: ArrayLike, q: ArrayLike) -> Array:
        """Gaps (k, n_contacts) that the contacts of k environments would have at other poses, m; nothing changes.

        env: numbers of the environments (k,), each once; x, q: poses of all bodies, (k, n_bodies, 3 and 4)
        """
        return self._placement.gaps_at(env, x, q)

    def energy(self) -> Array:
        """Kinetic energy and potential energy of gravity and springs, in joints and soft contacts, J (num_envs,).

        Velocities are means over the last step, so heights and joint springs are taken in its middle: free fall keeps
        the energy, and so does a spring without a damper. Soft contacts count at its end, where they act.
        """
        (x, _, v, w), h0 = self.state, self._get("h0")
        x = x - 0.5 * h0[:, None, None] * v
        parts = self.parameter("mass"), self.parameter("inertia"), self.parameter("stiffness")
        motion = self.joint_positions(), self.joint_velocities(), h0
        stretch = coordinates.stretches(self.model, *motion, self._lanes.values("rest"))
        stored = diagnostics.contact_energy(self.contact_gaps(), self.parameter("compliance"))
        return stored + diagnostics.energy(self.model, x, v, w, *parts, stretch)

    def momentum(self) -> Array:
        """Linear momentum and angular momentum about the world's origin (num_envs, 6), N s and N m s."""
        mass, inertia = self.parameter("mass"), self.parameter("inertia")
        return diagnostics.momentum(*self.state, mass, inertia, self._get("h0"))

    @alone
    def gradients(self, *inputs: str) -> Gradients:
        """Derivatives of the next state by the state and by the efforts, for the last (single) step; and by further
        `inputs`: "force", "torque", "target", "target_velocity", or any parameter that `set_parameters` takes.

        InputError if the step was made in parts, or a rebound in it was lowered so as not to create energy."""
        return gradients(self, self._controls.effort_limit(), inputs)

    def record(self, path: str | PathLike[str], env: int = 0, **look: Any) -> Recorder:
        """Write environment `env` to a file at every `step`, until the recorder is closed; look: see `Recorder`."""
        self.recorders.append(Recorder(self, path, env, **look))
        return self.recorders[-1]

    # -------------------------------------------------------------------------------------------- parameters
    def parameter(self, name: str) -> Array:
        """mass, inertia (of bodies), friction, restitution, compliance, contact_damping, offset (of contacts),
        stiffness, damping, kp, kd, effort_limit or joint_friction (of free joint axes): (num_envs, ...)."""
        parameters.shape(self.model, name)
        return parameters.read(self._lanes, name)

    @alone
    def set_parameters(self, mask: ArrayLike | None = None, **values: ArrayLike) -> None:
        """Change parameters (see `parameter`) where `mask` says: alike for all environments, or (num_envs, ...).

        A gain, a limit or a friction of a joint can be changed where the mechanism has one.
        """
        env = chosen(mask, self.num_envs)
        shapes = {name: parameters.shape(self.model, name) for name in values}
        arrays = {
            name: batch(value, name, self.num_envs, shapes[name], InputError, env, infinite=name == "effort_limit")
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
        """What it was made with and whatever else it was given, as an instance of a subclass is; its state."""
        return {name: value for name, value in attributes(self).items() if name not in BUILT}, self.save()

    def __setstate__(self, state: tuple[dict[str, Any], bytes]) -> None:
        given, saved = state
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self._build()
        self.restore(saved)
