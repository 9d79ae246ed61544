"""Impacts that bounce: Newton's law of restitution, in two steps, without ever passing the plane."""

import numpy as np
import pytest
from scenes import GRAVITY, advance, box

from vigym import InputError, Mechanism, MechanismError, Simulator, Sphere
from vigym.benchmarks.tosses.cube import Cube

RADIUS = 0.1


def ball(restitution: float, friction: float = 0.3, normal=(0, 0, 1), gravity: float = GRAVITY) -> Mechanism:
    m = Mechanism(gravity=(0, 0, -gravity))
    m.add_body("ball", mass=2.0, shapes=[Sphere(RADIUS)])
    m.add_contact("skin", "ball", radius=RADIUS, friction=friction, normal=normal, restitution=restitution)
    return m


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("normal", [(0, 0, 1), (0.6, 0.0, -0.8)])
def test_speed_after_an_impact_is_a_fraction_of_that_before(restitution, normal):
    # no gravity, no friction: v.n = -1.5 m/s before, +1.5 e m/s after; what is across stays as it is
    n = np.array(normal)
    v = -1.5 * n + 0.7 * np.cross(n, [0.0, 1.0, 0.0])
    sim = Simulator(ball(restitution, friction=0.0, normal=normal, gravity=0.0), dt=0.01, tolerance=1e-10)
    sim.set_state(x=[(RADIUS + 0.05) * n], v=[v])
    advance(sim, 10)
    # without weight, what does not bounce drifts off by the slack that the solver leaves, 1e-7 m a step
    np.testing.assert_allclose(sim.state.v[0, 0], v + 1.5 * (1 + restitution) * n, atol=2e-5)


def test_heights_of_bounces():
    # e^2, e^4, ... of the first height; impacts are at the ends of steps, up to h late, at up to 4.4 m/s
    def heights(h: float) -> list[float]:
        sim = Simulator(ball(0.7), dt=h)
        sim.set_state(x=[[0, 0, RADIUS + 1.0]])
        z = advance(sim, round(1.7 / h), lambda: sim.state.x[0, 0, 2] - RADIUS)
        top = (z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])
        return list(z[1:-1][top])

    expected = [0.7**2, 0.7**4]
    for h in (0.004, 0.001, 0.00025):
        np.testing.assert_allclose(heights(h)[:2], expected, rtol=0, atol=2 * 4.4 * h)


def test_friction_acts_in_both_parts_of_an_impact():
    # sliding throughout, the tangential impulse is cf times the normal one, m (1 + e) v_n
    cf, e, down, along = 0.2, 0.5, 2.0, 5.0
    sim = Simulator(ball(e, friction=cf, gravity=0.0), dt=0.005, tolerance=1e-10)
    sim.set_state(x=[[0, 0, RADIUS + 0.03]], v=[[along, 0, -down]])
    advance(sim, 20)
    v, w = sim.state.v[0, 0], sim.state.w[0, 0]
    np.testing.assert_allclose(v, [along - cf * (1 + e) * down, 0, e * down], atol=1e-6)
    # and it spins the ball by m cf (1 + e) v_n r / J, J = 2/5 m r^2, about y
    np.testing.assert_allclose(np.linalg.norm(w), cf * (1 + e) * down / (0.4 * RADIUS), rtol=0.02)


def test_it_comes_to_rest():
    sim = Simulator(ball(0.6), dt=0.01)
    sim.set_state(x=[[0, 0, RADIUS + 0.5]])
    advance(sim, 300)
    assert np.abs(sim.state.v).max() < 1e-8
    np.testing.assert_allclose(sim.contact_forces()[0, 0, 2], 2.0 * GRAVITY, rtol=1e-6)


def test_a_slow_touch_does_not_bounce():
    # what falls for less than two steps lies still
    sim = Simulator(ball(1.0), dt=0.01)
    sim.set_state(x=[[0, 0, RADIUS]], v=[[0, 0, -1.9 * 10.0 * 0.01]])
    advance(sim, 3)
    assert np.abs(sim.state.v).max() < 1e-8


def test_a_bouncing_box_never_gains_energy():
    m = Mechanism()
    plain = box()
    m.add_body("box", mass=1.0, inertia=plain.bodies[0].inertia)
    for contact in plain.contacts:
        m.add_contact(contact.name, "box", contact.point, friction=0.0, restitution=0.8)
    rng = np.random.default_rng(0)
    sim = Simulator(m, dt=0.002, num_envs=16, tolerance=1e-8)
    q = rng.normal(size=(16, 1, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    sim.set_state(x=np.tile([0, 0, 0.6], (16, 1, 1)), q=q, w=3.0 * rng.normal(size=(16, 1, 3)))
    energy = advance(sim, 500, sim.energy)
    assert (energy <= 1.001 * energy[0]).all()  # the integrator's own error; in the middle of an impact there is less
    assert (energy[-1] < 0.9 * energy[0]).all()
    assert (energy[-1] > 0.05 * energy[0]).any()


def test_a_cube_that_lands_on_a_face_while_it_slides():
    # its corners' forces are 1e17 times their gaps: only what is the same on both sides of the equations cancels
    sim = Simulator(Cube().mechanism(restitution=0.1), dt=1 / 1184, num_envs=16, cone="exact")
    q = [-0.67639061361, -0.21145002940, 0.67475098004, -0.20614494372]
    v = [-0.79525661191, -0.21840024013, -0.48859498653] + 1e-6 * np.random.default_rng(0).normal(size=(16, 1, 3))
    sim.set_state(x=[[0, 0, 0.05280986192]], q=[q], v=v, w=[[0.0978545569, 0.0011584377, 9.4367002335]])
    # two corners lie on the floor, two come down with 0.97 m/s and leave with a tenth of it; those that lay stay there
    coming = -np.sort(sim.contact_velocities()[..., 2])[:, :2]
    advance(sim, 1)
    assert (sim.contact_gaps() < 1e-9).sum() == 4 * 16
    advance(sim, 1)
    assert (sim.contact_gaps() < 1e-9).sum() == 2 * 16
    leaving = np.sort(np.where(sim.contact_gaps() < 0.01, sim.contact_velocities()[..., 2], 0.0))[:, -2:]
    np.testing.assert_allclose(leaving, 0.1 * coming, rtol=0.1)  # friction turns a little of it
    advance(sim, 60)  # every step converged


def test_an_impact_is_part_of_the_state():
    sim = Simulator(ball(0.7), dt=0.01)
    sim.set_state(x=[[0, 0, RADIUS + 0.02]], v=[[0, 0, -3.0]])
    advance(sim, 1)
    assert sim.state.v[0, 0, 2] < 0  # at the plane, the rebound is due
    saved = sim.save()
    advance(sim, 1)
    rising = sim.state.v[0, 0, 2]
    assert rising > 2.0
    other = Simulator(ball(0.7), dt=0.01)
    other.restore(saved)
    advance(other, 1)
    assert other.state.v[0, 0, 2] == rising
    other.restore(saved)
    other.set_state(v=[[0, 0, 0]])  # a new state has no past
    advance(other, 1)
    assert abs(other.state.v[0, 0, 2]) < 1e-8


def test_a_rebound_that_cannot_be_solved_is_given_up():
    sim = Simulator(ball(0.7), dt=0.01)
    sim.set_state(x=[[0, 0, RADIUS + 0.02]], v=[[0, 0, -3.0]])
    advance(sim, 1)
    before = sim.state
    limit, usual = sim._lanes.constants.max_iterations, sim._lanes.constants.max_iterations.copy()
    limit[...] = 1  # iterations: nothing is solved any more
    sim.step()
    assert not sim.status.converged.any()
    for name in "xqvw":
        np.testing.assert_array_equal(getattr(sim.state, name), getattr(before, name))
    limit[...] = usual
    advance(sim, 1)
    assert abs(sim.state.v[0, 0, 2]) < 1e-6


def test_uncompiled_kernels_bounce_alike():
    sims = [Simulator(ball(0.7), dt=0.01, compiled=compiled) for compiled in (True, False)]
    for sim in sims:
        sim.set_state(x=[[0, 0, RADIUS + 0.02]], v=[[1.0, 0, -3.0]])
        advance(sim, 4)
    np.testing.assert_allclose(sims[1].state.v, sims[0].state.v, atol=1e-9)


def test_each_environment_has_its_own():
    sim = Simulator(ball(0.5, friction=0.0, gravity=0.0), num_envs=3, tolerance=1e-10)
    sim.set_parameters(restitution=[[0.0], [0.25], [1.0]])
    sim.set_state(x=[[0, 0, RADIUS + 0.02]], v=[[0, 0, -2.0]])
    advance(sim, 5)
    np.testing.assert_allclose(sim.state.v[:, 0, 2], [0.0, 0.5, 2.0], atol=2e-5)


def test_bad_values():
    with pytest.raises(MechanismError, match="restitution must be at most 1"):
        ball(1.1)
    with pytest.raises(MechanismError, match="restitution"):
        ball(-0.1)
    sim = Simulator(ball(0.0))
    with pytest.raises(InputError, match="no contact of the mechanism has any"):
        sim.set_parameters(restitution=[0.5])
    sim = Simulator(ball(0.5))
    with pytest.raises(InputError, match="must be 0 to 1"):
        sim.set_parameters(restitution=[1.5])
