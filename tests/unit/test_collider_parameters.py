"""Laws of colliders that differ between environments: each does what a mechanism built with its own numbers does."""

import numpy as np
import pytest

from vigym import Box, InputError, Mechanism, Simulator, Sphere

GRAVITY = 9.81


def block() -> Mechanism:
    m = Mechanism()
    m.add_ground(friction=0.5)
    m.add_body("block", mass=2.0, shapes=[Box((0.2, 0.2, 0.1))], position=(0, 0, 0.05), friction=0.5)
    return m


def test_friction_of_each_environment():
    # of two, the root of the product: v = v0 - cf g t
    sim, own = Simulator(block(), dt=0.005, num_envs=3), np.array([0.1, 0.4, 0.9])
    sim.set_parameters(collider_friction=np.stack([np.full(3, 0.4), own], -1))
    np.testing.assert_array_equal(sim.parameter("collider_friction")[:, 1], own)
    sim.set_state(v=np.tile([[[3.0, 0, 0]]], (3, 1, 1)))
    sim.step(repeat=40)
    np.testing.assert_allclose(sim.state.v[:, 0, 0], 3.0 - np.sqrt(0.4 * own) * GRAVITY * 0.2, atol=1e-7)


def test_a_pair_with_numbers_of_its_own_keeps_them():
    m = block()
    m.set_pair("block", "ground", friction=0.3)
    sim = Simulator(m, dt=0.005)
    sim.set_parameters(collider_friction=[0.0, 0.0])
    sim.set_state(v=[[3.0, 0, 0]])
    sim.step(repeat=40)
    np.testing.assert_allclose(sim.state.v[0, 0, 0], 3.0 - 0.3 * GRAVITY * 0.2, atol=1e-7)


def balls(**law: float) -> Mechanism:
    m = Mechanism(gravity=(0, 0, 0))
    for k, name in enumerate("ab"):
        m.add_body(name, mass=1.0, shapes=[Sphere(0.1)], position=(0.21 * k, 0, 0), collide=False)
        m.add_collider(name, name, Sphere(0.1), friction=0.0, **law)
    return m


def test_restitution_of_each_environment():
    # the larger one of two: the struck ball leaves with (1 + e)/2
    sim = Simulator(balls(restitution=0.1), dt=1e-3, num_envs=3)
    sim.set_parameters(collider_restitution=[[0.0, 0.0], [0.5, 0.2], [0.3, 1.0]])
    sim.set_state(v=np.tile([[[1.0, 0, 0], [0, 0, 0]]], (3, 1, 1)))
    sim.step(repeat=50)
    np.testing.assert_allclose(sim.state.v[:, 1, 0], [0.5, 0.75, 1.0], atol=1e-6)


def soft(compliance: float = 1e-4) -> Mechanism:
    m = Mechanism()
    m.add_ground()
    m.add_body("ball", mass=2.0, shapes=[Sphere(0.1)], position=(0, 0, 0.1), compliance=compliance, damping=200.0)
    return m


def test_compliance_of_each_environment_and_the_energy_it_stores():
    # at rest: depth K m g, of which the spring keeps K (m g)^2/2, and gravity has taken twice that
    sim, K = Simulator(soft(), dt=0.002, num_envs=2), np.array([1e-4, 4e-4])
    sim.set_parameters(collider_compliance=np.stack([np.zeros(2), K], -1), collider_damping=[0.0, 300.0])
    lifted = sim.energy()
    sim.step(repeat=1500)
    load = 2.0 * GRAVITY
    np.testing.assert_allclose(sim.state.x[:, 0, 2], 0.1 - K * load, atol=1e-8)
    np.testing.assert_allclose(lifted - sim.energy(), 0.5 * K * load**2, rtol=1e-6)


def test_soft_balls_keep_the_energy_of_their_spring():
    # without damping, to the order of the step, at any time of an impact of about 20 ms
    lost = []
    for h in (4e-4, 1e-4):
        sim = Simulator(balls(compliance=1e-5), dt=h)
        sim.set_state(v=[[1.0, 0, 0], [0, 0, 0]])
        energies, deepest = [], 0.0
        for _ in range(round(0.03 / h)):
            sim.step()
            energies.append(sim.energy()[0])
            deepest = min(deepest, sim.distance("a", "b")[0])
        assert deepest < -2e-3  # half of the energy is in the spring: sqrt(v^2 m/2 K), K = 2e-5 of both
        lost.append(np.abs(np.array(energies) - 0.5).max())
    assert lost[1] < 0.3 * lost[0] < 0.3 * 0.1


def test_parameters_are_saved():
    sim, other = Simulator(block(), num_envs=2), Simulator(block(), num_envs=2)
    sim.set_parameters(collider_friction=[[0.1, 0.2], [0.3, 0.4]])
    other.restore(sim.save())
    np.testing.assert_array_equal(other.parameter("collider_friction"), [[0.1, 0.2], [0.3, 0.4]])


@pytest.mark.parametrize(
    ("make", "values", "message"),
    [
        (block, {"collider_friction": [0.1, -0.2]}, "collider_friction of collider 'block'.*must be >= 0, got -0.2"),
        (block, {"collider_friction": [0.1]}, r"collider_friction must have shape \(2, 2\)"),
        (block, {"collider_friction": [0.1, np.inf]}, "collider_friction"),
        (block, {"collider_restitution": [0.1, 0.2]}, "restitution of collider 'ground'.*nothing in the mechanism"),
        (block, {"collider_compliance": [0.1, 0.2]}, "compliance of collider 'ground'.*it is hard"),
        (block, {"collider_damping": [0.0, 0.2]}, "damping of collider 'block'.*no collider is soft"),
        (soft, {"collider_compliance": [0.0, 0.0]}, "compliance of collider 'ball'.*> 0"),
        (soft, {"collider_restitution": [0.0, 0.5]}, "restitution of collider 'ball'.*soft"),
        (lambda: balls(restitution=0.5), {"collider_restitution": [0.0, 1.5]}, "'b'.*0 to 1"),
        (Mechanism, {"collider_friction": []}, "has no effect: no two colliders"),
    ],
)
def test_bad_parameters(make, values, message):
    m = make()
    if not m.bodies:
        m.add_body("lonely", mass=1.0, shapes=[Sphere(0.1)])
    sim = Simulator(m, num_envs=2)
    before = sim.save()
    with pytest.raises(InputError, match=message):
        sim.set_parameters(**values)
    assert sim.save() == before


def test_derivatives_by_laws_of_colliders_are_refused():
    sim = Simulator(block())
    sim.step()
    with pytest.raises(InputError, match="no derivatives by 'collider_friction' yet"):
        sim.gradients("collider_friction")
