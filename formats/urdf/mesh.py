"""Mesh files that a URDF refers to: where they are, and the box around their vertices."""

import os
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from vigym.engine.validation import Array

_STL_HEADER = 84  # bytes before the first triangle of a binary file
_STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"^\s*vertex\s+(\S+)\s+(\S+)\s+(\S+)", re.MULTILINE)


def find_mesh(filename: str, urdf: Path, packages: Mapping[str, Path]) -> Path | None:
    """The file that `filename` in the file `urdf` means, or None.

    package://name/rest is `rest` inside packages[name]; without an entry, and for relative paths, the folder of the
    URDF file and those above it are searched (for package://, also for one that is itself called `name`).
    """
    scheme, _, rest = filename.partition("://")
    if not rest:
        scheme, rest = "", filename
    if scheme == "file":
        rest = unquote(rest)
    elif scheme not in ("", "package", "model"):
        return None
    folders = [urdf.parent, *urdf.parent.resolve().parents]
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

    None for formats that are not read. Raises ValueError, with the reason, for a file that is damaged.
    """
    data = path.read_bytes()
    kind = path.suffix.lower()
    if kind == ".obj":
        rows = [line.split()[1:4] for line in data.splitlines() if line.startswith((b"v ", b"v\t"))]
        vertices = np.array(rows, dtype=float)
    elif kind == ".stl":
        vertices = _stl(data)
    else:
        return None
    if vertices.size == 0:
        raise ValueError("it has no vertices")
    if not np.isfinite(vertices).all():
        raise ValueError("a vertex is not finite")
    return np.array([vertices.min(axis=0), vertices.max(axis=0)])


def _stl(data: bytes) -> Array:
    """Vertices (n, 3). A binary file is known by its length; its first word is not to be trusted."""
    if len(data) >= _STL_HEADER:
        (count,) = struct.unpack_from("<I", data, _STL_HEADER - 4)
        if len(data) >= _STL_HEADER + count * _STL_TRIANGLE.itemsize and not _VERTEX.search(data):
            triangles = np.frombuffer(data, _STL_TRIANGLE, count, _STL_HEADER)
            return triangles["corners"].reshape(-1, 3).astype(float)
    return np.array(_VERTEX.findall(data), dtype=float).reshape(-1, 3)
