"""Environments on the command line: ids with a module, arguments by name, suggestions."""

import inspect
import pickle
import pydoc
import sys
from pathlib import Path

import gymnasium as gym
import pytest

import vigym
from vigym.__main__ import main
from vigym.engine.errors import InputError
from vigym.envs import words
from vigym.envs.hopper import Hopper
from vigym.envs.registration import ENVIRONMENTS

HERE = Path(__file__).parent


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> str:
    """Stand in the folder of a user's module, which is not installed."""
    monkeypatch.chdir(HERE)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if Path(path or ".").resolve() != HERE])
    return "own_robots:lab/OwnSwing-v0"


def test_a_module_in_the_current_folder_is_imported(own: str) -> None:
    assert words.known_env(own) == own
    assert words.bare_id(own) == "lab/OwnSwing-v0"
    assert words.file_name(own) == "lab-OwnSwing-v0"
    assert words.env_arguments(own, ["torque=2.5"]) == {"torque": 2.5}


@pytest.mark.parametrize(
    ("env_id", "said"),
    [
        ("VIHoper-v0", "did you mean 'VIHopper-v0'"),
        ("no_such_module:X-v0", "No module named 'no_such_module'"),
        ("CartPole-v1", "not an environment of vigym"),
    ],
)
def test_other_ids_are_errors_that_help(env_id: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        words.known_env(env_id)


def test_misspelt_arguments_are_suggested() -> None:
    with pytest.raises(InputError, match="no argument 'obsrvation', did you mean 'observation'"):
        words.env_arguments("VIHopper-v0", ["obsrvation=maximal"])


def test_training_and_evaluation_of_ones_own(own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Trained, resumed from its folder's description, evaluated: with the module in the id, and arguments kept."""
    pytest.importorskip("stable_baselines3")
    settings = ["n_envs=4", "n_steps=20", "batch_size=40", "n_epochs=1"]
    given = ["--env-kwargs", "torque=2.0", "--set", *settings, "--eval-episodes", "2", "--out", str(tmp_path)]
    assert main(["train", own, "--steps", "160", *given]) == 0
    folder = tmp_path / "ppo" / "lab-OwnSwing-v0_1"
    assert (folder / "lab-OwnSwing-v0.zip").exists()
    curves = list((folder / "tensorboard").iterdir())
    assert len(curves) == 1, "a second, empty file of TensorBoard's"
    assert b"reward/reward_height" in curves[0].read_bytes()
    capsys.readouterr()
    main(["evaluate", own, "--policy", str(folder), "--episodes", "3", "--env-kwargs", "torque=2.0"])
    assert "lab/OwnSwing-v0 under" in capsys.readouterr().out


def test_misspelt_hyperparameters_are_suggested(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    with pytest.raises(SystemExit, match="PPO has no hyperparameter 'lerning_rate', did you mean 'learning_rate'"):
        main(["train", "VICartPole-v0", "--set", "lerning_rate=1", "--out", str(tmp_path)])


def test_environments_are_listed_under_vigym() -> None:
    told = gym.pprint_registry(disable_print=True)
    assert told is not None
    group = told.split("===== vigym =====\n")[1].split("=====")[0].split()
    assert {"VIHopper-v0", "VIAnt-v0"} <= set(group)
    assert [name for name in group if name in ENVIRONMENTS] == sorted(ENVIRONMENTS)


def test_help_of_an_environment_is_its_page() -> None:
    env = gym.make("VIHopper-v0").unwrapped
    assert env.__doc__ == inspect.getdoc(Hopper)
    first = inspect.getdoc(Hopper).splitlines()[0]
    assert first in pydoc.render_doc(env)
    assert pickle.loads(pickle.dumps(env)).__doc__ == env.__doc__
    assert gym.make_vec("VIHopper-v0", num_envs=2).__doc__ == env.__doc__


def test_signatures_are_short() -> None:
    for method in (vigym.Mechanism.add_joint, vigym.Mechanism.add_body, vigym.Simulator.set_state):
        told = str(inspect.signature(method))
        assert "_SupportsArray" not in told
        assert len(told) < 1500


def test_bench_keeps_its_hands_off_the_committed_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vigym.benchmarks import bench

    seen = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "measure", lambda suite, quick, folder, repeats: seen.append(folder))
    monkeypatch.setattr(bench, "write", lambda folder, print_targets: [])
    bench.bench("disc")
    assert seen[0].parts[0] == "vigym-bench"


def test_view_runs_an_environment_of_ones_own(own, tmp_path):
    """With arguments, and under random actions, as it has no controller."""
    recording = tmp_path / "new" / "run.png"
    main(["view", own, "--env-kwargs", "torque=2.0", "--seconds", "0.1", "--out", str(recording)])
    assert recording.is_file()
    with pytest.raises(SystemExit, match="did you mean 'torque'"):
        main(["view", own, "--env-kwargs", "torqe=2.0", "--out", str(recording)])
