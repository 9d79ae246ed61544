"""MJCF files in MuJoCo and in vigym: the same coordinates, masses, accelerations."""

import os
from pathlib import Path

import mujoco
import numpy as np

from vigym import MjcfModel, Simulator
from vigym.formats.couples import without_colliders
from vigym.formats.mjcf.write import to_mjcf

FOLDER = os.environ.get("VIGYM_MENAGERIE")
MENAGERIE = Path(FOLDER) if FOLDER else Path(__file__).parents[2].parent / "shared" / "menagerie"


def compiled(source: str | Path) -> mujoco.MjModel:
    """MuJoCo's model without contacts."""
    text = str(source).lstrip().startswith("<")
    model = mujoco.MjModel.from_xml_string(source) if text else mujoco.MjModel.from_xml_path(str(source))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return model


def random_state(model: mujoco.MjModel, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates within the limits, and velocities."""
    qpos = model.qpos0.copy()
    mujoco.mj_integratePos(model, qpos, 0.5 * rng.normal(size=model.nv), 1.0)
    for j in np.flatnonzero((model.jnt_limited != 0) & (model.jnt_type > 1)):
        low, high = model.jnt_range[j]
        qpos[model.jnt_qposadr[j]] = rng.uniform(max(low, -3.0), min(high, 3.0))
    return qpos, 0.5 * rng.normal(size=model.nv)


def random_ctrl(model: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    """Controls within their ranges."""
    limited = model.actuator_ctrllimited[:, None] != 0
    low, high = np.where(limited, model.actuator_ctrlrange, [-1.0, 1.0]).T
    return rng.uniform(low, high)


def simulator(model: MjcfModel, dt: float, **options) -> Simulator:
    """Uncompiled, and without colliders."""
    return Simulator(without_colliders(model.mechanism), dt=dt, compiled=False, **options)


def pose_error(ours: MjcfModel, model: mujoco.MjModel, sim: Simulator, qpos: np.ndarray) -> float:
    """Largest difference of centres of mass (m) and of orientations of all bodies that move."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    sim.set_joint_state(**ours.joint_state(qpos))
    worst = 0.0
    for i, body in enumerate(ours.mechanism.bodies):
        b = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body.name)
        if b < 0:
            continue  # unnamed, or between two joints
        worst = max(worst, 1.0 - abs(float(sim.state.q[0, i] @ data.xquat[b])))
        rigid = [b] + [c for c in range(b + 1, model.nbody) if model.body_weldid[c] == b]
        com = model.body_mass[rigid] @ data.xipos[rigid] / model.body_mass[rigid].sum()
        worst = max(worst, float(np.abs(com - sim.state.x[0, i]).max()))
    return worst


def accelerations(
    ours: MjcfModel, model: mujoco.MjModel, state: tuple[np.ndarray, np.ndarray], ctrl: np.ndarray, h: float = 1e-5
) -> tuple[np.ndarray, np.ndarray]:
    """dqvel/dt (nv,) over the first step here, and in MuJoCo, where dampers are implicit as they are here."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = state
    data.ctrl[:] = ctrl
    model.opt.timestep, model.opt.integrator = h, int(mujoco.mjtIntegrator.mjINT_IMPLICIT)
    mujoco.mj_step(model, data)
    sim = simulator(ours, h)
    sim.set_joint_state(**ours.joint_state(*state))
    before = ours.coordinates(sim)[1][0]
    sim.step(**ours.controls(ctrl, sim))
    return (ours.coordinates(sim)[1][0] - before) / h, (data.qvel - state[1]) / h


def round_trip(ours: MjcfModel) -> str:
    """The mechanism as MJCF again."""
    return to_mjcf(ours.mechanism, integrator="implicitfast")
