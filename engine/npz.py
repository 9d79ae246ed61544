"""Arrays from an .npz file that somebody else has written: what NumPy saves of floats and text, and nothing else.

`numpy.load` unpacks a file of 4 MB to 4 GB, and lets through whatever zipfile, zlib and Python's parser have to say
about a damaged one.
"""

import math
import re
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from vigym.engine.errors import InputError
from vigym.engine.validation import show

MOST_ARRAYS = 100
_CHARACTERS = 0x110000  # of Unicode
# Version 1.0 of NumPy's format, as numpy.save writes it: magic, length of the head, the head.
_HEAD = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<>](?:f4|f8|U\d{1,9}))', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,12},? ?){0,8})\), \} *\n",
    re.DOTALL,
)


def read_arrays(data: bytes, most: int) -> dict[str, NDArray[Any]]:
    """Arrays by name, of at most `most` bytes together; InputError, with the reason alone, for anything else."""
    try:
        with ZipFile(BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MOST_ARRAYS:
                raise InputError(f"it has {len(members):,} arrays; at most {MOST_ARRAYS} are read")
            size = sum(member.file_size for member in members)
            if size > most:
                raise InputError(f"it has {size:,} bytes when it is unpacked; at most {most:,} are read")
            # other methods unpack as much as they like, whatever size is told
            if any(member.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for member in members):
                raise InputError("it is not packed by the method that NumPy uses")
            return {member.filename.removesuffix(".npy"): _array(archive.read(member)) for member in members}
    except InputError:
        raise
    except Exception as cause:  # of many kinds: zlib.error, struct.error, NotImplementedError, RuntimeError, ...
        raise InputError(f"it is not a whole .npz file: {show(str(cause))}") from cause


def _array(data: bytes) -> NDArray[Any]:
    head = _HEAD.match(data)
    if head is None:
        raise InputError("an array in it is not of floats or text, as numpy.save writes them")
    dtype = np.dtype(head[1].decode())
    shape = tuple(int(size) for size in head[3].replace(b",", b" ").split())
    if math.prod(shape) * dtype.itemsize != len(data) - head.end():
        raise InputError(f"an array of shape {shape} in it has {len(data) - head.end():,} bytes")
    if dtype.kind == "U" and np.frombuffer(data, dtype.str[0] + "u4", offset=head.end()).max(initial=0) >= _CHARACTERS:
        raise InputError("a text in it has characters that there are not")  # which NumPy would stumble over later
    array = np.ndarray(shape, dtype, data, head.end(), order="F" if head[2] == b"True" else "C")
    return array.astype(dtype.newbyteorder("="))
