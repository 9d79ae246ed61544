"""One process trains in a folder: a second one is refused, a killed one is no obstacle."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

pytest.importorskip("stable_baselines3")

import tiny_runs as tiny

from vigym import InputError
from vigym.__main__ import main
from vigym.training.locks import NAME, locked

HOLD = """
import sys
from pathlib import Path
from vigym.training.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """A process that holds the lock of the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_the_second_is_refused_and_told_who_is_at_it(other, tmp_path):
    told = rf"{re.escape(str(tmp_path))} is in use by process {other.pid} on .+, since \d{{4}}-"
    with pytest.raises(InputError, match=told), locked(tmp_path):
        pass


def test_the_lock_of_a_killed_process_is_free(other, tmp_path):
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert json.loads((tmp_path / NAME).read_text())["process"] == other.pid
    with locked(tmp_path):
        assert json.loads((tmp_path / NAME).read_text())["process"] == os.getpid()


def test_resuming_beside_the_training_is_refused(tmp_path):
    folder = tiny.interrupted(tmp_path)
    with locked(folder):  # as if the training ran on
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        with pytest.raises(SystemExit, match=rf"{re.escape(str(folder))} is in use by process {os.getpid()}"):
            main(["train", "--resume", str(folder)])
        assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert main(["train", "--resume", str(folder)]) == 0


def test_a_training_holds_the_lock_of_its_folder(tmp_path, monkeypatch):
    from vigym.training.sb3 import checkpoints

    seen = []
    save = checkpoints.save

    def saved(folder, *args):
        with pytest.raises(InputError, match="is in use"), locked(folder):
            pass
        seen.append(folder)
        save(folder, *args)

    monkeypatch.setattr(checkpoints, "save", saved)
    folder = tiny.trained(tmp_path)
    assert seen
    with locked(folder):
        pass


def test_a_folder_that_is_no_run_is_left_alone(tmp_path):
    with pytest.raises(SystemExit, match="not the folder of a run"):
        main(["train", "--resume", str(tmp_path)])
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="needs permission for links there")
def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text("mine")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="cannot be written"), locked(folder):
        pass
    assert (tmp_path / "elsewhere").read_text() == "mine"


def test_trainings_that_start_at_once_get_folders_of_their_own(tmp_path):
    """In processes: threads of one process are in test_train.py."""
    make = "import sys; from pathlib import Path; from vigym.training.runs import new_folder; sys.stdin.read();"
    make += "print(*(new_folder(Path(sys.argv[1]), 'ppo', 'VIHopper-v0').name for _ in range(20)))"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", make, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for process in processes:
        process.stdin.close()
    names = [name for process in processes for name in process.stdout.read().split()]
    for process in processes:
        assert process.wait() == 0
        process.stdout.close()
    assert sorted(names, key=lambda name: int(name.rpartition("_")[2])) == [f"VIHopper-v0_{k}" for k in range(1, 41)]
    shutil.rmtree(tmp_path / "ppo")
