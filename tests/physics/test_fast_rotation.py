"""Bodies that turn far in a step: w is the rate at which they turn and J w their momentum, whatever the step."""

import numpy as np
import pytest
from scenes import advance, matrix, orders
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from vigym import Mechanism, Simulator
from vigym.engine.kernels.integrator import MOST_TURN

J = np.array([0.1, 0.2, 0.25])
TURNS = (0.01, 0.1, 0.5, 1.0, 1.4, 1.5, 2.0, 2.9, 3.1, 4.0)  # w h, rad; steps are cut beyond MOST_TURN = 1.45


def free_body(inertia=J, mass=1.0) -> Mechanism:
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("body", mass=mass, inertia=inertia)
    return m


# -------------------- a principal axis


@pytest.mark.parametrize("h", [0.01, 0.005, 0.002])
def test_a_driven_wheel_has_the_momentum_and_energy_that_it_was_given(h):
    # 1 N m on 0.01 kg m^2 for 1 s: w = 100 rad/s and J w^2 / 2 = 50 J, after 50 rad. J (w1 - w0) = h tau holds in every
    # step, so the rate is exact, to `tolerance` in each; the angle is a sum instead of an integral, h w / 2 more.
    inertia, effort, time = 0.01, 1.0, 1.0
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("wheel", mass=1.0, inertia=(0.02, 0.02, inertia))
    m.add_joint("hinge", "revolute", "world", "wheel", axis=(0, 0, 1))
    sim = Simulator(m, dt=h)
    advance(sim, round(time / h), effort=[[effort]])
    rate = effort * time / inertia
    room = time * sim.tolerance / inertia
    np.testing.assert_allclose(sim.state.w[0, 0], [0, 0, rate], rtol=0, atol=room)
    np.testing.assert_allclose(sim.joint_velocities()[0], rate, rtol=0, atol=room)
    np.testing.assert_allclose(sim.energy()[0], 0.5 * inertia * rate**2, rtol=1e-7)
    np.testing.assert_allclose(sim.momentum()[0, 3:], [0, 0, inertia * rate], rtol=0, atol=time * sim.tolerance)
    np.testing.assert_allclose(sim.joint_positions()[0], 0.5 * rate * (time + h), rtol=1e-7)


def spin_steps(turn: float, axis: int, size: float = 1.0, mass: float = 1.0, steps: int = 20, h: float = 0.01) -> None:
    """A free body of this size and mass that turns by `turn` in a step about a principal axis: rate, w, L and E."""
    inertia = mass * size**2 * J
    sim = Simulator(free_body(inertia, mass), dt=h, tolerance=1e-8 * max(1.0, mass * size**2))
    w = np.zeros(3)
    w[axis] = turn / h
    sim.set_state(w=[[w]])
    energy, momentum = 0.5 * inertia[axis] * w[axis] ** 2, inertia * w
    for k in range(1, steps + 1):
        sim.step()
        assert sim.status.converged[0]
        assert (sim.status.substeps[0] > 1) == (turn > MOST_TURN)
        np.testing.assert_allclose(sim.state.w[0, 0], w, rtol=0, atol=1e-9 * w[axis])
        np.testing.assert_allclose(sim.energy()[0], energy, rtol=2e-9)
        np.testing.assert_allclose(sim.momentum()[0, 3:], momentum, rtol=0, atol=1e-9 * momentum[axis])
        missed = Rotation.from_rotvec(-k * turn * np.eye(3)[axis]) * Rotation.from_matrix(matrix(sim.state.q[0, 0]))
        assert missed.magnitude() < 1e-9 * k * turn  # it has turned by h w in every step


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("turn", TURNS)
def test_a_free_body_turns_at_its_rate(turn, axis):
    # w is constant about a principal axis, and a step turns by h w: exact, also where steps are cut
    spin_steps(turn, axis)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("turn", [0.01, 1.0, 1.5, 4.0])
def test_rates_do_not_depend_on_size_and_mass(turn, mass, size):
    spin_steps(turn, 0, size, mass)


# -------------------- tumbling


def tumbling(h: float, w, time: float) -> tuple[Simulator, np.ndarray]:
    """A free body after some time, and its angular momentum in space after every step (steps, 3)."""
    sim = Simulator(free_body(), dt=h, tolerance=1e-10)
    sim.set_state(w=[[w]])
    start = sim.momentum()[0, 3:]
    seen = advance(sim, round(time / h), lambda: sim.momentum()[0, 3:])
    return sim, np.concatenate([start[None], seen])


@pytest.mark.parametrize("fastest", [0.9, 1.4, 2.5, 5.0])
def test_a_tumbling_body_keeps_its_angular_momentum(fastest):
    # h T J w, with the length h of the last part of a step, is what every part hands on to the next, cut or not: kept
    # to the residual at which Newton stops, 1e-10 N m for h.
    h, time = 0.01, 5.0
    direction = np.array([0.3, 1.0, -0.2])
    sim, seen = tumbling(h, fastest / h * direction / np.linalg.norm(direction), time)
    assert (sim.status.substeps[0] > 1) == (fastest > 1.0)  # |w| rises and falls by half and more
    np.testing.assert_allclose(seen, np.broadcast_to(seen[0], seen.shape), rtol=0, atol=time * 1e-10)
    assert np.linalg.norm(seen[0]) > 10.0


def exact_pose(L: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Orientation (matrix) and w of a free body after some time, from the identity; R' = R [w]x, J w = R^T L."""

    def rates(_, y):
        R = y.reshape(3, 3)
        w = R.T @ L / J
        return (R @ np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])).ravel()

    R = solve_ivp(rates, (0, time), np.eye(3).ravel(), "DOP853", rtol=1e-12, atol=1e-12).y[:, -1].reshape(3, 3)
    return R, R.T @ L / J


def test_a_flipping_body_follows_eulers_equations_at_second_order():
    # Dzhanibekov: spin about the middle axis turns over again and again. The momentum with which the discrete motion
    # starts is that of the exact one. Poses are then of second order; w, the mean over a step, is that in its middle.
    w, time = np.array([0.0, 20.0, 0.5]), 2.0
    errors = []
    for h in (0.02, 0.01, 0.005, 0.0025):
        sim, momenta = tumbling(h, w, time)
        R, _ = exact_pose(momenta[0], time)
        middle = exact_pose(momenta[0], time - h / 2)[1]
        errors.append([np.abs(matrix(sim.state.q[0, 0]) - R).max(), np.abs(sim.state.w[0, 0] - middle).max() / 20.0])
    np.testing.assert_allclose(orders(errors), 2.0, atol=0.1)
    assert np.max(errors[-1]) < (20.0 * 0.0025) ** 2


def test_the_time_between_flips_converges_at_second_order():
    # against the exact motion with the same momentum: times at which w about the middle axis changes its sign
    w, time = np.array([0.0, 20.0, 0.5]), 3.0
    errors = []
    for h in (0.02, 0.01, 0.005):
        sim = Simulator(free_body(), dt=h, tolerance=1e-10)
        sim.set_state(w=[[w]])
        L = sim.momentum()[0, 3:]
        along = advance(sim, round(time / h), lambda sim=sim: sim.state.w[0, 0, 1])
        k = np.flatnonzero(along[:-1] * along[1:] < 0)
        period = np.diff(h * (k + along[k] / (along[k] - along[k + 1])))
        spin = solve_ivp(
            lambda _, w: np.cross(J * w, w) / J, (0, time), L / J, rtol=1e-12, atol=1e-12, events=lambda _, w: w[1]
        )
        exact = np.diff(spin.t_events[0])
        errors.append(np.abs(period[:3] / exact[:3] - 1).max())
    np.testing.assert_allclose(orders(errors), 2.0, atol=0.1)
    assert errors[-1] < (20.0 * 0.005) ** 2
