"""Sticking points stay: bodies that turn about a point on the ground, and bodies that roll, against closed forms."""

import numpy as np
import pytest
from scenes import GRAVITY, advance, matrix, orders
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from vigym import Mechanism, Simulator

CONES = ("pyramid", "exact")
STILL = 1e-8  # m: how far what sticks may move in a whole run


def quaternion(axis, angle: float) -> np.ndarray:
    return np.roll(Rotation.from_rotvec(angle * np.asarray(axis, float)).as_quat(), 1)


def tip(sim: Simulator) -> np.ndarray:
    """Position of the touching point of the first contact, in the plane."""
    return sim.contact_points()[0, 0, :2]


# -------------------- pivots


def falling_rod(cone: str, h: float, size: float = 1.0, mass: float = 1.0, tilt: float = 0.3) -> Simulator:
    """A thin rod of length `size` on its tip, from rest; time goes with sqrt(size)."""
    m = Mechanism(gravity=(0, 0, -GRAVITY))
    across = mass * size**2 / 12
    m.add_body("rod", mass=mass, inertia=(across, across, 1e-3 * across))
    m.add_contact("tip", "rod", (0, 0, -size / 2), friction=10.0)
    sim = Simulator(m, dt=h * np.sqrt(size), cone=cone, tolerance=1e-8 * np.clip(mass * size, 1e-6, 1e3))
    sim.set_state(x=[[size / 2 * np.sin(tilt), 0, size / 2 * np.cos(tilt)]], q=[quaternion((0, 1, 0), tilt)])
    return sim


FALL = solve_ivp(  # I a'' = m g l/2 sin(a), I = m l^2 / 3: angle and rate of a rod of 1 m from rest at 0.3 rad
    lambda _, y: [y[1], 1.5 * GRAVITY * np.sin(y[0])], (0, 0.7), [0.3, 0], rtol=1e-11, atol=1e-11, dense_output=True
).sol
TIME = 0.52  # s, 1.1 rad: friction is six times the normal force there; at ten times, about 1.2 rad, the tip slips


def check_rod(sim: Simulator, h: float, size: float) -> float:
    """The tip stays where it was. How far the rod's angle is from the exact one."""
    start, steps = tip(sim), round(TIME / h)
    moved = advance(sim, steps, lambda: np.append(tip(sim) - start, sim.contact_gaps()[0]))
    assert np.abs(moved).max() < max(STILL, 1e-9 * size)
    # released from rest in the step before the start, by half a step too early
    angle = 2 * np.arctan2(sim.state.q[0, 0, 2], sim.state.q[0, 0, 0])
    return abs(angle - FALL((steps + 0.5) * h)[0])


@pytest.mark.parametrize("cone", CONES)
def test_the_tip_of_a_falling_rod_stays(cone):
    errors = [check_rod(falling_rod(cone, h), h, 1.0) for h in (0.02, 0.01, 0.005, 0.0025)]
    np.testing.assert_allclose(orders(errors), 2.0, atol=0.1)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("size", [1e-2, 1.0, 1e2])
@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
def test_the_tip_stays_whatever_size_and_mass(cone, size, mass):
    check_rod(falling_rod(cone, 0.01, size, mass), 0.01, size)


def spinning_top(cone: str, h: float, size: float, mass: float) -> tuple[Simulator, float]:
    """A top that spins at 100 rad/s (of 1 m; time goes with sqrt(size)) and precesses steadily, leaning by 0.3 rad; and
    the rate of its precession: (J3 w3 - J1 rate cos) rate = m g l, J1 about the tip, the slower solution."""
    l, tilt, w3 = 0.1 * size, 0.3, 100.0 / np.sqrt(size)
    J = mass * size**2 * np.array([0.005, 0.005, 0.008])
    m = Mechanism(gravity=(0, 0, -GRAVITY))
    m.add_body("top", mass=mass, inertia=J)
    m.add_contact("tip", "top", (0, 0, -l), friction=1.0)
    sim = Simulator(m, dt=h * np.sqrt(size), cone=cone, tolerance=1e-8 * np.clip(mass * size, 1e-6, 1e3))
    a, b = (J[0] + mass * l**2) * np.cos(tilt), J[2] * w3
    rate = (b - np.sqrt(b**2 - 4 * a * mass * GRAVITY * l)) / (2 * a)
    q = quaternion((0, 1, 0), tilt)
    R = matrix(q)
    w = R.T @ [0, 0, rate]
    w[2] = w3
    x = R @ [0, 0, l]
    sim.set_state(x=[x], q=[q], v=[np.cross(R @ w, x)], w=[w])
    return sim, rate


def check_top(cone: str, h: float, size: float = 1.0, mass: float = 1.0) -> None:
    time = 2.0
    sim, rate = spinning_top(cone, h, size, mass)
    moved = advance(sim, round(time / h), lambda: np.append(tip(sim), sim.contact_gaps()[0]))
    # w is set as the mean of the step before the start, an error of half a step
    axis = matrix(sim.state.q[0, 0])[:, 2]
    turned = np.arctan2(axis[1], axis[0]) - rate * time * np.sqrt(size)
    assert np.abs(moved).max() < max(STILL, 1e-9 * size)
    assert abs(np.arccos(axis[2]) - 0.3) < rate * np.sqrt(size) * h
    assert abs(turned) < rate * np.sqrt(size) * h


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("h", [0.01, 0.005, 0.002, 0.001])
def test_the_tip_of_a_top_stays(cone, h):
    check_top(cone, h)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize(("size", "mass"), [(1e-2, 1e-4), (0.1, 1e3), (1e2, 1.0), (1e2, 1e3)])
def test_the_tip_of_a_top_stays_whatever_size_and_mass(cone, size, mass):
    check_top(cone, 0.005, size, mass)


# -------------------- rolling


def ball(radius: float, gravity, cores=((0, 0, 0),)) -> Mechanism:
    """A body with spheres of this radius about the cores; J = 2/5 m r^2."""
    m = Mechanism(gravity=gravity)
    m.add_body("ball", mass=1.0, inertia=np.full(3, 0.4 * radius**2))
    for k, core in enumerate(cores):
        m.add_contact(f"core {k}", "ball", core, radius=radius, friction=1.0)
    return m


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("heading", [0.0, 0.7, 2.0])
def test_a_ball_rolls_down_at_its_acceleration(cone, heading):
    # a = 5/7 g sin(slope), v = w r: exact in every step, also where it turns by 0.3 rad in one, to `tolerance` in each
    h, r, slope = 0.01, 0.1, np.radians(30)
    down = np.array([np.cos(heading), np.sin(heading), 0.0])
    sim = Simulator(ball(r, GRAVITY * (np.sin(slope) * down - [0, 0, np.cos(slope)])), dt=h, cone=cone)
    sim.set_state(x=[[0, 0, r]])
    a = 5 / 7 * GRAVITY * np.sin(slope)
    steps = round(0.3 * r / h / (a * h))
    for k in range(1, steps + 1):
        sim.step()
        om = matrix(sim.state.q[0, 0]) @ sim.state.w[0, 0]
        np.testing.assert_allclose(sim.state.v[0, 0], k * h * a * down, rtol=0, atol=k * h * sim.tolerance)
        np.testing.assert_allclose(r * np.cross(om, [0, 0, 1]), sim.state.v[0, 0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(sim.state.x[0, 0, :2], 0.5 * a * steps * (steps + 1) * h**2 * down[:2], atol=1e-8)
    assert h * np.linalg.norm(om) > 0.29


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("turn", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("twist", [0.0, 0.5])
def test_a_ball_that_rolls_rolls_on(cone, turn, twist):
    # v = om x r n, and a spin about the normal as well: no friction, and nothing changes
    h, r = 0.01, 0.1
    om = np.array([0.0, turn, twist * turn]) / h
    v = r * np.cross(om, [0, 0, 1])
    sim = Simulator(ball(r, (0, 0, -GRAVITY)), dt=h, cone=cone)
    sim.set_state(x=[[0, 0, r]], v=[v], w=[om])
    seen = advance(sim, 100, lambda: np.concatenate([sim.state.v[0, 0], matrix(sim.state.q[0, 0]) @ sim.state.w[0, 0]]))
    np.testing.assert_allclose(seen, np.broadcast_to([*v, *om], seen.shape), rtol=0, atol=1e-9)
    assert np.abs(sim.contact_forces()[0, 0, :2]).max() < 1e-7


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("turn", [0.01, 0.3, 1.0])
def test_an_axle_on_two_balls_rolls_on(cone, turn):
    # cores beside the centre of mass, on the axis of the motion: v = w r, steady
    h, r = 0.01, 0.1
    sim = Simulator(ball(r, (0, 0, -GRAVITY), [(0, 0.3, 0), (0, -0.2, 0)]), dt=h, cone=cone)
    sim.set_state(x=[[0, 0, r]], v=[[r * turn / h, 0, 0]], w=[[0, turn / h, 0]])
    seen = advance(sim, 100, lambda: np.concatenate([sim.state.v[0, 0], sim.state.w[0, 0]]))
    expected = [r * turn / h, 0, 0, 0, turn / h, 0]
    np.testing.assert_allclose(seen, np.broadcast_to(expected, seen.shape), rtol=0, atol=1e-9)


@pytest.mark.parametrize("cone", CONES)
def test_an_unbalanced_ball_rolls_as_far_as_it_turns(cone):
    # The core is off the centre of mass: the motion is not steady, but the centre of the sphere moves by r times the
    # angle in every step, also where that is 0.3 rad.
    h, r, off = 0.01, 0.1, 0.005
    sim = Simulator(ball(r, (0, 0, -GRAVITY), [(off, 0, 0)]), dt=h, cone=cone)
    w = 30.0
    sim.set_state(x=[[-off, 0, r]], v=[[r * w, 0, off * w]], w=[[0, w, 0]])

    def rolled():
        R = matrix(sim.state.q[0, 0])
        centre = sim.state.x[0, 0, 0] + off * R[0, 0]
        return h * sim.state.w[0, 0, 1], centre, sim.contact_forces()[0, 0, 2]

    seen = advance(sim, 100, rolled)
    assert seen[:, 2].min() > 1.0  # N: it never leaves the ground
    np.testing.assert_allclose(seen[:, 1], r * np.cumsum(seen[:, 0]), atol=1e-8)
