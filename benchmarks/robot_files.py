"""MJCF files in vigym and in MuJoCo: which load, and whether they are the same robots.

    python -m vigym.benchmarks.robot_files FOLDER ... [--check] [--omit] [--out rows.csv]

looks for MJCF files below folders (pip's packages, MuJoCo Menagerie). Without --check it only loads them; with it,
masses, poses at 20 random configurations, and the acceleration of a first step without contacts are compared, too.
"""

import csv
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.simulator import Simulator
from vigym.formats.couples import without_colliders
from vigym.formats.mjcf.read import MjcfModel, read_mjcf
from vigym.formats.mjcf.source import MjcfError, import_mujoco

Array = NDArray[np.float64]
POSES, STEP = 20, 1e-5  # configurations; s, of the first step
NO_MODEL = (
    "does not compile",
    "nothing in it can move",
    "correct the XML",
)  # files that are parts of others, or broken
REFUSED = ("fluid", "spatial", "muscle", "flex", "composite", "plugin", "skin")  # features that vigym does not have
GOAL = 0.95  # of the files that are models without such features


@dataclass(frozen=True)
class Row:
    """Outcome of a file. mass: relative error. pose: m, and 1 - cos of half an angle; acceleration: relative."""

    file: str
    outcome: str  # "loaded", "refused", "no model", "missing" (for what could be had), "failed"
    remark: str
    mass: float = np.nan
    pose: float = np.nan
    acceleration: float = np.nan


def compiled(source: str | Path) -> Any:
    """MuJoCo's model without contacts."""
    mujoco = import_mujoco()
    text = str(source).lstrip().startswith("<")
    model = mujoco.MjModel.from_xml_string(source) if text else mujoco.MjModel.from_xml_path(str(source))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return model


def random_state(model: Any, rng: np.random.Generator) -> tuple[Array, Array]:
    """Coordinates within the limits, and velocities."""
    mujoco = import_mujoco()
    qpos = model.qpos0.copy()
    mujoco.mj_integratePos(model, qpos, 0.5 * rng.normal(size=model.nv), 1.0)
    for j in np.flatnonzero((model.jnt_limited != 0) & (model.jnt_type > 1)):
        low, high = model.jnt_range[j]
        qpos[model.jnt_qposadr[j]] = rng.uniform(max(low, -3.0), min(high, 3.0))
    return qpos, 0.5 * rng.normal(size=model.nv)


def random_ctrl(model: Any, rng: np.random.Generator) -> Array:
    """Controls within their ranges."""
    limited = model.actuator_ctrllimited[:, None] != 0
    low, high = np.where(limited, model.actuator_ctrlrange, [-1.0, 1.0]).T
    return rng.uniform(low, high)


def simulator(model: MjcfModel, dt: float, **options: Any) -> Simulator:
    """Uncompiled, and without colliders."""
    return Simulator(without_colliders(model.mechanism), dt=dt, compiled=False, **options)


def mass_error(ours: MjcfModel, model: Any) -> float:
    """Relative difference of the mass of all bodies that move."""
    moving = sum(model.body_mass[b] for b in range(1, model.nbody) if model.body_weldid[b] != 0)
    own = sum(
        body.mass for body in ours.mechanism.bodies if " before " not in body.name and body.name not in ours.mocap
    )
    return float(abs(own - moving) / moving)


def pose_error(ours: MjcfModel, model: Any, sim: Simulator, qpos: Array) -> float:
    """Largest difference of centres of mass (m) and of orientations of all bodies that move."""
    mujoco = import_mujoco()
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    given: dict[str, Any] = dict(ours.joint_state(qpos))
    sim.set_joint_state(**given)
    worst = 0.0
    for i, body in enumerate(ours.mechanism.bodies):
        b = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body.name)
        if b < 0 or body.name in ours.mocap:
            continue  # unnamed, or between two joints
        worst = max(worst, 1.0 - abs(float(sim.state.q[0, i] @ data.xquat[b])))
        rigid = [b] + [c for c in range(b + 1, model.nbody) if model.body_weldid[c] == b]
        com = model.body_mass[rigid] @ data.xipos[rigid] / model.body_mass[rigid].sum()
        worst = max(worst, float(np.abs(com - sim.state.x[0, i]).max()))
    return worst


def accelerations(
    ours: MjcfModel, model: Any, state: tuple[Array, Array], ctrl: Array, h: float = STEP
) -> tuple[Array, Array]:
    """dqvel/dt (nv,) over the first step here, and in MuJoCo, where dampers are implicit as they are here."""
    mujoco = import_mujoco()
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = state
    data.ctrl[:] = ctrl
    model.opt.timestep, model.opt.integrator = h, int(mujoco.mjtIntegrator.mjINT_IMPLICIT)
    mujoco.mj_step(model, data)
    sim = simulator(ours, h)
    given: dict[str, Any] = dict(ours.joint_state(*state))
    sim.set_joint_state(**given)
    before = ours.coordinates(sim)[1][0]
    given = dict(ours.controls(ours.activations(sim)(ctrl), sim))
    sim.step(**given)
    return (ours.coordinates(sim)[1][0] - before) / h, (data.qvel - state[1]) / h


def without_dry_friction(ours: MjcfModel, model: Any) -> None:
    """Leave it out of both: MuJoCo's is soft."""
    for joint in ours.mechanism.joints:
        if joint.friction.any():
            ours.mechanism.replace_joint(joint.name, friction=0.0)
    model.dof_frictionloss[:] = 0.0


def checks(path: Path, ours: MjcfModel) -> tuple[float, float, float]:
    """Errors of mass, poses and acceleration. Closed loops and couplings are left out of the last two: a random
    configuration does not obey them."""
    model, rng = compiled(path), np.random.default_rng(0)
    mass = mass_error(ours, model)
    if model.neq and model.eq_active0.any():
        return mass, np.nan, np.nan
    without_dry_friction(ours, model)
    sim = simulator(ours, 1e-3)
    pose = max(pose_error(ours, model, sim, random_state(model, rng)[0]) for _ in range(POSES))
    found, expected = accelerations(ours, model, random_state(model, rng), random_ctrl(model, rng))
    return mass, pose, float(np.abs(found - expected).max() / np.abs(expected).max())


def row(path: Path, root: Path, unsupported: str = "error", check: bool = False) -> Row:
    """Outcome of a file."""
    name = str(path.relative_to(root))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = read_mjcf(path, root=root, unsupported=unsupported)
            errors = checks(path, ours) if check else ()
    except MjcfError as error:
        text = re.sub(r"^.*?\.xml[:\d]*: ", "", str(error))[:120]
        if any(words in str(error) for words in NO_MODEL):
            return Row(name, "no model", text)
        return Row(name, "refused" if any(words in text for words in REFUSED) else "missing", text)
    except Exception as error:
        return Row(name, "failed", f"{type(error).__name__}: {str(error)[:120]}")
    return Row(name, "loaded", f"{len(ours.mechanism.bodies)} bodies, {len(ours.warnings)} remarks", *errors)


def files(folder: Path) -> Iterator[Path]:
    """MJCF files below a folder."""
    for path in sorted(folder.rglob("*.xml")):
        if b"<mujoco" in path.read_bytes()[:20_000]:
            yield path


def share(rows: list[Row]) -> float:
    """Share of the models without refused features that load."""
    counts = Counter(row.outcome for row in rows)
    models = counts["loaded"] + counts["missing"] + counts["failed"]
    return counts["loaded"] / models if models else 1.0


def main(arguments: list[str]) -> int:
    """Print a row for each file, and how many load; 1 if it is fewer than the goal."""
    out = arguments[arguments.index("--out") + 1] if "--out" in arguments else None
    unsupported = "omit" if "--omit" in arguments else "error"
    rows = []
    for folder in (Path(text) for text in arguments if not text.startswith("--") and text != out):
        for path in files(folder):
            rows.append(row(path, folder, unsupported, "--check" in arguments))
            print(*astuple(rows[-1]), sep=" | ", flush=True)
    if out is not None:
        with open(out, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(field.name for field in fields(Row))
            writer.writerows(map(astuple, rows))
    print(dict(Counter(row.outcome for row in rows)), f"{share(rows):.1%} of the models without refused features load")
    return int(share(rows) < GOAL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
