"""A model of `vigym.assets` beside MuJoCo: masses, poses and accelerations of what `to_mjcf` writes of it."""

from collections.abc import Mapping

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from vigym import Mechanism, read_mjcf, to_mjcf
from vigym.benchmarks.robot_files import accelerations, compiled, pose_error, random_ctrl, random_state, simulator


def assert_same_inertia(m: Mechanism, model: mujoco.MjModel) -> None:
    for body in m.bodies:
        b = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body.name)
        assert model.body_mass[b] == pytest.approx(body.mass, rel=1e-12)
        R = Rotation.from_quat(np.roll(model.body_iquat[b], -1)).as_matrix()
        np.testing.assert_allclose(R @ np.diag(model.body_inertia[b]) @ R.T, body.inertia, rtol=1e-9, atol=1e-12)


def assert_same_robot(m: Mechanism, *, height: float = 0.0, follows: Mapping[int, int] | None = None) -> None:
    """Masses, inertias, 5 poses to 1e-9, and accelerations of a first step, 1e-3 of the largest.

    height: by which it is lifted off the ground, if it floats. follows: places in qpos of followers and of their
    leaders, which come last; accelerations of all are judged but for these, as MuJoCo's couplings are soft.
    """
    text = to_mjcf(m, integrator="implicitfast")
    model, ours = compiled(text), read_mjcf(text)
    assert_same_inertia(m, model)
    sim, rng = simulator(ours, 0.01), np.random.default_rng(1)
    coupled = {} if follows is None else dict(follows)
    for _ in range(5):
        qpos, qvel = random_state(model, rng)
        for follower, leader in coupled.items():
            qpos[follower], qvel[follower] = qpos[leader], qvel[leader]
        if height:
            qpos[2] += height
        assert pose_error(ours, model, sim, qpos) < 1e-9
    found, expected = accelerations(ours, model, (qpos, qvel), random_ctrl(model, rng))
    judged = slice(None, model.nv - len({*coupled, *coupled.values()}))
    np.testing.assert_allclose(found[judged], expected[judged], atol=1e-3 * np.abs(expected[judged]).max())
