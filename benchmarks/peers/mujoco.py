"""MuJoCo: states in its coordinates, and what runs it."""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from vigym.benchmarks.runner import LARGEST, Runner, Stopwatch, at_once
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import from_rotation_vector, rotate
from vigym.engine.simulator import Simulator
from vigym.engine.state import State
from vigym.formats.couples import without_colliders
from vigym.formats.mjcf.write import Integrator, axis_names, driven_axes, to_mjcf
from vigym.formats.tree import first_axes, shallow_tree

INSTANT = 1e-6  # s: rates over so short a step are those of the velocities, to about 1e-10


def coordinates(mechanism: Mechanism, model: Any, state: State) -> tuple[Array, Array]:
    """qpos (num_envs, nq) and qvel (num_envs, nv) of states x, q, v, w (num_envs, n_bodies, 3 or 4)."""
    num_envs = len(state.x)
    sim = Simulator(without_colliders(mechanism), dt=INSTANT, num_envs=num_envs, compiled=False)
    sim.set_state(x=state.x, q=state.q, v=state.v, w=state.w)
    phi, rates = sim.joint_positions(), sim.joint_velocities()
    first = first_axes(mechanism)
    qpos, qvel = np.zeros((num_envs, model.nq)), np.zeros((num_envs, model.nv))

    def address(name: str) -> tuple[int, int]:
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        return model.jnt_qposadr[number], model.jnt_dofadr[number]

    for i, joint in enumerate(shallow_tree(mechanism).joints):
        if joint is None:
            p, d = address(f"{mechanism.bodies[i].name} free")
            qpos[:, p : p + 7] = np.concatenate([state.x[:, i], state.q[:, i]], -1)
            qvel[:, d : d + 6] = np.concatenate([state.v[:, i], state.w[:, i]], -1)
            continue
        for k, name in enumerate(axis_names(joint), first[joint.name]):
            p, d = address(name)
            if name.endswith(" ball"):
                # coordinates are along the rows of the basis
                qpos[:, p : p + 4] = from_rotation_vector(phi[:, k : k + 3] @ joint.basis)
                qvel[:, d : d + 3] = rates[:, k : k + 3] @ joint.basis
            else:
                qpos[:, p], qvel[:, d] = phi[:, k], rates[:, k]
    return qpos, qvel


def _silent(message: str) -> None:
    """Warnings are counted (`failures`), not written to a file in the current folder, which is the default."""


class Mujoco(Runner):
    """integrator: as in `to_mjcf`.

    stiff: contacts, limits and loops with a time constant of two steps, the hardest that MuJoCo allows.
    elliptic: exact friction cones, with friction ten times as stiff as the normal force, to slip less.
    """

    def __init__(
        self,
        *args: Any,
        integrator: Integrator = "Euler",
        stiff: bool = False,
        elliptic: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        mujoco.set_mju_user_warning(_silent)
        mechanism = self.scene.mechanism
        xml = to_mjcf(
            mechanism,
            self.dt,
            integrator=integrator,
            solref=(2 * self.dt, 1.0) if stiff else None,
            cone="exact" if elliptic else "pyramid",
            impratio=10.0 if elliptic else 1.0,
            planar_loops=self.scene.planar,
        )
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)
        self.qpos, self.qvel = coordinates(mechanism, self.model, self.scene.starts(self.num_envs))
        self.ids = [self.model.body(body.name).id for body in mechanism.bodies]
        axes = driven_axes(mechanism)
        self.twists = self.scene.twists(self.steps, self.dt)
        self.constant = self.scene.targets is None
        count = 1 if self.constant else self.steps
        self.targets = np.stack([self.scene.controls(count, self.dt, ahead)[:, axes] for ahead in self.shifts()])
        self.alone = self.num_envs == 1 and self.constant and self.twists is None
        self.timing = "mj_step(nstep)" if self.alone else "mujoco.rollout"
        self._prepare_rollout()

    def _prepare_rollout(self) -> None:
        size = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        # in pieces, so that what it writes fits into memory
        self.chunk = int(np.clip(LARGEST // (8 * size * self.num_envs), 1, self.steps))
        self.initial = np.zeros((self.num_envs, size))
        for env in range(self.num_envs):
            self._place(env)
            mujoco.mj_getState(self.model, self.data, self.initial[env], mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self.written = np.ones((self.num_envs, self.chunk, size))  # ones: memory that is really there
        self.copies = [mujoco.MjData(self.model) for _ in range(self.threads)]

    def _place(self, env: int) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.qpos[env], self.qvel[env]
        self.data.ctrl[:] = self.targets[env, 0]

    def reset(self) -> None:
        self._place(0)
        mujoco.mj_kinematics(self.model, self.data)

    def step(self, k: int) -> None:
        self._step(0, k)

    def _step(self, env: int, k: int) -> None:
        self.data.ctrl[:] = self.targets[env, 0 if self.constant else k]
        if self.twists is not None:
            self.data.xfrc_applied[self.ids, 3:] = rotate(self.data.xquat[self.ids], self.twists[k])
        mujoco.mj_step(self.model, self.data)

    def _controls(self) -> tuple[Array, int]:
        """Return what acts in all steps (num_envs, steps, n), and which parts of a state these numbers are.

        Torques are given in the frames of bodies that turn, so that steps one by one must tell what they are in the
        world, where MuJoCo has them.
        """
        targets = np.broadcast_to(self.targets, (self.num_envs, self.steps, self.model.nu))
        if self.twists is None:
            return targets, mujoco.mjtState.mjSTATE_CTRL
        loads = np.zeros((self.num_envs, self.steps, self.data.xfrc_applied.size))
        for env in range(self.num_envs):
            self._place(env)
            mujoco.mj_kinematics(self.model, self.data)
            for k in range(self.steps):
                self._step(env, k)
                loads[env, k] = self.data.xfrc_applied.ravel()
        spec = mujoco.mjtState.mjSTATE_CTRL | mujoco.mjtState.mjSTATE_XFRC_APPLIED
        return np.concatenate([targets, loads], axis=-1), spec

    def time(self, ready: Callable[[], object] = at_once) -> Stopwatch:
        watch = Stopwatch()
        if self.alone:
            self.reset()
            ready()
            with watch:
                mujoco.mj_step(self.model, self.data, nstep=self.steps)
            return watch
        state, (controls, spec) = self.initial, self._controls()
        with rollout.Rollout(nthread=self.threads if self.threads > 1 else 0) as pool:
            ready()
            for first in range(0, self.steps, self.chunk):
                count = min(self.chunk, self.steps - first)
                control = np.ascontiguousarray(controls[:, first : first + count])
                written = self.written if count == self.chunk else np.ones((self.num_envs, count, state.shape[1]))
                out = {"state": written, "sensordata": np.zeros((self.num_envs, count, 0))}
                with watch:
                    pool.rollout(self.model, self.copies, state, control, control_spec=spec, nstep=count, **out)
                state = np.ascontiguousarray(written[:, -1])
        return watch

    def poses(self) -> tuple[Array, Array]:
        mujoco.mj_kinematics(self.model, self.data)  # a step leaves poses of its beginning behind
        return self.data.xpos[self.ids], self.data.xquat[self.ids]

    def velocities(self) -> tuple[Array, Array]:
        for bring_up_to_date in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            bring_up_to_date(self.model, self.data)
        both = np.zeros((len(self.ids), 6))
        for row, number in zip(both, self.ids, strict=True):
            mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_BODY, number, row, 0)
        return both[:, 3:], both[:, :3]

    def energy(self) -> float:
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_energyPos(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)
        return float(self.data.energy.sum())

    def momentum(self) -> Array:
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)
        mujoco.mj_subtreeVel(self.model, self.data)
        mass = self.model.body_subtreemass[0]
        linear = mass * self.data.subtree_linvel[0]
        return np.concatenate([linear, self.data.subtree_angmom[0] + np.cross(self.data.subtree_com[0], linear)])

    def iterations(self) -> float:
        return float(self.data.solver_niter[: max(1, self.data.nisland)].sum())

    def failures(self) -> int:
        bad = (mujoco.mjtWarning.mjWARN_BADQACC, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQPOS)
        count = sum(int(self.data.warning[kind].number) for kind in bad)
        for kind in bad:
            self.data.warning[kind].number = 0
        return count
