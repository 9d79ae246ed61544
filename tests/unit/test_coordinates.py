"""Joint coordinates: read from poses, and poses from them; turned-around joints, loops, full turns.

The kinematics here are SciPy's: a child's rotation is Rp Ro E, with the joint's orientation Ro and its own rotation E,
its position xp + Rp (ap + Ro s) - Rc ac, with the anchors ap and ac and the displacement s along the joint's axes.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import mechanisms
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenes import pendulum, quaternion
from scipy.spatial.transform import Rotation

from vigym import Mechanism, Simulator, StateError
from vigym.assets import four_bar
from vigym.engine import coordinates

PI = np.pi
INERTIA = np.diag([0.02, 0.03, 0.04]) + 0.002 * (1 - np.eye(3))


def body(m: Mechanism, name: str) -> None:
    m.add_body(name, mass=1.0, inertia=INERTIA)


# -------------------- read-out against hand-made poses

X, Y, Z = np.eye(3)
HALF = np.sqrt(0.5)

# kind, options, pose of the body (x, q), coordinates
POSES: dict[str, tuple[str, dict[str, Any], Any, Any, list[float]]] = {
    "fixed": ("fixed", {}, (0, 0, 0), (1, 0, 0, 0), []),
    "revolute": ("revolute", {"axis": Y}, (0, 0, 0), (np.cos(0.35), 0, np.sin(0.35), 0), [0.7]),
    "revolute, backwards": ("revolute", {"axis": -Y}, (0, 0, 0), (np.cos(0.35), 0, np.sin(0.35), 0), [-0.7]),
    "revolute, -q": ("revolute", {"axis": Y}, (0, 0, 0), (-np.cos(0.35), 0, -np.sin(0.35), 0), [0.7]),
    "revolute, half a turn": ("revolute", {"axis": Z}, (0, 0, 0), (0, 0, 0, 1), [-PI]),
    "revolute on an arm": (
        "revolute",
        {"axis": Z, "child_anchor": (1, 0, 0)},
        (0, -1, 0),
        (HALF, 0, 0, HALF),
        [PI / 2],
    ),
    # at zero the child is turned by 90 degrees about z: its y is the parent's -x
    "revolute, turned": (
        "revolute",
        {"axis": Y, "orientation": (HALF, 0, 0, HALF)},
        (0, 0, 0),
        np.roll((Rotation.from_rotvec([0, 0, PI / 2]) * Rotation.from_rotvec([0, 0.4, 0])).as_quat(), 1),
        [0.4],
    ),
    "prismatic": ("prismatic", {"axis": (0, 3, 4)}, (0, 0.6, 0.8), (1, 0, 0, 0), [1.0]),
    "prismatic, turned": (
        "prismatic",
        {"axis": Y, "orientation": (HALF, 0, 0, HALF)},
        (-2, 0, 0),
        (HALF, 0, 0, HALF),
        [2.0],
    ),
    "cylindrical": ("cylindrical", {"axis": X}, (-0.5, 0, 0), (np.cos(1.0), np.sin(1.0), 0, 0), [-0.5, 2.0]),
    "planar": ("planar", {"axis": Z}, (0.3, -0.4, 0), (HALF, 0, 0, -HALF), [0.3, -0.4, -PI / 2]),
    "universal": (
        "universal",
        {"axis": X, "axis2": Y},
        (0, 0, 0),
        np.roll((Rotation.from_rotvec(0.5 * X) * Rotation.from_rotvec(-2.5 * Y)).as_quat(), 1),
        [0.5, -2.5],
    ),
    "spherical": ("spherical", {}, (0, 0, 0), (np.cos(0.5), 0, 0.6 * np.sin(0.5), 0.8 * np.sin(0.5)), [0, 0.6, 0.8]),
    "slide and ball": (
        "custom",
        {"axis": Z, "constrained": (1, 1, 0, 0, 0, 0)},
        (0, 0, 7),
        (np.cos(0.5), np.sin(0.5), 0, 0),
        [7, 1, 0, 0],
    ),
    "two slides": ("custom", {"axis": Z, "constrained": (0, 0, 1, 1, 1, 1)}, (1, 2, 0), (1, 0, 0, 0), [1, 2]),
}


@pytest.mark.parametrize("case", POSES)
def test_coordinates_of_a_pose(case):
    kind, options, x, q, expected = POSES[case]
    m = Mechanism()
    body(m, "body")
    m.add_joint("joint", kind, "world", "body", **options)
    sim = Simulator(m, num_envs=2)
    sim.set_state(x=[x], q=[np.array(q, float)])
    np.testing.assert_allclose(sim.joint_positions(), [expected] * 2, atol=1e-15)
    sim.set_joint_state(expected)
    np.testing.assert_allclose(sim.state.x[1, 0], x, atol=1e-15)
    assert abs(sim.state.q[1, 0] @ q) > 1 - 1e-15


# -------------------- random trees


@dataclass
class Tree(mechanisms.Printed):
    """A mechanism, the calls that build it, and joint coordinates and rates (4, n_axes)."""

    mechanism: Mechanism
    calls: list[mechanisms.Call]
    positions: np.ndarray
    rates: np.ndarray

    def __repr__(self) -> str:
        return mechanisms.listed("Tree", self.calls, positions=self.positions, rates=self.rates)


class Place(NamedTuple):
    """A link, when its body and its joint are added, and whole turns of its axes (4, 6)."""

    link: mechanisms.Link
    body: int
    joint: int
    turns: np.ndarray


@st.composite
def trees(draw: st.DrawFn, turns: bool = False) -> Tree:
    """1 to 5 bodies with any joints, orientations and anchors; with `turns` single angles up to several turns."""
    whole = mechanisms.arrays(0.003 if turns else 0.0, 4, 6).map(lambda k: 1000 * k)
    places = st.builds(Place, mechanisms.links(8, reach=2.0), st.integers(0, 9), st.integers(0, 9), whole)
    tree = draw(st.lists(places, min_size=1, max_size=5))
    calls, n = mechanisms.tree_calls([place.link for place in tree]), len(tree)
    # the order added is not that of the tree
    calls = [calls[k] for k in sorted(range(n), key=lambda k: tree[k].body)]
    by_joint = sorted(range(n), key=lambda k: tree[k].joint)
    calls += [mechanisms.tree_calls([place.link for place in tree])[n + k] for k in by_joint]
    m = mechanisms.make(calls)
    columns = [spread(joint, tree[k]) for k, joint in zip(by_joint, m.joints, strict=True)]
    rates = [tree[k].link.numbers[4:, : tree[k].link.n_free()] for k in by_joint]
    return Tree(m, calls, np.concatenate(columns, 1), 3.0 * np.concatenate(rates, 1))


def spread(joint: Any, place: Place) -> np.ndarray:
    """Coordinates (4, n_free) up to 2 m and nearly half a turn, from numbers between -1 and 1."""
    n, k = place.link.n_free(), int((~joint.constrained[3:]).sum())
    values = 2.0 * place.link.numbers[:4, :n]
    if n == 0:
        return values
    if k == 3:  # a rotation vector of less than half a turn
        size = np.linalg.norm(values[:, -3:], axis=-1, keepdims=True)
        values[:, -3:] *= 0.999 * PI / np.maximum(size, 2.0)
    elif k:
        values[:, -k:] *= 0.999 * PI / 2
        values[:, -k:] += 2 * PI * place.turns[:, -k:]
    return values


@settings(max_examples=40)
@given(trees())
def test_set_joint_state_round_trip(tree):
    m, positions, rates = tree.mechanism, tree.positions, tree.rates
    sim = Simulator(m, num_envs=4)
    before = sim.state
    sim.set_joint_state(positions, rates)
    assert sim.joint_error().max() < 1e-12
    np.testing.assert_allclose(sim.joint_velocities(), rates, atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(sim.state.q, axis=-1), 1.0, rtol=1e-15)
    sim.set_state(*sim.state)  # coordinates are now those of the poses
    np.testing.assert_allclose(sim.joint_positions(), positions, atol=1e-11)
    tied = {joint.child for joint in m.joints if joint.kind != "floating"}
    for k, part in enumerate(m.bodies):
        if part.name not in tied:  # free bodies stay
            for now, then in zip(sim.state, before, strict=True):
                np.testing.assert_allclose(now[:, k], then[:, k], atol=1e-15)


@settings(max_examples=20)
@given(trees(turns=True))
def test_set_joint_state_counts_turns(tree):
    m, positions = tree.mechanism, tree.positions
    sim = Simulator(m, num_envs=4)
    sim.set_joint_state(positions)
    np.testing.assert_array_equal(sim.joint_positions(), positions)
    assert sim.joint_error().max() < 1e-12


def pose(m: Mechanism, phi: np.ndarray) -> dict[str, tuple[np.ndarray, Rotation]]:
    """Position and rotation of every body of a tree at coordinates phi (n_axes,), by SciPy."""
    poses: dict[str, tuple[np.ndarray, Rotation]] = {"world": (np.zeros(3), Rotation.identity())}
    for part in m.bodies:
        poses[part.name] = part.position.copy(), Rotation.from_quat(np.roll(part.orientation, -1).copy())
    first, columns = 0, {}
    for joint in m.joints:
        columns[joint.name] = first
        first += 0 if joint.kind == "floating" else joint.n_free
    for k in range(len(m.joints)):  # parents first
        joint = m.joint(f"j{k}")
        if joint.kind == "floating":
            continue
        values = phi[columns[joint.name] : columns[joint.name] + joint.n_free]
        shift, turns = np.zeros(3), []
        for (motion, row), value in zip(joint.free_axes, values, strict=True):
            if motion == "translation":
                shift += value * joint.basis[row]
            else:
                turns.append(value * joint.basis[row])
        if len(turns) == 2:
            E = Rotation.from_rotvec(turns[0]) * Rotation.from_rotvec(turns[1])
        else:
            E = Rotation.from_rotvec(np.sum(turns, 0) if turns else np.zeros(3))
        xp, Rp = poses[joint.parent]
        Ro = Rotation.from_quat(np.roll(joint.orientation, -1))
        Rc = Rp * Ro * E
        poses[joint.child] = (
            xp + Rp.apply(joint.parent_anchor + Ro.apply(shift)) - Rc.apply(joint.child_anchor.copy()),
            Rc,
        )
    return poses


@settings(max_examples=30)
@given(trees())
def test_poses_are_those_of_the_kinematics(tree):
    m, positions = tree.mechanism, tree.positions
    sim = Simulator(m)
    sim.set_joint_state(positions[0])
    poses = pose(m, positions[0])
    for k, part in enumerate(m.bodies):
        x, R = poses[part.name]
        np.testing.assert_allclose(sim.state.x[0, k], x, atol=1e-12)
        assert (R.inv() * Rotation.from_quat(np.roll(sim.state.q[0, k], -1))).magnitude() < 1e-12


@settings(max_examples=30)
@given(trees())
def test_velocities_are_those_of_the_kinematics(tree):
    """v and w lead, in one step, from where the joints were a step before; to 1e-15 / dt."""
    m, positions, rates = tree.mechanism, tree.positions, tree.rates
    sim = Simulator(m)
    h = sim.dt
    sim.set_joint_state(positions[0], rates[0])
    ahead, behind = (pose(m, moved(m, positions[0], rates[0], d)) for d in (0.0, -h))
    for k, part in enumerate(m.bodies):
        (x1, R1), (x0, R0) = ahead[part.name], behind[part.name]
        np.testing.assert_allclose(sim.state.v[0, k], (x1 - x0) / h, atol=1e-11)
        turn = (R0.inv() * R1).as_rotvec()
        np.testing.assert_allclose(sim.state.w[0, k], turn / h, atol=1e-11)  # h w is the rotation vector of the step


def moved(m: Mechanism, phi: np.ndarray, rates: np.ndarray, d: float) -> np.ndarray:
    """phi after a short time d; three free rotations turn by their rates about the child's axes."""
    phi, first = phi.copy(), 0
    for joint in m.joints:
        if joint.kind == "floating":
            continue
        here = slice(first, first + joint.n_free)
        first += joint.n_free
        now, speed = phi[here].copy(), rates[here]
        phi[here] += d * speed
        if (~joint.constrained[3:]).sum() == 3:
            turned = Rotation.from_rotvec(now[-3:] @ joint.basis) * Rotation.from_rotvec(d * speed[-3:] @ joint.basis)
            phi[here][-3:] = joint.basis @ turned.as_rotvec()
    return phi


# -------------------- joints that are declared the other way round

Ro = Rotation.from_rotvec([0.3, -0.5, 0.8])


def two_arms(kind: str, backwards: bool, **options: Any) -> Mechanism:
    """world - a by a hinge; a and b by a joint of `kind` that is declared from a to b, or `backwards` from b to a.

    Backwards, a is the child of both joints. Anchors change places, the orientation is undone; in the frame of the new
    child the axis is Ro axis, and its sign changes so that coordinates and efforts keep theirs.
    """
    m = Mechanism()
    body(m, "a"), body(m, "b")
    m.add_joint("hinge", "revolute", "world", "a", axis=(0, 1, 0), child_anchor=(0, 0, 0.5))
    axis, near, far = np.array([0.2, 0.9, -0.4]), (0, 0.1, -0.5), (0, 0.2, 0.3)
    if backwards:
        ends = {"parent": "b", "child": "a", "parent_anchor": far, "child_anchor": near}
        frame = {"axis": -Ro.apply(axis), "orientation": quaternion(Ro.inv())}
    else:
        ends = {"parent": "a", "child": "b", "parent_anchor": near, "child_anchor": far}
        frame = {"axis": axis, "orientation": quaternion(Ro)}
    m.add_joint("joint", kind, **ends, **frame, **options)
    return m


def moves(m: Mechanism, positions: Any, rates: Any, effort: Any, steps: int) -> Simulator:
    sim = Simulator(m, compiled=False)
    sim.set_joint_state(positions, rates)
    for _ in range(steps):
        sim.step(effort=effort)
        assert sim.status.converged.all()
    return sim


@pytest.mark.parametrize(("kind", "n_free"), [("fixed", 0), ("revolute", 1), ("prismatic", 1), ("cylindrical", 2)])
def test_a_joint_declared_backwards(kind, n_free):
    """Coordinates, velocities, efforts, springs and drives mean the same; the bodies move the same."""
    laws = {"stiffness": 3.0, "rest": 0.5, "damping": 0.2, "kp": 2.0, "kd": 0.1, "target": -0.3}
    start = [0.4, *[0.3, -0.7][:n_free]], [1.0, *[-2.0, 1.5][:n_free]], [0.5, *[2.0, -1.0][:n_free]]
    there, back = (moves(two_arms(kind, way, **(laws if n_free else {})), *start, steps=10) for way in (False, True))
    assert not back.model.loops.joints
    for a, b in zip(there.state[:1] + there.state[2:], back.state[:1] + back.state[2:], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    np.testing.assert_allclose(np.abs((there.state.q * back.state.q).sum(-1)), 1.0, atol=1e-12)
    np.testing.assert_allclose(there.joint_positions(), back.joint_positions(), atol=1e-10)
    np.testing.assert_allclose(there.joint_velocities(), back.joint_velocities(), atol=1e-9)
    assert np.abs(there.joint_positions() - start[0]).min() > 0.01  # they did move


@pytest.mark.parametrize("backwards", [False, True])
def test_limits_keep_their_sides(backwards):
    sim = moves(two_arms("revolute", backwards, lower=-0.1, upper=0.5), [0.0, 0.45], [0.0, 8.0], [0.0, 3.0], steps=4)
    np.testing.assert_allclose(sim.joint_positions()[0, 1], 0.5, atol=1e-8)
    with pytest.raises(StateError, match=r"joint.*lower"):
        sim.set_joint_state([0.0, -0.2])


@pytest.mark.parametrize("kind", ["spherical", "planar"])
def test_a_joint_that_has_a_direction_declared_backwards(kind):
    """Its coordinates mean something else then, but the bodies move the same."""
    there = moves(two_arms(kind, False), [0.4, 0.3, -0.2, 0.1], [1.0, 0.5, -1.5, 2.0], None, steps=0)
    back = Simulator(two_arms(kind, True), compiled=False)
    back.set_state(*there.state)
    assert back.joint_error().max() < 1e-12
    for _ in range(5):
        there.step(), back.step()
    assert back.status.converged.all()
    for a, b in zip(there.state, back.state, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7)
    assert there.joint_error().max() < 1e-9
    assert back.joint_error().max() < 1e-9


def test_a_body_that_is_the_child_of_two_joints_hangs_on_the_world():
    """world - c, b - c and a - b: the tree starts at the world and goes against the declarations."""
    m = Mechanism()
    for name in "abc":
        body(m, name)
    m.add_joint("ab", "revolute", "a", "b", axis=(0, 1, 0), parent_anchor=(0, 0, 1), orientation=quaternion(Ro))
    m.add_joint("bc", "prismatic", "b", "c", axis=(1, 2, 3), child_anchor=(0, 1, 0))
    m.add_joint("cw", "revolute", "world", "c", axis=(0, 1, 0), parent_anchor=(0, 0, 2))
    sim = Simulator(m)
    assert not sim.model.loops.joints
    sim.set_joint_state([0.3, -0.4, 0.5], [1.0, 2.0, 3.0])
    assert sim.joint_error().max() < 1e-14
    np.testing.assert_allclose(sim.joint_velocities(), [[1.0, 2.0, 3.0]], atol=1e-13)
    sim.set_state(*sim.state)
    np.testing.assert_allclose(sim.joint_positions(), [[0.3, -0.4, 0.5]], atol=1e-14)
    x, R = sim.state.x[0], Rotation.from_quat(np.roll(sim.state.q[0], -1, axis=-1))
    np.testing.assert_allclose(R[2].as_rotvec(), [0, 0.5, 0], atol=1e-14)
    np.testing.assert_allclose(x[2], [0, 0, 2], atol=1e-14)
    np.testing.assert_allclose(
        (R[0].inv() * R[1]).as_matrix(), (Ro * Rotation.from_rotvec([0, 0.3, 0])).as_matrix(), atol=1e-14
    )


# -------------------- loops


def linkage(width: float = 1.5, right: float = 1.0) -> Mechanism:
    """A four-bar linkage that hangs at zero, where it is closed if `right` is 1: bars of 1 m, `width`, `right`."""
    return four_bar.build(ground=width, crank=1.0, coupler=width, rocker=right, height=0.0)


def test_coordinates_that_close_a_parallelogram_are_taken_as_they_are():
    angle = np.array([0.0, 0.3, -1.0, 1.2])
    sim = Simulator(linkage(), num_envs=4)
    same = np.stack([angle, -angle, angle, angle], -1)
    sim.set_joint_state(same, np.outer(np.ones(4), [2.0, -2.0, 2.0, 2.0]))
    np.testing.assert_allclose(sim.joint_positions(), same, atol=1e-12)
    np.testing.assert_allclose(sim.joint_velocities(), np.outer(np.ones(4), [2.0, -2.0, 2.0, 2.0]), atol=1e-8)
    coupler = np.stack([-np.sin(angle), 0 * angle, -np.cos(angle)], -1)
    np.testing.assert_allclose(sim.state.x[:, 1], coupler, atol=1e-12)


@settings(max_examples=12)
@given(
    width=st.floats(1.2, 3.0),
    right=st.floats(0.9, 1.3),
    angle=st.floats(-0.5, 0.5),
    off=st.floats(-0.2, 0.2),
    speed=st.floats(-5, 5),
)
def test_set_joint_state_closes_a_four_bar(width, right, angle, off, speed):
    sim = Simulator(linkage(width, right))
    sim.set_joint_state([angle, -angle + off, angle, angle - off], [speed, -speed, speed, 0.0])
    assert sim.joint_error().max() < 1e-10
    state = sim.state
    before = coordinates.pose_before(*state, np.array([sim.dt]))
    assert coordinates.errors(sim.model, *before).max() < 1e-10  # they move with the loop closed
    np.testing.assert_allclose(sim.joint_velocities()[0, :3], [speed, -speed, speed], atol=0.5 * abs(speed) + 1e-9)
    assert np.abs(sim.joint_positions() - [angle, -angle, angle, angle]).max() < 1.5  # not another way to close it
    sim.set_state(*sim.state)


def test_a_loop_that_cannot_be_closed():
    m = linkage(width=1.5)
    sim = Simulator(m)
    before = sim.save()
    with pytest.raises(StateError, match=r"joint '[ABCD]'.*open"):
        sim.set_state(x=sim.state.x + np.eye(3)[1][:, None] * 0.1)
    assert sim.save() == before
    impossible = Mechanism()
    body(impossible, "a"), body(impossible, "b")
    for name, parent, child, anchor in (("1", "world", "a", 0), ("2", "a", "b", 0.5), ("3", "world", "b", 5.0)):
        impossible.add_joint(name, "revolute", parent, child, axis=(0, 1, 0), parent_anchor=(anchor, 0, 0))
    with pytest.raises(StateError, match="open"):
        Simulator(impossible, compiled=False).step()


# -------------------- turns


def wheel(**options: Any) -> Mechanism:
    m = Mechanism(gravity=(0, 0, 0))
    body(m, "wheel")
    m.add_joint("axle", "revolute", "world", "wheel", axis=(0, 0, 1), **options)
    return m


@pytest.mark.parametrize("speed", [80.0, -80.0])
def test_turns_are_counted(speed):
    """One step turns by h speed; the wheel's axle is not a principal axis, but does not let it tumble."""
    sim = Simulator(wheel(), compiled=False)
    sim.set_joint_state([20.0], [speed])
    for _ in range(20):
        sim.step()
    np.testing.assert_allclose(sim.joint_positions(), [[20.0 + 20 * 0.01 * speed]], atol=1e-10)
    assert abs(sim.joint_positions()[0, 0] - 20.0) > 2 * 2 * PI
    sim.set_state(*sim.state)  # a pose says nothing about turns
    assert -PI <= sim.joint_positions()[0, 0] <= PI


@pytest.mark.parametrize(
    ("lower", "upper", "angle"), [(5.0, 7.0, 6.0), (-9.5, -9.0, -9.25), (3.0, 4.0, 3.5), (1.0, 30.0, 28.0)]
)
def test_limits_beyond_one_turn(lower, upper, angle):
    sim = Simulator(wheel(lower=lower, upper=upper), compiled=False)
    np.testing.assert_allclose(sim.joint_positions(), [[lower if lower > 0 else upper]], atol=1e-14)
    sim.set_joint_state([angle])
    np.testing.assert_allclose(sim.joint_positions(), [[angle]], atol=1e-14)
    for bad in (lower - 0.1, upper + 0.1, lower - 2 * PI, upper + 2 * PI):
        with pytest.raises(StateError, match=r"axle.*limit"):
            sim.set_joint_state([bad])
    np.testing.assert_allclose(sim.joint_positions(), [[angle]], atol=1e-14)
    if upper - lower < 2 * PI:
        sim.set_state(*sim.state)  # the turn that is within the limits
        np.testing.assert_allclose(sim.joint_positions(), [[angle]], atol=1e-14)


def test_a_whole_turn_too_far_is_beyond_the_limit():
    sim = Simulator(pendulum(lower=-1.0, upper=1.0))
    with pytest.raises(StateError, match=r"hinge.*upper"):
        sim.set_joint_state([2 * PI])


@pytest.mark.parametrize("start", [2.9, 4.0])
def test_a_damped_ball_joint_beyond_half_a_turn(start):
    """A damper brakes, also where the rotation vector starts from the other side: J dw/dt = -damping w."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("socket", "spherical", "world", "ball", damping=0.1)
    sim = Simulator(m, compiled=False)
    sim.set_joint_state([start, 0, 0], [5.0, 0, 0])
    for k in range(10):
        sim.step()
        np.testing.assert_allclose(sim.state.w[0, 0, 0], 5.0 * np.exp(-0.1 * 0.01 * (k + 1)), rtol=1e-3)
