"""Exports of a replay while the disk fails: the old file or the whole new one, and an error that names it."""

import os
import sys

import pytest
from faults import run_with_faults

from vigym import InputError

OPTIONS = {
    "run.html": {},
    "run.png": {"poses": 2, "width": 32, "height": 16},
    "run.mp4": {"width": 16, "height": 16, "speed": 10.0},
    "run.gif": {"width": 16, "height": 16, "speed": 10.0},
}
BEGINS = {"run.html": b"<!", "run.png": b"\x89PNG", "run.mp4": b"\x00\x00\x00", "run.gif": b"GIF8"}
ENDS = {"run.html": b"</html>", "run.png": b"IEND\xaeB`\x82", "run.mp4": b"", "run.gif": b";"}


@pytest.mark.parametrize("name", OPTIONS)
def test_every_fault_leaves_the_old_file_or_the_new_one(replay, tmp_path, name, monkeypatch):
    page = replay.html()
    monkeypatch.setattr(replay, "html", lambda **options: page)  # made once: it takes its time

    def check(folder, outcome):
        found = (folder / name).read_bytes()
        is_new = found.startswith(BEGINS[name]) and found.rstrip().endswith(ENDS[name])
        assert is_new or (found == b"old" and not outcome.succeeded)

    run_with_faults(
        tmp_path,
        lambda folder: replay.save(folder / name, **OPTIONS[name]),
        check,
        prepare=lambda folder: (folder / name).write_bytes(b"old"),
        makes=(name,),
    )


PROGRAM = """#!{python}
import sys
open(sys.argv[-1], "wb").write(b"half of a film")
sys.stdin.buffer.read()
sys.exit("No space left on device: " + sys.argv[-1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="scripts are no programs there")
def test_a_film_that_ffmpeg_cannot_finish_leaves_the_old_one(replay, tmp_path, monkeypatch):
    program, path = tmp_path / "ffmpeg", tmp_path / "run.mp4"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setattr("imageio_ffmpeg.get_ffmpeg_exe", lambda: str(program))
    path.write_bytes(b"old")
    with pytest.raises(InputError, match=r"run\.mp4 could not be written: No space left on device: .*run\.mp4$"):
        replay.save(path, **OPTIONS["run.mp4"])
    assert path.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["ffmpeg", "run.mp4"]


def test_endless_films_are_refused(replay, tmp_path):
    with pytest.raises(InputError, match=r"run\.mp4 would have 6e\+06 pictures, more than 200000"):
        replay.save(tmp_path / "run.mp4", speed=1e-5)
    assert not list(tmp_path.iterdir())
