"""Mocap bodies: they are where they are told to be at the end of each step, whatever holds on to them."""

import numpy as np
import pytest

from vigym import InputError, Simulator, read_mjcf

TEXT = """<mujoco><option timestep="0.004"/><worldbody><geom name="floor" type="plane" size="5 5 1"/>
  <body name="hand" mocap="true" pos="0 0 1" quat="0.8 0.6 0 0"><geom name="palm" type="box" size=".1 .1 .02"/>
    <body name="finger" pos="0.1 0 0"><geom name="tip" size="0.02"/></body>
    <body name="pendulum" pos="0.2 0 0"><joint name="p" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" contype="0" conaffinity="0"/></body></body>
  <body name="goal" mocap="true" pos="2 0 0"><geom name="goal" size=".05" contype="0" conaffinity="0"/></body>
  <body name="load" pos="0 0 1.5"><freejoint/><geom name="load" type="box" size=".05 .05 .05" mass="3"/></body>
 </worldbody><equality><weld body1="hand" body2="load"/></equality>
 <keyframe><key name="far" mpos="1 2 3 4 5 6" mquat="1 0 0 0 0 1 0 0"/></keyframe></mujoco>"""


def test_bodies_follow_their_poses():
    """A hand carries and turns a load of 3 kg that is welded to it; a goal that touches nothing goes its own way."""
    ours = read_mjcf(TEXT)
    assert ours.mocap == ("hand", "goal")
    assert not ours.warnings
    np.testing.assert_array_equal(ours.keyframes["far"].mocap_pos, [[1, 2, 3], [4, 5, 6]])
    sim = Simulator(ours.mechanism, dt=0.004, compiled=False)
    number = {body.name: i for i, body in enumerate(ours.mechanism.bodies)}
    sim.step(repeat=3)
    np.testing.assert_allclose(sim.state.x[0, number["hand"]], [0, 0, 1], atol=1e-6)  # it stands, unless told
    before = sim.state
    for k in range(60):
        angle = 0.01 * k
        position = [[0.01 * k, 0.0, 1.0 + 0.002 * k], [2.0, 0.01 * k, 0.0]]
        half = np.arctan2(0.6, 0.8) + angle
        turn = [[np.cos(half), np.sin(half), 0, 0], [2, 0, 0, 0]]
        sim.step(**ours.controls([], sim, mocap_pos=position, mocap_quat=turn))
        assert sim.status.converged.all()
        for i, name in enumerate(ours.mocap):
            np.testing.assert_allclose(sim.state.x[0, number[name]], position[i], atol=1e-5)
            unit = np.array(turn[i]) / np.linalg.norm(turn[i])
            assert abs(sim.state.q[0, number[name]] @ unit) > 1 - 1e-10
    away = [np.linalg.norm(s.x[0, number["load"]] - s.x[0, number["hand"]]) for s in (before, sim.state)]
    np.testing.assert_allclose(away, 0.5, atol=1e-5)


def test_starts_and_batches():
    """Environments start where `joint_state` puts the bodies, each with its own pose."""
    text = TEXT.replace('<equality><weld body1="hand" body2="load"/></equality>', "")
    ours = read_mjcf(text)
    position = np.array([[[0.0, 0, 3], [1, 1, 1]], [[0.0, 0, 4], [2, 2, 2]]])
    sim = Simulator(ours.mechanism, num_envs=2, dt=0.004, compiled=False)
    sim.set_joint_state(**ours.joint_state(ours.qpos0, mocap_pos=position))
    names = [body.name for body in ours.mechanism.bodies]
    there = [names.index(name) for name in ours.mocap]
    np.testing.assert_allclose(sim.state.x[:, there], position, atol=1e-12)
    sim.step(**ours.controls([], sim, mocap_pos=position))
    np.testing.assert_allclose(sim.state.x[:, there], position, atol=1e-6)
    for wrong, message in (
        ({"mocap_pos": [0.0, 0, 0]}, "mocap_pos must be finite, of shape"),
        ({"mocap_quat": np.zeros((2, 4))}, "mocap_quat must not be zero"),
    ):
        with pytest.raises(InputError, match=message):
            ours.controls([], sim, **wrong)


def test_they_touch_what_moves_alone():
    """As in MuJoCo, mocap bodies touch moving bodies but their children, and neither the world nor each other."""
    text = TEXT.replace('<equality><weld body1="hand" body2="load"/></equality>', "")
    text = text.replace('<geom type="capsule"', '<geom name="rod" type="capsule"')
    ours = read_mjcf(text.replace(' contype="0" conaffinity="0"', ""))
    names = [collider.name for collider in ours.mechanism.colliders]
    found = {frozenset(names[k] for k in pair) for pair in ours.mechanism.couples}
    moving = [("rod", "load")] + [(still, "load") for still in ("floor", "palm", "tip", "goal")]
    assert found == {frozenset(pair) for pair in [*moving, ("floor", "rod"), ("goal", "rod")]}
