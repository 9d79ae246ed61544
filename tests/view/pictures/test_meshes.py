"""Triangle meshes: the ray caster against all triangles one by one, files, recordings and pages."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import vigym
from vigym.engine.errors import InputError, MechanismError
from vigym.formats.meshes import read_surfaces, simplified
from vigym.view.page.mesh import mesh
from vigym.view.pictures.camera import Camera
from vigym.view.pictures.picture import Renderer
from vigym.view.pictures.scene import part
from vigym.view.pictures.solids import BOX

CUBE_OBJ = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + (
    "usemtl red\nf 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nusemtl blue\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
)


def blob(rng: np.random.Generator, n: int) -> vigym.Surface:
    """Triangles in all directions about the origin, not closed, of very different sizes."""
    middle = rng.normal(0.0, 0.3, (n, 1, 3))
    corners = middle + rng.normal(0.0, 1.0, (n, 3, 3)) * 10 ** rng.uniform(-2.0 if n > 9 else -0.5, -0.3, (n, 1, 1))
    return vigym.Surface(corners.reshape(-1, 3), np.arange(3 * n).reshape(-1, 3), position=(0.1, -0.2, 0.7))


def alone(shape: vigym.Surface | vigym.Box, width: int = 48) -> Renderer:
    m = vigym.Mechanism()
    m.add_body("a", mass=1.0, inertia=[1.0, 1.0, 1.0], visuals=[shape])
    return Renderer(m, width, width, Camera(4.0, 30.0, -20.0, (0.0, 0.0, 0.5)), planes=[])


def pose(turn: tuple[float, float, float, float] = (0.8, 0.2, -0.4, 0.4)) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((1, 3)), np.array([turn]) / np.linalg.norm(turn)


@pytest.mark.parametrize("n", [1, 3, 4, 5, 400])
def test_depths_are_those_of_all_triangles_one_by_one(n: int) -> None:
    """t of o + t d = v0 + u e1 + v e2, for every pixel and triangle; trees of one leaf, of full ones, of many."""
    surface = blob(np.random.default_rng(n), n)
    renderer, (x, q) = alone(surface), pose()
    found = renderer.depth(x, q)
    view = renderer._view(renderer.camera, x[None])
    from vigym.engine.rotation import rotate

    corners = rotate(q[0], surface.vertices.astype(float) + surface.position)[surface.faces]
    v0, e1, e2 = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    rows, columns = np.mgrid[:48, :48] + 0.5
    d = np.array(view.forward) + ((columns - view.column) * view.pixel)[..., None] * view.right
    d = (d + ((view.row - rows) * view.pixel)[..., None] * view.up).reshape(-1, 1, 3)
    p = np.cross(d, e2)
    w = 1.0 / (p * e1).sum(-1)
    s = np.array(view.eye) - v0
    u, c = (p * s).sum(-1) * w, np.cross(s, e1)
    v, t = (d * c).sum(-1) * w, (e2 * c).sum(-1) * w
    edge = 1e-9  # rays that pass an edge this closely may be either
    exact = np.where((u > edge) & (v > edge) & (u + v < 1.0 - edge) & (t > 0.0), t, np.inf).min(1).reshape(48, 48)
    assert np.isfinite(exact).sum() > 3
    same = np.isclose(found, exact, rtol=1e-5) | (np.isinf(found) & np.isinf(exact))
    assert same.mean() > 0.999


def test_a_box_of_triangles_looks_like_a_box() -> None:
    """Depths agree; colours differ only where a highlight or an edge does."""
    box = vigym.Box((0.6, 0.9, 0.4))
    vertices, faces = mesh(part(box, (0.2, 0.4, 0.7)))
    x, q = pose()
    one, other = alone(box), alone(vigym.Surface(vertices, faces))
    assert part(box, (0, 0, 0)).kind == BOX
    depths = one.depth(x, q), other.depth(x, q)
    both = np.isfinite(depths[0]) & np.isfinite(depths[1])
    assert both.sum() > 100
    assert (np.isfinite(depths[0]) != np.isfinite(depths[1])).sum() <= 3  # rays through its edges
    assert np.abs(depths[0][both] - depths[1][both]).max() < 1e-5  # of numbers of 32 bits
    difference = np.abs(one.render(x, q).astype(int) - other.render(x, q)).max(-1)
    assert (difference > 8).mean() < 0.01


def test_sharp_edges_stay_and_round_ones_are_smooth() -> None:
    from vigym.view.pictures.hierarchy import corner_normals

    vertices, faces = mesh(part(vigym.Box((1.0, 1.0, 1.0)), (0, 0, 0)))
    assert np.abs(corner_normals(vertices, faces)).max(-1).min() == pytest.approx(1.0)  # along the axes
    vertices, faces = mesh(part(vigym.Sphere(1.0), (0, 0, 0)))
    normals = corner_normals(vertices, faces)
    # a corner of the sphere lies along its normal, to the angle between two of its rings
    assert (normals * vertices[faces]).sum(-1).min() > np.cos(np.radians(18.0))


@pytest.mark.parametrize(
    "bad",
    [
        {"vertices": [[0, 0, np.nan]] * 3, "faces": [[0, 1, 2]]},
        {"vertices": [[0, 0, 1e31]] * 3, "faces": [[0, 1, 2]]},
        {"vertices": np.eye(3), "faces": [[0, 1, 3]]},
        {"vertices": np.eye(3), "faces": [[0, 1, -1]]},
        {"vertices": np.eye(3), "faces": [[0.0, 1.0, 2.0]]},
        {"vertices": np.eye(3), "faces": [[0, 1, 1]]},
    ],
)
def test_surfaces_that_cannot_be(bad: dict) -> None:
    with pytest.raises(MechanismError, match="Surface: "):
        vigym.Surface(**bad)
    with pytest.raises(MechanismError, match="give it in visuals"):
        vigym.Mechanism().add_body("a", mass=1.0, shapes=[vigym.Surface(np.eye(3), [[0, 1, 2]])])


# -------------------- files


def test_colours_of_a_file_are_parts(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "cube.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n")
    (tmp_path / "cube.obj").write_text("mtllib cube.mtl\n" + CUBE_OBJ)
    found = read_surfaces(tmp_path / "cube.obj", 1000)
    assert {surface.color[:3]: len(surface.faces) for surface in found if surface.color} == {(1, 0, 0): 6, (0, 0, 1): 6}


def test_nothing_outside_the_folder_is_read(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    inner = tmp_path / "robot"
    inner.mkdir()
    (tmp_path / "cube.mtl").write_text("newmtl red\nKd 1 0 0\n")
    (inner / "link.mtl").symlink_to(tmp_path / "cube.mtl")
    for name in ("../cube.mtl", str(tmp_path / "cube.mtl"), "link.mtl", "/dev/zero"):
        (inner / "cube.obj").write_text(f"mtllib {name}\n{CUBE_OBJ}")
        assert all(surface.color != (1, 0, 0, 1) for surface in read_surfaces(inner / "cube.obj", 1000))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.obj", "v 1 2\nf 1 2 3\n"),
        ("a.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
        ("a.obj", "f 1 2 9999999\n"),
        ("a.obj", ""),
        ("a.stl", "solid nothing"),
        ("a.dae", "<COLLADA"),
        ("a.dae", '<!DOCTYPE a [<!ENTITY b "c">]><COLLADA/>'),
        ("a.ply", "ply"),
    ],
)
def test_damaged_files_are_one_kind_of_error(tmp_path: Path, name: str, content: str) -> None:
    pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError):
        read_surfaces(tmp_path / name, 1000)


def test_large_meshes_are_simplified() -> None:
    """A sphere of 20,000 triangles as one of at most 1,000, whose corners stay near it."""
    i, j = np.mgrid[:100, :101]
    turn, rise = 2 * np.pi * i / 100, np.pi * j / 100
    sphere = np.stack([np.cos(turn) * np.sin(rise), np.sin(turn) * np.sin(rise), np.cos(rise)], -1).reshape(-1, 3)
    at = lambda i, j: 101 * (i % 100) + j  # noqa: E731
    i, j = np.mgrid[:100, :100]
    corners = [(at(i, j), at(i, j + 1), at(i + 1, j)), (at(i + 1, j), at(i, j + 1), at(i + 1, j + 1))]
    faces = np.concatenate([np.stack(three, -1).reshape(-1, 3) for three in corners])
    vertices, fewer = simplified(sphere, faces, 1000)
    assert 300 < len(fewer) <= 1000
    used = vertices[np.unique(fewer)]
    assert np.abs(np.linalg.norm(used, axis=1) - 1.0).max() < 0.05
    assert simplified(sphere, faces, 30_000)[1] is faces


# -------------------- URDF, recordings, pages


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> vigym.UrdfModel:
    pytest.importorskip("trimesh")
    folder = tmp_path_factory.mktemp("robot")
    (folder / "cube.obj").write_text(CUBE_OBJ)
    (folder / "bad.obj").write_text("v 1 2\n")
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    visual = '<visual><origin xyz="0 0 {}"/><geometry><mesh filename="{}" scale="1 1 2"/></geometry>{}</visual>'
    red = '<material name="r"><color rgba="1 0 0 1"/></material>'
    ball = '<collision><geometry><sphere radius="1"/></geometry></collision>'
    links = [
        f'<link name="a">{inertial}{visual.format(1, "cube.obj", red)}{visual.format(3, "cube.obj", "")}{ball}</link>',
        f'<link name="b">{inertial}{visual.format(0, "bad.obj", red)}{ball}</link>',
    ]
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    (folder / "robot.urdf").write_text(f'<robot name="r">{"".join(links)}{joint}</robot>')
    with pytest.warns(vigym.UrdfWarning, match=r"'bad.obj' is not drawn"):
        return vigym.read_urdf(folder / "robot.urdf", floating=True, contacts=[])


def test_visual_meshes_of_a_urdf_file_are_drawn(robot: vigym.UrdfModel) -> None:
    """In the file's colour and scale; instead of a mesh that cannot be read, the collision shape, in its colour."""
    first, second = robot.mechanism.bodies
    a, b = first.visuals
    assert isinstance(a, vigym.Surface)
    assert isinstance(b, vigym.Surface)
    assert (a.color, a.position, b.position) == ((1, 0, 0, 1), (0, 0, 1), (0, 0, 3))
    assert a.vertices.max(0).tolist() == [1, 1, 2]
    assert a.content == b.content
    assert second.visuals == (vigym.Sphere(1.0, color=(1, 0, 0, 1)),)
    plain = vigym.read_urdf(robot.path, floating=True, contacts=[], meshes=False)
    assert [type(shape) for shape in plain.mechanism.bodies[0].visuals] == [vigym.Sphere]


def test_recordings_carry_a_mesh_once(robot: vigym.UrdfModel, tmp_path: Path) -> None:
    from vigym.engine.recorded_scene import meshes_of

    mechanism = robot.mechanism
    assert len(meshes_of(mechanism, [])) == 1
    path = tmp_path / "run.vigym"
    sim = vigym.Simulator(mechanism, dt=0.01, compiled=False)
    with sim.record(path, scenery=[mechanism.bodies[0].visuals[0]]):
        pass
    replay = vigym.Replay.load(path)
    assert path.read_bytes().startswith(b"vigym r3")
    assert [body.visuals for body in replay.mechanism.bodies] == [body.drawn for body in mechanism.bodies]
    assert replay.scenery == [mechanism.bodies[0].visuals[0]]
    data = path.read_bytes()
    for cut in range(0, len(data), 97):  # a file of which a part is missing is read, or is an InputError
        path.write_bytes(data[:cut])
        with pytest.raises(InputError):
            vigym.Replay.load(path)
    if find_spec("viser"):
        assert len(replay.html()) > 100_000
