"""Durable files: old content or new, whatever call fails; damage is found."""

import os
import stat
import sys

import numpy as np
import pytest
from faults import old_or_new, run_with_faults

from vigym import InputError
from vigym.engine.durable import MARK, SEAL_SIZE, append_whole, naming, read_checked, write_rows, write_whole
from vigym.envs.controllers.learned import LearnedPolicy

OLD, NEW = b"old " * 3000, b"new " * 5000  # more than one buffer
CONTENT = {"bytes": NEW, "text": NEW.decode(), "function": lambda path: path.write_bytes(NEW)}


@pytest.mark.parametrize("content", CONTENT)
@pytest.mark.parametrize("old", [None, OLD], ids=["new", "replaced"])
def test_every_fault_leaves_the_old_content_or_the_new(tmp_path, content, old):
    runs = run_with_faults(
        tmp_path,
        lambda folder: write_whole(folder / "state", CONTENT[content]),
        old_or_new("state", old, NEW),
        prepare=lambda folder: old is not None and (folder / "state").write_bytes(old),
        makes=("state",),
    )
    assert runs > 20  # create, write, open, fsync, replace, open and fsync of the folder, in four ways


def test_every_fault_leaves_content_that_can_be_checked(tmp_path):
    def check(folder, outcome):
        found = read_checked(folder / "state")
        assert found == NEW or (found == OLD and not outcome.succeeded)

    run_with_faults(
        tmp_path,
        lambda folder: write_whole(folder / "state", NEW, checked=True),
        check,
        prepare=lambda folder: write_whole(folder / "state", OLD, checked=True),
        makes=("state",),
    )


def test_every_fault_of_reading_is_told(tmp_path):
    def check(folder, outcome):
        assert outcome.result == NEW if outcome.succeeded else outcome.error or outcome.crashed

    run_with_faults(
        tmp_path,
        lambda folder: read_checked(folder / "state"),
        check,
        prepare=lambda folder: write_whole(folder / "state", NEW, checked=True),
        makes=("state",),
    )


def test_every_damage_is_found(tmp_path):
    path = tmp_path / "state"
    write_whole(path, b"some content", checked=True)
    data = path.read_bytes()
    assert data.startswith(b"some content" + MARK)
    assert len(data) == 12 + SEAL_SIZE
    damaged = [data[:k] for k in range(len(data))]
    damaged += [data[:k] + bytes([data[k] ^ 1 << bit]) + data[k + 1 :] for k in range(len(data)) for bit in range(8)]
    damaged += [data + b"more", b"more" + data, data[6:]]
    for wrong in damaged:
        path.write_bytes(wrong)
        with pytest.raises(InputError, match="state is damaged"):
            read_checked(path)


def test_archives_of_numpy_can_be_checked_and_still_be_read(tmp_path):
    path = tmp_path / "state.npz"
    write_whole(path, lambda partial: np.savez(partial, numbers=np.arange(5)), checked=True)
    read_checked(path)
    with np.load(path) as file:
        assert file["numbers"].tolist() == [0, 1, 2, 3, 4]


def test_an_error_of_the_writer_leaves_nothing_behind(tmp_path):
    def fail(path):
        path.write_bytes(NEW)
        raise KeyboardInterrupt

    write_whole(tmp_path / "state", OLD)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "state", fail)
    assert (tmp_path / "state").read_bytes() == OLD
    assert os.listdir(tmp_path) == ["state"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_links_and_permissions_stay_and_devices_are_not_replaced(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(OLD)
    real.chmod(0o640)
    link.symlink_to(real)
    write_whole(link, NEW)
    assert link.is_symlink()
    assert real.read_bytes() == NEW
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"not a regular file: .*pipe"):
        write_whole(tmp_path / "pipe", NEW)
    with pytest.raises(FileNotFoundError, match="state"):
        write_whole(tmp_path / "no folder" / "state", NEW)


def test_every_fault_leaves_the_old_policy_or_the_new_one(tmp_path):
    def policy(bias):
        return LearnedPolicy([(np.ones((2, 1), np.float32), np.full(1, bias, np.float32))], "Tanh", [0, 0], [1, 1])

    def check(folder, outcome):
        ((_, bias),) = LearnedPolicy.load(folder / "policy.npz").layers
        assert bias == 2.0 or (bias == 1.0 and not outcome.succeeded)

    run_with_faults(
        tmp_path,
        lambda folder: policy(2.0).save(folder / "policy.npz"),
        check,
        prepare=lambda folder: policy(1.0).save(folder / "policy.npz"),
        makes=("policy.npz",),
    )


def test_every_fault_leaves_whole_lines(tmp_path):
    """A table that grows by one line: there when it was said to be, never a part of it."""
    lines = [b"%d,%d\n" % (k, k**9) for k in range(4)]
    told = []

    def prepare(folder):
        told.clear()
        write_rows(folder / "table.csv", [["k", "power"]])

    def operate(folder):
        with naming(folder / "table.csv"), open(folder / "table.csv", "rb+", buffering=0) as file:
            for line in lines:
                append_whole(file, file.seek(0, os.SEEK_END), line)
                told.append(line)

    def check(folder, outcome):
        head, *found = (folder / "table.csv").read_bytes().splitlines(keepends=True)
        assert head == b"k,power\r\n"
        assert found == told if not outcome.crashed else found[: len(told)] == told

    run_with_faults(tmp_path, operate, check, prepare=prepare, makes=("table.csv",))
