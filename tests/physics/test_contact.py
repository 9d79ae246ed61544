"""Bodies that fall, hit, spin and come to rest on the ground."""

import numpy as np
import pytest
from scenes import GRAVITY, advance, box, frames, matrix
from scipy.spatial.transform import Rotation

from vigym import Mechanism, Simulator, Sphere
from vigym.assets import disc

SIZE = np.array([0.4, 0.3, 0.2])


def tossed(h: float, count: int, seed: int, **options) -> Simulator:
    """Boxes in random poses some way above the ground, thrown and spinning."""
    rng = np.random.default_rng(seed)
    sim = Simulator(box(SIZE), dt=h, num_envs=count, **options)
    q = np.roll(Rotation.random(count, rng).as_quat(), 1, axis=-1)
    x = np.stack([*np.zeros((2, count)), rng.uniform(0.4, 0.8, count)], -1)
    v, w = rng.normal(size=(count, 3)), 4.0 * rng.normal(size=(count, 3))
    sim.set_state(x[:, None], q[:, None], v[:, None], w[:, None])
    return sim


@pytest.mark.parametrize("h", [0.1, 0.05, 0.01, 0.005])
def test_a_tossed_box_comes_to_rest_on_a_face(h):
    # Energy only ever leaves at contacts: 1 m of fall and 1 m/s of sliding are spent after a few seconds.
    sim = tossed(h, count=16, seed=5)
    advance(sim, round(5.0 / h))
    _, q, v, w = sim.state
    assert np.abs(v).max() < 1e-8
    assert np.abs(w).max() < 1e-7  # 1e-8 m/s at the corners, 0.1 m from the axis
    up = np.abs(matrix(q[:, 0])[:, 2])  # world z along the body's axes
    np.testing.assert_allclose(up.max(-1), 1.0, atol=1e-12)
    assert (np.sort(sim.contact_gaps(), axis=-1)[:, 3] < 1e-8).all()
    # and at rest, the four contacts carry the weight
    np.testing.assert_allclose(sim.contact_forces().sum(1), [[0, 0, GRAVITY]] * 16, atol=1e-6)


@pytest.mark.parametrize(("cone", "norm"), [("pyramid", 1), ("exact", 2)])
def test_friction_is_within_its_cone_and_takes_energy(cone, norm):
    # |f1| + |f2|, or the root of their squares, <= cf f_n, f_n >= 0, and f . slip <= 0 with the slip over the step,
    # t . (v1 + (R1 - R0) p / h); each of these to the tolerance of the pairs, 1e-8 N or W, of which five make up a
    # contact.
    m, h, cf = box(SIZE), 0.01, 0.5
    sim = tossed(h, count=16, seed=6, cone=cone)
    t1, t2, n = frames(m)[0]
    points = np.array([contact.point for contact in m.contacts])
    sliding = pushing = 0
    for _ in range(150):
        R = matrix(sim.state.q[:, 0])
        advance(sim, 1)
        whole = sim.status.substeps == 1  # else the forces are those of the last part of the step
        force = sim.contact_forces()
        along1, along2, normal = force @ t1, force @ t2, force @ n
        assert normal.min() >= 0
        assert (np.linalg.norm([along1, along2], norm, axis=0) - cf * normal).max() < 5e-8
        velocity = sim.state.v + np.einsum("nij,cj->nci", matrix(sim.state.q[:, 0]) - R, points) / h
        power = along1 * (velocity @ t1) + along2 * (velocity @ t2)
        assert power[whole].max() < 5e-8
        sliding += np.count_nonzero(power < -0.01)
        pushing += np.count_nonzero(normal > 0.01)
        assert whole.mean() > 0.7
    assert sliding > 100
    assert pushing > 1000


@pytest.mark.parametrize("spin", [2.0, 10.0])
def test_a_spinning_disc_slows_down_and_stops(spin):
    # A rim of many contacts that each carry m g / count. Coulomb's cone brakes with cf m g r; within the pyramid the
    # friction acts along the tangent that is closer to the slip, cf N max(|cos|, |sin|), whose mean over the rim is
    # 2 sqrt(2) / pi = 0.90: between 1 / sqrt(2) (inscribed) and 1 (circumscribed cone). With J = m r^2 / 2:
    #   w(t) = w0 - 0.90 cf m g r / J t
    # 20 contacts miss the mean by less than 1 % (the rule for max(|cos|, |sin|) at 5 points a quarter); half a step of
    # lag, and h w / 2 of a turn in a step, of either sign.
    h, cf, r, count = 0.01, 0.3, 0.5, 20
    brake = cf * GRAVITY * r / (r**2 / 2)
    sim = Simulator(disc.build(contacts=count, radius=r, friction=cf), dt=h, cone="pyramid")
    sim.set_state(w=[[[0, 0, spin]]])
    stop = spin / brake
    w = advance(sim, round(1.6 * stop / h), lambda: sim.state.w[0, 0, 2])
    t = h * np.arange(1, len(w) + 1)
    assert (w[t < stop] > spin - brake * (t + h)[t < stop]).all()
    slower = t < np.sqrt(2) * stop
    assert (w[slower] < spin - brake / np.sqrt(2) * (t - h)[slower]).all()
    early = t < stop
    mean = 2 * np.sqrt(2) / np.pi
    np.testing.assert_allclose(w[early], spin - mean * brake * t[early], atol=0.01 * spin + brake * h)
    assert (np.abs(w[t > np.sqrt(2) * stop + h]) < 1e-6).all()
    assert np.abs(sim.state.v).max() < 1e-6


def test_contact_forces_carry_the_weight():
    # At rest m g = sum of forces, m dv = 0: to the tolerance of the solver.
    sim = Simulator(box(SIZE, mass=3.0), dt=0.01)
    advance(sim, 20)
    force = sim.contact_forces()[0]
    np.testing.assert_allclose(force.sum(0), [0, 0, 3.0 * GRAVITY], atol=2e-8)
    assert (force[:4, 2] > 0.1).all()
    assert np.abs(force[4:]).max() < 1e-6  # the upper corners touch nothing


def balance(sim: Simulator, mass: float, steps: int, push=None) -> None:
    """m (v1 - v0) = h (contact forces + weight + push) in every step, and in all of them together.

    Each step to its tolerance of the forces that act, times h.
    """
    weight = mass * np.array([0, 0, -GRAVITY]) + (0 if push is None else push)
    start, impulse = sim.state.v[:, 0], 0.0
    for _ in range(steps):
        v0 = sim.state.v[:, 0]
        advance(sim, 1, force=None if push is None else push[None])
        part = sim.dt * (sim.contact_forces().sum(1) + weight)
        whole = sim.status.substeps == 1
        error = np.abs(mass * (sim.state.v[:, 0] - v0) - part)
        bound = 2 * sim.tolerance * (sim.dt * mass * GRAVITY + np.abs(part).max(-1, keepdims=True))
        assert (error < bound)[whole].all()
        impulse = impulse + np.where(whole[:, None], part, mass * (sim.state.v[:, 0] - v0))
    np.testing.assert_allclose(mass * (sim.state.v[:, 0] - start), impulse, atol=20 * steps * sim.dt * sim.tolerance)


def test_an_impact_changes_momentum_by_the_impulse_of_its_forces():
    balance(tossed(0.01, count=8, seed=7), mass=1.0, steps=120, push=np.array([1.0, 0.5, 0.0]))


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_what_falls_does_not_bounce(h):
    # Inelastic: the step that ends on the ground closes the gap, v1 = -gap / h <= 0, and the next ones stay: no upward
    # velocity ever, beyond the gap that complementarity leaves, 1e-8 J / (m g / number of contacts), in a step.
    ball = Mechanism()
    ball.add_body("ball", mass=2.0, shapes=[Sphere(0.1)])
    ball.add_contact("ball", "ball", radius=0.1)
    flat = box(SIZE, mass=2.0)
    for m, height, touching in ((ball, 0.1, 1), (flat, SIZE[2] / 2, 4)):
        sim = Simulator(m, dt=h, num_envs=4)
        drop = np.array([0.1, 0.37, 1.0, 2.0])
        sim.set_state(x=np.stack([0 * drop, 0 * drop, height + drop], -1)[:, None])
        seen = advance(sim, round(1.0 / h), lambda sim=sim: [sim.state.x[:, 0, 2], sim.state.v[:, 0, 2]])
        gap, v = seen[:, 0] - height, seen[:, 1]
        float_gap = 1e-8 / (2.0 * GRAVITY / touching)
        assert v.max() < float_gap / h
        # up to the last whole step above the ground, and half a step of lag
        np.testing.assert_allclose(v.min(0), -np.sqrt(2 * GRAVITY * drop), atol=1.5 * GRAVITY * h)
        assert np.abs(v[-1]).max() < 1e-8
        assert gap[-1].max() < float_gap
        sim.set_state(x=np.stack([0 * drop, 0 * drop, height + drop], -1)[:, None])
        balance(sim, mass=2.0, steps=round(0.8 / h))


def test_contact_velocities():
    # A ball that rolls without slipping stands still where it touches; one that slides does so at v + w x arm.
    m = Mechanism()
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.1)], position=(0, 0, 0.1))
    m.add_contact("skin", "ball", radius=0.1, friction=0.5)
    sim = Simulator(m, num_envs=2)
    sim.set_state(v=[[[1.0, 0, 0]], [[1.0, 0, 0]]], w=[[[0, 10.0, 0]], [[0, 0, 0]]])
    np.testing.assert_allclose(sim.contact_velocities()[:, 0], [[0, 0, 0], [1, 0, 0]], atol=1e-12)
    advance(sim, 1)
    slip = sim.contact_velocities()[:, 0]
    assert np.abs(slip[0]).max() < 1e-6
    np.testing.assert_allclose(slip[1, 0], 1 - 0.01 * 0.5 * 9.81 * (1 + 2.5), rtol=1e-3)  # cf g h, and 5/2 by its spin
    # a box at rest on its corners
    sim = Simulator(box())
    advance(sim, 50)
    assert np.abs(sim.contact_velocities()).max() < 1e-6
