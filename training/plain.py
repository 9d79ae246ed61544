"""Plain data in files: numbers, texts, lists, dictionaries, arrays and tensors, with a checksum.

A file is NumPy's .npz: the arrays, and JSON that says where each belongs. Reading one runs no code, whoever wrote it,
unlike reading a pickle.
"""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch

from vigym.engine.durable import read_checked, write_whole
from vigym.engine.errors import InputError

Arrays = list[np.ndarray]


def save(path: Path, tree: Any) -> None:
    """Write a file that `load` reads; TypeError for what is not plain."""
    arrays: Arrays = []
    text = json.dumps(encoded(tree, arrays)).encode()
    named: dict[str, Any] = {f"array{k}": array for k, array in enumerate(arrays)}
    write_whole(path, lambda partial: np.savez(partial, tree=np.frombuffer(text, np.uint8), **named), checked=True)


def load(path: Path) -> Any:
    """Read what `save` wrote; InputError if it is damaged or something else."""
    content = read_checked(path)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            tree = json.loads(file["tree"].tobytes())
            return decoded(tree, file)
    except (EOFError, BadZipFile, KeyError, IndexError, ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{path} is not plain data that vigym wrote: {error}") from error


def encoded(value: Any, arrays: Arrays) -> Any:
    """JSON for a value; what is inside goes to `arrays`. All but numbers and texts is {kind: content}."""
    if isinstance(value, np.generic):  # some are also Python's floats
        return {"scalar": [value.dtype.str, value.item()]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {"dict": [[encoded(key, arrays), encoded(item, arrays)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list" if isinstance(value, list) else "tuple": [encoded(item, arrays) for item in value]}
    if isinstance(value, (bytes, np.ndarray, torch.Tensor)):
        kind, array = kept_as(value)
        if array.dtype.hasobject:
            raise TypeError(f"an array of {array.dtype} is not plain data")
        arrays.append(array)
        return {kind: len(arrays) - 1}
    raise TypeError(f"{type(value).__name__} is not plain data")


def kept_as(value: bytes | np.ndarray | torch.Tensor) -> tuple[str, np.ndarray]:
    """Kind, and the array in the file."""
    if isinstance(value, bytes):
        return "bytes", np.frombuffer(value, np.uint8)
    if isinstance(value, torch.Tensor):
        return "tensor", value.detach().cpu().numpy()
    return "array", value


def decoded(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The value that `encoded` made JSON of."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "dict":
        return {decoded(key, arrays): decoded(item, arrays) for key, item in content}
    if kind == "list":
        return [decoded(item, arrays) for item in content]
    if kind == "tuple":
        return tuple(decoded(item, arrays) for item in content)
    if kind == "scalar":
        return np.dtype(content[0]).type(content[1])
    array = arrays[f"array{content:d}"]
    if kind == "bytes":
        return array.tobytes()
    return torch.from_numpy(array) if kind == "tensor" else array
