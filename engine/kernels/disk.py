"""Files of compiled code on disk, read only where nobody else can have written them.

Whoever can write such a file can run code as whoever reads it. So the folder and the file must belong to the user, or
to root, and be writable by nobody else; both are checked on open descriptors, so that nothing can be exchanged in
between. Files are written whole under another name and then renamed, so that processes that start at once never see
half a file; each begins with a checksum, because LLVM aborts the process when it is given damaged code.

On Windows, where the user's own folders are private, owners and modes are not checked.
"""

import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

POSIX = os.name == "posix"
READ, WRITE, FOLDER = (
    sum(getattr(os, flag, 0) for flag in flags)  # those that this system has
    for flags in (
        ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"),  # O_NONBLOCK: a pipe is not waited for
        ("O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"),
        ("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC"),
    )
)
CHUNK = 1 << 20  # bytes


class RefusedError(Exception):
    """A file or folder is not used: why, and what to do about it."""


def folder() -> Path:
    """Folder of compiled code."""
    if chosen := os.environ.get("VIGYM_CACHE_DIR"):
        return Path(chosen).expanduser()
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "vigym"


def read(name: str) -> bytes:
    """Read what was written under this name; FileNotFoundError if nothing was, RefusedError if it cannot be trusted."""
    with _opened(folder()) as (path, where):
        try:
            file = os.open(name if POSIX else path / name, READ, dir_fd=where)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise RefusedError(f"{path / name} is a symbolic link: remove it") from None
            raise
        try:
            _check(os.fstat(file), path / name, stat.S_ISREG)
            return _unseal(_read_all(file), path / name)
        finally:
            os.close(file)


def write(name: str, data: bytes) -> Path:
    """Keep data under this name; returns the folder."""
    chosen = folder()
    for missing in [each for each in (*reversed(chosen.parents), chosen) if not each.exists()]:
        with suppress(FileExistsError):  # another process was faster
            os.mkdir(missing, 0o700)
    with _opened(chosen) as (path, where):
        temporary = f"{name}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        here, there = (each if POSIX else path / each for each in (temporary, name))
        file = os.open(here, WRITE, 0o644, dir_fd=where)  # private by its folder; root may share one, see the docs
        try:
            try:
                _write_all(file, _seal(name, data))
            finally:
                os.close(file)
            os.replace(here, there, src_dir_fd=where, dst_dir_fd=where)
        except BaseException:
            with suppress(OSError):
                os.unlink(here, dir_fd=where)
            raise
    return path


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Path, int | None]]:
    """The folder and its descriptor, checked; on Windows, folders cannot be opened."""
    where = os.open(path, FOLDER) if POSIX else None
    try:
        if where is not None:
            _check(os.fstat(where), path, stat.S_ISDIR)
        yield path, where
    finally:
        if where is not None:
            os.close(where)


def _check(status: os.stat_result, path: Path, is_kind: Callable[[int], bool]) -> None:
    """RefusedError if `path` is of another kind, or if others can have written what is there."""
    if not is_kind(status.st_mode):
        raise RefusedError(f"{path} is not a regular file: remove it")
    if not POSIX:
        return
    if status.st_uid not in (os.geteuid(), 0):
        raise RefusedError(
            f"{path} belongs to user {status.st_uid}, not to you ({os.geteuid()}) or root: "
            "set VIGYM_CACHE_DIR to a folder of your own"
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise RefusedError(f"{path} can be written by others: remove it, or chmod go-w if you trust all that is in it")


def _seal(name: str, data: bytes) -> bytes:
    """data with its checksum, which the name of the file is part of: files that change places are damaged."""
    return hashlib.sha256(name.encode() + b"\n" + data).digest() + data


def _unseal(sealed: bytes, path: Path) -> bytes:
    """Return what was sealed; RefusedError if it was damaged since."""
    data = sealed[32:]
    if _seal(path.name, data) != sealed:
        raise RefusedError(f"{path} is damaged; it is replaced if it can be written")
    return data


def _read_all(file: int) -> bytes:
    parts = []
    while part := os.read(file, CHUNK):
        parts.append(part)
    return b"".join(parts)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
