"""Compiled kernels on disk, so that a machine compiles a kind of mechanism once.

One file per function and types of its arguments; its name is a hash of everything the machine code depends on: the
sources (see jit.py), the versions of Python and of libraries, the processor, the settings of Numba, the types. disk.py
reads and writes files, and says whom it trusts; machine_code.py knows what is in them. Where nothing can be read or
written, code is compiled in memory, and why is said once.

`VIGYM_CACHE_DIR` sets the folder. docs/simulation.md has a section on it.
"""

import hashlib
import platform
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from vigym.engine.kernels import disk, machine_code


@cache
def source_hash(directory: Path = Path(__file__).parent) -> str:
    """Hash of the kernels' sources and of the interpreter."""
    digest = hashlib.sha256(f"{sys.version} {platform.machine()}".encode())
    for path in sorted(directory.rglob("*.py")):
        digest.update(path.relative_to(directory).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def describe_type(t):
    """A type of Numba, as part of the name of a file; named tuples with the names of their fields."""
    return str(t), t.key, getattr(t, "fields", None), [describe_type(part) for part in getattr(t, "types", ())]


class DiskCache:
    """Numba's cache of one function (the calls its dispatcher makes), kept as described at the top of this file."""

    cache_path = None
    told: ClassVar[set[str]] = set()  # what this process has said once, and does not say again

    def __init__(
        self, function: Callable, name: str, sources: str | Callable[[], str], what: str, small: bool = False
    ) -> None:
        """name: of the files; sources: hash of what is compiled, or a function that returns it, called when there is
        something to load; what: in words, and how long it may take; small: one of several that share these words, which
        are said once."""
        self.function, self.name, self.sources, self.what, self.small = function, name, sources, what, small
        self.started = 0.0

    def file_name(self, sig, context) -> str:
        sources = self.sources if isinstance(self.sources, str) else self.sources()
        key = f"{sources} {machine_code.target(context)} {[describe_type(t) for t in sig]}"
        return f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.kernel"

    def load_overload(self, sig, context) -> Any:
        """The compiled function, or None, for which there is always a reason to be said: that it is not there yet, or
        that it cannot be used."""
        name = self.file_name(sig, context)
        try:
            return machine_code.load(disk.read(name), self.function, tuple(sig))
        except (FileNotFoundError, NotADirectoryError):
            pass
        except disk.RefusedError as refused:
            self._warn(f"compiled code on disk is not used: {refused}")
        except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: there is no home directory
            self._warn(f"compiled code on disk cannot be read: {error}")
        if not self.small or self._is_new(self.what):
            print(f"vigym: compiling {self.what} ...", file=sys.stderr, flush=True)
        self.started = time.perf_counter()
        return None

    def save_overload(self, sig, result) -> None:
        """Keep compiled code if the disk lets us, and say where it is, or why it is not."""
        name = self.file_name(sig, result.target_context)
        try:
            kept = f"kept in {disk.write(name, machine_code.dump(result))}"
        except (OSError, RuntimeError, ValueError, disk.RefusedError) as error:
            kept = f"not kept on disk ({getattr(error, 'strerror', None) or error}): the next process compiles again"
            if self.small:
                self._warn(f"compiled code is {kept}")
        if not self.small:
            took = time.perf_counter() - self.started
            print(f"vigym: compiled in {took:.1f} s, {kept}", file=sys.stderr, flush=True)

    def flush(self) -> None:
        """Part of the protocol; there is nothing to flush."""

    def _is_new(self, words: str) -> bool:
        """True if this is said for the first time."""
        new = words not in self.told
        self.told.add(words)
        return new

    def _warn(self, words: str) -> None:
        if self._is_new(words):
            warnings.warn(f"vigym: {words}", RuntimeWarning, stacklevel=2)


SOURCES = source_hash()  # of what is imported now, whatever happens to the files later
