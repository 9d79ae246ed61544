"""Balls and capsules that touch each other and what is around them: impacts, rolling, statics, a snake in coils."""

import numpy as np
import pytest
from apart import follow

from vigym import Box, Mechanism, Plane, Simulator, Sphere
from vigym.benchmarks.touching.parts import GRAVITY, about, add
from vigym.benchmarks.touching.rounds import ball_in_box, billiard, coiled_snake, drum, groove, rollers, turntable
from vigym.engine.rotation import rotation_matrix


def two_balls(friction: float, beside: float) -> tuple[Mechanism, np.ndarray]:
    m = Mechanism(gravity=(0, 0, 0))
    add(m, "a", Sphere(0.1), (0, 0, 0), mass=1.0, friction=friction)
    add(m, "b", Sphere(0.05), (0.3, beside, 0), mass=0.3, friction=friction)
    return m, np.array([[1.0, 0, 0], [0, 0, 0]])


def test_a_central_impact_without_restitution():
    # both go on with the velocity of the centre of mass, 1/1.3; what was lost is mu v^2/2 with mu = 0.3/1.3
    m, v = two_balls(0.5, 0.0)
    sim = Simulator(m, dt=0.01)
    sim.set_state(v=v)
    before = sim.energy()
    follow(sim, 40)
    np.testing.assert_allclose(sim.state.v[0], [[1 / 1.3, 0, 0]] * 2, atol=1e-8)
    np.testing.assert_allclose(before - sim.energy(), 0.5 * 0.3 / 1.3, atol=1e-8)


def test_an_oblique_impact_without_friction():
    # along the line of centres both have one velocity after it, across it nothing changes; the line is that of the
    # pose before the impact, so that the error is of first order in the step
    beside, errors = 0.08, []
    n = np.array([np.sqrt(0.15**2 - beside**2), beside, 0]) / 0.15
    along = n[0] / 1.3
    expected = np.array([[1.0, 0, 0] + (along - n[0]) * n, along * n])
    for h in (0.004, 0.001, 0.00025):
        m, v = two_balls(0.0, beside)
        sim = Simulator(m, dt=h)
        sim.set_state(v=v)
        before = sim.momentum()
        follow(sim, round(0.3 / h))
        np.testing.assert_allclose(sim.momentum(), before, atol=1e-9)
        # after that they part by themselves: nothing pulls
        errors.append(np.abs(sim.state.v[0] - expected).max())
    assert errors[2] < 2e-3
    assert errors[1] < 0.6 * errors[0] + 1e-9
    assert errors[2] < 0.6 * errors[1] + 1e-9


def test_a_break_keeps_momentum():
    m = billiard()
    sim = Simulator(m, dt=0.002)
    v = np.zeros((len(m.bodies), 3))
    v[0] = (8.0, 0, 0)
    sim.set_state(v=v)
    before, energy = sim.momentum(), sim.energy()[0]
    energies = follow(sim, 100, lambda: sim.energy()[0], whole=False)
    np.testing.assert_allclose(sim.momentum(), before, rtol=0, atol=1e-9 * 0.17 * 8)
    assert (np.diff([energy, *energies]) < 1e-9 * energy).all()
    assert energies[-1] < 0.9 * energy


@pytest.mark.parametrize("rate", [1.0, -2.0])
def test_a_ball_on_a_turntable_moves_in_a_circle(rate):
    # rolling without slip on a plane that turns at W, a ball goes round at 2/7 W: with v = k x W' (r - c), v = 0 at
    # the start puts the centre of the circle where the ball is, so it is given the velocity of 2/7 W about the origin
    k, turns, errors = 2 / 7, 0.5, []
    for h in (0.01, 0.005):
        sim = Simulator(turntable(rate), dt=h)
        x = sim.state.x[0, 1]
        v = k * rate * np.cross([0, 0, 1], x)
        # no slip: v + w x (-r n) = W z x x
        surface = rate * np.cross([0, 0, 1], x)
        w = np.cross([0, 0, 1], v - surface) / 0.05
        sim.set_state(v=[[0, 0, 0], v], w=[[0, 0, rate], w])
        steps = round(turns * 2 * np.pi / abs(k * rate) / h)
        follow(sim, steps)
        angle = k * rate * steps * h
        expected = np.array([0.3 * np.cos(angle), 0.3 * np.sin(angle), 0.05])
        errors.append(np.abs(sim.state.x[0, 1] - expected).max())
    assert errors[1] < 0.01
    assert errors[1] < 0.6 * errors[0]  # first order


def test_a_ball_rolls_in_a_turning_drum_of_planes():
    # a prism of 48 planes around a cylinder of radius R: at the bottom the ball stays, and turns at W R/r. Walls are R
    # to R/cos(pi/48) = 1.002 R from the axis. It sticks to the plane that carries it, v + w x (-r n) = W x p, but for
    # what velocities change by in a step
    W, R, r, slips = 1.0, 0.3, 0.05, []
    for h in (0.005, 0.0025):
        sim = Simulator(drum(W, radius=R, ball=r), dt=h)
        sim.set_state(w=[[0, W, 0], [0, W * R / r, 0]])

        def look(sim: Simulator = sim) -> tuple[float, float]:
            (_, x), (_, v), (_, w) = (part[0] for part in (sim.state.x, sim.state.v, sim.state.w))
            found = sim.contacts()
            n = -found.normal[np.linalg.norm(found.force, axis=-1).argmax()]  # of the plane, which was added first
            w = rotation_matrix(sim.state.q[0, 1]) @ w
            return w[1], float(np.linalg.norm(v - r * np.cross(w, n) - np.cross([0, W, 0], x - r * n)))

        spin, slip = follow(sim, round(4 / h), look)[round(2 / h) :].T
        assert spin.mean() == pytest.approx(W * R / r, rel=0.01)
        slips.append(slip.mean())
    assert slips[1] < 0.6 * slips[0] < 0.6 * 0.005 * W * R


def test_a_ball_between_rollers_turns_with_them():
    # rims move together: w r = W R, the other way round
    sim = Simulator(rollers(5.0), dt=0.005)
    follow(sim, 400)
    # to second order in the turn of a step: sin(h W)/(h W) is what the surface moves by
    expected = np.array([0, -5.0 * 0.1 / 0.07, 0])
    np.testing.assert_allclose(sim.state.w[0, 2], expected, atol=abs(expected[1]) * (0.005 * expected[1]) ** 2)
    np.testing.assert_allclose(sim.state.v[0, 2], 0, atol=1e-9)


@pytest.mark.parametrize(("left", "right"), [(0.5, 0.5), (0.3, 1.0)])
def test_a_ball_in_a_groove(left, right):
    sim = Simulator(groove(left, right), dt=0.01)
    follow(sim, 50)
    forces = np.linalg.norm(sim.contacts().force, axis=-1)
    expected = GRAVITY * np.sin([right, left]) / np.sin(left + right)
    np.testing.assert_allclose(forces, expected, rtol=1e-8)


@pytest.mark.parametrize(("left", "right"), [(45, 45), (30, 60)])
def test_a_wedge_between_two_planes(left, right):
    # faces that meet at a right angle, a box flush with both; without friction
    m = Mechanism()
    left, right = np.radians([left, right])
    for name, angle, side in (("left", left, -1.0), ("right", right, 1.0)):
        m.add_collider(name, "world", Plane(orientation=tuple(about((0, 1, 0), -side * angle))), friction=0.0)
    place = 0.1 * (np.array([np.sin(left), 0, np.cos(left)]) + np.array([-np.sin(right), 0, np.cos(right)]))
    add(m, "box", Box((0.2, 0.3, 0.2)), place, about((0, 1, 0), left), friction=0.0)
    sim = Simulator(m, dt=0.01)
    follow(sim, 50)
    found = sim.contacts()
    forces = [np.linalg.norm(found.force[(found.collider == k).any(-1)].sum(0)) for k in (0, 1)]
    np.testing.assert_allclose(forces, GRAVITY * np.sin([right, left]) / np.sin(left + right), rtol=1e-7)


@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (3.0, -4.0, -9.0), (-1.0, 2.0, 5.0)])
def test_a_ball_in_a_closed_box(gravity):
    # it touches all six walls; what two opposite ones carry together is its weight along their normal
    sim = Simulator(ball_in_box(gravity), dt=0.01)
    follow(sim, 50)
    np.testing.assert_allclose(sim.contacts().force.sum(0), -np.array(gravity), atol=1e-7)
    np.testing.assert_allclose(sim.state.x[0, 0], [0, 0, 0.1], atol=1e-9)


@pytest.mark.parametrize("steps", [40, pytest.param(300, marks=pytest.mark.slow)])
def test_a_coiled_snake(steps):
    sim = Simulator(coiled_snake(), dt=0.01)
    follow(sim, steps, whole=False)
    assert sim.joint_error().max() < 1e-9
    if steps > 200:  # it has come down, all of its weight is on the ground
        found = sim.contacts()
        ground = (found.collider == 0).any(-1)
        np.testing.assert_allclose(np.abs(found.force[ground].sum(0)), [0, 0, 100 * 0.1 * GRAVITY], atol=1e-3)
