"""Pictures as arrays: several in a grid, and files."""

import math
import os
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vigym.engine.durable import write_whole
from vigym.engine.errors import InputError


def tile(images: Sequence[NDArray] | NDArray, fill: float = 255) -> NDArray:
    """n images (h, w, ...) side by side in rows, ceil(sqrt(n)) in each; cells that are left over have value `fill`."""
    if len(images) == 0:
        raise InputError("tile needs at least one image")
    first = np.asarray(images[0])
    if other := next((shape for shape in map(np.shape, images) if shape != first.shape), None):
        raise InputError(f"tile needs images of one size, got {first.shape} and {other}")
    columns, lines = grid_shape(len(images))
    h, w = first.shape[:2]
    grid = np.full((lines * h, columns * w, *first.shape[2:]), fill, first.dtype)
    for k, image in enumerate(images):
        y, x = divmod(k, columns)
        grid[y * h : (y + 1) * h, x * w : (x + 1) * w] = image
    return grid


def grid_shape(n: int) -> tuple[int, int]:
    """Columns and rows of the grid in which `tile` has n images."""
    columns = math.isqrt(n - 1) + 1
    return columns, -(-n // columns)


def save_png(path: str | os.PathLike[str], image: NDArray[np.uint8]) -> None:
    """Write a picture (height, width, 3) of bytes as a PNG file."""
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise InputError(f"a picture has shape (height, width, 3) and type uint8, got {image.shape}, {image.dtype}")
    height, width = image.shape[:2]
    pixels = image.reshape(height, 3 * width).astype(np.int16)
    # each line as its difference from the one above (filter 2), which compresses best here
    lines = np.diff(pixels, axis=0, prepend=np.zeros((1, 3 * width), np.int16)).astype(np.uint8)
    data = np.insert(lines, 0, 2, axis=1).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b""))
    parts = [
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    ]
    write_whole(path, b"\x89PNG\r\n\x1a\n" + b"".join(parts))
