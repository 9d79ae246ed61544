"""Collision shapes of URDF files as colliders."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from vigym import Box, Cylinder, Hull, MechanismError, Simulator, load_urdf, read_urdf
from vigym.formats.urdf.xml import UrdfError, UrdfWarning

INERTIA = '<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/>'
ROBOT = """<robot name="cart">
  <link name="base"><inertial><mass value="2"/>LIGHT</inertial>
    <collision><origin xyz="0 0 .3"/><geometry><box size=".2 .3 .1"/></geometry></collision>
    <collision><origin xyz="0 0 .5" rpy="0 0 QUARTER"/><geometry><mesh filename="rock.obj" scale="1 2 1"/>
    </geometry></collision></link>
  <link name="wheel"><inertial><mass value="1"/>LIGHT</inertial>
    <collision><geometry><cylinder radius=".1" length=".05"/></geometry></collision>
    <contact><lateral_friction value="1.5"/></contact></link>
  <link name="tip"><inertial><mass value="1"/>LIGHT</inertial>
    <collision><origin xyz="0 0 .3"/><geometry><box size=".1 .1 .1"/></geometry></collision></link>
  <joint name="axle" type="continuous"><parent link="base"/><child link="wheel"/>
    <origin xyz="0 .3 0" rpy="-QUARTER 0 0"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="arm" type="continuous"><parent link="wheel"/><child link="tip"/><origin xyz="0 0 -.3" rpy="QUARTER 0 0"/>
    </joint>
</robot>""".replace("LIGHT", INERTIA).replace("QUARTER", "1.5707963267948966")
CUBE = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
FACES = [(1, 3, 4), (1, 4, 2), (5, 6, 8), (5, 8, 7), (1, 2, 6), (1, 6, 5), (3, 7, 8), (3, 8, 4), (1, 5, 7), (1, 7, 3)]


@pytest.fixture
def path(tmp_path):
    pytest.importorskip("trimesh")
    corners = "".join(f"v {x} {y} {z}\n" for x, y, z in CUBE)
    faces = "".join(f"f {a} {b} {c}\n" for a, b, c in [*FACES, (2, 4, 8), (2, 8, 6)])
    (tmp_path / "rock.obj").write_text(corners + faces)
    file = tmp_path / "cart.urdf"
    file.write_text(ROBOT)
    return file


def test_shapes_become_colliders(path):
    with pytest.warns(UrdfWarning, match=r"overlap with all joints at zero .*: 'base 0' and 'tip'"):
        m = load_urdf(path, floating=True, collide=True)
    found = {collider.name: collider for collider in m.colliders}
    assert [*found] == ["base 0", "base 1", "wheel", "tip"]
    assert not m.contacts
    assert found["base 0"].shape == Box((0.2, 0.3, 0.1), position=(0, 0, 0.3))
    rock = found["base 1"]
    assert isinstance(rock.shape, Hull)
    np.testing.assert_allclose(rock.place, [0, 0, 0.5], atol=1e-12)
    world = np.array(rock.shape.points) @ rock.rotation.T + rock.shape.position
    np.testing.assert_allclose(np.abs(world - [0, 0, 0.5]), [[0.2, 0.1, 0.1]] * 8, atol=1e-7)
    assert isinstance(found["wheel"].shape, Cylinder)
    assert [collider.friction for collider in found.values()] == [0.8, 0.8, 1.5, 0.8]
    assert [(m.colliders[a].name, m.colliders[b].name) for a, b in m.couples] == [("base 1", "tip")]


def test_contact_points_remain_the_default(path):
    m = load_urdf(path, floating=True)
    assert not m.colliders
    assert len(m.contacts) == 8 + 8 + 16 + 8
    both = load_urdf(path, floating=True, contacts=["tip"])
    assert len(both.contacts) == 8
    with pytest.raises(MechanismError, match="decompose=True needs collide=True"):
        load_urdf(path, decompose=True)


def test_a_wheel_rolls(tmp_path):
    file = tmp_path / "wheel.urdf"
    link = ROBOT.split("\n")[5:7]
    file.write_text(f"<robot name='wheel'>{''.join(link)}</link></robot>")
    m = load_urdf(file, floating=True, collide=True, position=(0, 0, 0.1), orientation=(2**-0.5, 2**-0.5, 0, 0))
    m.add_ground(friction=1.0)
    sim = Simulator(m, dt=0.01, compiled=False)
    sim.set_state(v=[[1.0, 0, 0]], w=[[0, 0, -10.0]])
    sim.step(repeat=10)
    np.testing.assert_allclose(sim.state.x[0, 0], [0.1, 0, 0.1], atol=1e-8)
    np.testing.assert_allclose(sim.state.w[0, 0], [0, 0, -10], atol=1e-7)


def test_meshes_in_parts(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(UrdfError, match="pip install coacd"):
        read_urdf(path, floating=True, collide=True, decompose=True)

    def halves(mesh, seed):
        points = np.array(mesh[0])
        return [(points[points[:, 0] <= 0] - [k, 0, 0], None) for k in (0.0, 0.1)]  # too flat, then

    fake = SimpleNamespace(Mesh=lambda *mesh: mesh, run_coacd=halves, set_log_level=lambda level: None)
    monkeypatch.setitem(sys.modules, "coacd", fake)
    with pytest.warns(UrdfWarning, match="has no solid hull, left out"):
        m = load_urdf(path, floating=True, collide=True, decompose=True)
    assert [collider.name for collider in m.colliders] == ["base", "wheel", "tip"]
