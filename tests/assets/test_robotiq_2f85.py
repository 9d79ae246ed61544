"""The 2F-85: masses, that its loops close, what MuJoCo makes of it, and that it holds what it grips."""

import mujoco
import numpy as np
import pytest
from beside_mujoco import assert_same_inertia

import vigym
from vigym import Simulator, to_mjcf
from vigym.assets import robotiq_2f85


def test_masses():
    m = robotiq_2f85.build()
    finger = 0.00899563 + 0.0140974 + 0.0221642 + 0.0125222 + 0.0035
    assert sum(body.mass for body in m.bodies) == pytest.approx(0.777441 + 2 * finger, rel=1e-14)
    assert not any(joint.kp.any() for joint in robotiq_2f85.build(drive=False).joints)


def test_mujoco_agrees():
    """0.1 s under a constant effort on the drivers. MuJoCo's loops and coupling are soft: 1 % is what they leave."""
    m = robotiq_2f85.build(drive=False)
    text = to_mjcf(m, dt=0.001, integrator="implicitfast")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    assert_same_inertia(m, model)
    sim = Simulator(m, dt=0.001)
    joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, "right driver r2")
    assert joint >= 0
    effort = np.zeros(len(sim.axis_names))
    effort[sim.axis_names.index("right driver")] = data.qfrc_applied[model.jnt_dofadr[joint]] = 0.3
    for _ in range(100):
        mujoco.mj_step(model, data)
    sim.step(effort=effort, repeat=100)
    angle = sim.joint_positions()[0, sim.axis_names.index("right driver")]
    assert 0.05 < angle < robotiq_2f85.CLOSED
    assert angle == pytest.approx(data.qpos[model.jnt_qposadr[joint]], rel=1e-2)
    assert sim.joint_error().max() < 1e-8


def test_it_grips_and_carries_a_cube():
    """Friction of 0.7 carries a cube of 100 g between the pads, 1 N, which they press with more than that."""
    m = robotiq_2f85.build()
    m.replace_joint("mount", orientation=(0, 1, 0, 0))  # fingers down
    m.add_body("cube", mass=0.1, shapes=[vigym.Box((0.04, 0.04, 0.04))], position=(0, 0, -0.135), friction=0.7)
    sim = Simulator(m, dt=0.005)
    target = np.zeros(len(sim.axis_names))
    cube = sim.body_names.index("cube")
    hand = np.zeros((len(sim.body_names), 3))  # carries the cube until it is gripped
    for k in range(150):
        target[sim.axis_names.index("right driver")] = min(0.005 * k, 0.5)
        hand[cube, 2] = 0.1 * 9.81 - 50.0 * (sim.state.x[0, cube, 2] + 0.135) - 2.0 * sim.state.v[0, cube, 2]
        sim.step(target=target, force=hand)
    start = sim.state.x[0, cube]
    sim.step(target=target, repeat=150)
    assert sim.status.converged.all()
    assert np.abs(sim.state.x[0, cube] - start).max() < 1e-4
    pressed = np.linalg.norm(sim.contacts().force, axis=1)
    assert pressed.sum() > 2 * 0.1 * 9.81
