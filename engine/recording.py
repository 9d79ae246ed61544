"""Recordings: a file that says what a run of one environment looked like, readable up to its last whole frame.

    8 bytes                           MAGIC
    uint32 n, uint32 crc, n bytes     JSON: what it shows (bodies, shapes, contacts), time step, columns of the frames
    uint32 n, uint32 crc, n bytes     a frame: uint32 step, uint32 flags, float32 numbers, column after column
    ...
    uint32 0, uint32 0                the end; missing if whoever recorded did not come to it

Numbers are little-endian, checksums are CRC-32. Every frame is handed to the system when it is recorded, so that a
crash of the process loses nothing before it. A frame of the Unitree A1 has about 500 bytes.
"""

import json
import os
import struct
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine import coordinates
from vigym.engine.errors import InputError
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import Array
from vigym.engine.shapes import Box, Capsule, Cylinder, Shape, Sphere
from vigym.engine.validation import show

if TYPE_CHECKING:
    from vigym.engine.simulator import Simulator

MAGIC = b"vigym r1"
HEAD = struct.Struct("<II")  # bytes that follow, their checksum
START = 1  # flag: this frame does not follow from the one before
SHAPES: dict[str, type[Shape]] = {kind.__name__: kind for kind in (Box, Capsule, Cylinder, Sphere)}


class Recorder:
    """Writes the frames of one environment of a simulator; also a context manager that closes the file.

    path: the file; one that exists is replaced
    env: which environment
    n_actions: numbers in an action
    title: of the recording
    camera: where to look from, as `default_camera_config` of environments
    scenery: shapes in the world, which are drawn as well
    planes: (normal, offset) of the ground where it is not the planes of the contacts
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
        self.path = os.path.abspath(path)
        if any(other.path == self.path for other in sim.recorders):
            raise InputError(
                f"{os.fspath(path)} is being recorded to already; close that recorder, or name another file"
            )
        model = sim.model
        bodies, contacts = model.n_bodies, model.n_contacts
        columns = {"x": (bodies, 3), "q": (bodies, 4), "forces": (contacts, 3), "gaps": (contacts,)}
        columns |= {"joint_error": (), "action": (n_actions,), "reward": ()}
        grounds = None if planes is None else [[*np.asarray(normal, float).tolist(), float(d)] for normal, d in planes]
        head = {
            "title": title,
            "dt": sim.dt,
            "env": self.env,
            "columns": columns,
            "camera": None if camera is None else plain(camera),
            "scenery": [shape_to_json(shape) for shape in scenery],
            "planes": grounds,
        } | mechanism_to_json(model.mechanism)
        self._file: BinaryIO | None = open(path, "wb", buffering=0)  # noqa: SIM115
        self._write(MAGIC)
        self._chunk(json.dumps(head).encode())
        self.frame(0, start=True)

    def frame(
        self, steps: int, action: ArrayLike | None = None, reward: float | None = None, *, start: bool = False
    ) -> None:
        """Write the state that `steps` time steps have led to; start: it does not follow from the last frame."""
        sim, env = self.sim, self.env
        self.steps += steps
        x, q = (sim._lanes.row(name, env) for name in "xq")
        forces, gaps = sim.contact_forces()[env], sim.contact_gaps()[env]
        error = coordinates.errors(sim.model, x[None], q[None]).max(initial=0.0)
        told = np.zeros(self.n_actions) if action is None else np.asarray(action, float)
        parts = x, q, forces, gaps, error, told, 0.0 if reward is None else reward
        row = np.concatenate([np.ravel(part) for part in parts]).astype("<f4")
        self._chunk(struct.pack("<II", self.steps & 0xFFFFFFFF, START * start) + row.tobytes())

    def jump(self, envs: Container[int]) -> None:
        """Write where the environment was put, if it is one of these."""
        if self.env in envs:
            self.frame(0, start=True)

    def close(self) -> None:
        """Write the end and close the file; nothing more is recorded."""
        if self._file is not None:
            self._write(HEAD.pack(0, 0))
            self._file.close()
            self._file = None
            # a new list: who closes all of them is going through the old one
            self.sim.recorders = [other for other in self.sim.recorders if other is not self]

    @property
    def is_open(self) -> bool:
        """Whether frames can still be written."""
        return self._file is not None

    def _chunk(self, data: bytes) -> None:
        self._write(HEAD.pack(len(data), zlib.crc32(data)) + data)

    def _write(self, data: bytes) -> None:
        if self._file is None:
            raise InputError("this recording is closed; start another one with record()")
        self._file.write(data)

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
    forces, gaps: of the contacts, (n, n_contacts, 3) N, world, and (n, n_contacts) m
    joint_error: largest of all joints, m or sine of half an angle
    action, reward: (n, n_actions), (n,); of the step that led to the frame, 0 where there was none
    complete: the file has its end; otherwise what there is of it was read
    head: what the file says of itself
    """

    head: dict[str, Any]
    time: Array
    start: NDArray[np.bool_]
    x: Array
    q: Array
    forces: Array
    gaps: Array
    joint_error: Array
    action: Array
    reward: Array
    complete: bool

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Recording":
        """Read a file, also one that is damaged or still being written, as far as it is whole."""
        with open(path, "rb") as file:
            data = file.read()
        chunks = list(_chunks(data, os.fspath(path)))
        complete = chunks[-1] == b""
        head = json.loads(chunks[0])
        rows = [chunk for chunk in chunks[1:] if chunk]
        width = 2 + sum(int(np.prod(shape)) for shape in head["columns"].values())
        words = np.frombuffer(b"".join(rows), "<u4").reshape(len(rows), width)
        values, parts, at = words[:, 2:].view("<f4").astype(float), {}, 0
        for name, shape in head["columns"].items():
            size = int(np.prod(shape))
            parts[name] = values[:, at : at + size].reshape(len(rows), *shape)
            at += size
        parts["q"] /= np.linalg.norm(parts["q"], axis=-1, keepdims=True)
        return cls(head, words[:, 0] * head["dt"], (words[:, 1] & START) > 0, **parts, complete=complete)

    @cached_property
    def mechanism(self) -> Mechanism:
        """Bodies and contacts of what was recorded, to be drawn; it has no joints."""
        mechanism = Mechanism(self.head["gravity"])
        for body in self.head["bodies"]:
            shapes = [shape_from_json(shape) for shape in body["shapes"]]
            mechanism.add_body(body["name"], body["mass"], body["inertia"], shapes)
        for contact in self.head["contacts"]:
            mechanism.add_contact(**contact)
        return mechanism

    @property
    def scenery(self) -> list[Shape]:
        """Shapes in the world."""
        return [shape_from_json(shape) for shape in self.head["scenery"]]

    @property
    def planes(self) -> list[tuple[Array, float]] | None:
        """Normal and offset of the ground where it is not the planes of the contacts."""
        rows = self.head["planes"]
        return None if rows is None else [(np.array(row[:3]), row[3]) for row in rows]

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        title, end = self.head["title"], "" if self.complete else ", without its end"
        bodies, contacts = self.x.shape[1], self.gaps.shape[1]
        what = f"{len(self)} frames, {self.time[-1] if len(self) else 0.0:g} s, {bodies} bodies, {contacts} contacts"
        return f"<{type(self).__name__}{f' {title!r}' if title else ''}: {what}{end}>"


def _chunks(data: bytes, path: str) -> Iterator[bytes]:
    """The chunks that are whole, the first of which says what the others mean; b"" is the end."""
    at, found = len(MAGIC), False
    if not data.startswith(MAGIC):
        raise InputError(f"{path} is not a recording of vigym, or one of another version")
    while at + HEAD.size <= len(data):
        size, checksum = HEAD.unpack_from(data, at)
        at += HEAD.size
        chunk = data[at : at + size]
        if len(chunk) < size or zlib.crc32(chunk) != checksum:
            break
        yield chunk
        at, found = at + size, True
        if not size:
            break
    if not found:
        raise InputError(f"{path} ends before the first frame of its recording")


# -------------------------------------------------------------------------------------------- mechanisms as JSON
def mechanism_to_json(mechanism: Mechanism) -> dict[str, Any]:
    """What is drawn of a mechanism: bodies with their shapes, contacts, gravity."""
    bodies = [
        {
            "name": body.name,
            "mass": body.mass,
            "inertia": body.inertia.tolist(),
            "shapes": [shape_to_json(shape) for shape in body.shapes],
        }
        for body in mechanism.bodies
    ]
    names = ("name", "body", "point", "radius", "friction", "normal", "offset")
    contacts = [plain({name: getattr(contact, name) for name in names}) for contact in mechanism.contacts]
    return {"gravity": mechanism.gravity.tolist(), "bodies": bodies, "contacts": contacts}


def shape_to_json(shape: Shape) -> dict[str, Any]:
    """Its kind and its fields."""
    return {"kind": type(shape).__name__} | {field.name: getattr(shape, field.name) for field in fields(shape)}


def shape_from_json(saved: Mapping[str, Any]) -> Shape:
    """What `shape_to_json` was given."""
    values = dict(saved)
    return SHAPES[values.pop("kind")](**values)


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays and NumPy's numbers as lists and numbers."""
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}
