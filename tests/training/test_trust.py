"""Folders of others: resuming and evaluating run no code that is in them, or ask for --trust first."""

import io
import json
import os
import pickle
import re
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import tiny_runs as tiny

from vigym import InputError
from vigym.__main__ import main
from vigym.engine.durable import write_whole
from vigym.training import trust
from vigym.training.rllib import checkpoints as rllib
from vigym.training.runs import DESCRIPTION, Run

COUNTS = {"threads": 1, "eval_every": 1, "eval_episodes": 1, "checkpoint_every": 1}  # of any description
posix = pytest.mark.skipif(sys.platform == "win32", reason="no such owners and permissions")


class Code:
    """Makes a file when its pickle is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def as_pickle(code: Code) -> bytes:
    return pickle.dumps(code)


def as_archive(code: Code) -> bytes:
    """A file of NumPy with objects, and of SB3 and torch with pickles, in one."""
    file = io.BytesIO()
    np.savez(file, told=np.array([code], object), tree=np.array([code], object), mean=np.array([code], object))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("data", pickle.dumps(code))
        archive.writestr("policy.pth", pickle.dumps(code))
    return file.getvalue()


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    return {algo: tiny.interrupted(tmp_path_factory.mktemp(algo), algo) for algo in ("ppo", "sac")}


@pytest.mark.parametrize("planted", [as_pickle, as_archive])
@pytest.mark.parametrize(
    ("algo", "where", "read"),
    [
        ("ppo", "**/run.json", "run.json"),
        ("ppo", "checkpoint_*.npz", "checkpoint_128.npz"),
        ("sac", "checkpoint_*.npz", "checkpoint_128.npz"),
        ("ppo", "best_policy.npz", None),  # made anew from the checkpoint
        ("ppo", "[!rcb.]*", None),
        ("ppo", "best_[!p]*", None),
        ("ppo", f"{tiny.ENV}/[!r]*", None),
    ],
)
def test_code_in_any_file_of_a_run_is_not_run(algo, where, read, planted, killed, tmp_path):
    """A pickle is refused wherever a file is read at all, whether its checksum is right or not."""
    ran = tmp_path / "ran"
    pickle.loads(pickle.dumps(Code(ran))).close()
    assert ran.exists()  # as it does when it is loaded
    ran.unlink()
    folder = shutil.copytree(killed[algo], tmp_path / "run")
    names = [path for path in folder.glob(where) if path.is_file()]
    assert names
    for path in names:
        write_whole(path, planted(Code(ran)), checked=planted is as_archive)
    if read is None:
        assert main(["train", "--resume", str(folder)]) == 0
    else:
        with pytest.raises(SystemExit, match=rf"{read} is (damaged|not )"):
            main(["train", "--resume", str(folder)])
    assert main(evaluation(folder)) == 0
    if "best_policy" in where:
        write_whole(names[0], planted(Code(ran)), checked=planted is as_archive)
        with pytest.raises(SystemExit, match=r"best_policy.npz is (damaged|not )"):
            main(evaluation(folder))
    assert not ran.exists()


def test_these_are_all_files(killed):
    """The test above plants code in all files of a run."""
    files = {path for path in killed["ppo"].rglob("*") if path.is_file()}
    patterns = ["**/run.json", "checkpoint_*.npz", "best_*", "[!rcb.]*", f"{tiny.ENV}/*", ".lock", "tensorboard/*"]
    assert files == {path for pattern in patterns for path in killed["ppo"].glob(pattern) if path.is_file()}


def evaluation(folder: Path) -> list[str]:
    return ["evaluate", tiny.ENV, "--policy", str(folder), "--episodes", "1"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"env": "planted:VICartPole-v0"}, "planted"),
        ({"env_kwargs": {"task": "planted:Task"}}, "no argument 'task'"),
        ({"env": "../../elsewhere"}, "is not an environment"),
        ({"vigym": COUNTS | {"backend": "planted"}}, "unknown backend: 'planted'"),
        ({"vigym": []}, r"vigym is \[\], not of type dict"),
        (
            {"settings": {"policy_kwargs": {"activation_fn": "planted"}, "n_envs": 2, "n_timesteps": 9}},
            "must be one of",
        ),
    ],
)
def test_a_description_names_no_code(change, message, killed, tmp_path, monkeypatch):
    folder = shutil.copytree(killed["ppo"], tmp_path / "run")
    (tmp_path / "planted.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.syspath_prepend(tmp_path)
    told = json.loads((folder / DESCRIPTION).read_bytes().rpartition(b"\nvigym")[0]) | change
    for path in (folder / DESCRIPTION, folder / tiny.ENV / DESCRIPTION):
        write_whole(path, json.dumps(told), checked=True)
    if os.name == "posix" and ":" in told["env"]:
        folder.chmod(0o777)
    with pytest.raises(SystemExit, match=message):
        main(["train", "--resume", str(folder)])
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def of_rllib(tmp_path):
    """A run as of --backend ray; its checkpoint has a pickle."""
    folder = tmp_path / "run"
    folder.mkdir(0o755)
    settings = {"n_envs": 1, "n_timesteps": 1}
    Run(folder, "ppo", tiny.ENV, 0, {}, settings, COUNTS | {"backend": "ray"}).write()
    (folder / "rllib_checkpoint_100").mkdir()
    (folder / "rllib_checkpoint_100" / "algorithm_state.pkl").write_bytes(b"pickle")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


@posix
@pytest.mark.parametrize("where", [".", "rllib_checkpoint_100/algorithm_state.pkl", "rllib_checkpoint_100"])
def test_pickles_that_others_can_write_need_trust(where, of_rllib, monkeypatch):
    monkeypatch.setattr("vigym.training.train.require", installed := [].append)
    monkeypatch.setattr("vigym.training.train.learner", lambda name: lambda run, resumed: installed(name))
    (of_rllib / where).chmod(0o777)
    with pytest.raises(SystemExit, match=r"can be written by everybody \(chmod -R o-w .*pickles.* add --trust"):
        main(["train", "--resume", str(of_rllib)])
    assert not (of_rllib / ".lock").exists()
    assert main(["train", "--resume", str(of_rllib), "--trust"]) == 0
    (of_rllib / where).chmod(0o755)
    assert main(["train", "--resume", str(of_rllib)]) == 0
    assert installed.__self__ == ["ray"] * 4


@posix
def test_pickles_of_others_need_trust(of_rllib, monkeypatch):
    monkeypatch.setattr(trust.os, "getuid", lambda: os.stat(of_rllib).st_uid + 12345)
    monkeypatch.setattr(trust, "ADMINISTRATOR", -1)
    with pytest.raises(SystemExit, match=rf"{re.escape(str(of_rllib))} belongs to \w+, and .*add --trust"):
        main(["train", "--resume", str(of_rllib)])


@posix
def test_groups_of_others_count_and_private_ones_do_not(of_rllib, monkeypatch):
    of_rllib.chmod(0o775)
    monkeypatch.setattr(trust, "is_private", lambda gid: False)
    assert "can be written by the group" in trust.first_doubt(of_rllib)
    monkeypatch.setattr(trust, "is_private", lambda gid: True)
    assert trust.first_doubt(of_rllib) is None
    monkeypatch.undo()
    assert not trust.is_private(2**31 - 5)  # unknown here


@posix
def test_a_training_does_not_write_through_links(killed, tmp_path):
    folder = shutil.copytree(killed["ppo"], tmp_path / "run")
    mine = tmp_path / "mine"
    mine.write_text("precious")
    (folder / "0.monitor.csv").unlink()
    (folder / "0.monitor.csv").symlink_to(mine)
    with pytest.raises(SystemExit, match=rf"0.monitor.csv is a link.* to {re.escape(str(mine))}: add --trust"):
        main(["train", "--resume", str(folder)])
    assert mine.read_text() == "precious"


def test_damage_of_checkpoints_of_rllib_is_found(of_rllib, capsys):
    first, second = of_rllib / "rllib_checkpoint_100", of_rllib / "rllib_checkpoint_200"
    with pytest.raises(InputError, match=r"it has no checksums.json"):
        rllib.last(of_rllib)
    shutil.copytree(first, second)
    for folder in (first, second):
        rllib.seal(folder)
    assert rllib.last(of_rllib) == 200
    state = second / "algorithm_state.pkl"
    for damage, told in (
        (lambda: tiny.flip(state), "algorithm_state.pkl does not match its checksum"),
        (state.unlink, "algorithm_state.pkl is missing"),
        (lambda: (second / "more.pkl").write_bytes(b""), "more.pkl does not match its checksum"),
        (lambda: tiny.flip(second / "checksums.json"), "checksums.json is damaged"),
    ):
        kept = shutil.copytree(second, of_rllib / "kept")
        damage()
        assert rllib.last(of_rllib) == 100
        error = capsys.readouterr().err
        assert told in error
        assert "going on from rllib_checkpoint_100" in error
        kept.rename(second)
    for folder in (first, second):
        tiny.flip(folder / "algorithm_state.pkl")
    with pytest.raises(InputError, match=r"no checkpoint left.*_200 is damaged.*_100 is damaged"):
        rllib.last(of_rllib)
