"""Random actions, gentle and violent, everywhere: no exception, no NaN, nothing in the ground, no failed solve."""

import gymnasium as gym
import numpy as np
import pytest
from flat import flat

from vigym.envs.registration import ENVIRONMENTS

NUM = 64
GAP = 1e-9  # m


def survive(env_id: str, steps: int, seed: int) -> int:
    """Failed solves in that many steps of NUM environments; everything else is asserted."""
    env = gym.make_vec(env_id, num_envs=NUM, num_threads=2)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    touches, failed, over = env.task.sim.model.n_contacts > 0, 0, np.zeros(NUM, bool)
    for k in range(steps):
        if k % 50 == 0:  # noise of several sizes, and full power to and fro
            size = rng.choice([0.1, 0.5, 1.0, np.inf])
        noise = rng.uniform(-1, 1, env.action_space.shape)
        action = np.sign(noise) if np.isinf(size) else size * noise
        acting = ~over  # the others start anew in this step
        observation, reward, terminated, truncated, info = env.step(action.astype(np.float32))
        over = terminated | truncated
        assert np.isfinite(flat(observation)).all()
        assert np.isfinite(reward).all()
        if not acting.any():
            continue
        np.testing.assert_array_equal(info["_solver_failed"], acting)
        failed += int(info["solver_failed"].sum())
        if touches:
            np.testing.assert_array_equal(info["_penetration"], acting)
            assert info["penetration"].max() < GAP
    return failed


def test_a_hundred_thousand_steps(env_id):
    assert survive(env_id, 100_000 // NUM // len(ENVIRONMENTS), seed=1) == 0


@pytest.mark.slow
def test_ten_million_steps(env_id):
    """Solver failures below one in a million."""
    steps = 10_000_000 // len(ENVIRONMENTS)
    failed = sum(survive(env_id, steps // NUM // 10, seed=seed) for seed in range(10))
    assert failed < steps / 1e6
