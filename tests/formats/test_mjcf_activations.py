"""Activations of MJCF actuators, step by step beside MuJoCo's."""

import mujoco
import numpy as np
import pytest

from vigym import InputError, MjcfError, MjcfWarning, Simulator, read_mjcf

CART = (
    '<body><joint name="{0}" type="slide" axis="1 0 0"/><geom size="0.1" mass="2" contype="0" conaffinity="0"/></body>'
)
TEXT = f"""<mujoco><option gravity="0 0 0" timestep="0.005" integrator="implicit"/>
<worldbody>{"".join(CART.format(name) for name in "abcd")}</worldbody><actuator>
<general joint="a" dyntype="filterexact" dynprm="0.05" gainprm="7" ctrlrange="-1 0.5"/>
<general joint="b" dyntype="integrator" gainprm="20" biastype="affine" biasprm="0 -20 -3"
  actlimited="true" actrange="-0.1 0.2"/>
<general joint="c" dyntype="filterexact" dynprm="0.02" actearly="true"/>
<motor joint="d" gear="3"/></actuator></mujoco>"""


def test_mujoco_agrees():
    with pytest.warns(MjcfWarning, match="activations"):
        ours = read_mjcf(TEXT)
    model = mujoco.MjModel.from_xml_string(TEXT)
    data = mujoco.MjData(model)
    sim, rng = Simulator(ours.mechanism, dt=0.005, num_envs=2, compiled=False), np.random.default_rng(0)
    activations = ours.activations(sim)
    for k in range(40):
        if k % 8 == 0:
            data.ctrl[:] = ctrl = rng.uniform(-1.5, 1.5, 4)
        mujoco.mj_step(model, data)
        sim.step(**ours.controls(activations([ctrl, 0 * ctrl]), sim))
        np.testing.assert_allclose(activations.values[0, :3], data.act, atol=1e-12)
    assert 0.0 < np.abs(data.act[1]) <= 0.2
    # MuJoCo's servo is implicit in its damper alone: of the first order in the step
    np.testing.assert_allclose(ours.coordinates(sim)[1][0], data.qvel, atol=2e-2 * np.abs(data.qvel).max())
    np.testing.assert_allclose(ours.coordinates(sim)[1][0, [0, 2, 3]], data.qvel[[0, 2, 3]], atol=1e-9)
    np.testing.assert_allclose(ours.coordinates(sim)[1][1], 0.0, atol=1e-12)
    activations.reset(np.array([True, False]), 0.1)
    np.testing.assert_allclose(activations.values[0], 0.1)


def test_without_activations_controls_act_at_once():
    ours = read_mjcf(
        "<mujoco><worldbody>" + CART.format("a") + '</worldbody><actuator><motor joint="a"/></actuator></mujoco>'
    )
    sim = Simulator(ours.mechanism, compiled=False)
    assert ours.activations(sim)([0.3])[0, 0] == 0.3
    with pytest.raises(InputError, match="ctrl"):
        ours.activations(sim)([np.nan])


def test_muscles_are_refused():
    text = TEXT.replace('<motor joint="d" gear="3"/>', '<muscle joint="d" lengthrange="0 1"/>')
    with pytest.raises(MjcfError, match="muscles"):
        read_mjcf(text)
