"""The commands: each runs, learns, and tells what is wrong with its arguments."""

import ast
import csv
import json
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from vigym import InputError, training
from vigym.__main__ import main
from vigym.envs.registration import ENVIRONMENTS
from vigym.training import hyperparameters, train
from vigym.training.measures import MEASURES

FEW = ["n_envs=4", "policy_kwargs={'net_arch': [8], 'activation_fn': 'Tanh'}"]
SMOKE = {
    "ppo": [*FEW, "n_steps=32", "batch_size=64"],
    "sac": [*FEW, "learning_starts=200", "gradient_steps=1", "buffer_size=1000"],
}


CASES = [(algo, env_id) for algo, entries in hyperparameters.ALGORITHMS.items() for env_id in entries]


@pytest.mark.parametrize(("algo", "env_id"), [*CASES, ("ppo", "VIPandaReach-v0"), ("sac", "VIHopper-v0")])
def test_train_and_evaluate_run(env_id, algo, tmp_path, capsys):
    args = ["--algo", algo, "--steps", "300", "--eval-every", "200", "--eval-episodes", "2", "--out", str(tmp_path)]
    assert main(["train", env_id, *args, "--set", *SMOKE[algo]]) == 0
    folder = tmp_path / algo / f"{env_id}_1"
    assert f"wrote {folder}" in capsys.readouterr().out
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    own = {"best_model.zip", "best_policy.npz", "evaluations.npz", "0.monitor.csv", f"{env_id}.zip"}
    assert names >= own | {f"{env_id}/config.yml", f"{env_id}/args.yml", "tensorboard"}
    assert json.loads((folder / env_id / "config.yml").read_text())["n_envs"] == 4
    evaluations = np.load(folder / "evaluations.npz")
    assert evaluations["results"].shape == (len(evaluations["timesteps"]), 2)

    rows = tmp_path / "rows.csv"
    assert main(["evaluate", env_id, "--policy", str(folder), "--episodes", "3", "--out", str(rows)]) == 0
    out = capsys.readouterr().out
    assert "success" in out
    with rows.open() as file:
        told = list(csv.DictReader(file))
    assert [row["seed"] for row in told] == ["1000000", "1000001", "1000002"]
    assert {row["success"] for row in told} <= {"True", "False"}


def test_cartpole_is_learned(tmp_path, capsys):
    """From the committed settings, to the threshold at which the environment counts as solved."""
    assert main(["train", "VICartPole-v0", "--out", str(tmp_path)]) == 0
    assert main(["evaluate", "VICartPole-v0", "--policy", str(tmp_path / "ppo" / "VICartPole-v0_1")]) == 0
    mean = float(capsys.readouterr().out.split("return                     ")[1].split()[0])
    assert mean >= gym.spec("VICartPole-v0").reward_threshold


def test_runs_count_on(tmp_path):
    args = ["train", "VICartPole-v0", "--steps", "1", "--set", *SMOKE["ppo"], "--out", str(tmp_path)]
    for k in (1, 2):
        assert main(args) == 0
        assert (tmp_path / "ppo" / f"VICartPole-v0_{k}" / "VICartPole-v0.zip").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["train"], "which environment"),
        (["train", "Hopper"], "'Hopper' is not an environment.* registered are .*VIHopper-v0"),
        (["train", "VIHopper-v0", "--set", "n_steps"], "expected name=value"),
        (["train", "VIHopper-v0", "--set", "nsteps=3"], "nsteps"),
        (["train", "VIHopper-v0", "--steps", "0"], "--steps must be at least 1"),
        (
            ["train", "VIHopper-v0", "--env-kwargs", "fiction=0.3"],
            "no argument 'fiction', did you mean 'friction'",
        ),
        (["train", "VIHopper-v0", "--env-kwargs", "frame_skip=0"], "^frame_skip must be a positive integer"),
        (["train", "VIHopper-v0", "--threads", "0"], "--threads must be at least 1"),
        (["train", "VIHopper-v0", "--eval-every", "0"], "--eval-every must be at least 1"),
        (["train", "VIHopper-v0", "--seed", "-1"], "--seed must be at least 0"),
        (["train", "VIHopper-v0", "--out", "/proc/nowhere"], "no folder can be made in /proc/nowhere"),
        (["train", "VIHopper-v0", "--env-kwargs", "num_envs=2"], "num_envs is not an argument.* n_envs"),
        (["train", "VIHopper-v0", "--set", "learning_rate=fast"], "learning_rate must be a finite number"),
        (["train", "VIHopper-v0", "--set", "policy_kwargs=5"], "hyperparameters of ppo: "),
        (["train", "VIHopper-v0", "--set", "policy_kwargs={'activation_fn': 'GELU'}"], "activation_fn must be one of"),
        (["train", "VIHopper-v0", "--ray-runners", "2"], "--ray-runners are for --backend ray"),
        (["train", "CartPole-v1"], "CartPole-v1 is not an environment of vigym"),
        (["evaluate", "VIHopper-v0", "--seed", "-1"], "--seed must be at least 0"),
        (["evaluate", "VICartPole-v0", "--command", "1"], "VICartPole-v0 takes no command"),
        (["evaluate", "VICartPole-v0", "--out", "/proc/nowhere/a.csv"], "nowhere"),
        (["demo", "box", "--controller", "learned"], "--controller is for environments"),
        (["evaluate", "VIHopper-v0", "--episodes", "0"], "--episodes must be at least 1"),
        (["evaluate", "VIHopper-v0", "--policy", "nowhere"], "nowhere is not a policy"),
        (["evaluate", "VIPendulum-v0", "--policy", "scripted"], "has no scripted controller"),
        (["evaluate", "VIHopperHop-v0", "--policy", "scripted", "--command", "1"], "command.* finite numbers of shape"),
    ],
)
def test_bad_arguments(args, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=message):
        main(args)
    assert not list(tmp_path.rglob("*_1"))  # no folder of a run that did not begin


@pytest.mark.parametrize("module", ["stable_baselines3", "tensorboard"])
def test_without_the_extra_the_command_says_what_to_install(module, monkeypatch, tmp_path):
    monkeypatch.setattr(train, "find_spec", lambda name: None if name == module else find_spec(name))
    with pytest.raises(SystemExit, match=rf'{module} is not installed: pip install "vigym\[train\]"'):
        main(["train", "VIHopper-v0", "--out", str(tmp_path)])


def test_backends_have_the_same_entry():
    """Read, not imported: the two are never installed together."""
    folder, found = Path(training.__file__).parent, []
    for backend, _, _ in train.BACKENDS.values():
        tree = ast.parse((folder / backend / "learn.py").read_text(encoding="utf-8"))
        (entry,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "learn")
        found.append((ast.unparse(entry.args), ast.unparse(entry.returns), ast.get_docstring(entry)))
    assert len(found) == 2
    assert found[0] == found[1]


def test_two_runs_never_share_a_folder(tmp_path):
    from vigym.training.runs import new_folder

    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lambda _: new_folder(tmp_path, "ppo", "VIHopper-v0"), range(40)))
    assert len(set(folders)) == 40
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="choose another --out"):
        new_folder(tmp_path / "file", "ppo", "VIHopper-v0")


def test_one_rollout_is_enough_to_learn(tmp_path):
    """With a rate that falls to 0 at the end of the training, too."""
    from stable_baselines3.common.save_util import load_from_zip_file

    weights = []
    for steps in ("1", "1024", "1025"):  # a rollout has 1024
        assert main(["train", "VICartPole-v0", "--steps", steps, "--out", str(tmp_path)]) == 0
    for k in (1, 2, 3):
        _, parameters, _ = load_from_zip_file(tmp_path / "ppo" / f"VICartPole-v0_{k}" / "VICartPole-v0.zip")
        weights.append(parameters["policy"]["action_net.weight"].numpy())
    from stable_baselines3 import PPO

    from vigym.training.sb3.vec_env import NativeVecEnv

    fresh = PPO(
        "MlpPolicy", NativeVecEnv("VICartPole-v0", 1), seed=0, device="cpu", policy_kwargs={"net_arch": [64, 64]}
    )
    start = fresh.policy.action_net.weight.detach().numpy()
    for learned in weights:
        assert np.abs(learned - start).max() > 1e-3


def test_the_best_policy_is_the_one_with_most_successes_then_return(tmp_path, monkeypatch):
    from vigym.training import evaluations
    from vigym.training.episodes import Episodes
    from vigym.training.runs import Run

    outcomes = iter([(0.5, 10.0), (0.5, 9.0), (1.0, 3.0), (0.5, 99.0), (1.0, 4.0)])

    def episodes(*args, **kwargs):
        rate, mean = next(outcomes)
        return Episodes([0, 1], np.full(2, mean), np.ones(2, int), {"success": np.array([True, rate == 1.0])})

    class Policy:
        def save(self, path):
            path.write_text("")

    monkeypatch.setattr(evaluations, "run_episodes", episodes)
    kept = evaluations.Evaluations(
        Run(tmp_path, "ppo", "VIHopper-v0", 0, {}, {}, {"eval_every": 10, "eval_episodes": 2})
    )
    assert [kept.add(10 * k, Policy())[1] for k in range(1, 6)] == [True, False, True, False, True]
    assert kept.kept["best"] == (1.0, 4.0)


def test_results_are_written_from_runs_that_are_there(tmp_path, monkeypatch, capsys):
    from vigym.training.results import results

    small = hyperparameters.PPO["VICartPole-v0"] | {"n_timesteps": 2048}
    monkeypatch.setitem(hyperparameters.PPO, "VICartPole-v0", small)
    monkeypatch.setattr("vigym.training.results.EPISODES", 3)
    (tmp_path / "logs" / "ppo" / "VICartPole-v0_x").mkdir(parents=True)  # somebody else's
    folders = {"logs": tmp_path / "logs", "out": tmp_path / "out", "policies": tmp_path / "policies"}
    for seeds in (1, 2):
        results("VICartPole-v0", seeds=seeds, **folders)
    assert len(list((tmp_path / "logs" / "ppo").iterdir())) == 3  # the first run was not made twice
    page = (tmp_path / "out" / "VICartPole-v0" / "README.md").read_text()
    assert page.count("| 2,048 |") == 2
    assert (tmp_path / "out" / "VICartPole-v0" / "curve.png").stat().st_size > 10_000
    assert (tmp_path / "policies" / "VICartPole-v0.npz").exists()
    with pytest.raises(SystemExit, match="not an environment"):
        results("Hopper", **folders)


def test_throughput_runs(monkeypatch, capsys):
    pytest.importorskip("mujoco")
    from vigym.training import throughput

    monkeypatch.setattr(throughput, "SETTINGS", throughput.SETTINGS | {"n_steps": 4, "batch_size": 8, "n_epochs": 1})
    throughput.throughput(n_envs=2, passes=1)
    assert "ratio" in capsys.readouterr().out


def test_settings_and_measures_are_of_environments():
    trained = set(hyperparameters.PPO) | set(hyperparameters.SAC)
    assert trained <= set(MEASURES) <= set(ENVIRONMENTS)  # what is trained is measured
    assert hyperparameters.algorithm("VIPandaReach-v0") == "sac"
    assert {hyperparameters.algorithm(env_id) for env_id in ("VIPendulum-v0", "VIHumanoid-v0")} == {"ppo"}
    for entry in hyperparameters.hyperparams.values():
        assert entry["policy_kwargs"].startswith("dict(net_arch=[")
        size = entry["n_envs"] * entry["n_steps"]
        assert size % entry["batch_size"] == 0  # else SB3 warns: the last batch would be short


@pytest.mark.parametrize("env_id", ["VIHopper-v0", "VIHopperHop-v0", "VISnake-v0"])
def test_scripted_controllers_succeed(env_id, capsys):
    assert main(["evaluate", env_id, "--policy", "scripted", "--episodes", "10"]) == 0
    assert "success                    10 of 10" in capsys.readouterr().out


def test_a_trot_is_a_success_and_a_fall_is_not(capsys):
    args = ["evaluate", "VIQuadruped-v0", "--policy", "scripted", "--episodes", "4"]
    assert main([*args, "--command", "0.6", "0", "0"]) == 0
    assert "success                    4 of 4" in capsys.readouterr().out
    assert main([*args, "--env-kwargs", "friction=0.05"]) == 0
    assert "success                    0 of 4" in capsys.readouterr().out


def test_the_first_episode_is_recorded(tmp_path, capsys):
    from vigym.view.replay.replay import Replay

    path = tmp_path / "replays" / "flip.vigym"
    assert main(["evaluate", "VIHopper-v0", "--policy", "scripted", "--episodes", "2", "--replay", str(path)]) == 0
    assert f"vigym view {path}" in capsys.readouterr().out
    assert len(Replay.load(path)) == 201  # the start and 200 control steps


def test_policies_are_for_their_environment(tmp_path):
    assert main(["train", "VICartPole-v0", "--steps", "1", "--set", *SMOKE["ppo"], "--out", str(tmp_path)]) == 0
    folder: Path = tmp_path / "ppo" / "VICartPole-v0_1"
    with pytest.raises(SystemExit, match="is a policy for VICartPole-v0, not for VIPendulum-v0"):
        main(["evaluate", "VIPendulum-v0", "--policy", str(folder)])
