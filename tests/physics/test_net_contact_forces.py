"""Net contact force of every body: what changes its momentum, beside gravity and what is applied to it."""

import numpy as np
import pytest

from vigym import Box, Capsule, Mechanism, Simulator, Sphere

pytestmark = pytest.mark.usefixtures("judged")
# Forces enter the balance of a body linearly: it holds to the tolerance, and the rounding of a sum of a dozen contacts.
TOLERANCE = 1e-12
BALANCE = 2 * TOLERANCE


def heap(num_envs: int = 1, **options) -> Simulator:
    """Eight bodies, 0.1 to 3 kg, over the ground; one of them has a contact of the other kind as well."""
    m = Mechanism()
    m.add_ground()
    rng = np.random.default_rng(0)
    for k in range(8):
        shape = (Sphere(0.1), Box((0.2, 0.15, 0.1)), Capsule(0.06, 0.2))[k % 3]
        x, y = 0.1 * rng.normal(size=2)
        m.add_body(f"body {k}", (1.0, 0.1, 3.0)[k % 3], shapes=[shape], position=(x, y, 0.2 + 0.35 * k), collide=True)
    m.add_contact("low", "body 0", radius=0.1)
    return Simulator(m, dt=0.01, num_envs=num_envs, tolerance=TOLERANCE, **options)


def imbalance(sim: Simulator, v0: np.ndarray, applied: np.ndarray | float = 0.0) -> float:
    """|m dv/dt - m g - applied - net force|, relative to the terms: momentum over dt, weight, forces of contacts."""
    mass, gravity, v1 = sim.parameter("mass")[..., None], sim.model.mechanism.gravity, sim.state.v
    body = np.array([sim.model.bodies[collider.body] for collider in sim.model.mechanism.colliders], int)
    found, unit = sim.contacts(), np.zeros((sim.num_envs, sim.model.n_bodies + 1, 3))
    for side in range(2):
        np.add.at(unit, (found.env, body[found.collider[:, side]]), np.linalg.norm(found.force, axis=-1)[:, None])
    terms = mass * (np.abs(v0) + np.abs(v1)).max(-1, keepdims=True) / sim.dt + 9.81 * mass + unit[:, :-1]
    return float((np.abs(mass * ((v1 - v0) / sim.dt - gravity) - applied - sim.net_contact_forces()) / terms).max())


@pytest.mark.parametrize("spin", [0.0, 60.0], ids=["whole steps", "steps in parts"])
def test_it_is_what_changes_momentum(spin):
    n = 3
    sim, rng = heap(n), np.random.default_rng(1)
    sim.set_state(w=spin * rng.normal(size=(n, 8, 3)), v=0.1 * spin * rng.normal(size=(n, 8, 3)))
    parts, pressed = 0, 0.0
    for _ in range(150):
        v0, applied = sim.state.v, rng.normal(size=(n, 8, 3))
        sim.step(force=applied)
        assert sim.status.converged.all()
        assert imbalance(sim, v0, applied) < BALANCE
        parts += int((sim.status.substeps > 1).sum())
        pressed = max(pressed, np.abs(sim.net_contact_forces()).max())
    assert pressed > 100.0
    assert (parts > 100) == (spin > 0)


@pytest.mark.parametrize("compiled", [True, False])
def test_contacts_that_end_within_a_step_count(compiled):
    """A spinning ball grazes a post in one of the parts of a step, and is far from it at the end."""
    m = Mechanism(gravity=(0, 0, 0))
    m.add_body("ball", 1.0, shapes=[Sphere(0.05)], position=(-0.1, 0, 0.08), collide=True)
    m.add_collider("post", "world", Sphere(0.05))
    sim = Simulator(m, dt=0.05, tolerance=TOLERANCE, compiled=compiled)
    sim.set_state(v=[[20.0, 0, 0]], w=[[0, 400.0, 0]])
    v0 = sim.state.v
    sim.step()
    assert sim.status.substeps[0] > 1
    assert len(sim.contacts()) == 0
    assert np.linalg.norm(sim.net_contact_forces()) > 50.0
    assert imbalance(sim, v0) < BALANCE


def test_bodies_that_touch_nothing_have_none():
    m = Mechanism()
    m.add_ground()
    m.add_body("above", 1.0, shapes=[Sphere(0.1)], position=(0, 0, 5), collide=True)
    m.add_body("through", 1.0, shapes=[Sphere(0.1)], position=(1, 0, 0.05), collide=False)
    m.add_body("below", 2.0, shapes=[Box((0.2, 0.2, 0.2))], position=(0, 0, 0.1), collide=True)
    sim = Simulator(m, dt=0.01, num_envs=2)
    assert not sim.net_contact_forces().any()
    sim.step(repeat=10)
    net = sim.net_contact_forces()
    assert net.shape == (2, 3, 3)
    assert not net[:, 1].any()
    np.testing.assert_allclose(net[:, 0], 0.0, atol=1e-6)  # a hard contact far away has a force of rounding
    np.testing.assert_allclose(net[:, 2], [[0, 0, 2 * 9.81]] * 2, rtol=1e-9, atol=1e-9)
    sim.set_state(v=np.zeros((2, 3, 3)), mask=[True, False])
    assert not sim.net_contact_forces()[0].any()
    np.testing.assert_array_equal(sim.net_contact_forces()[1], net[1])


def test_contacts_with_the_ground_alone():
    m = Mechanism()
    m.add_body("box", 2.0, shapes=[Box((0.2, 0.2, 0.2))], position=(0, 0, 0.1), collide=False)
    for k, x in enumerate((-0.1, 0.1)):
        for j, y in enumerate((-0.1, 0.1)):
            m.add_contact(f"{k}{j}", "box", (x, y, -0.1))
    sim = Simulator(m, dt=0.01, tolerance=TOLERANCE)
    for _ in range(5):
        v0 = sim.state.v
        sim.step(force=[[[3.0, 0, 0]]])
        assert imbalance(sim, v0, np.array([3.0, 0, 0])) < 1e-12
    np.testing.assert_array_equal(sim.net_contact_forces()[:, 0], sim.contact_forces().sum(1))


def test_an_environment_of_a_batch_tells_what_it_does_alone():
    alone, batch = heap(1), heap(5)
    v = np.random.default_rng(2).normal(size=(5, 8, 3))
    batch.set_state(v=v)
    alone.set_state(v=v[3:4])
    for sim in (alone, batch):
        sim.step(repeat=60)
    np.testing.assert_array_equal(batch.net_contact_forces()[3:4], alone.net_contact_forces())
    copy = heap(5)
    copy.restore(batch.save())
    np.testing.assert_array_equal(copy.net_contact_forces(), batch.net_contact_forces())


def test_contacts_are_where_bodies_are():
    """After a step, a ball touches one radius below its centre, however fast it goes; a box does with its corners."""
    m = Mechanism()
    m.add_ground()
    m.add_body("ball", 1.0, shapes=[Sphere(0.1)], position=(0, 0, 0.1), collide=True)
    m.add_body("box", 1.0, shapes=[Box((0.2, 0.2, 0.2))], position=(5, 0, 0.1), collide=True)
    sim = Simulator(m, dt=0.01)
    sim.set_state(v=[[8.0, 0, 0], [0, 3.0, 0]], w=[[0, 80.0, 0], [0, 0, 4.0]])
    for _ in range(10):
        sim.step()
        found, (x, q, _, _) = sim.contacts(), sim.state
        ball = found.collider[:, 0] == 1
        np.testing.assert_allclose(found.position[ball], x[:, 0] - [[0, 0, 0.1]], atol=1e-12)
        half = 2.0 * np.arctan2(q[0, 1, 3], q[0, 1, 0])  # the box turns about z alone
        turn = np.array([[np.cos(half), -np.sin(half)], [np.sin(half), np.cos(half)]])
        corners = x[0, 1, :2] + np.array([[-0.1, -0.1], [0.1, -0.1], [-0.1, 0.1], [0.1, 0.1]]) @ turn.T
        away = np.linalg.norm(found.position[~ball][:, None, :2] - corners, axis=-1)
        assert (~ball).sum() == 4
        assert away.min(0).max() < 1e-9
        np.testing.assert_allclose(found.normal, [[0, 0, 1]] * len(found), atol=1e-12)
