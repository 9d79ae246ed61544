"""The Go2-class quadruped: published figures, what MuJoCo makes of it, and that it stands because it is held."""

import numpy as np
import pytest
from beside_mujoco import assert_same_robot
from scipy.spatial.transform import Rotation

from vigym import Simulator
from vigym.assets import go2

# Principal axes of the other legs' hips, as the source gives them: they are those of mirror images
HIPS = {
    "FR": ((-0.0054, -0.00194, -0.000105), (0.498237, 0.505462, 0.499245, 0.497014)),
    "RL": ((0.0054, 0.00194, -0.000105), (0.505462, 0.498237, 0.497014, 0.499245)),
    "RR": ((0.0054, -0.00194, -0.000105), (0.499245, 0.497014, 0.498237, 0.505462)),
}


def test_masses_and_mirror_images():
    m = go2.build()
    assert sum(body.mass for body in m.bodies) == pytest.approx(6.921 + 4 * (0.678 + 1.152 + 0.241352), rel=1e-14)
    for leg, (com, turn) in HIPS.items():
        R = Rotation.from_quat(np.roll(turn, -1)).as_matrix()
        expected = R @ np.diag((8.8403e-4, 5.96003e-4, 4.79967e-4)) @ R.T
        np.testing.assert_allclose(m.body(f"{leg} hip").inertia, expected, atol=1e-9)
        np.testing.assert_allclose(m.joint(f"{leg} hip").child_anchor, -np.array(com), atol=1e-15)
    assert not any(joint.kp[0] for joint in go2.build(drive=False).joints)


def test_mujoco_agrees():
    assert_same_robot(go2.build(drive=False), height=3.0)


def test_it_stands_where_it_starts():
    sim = Simulator(go2.build(), compiled=False)
    np.testing.assert_allclose(sim.joint_positions()[0], go2.STANDING, atol=1e-14)
    np.testing.assert_allclose(sim.contact_gaps(), 0.0, atol=1e-12)
    start = sim.state.x
    sim.step(repeat=10)
    assert np.abs(sim.state.x - start).max() < 1e-8
    assert sim.contact_forces()[0, :, 2].sum() == pytest.approx(9.81 * 15.2064, rel=1e-4)
