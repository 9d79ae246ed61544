"""A run that is killed and resumed learns the same as one that is not, bit for bit."""

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from stable_baselines3.common.save_util import load_from_zip_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from vigym import InputError
from vigym.__main__ import main
from vigym.training import plain, runs
from vigym.training.checkpoints import KEPT
from vigym.training.sb3 import checkpoints

SMALL = "policy_kwargs={'net_arch': [16, 16], 'activation_fn': 'Tanh'}"
RUNS = {
    "ppo": [
        "VICartPole-v0",
        "--steps",
        "8000",
        "--set",
        "n_envs=8",
        "n_steps=32",
        "n_epochs=4",
        "batch_size=256",
        SMALL,
    ],
    "sac": [
        *("VICartPole-v0", "--steps", "3000", "--set", "n_envs=4", "learning_starts=500", "gradient_steps=1", SMALL),
        *("buffer_size=2000", "batch_size=64", "normalize=True"),
    ],
}
EVERY = {"ppo": "1000", "sac": "400"}
SECOND = 1.1  # s; TensorBoard's files are ordered by the second in which a run begins or goes on


def command(algo: str, out: Path) -> list[str]:
    often = ["--checkpoint-every", EVERY[algo], "--eval-every", EVERY[algo], "--eval-episodes", "3"]
    return ["train", *RUNS[algo], "--algo", algo, *often, "--seed", "3", "--out", str(out)]


def kill_after_checkpoints(command: list[str], folder: Path, count: int) -> None:
    """Start a run in a process of its own, and kill it (no handler runs) some time after so many checkpoints."""
    process = subprocess.Popen([sys.executable, "-m", "vigym", *command], stderr=subprocess.DEVNULL)
    last, seen = None, 0
    while seen < count:
        assert process.poll() is None, "ended before it was killed"
        steps = checkpoints.found(folder)
        if steps and steps[-1] != last:
            last, seen = steps[-1], seen + 1
        time.sleep(0.002)
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    time.sleep(SECOND)


def outcome(folder: Path) -> dict:
    """Everything that the run has learned and written, but for the time of day."""
    _, parameters, variables = load_from_zip_file(folder / "VICartPole-v0.zip")
    normalize = pickle.loads((folder / "VICartPole-v0" / "vecnormalize.pkl").read_bytes())
    monitor = (folder / "0.monitor.csv").read_text().splitlines()
    return {
        "parameters": parameters,
        "variables": variables,
        "normalisation": [vars(normalize.obs_rms), vars(normalize.ret_rms)],
        "evaluations": dict(np.load(folder / "evaluations.npz")),
        "episodes": [line.split(",")[:2] for line in monitor[1:]],
        "best": dict(np.load(folder / "best_policy.npz")),
        "curves": curves(folder),
    }


def curves(folder: Path) -> dict:
    """Steps and values of every curve that TensorBoard shows, but for the times."""
    events = EventAccumulator(str(folder / "tensorboard")).Reload()
    return {
        tag: [(event.step, None if tag.startswith("time/") else event.value) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def assert_same(one, other, where=""):
    if isinstance(one, dict):
        assert set(one) == set(other), where
        for name in one:
            assert_same(one[name], other[name], f"{where} {name}")
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other), where
        for k, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where} {k}")
    elif one is not None and not isinstance(one, (str, bool)):
        np.testing.assert_array_equal(array(one), array(other), where)
    else:
        assert one == other, where


def array(value):
    return value.detach().numpy() if hasattr(value, "detach") else np.asarray(value)


@pytest.mark.parametrize("algo", ["ppo", "sac"])
def test_a_killed_run_goes_on_as_if_it_had_not_been(algo, tmp_path):
    killed, whole = (tmp_path / name / algo / "VICartPole-v0_1" for name in ("killed", "whole"))
    kill_after_checkpoints(command(algo, tmp_path / "killed"), killed, 2)
    assert not (killed / "VICartPole-v0.zip").exists()
    (killed / ".partial-0123abcd.npz").write_bytes(b"cut off")
    assert main(["train", "--resume", str(killed)]) == 0
    assert main(command(algo, tmp_path / "whole")) == 0
    assert_same(outcome(killed), outcome(whole))
    assert len(checkpoints.found(killed)) == KEPT
    assert not list(killed.glob(".partial-*"))


def test_a_damaged_checkpoint_is_passed_over(tmp_path, capsys):
    folder = tmp_path / "ppo" / "VICartPole-v0_1"
    assert main(command("ppo", tmp_path)) == 0
    expected = outcome(folder)
    before, last = checkpoints.found(folder)
    (folder / "VICartPole-v0" / runs.TIMES).unlink()  # as if it had been killed at the end
    flip(checkpoints.path_of(folder, last))
    time.sleep(SECOND)
    assert main(["train", "--resume", str(folder)]) == 0
    told = (
        f"checkpoint_{last}.npz is damaged: its content does not match its checksum; going on from checkpoint_{before}"
    )
    assert told in capsys.readouterr().err
    assert_same(outcome(folder), expected)
    assert checkpoints.found(folder) == [before, last]
    for steps in (before, last):
        flip(checkpoints.path_of(folder, steps))
    (folder / "VICartPole-v0" / runs.TIMES).unlink()
    with pytest.raises(SystemExit, match=f"no checkpoint left.*checkpoint_{last}.npz is damaged.*_{before}.npz is"):
        main(["train", "--resume", str(folder)])


def test_a_checkpoint_of_another_version_goes_on_in_new_episodes(tmp_path):
    """Bytes of the physics that cannot be restored do not cost what was learned."""
    folder = tmp_path / "ppo" / "VICartPole-v0_1"
    assert main(command("ppo", tmp_path)) == 0
    before, last = checkpoints.found(folder)
    (folder / "VICartPole-v0" / runs.TIMES).unlink()  # as if it had been killed before the end
    checkpoints.path_of(folder, last).unlink()
    path = checkpoints.path_of(folder, before)
    state = plain.load(path)
    native = state["model"]["env"]["native"]
    native["sim"] = b"vigym-1" + native["sim"][7:]
    plain.save(path, state)
    with pytest.warns(UserWarning, match="new episodes"):
        assert main(["train", "--resume", str(folder)]) == 0
    assert load_from_zip_file(folder / "VICartPole-v0.zip")[0]["num_timesteps"] >= 8000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_writes_a_checkpoint_and_says_how_to_go_on(number, tmp_path):
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "vigym",
            "train",
            "VICartPole-v0",
            "--out",
            str(tmp_path),
            "--checkpoint-every",
            "9000000",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    folder, monitor = tmp_path / "ppo" / "VICartPole-v0_1", tmp_path / "ppo" / "VICartPole-v0_1" / "0.monitor.csv"
    while not monitor.exists() or monitor.stat().st_size < 200:
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert f"vigym train --resume {folder} goes on" in out
    (at,) = checkpoints.found(folder)
    assert f"stopped after {at} steps" in out


def test_what_cannot_be_resumed_is_told(tmp_path, capsys):
    with pytest.raises(SystemExit, match="not the folder of a run"):
        main(["train", "--resume", str(tmp_path)])
    with pytest.raises(InputError, match="no checkpoint"):
        checkpoints.last(tmp_path)
    assert main(["train", "VICartPole-v0", "--steps", "1", "--out", str(tmp_path)]) == 0
    folder = str(tmp_path / "ppo" / "VICartPole-v0_1")
    with pytest.raises(SystemExit, match="is finished: vigym evaluate VICartPole-v0"):
        main(["train", "--resume", folder])
    with pytest.raises(SystemExit, match="the run's own arguments"):
        main(["train", "--resume", folder, "--steps", "100"])
