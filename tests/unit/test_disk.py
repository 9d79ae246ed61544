"""Files of compiled code: whose are trusted, and what is left when the disk fails at any moment."""

import errno
import os
import shutil
import stat
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from toys.doubling import doubled

from vigym.engine.kernels import cache, disk

NAME, DATA = "a.kernel", bytes(range(256)) * 20
pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that is not there yet, nor is its parent."""
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path / "parent" / "cache"))
    monkeypatch.setattr(cache.DiskCache, "told", set())
    return tmp_path / "parent" / "cache"


# -------------------- trust


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_others_cannot_write_whatever_the_umask(folder, umask):
    before = os.umask(umask)
    try:
        disk.write(NAME, DATA)
    finally:
        os.umask(before)
    for path in (folder.parent, folder):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o644 & ~umask  # root may share a folder of such files
    assert disk.read(NAME) == DATA


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `path` belong to somebody else, or us be somebody else: root can do the one, others the other."""
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)
    else:
        user = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: user)


SPOILS: dict[str, tuple[Callable[[Path, Any], None], str]] = {
    "folder, group": (lambda path, _: path.parent.chmod(0o770), "can be written by others: .*chmod go-w"),
    "folder, world": (lambda path, _: path.parent.chmod(0o707), "can be written by others: .*chmod go-w"),
    "folder, sticky": (lambda path, _: path.parent.chmod(0o1777), "can be written by others: .*chmod go-w"),
    "folder, owner": (lambda path, patch: give_away(path.parent, patch), "belongs to user .*VIGYM_CACHE_DIR"),
    "file, group": (lambda path, _: path.chmod(0o664), "can be written by others"),
    "file, world": (lambda path, _: path.chmod(0o666), "can be written by others"),
    "file, owner": (lambda path, patch: give_away(path, patch), "belongs to user"),
    "link": (lambda path, _: path.symlink_to(path.rename(path.with_suffix(".moved"))), "symbolic link"),
    "pipe": (lambda path, _: (path.unlink(), os.mkfifo(path))[1], "not a regular file"),
    "folder instead": (lambda path, _: (path.unlink(), path.mkdir())[1], "not a regular file"),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_what_others_can_have_written_is_not_read(folder, monkeypatch, spoil):
    disk.write(NAME, DATA)
    assert disk.read(NAME) == DATA
    do, reason = SPOILS[spoil]
    do(folder / NAME, monkeypatch)
    with pytest.raises(disk.RefusedError, match=reason):
        disk.read(NAME)
    if spoil.startswith("folder,"):
        with pytest.raises(disk.RefusedError, match=reason):
            disk.write("b.kernel", DATA)
        assert [path.name for path in folder.iterdir()] == [NAME]
    elif spoil not in ("folder instead", "file, owner"):  # a file is replaced
        disk.write(NAME, DATA)
        assert disk.read(NAME) == DATA


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
def test_a_folder_of_root_can_be_shared(folder, monkeypatch):
    """Filled by root and open to all for reading, it serves everybody, and nobody else writes to it."""
    disk.write(NAME, DATA)
    folder.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    assert disk.read(NAME) == DATA


# -------------------- a kernel, whatever the disk does


def test_a_refused_folder_is_said_once_and_code_compiled_in_memory(folder, capsys):
    assert doubled()
    folder.chmod(0o777)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert [doubled(), doubled()] == [True, True]
    assert len(said) == 1
    assert f"{folder} can be written by others" in str(said[0].message)
    assert "not kept on disk" in capsys.readouterr().err


CALLS = ("mkdir", "open", "fstat", "read", "write", "close", "replace")


class FaultyOS:
    """The module `os`, whose call number `fails` among CALLS raises `error`, or falls short by all but a byte."""

    def __init__(self, fails: int = -1, error: BaseException | None = None) -> None:
        self.fails, self.error, self.calls = fails, error, []

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*args: Any, **options: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) - 1 != self.fails:
                return real(*args, **options)
            if name == "close":
                real(*args)  # the descriptor is gone either way
            if self.error is not None:
                raise self.error
            if name == "read":
                return real(args[0], 1)
            return real(args[0], args[1][:1]) if name == "write" else real(*args, **options)

        return call


def calls_of(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Any]) -> list[str]:
    """The calls that `run` makes when nothing fails."""
    spy = FaultyOS()
    with monkeypatch.context() as patch:
        patch.setattr(disk, "os", spy)
        run()
    return spy.calls


ERRORS = (OSError(errno.ENOSPC, "No space left"), OSError(errno.EIO, "Input/output error"), KeyboardInterrupt(), None)


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_no_fault_leaves_half_a_file(folder, monkeypatch, error):
    """Fail at every call of a write and a read, one after the other; afterwards there is all of it, or nothing."""

    def write_and_read() -> None:
        disk.write(NAME, DATA)
        assert disk.read(NAME) == DATA

    calls = calls_of(monkeypatch, write_and_read)
    assert set(calls) == set(CALLS)
    for n in range(len(calls)):
        shutil.rmtree(folder.parent)
        with monkeypatch.context() as patch:
            patch.setattr(disk, "os", FaultyOS(n, error))
            with suppress(OSError, KeyboardInterrupt):
                write_and_read()
                assert error is None  # what falls short goes on
        left = [path.name for path in folder.iterdir()] if folder.exists() else []
        assert left in ([], [NAME]), (n, calls[n])
        if left:
            assert disk.read(NAME) == DATA
        write_and_read()


@pytest.mark.parametrize("warm", [False, True])
def test_the_simulation_goes_on_whatever_fails(folder, monkeypatch, capsys, warm):
    """Each call of a process that finds nothing, or its code: it runs, what failed is said, and files are whole."""
    calls = [calls_of(monkeypatch, doubled) for _ in range(2)][warm]
    assert {"open", "fstat", "close", "read" if warm else "replace"} <= set(calls)
    for n in range(len(calls)):
        if not warm:
            shutil.rmtree(folder.parent)
        monkeypatch.setattr(cache.DiskCache, "told", set())
        capsys.readouterr()
        with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            patch.setattr(disk, "os", FaultyOS(n, OSError(errno.EIO, "the disk is on fire")))
            assert doubled()
        said = capsys.readouterr().err + "".join(str(each.message) for each in warned)
        assert "the disk is on fire" in said, calls[n]
        for path in folder.iterdir() if folder.exists() else ():
            assert path.suffix == ".kernel"
            disk.read(path.name)
        assert doubled()
