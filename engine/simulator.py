"""The simulator: owns the buffers of all environments, checks what comes in, calls the kernels."""

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine import coordinates, diagnostics
from vigym.engine.admission import check_state
from vigym.engine.errors import InputError, StateError
from vigym.engine.gradients import Gradients, gradients
from vigym.engine.kernels import layout
from vigym.engine.kernels.cache import DiskCache
from vigym.engine.kernels.simd import compiled as compile_kernel
from vigym.engine.kernels.step import FAST, TICKS, step
from vigym.engine.mechanism import Mechanism
from vigym.engine.model import Model, Options, driven
from vigym.engine.rotation import Array
from vigym.engine.state import State, Status
from vigym.engine.validation import count, number, numeric, show

LANES = 4  # environments side by side in one SIMD register (AVX2); 8 were slower
CONES = ("pyramid",)
MAGIC = b"vigym-1"

_step = compile_kernel(step, DiskCache("step"))


class Simulator:
    """Many copies of one mechanism, stepped together.

    mechanism: what is simulated; later changes to it have no effect here
    dt: time step, s
    num_envs: independent environments, all with the same mechanism
    tolerance: largest residual of a converged step (N, N m, m, rad, m/s)
    cone: shape of the friction cone, "pyramid"
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
        cone: str = "pyramid",
        *,
        num_threads: int = 1,
        compiled: bool = True,
    ) -> None:
        if not isinstance(mechanism, Mechanism):
            raise InputError(f"mechanism must be a vigym.Mechanism, got {type(mechanism).__name__}")
        if not isinstance(cone, str) or cone not in CONES:
            raise InputError(f"cone must be one of {', '.join(CONES)}, got {show(cone)}")
        self.dt = number(dt, "dt", InputError, above=0.0)
        self.tolerance = number(tolerance, "tolerance", InputError, above=0.0)
        self.num_envs, self.num_threads = count(num_envs, "num_envs"), count(num_threads, "num_threads")
        self.cone, self.compiled = cone, compiled
        self.model = Model(mechanism)
        self._build()
        zero = np.zeros((self.num_envs, self.model.n_axes))
        bodies = self.model.mechanism.bodies
        rest = np.zeros((self.num_envs, self.model.n_bodies, 3))
        x = np.array([body.position for body in bodies]) + rest
        q = np.array([body.orientation for body in bodies]) + np.zeros((self.num_envs, 1, 1))
        bounds, bounded = self._get("bounds"), self._get("bounded")
        start = np.where(bounded[..., 0] > 0, np.maximum(zero, bounds[..., 0]), zero)
        start = np.where(bounded[..., 1] > 0, np.minimum(start, bounds[..., 1]), start)
        closed, _ = coordinates.close_loops(self.model, start[:1], zero[:1], (x[:1], q[:1], rest[:1], rest[:1]))
        start = np.repeat(closed, self.num_envs, axis=0)  # all alike
        state = coordinates.forward(self.model, start, zero, x, q, rest, rest)
        self._write(state, np.ones(self.num_envs, bool), start)
        self._unchecked = True  # the default pose is looked at when it is first used

    def _build(self) -> None:
        groups = -(-self.num_envs // LANES)
        sizes, features = self.model.sizes, self.model.features
        self._constants = self.model.constants(Options(self.dt, self.tolerance))
        self._store = layout.state_store(features, sizes, LANES, groups)
        threads = min(self.num_threads, groups)
        self._scratch = [layout.scratch_store(features, sizes, LANES) for _ in range(threads)]
        self._spans = [(groups * k // threads, groups * (k + 1) // threads) for k in range(threads)]
        self._pool: ThreadPoolExecutor | None = None
        self._pool_owner = 0  # process that made the pool; threads do not survive a fork
        for name, value in self.model.defaults().items():
            getattr(self._store, name)[...] = value[None, ..., None]
        self._store.led[...] = self.dt
        self._store.q[:, :, 0] = 1.0  # lanes that fill up the last group
        self._store.status[:, :, 0] = 1.0
        for name in ("ca", "cb", "la", "lb"):
            getattr(self._store, name)[...] = 1.0
        self._set("real", np.ones((self.num_envs, 1, 1)), slice(None))
        # where a drive adds to the effort, the kernels cut off their sum
        joints = [joint for _, joint in coordinates.axis_joints(self.model)]
        limits = [np.where(driven(joint), np.inf, joint.effort_limit) for joint in joints]
        self._effort_limit = np.concatenate([np.zeros(0), *limits])

    # -------------------------------------------------------------------------------------------- lanes <-> arrays
    def _rows(self, name: str) -> Array:
        """A view of a field as (groups, lanes, n, k)."""
        field = getattr(self._store, name)
        return np.moveaxis(field, -1, 1)

    def _get(self, name: str) -> Array:
        rows = self._rows(name)
        count = rows.shape[0] * rows.shape[1]
        return np.array(rows, order="C").reshape(count, *rows.shape[2:])[: self.num_envs]  # always a copy

    def _set(self, name: str, value: Array, where: Any) -> None:
        """Write (len(where), n, k) into the environments `where` (a slice, or an array of indices)."""
        env = np.arange(self.num_envs)[where]
        self._rows(name)[env // LANES, env % LANES] = value

    # -------------------------------------------------------------------------------------------- state
    @property
    def state(self) -> State:
        """Pose and velocity of every body, as fresh arrays."""
        return State(self._get("x"), self._get("q"), self._get("v"), self._get("w"))

    @property
    def status(self) -> Status:
        """How the last step went, one entry an environment."""
        status = self._get("status")[:, 0]
        return Status(status[:, 0] > 0.5, status[:, 1].astype(int), status[:, 2], status[:, 3].astype(int))

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
        the environments to set, the others keep state and warm start; targets of drives stay. A state with a NaN, an
        open joint, a penetration or a coordinate beyond its limits raises StateError and changes nothing.
        """
        chosen = self._mask(mask)
        given = {"x": x, "q": q, "v": v, "w": w}
        state = [
            self._get(name)
            if value is None
            else self._array(value, name, (self.model.n_bodies, 4 if name == "q" else 3))
            for name, value in given.items()
        ]
        size = np.linalg.norm(state[1], axis=-1, keepdims=True)
        if (bad := np.argwhere(np.abs(size[..., 0] - 1.0) > 1e-3)).size:
            env, i = bad[0]
            name = self.model.mechanism.bodies[i].name
            raise StateError(f"q of body {name!r} of environment {env} has length {size[env, i, 0]:.6g}, not 1")
        state[1] = state[1] / size
        phi = self.joint_positions() if x is None and q is None else None  # with the turns counted so far
        self._check(state, chosen, phi)
        self._write(state, chosen, phi)

    def set_joint_state(
        self,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        mask: ArrayLike | None = None,
    ) -> None:
        """Set all poses from joint coordinates (num_envs, n_axes) or (n_axes,), as `joint_positions` orders them.

        Bodies without a joint keep their pose and velocity. In a mechanism with loops, the nearest coordinates and
        velocities that close them are taken.
        """
        axes = (self.model.n_axes,)
        chosen = self._mask(mask)
        phi = self._array(positions, "positions", axes)
        rates = np.zeros_like(phi) if velocities is None else self._array(velocities, "velocities", axes)
        roots = self.state
        if self.model.loops.joints:
            env = np.flatnonzero(chosen)
            phi, rates = phi.copy(), rates.copy()
            here = State(*(part[env] for part in roots))
            phi[env], rates[env] = coordinates.close_loops(self.model, phi[env], rates[env], here)
        state = coordinates.forward(self.model, phi, rates, *roots)
        self._check(state, chosen, phi)
        self._write(state, chosen, phi)

    def _write(self, state: Any, chosen: NDArray[np.bool_], phi: Array | None = None) -> None:
        env = np.flatnonzero(chosen)
        for name, value in zip("xqvw", state, strict=True):
            self._set(name, value[env], env)
        if phi is None or self.model.loops.joints:
            angle = coordinates.positions(self.model, state[0][env], state[1][env])
        else:  # with their full turns
            angle = phi[env]
        self._set("angle", angle[..., None], env)
        rate = coordinates.velocities(self.model, *(value[env] for value in state))
        self._set("rate", rate[..., None], env)
        # the substep that can have led to this spin
        spin = np.linalg.norm(state[3][env], axis=-1).max(-1)
        halvings = np.minimum(np.ceil(np.log2(np.maximum(spin * self.dt / FAST, 1.0))), np.log2(TICKS))
        self._set("led", (self.dt / 2.0**halvings)[:, None, None], env)
        self._set("fresh", np.ones(1), env)
        self._set("status", np.array([1.0, 0.0, 0.0, 0.0]), env)
        if chosen.all():
            self._unchecked = False

    def _check(self, state: Any, chosen: NDArray[np.bool_], phi: Array | None = None) -> None:
        env = np.flatnonzero(chosen)
        limits = self._get("bounds")[env], self._get("bounded")[env]
        angles = None if phi is None or self.model.loops.joints else phi[env]
        check_state(self.model, self.dt, State(*(value[env] for value in state)), limits, env, angles)

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
        """Advance all environments by `repeat` time steps with the same controls.

        effort: (num_envs, n_efforts) on the free joint axes, N or N m; None is zero. Together with what a drive on the
        axis adds, it is cut to the effort limit
        force, torque: (num_envs, n_bodies, 3) on bodies, force at the centre of mass in the world frame, torque in
        the BODY frame; None is zero
        target, target_velocity: (num_envs, n_efforts) of the PD drives; None leaves the last ones
        """
        repeat = count(repeat, "repeat")
        if self._unchecked:
            self._check(self.state, np.ones(self.num_envs, bool), self.joint_positions())
            self._unchecked = False
        axes, bodies = (self.model.n_axes,), (self.model.n_bodies, 3)
        checked = [
            None if value is None else self._array(value, name, shape, InputError)
            for value, name, shape in (
                (effort, "effort", axes),
                (force, "force", bodies),
                (torque, "torque", bodies),
                (target, "target", axes),
                (target_velocity, "target_velocity", axes),
            )
        ]
        efforts, forces, torques, *targets = checked
        everyone = slice(None)
        for name, value in (("effort", efforts), ("force", forces), ("torque", torques)):
            if value is None:
                getattr(self._store, name)[...] = 0.0
            elif name == "effort":
                self._set(name, np.clip(value, -self._effort_limit, self._effort_limit)[..., None], everyone)
            else:
                self._set(name, value, everyone)
        for column, value in enumerate(targets):
            if value is not None:
                field = self._get("target")
                field[..., column] = value
                self._set("target", field, everyone)
        self._run(repeat)

    def _run(self, repeat: int) -> None:
        if not self.compiled:
            with np.errstate(all="ignore"):
                for (first, last), scratch in zip(self._spans, self._scratch, strict=True):
                    step(self._constants[0], self._store, scratch[0], first, last, repeat)
        elif len(self._spans) == 1:
            _step(self._constants, self._store, self._scratch[0], *self._spans[0], repeat)
        else:
            if self._pool is None or self._pool_owner != os.getpid():
                self._pool, self._pool_owner = ThreadPoolExecutor(len(self._spans)), os.getpid()
            jobs = [
                self._pool.submit(_step, self._constants, self._store, scratch, first, last, repeat)
                for (first, last), scratch in zip(self._spans, self._scratch, strict=True)
            ]
            wait(jobs)  # all of them, before an error or an interrupt lets anyone touch the store
            for job in jobs:
                job.result()

    # -------------------------------------------------------------------------------------------- read-out
    @property
    def axis_names(self) -> list[str]:
        """Names of the free joint axes, in the order of efforts, positions and velocities."""
        return self.model.axis_names

    def joint_positions(self) -> Array:
        """Coordinates of the free joint axes (num_envs, n_efforts), m or rad; full turns are counted."""
        return self._get("angle")[..., 0]

    def joint_velocities(self) -> Array:
        """Velocities of the free joint axes (num_envs, n_efforts), m/s or rad/s."""
        return coordinates.velocities(self.model, *self.state)

    def joint_error(self) -> Array:
        """Largest |g| of all joints, m or sine of half an angle (num_envs,)."""
        x, q, _, _ = self.state
        return coordinates.errors(self.model, x, q).max(-1, initial=0.0)

    def contact_gaps(self) -> Array:
        """Distance of every contact from its plane, m (num_envs, n_contacts)."""
        x, q, _, _ = self.state
        return diagnostics.gaps(self.model, x, q)

    def contact_forces(self) -> Array:
        """Force of the ground on the body at every contact in the last step, N, world (num_envs, n_contacts, 3)."""
        pairs, rough = self._get("ca"), self._get("friction")[..., 0] > 0
        frame = self._constants.frame[0]
        moved = (self._get("status")[:, 0, 3] > 0)[:, None]
        local = np.stack([pairs[..., 0], pairs[..., 2] - pairs[..., 3], pairs[..., 4] - pairs[..., 5]], -1)
        local[..., 1:] *= rough[..., None]
        return np.einsum("ncj,cjk->nck", local * moved[..., None], frame)

    def energy(self) -> Array:
        """Kinetic energy and potential energy of gravity and springs, J (num_envs,)."""
        x, _, v, w = self.state
        mass, inertia = self._inertia()
        return diagnostics.energy(self.model, x, v, w, mass, inertia, self.joint_positions())

    def momentum(self) -> Array:
        """Linear momentum and angular momentum about the world's origin (num_envs, 6), N s and N m s."""
        mass, inertia = self._inertia()
        return diagnostics.momentum(*self.state, mass, inertia, self._get("led")[:, 0, 0])

    def gradients(self) -> Gradients:
        """Derivatives of the next state by the state and by the efforts, for the last (single) step."""
        return gradients(self)

    def _inertia(self) -> tuple[Array, Array]:
        six = self._get("inertia")
        return self._get("mass")[..., 0], six[..., [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(*six.shape[:-1], 3, 3)

    # -------------------------------------------------------------------------------------------- save and restore
    def save(self) -> bytes:
        """Everything that changes: states, warm start, controls and parameters of all environments."""
        slab = self._store.slab.tobytes()
        return self._head(slab, self._unchecked) + slab

    def restore(self, data: bytes) -> None:
        """Go back to what `save` returned, bit by bit, in this simulator or in one built alike."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise InputError("restore takes the bytes that save() returned")
        data = bytes(data)
        size = len(MAGIC) + 33
        slab, unchecked = data[size:], data[len(MAGIC) : len(MAGIC) + 1] == b"\1"
        if len(slab) != self._store.slab.nbytes or data[:size] != self._head(slab, unchecked):
            raise InputError("these bytes are damaged, or of a simulator of another mechanism, dt, num_envs or version")
        self._store.slab[...] = np.frombuffer(slab).reshape(self._store.slab.shape)
        self._unchecked = unchecked

    def _head(self, slab: bytes, unchecked: bool) -> bytes:
        """Version, flag, and a hash of the mechanism and options that the slab belongs to, and of itself."""
        mechanism = self.model.mechanism
        joints = [(joint.name, joint.kind, joint.parent, joint.child) for joint in mechanism.joints]
        parts = [body.name for body in mechanism.bodies], joints, [(c.name, c.body) for c in mechanism.contacts]
        digest = hashlib.sha256(repr((parts, self.dt, self.num_envs, self._store.slab.shape)).encode())
        digest.update(self._constants.slab.tobytes())
        digest.update(slab)
        return MAGIC + bytes([unchecked]) + digest.digest()

    def __getstate__(self) -> dict[str, Any]:
        names = ("dt", "tolerance", "num_envs", "num_threads", "cone", "compiled", "model")
        return {name: getattr(self, name) for name in names} | {"saved": self.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("saved")
        self.__dict__.update(state)
        self._build()
        self.restore(saved)

    # -------------------------------------------------------------------------------------------- checks
    def _array(self, value: ArrayLike, name: str, shape: tuple[int, ...], error: type = StateError) -> Array:
        """A finite float array (num_envs, *shape)."""
        full = (self.num_envs, *shape)
        if type(value) is np.ndarray and value.dtype.kind in "biuf":
            array = value
        else:
            array = numeric(value, name, f"an array of numbers, shape {full} or {shape}", error)
        if array.shape not in (full, shape):
            raise error(f"{name} must have shape {full} or {shape}, got {array.shape}")
        array = np.broadcast_to(array.astype(float, copy=False), full)
        if not np.isfinite(array).all():
            where = np.argwhere(~np.isfinite(array))[0]
            raise error(f"{name}{[int(k) for k in where]} is {array[tuple(where)]}")
        return array

    def _mask(self, mask: ArrayLike | None) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, bool)
        try:
            array = np.asarray(mask)
        except Exception as cause:  # ragged lists
            raise InputError(f"mask must be {self.num_envs} booleans, got {show(mask)}") from cause
        if array.shape != (self.num_envs,) or array.dtype != bool:
            raise InputError(f"mask must be {self.num_envs} booleans, got {array.dtype} of shape {array.shape}")
        return array
