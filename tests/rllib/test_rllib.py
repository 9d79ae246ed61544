"""Training on Ray RLlib: on this machine, resumed, and on a cluster of two nodes, one of which is lost."""

import pickle
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import ray
from ray.cluster_utils import Cluster

from vigym.__main__ import main
from vigym.training import rllib
from vigym.training.runs import Run

SMALL = ["n_envs=8", "n_steps=32", "batch_size=128", "n_epochs=2"]
SMALL += ["policy_kwargs={'net_arch': [16, 16], 'activation_fn': 'ELU'}"]


def command(out: Path, steps: int, *args: str) -> list[str]:
    often = ["--eval-every", "1024", "--eval-episodes", "2", "--checkpoint-every", "512"]
    where = ["--backend", "ray", "--ray-runners", "1", "--out", str(out)]
    return ["train", "VICartPole-v0", "--steps", str(steps), *often, *where, *args, "--set", *SMALL]


def test_train_evaluate_and_resume(tmp_path, capsys):
    assert main(command(tmp_path, 1024)) == 0
    folder = tmp_path / "ppo" / "VICartPole-v0_1"
    assert main(["evaluate", "VICartPole-v0", "--policy", str(folder), "--episodes", "3"]) == 0
    assert rllib.found(folder)[-1] >= 1024
    first = pickle.loads((folder / rllib.CHECKPOINT.format(rllib.found(folder)[-1]) / rllib.STATE).read_bytes())
    config = folder / "VICartPole-v0" / "config.yml"
    config.write_text(config.read_text().replace('"n_timesteps": 1024', '"n_timesteps": 2048'))
    assert main(["train", "--resume", str(folder), "--ray-runners", "1"]) == 0
    assert f"going on with {folder}" in capsys.readouterr().out
    evaluations = np.load(folder / "evaluations.npz")
    assert len(evaluations["timesteps"]) > len(first["history"])
    assert evaluations["timesteps"][-1] >= 2048
    np.testing.assert_array_equal(evaluations["results"][0], first["history"][0][1])


def test_training_goes_on_when_a_node_is_lost(tmp_path, monkeypatch, capsys):
    """Two nodes with one processor and one runner each; the second one is killed after the first iteration."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    nodes, healthy = [], []
    train = rllib.Algorithm.train

    def watched(algorithm):
        result = train(algorithm)
        if not nodes:
            here = lambda runner: ray.get_runtime_context().get_node_id()  # noqa: E731
            nodes.extend(algorithm.env_runner_group.foreach_env_runner(here, local_env_runner=False))
            cluster.remove_node(second, allow_graceful=False)
        healthy.append(algorithm.env_runner_group.num_healthy_remote_workers())
        return result

    monkeypatch.setattr(rllib.Algorithm, "train", watched)
    try:
        args = ["--ray-address", cluster.address, "--ray-runners", "2"]
        assert main(command(tmp_path, 1536, *args)) == 0
    finally:
        cluster.shutdown()
    assert len(set(nodes)) == 2  # there was a runner on either node
    assert healthy[-1] == 1
    assert len(healthy) >= 4
    folder = tmp_path / "ppo" / "VICartPole-v0_1"
    assert np.load(folder / "evaluations.npz")["timesteps"][-1] >= 1536


def test_the_policy_is_that_of_the_module():
    """Exported, it gives the means that the module gives for observations of its own runner."""
    torch = pytest.importorskip("torch")
    from vigym.training import hyperparameters

    settings = hyperparameters.settings("ppo", "VICartPole-v0") | {"n_envs": 4, "n_steps": 16, "batch_size": 64}
    run = Run(Path("nowhere"), "ppo", "VICartPole-v0", 0, {}, settings, {"threads": 1})
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        algorithm = rllib.configuration(run, 1).build_algo()
        algorithm.train()
        policy = rllib.policy_of(algorithm, run, 0)
        seen = np.random.default_rng(0).normal(size=(5, 4))
        module = algorithm.get_module()
        normalised = np.clip((seen - policy.mean) / policy.scale, -policy.clip, policy.clip)
        with torch.no_grad():
            out = module.forward_inference({"obs": torch.tensor(normalised, dtype=torch.float32)})
        means = out["action_dist_inputs"].numpy()[:, :1]
        np.testing.assert_allclose(policy.act(seen), np.clip(means, -1.0, 1.0), atol=1e-5)
        assert (np.abs(policy.mean) > 0.0).any()
        algorithm.stop()
    finally:
        ray.shutdown()
