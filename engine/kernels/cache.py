"""Compiled kernels on disk, so that a machine compiles a kind of mechanism once.

One file per function and types of its arguments; its name is a hash of everything the machine code depends on: the
sources (see jit.py), the versions of Python and Numba, the processor, the types. Files are written whole under another
name and then renamed, so that processes that start at once never see half a file. Where nothing can be written, code
is compiled in memory.

`VIGYM_CACHE_DIR` sets the folder.
"""

import contextlib
import hashlib
import os
import pickle
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import ClassVar

from vigym.engine.kernels import simd


def folder() -> Path:
    """Where compiled code is kept."""
    if chosen := os.environ.get("VIGYM_CACHE_DIR"):
        return Path(chosen)
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "vigym"


@cache
def source_hash(directory: Path = Path(__file__).parent) -> str:
    """Hash of the kernels' sources and of the interpreter."""
    digest = hashlib.sha256(f"{sys.version} {platform.machine()}".encode())
    for path in sorted(directory.rglob("*.py")):
        digest.update(path.relative_to(directory).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def seal(data: bytes) -> bytes:
    """data with its checksum: LLVM aborts the process when it is given damaged code."""
    return hashlib.sha256(data).digest() + data


def unseal(sealed: bytes) -> bytes:
    """What was sealed; ValueError if it was damaged since."""
    data = sealed[32:]
    if seal(data) != sealed:
        raise ValueError("damaged file")
    return data


def describe_type(t):
    """A type of Numba, as part of the name of a file; named tuples with the names of their fields."""
    return str(t), t.key, getattr(t, "fields", None), [describe_type(part) for part in getattr(t, "types", ())]


class DiskCache:
    """Numba's cache of one function (the calls its dispatcher makes), kept as described at the top of this file."""

    cache_path = None
    told: ClassVar[set[str]] = set()  # of what this process has said that it compiles, of small things

    def __init__(self, name: str, sources: str | Callable[[], str], what: str, small: bool = False) -> None:
        """name: of the files; sources: hash of what is compiled, or a function that returns it, called when there is
        something to load; what: in words, and how long it may take; small: one of several that share these words, which
        are said once."""
        self.name, self.sources, self.what, self.small = name, sources, what, small
        self.started = 0.0

    def file_name(self, sig, context) -> str:
        sources = self.sources if isinstance(self.sources, str) else self.sources()
        key = f"{sources} {simd.target(context)} {[describe_type(t) for t in sig]}"
        return f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.kernel"

    def load_overload(self, sig, context):
        """The compiled function, or None; a file that cannot be used is treated as absent."""
        name = self.file_name(sig, context)
        try:
            return simd.load(context, unseal((folder() / name).read_bytes()))
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ValueError, TypeError, RuntimeError):
            if not (self.small and self.what in self.told):
                print(f"vigym: compiling {self.what} ...", file=sys.stderr, flush=True)
            self.told.add(self.what)
            self.started = time.perf_counter()
            return None

    def save_overload(self, sig, result) -> None:
        """Keep compiled code if the disk lets us."""
        name = self.file_name(sig, result.target_context)
        try:
            path = folder() / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = seal(simd.dump(result))
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.stem, suffix=".tmp", delete=False) as file:
                temporary = Path(file.name)
                try:
                    file.write(data)
                    file.close()
                    os.replace(temporary, path)
                finally:
                    with contextlib.suppress(OSError):
                        temporary.unlink(missing_ok=True)
            kept = f"kept in {path.parent}"
        except (OSError, RuntimeError) as error:  # RuntimeError: there is no home directory
            kept = f"not kept on disk ({getattr(error, 'strerror', None) or error}): the next process compiles again"
        if not self.small:
            took = time.perf_counter() - self.started
            print(f"vigym: compiled in {took:.1f} s, {kept}", file=sys.stderr, flush=True)

    def flush(self) -> None:
        """Part of the protocol; there is nothing to flush."""


SOURCES = source_hash()  # of what is imported now, whatever happens to the files later
