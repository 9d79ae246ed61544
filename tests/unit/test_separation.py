"""Bodies that overlap where they are put: refused, or moved apart by the smallest motion that joints allow."""

import numpy as np
import pytest
from scipy.optimize import nnls

from vigym import Box, Capsule, InputError, Mechanism, Plane, Simulator, Sphere, StateError
from vigym.engine import coordinates
from vigym.engine.collisions import distances, ignore_overlapping
from vigym.engine.least_distance import least_distance

CLOSE = 1e-9  # m that may be left


# -------------------- the nearest point that inequalities allow


@pytest.mark.parametrize("seed", range(30))
def test_least_distance_fulfils_the_conditions_of_the_optimum(seed):
    # u = E^T y with y >= 0, of rows that hold with equality; rows may be stated twice, or be of no consequence
    rng = np.random.default_rng(seed)
    E, c = rng.normal(size=(rng.integers(1, 12), rng.integers(2, 9))), rng.normal(size=12)
    c = c[: len(E)] * 10.0 ** rng.integers(-6, 3)
    E, c = np.concatenate([E, 3.0 * E[:1]]), np.append(c, 3.0 * c[0])
    u = least_distance(E, c)
    if u is None:  # no point at all: some combination of rows is 0 u >= 1
        assert nnls(np.vstack([E.T, c]), np.append(np.zeros(E.shape[1]), 1.0))[1] < 1e-9
        return
    size = np.linalg.norm(u) + np.abs(c).max()
    assert (E @ u - c).min() > -1e-9 * size
    active = E @ u - c < 1e-9 * size
    assert nnls(E[active].T, u)[1] < 1e-8 * size if active.any() else not u.any()


def test_contradictions_have_no_point():
    assert least_distance(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 1.0])) is None
    assert least_distance(np.zeros((1, 3)), np.ones(1)) is None
    np.testing.assert_array_equal(least_distance(np.zeros((1, 3)), -np.ones(1)), 0.0)
    np.testing.assert_array_equal(least_distance(np.zeros((0, 3)), np.zeros(0)), 0.0)


# -------------------- bodies


def least_gap(sim: Simulator) -> float:
    x, q, *_ = sim.state
    return float(distances(sim.model, x, q, np.array(sim.model.couples, np.int64)).min())


def two_balls(masses=(1.0, 3.0), apart: float = 0.15, gravity=(0, 0, 0)) -> Mechanism:
    m = Mechanism(gravity=gravity)
    for name, mass, x in zip("ab", masses, (0.0, apart), strict=True):
        m.add_body(name, mass=mass, shapes=[Sphere(0.1)], position=(x, 0, 1))
    return m


def test_the_lighter_of_two_balls_moves_farther():
    # smallest sum of m d^2 with d_a + d_b = 0.05 m: d is inverse to the mass
    sim = Simulator(two_balls(), overlap="separate")
    np.testing.assert_allclose(sim.state.x[0, :, 0], [-0.75 * 0.05, 0.15 + 0.25 * 0.05], atol=1e-12)
    np.testing.assert_allclose(sim.state.x[0, :, 1:], [[0, 1], [0, 1]], atol=1e-12)
    sim.step()
    assert sim.status.converged.all()


def test_balls_at_the_same_place_find_a_way():
    sim = Simulator(two_balls(apart=0.0), overlap="separate")
    assert least_gap(sim) > -CLOSE
    np.testing.assert_allclose(np.linalg.norm(sim.state.x[0, 1] - sim.state.x[0, 0]), 0.2, atol=1e-9)


def test_only_environments_that_overlap_change():
    sim = Simulator(two_balls(apart=0.3), num_envs=3)
    x, v = sim.state.x.copy(), np.random.default_rng(0).normal(size=(3, 2, 3))
    x[1, 1, 0] = 0.15
    sim.set_state(x=x, v=v, overlap="separate")
    np.testing.assert_array_equal(sim.state.x[[0, 2]], x[[0, 2]])
    np.testing.assert_array_equal(sim.state.v, v)
    assert (sim.distance("a", "b") > -CLOSE).all()
    moved = sim.state.x[1]
    sim.set_state(x=x[1], mask=[False, True, False], overlap="separate")
    np.testing.assert_array_equal(sim.state.x[1], moved)


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_a_stack_is_lifted_from_the_ground_up(turn):
    # each box 2 mm in the one below, and the first in the ground: moving them apart lifts box k by 2 (k + 1) mm, as the
    # ground does not give way
    m = Mechanism()
    m.add_ground()
    for k in range(6):
        q = (np.cos(turn * k / 2), 0, 0, np.sin(turn * k / 2))
        m.add_body(f"{k}", mass=1.0, shapes=[Box((0.1, 0.1, 0.1))], position=(0, 0, 0.048 + 0.098 * k), orientation=q)
    sim = Simulator(m, overlap="separate")
    np.testing.assert_allclose(sim.state.x[0, :, 2], 0.05 + 0.1 * np.arange(6), atol=1e-8)
    assert least_gap(sim) > -CLOSE
    sim.step(repeat=20)
    assert sim.status.converged.all()


def arm() -> Mechanism:
    """Two links on hinges about y, the first one at the origin, that can fold onto a block."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_collider("block", "world", Box((0.2, 0.2, 0.2), position=(1.0, 0, -0.17)))
    for name, parent in (("upper", "world"), ("lower", "upper")):
        m.add_body(name, mass=1.0, shapes=[Capsule(0.05, 0.5, orientation=(1, 0, 1, 0))])
        anchor = (0, 0, 0) if parent == "world" else (0.3, 0, 0)
        limits = {"lower": -0.5, "upper": 0.5}
        m.add_joint(
            name, "revolute", parent, name, axis=(0, 1, 0), parent_anchor=anchor, child_anchor=(-0.3, 0, 0), **limits
        )
    return m


def test_joints_stay_closed_and_within_limits():
    sim = Simulator(arm(), num_envs=2)
    sim.set_joint_state([[0.0, 0.1], [0.1, 0.5]], [0.3, -0.2], overlap="separate")
    assert (sim.joint_error() < 1e-12).all()
    assert least_gap(sim) > -CLOSE
    assert (np.abs(sim.joint_positions()) <= 0.5 + 1e-12).all()
    np.testing.assert_allclose(sim.joint_velocities(), [[0.3, -0.2]] * 2, atol=1e-9)
    assert (np.abs(sim.joint_positions() - [[0.0, 0.1], [0.1, 0.5]]).max(-1) > 1e-3).all()
    sim.step()
    assert sim.status.converged.all()


def test_it_is_the_smallest_motion_in_the_mass_metric():
    # M of the arm: with e(a) along a link at angle a, the centres are at 0.3 e(a1) and 0.6 e(a1) + 0.3 e(a1 + a2)
    sim, start = Simulator(arm()), np.array([0.0, 0.1])
    along = [np.array([-np.sin(angle), -np.cos(angle)]) for angle in (start[0], start.sum())]  # d e / d a, x and z
    J1 = np.stack([0.3 * along[0], 0.0 * along[0]], -1)
    J2 = np.stack([0.6 * along[0] + 0.3 * along[1], 0.3 * along[1]], -1)
    moment, both = sim.model.mechanism.bodies[0].inertia[1, 1], np.ones((2, 2))
    M = J1.T @ J1 + J2.T @ J2 + moment * (np.diag([1.0, 0.0]) + both)
    sim.set_joint_state(start, overlap="separate")
    found = sim.joint_positions()[0]
    assert abs(least_gap(sim)) < CLOSE
    least, freer = (found - start) @ M @ (found - start), 0
    for angle in np.linspace(0, 2 * np.pi, 73):
        other = found + 1e-4 * np.array([np.cos(angle), np.sin(angle)])
        x, q = coordinates.forward(sim.model, other[None], *sim.state[:2])
        if distances(sim.model, x, q, np.array(sim.model.couples)).min() >= 0.0:
            freer += 1
            assert (other - start) @ M @ (other - start) > least - 1e-9
    assert freer > 20


def test_contacts_with_the_ground_are_respected():
    # the lower ball stands on the ground by a contact and cannot give way: the upper one does
    m = Mechanism()
    for name, z in (("low", 0.099), ("high", 0.25)):
        m.add_body(name, mass=1.0, shapes=[Sphere(0.1)], position=(0, 0, z))
    m.add_contact("foot", "low", radius=0.1)
    sim = Simulator(m, overlap="separate")
    np.testing.assert_allclose(sim.state.x[0, :, 2], [0.1, 0.3], atol=1e-9)
    np.testing.assert_allclose(sim.contact_gaps(), 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_heaps_of_all_shapes(seed):
    rng = np.random.default_rng(seed)
    m = Mechanism()
    m.add_ground()
    shapes = [Sphere(0.1), Capsule(0.06, 0.2), Box((0.2, 0.15, 0.1))]
    for k in range(6):
        pose = {"position": np.add(rng.uniform(-0.15, 0.15, 3), (0, 0, 0.15)), "orientation": rng.normal(size=4)}
        m.add_body(f"{k}", mass=rng.uniform(0.1, 2), shapes=[shapes[k % 3]], **pose)
        if k in (2, 4):
            anchors = {"parent_anchor": (0, 0, 0.2), "child_anchor": (0, 0, -0.2)}
            m.add_joint(f"{k}", "revolute", f"{k - 1}", f"{k}", axis=rng.normal(size=3), lower=-1, upper=1, **anchors)
    with pytest.raises(StateError, match="overlap by"):
        Simulator(m, compiled=False).step()
    sim = Simulator(m, compiled=False, overlap="separate")
    assert least_gap(sim) > -CLOSE
    assert sim.joint_error()[0] < 1e-12


def test_soft_colliders_may_overlap():
    m = two_balls()
    m.set_pair("a", "b", compliance=1e-4)
    np.testing.assert_array_equal(Simulator(m, overlap="separate").state.x[0, 1], (0.15, 0, 1))


def test_a_narrow_place_has_no_way_out():
    m = Mechanism()
    m.add_collider("floor", "world", Plane())
    m.add_collider("lid", "world", Plane(position=(0, 0, 0.15), orientation=(0, 1, 0, 0)))
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)], position=(0, 0, 0.075))
    what = r"colliders 'ball' and '(floor|lid)' overlap by 0\.025 m in environment 0, and no motion"
    with pytest.raises(StateError, match=what):
        Simulator(m, overlap="separate")
    sim = Simulator(two_balls(apart=0.3), num_envs=2)
    before = sim.state.x
    with pytest.raises(StateError, match=r"'a' and 'b' of environment 0 overlap by 0\.05 m"):
        sim.set_state(x=[[0, 0, 1], [0.15, 0, 1]])
    np.testing.assert_array_equal(sim.state.x, before)


def test_what_overlap_may_be():
    sim = Simulator(two_balls(apart=0.3))
    for call in (
        lambda how: sim.set_state(overlap=how),
        lambda how: sim.set_joint_state(np.zeros(0), overlap=how),
        lambda how: Simulator(two_balls(), overlap=how),
    ):
        with pytest.raises(InputError, match="overlap must be one of 'error', 'separate', 'keep', got 'push'"):
            call("push")


# -------------------- loaders


def test_colliders_that_overlap_where_a_robot_starts_are_ignored():
    m = Mechanism()
    m.add_ground()
    for k, z in enumerate((0.0, 0.15, 0.3)):  # the first one in the ground, all in their neighbours
        shapes = [Sphere(0.1, position=(s, 0, 0)) for s in (-0.15, 0.15)]
        m.add_body(f"{k}", mass=1.0, shapes=shapes, position=(0.0, 0, z))
    m.add_joint("0-1", "revolute", "0", "1", parent_anchor=(0, 0, 0.15))
    before = set(m.couples)
    assert ignore_overlapping(m, ()) == [("1", "2"), ("1 1", "2 1")]
    names = [collider.name for collider in m.colliders]
    assert {(names[i], names[j]) for i, j in before - set(m.couples)} == {("1", "2"), ("1 1", "2 1")}
    assert ignore_overlapping(m, ()) == []
    with pytest.raises(StateError, match="'0' and 'ground'"):  # nobody should fall through the floor
        Simulator(m, compiled=False).step()
