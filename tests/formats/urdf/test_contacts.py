"""Contacts from collision shapes: the lowest one is as high as the shape."""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from vigym import Mechanism, Simulator
from vigym.formats.urdf import UrdfError, UrdfWarning, load_urdf

Write = Callable[..., Path]
INERTIAL = '<inertial><origin xyz="0.3 -0.2 0.1"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
ORIGIN = np.array([0.1, 0.2, -0.3]), Rotation.from_euler("xyz", [0.4, -0.5, 0.6])
HEIGHT = 10.0
TRIANGLE = [(0.0, 0.0, 0.0), (1.0, 0.0, 2.0), (0.0, 3.0, -1.0)]


def robot(shape: str, more: str = "") -> str:
    collision = f'<collision><origin xyz="0.1 0.2 -0.3" rpy="0.4 -0.5 0.6"/><geometry>{shape}</geometry></collision>'
    return f'<link name="a">{INERTIAL}{collision}{more}</link>'


def lowest(mechanism: Mechanism, turn: Rotation) -> float:
    """Height of the lowest contact above the ground when the LINK is turned and lifted by HEIGHT."""
    sim = Simulator(mechanism, compiled=False)
    com = np.array([0.3, -0.2, 0.1])
    sim.set_state(x=[turn.apply(com) + np.array([0, 0, HEIGHT])], q=[np.roll(turn.as_quat(), 1)])
    return float(sim.contact_gaps().min())


def expected(turn: Rotation, local: Sequence[Sequence[float]], radius: float) -> float:
    """Height of the lowest of points `local`, in the shape's frame, less the radius."""
    place, inner = ORIGIN
    points = turn.apply(place + inner.apply(np.array(local)))
    return float(points[:, 2].min()) - radius + HEIGHT


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("shape", "count", "points", "radius"),
    [
        ('<sphere radius="0.2"/>', 1, [(0, 0, 0)], 0.2),
        ('<box size="1 2 3"/>', 8, [(i / 2, j, k * 1.5) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], 0.0),
        ('<capsule radius="0.2" length="1"/>', 2, [(0, 0, -0.5), (0, 0, 0.5)], 0.2),
    ],
)
def test_exact_shapes(urdf: Write, seed: int, shape: str, count: int, points: list, radius: float) -> None:
    turn = Rotation.random(random_state=seed)
    m = load_urdf(urdf(robot(shape)), floating=True)
    assert len(m.contacts) == count
    assert lowest(m, turn) == pytest.approx(expected(turn, points, radius), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_rim_of_a_cylinder(urdf: Write, seed: int) -> None:
    """n points on a circle miss its lowest point by at most r (1 - cos(pi / n))."""
    turn = Rotation.random(random_state=seed)
    angle = np.linspace(0, 2 * np.pi, 2001)
    circle = np.column_stack([0.5 * np.cos(angle), 0.5 * np.sin(angle)])
    exact = expected(turn, [(x, y, z) for x, y in circle for z in (-1, 1)], 0.0)
    for count in (8, 32):
        m = load_urdf(urdf(robot('<cylinder radius="0.5" length="2"/>')), floating=True, rim_points=count)
        assert len(m.contacts) == 2 * count
        assert -1e-5 < lowest(m, turn) - exact < 0.5 * (1 - np.cos(np.pi / count)) + 1e-5


@pytest.mark.parametrize(("length", "ends"), [(2.0, [-0.5, 0.5]), (0.1, [0.0])])
def test_cylinders_as_spheres(urdf: Write, length: float, ends: list[float]) -> None:
    """Spheres end where the cylinder does; a wheel is one sphere."""
    m = load_urdf(urdf(robot(f'<cylinder radius="0.5" length="{length}"/>')), floating=True, cylinders="spheres")
    assert [contact.radius for contact in m.contacts] == [0.5] * len(ends)
    turn = Rotation.random(random_state=1)
    assert lowest(m, turn) == pytest.approx(expected(turn, [(0, 0, z) for z in ends], 0.5), abs=1e-12)


def mesh_file(path: Path) -> Path:
    if path.suffix == ".obj":
        path.write_text("# v 9 9 9\nvn 8 8 8\n" + "".join(f"v {x} {y} {z}\n" for x, y, z in TRIANGLE) + "f 1 2 3\n")
    elif path.stem == "binary":
        numbers = [0.0, 0.0, 1.0, *(c for corner in TRIANGLE for c in corner)]
        path.write_bytes(b"solid, says the header".ljust(80) + struct.pack("<I12fH", 1, *numbers, 0))
    else:
        corners = "".join(f"  vertex {x} {y} {z}\n" for x, y, z in TRIANGLE)
        path.write_text(f"solid t\nfacet normal 0 0 1\n outer loop\n{corners} endloop\nendfacet\nendsolid t\n")
    return path


@pytest.mark.parametrize("name", ["part.obj", "binary.stl", "text.STL"])
def test_box_around_a_mesh(urdf: Write, tmp_path: Path, name: str) -> None:
    mesh_file(tmp_path / name)
    m = load_urdf(urdf(robot(f'<mesh filename="{name}" scale="-1 1 2"/>')), floating=True)
    corners = [(x, y, z) for x in (-1, 0) for y in (0, 3) for z in (-2, 4)]
    turn = Rotation.random(random_state=2)
    assert len(m.contacts) == 8
    assert lowest(m, turn) == pytest.approx(expected(turn, corners, 0.0), abs=1e-6)  # STL: single precision


def test_meshes_that_cannot_be_used(urdf: Write, tmp_path: Path) -> None:
    (tmp_path / "part.dae").write_text("<COLLADA/>")
    with pytest.warns(UrdfWarning, match=r"<mesh>: mesh 'part.dae' has a format that is not read"):
        assert not load_urdf(urdf(robot('<mesh filename="part.dae"/>')), floating=True).contacts
    with pytest.raises(UrdfError, match=r"robot.urdf:2: <mesh>: mesh 'none.stl' is not found; .*packages=.*contacts="):
        load_urdf(urdf(robot('<mesh filename="none.stl"/>')), floating=True)
    (tmp_path / "empty.obj").write_text("v 1 x 2\n")
    with pytest.raises(UrdfError, match=r"empty.obj' cannot be read"):
        load_urdf(urdf(robot('<mesh filename="empty.obj"/>')), floating=True)


def chain(urdf: Write) -> Path:
    """base - (hinge) - shin - (fixed) - foot."""
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    rough = "<contact><lateral_friction value='1.5'/></contact>"
    links = f"<link name='base'>{INERTIAL}{ball}{ball}</link><link name='shin'>{INERTIAL}{ball}</link>"
    links += f"<link name='foot'>{ball}{rough}</link>"
    hinge = "<joint name='hinge' type='continuous'><parent link='base'/><child link='shin'/></joint>"
    weld = "<joint name='w' type='fixed'><parent link='shin'/><child link='foot'/><origin xyz='0 0 -1'/></joint>"
    return urdf(links + hinge + weld)


def test_which_links_may_touch_the_ground(urdf: Write) -> None:
    path = chain(urdf)
    names = {contact.name: contact.body for contact in load_urdf(path, floating=True).contacts}
    assert names == {"base 0": "base", "base 1": "base", "shin": "shin", "foot": "shin"}
    assert not load_urdf(path).contacts
    assert not load_urdf(path, floating=True, contacts=()).contacts
    (foot,) = load_urdf(path, contacts=["foot", "base"]).contacts  # the base is part of the world
    assert foot.point == pytest.approx([-0.3, 0.2, -1.1])  # from the centre of mass


def test_friction(urdf: Write) -> None:
    contacts = load_urdf(chain(urdf), floating=True, friction=0.3).contacts
    assert [contact.friction for contact in contacts] == [0.3, 0.3, 0.3, 1.5]
