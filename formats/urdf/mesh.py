"""Mesh files that a URDF refers to: where they are, and the box around their vertices."""

import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.files import read_regular
from vigym.engine.validation import Array, show

MOST_BYTES = 100_000_000
_BLOCK = 10_000  # vertices that are in memory at once as text
_STL_HEADER = 84  # bytes before the first triangle of a binary file
_STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# Each looks at a line once; blanks that could be the end of a line too would make time quadratic.
_LINE = rb"(?:^|(?<=\r))[ \t]*%s[ \t]+([^\r\n]*)"
_OBJ_VERTEX, _STL_VERTEX = (re.compile(_LINE % word, re.MULTILINE) for word in (b"v", b"vertex"))


def find_mesh(filename: str, folders: Sequence[Path], packages: Mapping[str, Path]) -> Path | None:
    """The file that `filename` means, or None.

    package://name/rest is `rest` inside packages[name]; without an entry, and for relative paths, `folders` are
    searched: that of the URDF file and those above it (for package://, also for one that is itself called `name`).
    """
    scheme, _, rest = filename.partition("://")
    if not rest:
        scheme, rest = "", filename
    if scheme == "file":
        rest = unquote(rest)
    elif scheme not in ("", "package", "model"):
        return None
    candidates = [folder / rest for folder in folders]
    if scheme in ("package", "model"):
        name, _, inside = rest.partition("/")
        if name in packages:
            candidates = [packages[name] / inside]
        else:
            candidates += [folder / inside for folder in folders if folder.resolve().name == name]
    return next((path for path in candidates if os.path.isfile(path)), None)  # also for names no system can have


def bounds(path: Path) -> Array | None:
    """Lowest and highest coordinates (2, 3) of the vertices of an OBJ or STL file, in its own units.

    None for formats that are not read, which are not opened either. Raises InputError, with the reason, for a file
    that is damaged.
    """
    vertices = _READERS.get(path.suffix.lower())
    if vertices is None:
        return None
    box = np.array([np.full(3, np.inf), np.full(3, -np.inf)])
    for block in vertices(read_regular(path, MOST_BYTES)):
        if not np.isfinite(block).all():
            raise InputError("a vertex is not finite")
        box = np.array([np.minimum(box[0], block.min(axis=0)), np.maximum(box[1], block.max(axis=0))])
    if np.isinf(box).any():
        raise InputError("it has no vertices")
    return box


def _obj(data: bytes) -> Iterator[Array]:
    return _text(data, _OBJ_VERTEX)


def _stl(data: bytes) -> Iterator[Array]:
    """Vertices (n, 3), block by block. A binary file is known by its length; its first word is not to be trusted."""
    if len(data) < _STL_HEADER or _STL_VERTEX.search(data):
        yield from _text(data, _STL_VERTEX)
        return
    (count,) = struct.unpack_from("<I", data, _STL_HEADER - 4)
    room = (len(data) - _STL_HEADER) // _STL_TRIANGLE.itemsize
    if count > room and not data.startswith(b"solid"):
        raise InputError(f"it says that it has {count:,} triangles, and has room for {room:,}")
    if 0 < count <= room:
        yield np.frombuffer(data, _STL_TRIANGLE, count, _STL_HEADER)["corners"].reshape(-1, 3)


def _text(data: bytes, pattern: re.Pattern[bytes]) -> Iterator[Array]:
    """Vertices (n, 3), block by block, of the lines that the pattern finds."""
    lines = pattern.finditer(data)
    while block := [_vertex(line[1]) for line in islice(lines, _BLOCK)]:
        yield np.array(block)


def _vertex(text: bytes) -> list[float]:
    words = text.split(None, 3)[:3]  # what follows are colours
    try:
        x, y, z = map(float, words)
    except ValueError:
        raise InputError(f"a vertex must be three numbers, got {show(text[:80].decode(errors='replace'))}") from None
    return [x, y, z]


_READERS = {".obj": _obj, ".stl": _stl}
