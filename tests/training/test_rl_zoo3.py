"""rl_zoo3 trains vigym's environments with vigym's settings, and plays what `vigym train` has trained."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from vigym.__main__ import main

if find_spec("rl_zoo3") is None:  # not imported: it changes Gymnasium's TimeLimit for everybody
    pytest.skip("rl_zoo3 is not installed", allow_module_level=True)

COMMON = ["--algo", "ppo", "--env", "VICartPole-v0", "--gym-packages", "vigym"]


def zoo(script: str, *args: str) -> str:
    """Output of a script of rl_zoo3."""
    command = [sys.executable, "-m", f"rl_zoo3.{script}", *COMMON, *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_trains_with_our_settings(tmp_path):
    settings = ["--conf-file", "vigym.training.hyperparameters", "-n", "1024", "--eval-freq", "-1"]
    out = zoo("train", *settings, "-f", str(tmp_path))
    assert "('n_envs', 32)" in out
    assert (tmp_path / "ppo" / "VICartPole-v0_1" / "VICartPole-v0.zip").exists()


def test_it_plays_our_runs(tmp_path):
    assert main(["train", "VICartPole-v0", "--steps", "1024", "--out", str(tmp_path)]) == 0
    assert "Mean reward" in zoo("enjoy", "--folder", str(tmp_path), "--no-render", "-n", "100")
