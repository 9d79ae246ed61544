"""Forces and energy that belong to the step: impulses of steps made in parts, and energies of its middle."""

import numpy as np
import pytest
from scenes import advance

from vigym import Mechanism, Simulator

DT = 0.01


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
@pytest.mark.parametrize("mass", [1e-3, 0.5, 1e2])
def test_forces_of_steps_that_are_made_in_parts(mass, cone):
    """dt times the forces is the change of momentum less that of gravity, where a fast spin cuts steps; each of up to
    16 parts is solved to 1e-8 N."""
    m = Mechanism()
    m.add_body("egg", mass=mass, inertia=mass * np.array([0.002, 0.0024, 0.0018]))
    for k, point in enumerate([(0.04, 0, 0), (-0.04, 0, 0), (0, 0, 0.05), (0, 0, -0.05)]):
        m.add_contact(f"c{k}", "egg", point, radius=0.03, friction=0.6)
    sim = Simulator(m, dt=DT, num_envs=3, cone=cone)
    sim.set_state(x=[[0, 0, 0.09]], w=[[250.0, 40.0, 300.0]], v=np.array([[[0.5, 0, -1]], [[1, 1, 0]], [[0, 0, -2]]]))
    parts = 0
    for _ in range(40):
        before = sim.momentum()[:, :3]
        sim.step()
        good = sim.status.converged
        change = sim.momentum()[:, :3] - before - DT * mass * m.gravity
        np.testing.assert_allclose(DT * sim.contact_forces().sum(1)[good], change[good], rtol=1e-12, atol=DT * 1e-8)
        parts += (sim.status.substeps > 1).sum()
    assert parts > 10


def test_forces_of_a_call_are_those_of_its_last_step():
    m = Mechanism()
    m.add_body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    m.add_contact("sole", "ball", radius=0.1)
    sim = Simulator(m, dt=DT)
    sim.set_state(x=[[0, 0, 0.1]])
    sim.step(repeat=7)
    np.testing.assert_allclose(sim.contact_forces()[0, 0], [0, 0, 2.0 * 9.81], atol=1e-7)


@pytest.mark.parametrize("dt", [0.05, 0.01, 1e-3])
def test_free_fall_keeps_its_energy(dt):
    m = Mechanism()
    m.add_body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    sim = Simulator(m, dt=dt)
    sim.set_state(x=[[0, 0, 3.0]], v=[[3.0, 0, 5.0]], w=[[0, 0, 7.0]])
    energies = advance(sim, 200, sim.energy)[:, 0]
    np.testing.assert_allclose(energies, energies[0], rtol=1e-10)
    # m v^2 / 2 + J w^2 / 2 + m g z of an instant half a step before the start
    assert energies[0] == pytest.approx(2.0 * 34 / 2 + 0.1 * 49 / 2 + 2.0 * 9.81 * (3.0 - dt * 5.0 / 2), rel=1e-12)
