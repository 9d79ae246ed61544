"""Files that are whole: what was there before, or all of what was written, whatever happens in between.

`write_whole` writes another file beside it, forces it to the disk and then gives it the name, so that a crash, a full
disk or a loss of power leaves the old content or the new one, never a part or a mixture. A process that is killed may
leave the other file, `.partial-...`, behind; nothing reads it, and it may be deleted.

A file that is written with `checked=True` ends with a line of its own, of 79 bytes,

    \\nvigym sha256 (64 hexadecimal digits of all bytes before this line)\\n

by which `read_checked` finds damage. Readers of ZIP files (NumPy's .npz among them) and of pickles skip such a line.
"""

import csv
import errno
import hashlib
import io
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.files import open_regular

MARK = b"\nvigym sha256 "
SEAL_SIZE = len(MARK) + 64 + 1
NOT_FORCED = (errno.EINVAL, errno.ENOTSUP)  # pipes, devices, folders of some file systems


def write_whole(
    path: str | os.PathLike[str], content: bytes | str | Callable[[Path], Any], *, checked: bool = False
) -> None:
    """Write a file that appears under its name when all of it is on the disk; OSError, with its name, if it cannot be.

    content: bytes; text, which is written as UTF-8; or a function that is given the path of a file with the same
        suffix, and writes that one
    checked: end it with a checksum, for `read_checked`
    """
    final = Path(os.path.realpath(path))  # through links: what they point to is replaced, not they
    partial = final.with_name(f".partial-{secrets.token_hex(4)}{final.suffix}")
    with naming(path):
        if final.exists() and not final.is_file():
            raise OSError(errno.EINVAL, "not a regular file")
        try:
            _fill(partial, content)
            if checked:
                _append(partial, _seal(_digest(partial)))
            if final.exists():
                shutil.copymode(final, partial)
            _sync(partial)
            os.replace(partial, final)
        except BaseException:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
        _sync_folder(final.parent)


def write_rows(path: str | os.PathLike[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a table of CSV as a whole."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    write_whole(path, text.getvalue())


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Any]) -> None:
    """Write an archive of NumPy (.npz), compressed, as a whole, under the name as it is."""
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)
    write_whole(path, data.getvalue())


def append_whole(file: io.FileIO, end: int, data: bytes) -> int:
    """Write all of `data` at byte `end` of a file without a buffer, or take back what was stored of it; the new end."""
    try:
        file.seek(end)  # also where a part of what failed is left
        done = 0
        while done < len(data):  # the system may take a part at a time
            if not (stored := file.write(data[done:])):
                raise OSError(errno.EIO, "nothing could be written")
            done += stored
    except BaseException:
        with suppress(OSError):  # what is left is written over by the next call
            file.truncate(end)
        raise
    return end + len(data)


def read_checked(path: str | os.PathLike[str]) -> bytes:
    """Read what was written with `checked=True`; InputError, with the file's name, if it is damaged."""
    try:
        with naming(path), open_regular(path) as file:
            data = file.read()
        return unsealed(data)
    except InputError as error:
        raise InputError(f"{os.fspath(path)} is damaged: {error}") from error


def unsealed(data: bytes) -> bytes:
    """Return what is before the checksum of such a file; InputError, with the reason alone, if it is damaged."""
    content, seal = data[:-SEAL_SIZE], data[-SEAL_SIZE:]
    if not seal.startswith(MARK):
        raise InputError("it does not end with its checksum, so its end is missing")
    if seal != _seal(hashlib.sha256(content)):
        raise InputError("its content does not match its checksum")
    return content


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an OSError in this block tell which file it was, also one that the system does not name it in."""
    try:
        yield
    except OSError as error:
        if error.filename == os.fspath(path):
            raise
        reason = error.strerror or str(error) or type(error).__name__
        raise OSError(error.errno or errno.EIO, reason, os.fspath(path)) from error


def _fill(partial: Path, content: bytes | str | Callable[[Path], Any]) -> None:
    if callable(content):
        content(partial)
        return
    with open(partial, "xb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _digest(path: Path) -> Any:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest


def _seal(digest: Any) -> bytes:
    return MARK + digest.hexdigest().encode() + b"\n"


def _append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def force_to_disk(number: int) -> None:
    """Wait until what was written to an open file (or folder) is on the disk, where there is one."""
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in NOT_FORCED:
            raise


def _sync(path: Path) -> None:
    with open(path, "rb+") as file:
        force_to_disk(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where systems can be asked to."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        force_to_disk(number)
    finally:
        os.close(number)
