"""Building mechanisms: mass properties, joint kinds, and errors that name the culprit."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigym.engine.errors import InputError, MechanismError, StateError, VigymError
from vigym.engine.joint import KINDS, orthonormal_basis
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import rotation_matrix
from vigym.engine.shapes import Box, Capsule, Cylinder, Shape, Sphere, mass_properties

X, Y, Z = np.eye(3)
HALF = np.sqrt(0.5)
ROUND_OFF = 2e-15  # ten times the spacing of numbers near 1: a handful of operations
QUARTER_TURN_X = (HALF, HALF, 0.0, 0.0)  # takes z to -y

SOLIDS: list[Shape] = [
    Sphere(0.3),
    Box((0.2, 0.5, 0.9)),
    Cylinder(0.4, 0.7),
    Cylinder(radius=0.1, length=1.3),
    Capsule(0.25, 0.6),
    Capsule(radius=0.5, length=0.1),
]


def pair_of_bodies() -> Mechanism:
    m = Mechanism()
    m.add_body("base", mass=2.0, inertia=(1, 1, 1))
    m.add_body("rod", mass=1.0, inertia=(1, 1, 1))
    return m


# -------------------- shapes


def inside(shape: Shape, p: np.ndarray) -> Any:
    """Mask of the points p (n, 3), in the shape's frame, that lie in the solid: its definition."""
    x, y, z = p.T
    match shape:
        case Sphere(radius=r):
            return x**2 + y**2 + z**2 <= r**2
        case Box(size=size):
            return np.all(np.abs(p) <= np.array(size) / 2, axis=1)
        case Cylinder(radius=r, length=length):
            return (x**2 + y**2 <= r**2) & (np.abs(z) <= length / 2)
        case Capsule(radius=r, length=length):
            return x**2 + y**2 + np.maximum(np.abs(z) - length / 2, 0) ** 2 <= r**2
    raise AssertionError(shape)


def integrate(shape: Shape, n: int = 160) -> tuple[float, np.ndarray]:
    """Volume and unit inertia by the midpoint rule on n^3 cells of a bounding box."""
    match shape:
        case Box(size=size):
            half = np.array(size) / 2
        case Sphere(radius=r):
            half = np.array([r, r, r])
        case Cylinder(radius=r, length=length):
            half = np.array([r, r, length / 2])
        case Capsule(radius=r, length=length):
            half = np.array([r, r, length / 2 + r])
    ticks = (np.arange(n) + 0.5) / n * 2 - 1
    p = np.stack(np.meshgrid(ticks, ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 3) * half
    p = p[inside(shape, p)]
    second = p.T @ p / len(p)
    return len(p) * float(np.prod(2 * half / n)), np.trace(second) * np.eye(3) - second


@pytest.mark.parametrize("shape", SOLIDS, ids=repr)
def test_volume_and_inertia_are_those_of_the_solid(shape: Shape) -> None:
    volume, inertia = integrate(shape)
    # Midpoint rule over an indicator function: the error is that of the cells cut by the surface, which
    # average out to well below 1/n = 0.6 %. The published cylinder formula would be off by 4 to 80 %.
    assert shape.volume() == pytest.approx(volume, rel=1e-3)
    np.testing.assert_allclose(shape.unit_inertia(), inertia, atol=1e-3 * inertia.max())


def test_closed_forms() -> None:
    np.testing.assert_allclose(np.diag(Sphere(2.0).unit_inertia()), [1.6, 1.6, 1.6])
    np.testing.assert_allclose(np.diag(Box((1, 2, 3)).unit_inertia()), [13 / 12, 10 / 12, 5 / 12])
    np.testing.assert_allclose(np.diag(Cylinder(2.0, 3.0).unit_inertia()), [1.75, 1.75, 2.0])
    # A capsule tends to a ball when its length vanishes and to a cylinder when its radius does.
    np.testing.assert_allclose(Capsule(1.0, 1e-9).unit_inertia(), Sphere(1.0).unit_inertia(), atol=1e-8)
    np.testing.assert_allclose(Capsule(1e-6, 1.0).unit_inertia(), Cylinder(1e-6, 1.0).unit_inertia(), atol=2e-6)


@given(
    cut=st.floats(0.1, 0.9),
    q=st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1),
    centre=st.lists(st.floats(-2, 2), min_size=3, max_size=3),
    density=st.floats(0.1, 1e4),
)
def test_a_box_cut_in_two_keeps_its_mass_properties(
    cut: float, q: list[float], centre: list[float], density: float
) -> None:
    whole = Box((1.0, 0.4, 0.6), position=centre, orientation=q)  # type: ignore[arg-type]
    R = rotation_matrix(np.array(whole.orientation))
    halves = [
        Box((length, 0.4, 0.6), position=np.array(centre) + R @ (x, 0, 0), orientation=q)  # type: ignore[arg-type]
        for length, x in ((cut, (cut - 1) / 2), (1 - cut, cut / 2))
    ]
    expected_mass = density * 0.24
    for parts in ([whole], halves):
        mass, com, inertia = mass_properties(parts, density=density)
        assert mass == pytest.approx(expected_mass)
        np.testing.assert_allclose(com, centre, atol=1e-12)
        np.testing.assert_allclose(inertia, mass * R @ whole.unit_inertia() @ R.T, atol=1e-9 * mass)
        same = mass_properties(parts, mass=expected_mass)
        np.testing.assert_allclose(same[2], inertia, rtol=0, atol=1e-12 * mass)


def test_rotation_matrix_takes_the_shape_frame_to_the_body_frame() -> None:
    np.testing.assert_allclose(rotation_matrix(np.array(QUARTER_TURN_X)) @ Z, -Y, atol=1e-15)
    _, _, inertia = mass_properties([Cylinder(0.1, 1.0, orientation=QUARTER_TURN_X)], mass=1.0)
    assert np.argmin(np.diag(inertia)) == 1  # the cylinder now lies along y


def test_shapes_are_values() -> None:
    a, b = Box([1, 2, 3], position=np.zeros(3)), Box((1.0, 2.0, 3.0), orientation=(2, 0, 0, 0))  # type: ignore[arg-type]
    assert a == b
    assert hash(a) == hash(b)
    assert a.orientation == (1.0, 0.0, 0.0, 0.0)
    assert Sphere(1.0, color=(1, 0, 0)).color == (1.0, 0.0, 0.0, 1.0)  # type: ignore[arg-type]
    assert a != Box((1, 2, 3), position=(0, 0, 1))


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: Sphere(0), "Sphere: radius"),
        (lambda: Sphere(np.nan), "Sphere: radius"),
        (lambda: Sphere("big"), "Sphere: radius"),  # type: ignore[arg-type]
        (lambda: Box((1, 2)), "Box: size"),  # type: ignore[arg-type]
        (lambda: Box((1, -2, 3)), "Box: size"),
        (lambda: Cylinder(1, 0), "Cylinder: length"),
        (lambda: Capsule(-1, 1), "Capsule: radius"),
        (lambda: Sphere(1, position=(0, 0, np.inf)), "Sphere: position"),
        (lambda: Sphere(1, orientation=(0, 0, 0, 0)), "Sphere: orientation"),
        (lambda: Sphere(1, color="red"), "Sphere: color"),  # type: ignore[arg-type]
        (lambda: Sphere(1, color=(0, 0, 2, 1)), "Sphere: color"),
        (lambda: Sphere(1e200), "Sphere.*overflow"),
        (lambda: Sphere(1e-200), "Sphere.*vanish"),
        (lambda: mass_properties([], mass=1), "shapes"),
        (lambda: mass_properties([Sphere(1)]), "mass or density"),
        (lambda: mass_properties([Sphere(1)], 1, 1), "mass or density"),
        (lambda: mass_properties([Sphere(1)], density=-1), "density"),
    ],
)
def test_bad_shapes(make: Callable[[], object], culprit: str) -> None:
    with pytest.raises(MechanismError, match=culprit):
        make()


# -------------------- bodies


def test_body_from_explicit_inertia() -> None:
    m = Mechanism()
    body = m.add_body("a", 2.0, (1, 2, 2.5), position=[1, 2, 3], orientation=(0, 0, 3, 0))
    assert body.mass == 2.0
    assert body.shapes == ()
    np.testing.assert_array_equal(body.inertia, np.diag([1, 2, 2.5]))
    np.testing.assert_array_equal(body.position, [1, 2, 3])
    np.testing.assert_array_equal(body.orientation, [0, 0, 1, 0])
    with pytest.raises(ValueError, match="read-only"):
        body.inertia[0, 0] = -1.0


def test_body_from_shapes() -> None:
    m = Mechanism()
    dumbbell = [Sphere(0.1, position=(0, 0, z)) for z in (-1, 1)]
    body = m.add_body("dumbbell", mass=2.0, shapes=dumbbell)
    # Two balls of 1 kg, r = 0.1 m, 1 m from the middle: 2 (2/5 r^2 + 1) across, 2 * 2/5 r^2 along.
    np.testing.assert_allclose(body.inertia, np.diag([2.008, 2.008, 0.008]), rtol=1e-14)
    assert m.add_body("cube", density=1000.0, shapes=[Box((0.1, 0.1, 0.1))]).mass == pytest.approx(1.0)
    # With an explicit inertia, shapes give at most the mass: they need not be centred.
    drawn = m.add_body("drawn", inertia=(1, 1, 1), shapes=[Box((1, 1, 1), position=(5, 0, 0))], density=3.0)
    assert drawn.mass == pytest.approx(3.0)
    np.testing.assert_array_equal(drawn.inertia, np.eye(3))


def test_nearly_symmetric_inertia_is_made_exactly_symmetric() -> None:
    J = np.array([[2, 1e-10, 0], [0, 2, 0], [0, 0, 2]])
    body = Mechanism().add_body("a", 1.0, J)
    np.testing.assert_array_equal(body.inertia, body.inertia.T)


def test_thin_rod_and_lamina_are_bodies() -> None:
    m = Mechanism()
    m.add_body("rod", 1.0, (1.0, 1.0, 1e-12))
    m.add_body("lamina", 1.0, (1.0, 1.0, 2.0 * (1 + 1e-7)))  # rounding in a file, within the slack


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({}, "'a': mass is missing"),
        ({"mass": 1.0}, "'a': neither inertia nor shapes"),
        ({"mass": 0.0, "inertia": (1, 1, 1)}, "'a': mass"),
        ({"mass": -1.0, "inertia": (1, 1, 1)}, "'a': mass"),
        ({"mass": np.inf, "inertia": (1, 1, 1)}, "'a': mass"),
        ({"mass": "1", "inertia": (1, 1, 1)}, "'a': mass"),
        ({"mass": 1 + 2j, "inertia": (1, 1, 1)}, "'a': mass"),
        ({"mass": [1.0], "inertia": (1, 1, 1)}, "'a': mass"),
        ({"mass": 1.0, "density": 1.0, "shapes": [Sphere(1)]}, "'a': give mass or density"),
        ({"density": 1.0, "inertia": (1, 1, 1)}, "'a': density needs shapes"),
        ({"density": 1e308, "shapes": [Sphere(1e10)]}, "'a': mass"),
        ({"mass": 1.0, "inertia": 1.0}, "'a': inertia"),
        ({"mass": 1.0, "inertia": (1, 1)}, "'a': inertia"),
        ({"mass": 1.0, "inertia": [[1, 2], [3]]}, "'a': inertia"),
        ({"mass": 1.0, "inertia": (1, 1, None)}, "'a': inertia"),
        ({"mass": 1.0, "inertia": (1, 1, np.nan)}, "'a': inertia.*NaN"),
        ({"mass": 1.0, "inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "'a': inertia must be symmetric"),
        ({"mass": 1.0, "inertia": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}, "'a': inertia.*positive definite"),
        ({"mass": 1.0, "inertia": (1, 1, 0)}, "'a': inertia.*positive definite"),
        ({"mass": 1.0, "inertia": (0, 0, 0)}, "'a': inertia.*positive definite"),
        ({"mass": 1.0, "inertia": (1, 1, 2.1)}, "'a': inertia.*triangle"),
        ({"mass": 1.0, "shapes": Sphere(1)}, "'a': shapes"),
        ({"mass": 1.0, "shapes": ["ball"]}, "'a': shapes.*ball"),
        ({"mass": 1.0, "shapes": [Sphere(1, position=(0, 0, 0.25))]}, r"'a': shapes.*\(0, 0, -0.25\) m"),
        ({"mass": 1.0, "shapes": [Sphere(1, position=(1e300, 0, 0)), Sphere(1)]}, "'a': shapes"),
        ({"mass": 1.0, "inertia": (1, 1, 1), "position": (0, 0)}, "'a': position"),
        ({"mass": 1.0, "inertia": (1, 1, 1), "orientation": (0, 0, 0, 0)}, "'a': orientation"),
    ],
)
def test_bad_bodies(arguments: dict[str, Any], culprit: str) -> None:
    m = Mechanism()
    with pytest.raises(MechanismError, match=culprit):
        m.add_body("a", **arguments)
    assert m.bodies == ()


# -------------------- joints

ROTATED = {"axis": (1, 0, 0)}
KIND_TABLE: list[tuple[str, dict[str, Any], Any, str, list[tuple[str, int]]]] = [
    ("fixed", ROTATED, [X, Y, Z], "111111", []),
    ("revolute", ROTATED, [Y, Z, X], "111110", [("rotation", 2)]),
    ("prismatic", ROTATED, [Y, Z, X], "110111", [("translation", 2)]),
    ("cylindrical", ROTATED, [Y, Z, X], "110110", [("translation", 2), ("rotation", 2)]),
    ("planar", ROTATED, [Y, Z, X], "001110", [("translation", 0), ("translation", 1), ("rotation", 2)]),
    ("universal", ROTATED, [X, Y, Z], "111001", [("rotation", 0), ("rotation", 1)]),
    ("universal", {"axis": Y, "axis2": -X}, [Y, -X, Z], "111001", [("rotation", 0), ("rotation", 1)]),
    ("spherical", ROTATED, [X, Y, Z], "111000", [("rotation", 0), ("rotation", 1), ("rotation", 2)]),
    (
        "floating",
        {},
        [X, Y, Z],
        "000000",
        [(motion, row) for motion in ("translation", "rotation") for row in (0, 1, 2)],
    ),
    (
        "custom",
        {"constrained": [0, 1, 0, 1, 1, 1]},
        [X, Y, Z],
        "010111",
        [("translation", 0), ("translation", 2)],
    ),
    ("custom", {"constrained": [True] * 5 + [False], **ROTATED}, [Y, Z, X], "111110", [("rotation", 2)]),
]


@pytest.mark.parametrize(("kind", "arguments", "basis", "constrained", "free"), KIND_TABLE)
def test_joint_kinds(
    kind: str, arguments: dict[str, Any], basis: Any, constrained: str, free: list[tuple[str, int]]
) -> None:
    joint = pair_of_bodies().add_joint("j", kind, "base", "rod", **arguments)
    np.testing.assert_allclose(joint.basis, basis, atol=1e-15)
    np.testing.assert_array_equal(joint.constrained, [c == "1" for c in constrained])
    assert joint.free_axes == free
    assert joint.n_free == len(free)
    for option in ("stiffness", "rest", "damping", "kp", "kd", "target", "target_velocity", "friction"):
        np.testing.assert_array_equal(getattr(joint, option), np.zeros(len(free)))
    np.testing.assert_array_equal(joint.effort_limit, np.full(len(free), np.inf))
    np.testing.assert_array_equal(joint.lower, np.full(len(free), -np.inf))
    np.testing.assert_array_equal(joint.upper, np.full(len(free), np.inf))


def test_every_kind_is_in_the_table() -> None:
    assert {row[0] for row in KIND_TABLE} == set(KINDS)


directions = st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda a: max(map(abs, a)) > 1e-9)


@given(directions, st.floats(1e-3, 1e200))
def test_orthonormal_basis(axis: list[float], scale: float) -> None:
    basis = orthonormal_basis(np.array(axis) * scale)
    np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=ROUND_OFF)
    assert np.linalg.det(basis) == pytest.approx(1.0)
    np.testing.assert_allclose(basis[2], np.array(axis) / np.linalg.norm(axis), atol=ROUND_OFF)


def test_orthonormal_basis_of_the_coordinate_axes() -> None:
    np.testing.assert_array_equal(orthonormal_basis(Z), [X, Y, Z])
    np.testing.assert_array_equal(orthonormal_basis(X), [Y, Z, X])
    np.testing.assert_array_equal(orthonormal_basis(Y), [Z, X, Y])


@given(directions, st.floats(-1e-7, 1e-7))
def test_universal_axes_end_up_exactly_perpendicular(axis: list[float], tilt: float) -> None:
    first, second, e3 = orthonormal_basis(axis)
    joint = pair_of_bodies().add_joint("j", "universal", "base", "rod", axis=first, axis2=second + tilt * first)
    np.testing.assert_allclose(joint.basis, [first, second, e3], atol=1e-15)


def test_joint_options() -> None:
    m = pair_of_bodies()
    joint = m.add_joint(
        "slide",
        "cylindrical",
        "base",
        "rod",
        parent_anchor=(1, 0, 0),
        child_anchor=[0, 0, 2],
        orientation=(0, 2, 0, 0),
        stiffness=5,
        rest=[0.1, -0.2],
        lower=[-1, -np.inf],
        upper=1,
        effort_limit=(10, 20),
    )
    np.testing.assert_array_equal(joint.stiffness, [5, 5])
    np.testing.assert_array_equal(joint.rest, [0.1, -0.2])
    np.testing.assert_array_equal(joint.lower, [-1, -np.inf])
    np.testing.assert_array_equal(joint.upper, [1, 1])
    np.testing.assert_array_equal(joint.effort_limit, [10, 20])
    np.testing.assert_array_equal(joint.orientation, [0, 1, 0, 0])
    np.testing.assert_array_equal(joint.child_anchor, [0, 0, 2])
    with pytest.raises(ValueError, match="read-only"):
        joint.stiffness[0] = -1.0


def test_every_option_ends_up_in_its_own_field() -> None:
    names = ["lower", "stiffness", "rest", "damping", "kp", "kd", "target", "target_velocity", "effort_limit"]
    values = {name: float(i) for i, name in enumerate([*names, "friction", "upper"], start=1)}
    joint = pair_of_bodies().add_joint("j", "revolute", "base", "rod", **values)
    for name, value in values.items():
        np.testing.assert_array_equal(getattr(joint, name), [value])


@pytest.mark.parametrize(
    ("kind", "arguments", "culprit"),
    [
        ("revolut", {}, "'j': kind 'revolut' is unknown; did you mean 'revolute'"),
        (None, {}, "'j': kind"),
        ("revolute", {"axis": (0, 0, 0)}, "'j': axis"),
        ("revolute", {"axis": (0, 0, np.nan)}, "'j': axis"),
        ("revolute", {"axis": "z"}, "'j': axis"),
        ("revolute", {"axis2": X}, "'j': axis2"),
        ("universal", {"axis": X, "axis2": X + Y}, "'j': axis2.*perpendicular"),
        ("universal", {"axis2": (0, 0, 0)}, "'j': axis2"),
        ("revolute", {"constrained": [1] * 6}, "'j': constrained"),
        ("custom", {}, "'j': .*constrained"),
        ("custom", {"constrained": [1] * 5}, "'j': constrained"),
        ("custom", {"constrained": [1, 1, 1, 1, 1, 2]}, "'j': constrained"),
        ("revolute", {"parent_anchor": (0, 0)}, "'j': parent_anchor"),
        ("revolute", {"child_anchor": None}, "'j': child_anchor"),
        ("revolute", {"orientation": (0, 0, 0, 0)}, "'j': orientation"),
        ("revolute", {"stiffness": -1}, "'j': stiffness"),
        ("revolute", {"stiffness": np.inf}, "'j': stiffness"),
        ("revolute", {"stiffness": (1, 2)}, "'j': stiffness"),
        ("spherical", {"damping": (1, 2)}, r"'j': damping.*\(3,\)"),
        ("revolute", {"rest": np.nan}, "'j': rest.*NaN"),
        ("revolute", {"damping": -1}, "'j': damping"),
        ("revolute", {"kp": -1e-3}, "'j': kp"),
        ("revolute", {"kd": -1}, "'j': kd"),
        ("revolute", {"target": np.inf}, "'j': target"),
        ("revolute", {"target_velocity": "fast"}, "'j': target_velocity"),
        ("revolute", {"effort_limit": 0}, "'j': effort_limit"),
        ("revolute", {"friction": -1}, "'j': friction"),
        ("revolute", {"lower": 1, "upper": 1}, "'j': lower"),
        ("revolute", {"lower": np.inf}, "'j': lower"),
        ("revolute", {"upper": np.nan}, "'j': upper"),
        ("revolute", {"rest": 0.1}, "'j': rest has no effect without stiffness"),
        ("revolute", {"target": 0.1, "kd": 1}, "'j': target has no effect without kp"),
        ("revolute", {"target_velocity": 0.1, "kp": 1}, "'j': target_velocity has no effect without kd"),
        ("revolute", {"start": 1.5, "upper": 1}, "'j': start must lie within"),
        ("revolute", {"start": (1, 2)}, "'j': start"),
        ("floating", {"child_anchor": X}, "'j': a floating joint"),
        ("fixed", {"stiffness": 1}, "'j': stiffness"),
        ("floating", {"upper": 1}, "'j': upper"),
        ("floating", {"damping": [0, 0, 0, 0, 0, 1]}, "'j': damping"),
        ("custom", {"constrained": [1] * 6, "kp": 1}, "'j': kp"),
        ("fixed", {"child": "world"}, "'j': child"),
        ("fixed", {"parent": "rod"}, "'j': parent and child.*'rod'"),
        ("fixed", {"parent": "bas"}, "'j': parent 'bas' is unknown.*'base'"),
        ("fixed", {"child": "xyz"}, "'j': child 'xyz' is unknown.*'base', 'rod'"),
        ("fixed", {"parent": 3}, "'j': parent"),
    ],
)
def test_bad_joints(kind: Any, arguments: dict[str, Any], culprit: str) -> None:
    m = pair_of_bodies()
    with pytest.raises(MechanismError, match=culprit):
        m.add_joint("j", kind, **{"parent": "base", "child": "rod", **arguments})
    assert m.joints == ()
    m.add_joint("j", "fixed", parent="base", child="rod")  # neither the name nor the pair is taken


@pytest.mark.parametrize(("parent", "child"), [("base", "rod"), ("rod", "base")])
def test_two_joints_between_the_same_bodies(parent: str, child: str) -> None:
    m = pair_of_bodies()
    m.add_joint("first", "revolute", "base", "rod")
    with pytest.raises(MechanismError, match=r"'second'.*doubly connected.*'first'.*merge them into one"):
        m.add_joint("second", "fixed", parent, child)
    m.add_joint("loop", "fixed", "world", "base")
    with pytest.raises(MechanismError, match="doubly connected"):
        m.add_joint("loop2", "fixed", "world", "base")
    m.add_joint("other", "fixed", "world", "rod")  # closes a loop, which is allowed
    m.validate()


# -------------------- contacts


def test_contact_defaults() -> None:
    contact = pair_of_bodies().add_contact("tip", "rod")
    assert (contact.radius, contact.friction, contact.offset) == (0.0, 0.8, 0.0)
    np.testing.assert_array_equal(contact.point, np.zeros(3))
    np.testing.assert_array_equal(contact.normal, Z)
    np.testing.assert_array_equal(contact.tangents, [X, Y])


@given(directions)
def test_contact_tangents(normal: list[float]) -> None:
    contact = pair_of_bodies().add_contact("c", "rod", (1, 2, 3), radius=0.1, normal=normal, offset=-2)
    frame = np.vstack([contact.tangents, contact.normal])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=ROUND_OFF)
    np.testing.assert_allclose(contact.normal, np.array(normal) / np.linalg.norm(normal), atol=ROUND_OFF)
    assert contact.offset == -2.0


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"body": "rodd"}, "'c': body 'rodd' is unknown.*'rod'"),
        ({"body": "world"}, "'c': body"),
        ({"point": (1, 2)}, "'c': point"),
        ({"radius": -0.1}, "'c': radius"),
        ({"friction": -0.1}, "'c': friction"),
        ({"friction": np.inf}, "'c': friction"),
        ({"normal": (0, 0, 0)}, "'c': normal"),
        ({"offset": np.nan}, "'c': offset"),
    ],
)
def test_bad_contacts(arguments: dict[str, Any], culprit: str) -> None:
    m = pair_of_bodies()
    with pytest.raises(MechanismError, match=culprit):
        m.add_contact("c", **{"body": "rod", **arguments})
    assert m.contacts == ()


# -------------------- mechanism


def test_the_example_of_the_design() -> None:
    J = np.diag([0.1, 0.1, 0.01])
    m = Mechanism(gravity=(0, 0, -9.81))
    m.add_body("rod", mass=1.0, inertia=J, shapes=[Capsule(radius=0.05, length=1.0)])
    m.add_joint(
        "hinge",
        "revolute",
        parent="world",
        child="rod",
        axis=(0, 1, 0),
        parent_anchor=(0, 0, 0),
        child_anchor=(0, 0, 0.5),
    )
    m.add_contact("tip", body="rod", point=(0, 0, -0.5), radius=0.0, friction=0.8)
    m.validate()
    assert m.body("rod") is m.bodies[0]
    assert m.joint("hinge") is m.joints[0]
    assert m.contact("tip") is m.contacts[0]
    assert repr(m) == "<Mechanism: 1 bodies, 1 joints, 1 contacts>"


def test_order_of_addition_is_kept() -> None:
    m = Mechanism()
    names = ["z", "a", "m", "b"]
    for name in names:
        m.add_body(name, 1.0, (1, 1, 1))
    assert [body.name for body in m.bodies] == names


def test_names() -> None:
    m = pair_of_bodies()
    for bad in ("", "  ", None, 3, ["rod"]):
        with pytest.raises(MechanismError, match="body name"):
            m.add_body(bad, 1.0, (1, 1, 1))  # type: ignore[arg-type]
        with pytest.raises(MechanismError, match="joint name"):
            m.add_joint(bad, "fixed", "base", "rod")  # type: ignore[arg-type]
        with pytest.raises(MechanismError, match="contact name"):
            m.add_contact(bad, "rod")  # type: ignore[arg-type]
    with pytest.raises(MechanismError, match="'world' is reserved"):
        m.add_body("world", 1.0, (1, 1, 1))
    with pytest.raises(MechanismError, match="body 'rod' exists already"):
        m.add_body("rod", 1.0, (1, 1, 1))
    m.add_joint("rod", "fixed", "world", "rod")  # unique per category only
    m.add_contact("rod", "rod")
    with pytest.raises(MechanismError, match="joint 'rod' exists already"):
        m.add_joint("rod", "fixed", "base", "rod")
    with pytest.raises(MechanismError, match="contact 'rod' exists already"):
        m.add_contact("rod", "rod")


def test_lookups_suggest_what_was_meant() -> None:
    m = pair_of_bodies()
    with pytest.raises(MechanismError, match="body 'rood' is unknown; did you mean 'rod'"):
        m.body("rood")
    with pytest.raises(MechanismError, match="joint 'hinge' is unknown; there are none yet"):
        m.joint("hinge")
    with pytest.raises(MechanismError, match="contact name"):
        m.contact(0)  # type: ignore[arg-type]


def test_empty_mechanism_is_not_valid() -> None:
    with pytest.raises(MechanismError, match="no bodies"):
        Mechanism().validate()


def test_gravity() -> None:
    m = Mechanism()
    np.testing.assert_array_equal(m.gravity, [0, 0, -9.81])
    m.gravity = (0, 0, -1.62)
    np.testing.assert_array_equal(m.gravity, [0, 0, -1.62])
    for bad in (9.81, (0, 0), (0, 0, np.nan), "down", None):
        with pytest.raises(MechanismError, match="gravity"):
            Mechanism(gravity=bad)  # type: ignore[arg-type]
        with pytest.raises(MechanismError, match="gravity"):
            m.gravity = bad  # type: ignore[assignment]
    np.testing.assert_array_equal(m.gravity, [0, 0, -1.62])


def test_copy_is_independent_and_pickles() -> None:
    m = pair_of_bodies()
    m.add_joint("hinge", "revolute", "base", "rod")
    for other in (m.copy(), pickle.loads(pickle.dumps(m))):
        other.add_body("extra", 1.0, (1, 1, 1))
        other.gravity = (0, 0, 0)
        with pytest.raises(MechanismError, match="doubly connected"):
            other.add_joint("again", "fixed", "rod", "base")
        assert len(m.bodies) == 2
        assert m.gravity[2] == -9.81
        assert isinstance(m.bodies, tuple)


def test_input_is_copied() -> None:
    axis, J = np.array([0.0, 0.0, 2.0]), np.eye(3)
    m = pair_of_bodies()
    body = m.add_body("a", 1.0, J)
    joint = m.add_joint("j", "revolute", "base", "a", axis=axis, parent_anchor=axis)
    J[:] = axis[:] = 7.0
    np.testing.assert_array_equal(body.inertia, np.eye(3))
    np.testing.assert_array_equal(joint.parent_anchor, [0, 0, 2])


def test_errors_are_one_family() -> None:
    for error in (MechanismError, StateError, InputError):
        assert issubclass(error, VigymError)
        assert issubclass(error, ValueError)


# -------------------- random bad input

Values = st.SearchStrategy[Any]

# Nothing that any numeric argument accepts: whatever its shape, there is a string, a NaN or too many axes.
words = st.text("ab1.-\u00e9", max_size=5)  # some of them look like numbers, and stay strings
bad_anywhere: Values = st.one_of(
    words,
    st.binary(),
    st.complex_numbers(),
    st.just(np.nan),
    st.sampled_from([[1.0, np.nan, 0.0], [[1, 2], [3]], {}, {1, 2}, object(), np.datetime64(0, "s"), print]),
    st.just(np.ones((2, 2, 2))),
    st.lists(words, min_size=1, max_size=4),
)
sizes = st.integers(0, 8)
wrong_size_3 = st.one_of(bad_anywhere, sizes.filter(lambda n: n != 3).map(np.ones), st.floats())
wrong_size_4 = st.one_of(bad_anywhere, sizes.filter(lambda n: n != 4).map(np.ones), st.floats())
not_a_number = st.one_of(bad_anywhere, sizes.map(np.ones), st.sampled_from([np.inf, -np.inf]))
negative = st.floats(max_value=-1e-300)
wrong_direction = st.one_of(wrong_size_3, st.just(np.zeros(3)))


@st.composite
def impossible_inertia(draw: st.DrawFn) -> np.ndarray:
    """R diag(moments) R^T with a moment <= 0, or one larger than the sum of the others."""
    q = np.array(draw(st.lists(st.floats(-1, 1), min_size=4, max_size=4)))
    q = q / np.linalg.norm(q) if np.linalg.norm(q) > 0.1 else np.array([1.0, 0, 0, 0])
    a, b = draw(st.floats(1e-6, 1e6)), draw(st.floats(1e-6, 1e6))
    third = draw(st.one_of(st.just((a + b) * 1.001), st.floats(0.0, 1.0).map(lambda c: -c * a)))
    R = rotation_matrix(q)
    J = R @ np.diag([a, b, third]) @ R.T
    return 0.5 * (J + J.T)


BAD_BODY: dict[str, Values] = {
    "name": st.sampled_from(["", " ", "world", "rod", None, 1.5, b"rod"]),
    "mass": st.one_of(not_a_number, negative, st.just(0.0), st.none()),
    "inertia": st.one_of(bad_anywhere, impossible_inertia(), sizes.filter(lambda n: n != 3).map(np.ones)),
    "position": st.one_of(wrong_size_3, st.none()),
    "orientation": st.one_of(wrong_size_4, st.just(np.zeros(4)), st.none()),
    "shapes": st.one_of(words.filter(bool), st.floats(), st.none(), st.lists(st.integers(), min_size=1)),
    "density": st.floats(),
}
BAD_JOINT: dict[str, Values] = {
    "name": st.sampled_from(["", " ", "hinge", None, 1.5]),
    "kind": st.one_of(st.none(), words, st.just("custom")),
    "parent": st.one_of(st.sampled_from(["rod", "bas", "", None]), st.integers()),
    "child": st.one_of(st.sampled_from(["base", "world", "bas", "", None]), st.integers()),
    "axis": st.one_of(wrong_direction, st.none()),
    "axis2": wrong_direction,
    "parent_anchor": st.one_of(wrong_size_3, st.none()),
    "child_anchor": st.one_of(wrong_size_3, st.none()),
    "orientation": st.one_of(wrong_size_4, st.just(np.zeros(4)), st.none()),
    "constrained": st.one_of(bad_anywhere, st.lists(st.booleans())),
    "stiffness": st.one_of(bad_anywhere, negative, st.just(np.inf), st.just(np.ones(2)), st.none()),
    "rest": st.one_of(bad_anywhere, st.just(np.inf), st.just(np.ones(2))),
    "kd": st.one_of(bad_anywhere, negative),
    "effort_limit": st.one_of(bad_anywhere, negative, st.just(0.0)),
    "lower": st.one_of(bad_anywhere, st.floats(min_value=1.0)),
    "upper": st.one_of(bad_anywhere, st.floats(max_value=-1.0)),
    "friction": st.one_of(bad_anywhere, negative),
}
BAD_CONTACT: dict[str, Values] = {
    "name": st.sampled_from(["", " ", "tip", None, 1.5]),
    "body": st.one_of(st.sampled_from(["world", "rood", "", None]), st.integers()),
    "point": st.one_of(wrong_size_3, st.none()),
    "radius": st.one_of(not_a_number, negative, st.none()),
    "friction": st.one_of(not_a_number, negative, st.none()),
    "normal": st.one_of(wrong_direction, st.none()),
    "offset": st.one_of(not_a_number, st.none()),
}
GOOD: dict[str, dict[str, Any]] = {
    "body": {"name": "new", "mass": 1.0, "inertia": (1, 1, 1), "shapes": [Sphere(0.1)]},
    "joint": {
        "name": "new",
        "kind": "revolute",
        "parent": "base",
        "child": "rod",
        "lower": -0.5,
        "upper": 0.5,
    },
    "contact": {"name": "new", "body": "rod"},
}


@settings(max_examples=500)
@given(st.data())
def test_bad_input_always_raises_and_leaves_the_mechanism_usable(data: st.DataObject) -> None:
    m = pair_of_bodies()
    m.add_joint("hinge", "spherical", "world", "base")
    m.add_contact("tip", "base")
    before = (m.bodies, m.joints, m.contacts, m.gravity.tolist())
    category = data.draw(st.sampled_from(["body", "joint", "contact"]))
    bad = {"body": BAD_BODY, "joint": BAD_JOINT, "contact": BAD_CONTACT}[category]
    argument = data.draw(st.sampled_from(sorted(bad)))
    value = data.draw(bad[argument])
    add: Callable[..., Any] = getattr(m, f"add_{category}")

    with pytest.raises(VigymError, match=argument) as caught:
        add(**{**GOOD[category], argument: value})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400

    assert (m.bodies, m.joints, m.contacts, m.gravity.tolist()) == before
    add(**GOOD[category])
    m.validate()


def test_the_converters_are_listed_as_well():
    import vigym

    assert {"to_mjcf", "to_pybullet", *vigym.__all__} <= set(dir(vigym))
