"""Normalisation on Ray RLlib: statistics of all runners together, kept over merges."""

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import gymnasium as gym
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.utils.filter import RunningStat

from vigym.training.rllib.normalize import Normalize, Statistics

BOX = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)


def test_statistics_of_parts_add_up_to_those_of_all():
    rows = np.random.default_rng(0).normal(5.0, 0.1, (60, 3))
    total = Statistics() + sum((Statistics.of(part) for part in np.split(rows, [1, 20, 45])), Statistics())
    assert total.count == 60
    np.testing.assert_allclose(total.mean, rows.mean(0), rtol=1e-12)
    np.testing.assert_allclose(total.scale, rows.std(0), rtol=1e-6)


def test_runners_share_what_they_saw():
    """After some iterations, each with a merge, all know the statistics of all rows."""
    generator = np.random.default_rng(1)
    learner, *runners = (Normalize(BOX, BOX, gamma=0.9) for _ in range(3))
    seen = []
    for _ in range(5):
        for k, runner in enumerate(runners):
            rows = generator.normal(5.0 + k, 0.1, (20, 3))
            runner.new["observations"] += Statistics.of(rows)
            seen.append(rows)
        merged = learner.merge_states([runner.get_state() for runner in runners])
        for connector in (learner, *runners):
            connector.set_state(merged)
    for connector in (learner, *runners):
        known = connector.of("observations")
        assert known.count == 200
        np.testing.assert_allclose(known.mean, np.concatenate(seen).mean(0), rtol=1e-12)
        np.testing.assert_allclose(known.scale, np.concatenate(seen).std(0), rtol=1e-6)


def test_the_filter_of_rllib_does_not():
    """Show why there is our own: when this fails, RLlib's has become usable."""
    generator, learner = np.random.default_rng(2), RunningStat((1,))
    for _ in range(5):
        runner = RunningStat.from_state(learner.to_state())
        for _ in range(100):
            runner.push(generator.normal(5.0, 0.1, 1))
        learner.update(runner)
    assert learner.n == 500
    assert learner.mean[0] < 2.0
    assert learner.std[0] > 1.0


def test_observations_and_rewards_of_episodes():
    """Two environments, the second one with an episode that ends: against a plain loop over all that was seen."""
    generator, connector, gamma = np.random.default_rng(3), Normalize(BOX, BOX, gamma=0.9), 0.9
    episodes = [SingleAgentEpisode(observation_space=BOX, action_space=BOX) for _ in range(2)]
    observations, returns, running = [], [], [0.0, 0.0]
    for step in range(12):
        rows, rewards = generator.normal(2.0, 0.5, (2, 3)).astype(np.float32), generator.normal(1.0, 3.0, 2)
        stepped = [episode.is_reset for episode in episodes]
        for k, episode in enumerate(episodes):
            if stepped[k]:
                action = np.zeros(3, np.float32)
                episode.add_env_step(rows[k], action, rewards[k], terminated=k == 1 and step == 6)
                running[k] = gamma * running[k] + rewards[k]
                returns.append(running[k])
            else:
                episode.add_env_reset(rows[k])
        observations.extend(rows.astype(float))
        connector(batch={}, episodes=episodes)
        expected = (rows - np.mean(observations, 0)) / np.std(observations, 0)
        for k, episode in enumerate(episodes):
            np.testing.assert_allclose(episode.get_observations(-1), np.clip(expected[k], -10.0, 10.0), rtol=1e-3)
            if stepped[k]:
                scaled = np.clip(rewards[k] / np.sqrt(np.var(returns) + 1e-8), -10.0, 10.0)
                assert episode.get_rewards(-1) == pytest.approx(scaled, rel=1e-6)
        if episodes[1].is_done:
            episodes[1], running[1] = SingleAgentEpisode(observation_space=BOX, action_space=BOX), 0.0
    assert connector.of("returns").count == len(returns) == 21
