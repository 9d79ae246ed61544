"""Recordings of bodies that touch each other: colliders, and in every frame the contacts between them, to the bit."""

from pathlib import Path

import numpy as np
import pytest
from faults import run_with_faults

import vigym
from vigym import Box, Capsule, InputError, Plane, Sphere
from vigym.engine.frames import HEAD, MAGIC, TOUCH, Chunks, chunk
from vigym.engine.recorded_scene import touching_points
from vigym.engine.recording import Recording

FIELDS = ("env", "collider", "position", "normal", "gap", "force")
OLD = Path(__file__).parents[1] / "view" / "replay" / "corpus" / "whole-boxes.vigym"  # of version 1


def toys(num_envs: int = 1) -> vigym.Simulator:
    """A ball and a rod that fall onto a box on the ground, beside a slope; the rod is thicker than it looks."""
    m = vigym.Mechanism()
    m.add_ground(friction=0.6)
    turn = (np.cos(0.2), 0.0, np.sin(0.2), 0.0)
    m.add_collider("slope", "world", Plane(position=(-0.3, 0, 0), orientation=turn), friction=0.3)
    m.add_collider("post", "world", Sphere(0.05, position=(0.2, 0, 0.05), color=(0.1, 0.2, 0.3)))
    m.add_body("box", 1.0, shapes=[Box((0.2, 0.2, 0.2))], position=(0, 0, 0.1), collide=True)
    m.add_body("ball", 0.5, shapes=[Sphere(0.05)], position=(0.02, 0, 0.26), collide=True)
    m.add_body("rod", 0.3, shapes=[Capsule(0.02, 0.1)], position=(-0.07, 0, 0.29), collide=False)
    m.add_collider("rod", "rod", Capsule(0.03, 0.1), friction=0.9)
    m.add_contact("tip", "ball", radius=0.05, offset=-0.1)
    sim = vigym.Simulator(m, dt=0.01, num_envs=num_envs)
    v = np.zeros((num_envs, 3, 3))
    v[:, 1, 0] = 0.3 * np.arange(num_envs)
    sim.set_state(v=v)
    return sim


def same(a: vigym.engine.collisions.Contacts, b: vigym.engine.collisions.Contacts) -> bool:
    return all(
        getattr(a, name).dtype == getattr(b, name).dtype and np.array_equal(getattr(a, name), getattr(b, name))
        for name in FIELDS
    )


def test_contacts_of_every_frame_are_those_of_the_simulator(tmp_path):
    sim = toys(3)
    seen = [sim.contacts(1)]
    with sim.record(tmp_path / "run.vigym", env=1):
        for repeat in [1] * 40 + [5]:
            sim.step(repeat=repeat)
            seen.append(sim.contacts(1))
        sim.set_state(v=np.zeros((3, 3, 3)))
        seen.append(sim.contacts(1))
    r = Recording.load(tmp_path / "run.vigym")
    assert (len(r), r.complete) == (43, True)
    assert len({len(found) for found in seen}) > 2  # they come and go
    assert max(np.abs(found.force).max(initial=0.0) for found in seen) > 5.0
    for k in (*np.random.default_rng(0).permutation(43), -1, -43):  # in any order
        assert same(r.contacts(int(k)), seen[k])
    assert len(r.contacts(-1)) == 0  # nothing has touched since the state was set
    for frame in (43, -44, 1.0, "0"):
        with pytest.raises(InputError, match="frame must be a number below 43"):
            r.contacts(frame)


def test_touching_points_are_recorded(tmp_path):
    sim = toys()
    with sim.record(tmp_path / "run.vigym"):
        sim.step(repeat=3)
    r = Recording.load(tmp_path / "run.vigym")
    np.testing.assert_allclose(r.points[-1], sim.contact_points()[0], rtol=1e-6)
    np.testing.assert_allclose(r.points, touching_points(r.mechanism, r.x, r.q), atol=1e-6)


def test_colliders_can_be_drawn_from_the_file_alone(tmp_path):
    sim = toys()
    sim.record(tmp_path / "run.vigym").close()
    r = Recording.load(tmp_path / "run.vigym")
    for told, original in zip(r.mechanism.colliders, sim.model.mechanism.colliders, strict=True):
        assert (told.name, told.body, told.friction) == (original.name, original.body, original.friction)
        assert type(told.shape) is type(original.shape)
        for name, value in vars(original.shape).items():  # a rotation is normalised once more
            np.testing.assert_allclose(getattr(told.shape, name) or (), value or (), rtol=1e-15)


def test_an_environment_of_a_batch_is_recorded_like_itself(tmp_path):
    for n in (1, 5):
        sim = toys(n)
        with sim.record(tmp_path / f"{n}.vigym"):
            sim.step(repeat=7)
    assert (tmp_path / "1.vigym").read_bytes() == (tmp_path / "5.vigym").read_bytes()


def test_a_file_is_read_up_to_where_it_is_damaged(tmp_path):
    sim = toys()
    with sim.record(tmp_path / "run.vigym"):
        for _ in range(4):
            sim.step()
    data, cut = (tmp_path / "run.vigym").read_bytes(), tmp_path / "cut.vigym"
    whole = Recording.load(tmp_path / "run.vigym")
    chunks = Chunks(data)
    starts = [len(MAGIC)]
    for found in chunks:
        starts.append(starts[-1] + HEAD.size + len(found))
    ends = np.array(starts[2:])  # of the frames; the first chunk is the head
    assert len(set(np.diff(ends))) > 1  # frames have different sizes
    for at in range(starts[1], len(data) - HEAD.size, 29):
        spoilt = data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :]
        for text in (data[:at], spoilt):
            cut.write_bytes(text)
            r = Recording.load(cut)
            assert (len(r), r.complete) == (int((ends <= at).sum()), False)
            assert all(same(r.contacts(k), whole.contacts(k)) for k in range(len(r)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("force", np.nan),
        ("force", 1e300),
        ("position", np.inf),
        ("normal", 2.0),
        ("collider", 99),
        ("collider", -1),
        ("gap", np.nan),
    ],
)
def test_a_contact_that_cannot_be_ends_the_recording(tmp_path, field, value):
    sim = toys()
    with sim.record(tmp_path / "run.vigym"):
        for _ in range(3):
            sim.step()
    text, *frames = Chunks((tmp_path / "run.vigym").read_bytes())
    assert not Recording.load(tmp_path / "run.vigym").damage
    touches = np.frombuffer(frames[2][-TOUCH.itemsize :], TOUCH).copy()
    touches[field] = value
    frames[2] = frames[2][: -TOUCH.itemsize] + touches.tobytes()
    (tmp_path / "run.vigym").write_bytes(MAGIC + b"".join(map(chunk, [text, *frames])) + HEAD.pack(0, 0))
    r = Recording.load(tmp_path / "run.vigym")
    assert (len(r), r.complete) == (2, False)
    assert "frame 2 " in r.damage
    assert len(r.contacts(1)) > 0


class Run:
    """A run of bodies that touch, recorded whatever happens to the file; contacts that were reported as recorded."""

    def __init__(self):
        self.sim = toys()

    def prepare(self, folder):
        self.seen, self.errors = [], []

    def operate(self, folder):
        recorder = self.sim.record(folder / "run.vigym")
        self.seen.append(self.sim.contacts(0))
        for _ in range(4):
            try:
                self.sim.step()
            except OSError as error:
                self.errors.append(error)
            else:
                self.seen.append(self.sim.contacts(0))
        recorder.close()

    def check(self, folder, outcome):
        for recorder in self.sim.recorders:  # of a run that crashed
            recorder._file.close()
        self.sim.recorders = []
        if not self.seen:
            assert not outcome.succeeded
            return
        r = Recording.load(folder / "run.vigym")
        assert len(r) == len(self.seen) or outcome.crashed
        assert all(same(r.contacts(k), found) for k, found in enumerate(self.seen))
        assert r.complete or not outcome.succeeded
        assert all("run.vigym" in str(error) for error in self.errors)


def test_every_fault_is_told_and_no_contact_is_lost(tmp_path):
    run = Run()
    assert run_with_faults(tmp_path, run.operate, run.check, prepare=run.prepare, makes=("run.vigym",)) > 40


def test_files_of_version_1_are_read():
    data = OLD.read_bytes()
    assert data.startswith(b"vigym r1")
    r = Recording.load(OLD)
    assert r.complete
    assert not r.mechanism.colliders
    assert len(r.contacts(-1)) == 0
    assert r.points.shape == r.forces.shape
    assert r.points.shape[1] == len(r.mechanism.contacts) > 0
    # a point of a contact with a plane is as far above it as its gap says, which was recorded
    normal = np.array([contact.normal for contact in r.mechanism.contacts])
    offset = np.array([contact.offset for contact in r.mechanism.contacts])
    np.testing.assert_allclose((r.points * normal).sum(-1) - offset, r.gaps, atol=1e-6)


def test_a_head_of_one_version_is_none_of_the_other(tmp_path):
    data, path = OLD.read_bytes(), tmp_path / "other.vigym"
    path.write_bytes(MAGIC + data[len(MAGIC) :])
    with pytest.raises(InputError, match="has no 'weight'"):
        Recording.load(path)
    path.write_bytes(b"vigym r4" + data[len(MAGIC) :])
    with pytest.raises(InputError, match="of another version"):
        Recording.load(path)
