"""The G1-class humanoid: published figures, what MuJoCo makes of it, and that it stands because it is held."""

import numpy as np
import pytest
from beside_mujoco import assert_same_robot

from vigym import Simulator
from vigym.assets import g1
from vigym.assets.links import principal

LEG = 1.299 + 1.446 + 2.052 + 2.252 + 0.074 + 0.391  # kg
ARM = 0.713 + 0.642 + 0.713 + 0.601 + 0.50826


def test_masses_and_mirror_images():
    m = g1.build()
    assert sum(body.mass for body in m.bodies) == pytest.approx(2.86 + 7.52036 + 2 * (LEG + ARM), rel=1e-14)
    # the right knee and upper arm, as the source gives them
    knee = principal(
        2.252,
        (0.005505, -0.006534, -0.116629),
        (0.599836, 0.0354278, -0.0128894, 0.799234),
        (0.0127418, 0.0124382, 0.00192524),
    )
    np.testing.assert_allclose(m.body("right knee").inertia, knee.inertia, atol=1e-7)  # quaternions of six digits
    np.testing.assert_allclose(m.joint("right knee").child_anchor, -knee.com, atol=1e-15)
    roll = m.joint("right hip roll")
    assert (roll.lower[0], roll.upper[0]) == (-2.53, 0.26)
    assert not any(joint.kp[0] for joint in g1.build(drive=False).joints)


def test_mujoco_agrees():
    assert_same_robot(g1.build(drive=False), height=3.0)


def test_it_stands_and_stays_standing_when_it_is_pushed():
    sim = Simulator(g1.build(), dt=0.005)
    np.testing.assert_allclose(sim.joint_positions()[0], g1.STANDING, atol=1e-14)
    np.testing.assert_allclose(sim.contact_gaps(), 0.0, atol=1e-6)  # angles of six digits
    start = sim.state.x
    sim.step(repeat=100)
    assert np.abs(sim.state.x - start).max() < 1e-5
    assert sim.contact_forces()[0, :, 2].sum() == pytest.approx(9.81 * 31.763, rel=1e-3)
    push = np.zeros((24, 3))
    push[sim.body_names.index("torso"), :2] = 20.0, 10.0  # N, for 0.2 s
    sim.step(force=push, repeat=40)
    moved = np.abs(sim.state.x - start).max()
    sim.step(repeat=400)
    assert sim.status.converged.all()
    assert moved > 1e-3
    assert np.abs(sim.state.x - start).max() < 0.1 * moved
