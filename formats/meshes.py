"""Mesh files (OBJ, STL, DAE) as surfaces to draw: read by trimesh, of the extra `meshes`.

Files may be a stranger's. One is read whole, if it is regular and not too large; of the files beside it only materials
(.mtl) that it names, inside its own folder; textures and all else are not opened. What trimesh makes of a damaged file,
whatever it raises, is an InputError.
"""

import io
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from vigym.engine.errors import InputError
from vigym.engine.files import read_regular
from vigym.engine.shapes import Color
from vigym.engine.surface import Surface
from vigym.engine.validation import Array

FORMATS = (".obj", ".stl", ".dae")
MOST_BYTES, MOST_MATERIAL_BYTES = 50_000_000, 1_000_000
MOST_READ = 2_000_000  # triangles of a file that are looked at
MOST_PARTS = 100  # materials of a file that are told apart


def check_extra(what: str) -> None:
    """DependencyNotInstalled, with the command that helps, unless the reader is there."""
    if find_spec("trimesh") is None:
        raise DependencyNotInstalled(f'{what} needs trimesh: pip install "vigym[meshes]"')


def read_surfaces(path: Path, most_faces: int) -> list[Surface]:
    """Surfaces of a file, one for each of its colours, in its own units: at most about `most_faces` triangles.

    InputError, with the reason alone, for a file that cannot be read; DependencyNotInstalled without trimesh, or, for
    DAE files, pycollada.
    """
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise InputError(f"its format is not read; those of {', '.join(FORMATS)} are")
    check_extra("a visual mesh")
    if kind == ".dae" and find_spec("collada") is None:
        raise DependencyNotInstalled('a DAE file needs pycollada: pip install "vigym[meshes]"')
    data = read_regular(path, MOST_BYTES)
    if kind == ".dae" and (b"<!ENTITY" in data or b"<!DOCTYPE" in data):
        raise InputError("entities are not read; write their text out")
    parts = _parts(data, kind, path.parent)
    total = sum(len(faces) for _, faces, _ in parts)
    if total > MOST_READ:
        raise InputError(f"it has {total:,} triangles; at most {MOST_READ:,} are read")
    found = []
    for vertices, faces, color in parts:
        share = max(4, most_faces * len(faces) // total)
        try:
            found.append(Surface(*simplified(vertices, faces, share), color=color))
        except InputError:  # of no area
            continue
    if not found:
        raise InputError("it has no triangles with an area")
    return found


def _parts(data: bytes, kind: str, folder: Path) -> list[tuple[Array, NDArray[np.int64], Color | None]]:
    """Vertices, faces and colour of each part, in the frame of the file."""
    import trimesh

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            resolver: Any = Materials(folder) if kind == ".obj" else None
            scene = trimesh.load_scene(io.BytesIO(data), file_type=kind[1:], resolver=resolver, process=False)
            meshes = [mesh for mesh in scene.dump() if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces)]
            looks: dict[Color | None, list[tuple[Array, NDArray[np.int64]]]] = {}
            for mesh in meshes:
                color = _color(mesh)
                color = color if color in looks or len(looks) < MOST_PARTS else next(iter(looks))
                looks.setdefault(color, []).append((np.array(mesh.vertices, float), np.array(mesh.faces, np.int64)))
    except Exception as cause:  # of any kind: files are a stranger's, and the reader is not ours
        raise InputError(f"{type(cause).__name__}: {str(cause)[:200]}") from cause
    joined = []
    for color, several in looks.items():
        start = np.cumsum([0, *(len(vertices) for vertices, _ in several)])
        vertices = np.concatenate([vertices for vertices, _ in several])
        faces = np.concatenate([faces + first for (_, faces), first in zip(several, start, strict=False)])
        if not np.isfinite(vertices).all():
            raise InputError("a vertex is not finite")
        joined.append((vertices, faces, color))
    if not joined:
        raise InputError("it has no triangles")
    return joined


def _color(mesh: Any) -> Color | None:
    """Colour of a material; None if there is none but the reader's own."""
    material = getattr(mesh.visual, "material", None)
    if material is None:
        if mesh.visual.kind != "face":
            return None
        rgba = np.asarray(mesh.visual.main_color, float) / 255.0
    else:
        given = getattr(material, "diffuse", None) if hasattr(material, "diffuse") else material.baseColorFactor
        if given is None or getattr(material, "image", None) is not None:
            return None
        rgba = np.asarray(given, float).reshape(-1) / 255.0
    if len(rgba) < 3 or not np.isfinite(rgba).all():
        return None
    r, g, b, a = np.clip(np.append(rgba, 1.0)[:4], 0.0, 1.0).tolist()
    return (r, g, b, a)


class Materials:
    """A resolver of trimesh: files of materials beside the mesh, and no others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> bytes:
        """The content of a file; ValueError, which the reader takes for an answer, if there is none to be read."""
        path = self.folder / name.strip()
        if path.suffix.lower() != ".mtl" or path.resolve().parent != self.folder.resolve():
            raise ValueError("it is not a file of materials beside the mesh")
        return read_regular(path, MOST_MATERIAL_BYTES)

    def keys(self) -> Iterator[str]:
        """Names that are known beforehand: none."""
        return iter(())

    def namespaced(self, _: str) -> "Materials":
        """Itself: there is one folder."""
        return self

    __getitem__ = get


def simplified(vertices: Array, faces: NDArray[np.int64], most: int) -> tuple[Array, NDArray[np.int64]]:
    """Vertices and faces, at most `most`: vertices in one cell of a grid become one, in their middle; the grid is the
    finest of a few that is coarse enough."""
    if len(faces) <= most:
        return vertices, faces
    low = vertices.min(axis=0)
    size = float(np.ptp(vertices, axis=0).max()) or 1.0
    # faces of a grid of n cells along an edge grow with n^2
    cells = 4.0 * np.sqrt(most)
    while True:
        cell = np.floor((vertices - low) * (cells / size)).astype(np.int64)
        _, place = np.unique(cell, axis=0, return_inverse=True)
        place = place.reshape(-1)
        corners = place[faces]
        a, b, c = corners.T
        kept = corners[(a != b) & (b != c) & (a != c)]
        kept = kept[np.unique(np.sort(kept, axis=1), axis=0, return_index=True)[1]]
        if len(kept) <= most or cells < 2.0:
            break
        cells *= 0.8
    count = np.bincount(place)
    means = np.stack([np.bincount(place, vertices[:, k]) / count for k in range(3)], 1)
    return means, kept[:most]
