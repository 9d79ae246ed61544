"""The algorithm of Ray RLlib: what a checkpoint keeps, and the policy that is exported."""

import time

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import ray
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.env.single_agent_episode import SingleAgentEpisode

from vigym.training import hyperparameters
from vigym.training.evaluations import Evaluations
from vigym.training.rllib import checkpoints, export, learn
from vigym.training.runs import Run


@pytest.fixture(scope="module")
def here():
    """Ray, with one processor."""
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def run(here, tmp_path):
    settings = hyperparameters.settings("ppo", "VICartPole-v0") | {"n_envs": 4, "n_steps": 16, "batch_size": 64}
    settings["policy_kwargs"] = {"net_arch": [16, 16], "activation_fn": "ELU", "log_std_init": -0.5}
    arguments = {"threads": 1, "eval_every": 100, "eval_episodes": 2}
    return Run(tmp_path, "ppo", "VICartPole-v0", 0, {}, settings, arguments)


def all_of(algorithm):
    """Weights of the learner and of the runner, state of the optimizer, statistics of the runner."""
    learner = algorithm.learner_group.get_state()["learner"]
    (runner,) = algorithm.env_runner_group.foreach_env_runner(lambda one: one.get_state(), local_env_runner=False)
    weights, normalize = runner["rl_module"], runner["env_to_module_connector"]["Normalize"]
    parts = {
        "learner": learner["rl_module"]["default_policy"],
        "runner": weights.get("default_policy", weights),
        "optimizer": learner["optimizer"],
        "known": {name: vars(known) for name, known in normalize["known"].items()},
    }
    return numbers(parts)


def numbers(tree, name=""):
    """All leaves of nested dictionaries and lists, with their paths."""
    if isinstance(tree, dict | list | tuple):
        pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
        return {key: leaf for part, value in pairs for key, leaf in numbers(value, f"{name}/{part}").items()}
    return {name: tree}


def test_what_a_checkpoint_keeps(run, monkeypatch):
    """All there is to learn, in the learner and in the runner, however busy; the rate goes on as well."""
    algorithm = learn.build(run, 1)
    log_std = algorithm.get_module().state_dict()["pi.log_std"]
    np.testing.assert_array_equal(log_std.numpy(), np.float32([-0.5]))
    for _ in range(3):
        algorithm.train()
    kept = all_of(algorithm)
    checkpoints.save(run.folder, 192, algorithm, Evaluations(run))
    algorithm.train()
    later = all_of(algorithm)
    algorithm.stop()
    monkeypatch.setattr(Algorithm, "restore_from_path", restore_while_busy(Algorithm.restore_from_path))
    resumed = learn.build(run, 1, 192)
    found = all_of(resumed)
    resumed.train()
    rates = {name for name in later if name.endswith("/lr")}
    for name in rates:
        assert all_of(resumed)[name] == pytest.approx(later[name], rel=1e-2)
        assert later[name] < kept[name]
    resumed.stop()
    assert found.keys() == kept.keys()
    for name, value in kept.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
    for part in ("/learner/", "/runner/", "/optimizer/", "/known/observations/", "/known/returns/"):
        names = [name for name in kept if name.startswith(part)]
        assert any(np.any(kept[name] != later[name]) for name in names), part  # there is something to keep
    assert rates


def restore_while_busy(restore):
    """As restore, while the runner has not yet done with weights it got before."""

    def slowly(algorithm, path):
        runners = algorithm.env_runner_group
        runners.foreach_env_runner("ping", local_env_runner=False)
        runners.foreach_env_runner(lambda _: time.sleep(2), local_env_runner=False, timeout_seconds=0)
        runners.sync_weights(from_worker_or_learner_group=algorithm.learner_group, inference_only=True)
        restore(algorithm, path)

    return slowly


@pytest.mark.parametrize("normalize", [True, False])
def test_the_policy_does_what_the_runner_does(run, normalize):
    run.settings["normalize"] = normalize
    algorithm = learn.build(run, 1)
    for _ in range(2):
        algorithm.train()
    policy = export.policy_of(algorithm, run, 0)
    seen = np.random.default_rng(0).normal(0.5, 3.0, size=(50, 4)).astype(np.float32)

    def act(runner):
        """All with the runner's own connectors and module, without exploration."""
        episodes = [SingleAgentEpisode(observation_space=runner.env.single_observation_space) for _ in seen]
        for episode, row in zip(episodes, seen, strict=True):
            episode.add_env_reset(row)
        common = {"rl_module": runner.module, "episodes": episodes, "explore": False, "shared_data": {}}
        outputs = runner.module.forward_inference(runner._env_to_module(batch={}, **common))
        return np.array(runner._module_to_env(batch=outputs, **common)["actions_for_env"])

    (expected,) = algorithm.env_runner_group.foreach_env_runner(act, local_env_runner=False)
    algorithm.stop()
    np.testing.assert_allclose(policy.act(seen), expected, atol=1e-5)
    assert expected.std() > 0.1
    assert (np.abs(policy.mean) > 1e-3).all() == normalize
