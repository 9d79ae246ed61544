"""Settings that Ray RLlib gets: seeds, hyperparameters, and what is refused before anything starts."""

import socket
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import ray

from vigym.__main__ import main
from vigym.engine.errors import InputError
from vigym.training import hyperparameters
from vigym.training.rllib import cluster, config
from vigym.training.runs import Run


def small_run(folder: Path, **changes) -> Run:
    settings = hyperparameters.settings("ppo", "VICartPole-v0") | {"n_envs": 4, "n_steps": 16, "batch_size": 64}
    arguments = {"threads": 1, "ray_address": None, "ray_runners": None}
    return Run(folder, "ppo", "VICartPole-v0", 0, {}, settings | changes, arguments)


def starts(seed: int) -> np.ndarray:
    env = config.make_env({"env_id": "VICartPole-v0", "num_envs": 4})
    return env.reset(seed=seed)[0]


def runner_seeds(run: Run, steps: int) -> list[int]:
    """As RLlib makes them: those of runners 1 and 2."""
    return [config.configuration(run, 2, steps=steps).seed + k for k in (1, 2)]


def test_no_two_environments_start_alike(tmp_path):
    """Not of two runners, not before and after an interruption, not of two seeds; the same ones come again, though."""
    run = small_run(tmp_path)
    other = Run(run.folder, run.algo, run.env_id, 1, {}, run.settings, run.arguments)
    seeds = [*runner_seeds(run, 0), *runner_seeds(run, 1000), *runner_seeds(other, 0)]
    rows = np.concatenate([starts(seed) for seed in seeds])
    assert len(np.unique(rows, axis=0)) == len(rows) == 24
    np.testing.assert_array_equal(starts(seeds[0]), rows[:4])


def test_a_runner_that_comes_again_starts_elsewhere(monkeypatch):
    first = starts(5)
    monkeypatch.setattr(config, "restarted", lambda: True)
    rows = np.concatenate([first, starts(5), starts(5)])
    assert len(np.unique(rows, axis=0)) == 12


def test_hyperparameters_have_their_counterparts(tmp_path):
    given = {"learning_rate": "lin_1e-3", "ent_coef": 0.01, "gamma": 0.9, "gae_lambda": 0.8, "clip_range": 0.3}
    given |= {"vf_coef": 0.7, "max_grad_norm": 0.6, "n_epochs": 3, "n_timesteps": 5000, "normalize": False}
    network = {"net_arch": [8, 9], "activation_fn": "ReLU", "log_std_init": -0.5}
    made = config.configuration(small_run(tmp_path, policy_kwargs=network, **given), 2)
    assert made.lr == [[0, 1e-3], [5000, 0.0]]
    assert (made.entropy_coeff, made.gamma, made.lambda_, made.clip_param) == (0.01, 0.9, 0.8, 0.3)
    assert (made.vf_loss_coeff, made.grad_clip, made.num_epochs, made.minibatch_size) == (0.7, 0.6, 3, 64)
    assert (made.num_envs_per_env_runner, made.train_batch_size_per_learner) == (2, 64)
    model = made.rl_module_spec.model_config
    assert (model["fcnet_hiddens"], model["fcnet_activation"], model["log_std_init"]) == ([8, 9], "ReLU", -0.5)
    assert made._env_to_module_connector is None
    assert config.configuration(small_run(tmp_path), 2)._env_to_module_connector is not None


@pytest.mark.parametrize("env_id", hyperparameters.PPO)
def test_every_entry_of_the_file_is_understood(env_id, tmp_path):
    run = Run(tmp_path, "ppo", env_id, 0, {}, hyperparameters.settings("ppo", env_id), {"threads": 1})
    config.check(run)


NETWORK = "'net_arch': [8], 'activation_fn': 'Tanh'"
REFUSED = {
    "no hyperparameter 'nsteps'": ["--set", "nsteps=3"],
    "no hyperparameter 'target_kl'": ["--set", "target_kl=0.01"],
    "no hyperparameter 'clip_range_vf'": ["--set", "clip_range_vf=0.2"],
    "no name in policy_kwargs 'ortho_init'": ["--set", f"policy_kwargs={{{NETWORK}, 'ortho_init': False}}"],
    "sizes of layers as net_arch": ["--set", "policy_kwargs={'net_arch': {'pi': [8], 'vf': [8]}}"],
    "activation_fn must be one of": ["--set", "policy_kwargs={'activation_fn': 'SiLU'}"],
    "policy_kwargs must be a dictionary": ["--set", "policy_kwargs=none"],
    "a number as clip_range, got 'lin_0.2'": ["--set", "clip_range=lin_0.2"],
    "a number as learning_rate": ["--set", "learning_rate=fast"],
    "n_envs must be a whole number": ["--set", "n_envs=0"],
    "PPO only": ["--algo", "sac"],
    "--ray-runners must be at least 1, got 0": ["--ray-runners", "0"],
    "--ray-runners must be at least 1, got -2": ["--ray-runners", "-2"],
    "such as 10.0.0.1:6379, got 'somewhere'": ["--ray-address", "somewhere"],
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused_at_once(message, tmp_path):
    with pytest.raises(SystemExit, match=message):
        main(["train", "VIPendulum-v0", "--backend", "ray", "--out", str(tmp_path), *REFUSED[message]])
    assert not list(tmp_path.glob("*/*"))


def test_nothing_at_the_address(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(SystemExit, match=f"{address} .*ray start --head"):
        main(["train", "VICartPole-v0", "--backend", "ray", "--out", str(tmp_path), "--ray-address", address])


def test_more_runners_than_processors(tmp_path, monkeypatch):
    monkeypatch.setattr(ray, "init", lambda **options: None)
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 2.0})
    run = small_run(tmp_path)
    assert cluster.connect(run) == 2
    run.arguments["ray_runners"] = 5
    with pytest.raises(InputError, match="--ray-runners 5 needs as many processors, and Ray has 2: ask for fewer"):
        cluster.connect(run)


def test_a_batch_larger_than_a_rollout(tmp_path):
    with pytest.raises(InputError, match="batch_size 65 is more than a rollout, which has 64 steps"):
        config.configuration(small_run(tmp_path, batch_size=65), 2)
