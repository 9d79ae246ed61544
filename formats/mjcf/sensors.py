"""Sensors of a compiled model, read from a simulator of its mechanism, in MuJoCo's frames and conventions."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from vigym.engine.joint import WORLD
from vigym.engine.rotation import Array, conjugate, cross, multiply, rotate
from vigym.engine.sensors.distances import RangeFinder
from vigym.engine.sensors.imu import Imu
from vigym.engine.sensors.loads import ForceTorque
from vigym.engine.sensors.sensor import Sensor
from vigym.engine.simulator import Simulator
from vigym.formats.mjcf.chains import BALL, FREE
from vigym.formats.mjcf.notes import Notes
from vigym.formats.mjcf.rigid import Rigid, names_of
from vigym.formats.mjcf.source import import_mujoco
from vigym.formats.urdf.parts import Pose

_ON_SITES = ("accelerometer", "gyro", "velocimeter", "force", "torque", "rangefinder")
_OF_FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
_OF_JOINTS = ("jointpos", "jointvel", "ballquat", "ballangvel")
_FARTHEST = 1e3  # m, of range finders

Read = Callable[[], Array]
Coordinates = Callable[[Simulator], tuple[Array, Array]]


class SensorPlan(NamedTuple):
    """A sensor of the file: its kind in MJCF, what it is mounted on (the name of a body or "world", and a frame in it),
    the joint that carries that, its first coordinate and velocity, cutoff (0: none) and noise."""

    name: str
    kind: str
    body: str
    pose: Pose
    joint: str
    qpos: int
    qvel: int
    cutoff: float
    noise: float


def read_sensors(model: Any, rigid: Rigid, joints: dict[str, str], notes: Notes) -> tuple[SensorPlan, ...]:
    """All sensors that can be read; others are told. joints: name of the joint that carries each body."""
    kinds = {int(kind): name.removeprefix("mjSENS_").lower() for name, kind in _members("mjtSensor", "mjSENS_")}
    plans: list[SensorPlan] = []
    left_out: dict[str, int] = {}
    for s, name in enumerate(names_of(model, "sensor", model.nsensor)):
        kind, number = kinds.get(int(model.sensor_type[s]), "?"), int(model.sensor_objid[s])
        plan = _plan(model, rigid, joints, s, kind, number)
        if plan is None:
            left_out[kind] = left_out.get(kind, 0) + 1
        else:
            plans.append(plan._replace(name=name))
    for kind, count in left_out.items():
        notes.other(f"{count} sensors of type {kind}: not read")
    return tuple(plans)


def _members(kind: str, prefix: str) -> list[tuple[str, int]]:
    known = getattr(import_mujoco(), kind)
    return [(name, int(getattr(known, name))) for name in dir(known) if name.startswith(prefix)]


def _plan(model: Any, rigid: Rigid, joints: dict[str, str], s: int, kind: str, number: int) -> SensorPlan | None:
    pose, joint, qpos, qvel = Pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])), "", 0, 0
    body, cutoff, noise = WORLD, float(model.sensor_cutoff[s]), float(model.sensor_noise[s])
    if kind == "clock":
        pass
    elif kind in _OF_JOINTS:
        if (model.jnt_type[number] in (BALL, FREE)) != kind.startswith("ball"):
            return None
        qpos, qvel = int(model.jnt_qposadr[number]), int(model.jnt_dofadr[number])
    elif kind in (*_ON_SITES, *_OF_FRAMES) and model.sensor_refid[s] < 0:
        mounted = _mounted(model, s, number)
        if mounted is None:
            return None
        b, place = mounted
        body, pose = rigid.name(b), rigid.place(b, place)
        joint = joints.get(body, "") if rigid.leader[b] == b else ""
        if (kind in ("force", "torque") and not joint) or (body == WORLD and kind not in _OF_FRAMES):
            return None
    else:
        return None
    return SensorPlan("", kind, body, pose, joint, qpos, qvel, cutoff, noise)


def _mounted(model: Any, s: int, number: int) -> tuple[int, Pose] | None:
    """Body and frame of a site, geom, body or its inertial frame."""
    kind, types = int(model.sensor_objtype[s]), dict(_members("mjtObj", "mjOBJ_"))
    if kind == types["mjOBJ_SITE"]:
        return int(model.site_bodyid[number]), Pose(model.site_pos[number].copy(), model.site_quat[number].copy())
    if kind == types["mjOBJ_GEOM"]:
        return int(model.geom_bodyid[number]), Pose(model.geom_pos[number].copy(), model.geom_quat[number].copy())
    if kind == types["mjOBJ_BODY"]:
        return number, Pose(model.body_ipos[number].copy(), model.body_iquat[number].copy())
    if kind == types["mjOBJ_XBODY"]:
        return number, Pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    return None


class MjcfSensors:
    """Sensors of an MJCF file on a simulator: call it after each step, for a dictionary of readings (num_envs, n).

    They have no noise unless `noise`; then that of the file, which MuJoCo only notes. Accelerometers are means since
    the last reading, velocities those of the last step. A range finder that sees nothing tells -1.
    """

    def __init__(
        self, sim: Simulator, plans: tuple[SensorPlan, ...], coordinates: Coordinates, *, noise: bool, seed: int
    ) -> None:
        self._sim, self._coordinates = sim, coordinates
        self._rngs: list[np.random.Generator] | None = None
        self._parts: list[Sensor] = []
        self._reads = {plan.name: self._reader(plan) for plan in plans}
        self._plans = {plan.name: plan for plan in plans}
        if noise:
            self._rngs = [np.random.default_rng(seed + i) for i in range(sim.num_envs)]

    def __call__(self) -> dict[str, Array]:
        found = {}
        for name, read in self._reads.items():
            value, plan = read(), self._plans[name]
            if self._rngs is not None and plan.noise > 0.0:
                value = value + plan.noise * np.array([rng.standard_normal(value.shape[1:]) for rng in self._rngs])
            if plan.cutoff > 0.0 and plan.kind != "framequat":
                value = np.clip(value, -1.0 if plan.kind == "rangefinder" else -plan.cutoff, plan.cutoff)
            found[name] = value
        return found

    def reset(self, mask: Any = None) -> None:
        """Begin anew in the environments that `mask` (num_envs,) chooses."""
        for part in self._parts:
            part.reset(mask)

    def _reader(self, plan: SensorPlan) -> Read:
        sim, place, turn = self._sim, plan.pose.position, plan.pose.orientation
        match plan.kind:
            case "clock":
                return lambda: sim.time[:, None]
            case "accelerometer" | "gyro":
                part = slice(0, 3) if plan.kind == "accelerometer" else slice(3, 6)
                imu = self._kept(Imu(sim, plan.body, place, turn))
                return lambda: imu()[:, part]
            case "force" | "torque":
                part = slice(0, 3) if plan.kind == "force" else slice(3, 6)
                load = self._kept(ForceTorque(sim, plan.joint, place, turn))
                return lambda: load()[:, part]
            case "rangefinder":
                return self._range(plan)
            case "jointpos" | "jointvel" | "ballquat" | "ballangvel":
                which, size = int(plan.kind in ("jointvel", "ballangvel")), {"ballquat": 4, "ballangvel": 3}
                first = plan.qvel if which else plan.qpos
                return lambda: self._coordinates(sim)[which][:, first : first + size.get(plan.kind, 1)]
        return lambda: self._frame(plan)

    def _kept(self, sensor: Sensor) -> Sensor:
        self._parts.append(sensor)
        return sensor

    def _range(self, plan: SensorPlan) -> Read:
        way = rotate(plan.pose.orientation, np.array([0.0, 0.0, 1.0]))
        finder = self._kept(RangeFinder(self._sim, plan.body, plan.pose.position, way, max_distance=_FARTHEST))

        def read() -> Array:
            found = finder()
            return np.where(found < _FARTHEST, found, -1.0)

        return read

    def _frame(self, plan: SensorPlan) -> Array:
        """Pose or velocity of a frame, world; of velocimeters, in the frame itself."""
        sim, place, turn = self._sim, plan.pose.position, plan.pose.orientation
        n = sim.num_envs
        x, q, v, w = np.zeros((n, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)), np.zeros((n, 3)), np.zeros((n, 3))
        if plan.body != WORLD:
            i, state = sim.body_names.index(plan.body), sim.state
            x, q, v, w = (part[:, i] for part in state)
        whole, spin = multiply(q, turn), rotate(q, w)
        match plan.kind:
            case "framepos":
                return x + rotate(q, place)
            case "framequat":
                return whole
            case "frameangvel":
                return spin
            case "framelinvel":
                return v + cross(spin, rotate(q, place))
            case "velocimeter":
                return rotate(conjugate(whole), v + cross(spin, rotate(q, place)))
        return rotate(whole, np.eye(3)["xyz".index(plan.kind[5])])
