"""The faults themselves: code that loses something does not pass."""

import os
from pathlib import Path

import pytest
from faults import Faults, old_or_new, run_with_faults

OLD, NEW = b"old " * 3000, b"new " * 5000


def over_the_old(path):
    path.write_bytes(NEW)


def one_write(path):
    """Part of it may be stored, and nobody looks."""
    with open(path, "wb", buffering=0) as file:
        file.write(NEW)


def no_cleaning(path):
    partial = path.with_suffix(".partial")
    partial.write_bytes(NEW)
    os.replace(partial, path)


def silent(path):
    try:
        no_cleaning(path)
    except OSError:
        path.with_suffix(".partial").unlink(missing_ok=True)


def nameless(path):
    try:
        no_cleaning(path)
    except OSError as error:
        path.with_suffix(".partial").unlink(missing_ok=True)
        raise OSError("something failed") from error


@pytest.mark.parametrize("write", [over_the_old, one_write, no_cleaning, silent, nameless])
def test_careless_code_does_not_pass(tmp_path, write):
    with pytest.raises(AssertionError):
        run_with_faults(
            tmp_path,
            lambda folder: write(folder / "state"),
            old_or_new("state", OLD, NEW),
            prepare=lambda folder: (folder / "state").write_bytes(OLD),
            makes=("state",),
        )


def test_calls_are_seen_however_they_are_made(tmp_path):
    path = tmp_path / "state"
    with Faults(tmp_path, 1000, "error") as faults:
        path.write_text("text\n")
        with open(path, "r+b", buffering=0) as file:
            assert file.read() == b"text\n"
            file.truncate(2)
            os.fsync(file.fileno())
        number = os.open(path, os.O_WRONLY)
        os.write(number, b"TE")
        os.close(number)
        assert path.read_text() == "TE"
        path.rename(tmp_path / "other").replace(path)
        Path(__file__).read_bytes()  # elsewhere
    assert [name for name in faults.log if name != "read"] == (
        ["create", "write", "open", "truncate", "fsync", "open", "write", "open", "rename", "replace"]
    )
    assert not faults.fired
