"""Recordings: what was simulated stands in the file, up to the last whole frame, whatever happened then."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from faults import Faults, run_with_faults

import vigym
from vigym import InputError
from vigym.assets import unitree_a1
from vigym.engine.recording import HEAD, MAGIC, Recording


def boxes(num_envs=3):
    """Boxes on strings that fall onto the floor, each with another speed."""
    m = vigym.Mechanism()
    m.add_body("box", mass=1.0, shapes=[vigym.Box((0.4, 0.3, 0.2), color=(0.1, 0.2, 0.3))], position=(0, 0, 0.5))
    bob = [vigym.Sphere(0.05), vigym.Capsule(0.01, 0.3, position=(0, 0, 0.2))]
    m.add_body("bob", mass=0.5, inertia=[1e-3] * 3, shapes=bob)
    m.add_joint("string", "spherical", "box", "bob", parent_anchor=(0.2, 0, 0), child_anchor=(0, 0, 0.2))
    for k, x in enumerate((-0.2, 0.2)):
        m.add_contact(f"edge {k}", "box", (x, 0, -0.1), friction=0.4)
    m.add_contact("bob", "bob", radius=0.05, normal=(0.1, 0, 1), offset=-0.2)
    sim = vigym.Simulator(m, num_envs=num_envs)
    v = np.zeros((num_envs, 2, 3))
    v[:, :, 0] = np.arange(num_envs)[:, None]
    sim.set_state(v=v)
    return sim


def close(a, b):
    """Equal but for single precision."""
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_what_was_simulated_stands_in_the_file(tmp_path):
    sim = boxes()
    seen = [(sim.state, sim.contact_forces(), sim.contact_gaps(), sim.joint_error())]
    with sim.record(tmp_path / "run.vigym", env=1, title="boxes"):
        for repeat in [1] * 40 + [3]:
            sim.step(repeat=repeat)
            seen.append((sim.state, sim.contact_forces(), sim.contact_gaps(), sim.joint_error()))
    sim.step()  # no longer recorded
    r = Recording.load(tmp_path / "run.vigym")
    assert (len(r), r.complete, r.head["title"]) == (42, True, "boxes")
    close(r.time, np.append(np.arange(41), 43) * sim.dt)
    close(r.x, [state.x[1] for state, *_ in seen])
    close(r.q, [state.q[1] for state, *_ in seen])
    close(r.forces, [forces[1] for _, forces, _, _ in seen])
    close(r.gaps, [gaps[1] for _, _, gaps, _ in seen])
    assert r.forces.max() > 1.0
    # errors and gaps are computed before they are rounded: single precision is relative to them
    np.testing.assert_allclose(r.joint_error, [error[1] for *_, error in seen], rtol=1e-6)
    assert r.start.tolist() == [True] + [False] * 41


def test_an_environment_of_a_batch_is_recorded_like_itself(tmp_path):
    for n, env in ((1, 0), (5, 0)):
        sim = boxes(n)
        with sim.record(tmp_path / f"{n}.vigym", env=env):
            sim.step(repeat=7)
    alone, among = (tmp_path / f"{n}.vigym" for n in (1, 5))
    assert alone.read_bytes() == among.read_bytes()


def test_what_is_put_elsewhere_starts_anew(tmp_path):
    sim = boxes()
    saved = sim.save()
    with sim.record(tmp_path / "run.vigym", env=2):
        sim.step()
        sim.set_state(v=np.zeros((3, 2, 3)), mask=[True, True, False])  # others
        sim.set_state(v=np.zeros((3, 2, 3)), mask=[False, False, True])
        sim.step()
        sim.restore(saved)
    r = Recording.load(tmp_path / "run.vigym")
    assert r.start.tolist() == [True, False, True, False, True]
    close(r.time / sim.dt, [0, 1, 1, 2, 2])
    close(r.x[4], r.x[0])


def test_the_mechanism_can_be_drawn_from_the_file_alone(tmp_path):
    sim = boxes()
    step = vigym.Box((1.0, 1.0, 0.1), position=(2.0, 0.0, 0.05))
    look = {"camera": {"distance": 3.0, "lookat": np.array([0.0, 0.0, 1.0])}, "scenery": [step]}
    sim.record(tmp_path / "run.vigym", **look, planes=[((0, 0, 1), -0.2)]).close()
    r = Recording.load(tmp_path / "run.vigym")
    told, original = r.mechanism, sim.model.mechanism
    for a, b in zip(told.bodies, original.bodies, strict=True):
        assert (a.name, a.mass, a.drawn) == (b.name, b.mass, b.drawn)
        assert (a.inertia == b.inertia).all()
    for a, b in zip(told.contacts, original.contacts, strict=True):
        assert (a.name, a.body, a.radius, a.friction, a.offset) == (b.name, b.body, b.radius, b.friction, b.offset)
        assert (a.point == b.point).all()
        np.testing.assert_allclose(a.normal, b.normal, atol=1e-15)
    assert r.scenery == [step]
    assert r.head["camera"] == {"distance": 3.0, "lookat": [0.0, 0.0, 1.0]}
    ((normal, offset),) = r.planes
    assert (normal.tolist(), offset) == ([0, 0, 1], -0.2)


CRASH = """
import os, signal, sys
from unit.test_recording import boxes
sim = boxes()
recorder = sim.record(sys.argv[1])
for _ in range(17):
    sim.step()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_killed_process_leaves_all_its_frames(tmp_path):
    path = tmp_path / "run.vigym"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", CRASH, str(path)], env=environment, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    r = Recording.load(path)
    assert (len(r), r.complete) == (18, False)


def test_a_file_is_read_up_to_where_it_is_damaged(tmp_path):
    sim = boxes()
    with sim.record(tmp_path / "run.vigym"):
        for _ in range(4):
            sim.step()
    data = (tmp_path / "run.vigym").read_bytes()
    whole = Recording.load(tmp_path / "run.vigym")
    frame = HEAD.size + 4 * (2 + 2 * 7 + 3 * 7 + 1 + 0 + 1)  # step, flags; poses; forces, gaps, points; error; reward
    first = len(data) - HEAD.size - 5 * frame  # where frames begin
    assert HEAD.unpack_from(data, first)[0] == frame - HEAD.size
    cut = tmp_path / "cut.vigym"
    for length in range(first, len(data), 7):
        cut.write_bytes(data[:length])
        r = Recording.load(cut)
        assert (len(r), r.complete) == ((length - first) // frame, False)
        assert (r.x == whole.x[: len(r)]).all()
    for at in range(first, len(data) - HEAD.size, 13):  # a bit is wrong
        cut.write_bytes(data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :])
        r = Recording.load(cut)
        assert (len(r), r.complete) == ((at - first) // frame, False)


def test_what_is_no_recording_is_said_so(tmp_path):
    path = tmp_path / "other.vigym"
    for data in (b"", b"something else", MAGIC, MAGIC + HEAD.pack(9, 0) + b"too short"):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"other\.vigym"):
            Recording.load(path)


def test_bad_input(tmp_path):
    sim = boxes()
    for env in (-1, 3, 1.5, "0"):
        with pytest.raises(InputError, match="env must be 0 to 2"):
            sim.record(tmp_path / "run.vigym", env=env)
    assert not sim.recorders
    assert not list(tmp_path.iterdir())
    recorder = sim.record(tmp_path / "run.vigym")
    recorder.close()
    recorder.close()
    with pytest.raises(InputError, match="closed"):
        recorder.frame(1)
    with pytest.raises(FileNotFoundError):
        sim.record(tmp_path / "no folder" / "run.vigym")


def test_a_copy_of_a_simulator_does_not_record(tmp_path):
    import pickle

    sim = boxes()
    recorder = sim.record(tmp_path / "run.vigym")
    assert not pickle.loads(pickle.dumps(sim)).recorders
    recorder.close()


def test_one_file_takes_one_recording_at_a_time(tmp_path):
    """Two would write over each other."""
    sim, path = boxes(), tmp_path / "run.vigym"
    first = sim.record(path)
    sim.step()
    with pytest.raises(InputError, match="already"):
        sim.record(tmp_path / "." / "run.vigym")
    sim.step()
    sim.record(tmp_path / "other.vigym", env=1)
    sim.step()
    for recorder in sim.recorders:
        recorder.close()
    assert not sim.recorders
    assert not first.is_open
    whole = Recording.load(path)
    assert (len(whole), whole.complete) == (4, True)
    assert repr(whole) == "<Recording: 4 frames, 0.03 s, 2 bodies, 3 contacts>"
    with sim.record(path, title="boxes"):  # from the start, as any file that is opened to be written
        assert repr(vigym.Replay.load(path)) == "<Replay 'boxes': 1 frames, 0 s, 2 bodies, 3 contacts, without its end>"


class Run:
    """A run that is recorded, whatever happens to the file; what of it was reported as recorded."""

    def __init__(self):
        self.sim = boxes(1)

    def prepare(self, folder):
        self.seen, self.errors = [], []
        with self.sim.record(folder / "run.vigym", title="old"):
            pass

    def operate(self, folder):
        recorder = self.sim.record(folder / "run.vigym", title="new")
        self.note()
        for _ in range(5):
            try:
                self.sim.step()
            except OSError as error:
                self.errors.append(error)
            else:
                self.note()
        assert recorder.is_open
        recorder.close()

    def note(self):
        self.seen.append(self.sim.state.x[0])

    def check(self, folder, outcome):
        for recorder in self.sim.recorders:  # of a run that crashed
            recorder._file.close()
        self.sim.recorders = []
        r = Recording.load(folder / "run.vigym")
        if not self.seen:  # it could not begin
            assert not outcome.succeeded
            assert r.head["title"] in ("old", "new")
            return
        assert r.head["title"] == "new"
        # a frame at which the process ended, or which is there although the disk failed, was not reported
        assert len(r) == len(self.seen) or outcome.crashed
        close(r.x[: len(self.seen)], self.seen)
        assert r.complete or not outcome.succeeded
        assert all("run.vigym" in str(error) for error in self.errors)


def test_every_fault_is_told_and_no_reported_frame_is_lost(tmp_path):
    run = Run()
    assert run_with_faults(tmp_path, run.operate, run.check, prepare=run.prepare, makes=("run.vigym",)) > 60


def test_a_disk_that_is_full_for_a_while(tmp_path):
    """Frames before and after are there; those between raise an error that names the file and the reason."""
    sim, path = boxes(1), tmp_path / "run.vigym"
    with Faults(tmp_path) as disk:
        with sim.record(path):
            sim.step()
            disk.begin()
            for _ in range(3):
                with pytest.raises(OSError, match=r"No space left on device: '.*run\.vigym'"):
                    sim.step()
            disk.end()
            sim.step()
        r = Recording.load(path)
    assert r.complete
    close(r.time / sim.dt, [0, 1, 5])


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_file_at_the_limit_of_the_system(tmp_path):
    """The same with a limit of the system, which stores a part of a write: 180 of 198 frames were unreadable."""
    import resource

    sim, path = boxes(1), tmp_path / "run.vigym"
    recorder = sim.record(path)
    size = path.stat().st_size
    before, signals = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    recorded = 1
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1000, before[1]))
        for _ in range(20):
            try:
                sim.step()
            except OSError as error:
                caught = str(error)
            else:
                recorded += 1
        assert len(Recording.load(path)) == recorded
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, signals)
    assert recorded < 15
    assert "run.vigym" in caught
    for _ in range(20):
        sim.step()
    recorder.close()
    r = Recording.load(path)
    assert (len(r), r.complete) == (recorded + 20, True)


def test_a_recorder_that_fails_does_not_disturb_others(tmp_path):
    sim = boxes(2)
    (tmp_path / "full").mkdir()
    with Faults(tmp_path / "full") as disk:
        paths = tmp_path / "full" / "run.vigym", tmp_path / "run.vigym"
        with sim.record(paths[0]), sim.record(paths[1], env=1):
            disk.begin()
            with pytest.raises(OSError, match=r"full/run\.vigym"):
                sim.step()
            with pytest.raises(OSError, match=r"full/run\.vigym"):
                sim.set_state(v=np.zeros((2, 2, 3)))
            disk.end()
            sim.step()
    close(Recording.load(paths[0]).time / sim.dt, [0, 2])
    close(Recording.load(paths[1]).time / sim.dt, [0, 1, 1, 2])


def test_frames_that_nobody_will_find_are_told(tmp_path):
    sim, path = boxes(1), tmp_path / "run.vigym"
    first = sim.record(path)
    sim.step()
    boxes(1).record(path).close()
    with pytest.warns(RuntimeWarning, match=r"run\.vigym was deleted or replaced"):
        first.close()
    assert len(Recording.load(path)) == 1


def test_what_cannot_be_read_is_not_recorded(tmp_path):
    sim, path = boxes(1), tmp_path / "run.vigym"
    path.write_bytes(b"precious")
    for look in ({"title": 3}, {"camera": {"distance": np.nan}}, {"planes": [((0, 0, 0), 0.0)]}):
        with pytest.raises(InputError, match=r"run\.vigym|title"):
            sim.record(path, **look)
    assert path.read_bytes() == b"precious"
    assert not sim.recorders


def test_a_link_to_a_recording_is_the_same_file(tmp_path):
    """Two recorders would write over each other's frames."""
    sim, path, link = boxes(1), tmp_path / "run.vigym", tmp_path / "link.vigym"
    link.symlink_to(path)
    with sim.record(path):
        with pytest.raises(InputError, match="is being recorded to already"):
            sim.record(link)
        sim.step()
    assert len(Recording.load(link)) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_what_is_no_regular_file_is_refused(tmp_path):
    # a pipe that nobody writes to would wait for ever, a file of 40 GB would take all memory
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"vigym r1")
    os.truncate(tmp_path / "large", 40 << 30)
    for name in ("pipe", "large", ".", "a\0b"):
        with pytest.raises(InputError):
            Recording.load(tmp_path / name)


def test_a_recording_that_is_written_over_is_told(tmp_path):
    sim = vigym.Simulator(unitree_a1.build(), dt=0.005)
    recorder = sim.record(tmp_path / "a.vigym")
    sim.step()
    (tmp_path / "a.vigym").write_bytes(b"")
    sim.step()
    with pytest.warns(RuntimeWarning, match="deleted or replaced"):
        recorder.close()
