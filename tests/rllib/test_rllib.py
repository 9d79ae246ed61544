"""Training on Ray RLlib: killed and resumed, and on a cluster of two nodes, one of which is lost and comes back."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import ray
from ray.cluster_utils import Cluster
from ray.rllib.algorithms.algorithm import Algorithm

from vigym.__main__ import main
from vigym.training.rllib import checkpoints
from vigym.training.rllib.config import restarted
from vigym.training.rllib.export import normalisation
from vigym.training.rllib.normalize import Normalize
from vigym.training.runs import Run
from vigym.training.trust import first_doubt

SMALL = ["n_envs=8", "n_steps=32", "batch_size=128", "n_epochs=2"]
SMALL += ["policy_kwargs={'net_arch': [16, 16], 'activation_fn': 'ELU'}"]
FOREVER, PATIENCE = 10_000_000, 300.0  # steps, s


def command(out: Path, runners: int, *args: str) -> list[str]:
    often = ["--eval-every", "200", "--eval-episodes", "2", "--checkpoint-every", "512"]
    where = ["--backend", "ray", "--ray-runners", str(runners), "--out", str(out)]
    return ["train", "VICartPole-v0", "--steps", str(FOREVER), *often, *where, *args, "--set", *SMALL]


def test_killed_and_resumed(tmp_path, capsys):
    """With other runners than before, to the end; nothing is left in the user's home."""
    folder, home = tmp_path / "ppo" / "VICartPole-v0_1", tmp_path / "home"
    home.mkdir()
    words = [sys.executable, "-m", "vigym", *command(tmp_path, 2)]
    with subprocess.Popen(words, env=os.environ | {"HOME": str(home)}, start_new_session=True) as process:
        try:
            before = time.monotonic()
            while len(checkpoints.found(folder)) < 2 and time.monotonic() < before + PATIENCE:
                assert process.poll() is None
                time.sleep(0.1)
        finally:
            process.kill()
    assert not (home / "ray_results").exists()
    assert first_doubt(folder) is None  # nobody else can write there, though Ray would let them
    steps = checkpoints.last(folder)
    run, total = Run.read(folder), steps + 600
    run.settings["n_timesteps"] = total
    run.write()
    assert main(["train", "--resume", str(folder), "--ray-runners", "1"]) == 0
    assert f"going on with {folder}, 1 runners with 8 environments each" in capsys.readouterr().out
    evaluated = np.load(folder / "evaluations.npz")["timesteps"]
    assert evaluated[0] < steps  # before
    assert total <= evaluated[-1] == checkpoints.last(folder) < total + 300
    assert (np.diff(evaluated) > 0).all()  # one an iteration, at the end as well
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == sorted(
        ["VICartPole-v0", *(checkpoints.CHECKPOINT.format(at) for at in checkpoints.found(folder))]
    )
    assert main(["evaluate", "VICartPole-v0", "--policy", str(folder), "--episodes", "3"]) == 0
    with pytest.raises(SystemExit, match="is finished"):
        main(["train", "--resume", str(folder)])


def test_a_node_is_lost_and_comes_back(tmp_path, monkeypatch, capsys):
    """Two nodes with one processor and one runner each; the second is killed, and later there is a new one.

    Then Ctrl-C: it ends with a checkpoint.
    """
    before = signal.getsignal(signal.SIGINT)  # nobody listens to it in a background job
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second, began = cluster.add_node(num_cpus=1), time.monotonic()
    nodes, healthy, told = [], [], []
    train = Algorithm.train

    def watched(algorithm):
        result, group = train(algorithm), algorithm.env_runner_group
        healthy.append(group.num_healthy_remote_workers())
        if healthy == [2]:
            here = lambda runner: ray.get_runtime_context().get_node_id()  # noqa: E731
            nodes.extend(group.foreach_env_runner(here, local_env_runner=False))
            cluster.remove_node(second, allow_graceful=False)
        elif healthy.count(1) == 3 and healthy[-1] == 1:
            cluster.add_node(num_cpus=1)
        elif (healthy.count(1) > 3 and healthy[-1] == 2) or time.monotonic() > began + PATIENCE:
            told.extend(group.foreach_env_runner(state_of, local_env_runner=False))
            told.append(normalisation(algorithm).of("observations"))
            os.kill(os.getpid(), signal.SIGINT)
        return result

    def state_of(runner):
        (connector,) = (part for part in runner._env_to_module if isinstance(part, Normalize))
        return restarted(), connector.known["observations"]

    monkeypatch.setattr(Algorithm, "train", watched)
    try:
        assert main(command(tmp_path, 2, "--ray-address", cluster.address)) == 0
    finally:
        cluster.shutdown()
    assert len(set(nodes)) == 2  # there was a runner on either node
    assert healthy[-1] == 2
    assert sorted(again for again, _ in told[:2]) == [False, True]
    for _, known in told[:2]:  # the new runner has the statistics of the others
        assert known.count == told[2].count
        np.testing.assert_array_equal(known.mean, told[2].mean)
    folder = tmp_path / "ppo" / "VICartPole-v0_1"
    steps = checkpoints.last(folder)
    assert f"stopped after {steps} steps; vigym train --resume {folder} goes on" in capsys.readouterr().out
    assert signal.getsignal(signal.SIGINT) is before
