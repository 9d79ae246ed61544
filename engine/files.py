"""Files that somebody else has written: read whole, if they are regular and not too large."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from vigym.engine.errors import InputError


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """All bytes of a regular file of at most `most` bytes; InputError, with the reason alone, for anything else.

    Pipes and devices are opened without waiting for them, and let go at once. No more is read than the file is said to
    hold: what the system makes up on the way (/proc) is said to hold nothing, and may never end.
    """
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            if status.st_size > most:
                raise InputError(f"it has {status.st_size:,} bytes; at most {most:,} are read")
            return file.read(status.st_size)
    except OSError as cause:
        raise InputError(cause.strerror or str(cause)) from cause
    except InputError:
        raise
    except ValueError as cause:  # a zero byte in its name
        raise InputError(f"no file can have this name: {cause}") from cause


@contextmanager
def open_regular(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a regular file for reading; InputError, with the reason alone, for pipes, devices and folders, OSError if it
    cannot be opened."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError("it is not a regular file")
            yield file
    except IsADirectoryError as cause:
        raise InputError("it is a folder") from cause


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe that nobody writes to would wait
