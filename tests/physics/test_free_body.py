"""A rigid body without forces: conserved momentum, the flip about the middle axis, the precession of a top."""

import numpy as np
import pytest
from scenes import advance, angular_momentum, matrix, orders
from scipy.special import ellipk

from vigym import Mechanism, Simulator

J = np.array([0.1, 0.2, 0.25])
SKEW = np.array([[0.12, 0.02, -0.03], [0.02, 0.2, 0.01], [-0.03, 0.01, 0.23]])


def free_body(inertia=J) -> Mechanism:
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("body", mass=1.0, inertia=inertia)
    return m


def spinning(w, h, inertia=J, tolerance=1e-8) -> Simulator:
    """One environment for each of the angular velocities w (num_envs, 3)."""
    sim = Simulator(free_body(inertia), dt=h, num_envs=len(w), tolerance=tolerance)
    sim.set_state(w=np.asarray(w)[:, None])
    return sim


def spins(fastest: float) -> np.ndarray:
    """Eight directions, |w| from a fifth of the fastest up."""
    w = np.random.default_rng(1).normal(size=(8, 3))
    return w * np.linspace(0.2, 1.0, 8)[:, None] * fastest / np.linalg.norm(w, axis=-1, keepdims=True)


def test_angular_momentum_is_constant_to_round_off():
    # |w| h up to 1: the discrete law is exact, whatever the speed, so what is left is round-off, 1e-16 a step (and the
    # residual at which Newton stops, here about ten units in the last place of L / h).
    sim = spinning(spins(100.0), h=0.01, inertia=SKEW, tolerance=1e-12)
    start = angular_momentum(sim, SKEW)
    worst = advance(sim, 10_000, lambda: np.linalg.norm(angular_momentum(sim, SKEW) - start, axis=-1)).max(0)
    # 100 units in the last place of the momentum count as rounding in every step
    assert (worst / np.linalg.norm(start, axis=-1)).max() < 2e-11
    np.testing.assert_allclose(sim.momentum()[:, 3:], angular_momentum(sim, SKEW), rtol=0, atol=1e-13)


def test_angular_momentum_drifts_by_no_more_than_the_solver_leaves():
    # Every step is solved to `tolerance` in each component of the torque, which acts for h.
    h, steps = 0.01, 2000
    sim = spinning(spins(100.0), h, SKEW)
    start = angular_momentum(sim, SKEW)
    advance(sim, steps)
    assert np.abs(angular_momentum(sim, SKEW) - start).max() < steps * h * sim.tolerance


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_only_a_spin_about_the_middle_axis_flips(axis):
    # Euler's equations: a perturbation of spin about axis 1 grows like exp(w t sqrt((J1-J0)(J2-J1)/(J0 J2))), so it
    # turns over again and again; about the others it stays of its size, 0.01.
    w = np.full((1, 3), 0.05)
    w[0, axis] = 5.0
    sim = spinning(w, h=0.01)
    along = advance(sim, 4000, lambda: sim.state.w[0, 0, axis])
    flips = np.count_nonzero(np.diff(np.sign(along)))
    if axis == 1:
        assert flips >= 5  # one every 5 s
    else:
        assert flips == 0
        assert along.min() > 0.99 * 5.0


def test_time_between_flips():
    # Landau & Lifshitz, Mechanics, section 37, for J0 < J1 < J2 and L^2 > 2 E J1: w1 is a multiple of sn, with period
    #   T = 4 K(k^2) sqrt(J0 J1 J2 / ((J2 - J1)(L^2 - 2 E J0))),
    #   k^2 = (J1 - J0)(2 E J2 - L^2) / ((J2 - J1)(L^2 - 2 E J0))
    # Invariants of the discrete flow are second-order perturbations of E and L, hence so is the period.
    w = np.array([0.0, 5.0, 0.3])
    L2, E2 = (J**2 * w**2).sum(), (J * w**2).sum()
    k2 = (J[1] - J[0]) * (E2 * J[2] - L2) / ((J[2] - J[1]) * (L2 - E2 * J[0]))
    half_period = 2 * ellipk(k2) * np.sqrt(J.prod() / ((J[2] - J[1]) * (L2 - E2 * J[0])))
    errors = []
    for h in (0.02, 0.01, 0.005):
        sim = spinning(w[None], h)
        along = advance(sim, round(16.0 / h), lambda sim=sim: sim.state.w[0, 0, 1])
        k = np.flatnonzero(along[:-1] * along[1:] < 0)
        crossings = h * (k + along[k] / (along[k] - along[k + 1]))
        errors.append(abs((crossings[-1] - crossings[0]) / (len(k) - 1) / half_period - 1))
    assert errors[-1] < 0.001  # (w h)^2 = 0.0006
    assert (orders(errors) > 1.7).all()


@pytest.mark.parametrize("J3", [0.06, 0.18], ids=["prolate", "oblate"])
def test_precession_of_a_symmetric_top(J3):
    # Torque-free, J1 = J2: w turns about the symmetry axis, seen from the body, at Omega = (J3 - J1)/J1 w3, and the
    # symmetry axis turns about L, seen from the world, at |L| / J1. Second order in h.
    J1 = 0.1
    inertia = np.array([J1, J1, J3])
    w = np.array([1.0, 0.0, 4.0])
    L = np.linalg.norm(inertia * w)
    Omega = (J3 - J1) / J1 * w[2]
    errors = []
    for h in (0.04, 0.02, 0.01):
        sim = spinning(w[None], h, inertia)
        direction = angular_momentum(sim, np.diag(inertia))[0]
        direction /= np.linalg.norm(direction)
        across = np.cross(direction, [1.0, 0.0, 0.0])
        across /= np.linalg.norm(across)
        other = np.cross(direction, across)

        def angles(sim=sim, across=across, other=other):
            w, axis = sim.state.w[0, 0], matrix(sim.state.q[0, 0])[:, 2]
            return np.arctan2(w[1], w[0]), np.arctan2(axis @ other, axis @ across)

        steps = round(10.0 / h)
        seen = np.unwrap(advance(sim, steps, angles), axis=0)
        body, world = (seen[-1] - seen[0]) / ((steps - 1) * h)
        errors.append([abs(body / Omega - 1), abs(world / (L / J1) - 1)])
    assert np.max(errors[-1]) < (np.linalg.norm(w) * 0.01) ** 2
    assert (orders(errors) > 1.5).all()  # 2, or more where the leading terms nearly cancel
