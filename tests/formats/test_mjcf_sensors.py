"""Sensors of MJCF files: the readings of MuJoCo, in its frames and with its signs."""

import mujoco
import numpy as np
import pytest

from vigym import Simulator, read_mjcf

ROBOT = """<mujoco><compiler angle="radian"/><worldbody>
<geom name="wall" type="box" size="0.1 9 9" pos="3 0 0"/><geom type="plane" size="9 9 1" pos="0 0 -2"/>
<site name="origin" pos="0.1 0.2 0.3"/>
<body name="flyer" pos="0 0 1" euler="0.3 0.2 0.1"><freejoint/>
  <geom type="box" size="0.2 0.1 0.05" pos="0.05 0.02 0" mass="1.3"/>
  <site name="s" pos="0.1 -0.1 0.2" euler="0.4 0 0.2"/>
  <body name="arm" pos="-0.3 0 0.2" euler="0 0.2 0.1"><joint name="h" axis="0 1 0.5" pos="0.1 0 0.02" damping="0.1"/>
    <geom type="capsule" size="0.02 0.1" pos="0 0.1 0.2" mass="0.4"/>
    <site name="load" pos="0.05 0 0.1" euler="0.1 0.9 0"/><site name="eye" pos="0 0 0.1" euler="0 2.2 0.3"/>
    <body name="ball" pos="0 0 0.4"><joint name="b" type="ball"/><geom type="capsule" size="0.02 0.1" mass="0.2"/>
    </body></body></body>
</worldbody><actuator><motor name="m" joint="h"/></actuator><sensor>
<accelerometer site="s"/><gyro site="s"/><velocimeter site="s"/><force site="load"/><torque site="load"/>
<rangefinder site="eye"/><rangefinder site="load" cutoff="0.5"/><rangefinder name="up" site="s"/>
<jointpos joint="h"/><jointvel joint="h"/>
<ballquat joint="b"/><ballangvel joint="b"/><clock/><framepos objtype="site" objname="eye"/>
<framepos objtype="site" objname="origin"/><framequat objtype="xbody" objname="arm"/>
<framepos objtype="body" objname="arm"/><framezaxis objtype="geom" objname="wall"/>
<framelinvel objtype="site" objname="load"/><frameangvel objtype="body" objname="ball"/>
<framexaxis objtype="site" objname="s"/>
<subtreecom body="flyer"/><accelerometer name="noisy" site="s" noise="0.5"/></sensor></mujoco>"""


def test_as_mujoco():
    """After 20 steps of 0.1 ms in free flight, with a motor: 1e-3, of which the step is a tenth."""
    h = 1e-4
    model = mujoco.MjModel.from_xml_string(ROBOT)
    model.opt.timestep, model.opt.integrator = h, int(mujoco.mjtIntegrator.mjINT_IMPLICIT)
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    data.qvel[:] = 0.5 * rng.normal(size=model.nv)
    data.ctrl[:] = 0.3
    ours = read_mjcf(ROBOT)
    assert "1 sensors of type subtreecom: not read" in ours.not_converted
    sim = Simulator(ours.mechanism, dt=h, num_envs=2, compiled=False)
    sim.set_joint_state(**ours.joint_state(data.qpos, data.qvel))
    read, noisy = ours.sensors_of(sim), ours.sensors_of(sim, noise=True, seed=3)
    read()
    for _ in range(20):
        mujoco.mj_step(model, data)
        sim.step(**ours.controls([0.3]))
        found = read()
    mujoco.mj_forward(model, data)
    names = [model.sensor(s).name or f"sensor {s}" for s in range(model.nsensor)]
    assert len(found) == len(ours.sensors) == model.nsensor - 1
    for s, name in enumerate(names):
        if name in found:
            expected = data.sensordata[model.sensor_adr[s] :][: model.sensor_dim[s]]
            if name == "sensor 10":  # a quaternion, of either sign
                expected = expected * np.sign(expected[0] * found[name][0, 0])
            np.testing.assert_allclose(
                found[name][0], expected, atol=1e-3 * max(1.0, np.abs(expected).max()), err_msg=name
            )
            np.testing.assert_array_equal(found[name][0], found[name][1])
    assert found["sensor 6"][0, 0] == 0.5
    assert found["sensor 5"][0, 0] > 0.1
    assert found["up"][0, 0] == -1.0
    heard = noisy()
    assert heard["noisy"][0, 0] != pytest.approx(heard["sensor 0"][0, 0], abs=1e-6)
    assert heard["noisy"][0, 0] != heard["noisy"][1, 0]
    read.reset([True, False])
    sim.step(**ours.controls([0.3]))
    assert set(read()) == set(found)
