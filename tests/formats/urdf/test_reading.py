"""Elements of a URDF file, and the bodies, joints and contacts that they become."""

import warnings
from collections.abc import Callable
from pathlib import Path

import mechanisms
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.spatial.transform import Rotation
from urdf.trees import BASE, SOLID, Tree, joint, link, trees

from vigym import Box, Mechanism, MechanismError, Simulator, Sphere, UrdfError
from vigym.formats.urdf import UrdfWarning, load_urdf, read_urdf

Write = Callable[..., Path]


def matrix(q: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(np.roll(q, -1)).as_matrix()


# -------------------- joints


@pytest.mark.parametrize(
    ("kind", "engine", "free"),
    [
        ("revolute", "revolute", 1),
        ("continuous", "revolute", 1),
        ("prismatic", "prismatic", 1),
        ("planar", "planar", 3),
        ("spherical", "spherical", 3),
        ("floating", "floating", 6),
    ],
)
def test_joint_types(urdf: Write, kind: str, engine: str, free: int) -> None:
    limit = '<limit lower="-1" upper="2" effort="3" velocity="4"/>' if kind in ("revolute", "prismatic") else ""
    m = load_urdf(urdf(BASE + link("a") + joint("j", kind, "base", "a", '<axis xyz="0 3 4"/>' + limit)))
    (found,) = m.joints
    assert (found.name, found.kind, found.parent, found.child) == ("j", engine, "world", "a")
    assert found.n_free == free
    if kind in ("revolute", "continuous", "prismatic", "planar"):
        assert found.basis[2] == pytest.approx([0, 0.6, 0.8])
    if limit:
        assert (found.lower, found.upper, found.effort_limit) == (-1, 2, 3)
    elif kind != "floating":
        assert (found.lower == -np.inf).all()
        assert (found.upper == np.inf).all()


def test_drives(urdf: Write) -> None:
    """A number for all joints that move, or numbers by name; limits of effort are the file's."""
    limit = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
    text = BASE + "".join(link(name) for name in "abcd") + joint("free", "floating", "base", "d")
    text += joint("turn", "revolute", "base", "a", limit) + joint("ball", "spherical", "a", "b")
    path = urdf(text + joint("rigid", "fixed", "b", "c"))
    m = load_urdf(path, kp=50.0, kd={"turn": 2.0, "ball": (1.0, 2.0, 3.0)})
    turn, ball = m.joint("turn"), m.joint("ball")
    assert (turn.kp, turn.kd, turn.effort_limit, turn.upper) == (50.0, 2.0, 3.0, 2.0)
    assert (ball.kp.tolist(), ball.kd.tolist()) == ([50.0] * 3, [1.0, 2.0, 3.0])
    assert not any(joint.kp.any() or joint.kd.any() for joint in load_urdf(path).joints)
    for name, why in (("rigid", "does not move"), ("free", "does not move"), ("tur", "did you mean 'turn'")):
        with pytest.raises(UrdfError, match=f"kp: joint '{name}' .*{why}"):
            load_urdf(path, kp={name: 1.0})
    with pytest.raises(MechanismError, match="joint 'turn': kp must be"):
        load_urdf(path, kp={"turn": -1.0})


def test_what_acts_on_a_joint(urdf: Write) -> None:
    inside = '<dynamics damping="0.5" friction="0.25"/><limit effort="7" velocity="9"/>'
    model = read_urdf(urdf(BASE + link("a") + joint("j", "continuous", "base", "a", inside)))
    found = model.mechanism.joint("j")
    assert (found.damping, found.friction, found.effort_limit) == (0.5, 0.25, 7)
    assert dict(model.velocity_limits) == {"j": 9}
    assert model.mechanism.joints[0].velocity_limit.tolist() == [9]
    assert found.basis[2] == pytest.approx([1, 0, 0])  # URDF's axis where none is given


def test_a_floating_joint_starts_where_its_origin_is(urdf: Write) -> None:
    origin = '<origin xyz="0 0 2" rpy="0 0 1.5707963267948966"/>'
    model = read_urdf(urdf(BASE + link("a") + joint("j", "floating", "base", "a", origin)), position=(1, 0, 0))
    sim = Simulator(model.mechanism, compiled=False)
    assert sim.state.x[0, 0] == pytest.approx([1, 0, 2])
    assert matrix(sim.state.q[0, 0]) @ [1, 0, 0] == pytest.approx([0, 1, 0])


def test_coupled_joints(urdf: Write) -> None:
    two = joint("j", "continuous", "base", "a") + joint(
        "k", "continuous", "base", "b", '<mimic joint="j" multiplier="-2" offset="0.5"/>'
    )
    path = urdf(BASE + link("a") + link("b") + two)
    model = read_urdf(path, kp=5.0)
    coupling = model.mechanism.couplings[0]
    assert (coupling.follower.joint, coupling.leaders[0].joint, coupling.offset) == ("k", "j", 0.5)
    assert coupling.coefficients.tolist() == [[-2, 0, 0, 0]]
    assert [one.kp.tolist() for one in model.mechanism.joints] == [[5], [0]]
    with pytest.warns(UrdfWarning, match="'k' follows 'j'"):
        model = read_urdf(path, mimic="free")
    assert not model.mechanism.couplings
    found = model.mimics["k"]
    assert (found.joint, found.multiplier, found.offset) == ("j", -2, 0.5)
    assert len(model.mechanism.joints) == 2


# -------------------- masses


def test_inertia_is_turned_with_its_origin(urdf: Write) -> None:
    """A quarter turn about z swaps x and y: the tensor in the link's axes is R diag(1, 2, 2.5) R^T."""
    origin = '<origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/>'
    inertial = f'<inertial>{origin}<mass value="2"/><inertia ixx="1" iyy="2" izz="2.5"/></inertial>'
    model = read_urdf(urdf(link("a", inertial)), floating=True)
    (body,) = model.mechanism.bodies
    assert body.inertia == pytest.approx(np.diag([2, 1, 2.5]))
    assert body.position == pytest.approx([0.1, 0.2, 0.3])
    assert model.links["a"].position == pytest.approx([-0.1, -0.2, -0.3])


def test_fixed_links_are_merged(urdf: Write) -> None:
    """Masses 1 at x = 0 and 3 at x = 2: centre at 1.5; Steiner adds 1 * 1.5^2 + 3 * 0.5^2 = 3 across, nothing along."""
    heavy = '<inertial><mass value="3"/><inertia ixx="1" iyy="2" izz="2.5"/></inertial>'
    weld = joint("weld", "fixed", "a", "b", '<origin xyz="2 0 0" rpy="1.5707963267948966 0 0"/><axis xyz="0 0 0"/>')
    model = read_urdf(urdf(link("b", heavy) + link("a") + link("frame", "") + weld + joint("w", "fixed", "b", "frame")),
                      floating=True)  # fmt: skip
    (body,) = model.mechanism.bodies
    assert (body.name, body.mass) == ("a", 4)
    assert body.inertia == pytest.approx(np.diag([1 + 1, 1 + 2.5 + 3, 1 + 2 + 3]))
    assert {name: frame.body for name, frame in model.links.items()} == dict.fromkeys(("b", "a", "frame"), "a")
    assert model.links["b"].position == pytest.approx([0.5, 0, 0])
    assert model.links["frame"].mass == 0


def test_links_without_mass(urdf: Write) -> None:
    parts = BASE + link("frame", "") + joint("w", "fixed", "base", "frame", '<origin xyz="1 0 0"/>')
    assert load_urdf(urdf(parts), floating=True).body("base").mass == 1
    like_pybullet = load_urdf(urdf(parts), floating=True, default_mass=1.0).body("base")
    assert like_pybullet.mass == 2
    assert like_pybullet.inertia == pytest.approx(np.diag([2, 2.5, 2.5]))
    assert not load_urdf(urdf(parts + link("a") + joint("j", "continuous", "frame", "a"))).body("a").visuals


@pytest.mark.parametrize(
    ("moments", "mended"),
    [
        ((1, 1, 3), (1.5, 1.5, 3)),  # a + b < c: b to c/2, a to c - b
        ((0.1, 2, 3), (1, 2, 3)),
        ((0, 1, 1), (1e-4, 1, 1)),
        ((-0.5, 1, 1.2), (0.2, 1, 1.2)),
    ],
)
def test_impossible_inertias_are_mended(urdf: Write, moments: tuple[float, ...], mended: tuple[float, ...]) -> None:
    x, y, z = moments
    inertial = f'<inertial><mass value="2"/><inertia ixx="{x}" iyy="{y}" izz="{z}"/></inertial>'
    with pytest.warns(UrdfWarning, match=r"robot.urdf:2: <inertial>: link 'a' has principal moments"):
        body = load_urdf(urdf(link("a", inertial)), floating=True).body("a")
    assert body.inertia == pytest.approx(np.diag(mended), rel=1e-5)


def test_zero_inertia_is_that_of_the_box_around_the_shapes(urdf: Write) -> None:
    inertial = '<inertial><mass value="12"/><inertia ixx="0" iyy="0" izz="0"/></inertial>'
    shape = '<collision><geometry><box size="1 2 3"/></geometry></collision>'
    with pytest.warns(UrdfWarning, match="1 x 2 x 3 m"):
        body = load_urdf(urdf(link("a", inertial + shape)), floating=True).body("a")
    assert body.inertia == pytest.approx(np.diag([13, 10, 5]))  # m/12 (b^2 + c^2), ...


# -------------------- poses


def poses_are_products(
    path: Path, tree: Tree, floating: bool, place: np.ndarray, turn: Rotation, phi: np.ndarray
) -> None:
    model = read_urdf(path, floating=floating, position=place, orientation=np.roll(turn.as_quat(), 1), contacts=())
    sim = Simulator(model.mechanism, compiled=False)
    sim.set_joint_state(phi[: sim.model.n_axes])
    x, q = model.link_poses(sim.state.x[0], sim.state.q[0])

    poses, axis = [(turn.as_matrix(), place)], 0
    for made in tree.joints:
        R, p = poses[made["parent"]]
        p, R = p + R @ made["xyz"], R @ Rotation.from_euler("xyz", made["rpy"]).as_matrix()  # about fixed axes
        if made["kind"] != "fixed":
            value, axis = phi[axis], axis + 1
            if made["kind"] == "prismatic":
                p = p + R @ made["axis"] * value
            else:
                R = R @ Rotation.from_rotvec(made["axis"] * value).as_matrix()
        poses.append((R, p))
    for k, (R, p) in enumerate(poses):
        assert x[k] == pytest.approx(p, abs=1e-12)
        assert matrix(q[k]) == pytest.approx(R, abs=1e-12)
    assert axis == sim.model.n_axes
    assert sim.joint_error().max() < 1e-12


@pytest.mark.parametrize("floating", [True, False])
def test_link_poses_are_products_of_origins_and_motions(urdf: Write, floating: bool) -> None:
    most = 9

    @settings(max_examples=10)
    @given(trees(most), mechanisms.arrays(2.0, 3), mechanisms.orientations, mechanisms.arrays(2.0, most - 1))
    def agree(tree: Tree, place: np.ndarray, turn: tuple[float, ...], phi: np.ndarray) -> None:
        poses_are_products(urdf(tree.text), tree, floating, place, Rotation.from_quat(np.roll(turn, -1)), phi)

    agree()


def test_a_pendulum_is_the_one_built_by_hand(urdf: Write) -> None:
    rod = '<inertial><origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.2" iyy="0.2" izz="0.01"/></inertial>'
    hinge = joint("hinge", "continuous", "world", "rod", '<axis xyz="0 1 0"/><origin xyz="0 0 3"/>')
    m = load_urdf(urdf(link("world", "") + link("rod", rod) + hinge))
    twin = Mechanism()
    twin.add_body("rod", mass=2, inertia=(0.2, 0.2, 0.01))
    anchors = {"parent_anchor": (0, 0, 3), "child_anchor": (0, 0, 0.5)}
    twin.add_joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), **anchors)
    states = []
    for mechanism in (m, twin):
        sim = Simulator(mechanism, compiled=False)
        sim.set_joint_state([0.7], [1.0])
        sim.step(effort=[[0.3]])
        states.append(np.concatenate([part[0, 0] for part in sim.state]))
    assert states[0] == pytest.approx(states[1], abs=1e-12)


# -------------------- looks


def test_shapes_materials_and_meshes(urdf: Write, tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "part.dae").write_text("")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "other.obj").write_text("")
    red, blue = '<material name="red"/>', '<material name="b"><color rgba="0 0 2 1"/></material>'
    mesh = "<geometry><mesh filename={} scale='2 2 2'/></geometry>"
    looks = [
        f'<visual><origin xyz="1 0 0"/><geometry><box size="1 2 3"/></geometry>{red}</visual>',
        f'<visual><geometry><sphere radius="0.5"/></geometry>{blue}</visual>',
        f"<visual>{mesh.format(repr('package://r_description/meshes/part.dae'))}{red}</visual>",
        f"<visual>{mesh.format(repr('package://far/other.obj'))}</visual>",
        f"<visual>{mesh.format(repr('lost.stl'))}</visual>",
    ]
    inertial = '<inertial><origin xyz="0 0 1"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    material = '<material name="red"><color rgba="1 0 0 0.5"/></material>'
    (tmp_path / "r_description").mkdir()
    path = tmp_path / "r_description" / "r.urdf"
    path.write_text(f'<robot name="r">{material}{link("a", inertial + "".join(looks))}</robot>')
    (tmp_path / "meshes").rename(tmp_path / "r_description" / "meshes")
    with pytest.warns(UrdfWarning) as caught:
        model = read_urdf(path, floating=True, packages={"far": tmp_path / "elsewhere"})
    assert [str(warning.message).split(": ", 2)[2].split(" ")[0] for warning in caught] == [
        "rgba='0",
        *["mesh"] * 3,  # two are empty, one is lost
    ]
    box, ball = model.mechanism.body("a").visuals
    assert box == Box((1, 2, 3), position=(1, 0, -1), color=(1, 0, 0, 0.5))
    assert ball == Sphere(0.5, position=(0, 0, -1), color=(0, 0, 1, 1))
    assert [mesh.path for mesh in model.meshes] == [
        path.parent / "meshes/part.dae",
        tmp_path / "elsewhere/other.obj",
        None,
    ]
    assert model.meshes[0].color == (1, 0, 0, 0.5)
    assert model.meshes[0].scale.tolist() == [2, 2, 2]
    assert model.meshes[0].position.tolist() == [0, 0, -1]  # of the mesh's frame in the body's


def test_links_without_visual_solids_look_as_they_collide(urdf: Write) -> None:
    collision = '<collision><origin xyz="0 0 1"/><geometry><sphere radius="0.5"/></geometry></collision>'
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    mesh = f'<visual><geometry><mesh filename="none.dae"/></geometry>{red}</visual>'
    solid = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    text = (
        BASE + link("a", SOLID + collision) + link("b", SOLID + mesh + collision) + link("c", SOLID + solid + collision)
    )
    text += "".join(joint(name, "continuous", "base", name) for name in "abc")
    with pytest.warns(UrdfWarning, match="not found"):
        m = load_urdf(urdf(text))
    assert m.body("a").visuals == (Sphere(0.5, position=(0, 0, 1)),)
    assert m.body("b").visuals == (Sphere(0.5, position=(0, 0, 1), color=(1, 0, 0, 1)),)
    assert m.body("c").visuals == (Box((1, 1, 1)),)
    assert not m.colliders


def test_shapes_of_the_fixed_root_are_the_worlds(urdf: Write) -> None:
    stand = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    parts = link("base", stand) + link("a") + joint("j", "continuous", "base", "a")
    model = read_urdf(urdf(parts), position=(0, 0, 2))
    assert model.mechanism.scenery == (Box((1, 1, 1), position=(0, 0, 2)),)
    assert model.links["base"].body == "world"


# -------------------- files as they are found


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"\n\n" + data,
        lambda data: data + b"\n\0",
        lambda data: data.replace(b"<!--", b"<!-- 90\xb0 "),
    ],
    ids=["blank space before the declaration", "zero byte at the end", "Latin-1"],
)
def test_files_that_are_almost_xml(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "r.urdf"
    path.write_bytes(spoil(f'<?xml version="1.0"?><!-- c --><robot name="r">{BASE}</robot>'.encode()))
    with pytest.warns(UrdfWarning, match=r"r\.urdf"):
        assert load_urdf(path, floating=True).bodies


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "r.urdf"
    declared = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    text = f'<?xml version="1.0" encoding="{declared}"?><robot xmlns:xacro="http://x" name="r">{link("fuß")}</robot>'
    path.write_bytes(text.encode(encoding))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [body.name for body in load_urdf(str(path), floating=True).bodies] == ["fuß"]


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<origin xyz="1, 2, 3"/>', "separated by spaces; read as 1 2 3"),
        ('<origin xyz="1 2 3 4"/>', "separated by spaces; read as 1 2 3"),
        ('<origin xyz="$(optenv PLACE 1 2 3)"/>', "separated by spaces; read as 1 2 3"),
        ('<origin xyz="1. 2. 3.0."/>', "two points, read as 3.0"),
        ('<origin xyz="1 2 3"/><origin xyz="4 5 6"/>', "there may be only one .* line 2 counts"),
        ('<origin xyz="1 2 3"/><dinamics damping="1"/>', "did you mean 'dynamics'"),
        ('<origin xyz="1 2 3"/><limit lower="-1" upper="1"/>', "mean nothing for type 'continuous'"),
        ('<origin xyz="1 2 3"/><limit effort="0"/>', "effort=0 of joint 'j' is taken as not limited"),
    ],
)
def test_mended_with_a_warning(urdf: Write, inside: str, message: str) -> None:
    with pytest.warns(UrdfWarning, match=rf"robot\.urdf:2: <\w+.*{message}"):
        m = load_urdf(urdf(BASE + link("a") + joint("j", "continuous", "base", "a", inside)))
    assert m.joint("j").parent_anchor == pytest.approx([1, 2, 3])


@pytest.mark.parametrize("limit", ["", '<limit effort="1"/>', '<limit lower="1" upper="-1"/>'])
def test_revolute_joints_without_a_range_turn_freely(urdf: Write, limit: str) -> None:
    with pytest.warns(UrdfWarning, match="moves without limits"):
        m = load_urdf(urdf(BASE + link("a") + joint("j", "revolute", "base", "a", limit)))
    assert (m.joint("j").lower, m.joint("j").upper) == (-np.inf, np.inf)
