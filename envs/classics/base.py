"""Common parts of these tasks: MuJoCo's coordinates qpos and qvel, starts like Gymnasium's, motors on joints.

qpos has the joint coordinates in the order of MuJoCo's model; a root that floats has position and quaternion in front.
qvel has their rates; of a root that floats, the velocity of its origin in the world's axes and the angular velocity in
its own. Rates are means of the last step of the simulator, as all velocities are here; MuJoCo's are those of an
instant.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.compiled import compiled, inlined
from vigym.engine.errors import InputError
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import rotate
from vigym.engine.validation import batch
from vigym.engine.vectors import rotation_matrix
from vigym.envs.compiled_task import CompiledTask, write, write_maximal
from vigym.envs.env import RobotEnv
from vigym.envs.task import Array, Draws, Indices


@compiled
def drive(actions, axes, gears, efforts):
    """Efforts of the motors (n, n_axes), N or N m, for actions (n, n_actions)."""
    for n in range(len(actions)):
        for k in range(len(axes)):
            efforts[n, axes[k]] = gears[k] * actions[n, k]


@inlined
def sense_joints(me, physics, order, first_position, first_rate):
    """qpos and qvel of the joints; order: place of each free axis among them."""
    for k in range(len(order)):
        me.qpos[first_position + order[k]] = physics.joints[k]
        me.qvel[first_rate + order[k]] = physics.rates[k]


@inlined
def sense_root(me, physics, centre):
    """qpos and qvel of the first body, which floats. centre: its centre of mass in MuJoCo's frame."""
    x, v, w = physics.x[0], physics.v[0], physics.w[0]
    rows = rotation_matrix(physics.q[0])
    spin = (
        w[1] * centre[2] - w[2] * centre[1],
        w[2] * centre[0] - w[0] * centre[2],
        w[0] * centre[1] - w[1] * centre[0],
    )
    for i in range(3):
        row = rows[i]
        me.qpos[i] = x[i] - (row[0] * centre[0] + row[1] * centre[1] + row[2] * centre[2])
        me.qvel[i] = v[i] - (row[0] * spin[0] + row[1] * spin[1] + row[2] * spin[2])
        me.qvel[3 + i] = w[i]
    for i in range(4):
        me.qpos[3 + i] = me.length * physics.q[0, i]


@inlined
def cut(value, limit):
    """The value, cut to [-limit, limit]."""
    return min(max(value, -limit), limit)


@inlined
def observe_state(out, me, physics, settings):
    """Write qpos without the first `skipped` numbers, and qvel, cut to `most_rate`; or the state of every body."""
    if settings.observes_maximal:
        return write_maximal(out, physics)
    k = write(out, 0, me.qpos[int(settings.skipped) :])
    for i in range(len(me.qvel)):
        out[k + i] = cut(me.qvel[i], settings.most_rate)
    return k + len(me.qvel)


class ClassicTask(CompiledTask):
    """A task whose states are MuJoCo's qpos (num_envs, nq) and qvel (num_envs, nv).

    Subclasses say: nq, nv; `order`, the place of each free axis of the mechanism among the coordinates of joints;
    `motors`, which of these places each action drives; `gears`, N or N m for an action of 1; `rest_qpos`, where
    episodes start but for noise. A first body that floats has the seven (six) first ones, `centre` being its centre of
    mass in MuJoCo's frame. `draw` returns "qpos" and "qvel".
    """

    overlap: ClassVar[str] = "keep"  # as resets of Gymnasium do
    memory: ClassVar[tuple[str, ...]] = ("effort",)
    fixed: ClassVar[tuple[str, ...]] = ("places", "driven", "forces", "origin")
    nq: ClassVar[int]
    nv: ClassVar[int]
    order: ClassVar[tuple[int, ...]]
    motors: ClassVar[tuple[int, ...]]
    gears: ClassVar[tuple[float, ...]]
    rest_qpos: ClassVar[tuple[float, ...]]
    floats: ClassVar[bool] = False
    centre: ClassVar[Any] = (0.0, 0.0, 0.0)

    def __init__(self, mechanism: Mechanism, *, observation: str, **options: Any) -> None:
        self.observes_maximal = observation == "maximal"
        super().__init__(mechanism, **options)
        self.places = np.array(self.order)
        self.driven = np.array([self.order.index(place) for place in self.motors])
        self.forces, self.origin = np.array(self.gears), np.array(self.centre, float)
        self.effort = np.zeros((self.num_envs, self.sim.model.n_axes))

    @abstractmethod
    def names(self) -> list[str]:
        """One name an element of the observation, if it is not that of all bodies."""

    def observation_names(self) -> list[str]:
        return self.maximal_names() if self.observes_maximal else self.names()

    # -------------------------------------------------------------------------------------------- states
    def start(self, env: Indices, draws: Draws) -> None:
        qpos, qvel = draws["qpos"], draws["qvel"]
        first_position, first_rate = (7, 6) if self.floats else (0, 0)
        joints, mask = self.rows(env, qpos[:, first_position + self.places])
        rates, _ = self.rows(env, qvel[:, first_rate + self.places])
        roots = self.root(env, qpos, qvel) if self.floats else {}
        self.sim.set_joint_state(joints, rates, mask, overlap="keep", **roots)

    def root(self, env: Indices, qpos: Array, qvel: Array) -> dict[str, Array]:
        """Pose and velocity of the first body in the rows of `Simulator.set_joint_state`."""
        length = np.linalg.norm(qpos[:, 3:7], axis=-1)
        self.now["length"][env] = length
        q, w = qpos[:, 3:7] / length[:, None], qvel[:, 3:6]
        x, v = qpos[:, :3] + rotate(q, self.origin), qvel[:, :3] + rotate(q, np.cross(w, self.origin))
        roots = {name: part.copy() for name, part in self.sim.state._asdict().items()}
        for name, value in zip("xqvw", (x, q, v, w), strict=True):
            roots[name][env, 0] = value
        return roots

    def set_mujoco_state(self, qpos: ArrayLike, qvel: ArrayLike) -> Array:
        """Begin episodes at these states of MuJoCo, (num_envs, nq) and (num_envs, nv), or (nq,) and (nv,) for all
        alike; the observations (num_envs, ...). InputError for other shapes, NaN, or a quaternion that is zero."""
        n = self.num_envs
        states = batch(qpos, "qpos", n, (self.nq,), InputError), batch(qvel, "qvel", n, (self.nv,), InputError)
        if self.floats and not (np.linalg.norm(states[0][:, 3:7], axis=-1) > 1e-6).all():
            raise InputError("qpos has a quaternion of zero length in elements 3 to 6")
        self.elapsed[:], self.action[:] = 0, 0.0
        self.start(self.everyone, {"qpos": states[0], "qvel": states[1]})
        self.sense(self.everyone)
        return self.observe().copy()

    def uniform(self, rng: np.random.Generator, scale: float, *, normal: bool = False) -> dict[str, Any]:
        """qpos around `rest_qpos` and qvel around 0, uniform within +-scale, drawn as Gymnasium does; normal: qvel is
        normal with that deviation."""
        qpos = np.array(self.rest_qpos) + rng.uniform(-scale, scale, self.nq)
        return {
            "qpos": qpos,
            "qvel": scale * rng.standard_normal(self.nv) if normal else rng.uniform(-scale, scale, self.nv),
        }

    def controls(self, action: Array) -> dict[str, Any]:
        drive(action, self.driven, self.forces, self.effort)
        return {"effort": self.effort}


class ClassicEnv(RobotEnv):
    """One environment of a `ClassicTask`, which also takes states of MuJoCo."""

    task: ClassicTask

    def set_mujoco_state(self, qpos: ArrayLike, qvel: ArrayLike) -> Array:
        """Begin an episode at a state of MuJoCo's model, qpos (nq,) and qvel (nv,); the observation."""
        observation = self.task.set_mujoco_state(qpos, qvel)[0]
        self.picture.began(self.task.everyone)
        return observation


def state_fields(nq: int, nv: int) -> dict[str, Any]:
    """Fields of a task's record for qpos and qvel."""
    return {"qpos": (float, nq), "qvel": (float, nv)}


def rate_names(names: Sequence[str]) -> list[str]:
    """Names of the velocities of coordinates with these names."""
    return [f"velocity of {name}" for name in names]
