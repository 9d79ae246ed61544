"""The policies that vigym brings along do what their pages say: 10 episodes each, with NumPy alone."""

import math
from pathlib import Path

import gymnasium as gym
import pytest

from vigym.envs.controllers import SCRIPTED, scripted
from vigym.envs.controllers.learned import LEARNED_IS_BETTER, committed, learned
from vigym.envs.registration import ENVIRONMENTS
from vigym.training.episodes import run_episodes
from vigym.training.hyperparameters import ALGORITHMS
from vigym.training.results import COMMANDS, EPISODES, FIRST

ROOT = Path(__file__).parents[2]
IDS = [env_id for env_id in ENVIRONMENTS if committed(env_id).exists()]


def test_all_have_settings_and_a_page():
    assert set(IDS) <= {env_id for entries in ALGORITHMS.values() for env_id in entries}
    assert {path.name for path in (ROOT / "training" / "results").iterdir()} == set(IDS)
    assert {path.stem for path in committed(next(iter(ENVIRONMENTS))).parent.glob("*.npz")} == set(IDS)
    for env_id in IDS:
        page = (ROOT / "training" / "results" / env_id / "README.md").read_text(encoding="utf-8")
        assert f"python -m vigym.training.results {env_id}" in page
        assert learned(env_id).about["command"].startswith(f"vigym train {env_id} --seed ")
        assert committed(env_id).stat().st_size < 300_000


@pytest.mark.parametrize("env_id", IDS)
def test_they_succeed(env_id):
    """And the demo shows them where they beat the scripted controllers, only there."""
    options = {"command": COMMANDS[env_id]} if env_id in COMMANDS else None
    seeds = range(FIRST + EPISODES, FIRST + EPISODES + 10)  # that have not chosen the policy
    result = run_episodes(env_id, learned(env_id), seeds, options=options)
    assert result.success is not None
    assert result.success.sum() >= 9
    assert result.returns.mean() >= (gym.spec(env_id).reward_threshold or -math.inf)
    if env_id in SCRIPTED:
        other = run_episodes(env_id, scripted(env_id), seeds, options=options)
        assert (result.returns.mean() > other.returns.mean()) == (env_id in LEARNED_IS_BETTER)
