"""One process a run: whoever trains holds a lock on the folder, which the system takes back when the process ends."""

import errno
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vigym.engine.errors import InputError

NAME = ".lock"  # holds who trains, for the others; it stays when the training has ended, unlocked
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # of file systems without


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a run's folder in this block; InputError, with the other process, if it is taken."""
    path = folder / NAME
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    except OSError as error:
        raise InputError(f"{path} cannot be written, so there is no training in this folder: {error}") from None
    try:
        take(number, path)
        yield
    finally:
        os.close(number)


def take(number: int, path: Path) -> None:
    """Lock an open file and write down who did; InputError if that cannot be."""
    try:
        lock(number)
    except (BlockingIOError, PermissionError):
        raise InputError(f"{path.parent} is in use by {holder(number)}: wait for its end, or stop it") from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise InputError(f"{path} cannot be locked: {error}") from None
        print(f"{path} cannot be locked ({error.strerror}): do not train twice in this folder", file=sys.stderr)
    try:
        sign(number)
    except OSError as error:
        raise InputError(f"{path} cannot be written, so there is no training in this folder: {error}") from None


def lock(number: int) -> None:
    """Lock an open file, or raise OSError at once."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(number, 1 << 20, os.SEEK_SET)  # behind what is written, which others may read
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


def sign(number: int) -> None:
    """Write down who holds the lock."""
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    os.ftruncate(number, 0)
    os.lseek(number, 0, os.SEEK_SET)
    os.write(number, json.dumps({"process": os.getpid(), "host": socket.gethostname(), "since": since}).encode())


def holder(number: int) -> str:
    """Describe the process that wrote that it holds the lock."""
    os.lseek(number, 0, os.SEEK_SET)
    try:
        told = json.loads(os.read(number, 1000))
        return f"process {told['process']} on {told['host']}, since {told['since']}"
    except (ValueError, KeyError, TypeError):  # it has just taken it
        return "another process"
