"""MJCF files: `load_mjcf` gives a mechanism, `read_mjcf` also maps to MuJoCo's coordinates and controls."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine import coordinates
from vigym.engine.errors import InputError, MechanismError
from vigym.engine.mechanism import Mechanism
from vigym.engine.model import Model
from vigym.engine.rotation import conjugate, cross, from_rotation_vector, rotate, to_rotation_vector
from vigym.engine.simulator import Simulator
from vigym.engine.validation import Array, choice, read_only
from vigym.formats.mjcf.activations import Activations
from vigym.formats.mjcf.actuators import Actuators, read_actuators
from vigym.formats.mjcf.beginning import let_pass, set_targets, start_within_limits
from vigym.formats.mjcf.build import Acting, Axes, add_bodies
from vigym.formats.mjcf.cameras import cameras_of, sun_of
from vigym.formats.mjcf.equalities import add_equalities
from vigym.formats.mjcf.geoms import Geoms
from vigym.formats.mjcf.mocap import mocap_coordinates
from vigym.formats.mjcf.notes import Notes, check_features
from vigym.formats.mjcf.rigid import Rigid, names_of
from vigym.formats.mjcf.sensors import MjcfSensors, SensorPlan, read_sensors
from vigym.formats.mjcf.sliders import add_sliders
from vigym.formats.mjcf.source import MjcfError, MjcfWarning, compile_mjcf, import_mujoco
from vigym.formats.mjcf.tendons import read_tendons

UNSUPPORTED = ("error", "omit")


@dataclass(frozen=True, eq=False)
class Keyframe:
    """A state that a file names, in MuJoCo's coordinates: time (s), qpos, qvel, ctrl, mocap_pos, mocap_quat."""

    time: float
    qpos: Array
    qvel: Array
    ctrl: Array
    mocap_pos: Array
    mocap_quat: Array


@dataclass(frozen=True, eq=False)
class MjcfModel:
    """An MJCF file, read.

    name: of the model. path: of the file; None if it was text. mechanism: what is simulated. dt: the file's step, s.
    actuators: names, in the order of ctrl. sensors: names of those that `sensors_of` reads. mocap: names of the bodies
    whose pose `controls` sets, in the order of mocap_pos.
    qpos0: coordinates (nq,) of the file's pose.
    keyframes: by name. cameras: by name, for `Camera.from_config`. sun: direction (3,) towards the first directional
    light, or None. not_converted: all that was left out or approximated; `warnings` are those of them that alter the
    motion.
    """

    name: str
    path: Path | None
    mechanism: Mechanism
    dt: float
    actuators: tuple[str, ...]
    sensors: tuple[str, ...]
    mocap: tuple[str, ...]
    qpos0: Array
    keyframes: Mapping[str, Keyframe]
    cameras: Mapping[str, Mapping[str, Any]]
    sun: Array | None
    not_converted: tuple[str, ...]
    warnings: tuple[str, ...]
    _nv: int
    _sensors: tuple[SensorPlan, ...]
    _axes: Axes
    _drives: Actuators
    _open: Model | None  # without the joints that close loops
    _lifts: tuple[tuple[int, Array, Array], ...]  # gravity compensation: body, force (world), place (body frame)

    def joint_state(
        self,
        qpos: ArrayLike,
        qvel: ArrayLike | None = None,
        *,
        mocap_pos: ArrayLike | None = None,
        mocap_quat: ArrayLike | None = None,
    ) -> dict[str, Array]:
        """MuJoCo's coordinates (..., nq) and velocities (..., nv) as arguments of `sim.set_joint_state`.

        Pass them on with `**`; leading shape () or (num_envs,).
        mocap_pos, mocap_quat: (..., nmocap, 3) and (..., nmocap, 4), poses of mocap bodies; the file's, if left out.
        """
        p = self._checked(qpos, len(self.qpos0), "qpos")
        u = np.zeros(self._nv) if qvel is None else self._checked(qvel, self._nv, "qvel")
        axes, poses = self._axes, mocap_coordinates(self._axes.mocap, mocap_pos, mocap_quat)
        lead = np.broadcast_shapes(p.shape[:-1], u.shape[:-1], poses.shape[:-2])
        p, u = (np.broadcast_to(part, (*lead, part.shape[-1])) for part in (p, u))
        positions, velocities = np.zeros((2, *lead, axes.count))
        for k, (axis, _) in axes.mocap.items():
            positions[..., axis : axis + 6] = poses[..., k, :]
        sign = np.array(axes.sign)
        positions[..., axes.axis] = sign * (p[..., axes.qpos] - self.qpos0[axes.qpos])
        velocities[..., axes.axis] = sign * u[..., axes.qvel]
        for axis, a, d in axes.balls:
            positions[..., axis : axis + 3] = to_rotation_vector(_unit(p[..., a : a + 4]))
            velocities[..., axis : axis + 3] = u[..., d : d + 3]
        bodies = self.mechanism.bodies
        x = np.broadcast_to([body.position for body in bodies], (*lead, len(bodies), 3)).copy()
        q = np.broadcast_to([body.orientation for body in bodies], (*lead, len(bodies), 4)).copy()
        v, w = np.zeros((2, *x.shape))
        for i, a, d, com in axes.free:
            q[..., i, :] = turn = _unit(p[..., a + 3 : a + 7])
            x[..., i, :] = p[..., a : a + 3] + rotate(turn, com)
            w[..., i, :] = spin = u[..., d + 3 : d + 6]
            v[..., i, :] = u[..., d : d + 3] + rotate(turn, cross(spin, np.broadcast_to(com, spin.shape)))
        if self._open is not None:
            positions = self._closed(self._open, positions, x, q)
        return {"positions": positions, "velocities": velocities, "x": x, "q": q, "v": v, "w": w}

    def _closed(self, tree: Model, given: Array, x: Array, q: Array) -> Array:
        """The same joint coordinates, with those of joints that close loops, which tell where the file's joints are."""
        n, bodies = tree.n_axes, len(tree.mechanism.bodies)
        poses = [part.reshape(-1, *part.shape[-2:]).copy() for part in (x, q)]
        flat = given.reshape(-1, given.shape[-1]).copy()
        there = coordinates.forward(tree, flat[:, :n], *(part[:, :bodies] for part in poses))
        for part, value in zip(poses, there, strict=True):
            part[:, :bodies] = value
        flat[:, n:] = coordinates.positions(Model(self.mechanism), *poses)[:, n:]
        return flat.reshape(given.shape)

    def coordinates(self, sim: Simulator) -> tuple[Array, Array]:
        """MuJoCo's qpos (num_envs, nq) and qvel (num_envs, nv) of a simulator's state."""
        axes, state, n = self._axes, sim.state, sim.num_envs
        y, rates = sim.joint_positions(), sim.joint_velocities()
        qpos, qvel = np.tile(self.qpos0, (n, 1)), np.zeros((n, self._nv))
        sign = np.array(axes.sign)
        qpos[:, axes.qpos] += sign * y[:, axes.axis]
        qvel[:, axes.qvel] = sign * rates[:, axes.axis]
        for axis, a, d in axes.balls:
            qpos[:, a : a + 4] = from_rotation_vector(y[:, axis : axis + 3])
            qvel[:, d : d + 3] = rates[:, axis : axis + 3]
        for i, a, d, com in axes.free:
            turn, spin = state.q[:, i], state.w[:, i]
            qpos[:, a : a + 3], qpos[:, a + 3 : a + 7] = state.x[:, i] - rotate(turn, com[None]), turn
            qvel[:, d : d + 3] = state.v[:, i] - rotate(turn, cross(spin, np.broadcast_to(com, spin.shape)))
            qvel[:, d + 3 : d + 6] = spin
        return qpos, qvel

    def controls(
        self,
        ctrl: ArrayLike,
        sim: Simulator | None = None,
        *,
        mocap_pos: ArrayLike | None = None,
        mocap_quat: ArrayLike | None = None,
    ) -> dict[str, Array]:
        """MuJoCo's controls (..., nu) as arguments of `sim.step`: efforts, targets, forces on bodies.

        mocap_pos, mocap_quat: (..., nmocap, 3) and (..., nmocap, 4), poses that mocap bodies have at the end of the
            step; the file's, if left out.
        sim: needed where forces depend on the state: actuators on sites and on tendons of several joints, gravity
            compensation, damping of free joints; InputError if it is missing.
        """
        drives, axes = self._drives, self._axes
        u, poses = (
            self._checked(ctrl, len(self.actuators), "ctrl"),
            mocap_coordinates(axes.mocap, mocap_pos, mocap_quat),
        )
        u = np.broadcast_to(u, (*np.broadcast_shapes(u.shape[:-1], poses.shape[:-2]), u.shape[-1]))
        if self.needs_state and sim is None:
            raise InputError(
                "controls: forces of this model depend on the state; give the simulator: controls(ctrl, sim)"
            )
        q, rate = None, None
        if sim is not None and drives.cross.any():
            qpos, rate = self.coordinates(sim)
            q = np.zeros(rate.shape)
            q[:, axes.qvel] = qpos[:, axes.qpos]
        forces = drives.forces(u)
        efforts = drives.efforts(forces, q, rate)
        found = {key: np.zeros((*efforts.shape[:-1], axes.count)) for key in ("effort", "target", "target_velocity")}
        kp, kd = drives.kp[axes.qvel], drives.kd[axes.qvel]
        own, sign = efforts[..., axes.qvel], np.array(axes.sign)
        spring, damper = kp > 0.0, (kp == 0.0) & (kd > 0.0)
        target = np.divide(own, kp, out=np.zeros_like(own), where=np.broadcast_to(spring, own.shape))
        found["target"][..., axes.axis] = np.where(spring, sign * (target - self.qpos0[axes.qpos]), 0.0)
        rates = np.divide(own, kd, out=np.zeros_like(own), where=np.broadcast_to(damper, own.shape))
        found["target_velocity"][..., axes.axis] = sign * rates
        found["effort"][..., axes.axis] = np.where(spring | damper, 0.0, sign * own)
        for axis, _, d in axes.balls:
            found["effort"][..., axis : axis + 3] = efforts[..., d : d + 3]
        for k, (axis, _) in axes.mocap.items():
            found["target"][..., axis : axis + 6] = poses[..., k, :]
        if not (drives.kp.any() or drives.kd.any() or axes.mocap):
            del found["target"], found["target_velocity"]
        if not axes.count:
            del found["effort"]
        if sim is not None and (drives.thrusters or self._lifts or axes.drag):
            found |= self._wrenches(forces, sim)
        return found

    def activations(self, sim: Simulator) -> Activations:
        """Activations of the file's actuators on a simulator, which stand between controls and forces: with
        `act = self.activations(sim)`, then `sim.step(**self.controls(act(ctrl), sim))` at each step.
        """
        return Activations(self._drives.dynamics, sim.num_envs, len(self.actuators), sim.dt)

    def sensors_of(self, sim: Simulator, *, noise: bool = False, seed: int = 0) -> MjcfSensors:
        """The file's sensors on a simulator of its mechanism; call them after each step for readings by name.

        noise: add that of the file; environment i has the stream of seed + i.
        """
        return MjcfSensors(sim, self._sensors, self.coordinates, noise=noise, seed=seed)

    @property
    def needs_state(self) -> bool:
        """True if `controls` needs the simulator."""
        drives = self._drives
        return bool(drives.thrusters or self._lifts or self._axes.drag or drives.cross.any())

    def _wrenches(self, forces: Array, sim: Simulator) -> dict[str, Array]:
        """Forces (world) and torques (body) of actuators on sites, gravity compensation and damping of free joints."""
        turn = sim.state.q
        force, torque = np.zeros((2, sim.num_envs, len(self.mechanism.bodies), 3))
        number = {body.name: i for i, body in enumerate(self.mechanism.bodies)}
        for thruster in self._drives.thrusters:
            i, f = number[thruster.body], forces[..., thruster.actuator, None]
            force[:, i] += rotate(turn[:, i], np.broadcast_to(f * thruster.force, force[:, i].shape))
            torque[:, i] += f * thruster.torque
        for i, lift, place in self._lifts:
            force[:, i] += lift
            local = rotate(conjugate(turn[:, i]), np.broadcast_to(lift, force[:, i].shape))
            torque[:, i] += cross(np.broadcast_to(place, local.shape), local)
        for i, damping, com in self._axes.drag:
            spin, centre = sim.state.w[:, i], np.broadcast_to(com, force[:, i].shape)
            least = np.linalg.eigvalsh(sim.parameter("inertia")[:, i])[:, 0].astype(float)
            slide = _over_a_step(damping, sim.parameter("mass")[:, i], sim.dt)[:, None]
            roll = _over_a_step(damping, least, sim.dt)[:, None]
            local = -slide * (rotate(conjugate(turn[:, i]), sim.state.v[:, i]) - cross(spin, centre))
            force[:, i] += rotate(turn[:, i], local)
            torque[:, i] += -roll * spin - cross(centre, local)
        return {"force": force, "torque": torque}

    def _checked(self, value: ArrayLike, size: int, what: str) -> Array:
        array = np.asarray(value, float)
        if array.ndim not in (1, 2) or array.shape[-1] != size or not np.isfinite(array).all():
            raise InputError(f"{what} must be finite, of shape ({size},) or (num_envs, {size}), got {array.shape}")
        return array


def load_mjcf(path_or_xml: str | PathLike[str], **options: Any) -> Mechanism:
    """The mechanism of an MJCF file, or of its text: `read_mjcf(path_or_xml, **options).mechanism`.

    options: root, unsupported; see `read_mjcf`. MuJoCo's compiler reads the file: it needs the extra `mjcf`.
    """
    return read_mjcf(path_or_xml, **options).mechanism


def read_mjcf(
    path_or_xml: str | PathLike[str],
    *,
    root: str | PathLike[str] | None = None,
    unsupported: str = "error",
) -> MjcfModel:
    """An MJCF file, or its text, with its mechanism, maps to MuJoCo's coordinates and controls, and keyframes.

    root: folder below which included files, meshes and textures may be; that of the file, if left out.
    unsupported: "error" raises MjcfError for features that are not converted, "omit" leaves them out with a warning.
    """
    omit = choice(unsupported, UNSUPPORTED, "unsupported") == "omit"
    source = compile_mjcf(path_or_xml, root)
    model = source.model
    name = "the text" if source.path is None else str(source.path)
    notes = Notes(name, omit)
    check_features(model, notes)
    flags = _flags(model)
    for flag in sorted(flags & {"ACTUATION", "DAMPER", "FRICTIONLOSS", "LIMIT", "SPRING"}):
        notes.refuse(f"the flag that disables {flag.lower()}")
    rigid = Rigid(model, notes)
    if not any(rigid.filtered):
        raise MjcfError(f"{name}: nothing in it can move; give a body a joint")
    drives, tendons = read_actuators(model, rigid, notes), read_tendons(model, notes)
    mechanism = Mechanism(gravity=np.zeros(3) if "GRAVITY" in flags else model.opt.gravity.copy())
    try:
        axes = add_bodies(mechanism, model, rigid, Acting(drives, tendons), notes)
        sensors = read_sensors(model, rigid, {joint.child: joint.name for joint in mechanism.joints}, notes)
        tree = deepcopy(mechanism)
        if not {"EQUALITY", "CONSTRAINT"} & flags:
            add_equalities(mechanism, model, rigid, axes, notes)
        add_sliders(mechanism, model, tendons.several, axes, notes)
        axes.count = sum(joint.n_free for joint in mechanism.joints)  # loops and sliders have some too
        geoms = Geoms(model, rigid, notes)
        geoms.add(mechanism)
        let_pass(mechanism, geoms.of_robot(), notes)
    except MechanismError as cause:
        if isinstance(cause, MjcfError):
            raise
        raise MjcfError(f"{name}: {cause}") from cause
    found = MjcfModel(
        name=_model_name(model),
        path=source.path,
        mechanism=mechanism,
        dt=float(model.opt.timestep),
        actuators=tuple(drives.names),
        sensors=tuple(plan.name for plan in sensors),
        mocap=tuple(rigid.names[int(b)] for b in np.argsort(model.body_mocapid)[np.sum(model.body_mocapid < 0) :]),
        qpos0=read_only(model.qpos0.copy()),
        keyframes=_keyframes(model),
        cameras=cameras_of(model, rigid),
        sun=sun_of(model),
        not_converted=(*notes.changes, *notes.others),
        warnings=tuple(notes.changes),
        _nv=int(model.nv),
        _sensors=sensors,
        _axes=axes,
        _drives=drives,
        _open=Model(tree) if len(mechanism.joints) > len(tree.joints) + len(tendons.several) else None,
        _lifts=_lifts(model, rigid, mechanism),
    )
    set_targets(found)
    found = replace(found, not_converted=(*found.not_converted, *start_within_limits(found)))
    if notes.changes:
        more = f" (and {len(notes.changes) - 5} more, see .warnings)" if len(notes.changes) > 5 else ""
        warn(f"{name}: {'; '.join(notes.changes[:5])}{more}", MjcfWarning, stacklevel=2)
    return found


def _over_a_step(damping: float, inertia: Array, h: float) -> Array:
    """The rate by which a force that is constant over a step slows down as much as a damper: (J/h)(1 - exp(-d h/J))."""
    return -inertia / h * np.expm1(-damping * h / inertia)


def _unit(q: Array) -> Array:
    size = np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(size > 0.0, q / np.where(size > 0.0, size, 1.0), [1.0, 0.0, 0.0, 0.0])


def _flags(model: Any) -> set[str]:
    """Names of what the file disables."""
    bits = import_mujoco().mjtDisableBit
    named = {key.removeprefix("mjDSBL_"): int(getattr(bits, key)) for key in dir(bits) if key.startswith("mjDSBL_")}
    return {key for key, bit in named.items() if model.opt.disableflags & bit}


def _keyframes(model: Any) -> dict[str, Keyframe]:
    found = {}
    for k, name in enumerate(names_of(model, "key", model.nkey)):
        states = model.key_qpos, model.key_qvel, model.key_ctrl
        places = (
            part.reshape(model.nkey, model.nmocap, size) for part, size in ((model.key_mpos, 3), (model.key_mquat, 4))
        )
        parts = [read_only(part[k].copy()) for part in (*states, *places)]
        found[name] = Keyframe(float(model.key_time[k]), *parts)
    return found


def _lifts(model: Any, rigid: Rigid, mechanism: Mechanism) -> tuple[tuple[int, Array, Array], ...]:
    """Gravity compensation of the bodies that have some: number of the body, force, place."""
    number = {body.name: i for i, body in enumerate(mechanism.bodies)}
    found = []
    for b in np.flatnonzero(model.body_gravcomp).tolist():
        if rigid.filtered[b]:
            place = rigid.inside[b].apply(model.body_ipos[b]) - rigid.groups[rigid.leader[b]].com
            lift = -model.body_gravcomp[b] * model.body_mass[b] * mechanism.gravity
            found.append((number[rigid.name(b)], lift, place))
    return tuple(found)


def _model_name(model: Any) -> str:
    return bytes(model.names).split(b"\0", 1)[0].decode("utf-8", "replace")
