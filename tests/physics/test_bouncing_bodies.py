"""Restitution between bodies: balls by their closed forms, cradles, and that no impact creates energy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vigym

pytestmark = pytest.mark.usefixtures("judged")
RADIUS, H = 0.05, 1e-3


def balls(masses, restitution, gap, friction=0.0, first=0.02, **simulator):
    """Balls in a row along x, the first one `first` away from the others, which are `gap` apart; nothing pulls them."""
    m = vigym.Mechanism(gravity=(0, 0, 0))
    for k, mass in enumerate(masses):
        name, place = f"ball{k}", (2 * RADIUS + gap) * k + (first if k else 0.0)
        m.add_body(name, mass=mass, shapes=[vigym.Sphere(RADIUS)], position=(place, 0, 0), collide=False)
        m.add_collider(name, name, vigym.Sphere(RADIUS), friction=friction, restitution=restitution)
    return vigym.Simulator(m, dt=H, **simulator)


def shoot(sim, steps=200, speed=1.0):
    """Velocities along x (bodies,) after the first ball was shot at the others; and the relative change of energy."""
    v = np.zeros((len(sim.model.mechanism.bodies), 3))
    v[0, 0] = speed
    sim.set_state(v=v)
    energy, momentum = sim.energy(), sim.momentum()
    for _ in range(steps):
        sim.step()
        assert sim.status.converged.all()
        assert sim.status.substeps.max() == 1
        assert sim.status.relaxed.max() == 0
    for before, after in zip(momentum, sim.momentum(), strict=True):
        assert np.allclose(before, after, atol=1e-11 * abs(speed))
    return sim.state.v[0, :, 0], (sim.energy() / energy - 1.0)[0]


@pytest.mark.parametrize("ratio", [1e-6, 0.1, 1.0, 3.0, 1e6])
@pytest.mark.parametrize("restitution", [0.3, 0.8, 1.0])
def test_two_balls(ratio, restitution):
    # v1 = (1 - e r)/(1 + r) v, v2 = (1 + e)/(1 + r) v, r = m2/m1
    v, _ = shoot(balls([1.0, ratio], restitution, 0.0, tolerance=1e-10))
    assert np.allclose(v, [(1 - restitution * ratio) / (1 + ratio), (1 + restitution) / (1 + ratio)], atol=1e-7)


@pytest.mark.parametrize("n", [3, 5])
def test_cradle_with_gaps_passes_the_impact_on(n):
    """Each impact is over before the next one begins: the last ball leaves with what the first one brought."""
    v, energy = shoot(balls([1.0] * n, 1.0, 5e-3, tolerance=1e-10))
    assert np.allclose(v, [0.0] * (n - 1) + [1.0], atol=1e-8)
    assert abs(energy) < 1e-9


@pytest.mark.parametrize("n", [3, 5])
def test_cradle_that_touches_parts_at_once(n):
    """All contacts are compressed together, to the common velocity v/n, and give back the same impulses: the first
    ball has 2/n - 1 afterwards, all others 2/n. Momentum and energy are those of before. Balls that touch exactly may
    be a rounding apart, so that one of them is struck a little later: its velocity is off by what a step does not tell
    apart."""
    v, energy = shoot(balls([1.0] * n, 1.0, 0.0, tolerance=1e-10))
    assert np.allclose(v, [2 / n - 1] + [2 / n] * (n - 1), atol=1e-3)
    assert abs(energy) < 1e-8


def test_the_larger_restitution_counts():
    sim = balls([1.0, 1.0], 0.6, 0.0)
    m = vigym.Mechanism(gravity=(0, 0, 0))
    for body, collider, e in zip(sim.model.mechanism.bodies, sim.model.mechanism.colliders, (0.6, 0.1), strict=True):
        m.add_body(body.name, mass=1.0, shapes=body.shapes, position=body.position, collide=False)
        m.add_collider(collider.name, collider.body, collider.shape, friction=0.0, restitution=e)
    assert np.allclose(shoot(vigym.Simulator(m, dt=H))[0], shoot(sim)[0], atol=1e-6)


def test_oblique_balls_keep_what_they_have_across():
    """Without friction, the velocity across the line of centres stays; along it the closed form of two balls holds."""
    sim = balls([1.0, 2.0], 0.7, 0.0, tolerance=1e-10)
    x = sim.state.x[0].copy()
    x[1, 1] = 0.06  # balls meet where the line of centres has the sine 0.6
    sim.set_state(x=x, v=[[2.0, 0, 0], [0, 0, 0]])
    sim.step(repeat=200)
    n = np.array([0.8, 0.6, 0.0])
    closing = 2.0 * n[0]
    expected = [np.array([2.0, 0, 0]) - n * closing * 1.7 * 2 / 3, n * closing * 1.7 / 3]
    # the impact ends a step within a way of v h = 2 mm, which turns the line of centres by at most 0.02
    assert np.allclose(sim.state.v[0], expected, atol=0.05)
    assert abs(sim.state.v[0, 1] @ np.cross(n, [0, 0, 1])) < 0.05


def test_ball_bounces_on_a_box_on_the_ground():
    """A box at rest stays there when a ball falls on it, and the ball bounces by e."""
    m = vigym.Mechanism()
    m.add_ground(friction=0.5)
    m.add_body("box", mass=5.0, shapes=[vigym.Box(size=(0.2, 0.2, 0.1))], position=(0, 0, 0.05), collide=True)
    m.add_body("ball", mass=0.1, shapes=[vigym.Sphere(RADIUS)], position=(0, 0, 0.1 + RADIUS + 0.2), collide=False)
    m.add_collider("ball", "ball", vigym.Sphere(RADIUS), restitution=0.8)
    sim = vigym.Simulator(m, dt=H)
    heights = []
    for _ in range(600):
        sim.step()
        assert sim.status.converged.all()
        heights.append(sim.state.x[0, 1, 2])
        assert abs(sim.state.x[0, 0, 2] - 0.05) < 1e-9
    down = int(np.argmin(heights))
    # height h = 0.8^2 0.2 m; the step's start and end are each known to v h/2 of 2 mm
    assert abs(max(heights[down:]) - 0.1 - RADIUS - 0.64 * 0.2) < 2 * 2.0 * H


SHAPES = {
    "sphere": vigym.Sphere(RADIUS),
    "box": vigym.Box(size=(0.1, 0.08, 0.06)),
    "capsule": vigym.Capsule(radius=0.03, length=0.1),
}


@settings(max_examples=6)
@given(
    kinds=st.tuples(*[st.sampled_from(sorted(SHAPES))] * 2),
    restitutions=st.tuples(*[st.floats(0.0, 1.0)] * 2),
    friction=st.floats(0.0, 2.0),
    mass=st.floats(-1.5, 1.5),
    seed=st.integers(0, 2**16),
)
def test_no_impact_creates_energy(kinds, restitutions, friction, mass, seed):
    """Random impacts of two bodies, several features at once, with friction and different restitution."""
    envs, rng = 32, np.random.default_rng(seed)
    m = vigym.Mechanism(gravity=(0, 0, 0))
    for k, (kind, e) in enumerate(zip(kinds, restitutions, strict=True)):
        m.add_body(f"b{k}", mass=10.0 ** (k * mass), shapes=[SHAPES[kind]], position=(0.3 * k, 0, 0), collide=False)
        m.add_collider(f"b{k}", f"b{k}", SHAPES[kind], friction=friction, restitution=e)
    sim = vigym.Simulator(m, dt=H, num_envs=envs)
    q = rng.normal(size=(envs, 2, 4))
    x, v = np.zeros((envs, 2, 3)), np.zeros((envs, 2, 3))
    x[:, 1] = np.stack([np.full(envs, 0.3), *rng.uniform(-0.04, 0.04, (2, envs))], -1)
    v[:, 0, 0] = rng.uniform(1, 4, envs)
    sim.set_state(x=x, q=q / np.linalg.norm(q, axis=-1, keepdims=True), v=v, w=rng.normal(size=(envs, 2, 3)) * 5)
    start, earlier, last = sim.energy(), sim.energy(), sim.energy()
    momentum = sim.momentum()
    for _ in range(250):
        sim.step()
        assert sim.status.converged.all()
        energy = sim.energy()
        # a rebound gives back what the step before has taken, and no more; (h w)^2 = 2.5e-5 of the energy of a turn
        assert (energy <= np.maximum(earlier, last) + 1e-4 * start).all()
        earlier, last = last, energy
    for before, after in zip(momentum, sim.momentum(), strict=True):
        assert np.allclose(before, after, atol=1e-9)


def test_states_in_the_midst_of_an_impact_are_saved():
    sim, other = balls([1.0, 1.0, 2.0], 0.9, 1e-3, friction=0.3), balls([1.0, 1.0, 2.0], 0.9, 1e-3, friction=0.3)
    sim.set_state(v=[[1.0, 0.1, 0], [0, 0, 0], [0, 0, 0]], w=[[3.0, 0, 1.0], [0, 0, 0], [0, 0, 0]])
    for _ in range(60):
        sim.step()
        other.restore(sim.save())
        other.step()
        ahead = sim.save()
        sim.step()
        assert sim.save() == other.save()
        sim.restore(ahead)


def test_batch_is_bit_equal_to_single():
    """Impacts at different times in the lanes of a batch."""
    envs = 7
    batch = balls([1.0, 1.0, 2.0], 0.9, 1e-3, friction=0.3, num_envs=envs, num_threads=2)
    v = np.zeros((envs, 3, 3))
    v[:, 0, 0] = np.linspace(0.5, 2.0, envs)
    batch.set_state(v=v)
    batch.step(repeat=120)
    for k in range(envs):
        alone = balls([1.0, 1.0, 2.0], 0.9, 1e-3, friction=0.3)
        alone.set_state(v=v[k])
        alone.step(repeat=120)
        for one, all_of_them in zip(alone.state, batch.state, strict=True):
            assert np.array_equal(one[0], all_of_them[k])
