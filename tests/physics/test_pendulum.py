"""Pendulums: period, trajectory and energy against closed forms and against minimal coordinates."""

import numpy as np
from scenes import GRAVITY, advance, orders, rod_inertia
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from vigym import Simulator
from vigym.assets import double_pendulum, pendulum

AMPLITUDES = np.array([0.1, 1.0, 2.0, 3.0])  # rad


def test_period():
    # T = 4 sqrt(I / (m g l)) K(sin^2(a/2)) with the amplitude a, I about the hinge, l from there to the centre of mass.
    # Released from rest, the half step by which velocities lag behind poses only shifts time; poses follow a leapfrog
    # scheme, of second order.
    across, _ = rod_inertia(1.0, 1.0)
    exact = 4 * np.sqrt((across + 0.25) / (GRAVITY * 0.5)) * ellipk(np.sin(AMPLITUDES / 2) ** 2)
    errors = []
    for h in (0.02, 0.01, 0.005):
        sim = Simulator(pendulum.build(height=0.0), dt=h, num_envs=len(AMPLITUDES))
        sim.set_joint_state(AMPLITUDES[:, None])
        angle = advance(sim, round(12.0 / h), lambda sim=sim: sim.joint_positions()[:, 0]).T
        periods = []
        for a in angle:
            k = np.flatnonzero(a[:-1] * a[1:] < 0)
            crossings = h * (k + a[k] / (a[k] - a[k + 1]))  # a'' = 0 there, so the line is exact to h^3
            periods.append(2 * (crossings[-1] - crossings[0]) / (len(k) - 1))
        errors.append(np.abs(periods / exact - 1))
    # The fastest rate: sqrt(m g l / I) = 3.8 rad/s, in rotation up to 2 sin(a/2) times that: (7.6 h)^2 / 12 and less.
    assert np.max(errors[-1]) < (7.6 * 0.005) ** 2
    np.testing.assert_allclose(orders(errors), 2.0, atol=0.3)


def double_pendulum_exact(start: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Coordinates (2, len(times)) by Lagrange's equations in the absolute angles a, b, to 1e-11.

    (I + m l^2/4 + m l^2) a'' + m l^2/2 cos(a-b) b'' + m l^2/2 sin(a-b) b'^2 + 3/2 m l g sin a = 0
    (I + m l^2/4) b'' + m l^2/2 cos(a-b) a'' - m l^2/2 sin(a-b) a'^2 + 1/2 m l g sin b = 0
    """
    I, _ = rod_inertia(1.0, 1.0)

    def rates(_, y):
        a, b, da, db = y
        c, s = 0.5 * np.cos(a - b), 0.5 * np.sin(a - b)
        mass = [[I + 1.25, c], [c, I + 0.25]]
        push = [-s * db**2 - 1.5 * GRAVITY * np.sin(a), s * da**2 - 0.5 * GRAVITY * np.sin(b)]
        return [da, db, *np.linalg.solve(mass, push)]

    first, second, rate1, rate2 = start
    y0 = [first, first + second, rate1, rate1 + rate2]
    solution = solve_ivp(rates, (0, times[-1]), y0, "DOP853", t_eval=times, rtol=1e-12, atol=1e-12)
    return np.array([solution.y[0], solution.y[1] - solution.y[0]])


def test_double_pendulum_follows_its_equations_at_first_order():
    # Coordinates and their rates at the start; two from rest, two moving. Errors at the same times, over 1 s.
    starts = np.array([[0.5, 0.3, 0.0, 0.0], [1.6, -0.8, 0.0, 0.0], [0.2, 0.4, 3.0, -2.0], [-0.7, 1.9, 2.0, 4.0]])
    times = np.linspace(0.0, 1.0, 26)[1:]
    exact = np.array([double_pendulum_exact(start, times).T for start in starts])
    errors = []
    for h in (0.01, 0.005, 0.0025, 0.00125):
        sim = Simulator(double_pendulum.build(height=0.0), dt=h, num_envs=4)
        sim.set_joint_state(starts[:, :2], starts[:, 2:])
        every = round(times[0] / h)
        angles = advance(sim, len(times) * every, sim.joint_positions)[every - 1 :: every]
        errors.append(np.abs(angles.transpose(1, 0, 2) - exact).max((1, 2)))
    # At first order, err = c h + d h^2: the ratios tend to 2, and the last ones are within 5 % of it.
    assert np.max(errors[-1]) < 0.03
    np.testing.assert_allclose(np.array(errors[:-1]) / np.array(errors[1:]), 2.0, rtol=0.2)
    np.testing.assert_allclose(errors[-2] / errors[-1], 2.0, rtol=0.05)


def energy_errors(h: float, time: float) -> np.ndarray:
    """Energy of four double pendulums, every 10 steps (n, 4), J; two of the motions are regular, two chaotic."""
    sim = Simulator(double_pendulum.build(height=0.0), dt=h, num_envs=4)
    sim.set_joint_state([[0.3, 0.2], [0.8, -0.5], [1.8, 0.4], [2.5, 1.0]])
    start = sim.energy()
    return advance(sim, round(time / h), lambda: sim.energy() - start, every=10)


def test_energy_has_no_trend():
    # A symplectic scheme keeps a nearby energy: the error of E, heights being taken in the middle of a step, swings
    # within O(h^2) and stays there for ever. A drift of 1e-6 of the swing a step would set the first and last tenth
    # apart. Regular motions swing alike in every tenth; how far chaotic ones do is chance, and has a bound.
    h = 0.01
    errors = energy_errors(h, 1000.0).reshape(10, -1, 4)
    swing = np.ptp(errors[0], axis=0)
    assert (np.abs(errors[-1].mean(0) - errors[0].mean(0)) < 0.03 * swing).all()
    assert (np.ptp(errors, axis=1)[:, :2] < 1.1 * swing[:2]).all()
    np.testing.assert_allclose(orders([swing, np.ptp(energy_errors(h / 2, 100.0), axis=0)])[:, :2], 2.0, atol=0.1)
    # E (w h)^2, with the energy 4 m g l that two rods of 1 m can lose, and the spin w that it gives to one, m l^2 / 12
    assert np.abs(errors).max() < 4 * GRAVITY * h**2 * 96 * GRAVITY
