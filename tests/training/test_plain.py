"""Plain data in files: what is kept is what was given, and nothing else can be read."""

import pickle

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from vigym import InputError
from vigym.engine.durable import write_whole
from vigym.training import plain

TREE = {
    "numbers": [1, 2**127, -0.0, 1e-320, float("inf"), None, True],
    "texts": ("", "é"),
    3: {"bytes": b"\x00\xff", "empty": b""},
    "arrays": [np.arange(6, dtype=np.uint32).reshape(2, 3), np.zeros((0, 2)), np.array(3.5), np.array([True])],
    "scalars": (np.float32(0.1), np.int64(-5), np.bool_(True), np.float64(0.1)),
    "tensors": {0: torch.tensor([1.5, 2.5]), "step": torch.tensor(3.0), "state": torch.get_rng_state()},
}


def same(one, other) -> bool:
    """Equal in kind and in every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, (np.ndarray, np.generic)):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return repr(one) == repr(other)


def test_a_file_keeps_what_it_is_given(tmp_path):
    plain.save(tmp_path / "tree.npz", TREE)
    assert same(plain.load(tmp_path / "tree.npz"), TREE)


@pytest.mark.parametrize("value", [object(), {1, 2}, print, np.array([None])])
def test_what_is_not_plain_is_refused_and_nothing_written(value, tmp_path):
    with pytest.raises(TypeError, match="is not plain data"):
        plain.save(tmp_path / "tree.npz", {"value": value})
    assert not list(tmp_path.iterdir())


class Code:
    """Makes a file when its pickle is loaded."""

    def __init__(self, path) -> None:
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def test_no_code_is_run_even_if_the_checksum_is_right(tmp_path):
    path, ran = tmp_path / "tree.npz", tmp_path / "ran"
    objects = np.array([Code(ran)], dtype=object)
    tree = np.frombuffer(b'{"array": 0}', np.uint8)
    write_whole(path, lambda partial: np.savez(partial, tree=tree, array0=objects, allow_pickle=True), checked=True)
    with pytest.raises(InputError, match="not plain data that vigym wrote"):
        plain.load(path)
    for content in (pickle.dumps(Code(ran)), b"PK\x03\x04", b"", b'{"list": [[]]}'):
        write_whole(path, content, checked=True)
        with pytest.raises(InputError, match=r"tree.npz is not plain data that vigym wrote"):
            plain.load(path)
    assert not ran.exists()
