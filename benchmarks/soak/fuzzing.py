"""Spoilt files, one after the other: each is read, or refused with an InputError that names it."""

import hashlib
import tempfile
import time
from pathlib import Path
from random import Random

from vigym.benchmarks.soak.formats import FORMATS
from vigym.benchmarks.soak.result import Result
from vigym.engine.errors import InputError


def outcome(name: str, data: bytes, folder: Path) -> str:
    """ "read", "refused", or what else was raised, for a file of the format `name`."""
    path = folder / f"file{FORMATS[name].suffix}"
    path.write_bytes(data)
    try:
        FORMATS[name].read(path)
    except InputError as error:
        return "refused" if path.stem in str(error) else f"the error does not name the file: {str(error)[:200]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "read"


def fuzz(result: Result, until: float, seed: int) -> None:
    """Read spoilt files of all formats in turns until then; those that failed are kept in the report's folder."""
    rng = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        while True:
            for name, kind in FORMATS.items():
                data = kind.spoil(rng.choice(kind.samples()), rng)
                began = time.perf_counter()
                found = outcome(name, data, Path(folder))
                result.most(f"{name}: slowest file, s", time.perf_counter() - began)
                result.count(f"{name}: {found if found in ('read', 'refused') else 'failed'}")
                if found not in ("read", "refused"):
                    kept = f"{name}-{hashlib.sha256(data).hexdigest()[:12]}{kind.suffix}"
                    result.keep(kept, data)
                    result.fail(f"{kept}: {found}")
            if time.monotonic() >= until:
                return
