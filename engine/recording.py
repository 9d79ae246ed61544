"""Recordings: a file that says what a run of one environment looked like, readable up to its last whole frame.

`frames.py` has the format. Every frame is handed to the system when it is recorded, so that a crash of the process
loses nothing before it; `close` waits until all of them are on the disk. A frame of which only a part can be stored
(the disk is full) is taken back, and told by an OSError. A frame of the Unitree A1 has about 550 bytes; a contact
between two bodies has 88.
"""

import contextlib
import json
import math
import os
import struct
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import FileIO
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine import collisions, coordinates
from vigym.engine.collisions import Contacts
from vigym.engine.durable import append_whole, force_to_disk, naming, write_whole
from vigym.engine.errors import InputError
from vigym.engine.files import open_regular
from vigym.engine.frames import (
    HEAD,
    LARGEST,
    MAGIC,
    MAGIC_MESHES,
    START,
    TOUCH,
    VERSIONS,
    Chunks,
    chunk,
    columns,
    elapsed,
    impossible,
    possible,
)
from vigym.engine.mechanism import Mechanism
from vigym.engine.recorded_scene import (
    MOST_ACTIONS,
    Scene,
    look_to_json,
    mechanism_to_json,
    mesh_to_bytes,
    meshes_of,
    read_scene,
    touching_points,
)
from vigym.engine.rotation import Array
from vigym.engine.shapes import Shape
from vigym.engine.validation import file_path, show

if TYPE_CHECKING:
    from vigym.engine.simulator import Simulator

MOST_BYTES = 4 << 30  # of a recording that is read: all of it is kept in memory


class Recorder:
    """Writes the frames of one environment of a simulator; also a context manager that closes the file.

    path: the file; one that exists is replaced
    env: which environment
    n_actions: numbers in an action
    title: of the recording
    camera: where to look from, as `default_camera_config` of environments
    scenery: shapes in the world, which are drawn as well
    planes: (normal, offset) of the ground where it is not the planes of contacts and colliders
    """

    def __init__(
        self,
        sim: "Simulator",
        path: str | os.PathLike[str],
        env: int = 0,
        *,
        n_actions: int = 0,
        title: str = "",
        camera: Mapping[str, Any] | None = None,
        scenery: Iterable[Shape] = (),
        planes: Iterable[tuple[ArrayLike, float]] | None = None,
    ) -> None:
        if not isinstance(env, (int, np.integer)) or not 0 <= env < sim.num_envs:
            raise InputError(f"env must be 0 to {sim.num_envs - 1}, got {show(env)}")
        self.sim, self.env, self.steps, self.n_actions = sim, int(env), 0, n_actions
        self.path = os.path.abspath(file_path(path))
        if any(os.path.realpath(other.path) == os.path.realpath(path) for other in sim.recorders):
            raise InputError(
                f"{os.fspath(path)} is being recorded to already; close that recorder, or name another file"
            )
        if not isinstance(n_actions, (int, np.integer)) or not 0 <= n_actions <= MOST_ACTIONS:
            raise InputError(f"n_actions must be an integer of 0 to {MOST_ACTIONS}, got {show(n_actions)}")
        model = sim.model
        bodies, contacts = model.n_bodies, model.n_contacts
        columns = {"x": (bodies, 3), "q": (bodies, 4), "forces": (contacts, 3), "gaps": (contacts,)}
        columns |= {"points": (contacts, 3), "joint_error": (), "action": (int(n_actions),), "reward": ()}
        try:
            scenery = (*sim.model.mechanism.scenery, *scenery)
        except Exception as cause:
            raise InputError(f"scenery must be a list of shapes, got {show(scenery)}") from cause
        meshes = meshes_of(model.mechanism, scenery)
        head = {
            "dt": sim.dt,
            "env": self.env,
            "columns": columns,
            **look_to_json(title, camera, scenery, planes, meshes),
        } | mechanism_to_json(model.mechanism, meshes)
        head |= {"meshes": len(meshes)} if meshes else {}
        magic = MAGIC_MESHES if meshes else MAGIC
        packed = [mesh_to_bytes(mesh) for mesh in meshes.values()]
        with unreadable(path):
            text = json.dumps(head).encode()
            read_scene(text, VERSIONS[magic], packed)  # what cannot be read need not be written
        # whole: what was there before is lost when another recording has begun, not earlier
        data = magic + b"".join(map(chunk, (text, *packed))) + chunk(self._row(start=True))
        write_whole(path, data)
        self._end = len(data)
        with naming(path):
            self._file: FileIO | None = open(path, "rb+", buffering=0)  # noqa: SIM115

    def frame(
        self, steps: int, action: ArrayLike | None = None, reward: float | None = None, *, start: bool = False
    ) -> None:
        """Write the state that `steps` time steps have led to; start: it does not follow from the last frame.

        OSError, with the file's name, if it cannot be written: it is then not in the file, those before it are, and
        later ones can be written once there is space again.
        """
        self.steps += steps
        self._write(chunk(self._row(action, reward, start=start)))

    def _row(self, action: ArrayLike | None = None, reward: float | None = None, *, start: bool = False) -> bytes:
        """The state as it is now, as a frame."""
        sim, env = self.sim, self.env
        x, q = (sim._lanes.row(name, env) for name in "xq")
        read = sim.contact_forces, sim.contact_gaps, sim.contact_points
        error = coordinates.errors(sim.model, x[None], q[None]).max(initial=0.0)
        parts = x, q, *(tell()[env] for tell in read), error
        physical = np.concatenate([np.ravel(part) for part in parts]).clip(-LARGEST, LARGEST)
        told = np.zeros(self.n_actions) if action is None else np.ravel(np.asarray(action, float))
        with np.errstate(over="ignore"):  # rewards are what they are
            row = np.concatenate([physical, told, [0.0 if reward is None else reward]]).astype("<f4")
        return struct.pack("<II", self.steps & 0xFFFFFFFF, START * start) + row.tobytes() + self._touches()

    def _touches(self) -> bytes:
        """The contacts between colliders as they are now."""
        sim = self.sim
        if not sim.model.touches:
            return b""
        found = collisions.contacts(sim.model, sim._lanes, sim.dt, self.env)
        touches = np.zeros(len(found), TOUCH)
        for name in TOUCH.names or ():
            touches[name] = getattr(found, name).clip(-LARGEST, LARGEST)
        return touches.tobytes()

    def jump(self, envs: Container[int]) -> None:
        """Write where the environment was put, if it is one of these."""
        if self.env in envs:
            self.frame(0, start=True)

    def close(self) -> None:
        """Write the end, wait until all is on the disk, and close the file, also after an OSError; nothing more is
        recorded."""
        if self._file is None:
            return
        # a new list: who closes all of them is going through the old one
        self.sim.recorders = [other for other in self.sim.recorders if other is not self]
        with naming(self.path), contextlib.closing(self._file):
            try:
                is_whole = os.fstat(self._file.fileno()).st_size >= self._end
                self._write(HEAD.pack(0, 0))
                force_to_disk(self._file.fileno())
                self._warn_if_gone(is_whole)
            finally:
                self._file = None

    def _warn_if_gone(self, is_whole: bool) -> None:
        """Tell that nobody will find the frames: the file was deleted or written over, or another one has its name."""
        assert self._file is not None
        try:
            is_there = os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
            with open(self.path, "rb") as file:
                is_there = is_there and file.read(len(MAGIC)) in VERSIONS
        except FileNotFoundError:
            is_there = False
        except OSError:  # it cannot be looked at: nothing is known
            return
        if not (is_there and is_whole):
            lost = f"{self.path} was deleted or replaced while it was being recorded: its frames are lost"
            warnings.warn(lost, RuntimeWarning, stacklevel=3)

    @property
    def is_open(self) -> bool:
        """True if frames can still be written."""
        return self._file is not None

    def _write(self, data: bytes) -> None:
        """Append all of it, or nothing."""
        file = self._file
        if file is None:
            raise InputError("this recording is closed; start another one with record()")
        with naming(self.path):
            self._end = append_whole(file, self._end, data)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(eq=False)
class Recording:
    """A recording that was read; arrays lead with the frame, (n, ...).

    time: s, since the recording began
    start: where a frame does not follow from the one before it
    x, q: poses of the bodies, (n, n_bodies, 3 or 4)
    forces, gaps, points: of the contacts with the ground, (n, n_contacts, 3) N, world, (n, n_contacts) m; and where
        they touch, or would, (n, n_contacts, 3) m, world
    touches, touch_ends: contacts between colliders, of all frames, and how many of them there are up to the end of each
        frame; `contacts` has those of a frame
    joint_error: largest of all joints, m or sine of half an angle
    action, reward: (n, n_actions), (n,); of the step that led to the frame, 0 where there was none
    complete: the file has its end; otherwise what there is of it was read
    damage: what is wrong after the last frame that was read; empty if the file just ends there
    scene: what the file says of itself
    """

    scene: Scene
    time: Array
    start: NDArray[np.bool_]
    x: Array
    q: Array
    forces: Array
    gaps: Array
    points: Array
    joint_error: Array
    action: Array
    reward: Array
    touches: NDArray[Any]
    touch_ends: NDArray[np.int64]
    complete: bool
    damage: str = ""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Recording":
        """Read a file, also one that is damaged or still being written, as far as it is whole.

        InputError, with the file's name, if it is no recording, or shows nothing that can be.
        """
        path = file_path(path)
        with unreadable(path):
            with naming(path), open_regular(path) as file:
                if (size := os.fstat(file.fileno()).st_size) > MOST_BYTES:
                    raise InputError(f"it has {size:,} bytes; at most {MOST_BYTES:,} are read")
                data = file.read(size)  # what the system makes up on the way is said to have no size
            chunks = Chunks(data)
            text = next(iter(chunks), b"")
            if not text:
                raise InputError("it ends before its first frame")
            scene = read_scene(text, chunks.version, chunks)
            width = 2 + sum(math.prod(shape) for shape in scene.columns.values())
            rows = list(chunks.frames(4 * width))
            words = np.frombuffer(b"".join(row[: 4 * width] for row in rows), "<u4").reshape(len(rows), width)
            parts = columns(words[:, 2:].view("<f4"), scene.columns)
            touches = np.frombuffer(b"".join(row[4 * width :] for row in rows), TOUCH)
            ends = np.cumsum([(len(row) - 4 * width) // TOUCH.itemsize for row in rows], dtype=np.int64)
            wrong = np.flatnonzero(impossible(touches, len(scene.mechanism.colliders)))[:1]
            good = min([possible(parts), *np.searchsorted(ends, wrong, side="right").tolist()])
            if good < len(rows):
                chunks.complete, chunks.damage = False, f"frame {good} has poses or forces that cannot be"
            with np.errstate(over="ignore"):
                time = elapsed(words[:good, 0]) * scene.dt
            if not np.isfinite(time).all():
                raise InputError(f"dt is too long, {scene.dt:g} s")
            kept: dict[str, NDArray[Any]] = {name: part[:good].astype(float) for name, part in parts.items()}
            kept["q"] /= np.linalg.norm(kept["q"], axis=-1, keepdims=True)
            if chunks.version == 1:
                kept["points"] = touching_points(scene.mechanism, kept["x"], kept["q"])
            start = (words[:good, 1] & START) > 0
            kept |= {"touches": touches, "touch_ends": ends[:good]}
            return cls(scene, time, start, **kept, complete=chunks.complete, damage=chunks.damage)

    def contacts(self, frame: int) -> Contacts:
        """Contacts between colliders, as `Simulator.contacts` told them at a frame; -1 is the last one."""
        if not isinstance(frame, (int, np.integer)) or not -len(self) <= frame < len(self):
            raise InputError(f"frame must be a number below {len(self)}, or from -{len(self)} on, got {show(frame)}")
        frame = int(frame) % len(self)
        found = self.touches[self.touch_ends[frame - 1] if frame else 0 : self.touch_ends[frame]]
        fields = {name: found[name].astype(float) for name in ("position", "normal", "gap", "force")}
        env = np.full(len(found), self.scene.env)
        return Contacts(env=env, collider=found["collider"].astype(np.int64), **fields)

    @property
    def head(self) -> dict[str, Any]:
        """The JSON at the start of the file."""
        return self.scene.head

    @property
    def mechanism(self) -> Mechanism:
        """Bodies, colliders and contacts of what was recorded, to be drawn; it has no joints."""
        return self.scene.mechanism

    @property
    def scenery(self) -> list[Shape]:
        """Shapes in the world."""
        return self.scene.scenery

    @property
    def planes(self) -> list[tuple[Array, float]] | None:
        """Normal and offset of the ground where it is not the planes of contacts and colliders."""
        return self.scene.planes

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        title, end = self.head["title"], "" if self.complete else ", without its end"
        bodies, contacts = self.x.shape[1], self.gaps.shape[1]
        what = f"{len(self)} frames, {self.time[-1] if len(self) else 0.0:g} s, {bodies} bodies, {contacts} contacts"
        return f"<{type(self).__name__}{f' {title!r}' if title else ''}: {what}{end}>"


@contextlib.contextmanager
def unreadable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Have errors about the content of a recording name its file."""
    try:
        yield
    except ValueError as error:  # of vigym, of JSON, of UTF-8
        raise InputError(
            f"{os.fspath(path)} is not a recording of vigym that can be read: {str(error)[:500]}"
        ) from error


class Watcher(Protocol):
    """Whoever is shown every step: a `Recorder`, or a tape."""

    def frame(self, steps: int) -> None:
        """Take note that `steps` were made."""


AnyWatcher = TypeVar("AnyWatcher", bound=Watcher)


def write_all(recorders: Iterable[AnyWatcher], write: Callable[[AnyWatcher], None]) -> None:
    """Let every recorder write a frame, also after one that cannot, whose error is then raised."""
    failed: OSError | None = None
    for recorder in recorders:
        try:
            write(recorder)
        except OSError as error:
            failed = failed or error
    if failed is not None:
        raise failed
