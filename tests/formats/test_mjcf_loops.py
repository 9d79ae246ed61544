"""Loops and couplings of MJCF files: accelerations from rest against those of MuJoCo's own matrices.

MuJoCo's equalities are soft; what they stand for is not. With M, bias and applied forces of MuJoCo, and the rows J of
its equalities, the accelerations a of a state at rest solve  M a + bias = forces + J^T lam,  J a = 0.
"""

import warnings

import mujoco
import numpy as np
import pytest
from mjcf_peer import MENAGERIE

import vigym
from vigym import read_mjcf, to_mjcf
from vigym.benchmarks.robot_files import compiled, simulator

needs_menagerie = pytest.mark.skipif(not MENAGERIE.is_dir(), reason="VIGYM_MENAGERIE does not say where robots are")
LINKAGE = """
<mujoco>
  <option timestep="0.002"/>
  <default><geom contype="0" conaffinity="0" density="800"/><joint axis="0 1 0" damping="0.1"/></default>
  <worldbody>
    <body name="crank"><joint name="a"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
      <body name="rod" pos="0 0 .3"><joint name="b"/><geom type="capsule" fromto="0 0 0 .5 0 .1" size=".02"/>
        <body name="tool" pos=".5 0 .1"><joint name="e" type="slide" axis="1 0 0"/><geom size=".05"/></body>
      </body>
    </body>
    <body name="rocker" pos=".6 0 0"><joint name="c"/><geom type="capsule" fromto="0 0 0 -.1 0 .4" size=".03"/></body>
    <body name="plate" pos="0 1 0"><freejoint/><geom type="box" size=".1 .1 .01" pos="0 .02 0"/></body>
    <body name="handle" pos=".1 1 .1"><freejoint/><geom type="box" size=".02 .02 .1"/></body>
    <body name="wheel" pos="0 2 0"><joint name="d" armature=".1"/><geom type="cylinder" size=".1 .02"/></body>
  </worldbody>
  <equality>
    <connect body1="rod" body2="rocker" anchor=".5 0 .1"/>
    <weld body1="plate" body2="handle"/>
    <joint joint1="d" joint2="a" polycoef="0 -2 .5 0 0"/>
    <joint joint1="e" joint2="c" polycoef="0 .3 0 0 0"/>
  </equality>
  <actuator><motor joint="d" gear="3"/></actuator>
</mujoco>
"""


def held(model, data, h):
    """Accelerations at rest with equalities that do not give way, contacts and limits left out; dampers, those of
    actuators included, are those at the end of a step h."""
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    rows = data.efc_type[: data.nefc] == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    J = data.efc_J.reshape(data.nefc, -1)[rows] if data.efc_J.size == data.nefc * model.nv else dense(model, data)[rows]
    forces = data.qfrc_actuator + data.qfrc_passive - data.qfrc_bias
    moment = np.zeros((model.nu, model.nv))
    mujoco.mju_sparse2dense(moment, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind)
    M += h * (np.diag(damping(model)) - moment.T @ np.diag(model.actuator_biasprm[:, 2]) @ moment)
    inverse = np.linalg.inv(M)
    lam = np.linalg.pinv(J @ inverse @ J.T, rcond=1e-10) @ (-J @ inverse @ forces)
    return inverse @ (forces + J.T @ lam)


def damping(model):
    """Damping of all velocities."""
    return model.dof_damping.reshape(model.nv, -1)[:, 0]


def dense(model, data):
    """Rows of all constraints, from MuJoCo's sparse form."""
    J = np.zeros((data.nefc, model.nv))
    mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    return J


def first_step(ours, model, ctrl, h=1e-5):
    """Accelerations over a first step from rest here, and those of `held`."""
    for joint in ours.mechanism.joints:  # MuJoCo's dry friction and limits are soft, and files start beyond some
        if joint.n_free:
            ours.mechanism.replace_joint(joint.name, friction=0.0, lower=-np.inf, upper=np.inf)
    model.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(model)
    data.ctrl[:] = ctrl
    sim = simulator(ours, h)
    sim.step(**ours.controls(ctrl, sim))
    return ours.coordinates(sim)[1][0] / h, held(model, data, h), sim


def test_loops_welds_and_couplings():
    ours, model = read_mjcf(LINKAGE), mujoco.MjModel.from_xml_string(LINKAGE)
    assert len(ours.mechanism.couplings) == 2
    found, expected, sim = first_step(ours, model, [0.7])
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    assert np.abs(expected).max() > 1.0
    assert sim.joint_error().max() < 1e-9
    again = read_mjcf(to_mjcf(load_without_loops()))
    assert again.mechanism.couplings[0].coefficients.tolist() == [[-2.0, 0.5, 0.0, 0.0]]


def load_without_loops():
    """The mechanism, coupled axes where no loop closes."""
    text = LINKAGE.replace('<connect body1="rod" body2="rocker" anchor=".5 0 .1"/>', "")
    return vigym.load_mjcf(text)


def test_what_cannot_be_coupled():
    one = LINKAGE.replace('joint1="e" joint2="c"', 'joint1="e"')
    with pytest.raises(vigym.MjcfError, match="holds a joint in its place"):
        read_mjcf(one)
    twice = LINKAGE.replace("</equality>", '<joint joint1="d" joint2="c"/></equality>')
    assert read_mjcf(twice).mechanism.couplings[2].follower.joint == "c"  # the other way round
    circle = LINKAGE.replace("</equality>", '<joint joint1="a" joint2="d"/></equality>')
    with pytest.raises(vigym.MjcfError, match=r"equality .* of joints \(coupling"):
        read_mjcf(circle)


@needs_menagerie
@pytest.mark.parametrize(
    ("name", "h"),  # damping of tendons is partly explicit here, that of joints in both
    [("robotiq_2f85/2f85.xml", 1e-6), ("trossen_wx250s/wx250s.xml", 1e-5), ("ufactory_xarm7/hand.xml", 1e-5)],
)
def test_menagerie_loops(name, h):
    path = MENAGERIE / name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = read_mjcf(path, unsupported="omit")
        model = compiled(path)
        rng = np.random.default_rng(0)
        limits = model.actuator_ctrlrange
        ctrl = rng.uniform(*limits.T) if limits.any() else np.zeros(model.nu)
        found, expected, _ = first_step(ours, model, ctrl, h)
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


@needs_menagerie
def test_poses_of_loops_are_those_of_the_file():
    """Cassie's tree is cut elsewhere than in the file, and the file's own pose is beyond limits: it starts at its
    keyframe, whose loops are open by 1.5 mm. Coordinates of a closed pose come back as they were."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = read_mjcf(MENAGERIE / "agility_cassie" / "cassie.xml")
    assert any("keyframe 'home'" in remark for remark in ours.not_converted)
    sim, home = vigym.Simulator(ours.mechanism, compiled=False), ours.keyframes["home"].qpos
    np.testing.assert_allclose(ours.coordinates(sim)[0][0, 7:], home[7:], atol=0.05)
    sim.set_joint_state(**ours.joint_state(home))  # which refuses what is beyond limits
    closed = ours.coordinates(sim)[0][0]
    np.testing.assert_allclose(closed, home, atol=0.05)
    assert sim.joint_error().max() < 1e-9
    sim.set_joint_state(**ours.joint_state(closed))
    np.testing.assert_allclose(ours.coordinates(sim)[0][0], closed, atol=1e-9)
