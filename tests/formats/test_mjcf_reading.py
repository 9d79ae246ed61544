"""MJCF files become the same mechanisms: masses, poses, accelerations, motion, and who touches whom."""

import warnings

import mujoco
import numpy as np
import pytest
from mjcf_peer import MENAGERIE, round_trip

import vigym
from vigym import Simulator, read_mjcf
from vigym.benchmarks.robot_files import (
    accelerations,
    compiled,
    pose_error,
    random_ctrl,
    random_state,
    simulator,
    without_dry_friction,
)

needs_menagerie = pytest.mark.skipif(not MENAGERIE.is_dir(), reason="VIGYM_MENAGERIE does not say where robots are")

# every kind of joint, several of them in one body, frames that are turned, rigid parts, references, actuators
ALL = """<mujoco model="all">
<compiler angle="radian"/>
<option timestep="0.002"/>
<worldbody>
  <geom name="floor" type="plane" size="5 5 1"/>
  <body name="flyer" pos="0 0 3" euler="0.3 0.2 0.1"><freejoint/>
    <geom name="hull" type="box" size="0.2 0.1 0.05" pos="0.05 0.02 0" mass="1.3"/>
    <body name="fin" pos="0.2 0 0.1" euler="0.4 0 0"><geom type="capsule" size="0.03 0.1" mass="0.2"/></body>
    <body name="tail" pos="-0.3 0 0"><joint name="ball" type="ball" pos="0.1 0 0.02" damping="0.02" stiffness="0.3"/>
      <geom type="box" size="0.1 0.03 0.02" mass="0.3"/>
      <site name="thrust" pos="-0.1 0 0.01" euler="0 0.5 0.2"/></body>
  </body>
  <body name="cart" pos="1 0 2" euler="0 0.1 0.2">
    <joint name="rx" type="slide" axis="1 0 0" damping="0.1"/><joint name="rz" type="slide" axis="0 0 -1"/>
    <joint name="ry" type="hinge" axis="0 1 0" pos="0.02 0 0.03"/>
    <geom type="box" size="0.1 0.1 0.1" pos="0.03 0 0" mass="0.8"/>
    <body name="arm" pos="0 0 -0.2" euler="0.2 0.3 0">
      <joint name="a1" axis="1 0 0" range="-2 2" limited="true"/><joint name="a2" axis="0 1 0" armature="0"/>
      <joint name="a3" axis="0.6 0 0.8" pos="0.01 0 0.02" ref="0.3" stiffness="0.5" springref="0.1" damping="0.05"/>
      <geom type="capsule" size="0.04" fromto="0 0 0 0.05 0 -0.3" mass="0.5"/>
      <body name="slider" pos="0 0 -0.3" euler="0 0.7 0"><joint name="s" type="slide" axis="0 0.6 0.8" ref="0.1"/>
        <geom type="sphere" size="0.06" mass="0.2" pos="0.02 0.01 0"/></body>
    </body>
  </body>
  <body name="hooke" pos="-1 0 2"><joint name="u1" axis="0 0 1"/><joint name="u2" axis="0 1 0"/>
    <geom type="box" size="0.2 0.05 0.03" pos="0.2 0 0" mass="0.4"/></body>
</worldbody>
<tendon><fixed name="both"><joint joint="u1" coef="0.5"/><joint joint="u2" coef="-1.5"/></fixed></tendon>
<actuator>
  <motor name="m" joint="rx" gear="3" ctrlrange="-1 1" forcerange="-0.5 0.5"/>
  <position name="p" joint="a1" kp="4" kv="0.2" forcerange="-3 3"/>
  <velocity name="v" joint="a2" kv="0.3" gear="-2"/>
  <general name="g" joint="s" gainprm="2" biastype="affine" biasprm="0.1 -3 -0.2" gear="1.5"/>
  <motor name="twist" joint="ball" gear="0.1 0.2 0.3"/>
  <motor name="jet" site="thrust" gear="0.5 0 0.2 0.01 0 0.02"/>
  <position name="t" tendon="both" kp="2"/>
</actuator>
<keyframe><key name="away" time="1.5" ctrl="0 0 0 0 0 0 1"/></keyframe>
</mujoco>"""


@pytest.fixture(scope="module")
def ours():
    return read_mjcf(ALL)


def test_masses_and_inertias(ours):
    """Bodies that are rigidly attached are one; light bodies between joints are a millionth."""
    model = compiled(ALL)
    total = sum(body.mass for body in ours.mechanism.bodies)
    light = sum(body.mass for body in ours.mechanism.bodies if " before " in body.name)
    assert total - light == pytest.approx(model.body_subtreemass[0], rel=1e-12)
    flyer = ours.mechanism.body("flyer")
    assert flyer.mass == pytest.approx(1.5)
    np.testing.assert_array_equal(ours.mechanism.gravity, model.opt.gravity)


def test_poses(ours):
    """Poses of all bodies at 20 random configurations, and back to MuJoCo's coordinates."""
    model, sim, rng = compiled(ALL), simulator(ours, 1e-3), np.random.default_rng(0)
    for _ in range(20):
        qpos, qvel = random_state(model, rng)
        assert pose_error(ours, model, sim, qpos) < 1e-9
        sim.set_joint_state(**ours.joint_state(qpos, qvel))
        found, rates = ours.coordinates(sim)
        apart = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, apart, 1.0, qpos, found[0])
        assert np.abs(apart).max() < 1e-9
        np.testing.assert_allclose(rates[0], qvel, atol=1e-2)  # means over a step of 1 ms, at some rad/s^2


def test_first_step(ours):
    """Accelerations, with all actuators acting: within 1e-3, of which 1e-5 s is a hundredth."""
    model, rng = compiled(ALL), np.random.default_rng(1)
    for _ in range(3):
        state = random_state(model, rng)
        found, expected = accelerations(ours, model, state, 3.0 * random_ctrl(model, rng))
        np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


def test_round_trip(ours):
    """Read, written, read again: the same accelerations. The light body of the arm stays one."""
    quiet = "".join(line for line in ALL.splitlines(True) if "twist" not in line and "jet" not in line)
    quiet = quiet.replace('<position name="t" tendon="both" kp="2"/>', "").split("<keyframe>")[0] + "</mujoco>"
    first = read_mjcf(quiet)
    for joint in first.mechanism.joints:
        first.mechanism.replace_joint(joint.name, target=0.0)  # those of zero controls, in what is written
    second = read_mjcf(round_trip(first))
    place = {body.name: i for i, body in enumerate(second.mechanism.bodies)}
    order = [place.pop(body.name) for body in first.mechanism.bodies]
    assert not place
    for k, a in zip(order, first.mechanism.bodies, strict=True):
        tensor = second.mechanism.bodies[k].inertia
        np.testing.assert_allclose(tensor, a.inertia, atol=1e-9 * np.abs(a.inertia).max())
    sims = [simulator(model, 1e-3) for model in (first, second)]
    for sim in sims:
        sim.step(repeat=5)
    np.testing.assert_allclose(sims[1].state.x[:, order], sims[0].state.x, atol=1e-8)
    assert np.abs(sims[0].state.v).max() > 0.01


def test_keyframes(ours):
    key = ours.keyframes["away"]
    assert key.time == 1.5
    assert key.ctrl[-1] == 1.0
    assert key.qpos.shape == ours.qpos0.shape


FILTERS = """<mujoco><compiler angle="radian"/><worldbody>
<geom name="floor" type="plane" size="5 5 1"/>
<geom name="wall" type="box" size="1 1 1" contype="2" conaffinity="4" friction="0.3"/>
<body name="a" pos="0 0 1"><freejoint/><geom name="a1" size="0.1"/><geom name="a2" size="0.1" contype="0"/>
  <body name="b" pos="1 0 0"><joint/><geom name="b1" size="0.1" friction="0.4"/>
    <geom name="b2" size="0.1" contype="4" conaffinity="0" condim="1"/>
    <body name="c" pos="1 0 0"><joint axis="1 0 0"/><joint axis="0.6 0 0.8"/><geom name="c1" size="0.1"/>
      <body name="rigid"><geom name="c2" size="0.1" friction="0.7"/></body></body></body></body>
<body name="d" pos="3 0 1"><joint type="slide"/><geom name="d1" size="0.1" priority="1" friction="0.2"/>
   <body name="e"><joint/><geom name="e1" size="0.1"/>
     <geom name="e2" size="0.1" contype="0" conaffinity="0"/></body></body>
</worldbody>
<contact><exclude body1="a" body2="d"/><pair geom1="a1" geom2="b1" friction="0.15 0.15 0 0 0"/>
<pair geom1="e2" geom2="floor" friction="0.9 0.9 0 0 0"/></contact></mujoco>"""


def test_who_touches_whom():
    """MuJoCo lists all pairs that may touch, with the friction of each, where all bodies are in one place."""
    model = mujoco.MjModel.from_xml_string(FILTERS)
    model.body_pos[:] = 0.0
    data = mujoco.MjData(model)
    data.qpos[:3] = 0.0
    mujoco.mj_forward(model, data)
    expected = {}
    for contact in data.contact:
        names = frozenset(model.geom(g).name for g in contact.geom)
        expected[names] = contact.friction[0] if contact.dim > 1 else 0.0
    ours = read_mjcf(FILTERS)
    colliders, found = ours.mechanism.colliders, {}
    for (i, j), law in zip(ours.mechanism.couples, ours.mechanism.pair_laws, strict=True):
        own = (colliders[i].friction * colliders[j].friction) ** 0.5
        found[frozenset((colliders[i].name, colliders[j].name))] = law.get("friction", own)
    assert found.keys() == expected.keys()
    assert found == pytest.approx(expected)


OVERLAPPING = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/>
<body pos="0 0 0.05"><freejoint/><geom name="hip" size="0.1" mass="1"/>
  <body pos="0 0 0.15"><joint axis="0 1 0"/><geom name="thigh" size="0.02" mass="1"/>
    <body pos="0 0 -0.05"><joint axis="1 0 0"/><geom name="shin" size="0.1" mass="1"/>
      <geom name="foot" size="0.1" pos="0 0 0.3"/>
</body></body></body></worldbody></mujoco>"""


def test_geoms_that_overlap_in_the_pose_of_the_file_do_not_touch():
    with pytest.warns(vigym.MjcfWarning, match="overlap in the file's pose do not touch each other: 'hip' and 'shin'$"):
        ours = read_mjcf(OVERLAPPING)
    names = [collider.name for collider in ours.mechanism.colliders]
    couples = {frozenset((names[i], names[j])) for i, j in ours.mechanism.couples}
    assert frozenset(("hip", "shin")) not in couples
    # what is in the floor does not fall through it
    assert {frozenset(("hip", "foot")), frozenset(("hip", "floor"))} <= couples
    with pytest.raises(vigym.StateError, match="'hip' and 'floor'"):
        Simulator(ours.mechanism, compiled=False).step()


MOVING = """<mujoco><compiler angle="radian"/><option timestep="0.001"/><worldbody>
<geom type="plane" size="5 5 1" friction="0.5" {floor}/>
<body name="torso" pos="0 0 0.62"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
  <joint name="y" axis="0 1 0"/><geom type="capsule" size="0.05 0.1" mass="2" friction="0.5" {body}/>
  <body name="leg" pos="0 0 -0.15"><joint name="hip" axis="0 1 0" damping="0.5" range="-1.5 1.5" limited="true"/>
    <geom type="capsule" size="0.04" fromto="0 0 0 0 0 -0.3" mass="1" friction="0.5" {body}/>
    <body name="foot" pos="0 0 -0.3"><joint name="ankle" axis="0 1 0" damping="0.3" range="-1 1" limited="true"/>
      <geom type="box" size="0.12 0.05 0.02" pos="0.03 0 -0.06" mass="0.5" friction="0.5" {body}/></body></body></body>
</worldbody><actuator><position joint="hip" kp="30" kv="0.5" forcerange="-20 20"/>
<motor joint="ankle" gear="2" ctrlrange="-1 1"/></actuator></mujoco>"""


DAMPED = 5.0  # damping ratio of MuJoCo's contacts: at 1, they would give back exp(-2) of an impulse


def motion(text: str, h: float, seconds: float = 2.0, peer_step: float = 2e-4) -> tuple[np.ndarray, np.ndarray]:
    """qpos every 0.1 s here, and in MuJoCo at a small step, under the same random controls."""
    model, rng = mujoco.MjModel.from_xml_string(text), np.random.default_rng(3)
    model.opt.timestep, model.opt.integrator = peer_step, int(mujoco.mjtIntegrator.mjINT_IMPLICIT)
    model.opt.o_solref[:] = model.geom_solref[:] = model.jnt_solref[:] = (4e-3, DAMPED)
    model.opt.cone, model.opt.impratio = int(mujoco.mjtCone.mjCONE_ELLIPTIC), 10.0
    ours, data = read_mjcf(text), mujoco.MjData(model)
    sim = Simulator(ours.mechanism, dt=h)
    found, expected = [], []
    for _ in range(round(seconds / 0.1)):
        ctrl = rng.uniform(-0.6, 0.6, model.nu)
        data.ctrl[:] = ctrl
        mujoco.mj_step(model, data, round(0.1 / peer_step))
        sim.step(**ours.controls(ctrl), repeat=round(0.1 / h))
        found.append(ours.coordinates(sim)[0][0])
        expected.append(data.qpos.copy())
    return np.array(found), np.array(expected)


def test_motion_in_the_air():
    """2 s of random control, limits reached on the way: differences fall with the step."""
    text = MOVING.format(floor='contype="0" conaffinity="0"', body='contype="0" conaffinity="0"')
    errors = [np.abs(np.subtract(*motion(text, h))).max() for h in (4e-3, 1e-3)]
    assert errors[1] < 0.5 * errors[0]
    assert errors[1] < 0.05


SLED = """<mujoco><compiler angle="radian"/><option timestep="0.001"/><worldbody>
<geom type="plane" size="5 5 1" friction="0.1"/>
<body name="sled" pos="0 0 0.05"><freejoint/><geom type="box" size="0.3 0.2 0.05" mass="1" friction="0.1"/>
  <body name="arm" pos="0 0 0.05"><joint name="turn" axis="0 0 1" damping="0.02"/><joint name="lift" axis="0 1 0"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0.2" mass="0.5" contype="0" conaffinity="0"/></body></body>
</worldbody><actuator><motor joint="turn" gear="1"/><position joint="lift" kp="20" kv="1" forcerange="-3 3"/></actuator>
</mujoco>"""


def test_motion_in_contact():
    """2 s of random control of an arm on a sled, which slips over the ground, to and fro and round.

    Impulses of friction are those of MuJoCo to what its soft contacts slip: a few mm in 2 s."""
    found, expected = motion(SLED, 1e-3)
    assert np.ptp(expected[:, :2], axis=0).max() > 0.02  # it slips
    np.testing.assert_allclose(found[:, :7], expected[:, :7], atol=0.01)
    np.testing.assert_allclose(found[:, 7:], expected[:, 7:], atol=0.1)


@needs_menagerie
@pytest.mark.parametrize("name", ["kuka_iiwa_14/iiwa14.xml", "wonik_allegro/right_hand.xml", "unitree_h1/h1.xml"])
def test_menagerie(name):
    path = MENAGERIE / name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vigym.MjcfWarning)
        ours = read_mjcf(path, unsupported="omit")
    model, rng = compiled(path), np.random.default_rng(0)
    without_dry_friction(ours, model)
    sim = simulator(ours, 1e-3)
    for _ in range(20):
        assert pose_error(ours, model, sim, random_state(model, rng)[0]) < 1e-9
    found, expected = accelerations(ours, model, random_state(model, rng), random_ctrl(model, rng))
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())
