"""Files of strangers: regular ones only, at most so large; archives of arrays unpack to what they are allowed to."""

import os
import socket
from pathlib import Path

import numpy as np
import pytest

from vigym import InputError
from vigym.engine.files import read_regular
from vigym.engine.npz import MOST_ARRAYS, read_arrays


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    assert read_regular(tmp_path / "file", 10) == b"0123456789"
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_regular(str(tmp_path / "link"), 10) == b"0123456789"


def test_what_is_not_a_file_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a pipe waits for its writer, reading /dev/zero never ends, nor does reading /proc/kmsg."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # names of sockets must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/tty", tmp_path, tmp_path / "socket"):
        with pytest.raises(InputError):
            read_regular(path, 10)


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="no /proc")
def test_what_the_system_makes_up_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "mesh.stl").symlink_to("/proc/self/status")
    assert Path("/proc/self/status").read_bytes()
    assert read_regular(tmp_path / "mesh.stl", 10) == b""


def test_the_reason_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    with pytest.raises(InputError, match=r"^it has 10 bytes; at most 9 are read$"):
        read_regular(tmp_path / "file", 9)
    with pytest.raises(InputError, match=r"^No such file"):
        read_regular(tmp_path / "none", 9)
    with pytest.raises(InputError, match="no file can have this name"):
        read_regular(tmp_path / "no\0ne", 9)


def save(path: Path, **arrays: np.ndarray) -> bytes:
    np.savez_compressed(path, **arrays)
    return path.read_bytes()


def test_arrays_are_those_that_numpy_saved(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {
        "doubles": rng.normal(size=(3, 4)),
        "floats": rng.normal(size=5).astype(np.float32),
        "turned": np.asfortranarray(rng.normal(size=(3, 4, 2))),
        "swapped": rng.normal(size=3).astype(">f8"),
        "empty": np.zeros((0, 7)),
        "scalar": np.array(2.0),
        "text": np.array("é words"),
    }
    found = read_arrays(save(tmp_path / "a.npz", **arrays), 10_000)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype.newbyteorder("=")


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (np.zeros(10**6), "8,000,128 bytes when it is unpacked; at most 1,000,000"),
        (np.array([None]), "not of floats or text"),
        (np.zeros(3, "i8"), "not of floats or text"),
        (np.zeros(3, "f4,f4"), "not of floats or text"),
    ],
)
def test_other_arrays_are_refused(tmp_path: Path, array: np.ndarray, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_arrays(save(tmp_path / "a.npz", array=array), 10**6)


def test_other_archives_are_refused(tmp_path: Path) -> None:
    many = {f"a{k}": np.zeros(1) for k in range(MOST_ARRAYS + 1)}
    with pytest.raises(InputError, match="has 101 arrays"):
        read_arrays(save(tmp_path / "a.npz", **many), 10**6)
    whole = save(tmp_path / "a.npz", a=np.random.default_rng(0).normal(size=100))
    for cut in range(0, len(whole), 7):
        with pytest.raises(InputError):
            read_arrays(whole[:cut], 10**6)
