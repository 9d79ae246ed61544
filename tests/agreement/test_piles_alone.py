"""Piles of many free bodies, whose environments have a lane group and an order of elimination of their own."""

import numpy as np
import pytest

from vigym import Simulator
from vigym.benchmarks.touching.piles import heap
from vigym.engine import watching

pytestmark = pytest.mark.usefixtures("judged")
BALLS, STEPS = 7, 20


@pytest.fixture
def crowded(monkeypatch):
    """Few bodies count as many."""
    monkeypatch.setattr(watching, "MOST_FREE", BALLS - 1)


def fallen(num_envs: int, **options) -> Simulator:
    """Balls that have just come to lie on each other, in every environment a little differently."""
    sim = Simulator(heap(BALLS), dt=0.01, num_envs=num_envs, **options)
    rng, x = np.random.default_rng(0), sim.state.x.copy()
    x[:, :3, 2] -= 0.058
    x[:, 3:, :2] *= 0.4
    x[:, 3:6, 2] += 0.12 * np.arange(3)
    x[:, 6, 2] += 0.4
    x[..., :2] += rng.uniform(-1e-3, 1e-3, (8, BALLS, 2))[:num_envs]
    sim.set_state(x=x)
    return sim


def test_an_environment_of_a_batch_is_the_one_alone(crowded):
    batch, shared = fallen(5), fallen(5, num_threads=2)
    assert batch._lanes.lanes == 1
    alone = [fallen(5) for _ in range(2)]
    saved = batch.save()
    for _ in range(STEPS):
        batch.step()
        shared.step()
        assert batch.status.converged.all()
        for one, other in zip(batch.state, shared.state, strict=True):
            np.testing.assert_array_equal(one, other)
    for env, sim in zip((0, 3), alone, strict=True):
        single = Simulator(heap(BALLS), dt=0.01)
        single.set_state(x=sim.state.x[env])
        single.step(repeat=STEPS)
        for one, other in zip(single.state, batch.state, strict=True):
            np.testing.assert_array_equal(one[0], other[env])
        assert len(single.contacts()) == len(batch.contacts(env))
    ends = batch.state
    batch.restore(saved)
    batch.step(repeat=STEPS)
    for one, other in zip(batch.state, ends, strict=True):
        np.testing.assert_array_equal(one, other)
    orders = batch._lanes.scratch[0].order[0]
    assert sorted(orders) == list(range(BALLS))


def test_the_order_changes_rounding_alone(monkeypatch):
    # the same first steps in lanes, in the usual order
    usual = fallen(3)
    monkeypatch.setattr(watching, "MOST_FREE", BALLS - 1)
    own = fallen(3)
    assert (usual._lanes.lanes, own._lanes.lanes) == (4, 1)
    for _ in range(8):
        usual.step()
        own.step()
    np.testing.assert_allclose(own.state.x, usual.state.x, rtol=0, atol=1e-9)
