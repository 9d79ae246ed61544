"""Contacts between bodies: an environment depends on nothing but itself, and compiled code does as the kernels say."""

import copy

import numpy as np
import pytest

from vigym import Box, Capsule, Mechanism, Simulator
from vigym.benchmarks.touching.piles import dropped


def snake(links: int = 5) -> Mechanism:
    """Capsules on ball joints that fall onto the ground, and on each other, beside a box."""
    m = Mechanism()
    m.add_ground()
    m.add_body("box", mass=0.5, shapes=[Box((0.1, 0.1, 0.1))], position=(0.1, 0, 0.05))
    for k in range(links):
        name = f"link{k}"
        m.add_body(name, mass=0.2, shapes=[Capsule(0.03, 0.1)], position=(0, 0, 0.8 - 0.1 * k))
        if k:
            ends = {"parent_anchor": (0, 0, -0.05), "child_anchor": (0, 0, 0.05)}
            m.add_joint(name, "spherical", f"link{k - 1}", name, **ends)
    return m


def start(num_envs: int, **options) -> tuple[Simulator, np.ndarray, np.ndarray]:
    sim, rng = Simulator(snake(), dt=0.01, num_envs=num_envs, **options), np.random.default_rng(1)
    return sim, rng.uniform(-0.5, 0.5, (7, 12)), rng.normal(size=(7, 12))


@pytest.mark.parametrize("num_threads", [1, 2])
def test_an_environment_of_a_batch_is_the_one_alone(num_threads):
    batch, positions, velocities = start(7, num_threads=num_threads)
    batch.set_joint_state(positions, velocities)
    states = []
    for _ in range(120):
        batch.step()
        assert batch.status.converged.all()
        states.append(batch.state.x)
    for env in (0, 3, 6):
        alone, *_ = start(1)
        alone.set_joint_state(positions[env], velocities[env])
        for x in states:
            alone.step()
            np.testing.assert_array_equal(alone.state.x[0], x[env])


def test_saved_states_go_on_as_they_would_have():
    sim, positions, velocities = start(3)
    sim.set_joint_state(positions[:3], velocities[:3])
    sim.step(repeat=60)
    other, saved = copy.deepcopy(sim), sim.save()
    ends = []
    for one in (sim, other):
        one.step(repeat=20)
        ends.append(one.state.x)
    sim.restore(saved)
    sim.step(repeat=20)
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(sim.state.x, ends[0])


def test_kernels_do_the_same_uncompiled():
    compiled, positions, velocities = start(2)
    compiled.set_joint_state(positions[:2], velocities[:2])
    compiled.step(repeat=30)
    plain, *_ = start(2, compiled=False)
    plain.set_state(*compiled.state)
    compiled.set_state(*compiled.state)
    for _ in range(2):
        for sim in (compiled, plain):
            sim.step()
        np.testing.assert_allclose(plain.state.v, compiled.state.v, atol=1e-7)
    assert len(compiled.contacts()) == len(plain.contacts()) > 0


@pytest.mark.parametrize("num_threads", [1, 2])
def test_contacts_that_come_and_go_differently(num_threads):
    # seven heaps that start at other heights, in other turns: what is near differs in every lane; the environment at
    # any place in the batch is the one alone, to the bit
    def heap(num_envs: int, threads: int = 1) -> Simulator:
        return Simulator(dropped(3, 4), dt=0.01, num_envs=num_envs, num_threads=threads)

    rng, order = np.random.default_rng(4), [6, 0, 3, 5, 1, 2, 4]
    batch, shuffled = heap(7, num_threads), heap(7, num_threads)
    x, q = batch.state.x.copy(), batch.state.q
    x[..., 2] *= rng.uniform(0.8, 1.2, (7, 1))
    v = rng.normal(size=x.shape)
    batch.set_state(x=x, q=q, v=v)
    shuffled.set_state(x=x[order], q=q[order], v=v[order])
    near, states = [], []
    for _ in range(100):
        batch.step()
        shuffled.step()
        np.testing.assert_array_equal(shuffled.state.x, batch.state.x[order])
        near.append(np.bincount(batch.contacts().env, minlength=7))
        states.append(batch.state.x)
    assert (np.ptp(near, axis=1) > 0).mean() > 0.5
    for env in (0, 2, 6):
        alone = heap(1)
        alone.set_state(x=x[env], q=q[env], v=v[env])
        for state in states:
            alone.step()
            np.testing.assert_array_equal(alone.state.x[0], state[env])
