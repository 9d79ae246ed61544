"""Chains: joints stay closed, and what acts between bodies changes no momentum."""

import numpy as np
import pytest
from scenes import KINDS, OPEN, advance, chain

from vigym import Simulator

LINKS = 10


def falling_chain() -> Simulator:
    """Ten links with hinges about y and z in turn, fixed to the world at one end, released horizontally.

    All the height they lose, 150 J, is enough to whip the last link to 100 rad/s: half a radian a step.
    """
    sim = Simulator(chain(LINKS, "revolute"), dt=0.005, num_envs=2)
    start = np.zeros((2, LINKS))
    start[1, 1] = 0.3  # not in one plane
    sim.set_joint_state(start)
    return sim


def test_joints_stay_closed():
    # Positions are constrained, not velocities: the error of a step is what its solve leaves, and none is left over.
    sim = falling_chain()
    errors = advance(sim, 20_000, sim.joint_error, every=200)
    assert errors.max() < OPEN
    assert np.abs(sim.joint_positions()).max() > 1.0  # and it did swing


@pytest.mark.slow
def test_joints_stay_closed_for_a_million_steps():
    sim = falling_chain()
    for _ in range(10_000):
        sim.step(repeat=100)
        assert sim.status.converged.all()
        assert sim.joint_error().max() < OPEN
    assert np.abs(sim.joint_positions()).max() > 1.0


def conserves_momentum(m, seed: int) -> None:
    """Free flight with random efforts that change every step: nothing but what the solver leaves of each body's force
    and torque adds up, tolerance times h a step and body; torques about the origin see the forces at a distance."""
    h, steps, tolerance = 0.01, 400, 1e-8
    sim = Simulator(m, dt=h, num_envs=4, tolerance=tolerance)
    n, axes, rng = len(m.bodies), len(sim.axis_names), np.random.default_rng(seed)
    # the whole chain moves and spins as one rigid body, w about its middle
    x = sim.state.x
    v, w = rng.normal(size=(4, 1, 3)), 2.0 * rng.normal(size=(4, 1, 3))
    sim.set_state(v=v + np.cross(w, x - x.mean(1, keepdims=True)), w=w + np.zeros((4, n, 3)))
    start, shape = sim.momentum(), sim.joint_positions()
    seen = advance(sim, steps, sim.momentum, effort=lambda k: 0.3 * rng.normal(size=(4, axes)))
    arm = np.abs(sim.state.x).max()
    drift = np.abs(seen - start).max((0, 1))
    assert drift[:3].max() < steps * h * n * tolerance
    assert drift[3:].max() < steps * h * n * tolerance * (1 + 2 * arm)
    assert np.linalg.norm(start, axis=-1).min() > 1.0
    if axes:
        assert (np.abs(sim.joint_positions() - shape).max(0) > 0.01).all()  # every axis moved


def law(kind: str, n_free: int) -> dict:
    """Springs, dampers, drives and limits: all of them act between two bodies."""
    if n_free == 0:
        return {}
    return {
        "stiffness": 5.0,
        "damping": 0.02,
        "kp": 2.0,
        "kd": 0.01,
        "target": 0.2,
        "effort_limit": 0.5,
        "lower": -0.25,
        "upper": 0.25,
    }


def test_a_free_chain_with_every_kind_of_joint_keeps_its_momentum():
    conserves_momentum(chain(len(KINDS), KINDS, free=True, gravity=0.0), seed=1)


def test_springs_drives_and_limits_keep_momentum():
    conserves_momentum(chain(len(KINDS), KINDS, free=True, gravity=0.0, options=law), seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("options", [None, law], ids=["efforts", "laws"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_free_chain_keeps_its_momentum(kind, options):
    conserves_momentum(chain(4, kind, free=True, gravity=0.0, options=options), seed=3)
