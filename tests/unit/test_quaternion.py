"""Vectors, quaternions and small matrices of the kernels, and `engine/rotation.py`, against NumPy and SciPy."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scenes import quaternion
from scipy.spatial.transform import Rotation

from vigym.engine import rotation
from vigym.engine.kernels import quaternion as kernel
from vigym.engine.kernels import small
from vigym.engine.validation import unit_quaternion, unit_vector

ROUND = 1e-15
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])

few = settings(max_examples=40)
unit_numbers = st.floats(-1, 1)
vectors = hnp.arrays(float, 3, elements=st.floats(-10, 10))
signs = st.sampled_from([-1.0, 1.0])


@st.composite
def rotation_vectors(draw):
    """All over the ball of radius pi, and often very near to its centre, its surface, or an axis."""
    axis = draw(hnp.arrays(float, 3, elements=st.one_of(st.sampled_from([0.0, 1.0, -1.0]), unit_numbers)))
    assume(np.linalg.norm(axis) > 1e-3)
    edge = st.floats(-18, -1).map(lambda k: 10**k)
    angle = draw(st.one_of(st.floats(0, np.pi), edge, edge.map(lambda e: np.pi - e), st.just(0.0)))
    return angle * axis / np.linalg.norm(axis)


@st.composite
def quaternions(draw):
    """Unit quaternions of both signs."""
    return draw(signs) * quaternion(Rotation.from_rotvec(draw(rotation_vectors())))


def scipy_rotation(q):
    return Rotation.from_quat(np.roll(q, -1))


def as_list(array):
    return [as_list(row) if np.ndim(row) else row for row in array]


# -------------------- quaternions


@pytest.mark.parametrize("multiply", [lambda p, q: np.array(kernel.multiply(p, q)), rotation.multiply])
@few
@given(p=quaternions(), q=quaternions())
def test_product(multiply, p, q):
    got = multiply(p, q)
    expected = quaternion(scipy_rotation(p) * scipy_rotation(q))
    np.testing.assert_allclose(got * np.sign(got @ expected), expected, atol=4 * ROUND)
    # with its sign, which SciPy may change: i j = k, and the product is linear in both
    np.testing.assert_allclose(multiply(-p, q), -got, atol=0)
    np.testing.assert_array_equal(multiply(np.eye(4)[1], np.eye(4)[2]), np.eye(4)[3])
    np.testing.assert_allclose(multiply(p, rotation.conjugate(p)), IDENTITY, atol=4 * ROUND)


@pytest.mark.parametrize("matrix", [lambda q: np.array(kernel.matrix(q)), rotation.rotation_matrix])
@few
@given(q=quaternions())
def test_matrix(matrix, q):
    np.testing.assert_allclose(matrix(q), scipy_rotation(q).as_matrix(), atol=4 * ROUND)


@few
@given(q=quaternions(), v=vectors)
def test_rotate(q, v):
    np.testing.assert_allclose(rotation.rotate(q, v), scipy_rotation(q).apply(v), atol=100 * ROUND)
    many = rotation.rotate(np.broadcast_to(q, (2, 3, 4)), v)
    np.testing.assert_array_equal(many, np.broadcast_to(rotation.rotate(q, v), (2, 3, 3)))


@few
@given(q=quaternions())
def test_conjugate_turns_back(q):
    np.testing.assert_array_equal(kernel.conjugate(list(q)), rotation.conjugate(q))
    np.testing.assert_allclose(scipy_rotation(rotation.conjugate(q)).as_matrix(), scipy_rotation(q).as_matrix().T)


@few
@given(q=quaternions())
def test_from_matrix(q):
    got = rotation.from_matrix(scipy_rotation(q).as_matrix())
    assert got[0] >= 0
    np.testing.assert_allclose(got * np.sign(got @ q), q, atol=10 * ROUND)


@few
@given(phi=rotation_vectors(), turns=st.integers(-3, 3))
def test_from_rotation_vector(phi, turns):
    got = rotation.from_rotation_vector(phi)
    expected = quaternion(Rotation.from_rotvec(phi))
    np.testing.assert_allclose(got, expected * np.sign(got @ expected), atol=2 * ROUND)
    assert got[0] >= -ROUND  # at most half a turn
    angle = np.linalg.norm(phi)
    if angle > 1e-3:  # full turns count, with the sign that half angles have
        more = rotation.from_rotation_vector(phi * (1 + 2 * np.pi * turns / angle))
        np.testing.assert_allclose(more, got * (-1) ** turns, atol=20 * ROUND)


@few
@given(phi=rotation_vectors(), sign=signs)
def test_to_rotation_vector(phi, sign):
    got = rotation.to_rotation_vector(sign * quaternion(Rotation.from_rotvec(phi)))
    if np.linalg.norm(phi) > np.pi - 1e-9 and got @ phi < 0:  # half a turn: either way is as short
        got *= 1 - 2 * np.pi / np.linalg.norm(got)
    np.testing.assert_allclose(got, phi, rtol=4 * ROUND, atol=4 * ROUND)


def test_a_tiny_rotation_keeps_its_digits():
    phi = np.array([1e-200, -2e-13, 3e-9])
    q = rotation.from_rotation_vector(phi)
    np.testing.assert_allclose(rotation.to_rotation_vector(q), phi, rtol=ROUND)
    got, _ = kernel.rotation_vector(kernel.shorter(list(q)))
    np.testing.assert_allclose(got, phi, rtol=ROUND)


# -------------------- rotation vector in kernels


@settings(max_examples=150)
@given(phi=rotation_vectors(), sign=signs)
def test_rotation_vector(phi, sign):
    got, _ = kernel.rotation_vector(kernel.shorter(list(sign * quaternion(Rotation.from_rotvec(phi)))))
    got = np.array(got, float)
    if np.linalg.norm(phi) > np.pi - 1e-9 and got @ phi < 0:
        got *= 1 - 2 * np.pi / np.linalg.norm(got)
    np.testing.assert_allclose(got, phi, rtol=8 * ROUND, atol=8 * ROUND)


def right_turned(q, direction, size):
    """q exp(size direction), to first order in the size, which may be imaginary."""
    small_turn = np.array([1.0, *(0.5 * size * direction)])
    return [complex(x) for x in kernel.multiply([complex(x) for x in q], small_turn)]


@settings(max_examples=150)
@given(phi=rotation_vectors(), sign=signs)
def test_rotation_vector_jacobian(phi, sign):
    """K = d(phi)/d(theta), theta a small turn in the child's frame: q -> q exp(theta), by complex step.

    At half a turn phi jumps to the other side, but not along an imaginary step.
    """
    q = sign * quaternion(Rotation.from_rotvec(phi))
    _, K = kernel.rotation_vector(kernel.shorter(list(q)))
    columns = []
    for direction in np.eye(3):
        nudged, _ = kernel.rotation_vector(kernel.shorter(right_turned(q, direction, 1e-30j)))
        columns.append(np.imag(nudged) / 1e-30)
    np.testing.assert_allclose(np.array(K, float), np.transpose(columns), rtol=0, atol=2e-14)


@few
@given(phi=rotation_vectors())
def test_rotation_vector_jacobian_by_differences(phi):
    """The same against SciPy alone: (phi(q exp(d)) - phi(q exp(-d))) / 2|d|, an error of order |d|^2 plus 1e-16/|d|."""
    assume(np.linalg.norm(phi) < np.pi - 1e-3)
    turn, d = Rotation.from_rotvec(phi), 1e-5
    _, K = kernel.rotation_vector(kernel.shorter(list(quaternion(turn))))
    differences = [
        ((turn * Rotation.from_rotvec(d * axis)).as_rotvec() - (turn * Rotation.from_rotvec(-d * axis)).as_rotvec())
        / (2 * d)
        for axis in np.eye(3)
    ]
    np.testing.assert_allclose(np.array(K, float), np.transpose(differences), atol=1e-8)


@few
@given(q=hnp.arrays(float, (4, 4), elements=unit_numbers))
def test_rotation_vector_works_on_lanes(q):
    size = np.linalg.norm(q, axis=0)
    assume(size.min() > 0.1)
    q = q / size
    phi, K = kernel.rotation_vector(kernel.shorter(list(q)))
    for lane in range(4):
        alone, K_alone = kernel.rotation_vector(kernel.shorter(list(q[:, lane])))
        np.testing.assert_array_equal(np.array(phi)[:, lane], np.array(alone))
        np.testing.assert_array_equal(np.array(K)[:, :, lane], np.array(K_alone))


# -------------------- angles

ULP = 2.3e-16


def wide_range(rng, count):
    """Numbers of both signs and of all magnitudes, zero, and what is special to `atan2`."""
    special = [0.0, 5e-324, 1e-300, 1e-200, 0.66, 1.0, 2.414213562373095, 1e16, 1e300]
    near = 10.0 ** rng.uniform(-1, 1, count // 2)
    values = np.concatenate([special, near, 10.0 ** rng.uniform(-310, 308, count - count // 2)])
    return rng.permutation(values * rng.choice([-1.0, 1.0], len(values)))


def test_atan2_of_a_ratio():
    x = wide_range(np.random.default_rng(0), 100_000)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(kernel.atan2(x, np.ones_like(x)), np.arctan(x), rtol=4 * ULP, atol=5e-324)


@pytest.mark.parametrize("break_point", [0.66, 1.0, 2.414213562373095])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_atan2_where_its_pieces_meet(break_point, sign):
    x = sign * break_point * (1 + np.arange(-50, 51) * 1e-16)
    np.testing.assert_allclose(kernel.atan2(x, np.ones_like(x)), np.arctan(x), rtol=4 * ULP, atol=0)


def test_atan2():
    rng = np.random.default_rng(1)
    y, x = wide_range(rng, 100_000), wide_range(rng, 100_000)
    x[rng.random(len(x)) < 0.1] = 0.0
    y[rng.random(len(y)) < 0.1] = 0.0
    x[np.abs(x) < 1e-290] = 0.0
    y[np.abs(y) < 1e-280] = 0.0
    with np.errstate(all="ignore"):  # y / x
        got = kernel.atan2(y, x)
    np.testing.assert_allclose(got, np.arctan2(y + 0.0, x + 0.0), rtol=4 * ULP, atol=1e-300)  # + 0.0: (-pi, pi]


@pytest.mark.parametrize("x", [-1e-310, 1e-310, -1e-300, 1e-300])
@pytest.mark.parametrize("y", [1.0, -1.0, 1e-200])
def test_atan2_next_to_the_axis(y, x):
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(kernel.atan2(np.array(y), np.array(x)), np.arctan2(y, x), rtol=4 * ULP)


def test_atan2_on_the_axes_and_in_all_quadrants():
    y = np.array([0.0, 1.0, 0.0, -1.0, 1.0, 1.0, -1.0, -1.0, 0.0])
    x = np.array([1.0, 0.0, -1.0, 0.0, 1.0, -1.0, -1.0, 1.0, 0.0])
    expected = np.pi * np.array([0, 0.5, 1, -0.5, 0.25, 0.75, -0.75, -0.25, 0])
    np.testing.assert_allclose(kernel.atan2(y, x), expected, rtol=4 * ULP, atol=0)


@few
@given(angle=st.floats(-np.pi, np.pi), guess=st.floats(-1e4, 1e4))
def test_nearest_turn(angle, guess):
    got = float(kernel.nearest_turn(np.array(angle), guess))
    assert abs(got - guess) <= np.pi + 1e-11
    turns = (got - angle) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.rint(turns), atol=1e-12)
    np.testing.assert_allclose([np.sin(got), np.cos(got)], [np.sin(angle), np.cos(angle)], atol=1e-11)


# -------------------- vectors and small matrices


@few
@given(a=vectors, b=vectors, k=st.floats(-5, 5), A=hnp.arrays(float, (3, 3), elements=st.floats(-10, 10)))
def test_vectors(a, b, k, A):
    lists = list(a), list(b)
    np.testing.assert_allclose(kernel.dot(*lists), a @ b, atol=1e-13)
    np.testing.assert_allclose(kernel.cross(*lists), np.cross(a, b), atol=1e-13)
    np.testing.assert_array_equal(kernel.add(*lists), a + b)
    np.testing.assert_array_equal(kernel.sub(*lists), a - b)
    np.testing.assert_array_equal(kernel.scale(k, lists[0]), k * a)
    np.testing.assert_allclose(kernel.matvec(as_list(A), lists[0]), A @ a, atol=1e-13)
    np.testing.assert_allclose(kernel.matvec_t(as_list(A), lists[0]), A.T @ a, atol=1e-13)


@st.composite
def systems(draw):
    """A matrix that needs no pivoting (its diagonal is large), and two right-hand sides."""
    n = draw(st.integers(1, 6))
    numbers = st.floats(-1, 1)
    A = draw(hnp.arrays(float, (n, n), elements=numbers))
    A[np.diag_indices(n)] += np.copysign(n + 1.0, A.diagonal())
    return A, draw(hnp.arrays(float, (n, 2), elements=numbers))


@few
@given(systems())
def test_lu(system):
    A, B = system
    packed = np.array(small.lu(as_list(A)))
    L = np.tril(packed, -1) + np.eye(len(A))
    U = np.triu(packed, 1) + np.diag(1 / packed.diagonal())
    np.testing.assert_allclose(L @ U, A, atol=10 * ROUND)
    np.testing.assert_allclose(small.lu_solve(as_list(packed), list(B[:, 0])), np.linalg.solve(A, B[:, 0]), atol=1e-14)
    np.testing.assert_allclose(small.lu_solve_columns(as_list(packed), as_list(B)), np.linalg.solve(A, B), atol=1e-14)


@few
@given(
    A=hnp.arrays(float, (3, 4), elements=st.floats(-10, 10)), B=hnp.arrays(float, (4, 2), elements=st.floats(-10, 10))
)
def test_matrix_products(A, B):
    np.testing.assert_allclose(small.product(as_list(A), as_list(B)), A @ B, atol=1e-12)
    np.testing.assert_array_equal(small.transpose(as_list(A)), A.T)
    np.testing.assert_array_equal(small.identity(4), np.eye(4))


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


@few
@given(D=hnp.arrays(float, (6, 6), elements=st.floats(-10, 10)), arm=vectors)
def test_shifts(D, arm):
    """tau + arm x f on the left; dx + arm x dtheta on the right, as [[I, 0], [a x, I]] and [[I, a x], [0, I]]."""
    left, right = np.eye(6), np.eye(6)
    left[3:, :3] = skew(arm)
    right[:3, 3:] = skew(arm)
    np.testing.assert_allclose(small.shift_rows(as_list(D), list(arm)), left @ D, atol=1e-12)
    np.testing.assert_allclose(small.shift_columns(as_list(D), list(arm)), D @ right, atol=1e-12)


@pytest.mark.parametrize("angle", np.linspace(-6.0, 6.0, 25))
def test_rotation_vector_goes_on_beyond_half_a_turn(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3
    q = rotation.from_rotation_vector(angle * axis)
    phi, K = kernel.rotation_vector(list(q))
    np.testing.assert_allclose(phi, angle * axis, atol=1e-13)
    np.testing.assert_allclose(rotation.long_rotation_vector(q), phi, atol=1e-13)
    for k in range(3):
        nudged, _ = kernel.rotation_vector(right_turned(q, np.eye(3)[k], 1e-30j))
        np.testing.assert_allclose(np.imag(nudged) / 1e-30, [row[k] for row in K], atol=1e-10)


@few
@given(q=quaternions(), other=quaternions())
def test_one_of_two_signs(q, other):
    assert kernel.shorter(list(q))[0] >= 0
    assert np.dot(kernel.aligned(list(q), list(other)), other) >= 0
    for same in (kernel.shorter(list(q)), kernel.aligned(list(q), list(other))):
        np.testing.assert_array_equal(np.abs(same), np.abs(q))
        np.testing.assert_array_equal(np.outer(same, same), np.outer(q, q))


@settings(max_examples=150)
@given(phi=rotation_vectors(), turns=st.integers(0, 100))
def test_turned_by(phi, turns):
    """[cos(a/2), sin(a/2)/a phi] but for its sign, over many turns, whose angle is known to 1e-16 of itself."""
    angle = np.linalg.norm(phi)
    phi = phi * (1 + 2 * np.pi * turns / angle) if angle > 1e-3 else phi
    got, expected = np.array(kernel.turned_by(list(phi))), rotation.from_rotation_vector(phi)
    np.testing.assert_allclose(got * np.sign(got @ expected), expected, rtol=0, atol=4 * ROUND * (1 + turns))
    for k in range(3):  # and its derivatives, by complex step: q = cos, sin/a phi of the squares of phi
        nudged = kernel.turned_by([complex(x, 1e-30 * (j == k)) for j, x in enumerate(phi)])
        a = np.sqrt(sum((x + 1e-30j * (j == k)) ** 2 for j, x in enumerate(phi)))
        if np.abs(a) > 1e-3:
            exact = [np.cos(a / 2), *(np.sin(a / 2) / a * (x + 1e-30j * (j == k)) for j, x in enumerate(phi))]
            sign = np.sign(got @ np.real(exact))
            np.testing.assert_allclose(sign * np.imag(nudged) / 1e-30, np.imag(exact) / 1e-30, atol=1e-12)


def test_turned_by_keeps_the_digits_of_a_tiny_turn():
    phi = [1e-200, -2e-13, 3e-9]
    np.testing.assert_allclose(kernel.turned_by(phi), [1.0, *(0.5 * np.array(phi))], rtol=ROUND)
    assert kernel.turned_by([0.0, 0.0, 0.0]) == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("size", [1e-11, 1.0, 1e300])
def test_normalising_twice_changes_nothing(size):
    assert unit_vector((0.8, 0.6, 0.0), "it").tolist() == [0.8, 0.6, 0.0]
    for value in np.random.default_rng(0).normal(size=(1000, 4)):
        unit = unit_quaternion(size * value, "it")
        assert np.linalg.norm(unit) == pytest.approx(1.0, abs=1e-15)
        np.testing.assert_array_equal(unit_quaternion(unit, "it"), unit)
