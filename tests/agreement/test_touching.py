"""Contacts between bodies: an environment depends on nothing but itself, and compiled code does as the kernels say."""

import copy

import numpy as np
import pytest

from vigym import Box, Capsule, Mechanism, Simulator, Sphere
from vigym.benchmarks.touching.piles import dropped

pytestmark = pytest.mark.usefixtures("judged")


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


def test_what_is_saved_tells_of_nothing_else():
    # two simulators that go on alike save the same, whatever contacts either of them has had before
    sim, positions, velocities = start(3)
    sim.set_joint_state(positions[:3], velocities[:3])
    numbers = []
    for _ in range(20):
        other = copy.deepcopy(sim)
        for one in (sim, other):
            one.step(repeat=6)
        assert other.save() == sim.save()
        numbers.append(np.bincount(sim.contacts().env, minlength=3))
    assert (np.diff(numbers, axis=0) < 0).any()  # contacts that ended, beside others that go on


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


def crowd(num_envs: int, threads: int = 1) -> Simulator:
    """Boxes, a ball and a hinged pair that bounce on the ground and on each other."""
    m = Mechanism()
    m.add_ground(friction=0.6)
    for k in range(3):
        m.add_body(f"box{k}", mass=1.0 + k, shapes=[Box((0.2, 0.15, 0.1))], position=(0.03 * k, 0, 0.2 + 0.25 * k))
    m.add_body("ball", mass=0.5, shapes=[Sphere(0.08)], position=(0, 0, 1.0), collide=False)
    m.add_collider("ball", "ball", Sphere(0.08), restitution=0.7)
    for k, name in enumerate(("upper", "lower")):
        m.add_body(name, mass=0.4, shapes=[Capsule(0.04, 0.2)], position=(0.3, 0, 0.9 - 0.3 * k))
    ends = {"parent_anchor": (0, 0, -0.15), "child_anchor": (0, 0, 0.15)}
    m.add_joint("hinge", "revolute", "upper", "lower", axis=(0, 1, 0), damping=0.01, **ends)
    m.set_pair("box0", "ground", restitution=0.4)
    return Simulator(m, dt=0.01, num_envs=num_envs, num_threads=threads)


def starts(num_envs: int) -> dict[str, np.ndarray]:
    """A state of `crowd` for each environment, at other heights and with other velocities."""
    rng, (x, q, v, w) = np.random.default_rng(7), crowd(1).state
    free = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0])[:, None]  # those on the hinge move as one
    lift, turn = rng.uniform(0.0, 0.1, (num_envs, 1, 1)), rng.normal(size=(num_envs, 6, 3))
    shift = rng.normal(size=(num_envs, 1, 3)) + 0.3 * free * rng.normal(size=(num_envs, 6, 3))
    return {"x": x + lift * [0, 0, 1.0], "q": q + np.zeros((num_envs, 1, 1)), "v": v + shift, "w": w + free * turn}


def test_any_batch_any_place_any_thread():
    # the same eleven environments alone, in batches of several sizes, at other places in them, on one thread or two:
    # contacts come and go differently in each, and all of it, warm start and impacts too, is the same to the bit
    given, total, steps = starts(11), 11, 80
    ends, touched = [], []
    for env in range(total):
        alone = crowd(1)
        alone.set_state(**{name: value[env] for name, value in given.items()})
        near = []
        for _ in range(steps):
            alone.step()
            assert alone.status.converged.all()
            near.append(len(alone.contacts()))
        ends.append([*(part[0] for part in alone.state), alone.contacts().force])
        touched.append(near)
    assert (np.ptp(touched, axis=0) > 0).mean() > 0.5
    rng = np.random.default_rng(2)
    for size, threads in ((2, 1), (5, 2), (9, 1), (11, 2)):
        places = rng.permutation(total)[:size]
        batch = crowd(size, threads)
        batch.set_state(**{name: value[places] for name, value in given.items()})
        batch.step(repeat=steps)
        for k, env in enumerate(places):
            found = [*(part[k] for part in batch.state), batch.contacts(k).force]
            for one, other in zip(ends[env], found, strict=True):
                np.testing.assert_array_equal(other, one)


def test_buffers_that_grow_change_nothing():
    # a heap that falls together outgrows its buffers again and again; one that has had the room before goes the same
    # way, with the same warm start and the same learned floor: all that is saved is equal
    def room(sim: Simulator) -> list[int]:
        stores = sim._lanes.store, sim._lanes.scratch[0]
        return [number for store in stores for of_groups in store.capacity.values() for number in of_groups]

    grows, ample = (Simulator(dropped(6, 6), dt=0.01, num_envs=3) for _ in range(2))
    start, small = grows.save(), room(grows)
    ample.restore(start)
    for store in (ample._lanes.store, *ample._lanes.scratch):
        for kind in store.growing:
            for group in range(store.groups):
                store.grow(kind, group, 1000)
    large = room(ample)
    for _ in range(150):
        for sim in (grows, ample):
            sim.step()
        assert grows.save() == ample.save()
    assert room(ample) == large
    assert sum(after > 2 * before for after, before in zip(room(grows), small, strict=True)) >= 5
