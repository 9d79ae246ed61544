"""File formats that vigym reads: small whole files of each, how to spoil them, and how a user reads them."""

import io
import struct
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from vigym.benchmarks.soak.mutations import mutate
from vigym.engine.mechanism import Mechanism
from vigym.engine.recording import HEAD, MAGIC, Recorder, Recording
from vigym.engine.simulator import Simulator
from vigym.envs.controllers.learned import LearnedPolicy
from vigym.formats.urdf import UrdfWarning, read_urdf

CUBE = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
ROBOT = """<?xml version="1.0"?>
<robot name="robot">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 0.1"/><mass value="2"/><inertia ixx="0.1" ixy="0" iyy="0.1" izz="0.1"/></inertial>
    <visual><geometry><box size="0.2 0.2 0.1"/></geometry><material name="red"/></visual>
    <visual><geometry><mesh filename="package://robot/base.dae" scale="1 1 1"/></geometry></visual>
    <collision><origin rpy="0 0 0.3"/><geometry><cylinder radius="0.1" length="0.1"/></geometry></collision>
  </link>
  <link name="leg">
    <inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0"/></inertial>
    <collision><geometry><capsule radius="0.02" length="0.2"/></geometry></collision>
    <contact><lateral_friction value="0.9"/></contact>
  </link>
  <link name="foot"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>
  <joint name="hip" type="revolute">
    <parent link="base"/><child link="leg"/><origin xyz="0 0 -0.1" rpy="0 0.1 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="5"/><dynamics damping="0.1" friction="0.01"/>
  </joint>
  <joint name="ankle" type="fixed"><parent link="leg"/><child link="foot"/><origin xyz="0 0 -0.2"/></joint>
</robot>
"""


class Format(NamedTuple):
    """Ending of its files; small whole ones; how to spoil one; how to read one, which may raise InputError alone."""

    suffix: str
    samples: Callable[[], list[bytes]]
    spoil: Callable[[bytes, Random], bytes]
    read: Callable[[Path], object]


def read_robot(path: Path) -> object:
    """Read a URDF file, and place its links."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        model = read_urdf(path, floating=True, mimic="free", default_mass=0.1)
    bodies = model.mechanism.bodies
    return model.link_poses([body.position for body in bodies], [body.orientation for body in bodies])


def read_mesh(path: Path) -> object:
    """Read a mesh as the collision shape of a robot."""
    inside = f'<collision><geometry><mesh filename="{path.name}"/></geometry></collision>'
    solid = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    robot = path.with_suffix(".urdf")
    robot.write_text(f'<robot name="r"><link name="a">{solid}{inside}</link></robot>', encoding="utf-8")
    return read_robot(robot)


def read_policy(path: Path) -> object:
    """Read a policy, and let it act."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* has no checksum")
        policy = LearnedPolicy.load(path)
    with np.errstate(all="ignore"):
        return policy.act(np.zeros(len(policy.mean)))


def read_recording(path: Path) -> object:
    """Read a recording, with all that is drawn of it."""
    recording = Recording.load(path)
    return repr(recording), recording.mechanism, recording.scenery, recording.planes


def spoil_archive(data: bytes, rng: Random) -> bytes:
    """Spoil a ZIP file, or one of its members before it is packed, so that its checksum is right."""
    if rng.random() < 0.3:
        return mutate(data, rng)
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        spoilt = rng.choice(old.namelist())
        for name in old.namelist():
            member = old.read(name)
            new.writestr(name, mutate(member, rng) if name == spoilt else member)
    return file.getvalue()


def spoil_recording(data: bytes, rng: Random) -> bytes:
    """Spoil a recording, or one of its chunks before its checksum is taken."""
    if rng.random() < 0.3:
        return mutate(data, rng)
    chunks, at = [], len(MAGIC)
    while at + HEAD.size <= len(data):
        size, _ = HEAD.unpack_from(data, at)
        chunks.append(data[at + HEAD.size : at + HEAD.size + size])
        at += HEAD.size + size
    spoilt = rng.randrange(len(chunks)) if rng.random() < 0.5 else 0  # the first says what the others mean
    chunks[spoilt] = mutate(chunks[spoilt], rng)
    return MAGIC + b"".join(HEAD.pack(len(chunk), zlib.crc32(chunk)) + chunk for chunk in chunks)


def texts_of_meshes() -> list[bytes]:
    """A cube as text, of either format."""
    lines = "".join(f"v {x} {y} {z}\n" for x, y, z in CUBE)
    return [f"# a cube\n{lines}f 1 2 3\nf 1 3 4\n".encode(), lines.replace("v ", "v\t").replace("\n", "\r\n").encode()]


def solids() -> list[bytes]:
    """A triangle as text, and triangles in binary."""
    corners = "".join(f"      vertex {x} {y} {z}\n" for x, y, z in CUBE[:3])
    facet = f"  facet normal 0 0 1\n    outer loop\n{corners}    endloop\n  endfacet\n"
    triangles = b"".join(struct.pack("<12fH", 0, 0, 1, *map(float, np.ravel(CUBE[k : k + 3])), 0) for k in range(6))
    return [f"solid x\n{facet * 2}endsolid x\n".encode(), b"binary".ljust(80) + struct.pack("<I", 6) + triangles]


@cache
def policies() -> list[bytes]:
    """A policy of two layers."""
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(m, n)).astype("f4"), rng.normal(size=n).astype("f4")) for m, n in ((3, 4), (4, 2))]
    policy = LearnedPolicy(layers, "Tanh", np.zeros(3), np.ones(3), about={"env_id": "VIHopper-v0"})
    with tempfile.TemporaryDirectory() as folder:
        policy.save(Path(folder) / "policy.npz")
        return [(Path(folder) / "policy.npz").read_bytes()]


@cache
def recordings() -> list[bytes]:
    """A ball that falls."""
    mechanism = Mechanism()
    mechanism.add_body("ball", 1.0, (0.1, 0.1, 0.1), position=(0.0, 0.0, 0.2))
    mechanism.add_contact("touch", "ball", radius=0.1)
    sim = Simulator(mechanism, dt=0.01)
    with tempfile.TemporaryDirectory() as folder:
        with Recorder(sim, Path(folder) / "ball.vigym", n_actions=1, planes=[((0, 0, 1), 0.0)]) as recorder:
            for _ in range(3):
                recorder.frame(1, action=[0.5], reward=1.0)
        return [(Path(folder) / "ball.vigym").read_bytes()]


FORMATS = {
    "urdf": Format(".urdf", lambda: [ROBOT.encode()], mutate, read_robot),
    "obj": Format(".obj", texts_of_meshes, mutate, read_mesh),
    "stl": Format(".stl", solids, mutate, read_mesh),
    "policy": Format(".npz", policies, spoil_archive, read_policy),
    "recording": Format(".vigym", recordings, spoil_recording, read_recording),
}
