"""Contacts with compliance: springs and dampers that only push, and Coulomb's friction with what they push."""

import numpy as np
import pytest
from scenes import GAP, GRAVITY, box, orders
from scipy.integrate import solve_ivp

from vigym import Box, InputError, Mechanism, MechanismError, Simulator, Sphere, StateError

MASS, RADIUS = 2.0, 0.1


def ball(compliance: float, damping: float = 0.0, friction: float = 0.3, core: float = 0.0) -> Mechanism:
    """A soft ball; core: radius of a hard one inside."""
    m = Mechanism()
    m.add_body("ball", mass=MASS, shapes=[Sphere(RADIUS)])
    m.add_contact("skin", "ball", radius=RADIUS, friction=friction, compliance=compliance, damping=damping)
    if core:
        m.add_contact("core", "ball", radius=core, friction=friction)
    return m


def soft_box(compliance: float, damping: float = 0.0, friction: float = 0.3) -> Mechanism:
    m = Mechanism()
    m.add_body("box", mass=1.0, shapes=[Box((0.2, 0.3, 0.1))])
    for k, signs in enumerate(np.ndindex(2, 2, 2)):
        corner = (np.array(signs) - 0.5) * (0.2, 0.3, 0.1)
        m.add_contact(f"corner {k}", "box", corner, friction=friction, compliance=compliance, damping=damping)
    return m


def walk(sim: Simulator, steps: int, read) -> np.ndarray:
    """As `advance`, but gaps may be negative."""
    seen = []
    for _ in range(steps):
        sim.step()
        assert sim.status.converged.all()
        seen.append(np.array(read()))
    return np.array(seen)


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
@pytest.mark.parametrize("damping", [0.0, 50.0])
def test_what_lies_sinks_by_its_weight(cone, damping):
    compliance = np.array([1e-5, 1e-4, 1e-3])
    sim = Simulator(ball(1e-4, damping), 0.005, num_envs=3, cone=cone)
    sim.set_parameters(compliance=compliance[:, None])
    sim.set_state(x=[[0, 0, RADIUS]])
    if not damping:  # the method damps springs a little, and none of them for ever
        sim.set_parameters(contact_damping=[30.0])
    walk(sim, 1500, lambda: 0)
    np.testing.assert_allclose(sim.contact_gaps()[:, 0], -MASS * GRAVITY * compliance, rtol=1e-3)
    np.testing.assert_allclose(sim.contact_forces()[:, 0], np.tile([0, 0, MASS * GRAVITY], (3, 1)), atol=1e-2)


@pytest.mark.parametrize("damping", [0.0, 20.0, 100.0])
def test_a_bounce_is_that_of_a_spring_and_a_damper(damping):
    compliance, drop, seconds = 1e-4, 0.02, 0.15

    def rate(_, y):
        push = max(0.0, -y[0] / compliance - damping * y[1]) if y[0] < 0 else 0.0
        return [y[1], push / MASS - GRAVITY]

    exact = solve_ivp(rate, (0, seconds), [drop, 0.0], rtol=1e-9, atol=1e-12, max_step=1e-4).y[:, -1]
    errors = []
    for h in (4e-4, 2e-4, 1e-4):
        sim = Simulator(ball(compliance, damping, friction=0.0), dt=h)
        sim.set_state(x=[[0, 0, RADIUS + drop]])
        walk(sim, round(seconds / h), lambda: 0)
        x, _, v, _ = sim.state
        errors.append(np.abs([x[0, 0, 2] - RADIUS, v[0, 0, 2]] - exact))
    assert exact[1] > 0 or damping > 50.0  # on its way up
    assert (np.array(errors)[-1] < [5e-4, 2e-2]).all()
    assert (orders(np.array(errors).max(1)) > 0.7).all()  # of first order


@pytest.mark.parametrize("cone", ["pyramid", "exact"])
def test_energy_never_grows(cone):
    # with what the springs hold, and whatever the corners do
    rng = np.random.default_rng(0)
    sim = Simulator(soft_box(5e-5, 5.0), dt=0.001, num_envs=8, cone=cone)
    q = rng.normal(size=(8, 1, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    sim.set_state(x=[[0, 0, 0.3]], q=q, v=rng.normal(size=(8, 1, 3)), w=5 * rng.normal(size=(8, 1, 3)))
    energy = walk(sim, 1000, sim.energy)
    grown = np.diff(energy, axis=0)
    # Spinning freely, energy is kept to second order in the step, and comes back: here 1e-5 J. Contacts only take it.
    assert grown.max() < 1e-4
    assert (energy[-1] < 0.5 * energy[0]).all()
    assert sim.contact_gaps().min() < 0


def test_stiffer_and_stiffer_it_becomes_hard():
    def path(compliance):
        m = soft_box(compliance) if compliance else box(size=(0.2, 0.3, 0.1), mass=1.0, friction=0.3)
        sim = Simulator(m, dt=0.005, tolerance=1e-9)
        sim.set_state(x=[[0, 0, 0.2]], q=[[0.9, 0.3, 0.2, np.sqrt(1 - 0.94)]], v=[[0.5, 0, 0]])
        return walk(sim, 60, lambda: sim.state.x[0, 0])

    hard = path(0.0)
    apart = [np.abs(path(compliance) - hard).max() for compliance in (1e-6, 1e-8, 1e-10)]
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 1e-5


def test_a_soft_block_slides_as_far():
    # v^2 / (2 cf g)
    sim = Simulator(soft_box(1e-5, 20.0, friction=0.3), dt=0.002, cone="exact")
    sim.set_state(x=[[0, 0, 0.05]], v=[[1.0, 0, 0]])
    walk(sim, 400, lambda: 0)
    assert np.abs(sim.state.v).max() < 1e-3
    assert sim.state.x[0, 0, 0] == pytest.approx(1.0 / (2 * 0.3 * GRAVITY), rel=0.02)


def test_a_hard_core_stays_above_the_ground():
    # so soft that it would sink by 2 v sqrt(m K) = 0.2 m
    core = 0.08
    sim = Simulator(ball(1e-3, 10.0, core=core), dt=0.002)
    sim.set_state(x=[[0, 0, RADIUS + 0.2]])
    gaps = walk(sim, 500, sim.contact_gaps)[:, 0]
    assert gaps[:, 1].min() >= -GAP
    assert gaps[:, 1].min() < 1e-6
    np.testing.assert_allclose(gaps[:, 0], gaps[:, 1] - (RADIUS - core), atol=1e-12)


def test_compiled_and_not_agree():
    ends = []
    for compiled in (True, False):
        sim = Simulator(soft_box(1e-4, 10.0), dt=0.005, compiled=compiled, cone="exact")
        sim.set_state(x=[[0, 0, 0.12]], q=[[0.9, 0.3, 0.2, np.sqrt(1 - 0.94)]], v=[[0.5, 0, -0.5]])
        ends.append(walk(sim, 20, lambda sim=sim: sim.state.x[0, 0])[-1])
    np.testing.assert_allclose(*ends, atol=1e-7)


def test_states_below_the_plane():
    sim = Simulator(ball(1e-3, core=0.05))
    sim.set_state(x=[[0, 0, 0.08]])  # what a soft contact gets into, it may start in
    advance_from = sim.state.x[0, 0, 2]
    sim.step()
    assert sim.state.x[0, 0, 2] > advance_from - 1e-3
    with pytest.raises(StateError, match="'core'"):
        sim.set_state(x=[[0, 0, 0.04]])


def test_a_hard_ball_is_another_one():
    soft, hard = Simulator(ball(1e-3)), Simulator(ball(0.0))
    with pytest.raises(InputError, match="another mechanism"):
        hard.restore(soft.save())


def test_what_cannot_be():
    m = Mechanism()
    m.add_body("ball", mass=1.0, shapes=[Sphere(RADIUS)])
    for wrong, said in (
        ({"compliance": -1.0}, "compliance must be"),
        ({"damping": 3.0}, "give it a compliance > 0"),
        ({"compliance": 1e-4, "damping": np.nan}, "damping must be"),
        ({"compliance": 1e-4, "restitution": 0.5}, "leave restitution out"),
    ):
        with pytest.raises(MechanismError, match=said):
            m.add_contact("skin", "ball", radius=RADIUS, **wrong)
    sim = Simulator(ball(1e-4, core=0.05))
    for wrong, said in (
        ({"compliance": [1e-4, 1e-4]}, "'core' .* it is hard"),
        ({"compliance": [0.0, 0.0]}, "'skin' .* must be > 0"),
        ({"contact_damping": [1.0, 1.0]}, "'core' .* it is hard"),
        ({"contact_damping": [-1.0, 0.0]}, "'skin' .* must be >= 0"),
        ({"restitution": [0.5, 0.0]}, "'skin' .* cannot be changed"),
    ):
        with pytest.raises(InputError, match=said):
            sim.set_parameters(**wrong)
    sim.set_parameters(compliance=[2e-4, 0.0], contact_damping=[3.0, 0.0])
    np.testing.assert_array_equal(sim.parameter("compliance"), [[2e-4, 0.0]])
