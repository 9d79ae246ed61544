"""Faults on purpose: an operation on files is run again and again, and its first, second, ... call to the system fails.

    def save(folder):                      # the operation: all its files are in this folder
        checkpoint.save(folder / "state.pkl")

    def check(folder, outcome):            # what must hold afterwards, whatever happened
        found = checkpoint.load(folder / "state.pkl")
        assert found == new if outcome.succeeded else found in (old, new)

    run_with_faults(tmp_path, save, check, prepare=save_old, makes=("state.pkl",))

`run_with_faults` ends when no call is left to fail. It asserts by itself that a failure is an OSError or one of vigym's
own errors, that it names a file that the operation `makes`, and that no other file is left behind (but by a crash).

Seen are calls through Python, on files in the folder: what a program such as ffmpeg does is not.
"""

import _io  # tempfile opens files by this name
import builtins
import errno
import io
import itertools
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from vigym.engine.errors import VigymError

KINDS = {
    "error": "this call fails (EIO), later ones do not",
    "full": "the disk is full from this call on: of a write, half is stored, later ones store nothing (ENOSPC)",
    "short": "a read or a write does half of what it should, and says so",
    "crash": "the process ends here: neither this call nor any later one happens",
}
WRITING = ("create", "write")  # calls that need space
RENAMING = ("replace", "rename")
MOST_CALLS = 10_000  # of one operation: one that makes more has no end

_open, _os = io.open, {name: getattr(os, name) for name in ("open", "write", "ftruncate", "fsync", *RENAMING)}


class Crash(BaseException):
    """The end of the process, for the code under test; nothing should catch it."""


class Faults:
    """Makes call number `n` (from 0) on files in `folder` fail, while the context lasts; or when `begin` is called.

    kind: one of KINDS
    fired: whether it was reached
    log: the calls, by name
    """

    def __init__(self, folder: Path, n: int = MOST_CALLS, kind: str = "full") -> None:
        assert kind in KINDS, kind
        self.folder, self.n, self.kind = os.path.realpath(folder), n, kind
        self.log: list[str] = []
        self._open_files: dict[int, tuple[int, int]] = {}
        self._patches = ExitStack()
        self._is_over = False

    @property
    def fired(self) -> bool:
        return len(self.log) > self.n

    def begin(self) -> None:
        """Let the next call fail."""
        self.n = len(self.log)

    def end(self) -> None:
        """Let no call fail any more."""
        self.n = MOST_CALLS

    def call(self, name: str, size: int = 0) -> int:
        """Note a call, and let it fail if it is its turn; how many of `size` bytes it may store or read."""
        if self._is_over:
            return size
        self.log.append(name)
        assert len(self.log) < MOST_CALLS, "the operation does not end"
        at = len(self.log) - 1
        if self.kind == "crash" and at >= self.n:
            raise Crash
        if self.kind == "full" and at >= self.n and name in WRITING and (at > self.n or size < 2):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.kind == "error" and at == self.n:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        is_half = at == self.n and (self.kind == "short" or (self.kind == "full" and name == "write"))
        return (size + 1) // 2 if is_half else size

    def sees(self, path: Any) -> bool:
        """Tell whether this is a file in the folder, or the number of one that is open."""
        if isinstance(path, int):
            try:
                return self._open_files.get(path) == identity(path)
            except OSError:
                return False
        return f"{os.path.realpath(os.fsdecode(path))}{os.sep}".startswith(f"{self.folder}{os.sep}")

    def opened(self, number: int) -> int:
        """Remember an open file."""
        self._open_files[number] = identity(number)
        return number

    def __enter__(self) -> "Faults":
        def on_path(name: str) -> Callable[..., Any]:
            def replaced(path: Any, *args: Any, **options: Any) -> Any:
                if self.sees(path):
                    self.call(name)
                return _os[name](path, *args, **options)

            return replaced

        def os_open(path: Any, flags: int, *args: Any, **options: Any) -> int:
            if not self.sees(path):
                return _os["open"](path, flags, *args, **options)
            self.call("create" if flags & os.O_CREAT else "open")
            return self.opened(_os["open"](path, flags, *args, **options))

        def os_write(number: int, data: Any) -> int:
            view = memoryview(data).cast("B")
            return _os["write"](number, view[: self.call("write", len(view))] if self.sees(number) else view)

        replacements = {"open": os_open, "write": os_write} | {
            name: on_path(name) for name in ("ftruncate", "fsync", *RENAMING)
        }
        targets = [(os, name, function) for name, function in replacements.items()]
        targets += [(module, "open", self.open) for module in (builtins, io, _io)]
        # Python 3.10's paths keep the functions that they were imported with
        targets += [(Path, "open", lambda path, *args, **options: self.open(path, *args, **options))]
        targets += [(Path, name, lambda path, to, f=replacements[name]: Path(f(path, to) or to)) for name in RENAMING]
        for owner, name, function in targets:
            self._patches.enter_context(patch.object(owner, name, function))
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()
        self._is_over = True

    def open(
        self,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        """As Python's open, with a file below all buffers whose calls may fail."""
        if not self.sees(file):
            return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if not isinstance(file, int):
            self.call("open" if "r" in mode else "create")
        raw = FaultyFile(self, file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        buffer: Any = io.BufferedReader if "r" in mode else io.BufferedWriter
        buffered = (io.BufferedRandom if "+" in mode else buffer)(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding or "utf-8", errors, newline)


class FaultyFile(io.FileIO):
    """A file without a buffer whose calls `faults` may let fail."""

    def __init__(self, faults: Faults, file: Any, mode: str, closefd: bool, opener: Any) -> None:
        super().__init__(file, mode, closefd, opener)
        self.faults = faults
        faults.opened(self.fileno())

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        return super().write(view[: self.faults.call("write", len(view))])

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")
        return super().readinto(view[: self.faults.call("read", len(view))])

    def read(self, size: int | None = -1, /) -> bytes:
        return self.readall() if size is None or size < 0 else super().read(self.faults.call("read", size))

    def readall(self) -> bytes:
        self.faults.call("read")
        return super().readall()

    def truncate(self, size: int | None = None, /) -> int:
        self.faults.call("truncate")
        return super().truncate(size)


def identity(number: int) -> tuple[int, int]:
    """Device and number of an open file."""
    status = os.fstat(number)
    return status.st_dev, status.st_ino


@dataclass
class Outcome:
    """Outcome of an operation: result, or error; neither if it crashed."""

    faults: Faults
    result: Any = None
    error: Exception | None = None
    crashed: bool = False

    @property
    def succeeded(self) -> bool:
        return self.error is None and not self.crashed


def run_with_faults(
    tmp_path: Path,
    operate: Callable[[Path], Any],
    check: Callable[[Path, Outcome], None],
    *,
    prepare: Callable[[Path], Any] = lambda folder: None,
    makes: Sequence[str] = (),
    kinds: Sequence[str] = tuple(KINDS),
) -> int:
    """Run an operation with every fault at every call until no call is left, in a new folder each time; how often.

    operate(folder): what may fail
    check(folder, outcome): asserts what must hold afterwards; runs without faults
    prepare(folder): what is there before; runs without faults
    makes: names of the files that may be there afterwards, one of which an error must name
    """
    runs = 0
    for kind in kinds:
        for n in itertools.count():
            folder = tmp_path / f"{kind}-{n}"
            folder.mkdir()
            prepare(folder)
            outcome = attempt(folder, operate, n, kind)
            where = f"{kind} at call {n}, after {' '.join(outcome.faults.log[: n + 1])}"
            if outcome.error is not None:
                assert any(name in str(outcome.error) for name in makes), f"{where}: {outcome.error} names no file"
            left = {path.name for path in folder.iterdir()} - set(makes)
            assert outcome.crashed or not left, f"{where}: left {left} behind"
            try:
                check(folder, outcome)
            except BaseException as error:
                error.add_note(where) if hasattr(error, "add_note") else print(where)
                raise
            runs += 1
            if not outcome.faults.fired:
                assert outcome.succeeded, outcome
                break
    return runs


def attempt(folder: Path, operate: Callable[[Path], Any], n: int, kind: str) -> Outcome:
    """One run; exceptions that are neither the system's nor vigym's are not caught."""
    with Faults(folder, n, kind) as faults:
        try:
            return Outcome(faults, operate(folder))
        except (OSError, VigymError) as error:
            return Outcome(faults, error=error)
        except Crash:
            return Outcome(faults, crashed=True)


def old_or_new(name: str, old: bytes | None, new: bytes) -> Callable[[Path, Outcome], None]:
    """A check: the file has its new content if the operation succeeded, else that or the old one (None: no file)."""

    def check(folder: Path, outcome: Outcome) -> None:
        path = folder / name
        found = path.read_bytes() if path.exists() else None
        assert found == new or (found == old and not outcome.succeeded)

    return check
