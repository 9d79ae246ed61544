"""Files that were written to be slow or large end soon, in little memory, and with one kind of error."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import adversaries
import pytest

from vigym.formats import urdf

pytestmark = pytest.mark.filterwarnings("ignore::vigym.formats.urdf.UrdfWarning")
# Seconds of the processor for all files together: ten times what they take, and nothing beside the hours of a
# quadratic pattern.
LIMIT = {100_000: 200, 10_000_000: 1500}
MOST_MEMORY = 700  # MB, of which 130 are Python with NumPy, Numba and Gymnasium
# Those that are as good as any other file; what is read of the others depends on their size.
GOOD = {
    *(f"mesh: {name}" for name in ("vertices.obj", "wide.obj", "faces.obj", "vertices.stl", "binary.stl", "mesh.dae")),
    *(f"urdf: {name}" for name in ("blank lines", "zero bytes", "Latin-1")),
    "policy: a large policy",
}


@pytest.mark.parametrize("size", [100_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_all_end_in_bounded_time_and_memory(size: int) -> None:
    done = subprocess.run(
        [sys.executable, adversaries.__file__, str(size)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT[size], LIMIT[size])),
    )
    print(done.stdout)  # seconds and memory of each, to be looked at
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == adversaries.names(), done.stderr
    for name, _, memory, outcome in rows:
        assert memory < MOST_MEMORY, name
        error = "InputError: /policy" if name.startswith("policy") else "UrdfError: /robot.urdf:"
        assert outcome == "read" or outcome.startswith(error), (name, outcome)
        assert outcome == "read" or name not in GOOD, (name, outcome)


def lines_of(path: Path) -> int:
    """Lines of the reader that are run to read a file."""
    folder, count = str(Path(urdf.__file__).parent), 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(folder):
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        urdf.load_urdf(path, floating=True)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "name", ["chain", "star", "fixed chain", "fixed star", "links with boxes", "misspelt elements", "lost meshes"]
)
def test_twice_the_robot_is_twice_the_work(tmp_path: Path, name: str) -> None:
    work = []
    for size in (30_000, 60_000):
        path = tmp_path / f"{size}.urdf"
        path.write_bytes(adversaries.URDF[name](size))
        work.append(lines_of(path))
    assert work[1] / work[0] < 2.1


def test_a_mesh_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often, and by however many names, a file mentions it."""
    (tmp_path / "mesh.obj").write_text(adversaries.CUBE)
    (tmp_path / "a").mkdir()
    shapes = "".join(adversaries.shape(f'<mesh filename="{"a/../" * k}mesh.obj"/>') for k in range(20))
    path = tmp_path / "robot.urdf"
    path.write_bytes(adversaries.robot(adversaries.link("a", adversaries.SOLID + shapes)))
    read, original = [], urdf.mesh.read_regular
    monkeypatch.setattr(urdf.mesh, "read_regular", lambda *args: read.append(args) or original(*args))
    assert len(urdf.load_urdf(path, floating=True).contacts) == 160
    assert len(read) == 1


def test_formats_that_are_not_read_are_not_opened(tmp_path: Path) -> None:
    assert urdf.mesh.bounds(tmp_path / "there is no such file.dae") is None
