"""Inverse kinematics: reachable targets are reached, within the limits; what cannot be reached is told."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from mechanisms import Scene, scenes

from vigym import InputError, Mechanism, Simulator, inverse_kinematics
from vigym.engine.rotation import conjugate, multiply, rotate, to_rotation_vector

TIP = (0.0, 0.0, 0.15)


def arm(num: int = 7, **options) -> Mechanism:
    """A chain of links of 0.3 m that stand on each other, with axes z, y, z, y, ... and limits of 2.5 rad."""
    m = Mechanism()
    for k in range(num):
        m.add_body(f"link{k}", mass=1.0, inertia=(0.01, 0.01, 0.01))
        ends = {"parent_anchor": (0, 0, 0.15 if k else 0.0), "child_anchor": (0, 0, -0.15)}
        axis = (0, 1, 0) if k % 2 else (0, 0, 1)
        parent = f"link{k - 1}" if k else "world"
        m.add_joint(f"j{k}", "revolute", parent, f"link{k}", axis=axis, **ends, lower=-2.5, upper=2.5, **options)
    return m


def pose(sim: Simulator, body: int, point=TIP) -> tuple[np.ndarray, np.ndarray]:
    x, q = sim.state.x[:, body], sim.state.q[:, body]
    return x + rotate(q, np.array(point)), q


def assert_there(sim, body, found, place=None, turn=None):
    """Forward kinematics of the solution, by the simulator."""
    sim.set_joint_state(found.positions)
    at, q = pose(sim, body)
    if place is not None:
        np.testing.assert_allclose(at, np.broadcast_to(place, at.shape), atol=2e-8)
    if turn is not None:
        assert np.abs(to_rotation_vector(multiply(turn, conjugate(q)))).max() < 2e-8


def test_reachable_poses_are_reached():
    """Random poses of the arm, which it has itself, from the middle of the range: position and orientation together."""
    n = 64
    sim, rng = Simulator(arm(), num_envs=n, compiled=False), np.random.default_rng(1)
    sim.set_joint_state(rng.uniform(-2, 2, (n, 7)))
    place, turn = pose(sim, 6)
    before = sim.joint_positions()
    found = inverse_kinematics(sim, "link6", place, turn, point=TIP, start=np.full(7, 0.3), attempts=20)
    assert sim.joint_positions().tobytes() == before.tobytes()  # nothing moved
    assert found.converged.all()
    assert np.abs(found.positions).max() <= 2.5
    assert max(found.position_error.max(), found.angle_error.max()) <= 1e-8
    assert_there(sim, 6, found, place, turn)


def test_alone_as_in_a_batch():
    sim, rng = Simulator(arm(), num_envs=5, compiled=False), np.random.default_rng(2)
    place = np.array([0, 0, 0.8]) + rng.uniform(-0.6, 0.6, (5, 3))
    many = inverse_kinematics(sim, "link6", place, point=TIP, attempts=3)
    for k in range(5):
        one = inverse_kinematics(arm(), "link6", place[k], point=TIP, attempts=3)
        np.testing.assert_array_equal(one.positions[0], many.positions[k])
        assert one.iterations[0] == many.iterations[k]


def test_position_or_orientation_alone():
    sim = Simulator(arm(), num_envs=2, compiled=False)
    place, turn = [[0.5, 0.2, 1.0], [-0.3, 0.4, 0.8]], np.array([[0.8, 0.6, 0, 0], [0.5, 0.5, 0.5, 0.5]])
    found = inverse_kinematics(sim, "link6", place, point=TIP, start=np.full(7, 0.1))
    assert found.converged.all()
    assert not found.angle_error.any()
    assert_there(sim, 6, found, place=place)
    found = inverse_kinematics(sim, "link6", orientation=turn * 3, start=np.full(7, 0.1))
    assert found.converged.all()
    assert_there(sim, 6, found, turn=turn)


def test_nearest_point_of_what_is_out_of_reach():
    """Above its first link, which stands, a straight arm of 1.8 m points to the target from a height of 0.3 m."""
    found = inverse_kinematics(arm(), "link6", (0.0, 3.0, 0.0), point=TIP, start=np.full(7, 0.2), iterations=2000)
    assert not found.converged[0]
    assert abs(found.position_error[0] - (np.hypot(3.0, 0.3) - 1.8)) < 1e-6


def test_limits_hold():
    """One hinge, limited to 1 rad, whose tip should be at 2 rad."""
    m = Mechanism()
    m.add_body("rod", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("hinge", "revolute", "world", "rod", axis=(0, 0, 1), child_anchor=(-1, 0, 0), upper=1.0)
    found = inverse_kinematics(m, "rod", (np.cos(2.0), np.sin(2.0), 0.0))
    assert not found.converged[0]
    assert found.positions[0, 0] == 1.0
    np.testing.assert_allclose(found.position_error, 2 * np.sin(0.5), atol=1e-12)
    found = inverse_kinematics(m, "rod", (np.cos(0.7), np.sin(0.7), 0.0))
    assert found.converged[0]
    assert abs(found.positions[0, 0] - 0.7) < 1e-8


@given(scenes())
@settings(max_examples=20, deadline=None)
def test_from_nearby_any_tree_finds_back(scene: Scene):
    """All kinds of joints, free bodies included: the pose of the last body, from coordinates a little beside."""
    sim = Simulator(scene.mechanism, compiled=False)
    n, body = len(scene.mechanism.bodies) - 1, scene.mechanism.bodies[-1].name
    assume(len(scene.positions))
    sim.set_joint_state(scene.positions, x=scene.state[0], q=scene.state[1])
    place, turn = pose(sim, n)
    found = inverse_kinematics(sim, body, place, turn, point=TIP, start=scene.positions + 0.02)
    # where many coordinates move a body in the same way, or hardly at all, the way there is long
    assert max(found.position_error[0], found.angle_error[0]) < 1e-4
    if found.converged[0]:
        sim.set_joint_state(found.positions, x=scene.state[0], q=scene.state[1])
        np.testing.assert_allclose(pose(sim, n)[0], place, atol=2e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give a position, an orientation, or both"),
        ({"position": (0, 0)}, "position must have shape"),
        ({"position": (0, 0, np.nan)}, "position.* is nan"),
        ({"orientation": (0, 0, 0, 0)}, "orientation must not be zero"),
        ({"position": (0, 0, 1), "point": (1,)}, "point must be"),
        ({"position": (0, 0, 1), "start": [0.0]}, "start must have shape"),
        ({"position": (0, 0, 1), "tolerance": 0.0}, "tolerance must be"),
        ({"position": (0, 0, 1), "iterations": 0}, "iterations must be a positive integer"),
        ({"position": (0, 0, 1), "attempts": 1.5}, "attempts must be a positive integer"),
        ({"position": [(0, 0, 1)] * 3, "orientation": [(1, 0, 0, 0)] * 2}, "orientation must have shape"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        inverse_kinematics(arm(), "link6", **arguments)


class Hostile:
    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")


@pytest.mark.parametrize("value", [None, "up", {}, [[1, 2], [3]], Hostile(), [1j, 0, 0], np.inf, [None] * 3])
@pytest.mark.parametrize(
    "name", ["body", "position", "orientation", "point", "start", "tolerance", "iterations", "robot"]
)
def test_arguments_of_wrong_types(name, value):
    if value is None and name in ("position", "orientation", "start"):
        return  # as if it were left out
    good = {"robot": arm(), "body": "link6", "position": (0, 0, 1)}
    with pytest.raises(InputError):
        inverse_kinematics(**good | {name: value})


def test_robots_that_cannot():
    with pytest.raises(InputError, match="body 'link7' is unknown; did you mean"):
        inverse_kinematics(arm(), "link7", (0, 0, 1))
    with pytest.raises(InputError, match="robot must be a Simulator or a Mechanism"):
        inverse_kinematics(None, "link6", (0, 0, 1))
    m = Mechanism()
    m.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(InputError, match="no free joint axis"):
        inverse_kinematics(m, "stone", (0, 0, 1))
    m = arm(3)
    m.add_joint("loop", "spherical", "world", "link2", child_anchor=(0, 0, 0.15))
    with pytest.raises(InputError, match="close loops"):
        inverse_kinematics(m, "link2", (0, 0, 1))
