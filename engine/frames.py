"""Frames of a recording, as they stand in its file:

    8 bytes                           MAGIC
    uint32 n, uint32 crc, n bytes     JSON: what it shows (bodies, shapes, colliders, contacts), time step, columns
    uint32 n, uint32 crc, n bytes     in version 3, for each mesh that is drawn: uint32 vertices, uint32 faces, float32
                                      coordinates, int32 faces
    ...
    uint32 n, uint32 crc, n bytes     a frame: uint32 step, uint32 flags, float32 numbers, column after column; then
                                      one TOUCH for each contact between colliders, as many as there are
    ...
    uint32 0, uint32 0                the end; missing if whoever recorded did not come to it

Numbers are little-endian, checksums are CRC-32. Files of version 1 are read as well: they have no colliders, and no
column of touching points. Version 2 is version 3 without meshes, and written where there are none.
"""

import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import InputError
from vigym.engine.rotation import Array

MAGIC = b"vigym r2"
MAGIC_MESHES = b"vigym r3"
VERSIONS = {b"vigym r1": 1, MAGIC: 2, MAGIC_MESHES: 3}
HEAD = struct.Struct("<II")  # bytes that follow, their checksum
LARGEST = float(np.finfo(np.float32).max)  # number of a frame
START = 1  # flag: this frame does not follow from the one before
# columns without NaN and infinities; others are the user's
PHYSICAL = ("x", "q", "forces", "points", "gaps", "joint_error")
# a contact between two colliders, as `collisions.Contacts` has it: to the bit, forces and gaps as they are
TOUCH = np.dtype(
    [
        ("collider", "<i4", (2,)),
        ("position", "<f8", (3,)),
        ("normal", "<f8", (3,)),
        ("gap", "<f8"),
        ("force", "<f8", (3,)),
    ]
)


def chunk(data: bytes) -> bytes:
    """data with its length and its checksum in front."""
    return HEAD.pack(len(data), zlib.crc32(data)) + data


class Chunks:
    """The chunks of a file that are whole, one after the other, and why there are no more.

    version: of the format
    complete: the end was found
    damage: what is wrong there, else; empty if the file just ends
    """

    def __init__(self, data: bytes) -> None:
        self.version = VERSIONS.get(data[: len(MAGIC)], 0)
        if not self.version:
            raise InputError("it does not begin like one, or is one of another version")
        self.data, self.at, self.complete, self.damage = data, len(MAGIC), False, ""

    def __iter__(self) -> Iterator[bytes]:
        while self.at + HEAD.size <= len(self.data):
            size, checksum = HEAD.unpack_from(self.data, self.at)
            found = self.data[self.at + HEAD.size : self.at + HEAD.size + size]
            if len(found) < size:
                return
            if zlib.crc32(found) != checksum:
                self.damage = f"the content at byte {self.at} does not match its checksum"
                return
            if not size:
                self.complete = True
                return
            self.at += HEAD.size + size
            yield found

    def frames(self, size: int) -> Iterator[bytes]:
        """Those of that size, and whole contacts behind it from version 2 on, up to one of another size."""
        for found in self:
            more = len(found) - size
            if more < 0 or (more % TOUCH.itemsize if self.version > 1 else more):
                self.damage = f"the frame before byte {self.at} has {len(found)} bytes instead of {size}"
                return
            yield found


def columns(values: NDArray[np.float32], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[np.float32]]:
    """The numbers (n, *shape) of n frames by name."""
    parts, at = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        parts[name] = values[:, at : at + size].reshape(len(values), *shape)
        at += size
    return parts


def possible(parts: Mapping[str, NDArray[np.float32]]) -> int:
    """Return how many frames there are before the first whose numbers are not finite, or no rotations."""
    good = np.ones(len(parts["q"]), bool)
    for name in parts.keys() & set(PHYSICAL):
        finite = np.isfinite(parts[name])
        good &= finite.all(tuple(range(1, finite.ndim)))
    with np.errstate(over="ignore", invalid="ignore"):
        good &= (np.abs(np.linalg.norm(parts["q"], axis=-1) - 1.0) < 0.01).all(1)
    return len(good) if good.all() else int(good.argmin())


def impossible(touches: NDArray[Any], colliders: int) -> NDArray[np.bool_]:
    """The contacts (TOUCH) whose numbers are too large, whose normal has not length 1, or whose colliders are none."""
    good = ((touches["collider"] >= 0) & (touches["collider"] < colliders)).all(1)
    for name in ("position", "normal", "gap", "force"):
        small = np.abs(touches[name]) <= LARGEST
        good &= small.all(tuple(range(1, small.ndim)))
    with np.errstate(over="ignore", invalid="ignore"):
        return ~(good & (np.abs(np.linalg.norm(touches["normal"], axis=-1) - 1.0) < 0.01))


def elapsed(steps: NDArray[np.uint32]) -> Array:
    """Steps since the recording began; after 2^32 of them, the file counts from 0 again."""
    first = steps[:1].astype(float)
    return np.cumsum(np.concatenate([first, np.diff(steps).astype(float)]))  # differences are modulo 2^32 as well
