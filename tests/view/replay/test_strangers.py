"""Recordings that strangers send: whatever is in the file, an InputError that names it, or something that can be shown.

`corpus/` has small files: real recordings, which must be read, and what once was not refused as it should be.
"""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from replay.strangers import deep, pack, strangers, unpack

from vigym import InputError, Replay
from vigym.engine.errors import VigymError
from vigym.engine.frames import MAGIC, TOUCH

CORPUS = Path(__file__).parent / "corpus"
TOUCHING = CORPUS / "whole-touching.vigym"  # with colliders; the others are of version 1
WHOLE = sorted(CORPUS.glob("whole-*.vigym"))
WRONG = sorted(CORPUS.glob("wrong-*.vigym"))
LITTLE = {"poses": 2, "width": 16, "height": 16}
COUNT = {"loaded": 0, "refused": 0}


def read(path):
    """The replay, or None where the file is refused as it should be."""
    refusal, replay = "", None
    try:
        replay = Replay.load(path)
    except InputError as error:
        refusal = str(error)
    assert replay or (str(path) in refusal and len(refusal) < 1000)
    COUNT["refused" if refusal else "loaded"] += 1
    return replay


def look_at(replay):
    """Everything but pictures."""
    repr(replay)
    assert len(replay) >= 1
    assert np.isfinite(replay.time).all()
    assert (np.diff(replay.time) >= 0.0).all()
    for values in (replay.x, replay.q, replay.forces, replay.points, replay.gaps, replay.joint_error):
        assert np.isfinite(values).all()
    for frame in (0, len(replay) - 1):
        assert len(replay.contacts(frame)) <= len(replay.touches)
    np.testing.assert_allclose(np.linalg.norm(replay.q, axis=-1), 1.0, rtol=1e-12)
    assert len(replay.mechanism.bodies) == replay.x.shape[1]
    assert len(replay.mechanism.contacts) == replay.gaps.shape[1]
    assert replay.rate > 0.0
    assert replay.thinned()[-1] == len(replay) - 1
    for time in (0.0, 0.5 * replay.time[-1], replay.time[-1]):
        assert all(np.isfinite(values).all() for values in replay.at(time))


def draw(replay, folder, names=("run.png",)):
    """Pictures, unless they are refused."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
        try:
            replay.save(folder / name, **(LITTLE if name == "run.png" else {}))
        except VigymError:
            assert not (folder / name).exists()


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_real_recordings_are_read(path, tmp_path):
    replay = Replay.load(path)
    assert replay.complete
    assert not replay.damage
    look_at(replay)
    draw(replay, tmp_path, ("run.png", "run.html"))
    assert (tmp_path / "run.html").exists()


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_impossible_ones_are_refused(path):
    assert read(path) is None


def fuzz(folder, data, names):
    path = folder / "stranger.vigym"
    path.write_bytes(data)
    if (replay := read(path)) is not None:
        look_at(replay)
        draw(replay, folder, names)


SETTINGS = {"suppress_health_check": list(HealthCheck)}


@settings(max_examples=300, **SETTINGS)
@given(strangers(WHOLE[0].read_bytes()))
def test_strangers_are_refused_or_shown(tmp_path_factory, data):
    fuzz(tmp_path_factory.getbasetemp(), data, ("run.png",))


@settings(max_examples=300, **SETTINGS)
@given(strangers(TOUCHING.read_bytes()))
def test_strangers_with_colliders_are_refused_or_shown(tmp_path_factory, data):
    fuzz(tmp_path_factory.getbasetemp(), data, ("run.png",))


@pytest.mark.slow
@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_many_strangers_are_refused_or_shown(tmp_path, path):
    COUNT.update(loaded=0, refused=0)

    @settings(max_examples=10_000 // len(WHOLE), **SETTINGS)
    @given(strangers(path.read_bytes()))
    def run(data):
        fuzz(tmp_path, data, ("run.png",))

    run()
    print(COUNT)
    assert min(COUNT.values()) > 0.05 * sum(COUNT.values())  # it is not always the same


@pytest.mark.slow
def test_pages_of_strangers(tmp_path):
    @settings(max_examples=300, **SETTINGS)
    @given(strangers(WHOLE[0].read_bytes()))
    def run(data):
        fuzz(tmp_path, data, ("run.html",))

    run()


def big_files():
    """Files of up to 10 MB that ask for much more."""
    head, frames = unpack(WHOLE[0].read_bytes())
    body, contact, shape = head["bodies"][0], head["contacts"][0], head["bodies"][0]["shapes"][0]
    many = [body | {"name": str(k), "shapes": []} for k in range(9_000)]
    yield "deep", pack(b'{"title":' + 1_000_000 * b"[" + 1_000_000 * b"]" + b"}", frames)
    yield "lists", pack(head | {"more": [[]] * 2_000_000}, frames)
    yield "just below", pack(head | {"more": [[]] * 500_000}, frames)
    yield "bodies", pack(head | {"bodies": many}, frames)
    yield "shapes", pack(head | {"scenery": [shape] * 20_000}, frames)
    planes = [contact | {"name": str(k), "offset": -k} for k in range(9000)]
    yield "planes", pack(head | {"contacts": planes}, frames)
    yield "actions", pack(head | {"columns": head["columns"] | {"action": [10**12]}}, frames)
    yield "no end", pack(head | {"columns": head["columns"] | {"action": [10**5]}}, [bytes(10_000_000)])
    yield "frames", pack(head, frames[:1] * (10_000_000 // (8 + len(frames[0]))))
    yield "small frames", pack(head, [b"12345678"] * 600_000)
    yield "names", pack(head | {"contacts": [contact | {"body": "a" * 1_000_000}]}, frames)
    yield "long time", pack(head | {"dt": 1e300}, frames)
    yield "level", pack(head | {"camera": deep(900)}, frames)
    digits = b'"dt": ' + b"1" * 3_000_000 + b', "other":'
    touching, (*others, last) = unpack(TOUCHING.read_bytes())
    yield "colliders", pack(touching | {"colliders": [{}] * 20_000}, others, magic=MAGIC)
    yield "touches", pack(touching, [last + last[-TOUCH.itemsize :] * (10_000_000 // TOUCH.itemsize)], magic=MAGIC)
    yield "number", pack(json.dumps(head).encode().replace(b'"dt":', digits), frames)


def test_files_that_ask_for_much_get_little(tmp_path):
    """Ten megabytes take less than 25 times that, read and looked at."""
    path = tmp_path / "stranger.vigym"
    for name, data in big_files():
        assert len(data) < 1.1e7, name
        path.write_bytes(data)
        tracemalloc.start()
        try:
            if (replay := read(path)) is not None:
                look_at(replay)
            assert tracemalloc.get_traced_memory()[1] < 250e6, name
        finally:
            tracemalloc.stop()


def test_a_long_time_between_two_frames_is_no_film(tmp_path):
    head, frames = unpack(WHOLE[0].read_bytes())
    late = b"\xff\xff\xff\xff" + frames[1][4:]
    (tmp_path / "run.vigym").write_bytes(pack(head, [frames[0], late]))
    replay = Replay.load(tmp_path / "run.vigym")
    look_at(replay)
    with pytest.raises(InputError, match="pictures, more than"):
        replay.save(tmp_path / "run.mp4")


def test_a_count_of_steps_that_is_full_goes_on(tmp_path):
    head, frames = unpack(WHOLE[0].read_bytes())
    steps = [2**32 - 2, 2**32 - 1, 0, 1]
    rows = [(step % 2**32).to_bytes(4, "little") + frames[0][4:] for step in steps]
    (tmp_path / "run.vigym").write_bytes(pack(head, rows))
    time = Replay.load(tmp_path / "run.vigym").time / head["dt"]
    np.testing.assert_allclose(time, 2**32 - 2 + np.arange(4))


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [(2, np.nan, "frame 1 "), (8, 7.0, "frame 1 "), (-1, np.nan, "")],
    ids=["x", "q", "reward"],
)
def test_a_frame_that_cannot_be_ends_the_recording(tmp_path, at, value, message):
    """Everything before the damage is read, and the damage is told; rewards may be anything."""
    head, frames = unpack(WHOLE[0].read_bytes())
    words = np.frombuffer(frames[1], "<f4").copy()
    words[at] = value
    (tmp_path / "run.vigym").write_bytes(pack(head, [frames[0], words.tobytes(), *frames[2:]]))
    replay = Replay.load(tmp_path / "run.vigym")
    assert replay.damage.startswith(message)
    assert bool(replay.damage) == bool(message)
    assert len(replay) == (1 if message else len(frames))
    assert replay.complete == (not message)
