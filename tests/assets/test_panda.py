"""The Panda: poses of a public description, what MuJoCo makes of it, and that its fingers hold what they grip."""

import numpy as np
import pytest
from beside_mujoco import assert_same_robot

from vigym import Simulator, load_urdf
from vigym.assets import panda
from vigym.engine.rotation import rotate
from vigym.envs.arms.base import scene


def hand(sim: Simulator, name: str = "hand") -> int:
    return sim.body_names.index(name)


def test_masses_and_limits():
    m = panda.build()
    # of the moving links, of the hand and two fingers
    links = 4.970684 + 0.646926 + 3.228604 + 3.587895 + 1.225946 + 1.666555 + 0.735522
    assert sum(body.mass for body in m.bodies) == pytest.approx(links + 0.73 + 2 * 0.015, rel=1e-14)
    assert [joint.effort_limit[0] for joint in m.joints[:7]] == [87, 87, 87, 87, 12, 12, 12]
    assert {joint.armature[0] for joint in m.joints} == {0.1}
    assert not any(joint.kp[0] for joint in panda.build(drive=False).joints)
    other = panda.build(kp=range(1, 8), kd=[2.0] * 7)
    assert [(joint.kp[0], joint.kd[0]) for joint in other.joints[:7]] == [(k, 2.0) for k in range(1, 8)]


def test_poses_and_limits_are_those_of_the_public_description():
    data = pytest.importorskip("pybullet_data", reason='pip install "vigym[compare]"')
    theirs = load_urdf(f"{data.getDataPath()}/franka_panda/panda.urdf")
    ours = panda.build()
    sims = [Simulator(m, compiled=False) for m in (ours, theirs)]
    assert len(sims[0].axis_names) == len(sims[1].axis_names) == 9
    there = theirs.joint("panda_joint7")  # its child is the last link, with all that is fixed to it
    rng = np.random.default_rng(0)
    for _ in range(5):
        angles = np.append(rng.uniform(panda.LOWER, panda.UPPER) * 0.98, [0.03, 0.03])
        ends = []
        for sim, body, com in zip(sims, ("hand", there.child), (panda.LAST.com, -there.child_anchor), strict=True):
            sim.set_joint_state(angles)
            i = hand(sim, body)
            x, q = sim.state.x[0, i], sim.state.q[0, i]
            ends.append([x - rotate(q, com), rotate(q, np.array([1.0, 0, 0])), rotate(q, np.array([0, 0, 1.0]))])
        np.testing.assert_allclose(*ends, atol=1e-9)


def test_mujoco_agrees():
    assert_same_robot(panda.build(drive=False), follows={8: 7})  # the fingers


def test_home_is_where_it_starts_and_stays():
    m = panda.build()
    sim = Simulator(m)
    np.testing.assert_allclose(sim.joint_positions()[0], panda.HOME, atol=1e-12)
    i = hand(sim)
    x, q = sim.state.x[0, i], sim.state.q[0, i]
    # 0.333 + 0.316 + 0.0825 up, 0.384 + 0.088 forth, 0.107 + 0.1034 down: all hinges are at right angles
    reached = x + rotate(q, panda.GRASP)
    np.testing.assert_allclose(reached, (0.0825 + 0.384 + 0.088, 0, 0.333 + 0.316 + 0.0825 - 0.2104), atol=1e-12)
    np.testing.assert_allclose(rotate(q, np.array([0, 0, 1.0])), (0, 0, -1), atol=1e-12)
    start = sim.state.x
    sim.step(repeat=500)
    assert np.abs(sim.state.x - start).max() < 1e-6
    hinges = [sim.axis_names.index(f"joint {k}") for k in range(1, 8)]
    held = sim.joint_efforts()[0, hinges]
    np.testing.assert_allclose(held, Simulator(panda.build()).gravity_efforts()[0, hinges], atol=1e-4)


def test_it_lifts_a_cube():
    # Friction carries up to 2 mu N = 2 0.5 70 N: a cube of 1 kg stays between the pads while it is lifted
    m = scene(1.0, 0.5)  # that of the tasks
    sim = Simulator(m, dt=0.005)
    q0, goal = np.array(panda.HOME), (0.3, 0.3, 0.3)
    q0[7:] = 0.02
    x, q = sim.state.x.copy(), sim.state.q.copy()
    x[0, hand(sim, "object")] = (-0.6 + 0.5545, 0.0, 0.5211)
    sim.set_joint_state([*q0, *goal], x=x, q=q)
    target = np.array([*(joint.target[0] for joint in m.joints[:9]), *goal])
    target[7:9] = 0.0
    i = hand(sim, "object")
    for k in range(200):
        target[1] -= 0.002 if k < 100 else 0.0  # the shoulder lifts by 0.2 rad
        sim.step(target=target)
        assert sim.status.converged.all()
        if k == 20:
            start = sim.state.x[0, i] - sim.state.x[0, hand(sim)]
    assert sim.state.x[0, i, 2] > 0.56
    moved = np.linalg.norm(sim.state.x[0, i] - sim.state.x[0, hand(sim)]) - np.linalg.norm(start)
    assert abs(moved) < 1e-5
    forces = sim.contacts().force
    pressed = np.linalg.norm(forces, axis=1).sum()
    assert 2 * 35 < pressed < 2 * panda.GRIP + 30
