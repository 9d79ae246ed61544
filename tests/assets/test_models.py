"""Masses, sizes, names and limits of the models other than the A1."""

import numpy as np
import pytest
import scenes

from vigym import Mechanism, MechanismError, Simulator
from vigym.assets import cartpole, cube, disc, double_pendulum, four_bar, hopper, pendulum, scissor_lift, snake


def counts(m: Mechanism) -> tuple[int, int, int]:
    return len(m.bodies), len(m.joints), len(m.contacts)


def mass(m: Mechanism) -> float:
    return sum(body.mass for body in m.bodies)


def point(sim: Simulator, body: str, at: tuple[float, float, float]) -> np.ndarray:
    """Position of a point of a body, world (3,)."""
    i = [part.name for part in sim.model.mechanism.bodies].index(body)
    return sim.state.x[0, i] + scenes.matrix(sim.state.q[0, i]) @ at


# -------------------- the paper's


def test_hopper_is_the_papers():
    m = hopper.build()
    sphere, pole = m.bodies
    assert counts(m) == (2, 1, 1)
    assert (sphere.mass, pole.mass) == (1.0, 0.2)
    assert sphere.inertia == pytest.approx(np.eye(3) * 0.4 * 0.01, rel=1e-14)
    across = 0.2 * (0.05**2 / 4 + 0.8**2 / 12)
    assert pole.inertia == pytest.approx(np.diag([across, across, 0.2 * 0.05**2 / 2]), rel=1e-14)
    assert m.contact("foot").friction == 0.2
    sim = Simulator(m)
    assert sim.state.x[0] == pytest.approx(np.array([[0, 0, 0.4], [0, 0, 0.4]]), abs=1e-15)


def test_hopper_jumps_by_its_stroke():
    # The force limit lifts the sphere through the stroke, against its weight: v^2/2 = (F/m - g) s when it hits the
    # upper stop, where the pole (at rest) joins it: momentum m v is shared by both, and both rise (m v / M)^2 / 2 g.
    h, g, F, s = 0.0005, 9.81, 30.0, 0.3
    m = hopper.build(force_limit=F)
    sim = Simulator(m, dt=h)
    lower, upper = m.joint("leg").lower[0], m.joint("leg").upper[0]
    assert (lower, upper) == (0.0, s)
    heights, leg = [], []
    for _ in range(1200):
        scenes.advance(sim, 1, effort=[[100.0]])  # cut to the limit
        heights.append(point(sim, "pole", (0, 0, -0.4))[2])
        leg.append(sim.joint_positions()[0, 0])
    assert lower - 1e-9 <= min(leg)
    assert max(leg) == pytest.approx(upper, abs=1e-9)
    v = np.sqrt(2 * (F / 1.0 - g) * s)
    shared = v * 1.0 / 1.2
    # First order, relative to the height: up to 3 (F/m - g) h / v from the stroke (h/2 late, and a step without force
    # at its end, which count twice in v^2), and 3 g h / shared from that step and the flight.
    error = 3 * h * ((F / 1.0 - g) / v + g / shared)
    assert max(heights) == pytest.approx(shared**2 / (2 * g), rel=error)


def test_hopper_turns_by_the_torque_on_its_sphere():
    # About z on a point of a foot: torque / (J_sphere + J_pole), nothing resists.
    sim = Simulator(hopper.build(), dt=0.001)
    torque = np.zeros((1, 2, 3))
    torque[0, 0, 2] = 0.01
    scenes.advance(sim, 100, torque=torque)
    spin = 0.01 / (0.4 * 0.01 + 0.2 * 0.05**2 / 2) * 0.1
    assert sim.state.w[0, :, 2] == pytest.approx([spin, spin], rel=(spin * 0.001) ** 2 + 1e-6)


def test_snake_is_the_papers():
    m = snake.build(links=6)
    assert counts(m) == (6, 5, 7)
    assert mass(m) == 6.0
    along, across = 0.05**2 / 2, 0.05**2 / 4 + 1 / 12
    for body in m.bodies:
        assert body.inertia == pytest.approx(np.diag([along, across, across]), rel=1e-14, abs=1e-16)
    assert {joint.kind for joint in m.joints} == {"spherical"}
    assert {(contact.friction, contact.radius) for contact in m.contacts} == {(0.2, 0.0)}
    sim = Simulator(m)
    ends = [point(sim, "link 0", (-0.5, 0, 0)), *(point(sim, f"link {k}", (0.5, 0, 0)) for k in range(6))]
    assert np.array(ends) == pytest.approx(np.array([(k - 0.5, 0, 0) for k in range(7)]), abs=1e-14)
    assert [tuple(contact.point) for contact in m.contacts] == [(-0.5, 0, 0), *[(0.5, 0, 0)] * 6]
    assert len(sim.axis_names) == 15  # three torques a joint


def test_snake_of_hinges_bends_up_and_sideways_in_turn():
    m = snake.build(links=5, joints="hinge", length=0.2, radius=0.02, mass=0.3, contact_radius=0.02, effort_limit=2.0)
    assert {joint.kind for joint in m.joints} == {"revolute"}
    assert [joint.basis[2].tolist() for joint in m.joints] == [[0, 1, 0], [0, 0, 1]] * 2
    assert {joint.effort_limit[0] for joint in m.joints} == {2.0}
    assert mass(m) == pytest.approx(1.5)
    sim = Simulator(m)
    assert sim.contact_gaps() == pytest.approx(0.0, abs=1e-15)
    sim.set_joint_state([-0.1, 0.5, 0.0, 0.0])
    assert point(sim, "link 4", (0.1, 0, 0))[2] > 0.05
    assert point(sim, "link 4", (0.1, 0, 0))[1] > 0.1


def test_snake_springs_and_dampers_are_those_of_its_joints():
    m = snake.build(links=3, stiffness=4.0, damping=0.5)
    assert all((joint.stiffness == 4.0).all() and (joint.damping == 0.5).all() for joint in m.joints)


def test_snake_of_a_thousand_links():
    sim = Simulator(snake.build(links=1000))
    assert counts(sim.model.mechanism) == (1000, 999, 1001)
    scenes.advance(sim, 3)
    assert np.abs(sim.state.v).max() < 1e-6


@pytest.mark.parametrize("options", [{"links": 1}, {"links": 1001}, {"joints": "glue"}])
def test_snake_refuses(options):
    with pytest.raises(MechanismError, match=next(iter(options))):
        snake.build(**options)


@pytest.mark.parametrize("contacts", [2, 7, 100])
def test_disc_is_the_papers(contacts):
    m = disc.build(contacts=contacts)
    assert counts(m) == (1, 0, contacts)
    across = 0.5**2 / 4 + 0.1**2 / 12
    assert m.body("disc").inertia == pytest.approx(np.diag([across, across, 0.125]), rel=1e-14)
    points = np.array([contact.point for contact in m.contacts])
    assert points[:, 2] == pytest.approx(-0.05)
    assert np.linalg.norm(points[:, :2], axis=1) == pytest.approx(0.5)
    # equally spaced: neighbours are a chord apart
    chord = 2 * 0.5 * np.sin(np.pi / contacts)
    assert np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1) == pytest.approx(chord)
    assert {contact.friction for contact in m.contacts} == {0.2}


def test_disc_needs_a_contact():
    with pytest.raises(MechanismError, match="contacts"):
        disc.build(contacts=0)


# -------------------- small ones


def test_pendulum_swings_at_its_rate():
    m = pendulum.build(angle=0.02)
    assert counts(m) == (1, 1, 0)
    assert mass(m) == 1.0
    sim = Simulator(m, dt=0.002)
    assert point(sim, "rod", (0, 0, 0.5)) == pytest.approx([0, 0, 1.5], abs=1e-14)
    assert point(sim, "rod", (0, 0, -0.5)) == pytest.approx([-np.sin(0.02), 0, 1.5 - np.cos(0.02)], abs=1e-14)
    # about its end: J = m (l^2/3 + r^2/4); after half a period it is on the other side
    rate = np.sqrt(9.81 * 0.5 / (1 / 3 + 0.02**2 / 4))
    angles = scenes.advance(sim, round(np.pi / rate / 0.002), lambda: sim.joint_positions()[0, 0])
    assert angles[-1] == pytest.approx(-0.02, rel=1e-3)


def test_double_pendulum_reaches_down():
    m = double_pendulum.build(masses=(1.0, 0.5), lengths=(0.8, 0.6), angles=(np.pi / 2, -np.pi / 2), height=3.0)
    assert counts(m) == (2, 2, 0)
    assert mass(m) == 1.5
    sim = Simulator(m)
    # a turn by +pi/2 about y takes -z to -x
    assert point(sim, "upper", (0, 0, -0.4)) == pytest.approx([-0.8, 0, 3.0], abs=1e-14)
    assert point(sim, "lower", (0, 0, -0.3)) == pytest.approx([-0.8, 0, 2.4], abs=1e-14)


def test_cartpole_is_the_textbooks():
    m = cartpole.build(angle=0.1)
    assert counts(m) == (2, 2, 0)
    assert (m.body("cart").mass, m.body("pole").mass) == (1.0, 0.1)
    slide = m.joint("slide")
    assert (slide.lower[0], slide.upper[0], slide.effort_limit[0]) == (-2.4, 2.4, 10.0)
    sim = Simulator(m, dt=0.0005)
    tip = point(sim, "pole", (0, 0, 0.5)) - sim.state.x[0, 0]
    assert tip == pytest.approx([np.sin(0.1), 0, np.cos(0.1)], abs=1e-14)
    # Barto, Sutton, Anderson: the accelerations under a force, here at rest, at the first step
    F, M, p, l, a = 10.0, 1.0, 0.1, 0.5, 0.1
    turn = (9.81 * np.sin(a) - np.cos(a) * F / (M + p)) / (l * (4 / 3 - p * np.cos(a) ** 2 / (M + p)))
    push = (F - p * l * turn * np.cos(a)) / (M + p)
    scenes.advance(sim, 1, effort=[[50.0, 0.0]])  # cut to the limit
    # a rod of radius r has r^2/4 more than l^2/3 (four parts in 10^4 of 4/3 l^2)
    assert sim.joint_velocities()[0] / 0.0005 == pytest.approx([push, turn], rel=1e-3)


def test_four_bar_closes_with_any_lengths():
    sizes = {"ground": 1.2, "crank": 0.4, "coupler": 1.1, "rocker": 0.9}
    for angle in (-2.0, 0.0, 0.7, 3.0):  # a Grashof crank goes all the way round: 0.4 + 1.2 <= 1.1 + 0.9
        m = four_bar.build(**sizes, angle=angle, height=2.0, density=2.0)
        sim = Simulator(m)
        assert sim.joint_error().max() < 1e-14
        assert sim.joint_positions()[0, 0] == pytest.approx(angle, abs=1e-14)
        b, c = point(sim, "crank", (0, 0, -0.2)), point(sim, "rocker", (0, 0, -0.45))
        assert np.linalg.norm(c - b) == pytest.approx(1.1, rel=1e-14)
        assert np.linalg.norm(c - [0.6, 0, 2.0]) == pytest.approx(0.9, rel=1e-14)
        assert np.linalg.norm(b - [-0.6, 0, 2.0]) == pytest.approx(0.4, rel=1e-14)
    assert counts(m) == (3, 4, 0)
    assert mass(m) == pytest.approx(2.0 * (0.4 + 1.1 + 0.9))
    scenes.advance(sim, 100)


def test_four_bar_refuses_bars_that_do_not_meet():
    with pytest.raises(MechanismError, match="do not close"):
        four_bar.build(ground=3.0)


@pytest.mark.parametrize("cells", [1, 4])
def test_scissor_lift_is_as_high_as_its_bars(cells):
    m = scissor_lift.build(cells=cells, length=0.8, angle=0.7, mass=2.0, platform_mass=3.0)
    assert counts(m) == (2 * cells + 1, 3 * cells + 2, 0)
    assert mass(m) == 4.0 * cells + 3.0
    sim = Simulator(m)
    assert sim.joint_error().max() < 1e-13
    top = cells * 0.8 * np.sin(0.7)
    assert point(sim, "platform", (-0.4, 0, -0.02)) == pytest.approx([0, 0, top], abs=1e-13)
    assert point(sim, f"a{cells - 1}", (0.4, 0, 0)) == pytest.approx([0.8 * np.cos(0.7), 0, top], abs=1e-13)
    assert point(sim, "b0", (-0.4, 0, 0)) == pytest.approx([0.8 * np.cos(0.7), 0, 0], abs=1e-13)


def test_scissor_lift_goes_up_when_its_foot_is_pulled_in():
    m = scissor_lift.build(cells=2)
    sim = Simulator(m, dt=0.005)
    target = np.zeros(len(sim.axis_names))
    target[sim.axis_names.index("slide.tx")] = 0.3
    scenes.advance(sim, 600, target=target)
    # at rest the weight, (m n^2 + M n) g / tan(angle) on the foot, gives the drive's spring (2e4 N/m) away again
    x = sim.joint_positions()[0, sim.axis_names.index("slide.tx")]
    angle = np.arccos(x)
    assert x - 0.3 == pytest.approx(9.81 * (4 + 5 * 2) / np.tan(angle) / 2e4, rel=1e-6)
    assert point(sim, "platform", (0, 0, -0.02))[2] == pytest.approx(2 * np.sin(angle), rel=1e-9)


@pytest.mark.parametrize("options", [{"cells": 0}, {"angle": 0.0}, {"angle": 1.5}])
def test_scissor_lift_refuses(options):
    with pytest.raises(MechanismError, match=next(iter(options))):
        scissor_lift.build(**options)


def test_cube_is_that_of_the_tosses():
    m = cube.build(inertia=cube.INERTIA)
    assert counts(m) == (1, 0, 8)
    assert mass(m) == 0.37
    assert m.body("cube").inertia.tolist() == (8.1e-4 * np.eye(3)).tolist()
    assert cube.build().body("cube").inertia == pytest.approx(np.eye(3) * 0.37 * 0.1048**2 / 6, rel=1e-14)
    points = np.array([contact.point for contact in m.contacts])
    assert len({tuple(row) for row in points}) == 8
    assert (np.abs(points) == 0.0524).all()
    assert Simulator(m).contact_gaps()[0, :4] == pytest.approx(0.0, abs=1e-15)
