"""Looks of MJCF files: meshes and their colours, what is hidden, the world, cameras, the sun."""

import mujoco
import numpy as np
import pytest

import vigym
from vigym import Box, Cylinder, Mechanism, Replay, Simulator, Sphere, Surface, read_mjcf
from vigym.benchmarks.robot_files import compiled
from vigym.engine.rotation import rotation_matrix
from vigym.view.pictures.camera import Camera
from vigym.view.pictures.picture import Renderer

WEDGE = "0 0 0  0.4 0 0  0 0.3 0  0 0 0.2"
SCENE = f"""<mujoco>
<asset>
  <mesh name="wedge" vertex="{WEDGE}" refpos="0.02 0.01 0"/>
  <texture name="chequer" type="2d" builtin="checker" width="8" height="8" rgb1="1 0 0" rgb2="0 0 1"/>
  <material name="paint" rgba="0.1 0.8 0.2 1"/>
  <material name="cloth" texture="chequer" rgba="1 1 1 1"/>
  <hfield name="hill" nrow="3" ncol="4" size="2 1 0.5 0.1" elevation="0 0 0 0 0 1 1 0 0 0 0 0"/>
</asset>
<worldbody>
  <light directional="true" dir="1 0 -2"/>
  <geom type="plane" size="5 5 1"/>
  <geom name="table" type="box" size="0.5 0.5 0.1" pos="2 0 0.1" rgba="0.3 0.2 0.1 1"/>
  <geom name="barrier" type="box" size="0.1 0.5 0.5" pos="3 0 0.5" group="3"/>
  <geom name="base" type="mesh" mesh="wedge" pos="-1 0 0" euler="0 0 30" contype="0" conaffinity="0"/>
  <geom type="hfield" hfield="hill" pos="0 9 0"/>
  <camera name="side" pos="0 -4 1" xyaxes="1 0 0 0 0 1" fovy="30"/>
  <body name="flyer" pos="0.3 0.2 1" euler="20 0 0"><freejoint/>
    <geom type="mesh" mesh="wedge" material="paint" pos="0.1 0 0" euler="0 0 90" group="2" contype="0" conaffinity="0"/>
    <geom name="ball" size="0.1" group="3" rgba="1 0 0 1"/>
    <geom type="ellipsoid" size="0.1 0.2 0.3" material="cloth" contype="0" conaffinity="0"/>
    <camera name="ahead" pos="0 0 0.5" xyaxes="0 -1 0 0 0 1"/>
    <body name="arm" pos="0 0 0.3"><joint/><geom name="tube" type="cylinder" size="0.05 0.2" group="4"/></body>
  </body>
</worldbody></mujoco>"""


@pytest.fixture(scope="module")
def ours():
    with pytest.warns(vigym.MjcfWarning):  # what touches nothing
        return read_mjcf(SCENE)


def placed(surface):
    """Vertices in the frame of the body."""
    return surface.position + surface.vertices @ rotation_matrix(np.array(surface.orientation)).T


def test_a_mesh_is_where_mujoco_has_it(ours):
    """Vertices in the world, by MuJoCo's pose of the geom and by ours of the body."""
    model = compiled(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    body = ours.mechanism.body("flyer")
    mesh = next(look for look in body.visuals if look.color == pytest.approx((0.1, 0.8, 0.2, 1.0)))
    at = body.position + placed(mesh) @ rotation_matrix(body.orientation).T
    geom = int(np.flatnonzero((model.geom_type == mujoco.mjtGeom.mjGEOM_MESH) & (model.geom_bodyid == 1))[0])
    expected = data.geom_xpos[geom] + model.mesh_vert @ data.geom_xmat[geom].reshape(3, 3).T
    np.testing.assert_allclose(at, expected, atol=1e-6)  # stored with 32 bits
    base = ours.mechanism.scenery[1]
    geom = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, "base")
    expected = data.geom_xpos[geom] + model.mesh_vert @ data.geom_xmat[geom].reshape(3, 3).T
    np.testing.assert_allclose(placed(base), expected, atol=1e-6)


def test_what_is_drawn(ours):
    """Groups 0 to 2; of higher ones what is needed, so that a body is seen at all. Colliders stay colliders."""
    m = ours.mechanism
    kinds = {body.name: [type(look) for look in body.visuals] for body in m.bodies}
    assert kinds == {"flyer": [Surface, Surface], "arm": [Cylinder]}
    assert [type(look) for look in m.scenery] == [Box, Surface, Surface]
    assert isinstance(m.collider("ball").shape, Sphere)
    assert {"table", "barrier"} <= {collider.name for collider in m.colliders}
    ellipsoid = placed(m.body("flyer").visuals[1])
    assert np.ptp(ellipsoid, axis=0) == pytest.approx([0.2, 0.4, 0.6], rel=1e-6)
    assert m.body("flyer").visuals[1].color == pytest.approx((0.5, 0.0, 0.5, 1.0))  # the mean of its texture
    hill = placed(m.scenery[2])
    assert (hill.min(0), hill.max(0)) == (pytest.approx([-2, 8, 0]), pytest.approx([2, 10, 0.5]))


def test_cameras_and_the_sun(ours):
    side = Camera.from_config(ours.cameras["side"])
    assert (side.azimuth, side.elevation, side.fovy) == pytest.approx((90.0, 0.0, 30.0), abs=1e-9)
    eye = np.array(side.lookat) - side.distance * side.axes()[2]
    assert eye == pytest.approx([0.0, -4.0, 1.0])
    ahead = Camera.from_config(ours.cameras["ahead"])
    assert ahead.trackbodyid == "flyer"
    at = np.array(ahead.lookat)
    at[:2] += ours.mechanism.body("flyer").position[:2]
    turn = rotation_matrix(np.array([np.cos(np.radians(10)), np.sin(np.radians(10)), 0, 0]))
    assert at - ahead.distance * ahead.axes()[2] == pytest.approx([0.3, 0.2, 1.0] + turn @ [0, 0, 0.5])
    assert ours.sun == pytest.approx(np.array([-1.0, 0.0, 2.0]) / 5**0.5)


def test_scenery_is_drawn_recorded_and_merged(ours, tmp_path):
    """The base is seen in pictures, comes along in recordings, and moves with the world that it is merged from."""
    sim = Simulator(ours.mechanism, compiled=False)
    with sim.record(tmp_path / "run.vigym"):
        pass
    replay = Replay.load(tmp_path / "run.vigym")
    assert [type(look) for look in replay.scenery] == [Box, Surface, Surface]
    bare = Mechanism()
    bare.add_body("a", 1.0, [1, 1, 1], visuals=[Sphere(0.05)], position=(0, 0, 5))
    seen = []
    for shift in ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)):
        m = bare.copy()
        other = bare.copy()
        other.add_scenery([Box((0.5, 0.5, 0.5), color=(1, 0, 0))])
        m.merge(other, "b ", position=shift)
        image = Renderer(m, 40, 40, Camera(4.0, 90.0, -10.0)).render([[0, 0, 5]] * 2, [[1, 0, 0, 0]] * 2).astype(int)
        red = (image[..., 0] > 2 * image[..., 2]).nonzero()[1]
        seen.append((red.min(), red.max()))
    assert seen[0][0] < 20 <= seen[0][1] < seen[1][1]
    assert seen[1][0] > 20
    assert len(bare.scenery) == 0
