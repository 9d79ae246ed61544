"""Files that were written to be slow, large or wrong: name -> a function that writes one of about `size` bytes.

`python tests/formats/adversaries.py SIZE [NAME]` reads one, or all, in this process, and prints what came of each:
seconds of the processor, peak memory of the process so far in MB, and the outcome.
"""

import io
import json
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

SOLID = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1))


def link(name: object, inside: str = SOLID) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: object, parent: object, child: object, kind: str = "continuous", inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def robot(*parts: str, head: str = "") -> bytes:
    return f'{head}<robot name="r">{"".join(parts)}</robot>'.encode()


def repeated(size: int, make: Callable[[int], str]) -> str:
    """`make` of 0, 1, 2, ... until there are so many bytes."""
    parts, length = [], 0
    while length < size:
        parts.append(make(len(parts)))
        length += len(parts[-1])
    return "".join(parts)


def tree(size: int, parent: Callable[[int], int], kind: str) -> bytes:
    return robot(link(0), repeated(size, lambda k: link(k + 1) + joint(k, parent(k + 1), k + 1, kind)))


def number(text: str) -> bytes:
    return robot(link("a"), link("b"), joint("j", "a", "b", inside=f'<axis xyz="{text}"/>'))


def shape(text: str) -> str:
    return f"<collision><geometry>{text}</geometry></collision>"


def nested(size: int) -> bytes:
    return robot("<a>" * (size // 7), "</a>" * (size // 7))


def strangers_among_links(size: int) -> bytes:
    names = repeated(size, lambda k: link(f"{k:08}" + "ab" * 1000))
    return robot(names, joint("j", "ba" * 1000, "b"))


def defaults(size: int) -> bytes:
    """Attributes that a document type gives to every element."""
    declared = f'<!DOCTYPE robot [<!ATTLIST a b CDATA "{"x" * (size // 2)}">]>'
    return robot("<a/>" * (size // 8), head=declared)


def laughs(size: int) -> bytes:
    entities = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(12))
    return robot(link("&e12;"), head=f'<!DOCTYPE r [<!ENTITY e0 "ha">{entities}]>')


def stl(count: int, triangles: np.ndarray) -> bytes:
    rows = np.zeros(len(triangles), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")]))
    rows["corners"] = triangles
    return b"\0" * 80 + struct.pack("<I", count) + rows.tobytes()


def archive(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as out:
        for name, data in members.items():
            out.writestr(name, data)
    return file.getvalue()


def npy(array: np.ndarray, claimed: tuple[int, ...] | None = None, pickled: bool = False) -> bytes:
    """An array as NumPy writes it, with another shape in its head if one is `claimed`."""
    file = io.BytesIO()
    if claimed is None:
        np.lib.format.write_array(file, array, allow_pickle=pickled)
        return file.getvalue()
    head = {"descr": array.dtype.str, "fortran_order": False, "shape": claimed}
    np.lib.format.write_array_header_1_0(file, head)
    return file.getvalue() + array.tobytes()


def policy(**other: bytes) -> dict[str, bytes]:
    """Members of the file of a policy for two observations and one action."""
    told = {"activation": "Tanh", "squash": False, "clip": 10.0, "about": {}}
    members = {"mean": npy(np.zeros(2)), "scale": npy(np.ones(2)), "told": npy(np.array(json.dumps(told)))}
    members |= {"weights0": npy(np.ones((2, 1), "f4")), "bias0": npy(np.zeros(1, "f4"))} | other
    return {f"{name}.npy": data for name, data in members.items()}


def bomb(size: int, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """About a thousand times as large when it is unpacked."""
    file, zeros = io.BytesIO(), b"\0" * 2**20
    with zipfile.ZipFile(file, "w", method) as out:
        for name, data in policy(weights0=npy(np.zeros(0, "f4"), (2, size * 120))).items():
            with out.open(name, "w", force_zip64=True) as member:
                member.write(data)
                for _ in range(size * 960 // len(zeros) if name == "weights0.npy" else 0):
                    member.write(zeros)
    return file.getvalue()


URDF: dict[str, Callable[[int], bytes]] = {
    "chain": lambda size: tree(size, lambda k: k - 1, "continuous"),
    "star": lambda size: tree(size, lambda k: 0, "continuous"),
    "fixed chain": lambda size: tree(size, lambda k: k - 1, "fixed"),
    "fixed star": lambda size: tree(size, lambda k: 0, "fixed"),
    "cycle": lambda size: robot(link("a"), repeated(size, lambda k: link(k) + joint(k, k, k))),
    "digits": lambda size: number("0 0 " + "9" * size + "x"),
    "a long number": lambda size: number("0 0 " + "9" * size),
    "numbers": lambda size: number("1 " * (size // 2)),
    "points": lambda size: number("1. " * (size // 3)),
    "defaults of xacro": lambda size: number("$(optenv " + "a" * size),
    "attributes": lambda size: robot("<a " + repeated(size, lambda k: f'a{k}="" ') + "/>", link("a")),
    "nested": nested,
    "elements": lambda size: robot(link("a"), "<a/>" * (size // 4)),
    "misspelt elements": lambda size: robot(link("a", SOLID + repeated(size, lambda k: f"<visua{k}/>"))),
    "elements twice": lambda size: robot(link("a", SOLID + "<contact/>" * (size // 10))),
    "a long name": lambda size: robot(link("a" * size), link("a" * size)),
    "a long tag": lambda size: robot(link("a", f"<{'visual' * (size // 6)}/>")),
    "a long file name": lambda size: robot(link("a", SOLID + shape(f'<mesh filename="{"a/" * (size // 2)}.stl"/>'))),
    "an unknown parent": strangers_among_links,
    "boxes": lambda size: robot(link("a", SOLID + repeated(size, lambda k: shape('<box size="1 1 1"/>')))),
    "links with boxes": lambda size: robot(
        link(0),
        repeated(size, lambda k: link(k + 1, SOLID + shape('<box size="1 1 1"/>')) + joint(k, 0, k + 1, "fixed")),
    ),
    "within the limits": lambda size: robot(
        link(0),
        repeated(
            min(size, 1_600_000),
            lambda k: link(k + 1, SOLID + (shape('<box size="1 1 1"/>') if k < 2400 else "")) + joint(k, k, k + 1),
        ),
    ),
    "one mesh": lambda size: robot(link("a", SOLID + repeated(size, lambda k: shape('<mesh filename="mesh.obj"/>')))),
    "lost meshes": lambda size: robot(
        link("a", SOLID + repeated(size, lambda k: f'<visual><geometry><mesh filename="{k}.obj"/></geometry></visual>'))
    ),
    "large numbers": lambda size: robot(
        link("a"),
        repeated(size, lambda k: f"<a x='{k}'/>"),
        link("b", SOLID.replace("1", "1e308")),
        joint("j", "a", "b"),
    ),
    "blank lines": lambda size: b"\n" * size + robot(link("a")),
    "zero bytes": lambda size: robot(link("a")) + b"\0" * size,
    "default attributes": defaults,
    "a billion laughs": laughs,
    "Latin-1": lambda size: robot(link("a")) + b"<!--" + b"\xe9" * size + b"-->",
    "UTF-16": lambda size: tree(size // 2, lambda k: k - 1, "continuous").decode().encode("utf-16"),
}
MESHES: dict[str, Callable[[int], bytes]] = {
    "vertices.obj": lambda size: b"v 1 2 3\n" * (size // 8),
    "blank.obj": lambda size: b"\n" * size,
    "spaces.obj": lambda size: b" " * size,
    "short.obj": lambda size: b"v 1\n" * (size // 4),
    "wide.obj": lambda size: b"v" + b" 1" * (size // 2),
    "token.obj": lambda size: b"v 1 2 " + b"9" * size,
    "nan.obj": lambda size: b"v 1 2 3\n" * (size // 8) + b"v nan 1 1\n",
    "faces.obj": lambda size: CUBE.encode() + b"f 1 2 3\n" * (size // 8),
    "blank.stl": lambda size: b"solid\n" + b"\n" * size,
    "vertices.stl": lambda size: b"solid\n" + b"vertex 1 2 3\n" * (size // 13),
    "lines.stl": lambda size: b"vertex\n" * (size // 7),
    "token.stl": lambda size: b"vertex 1 2 " + b"9" * size,
    "binary.stl": lambda size: stl(size // 50, np.ones((size // 50, 3, 3))),
    "counted.stl": lambda size: stl(2**32 - 1, np.ones((size // 50, 3, 3))),
    "nan.stl": lambda size: stl(size // 50, np.full((size // 50, 3, 3), np.nan)),
    "mesh.dae": lambda size: b"<COLLADA>" + b"\n" * size,
}
POLICIES: dict[str, Callable[[int], bytes]] = {
    "bomb": bomb,
    "bomb of LZMA": lambda size: bomb(size // 4, zipfile.ZIP_LZMA),
    "claimed": lambda size: archive(policy(weights0=npy(np.ones(2, "f4"), (2, 10**9)))),
    "claimed more": lambda size: archive(policy(weights0=npy(np.ones(2, "f4"), (2**40, 2**40)))),
    "pickled": lambda size: archive(policy(weights0=npy(np.array([print], object), pickled=True))),
    "members": lambda size: archive(policy() | {f"weights{k}.npy": b"" for k in range(1, size // 120)}, 0),
    "nested JSON": lambda size: archive(policy(told=npy(np.array("[" * (size // 4)))), 0),
    "JSON": lambda size: archive(policy(told=npy(np.array("[" + "[]," * (size // 12) + "[]]"))), 0),
    "digits": lambda size: archive(policy(told=npy(np.array("9" * (size // 4)))), 0),
    "a large policy": lambda size: archive(
        policy(weights0=npy(np.ones((2, size // 16), "f4")), bias0=npy(np.ones(size // 16, "f4"))), 0
    ),
}


def names() -> list[str]:
    kinds = {"urdf": URDF, "mesh": MESHES, "policy": POLICIES}
    return [f"{kind}: {name}" for kind, known in kinds.items() for name in known]


def read(name: str, size: int, folder: Path) -> str:
    """Write the file and read it as a user would; JSON: name, seconds, memory, "read" or the error."""
    from vigym import load_urdf
    from vigym.envs.controllers.learned import LearnedPolicy

    kind, _, what = name.partition(": ")
    path = folder / "robot.urdf"
    if kind == "urdf":
        path.write_bytes(URDF[what](size))
        if what == "one mesh":
            (folder / "mesh.obj").write_bytes(CUBE.encode() + b"v 1 2 3\n" * (size // 8))
    elif kind == "mesh":
        (folder / what).write_bytes(MESHES[what](size))
        path.write_bytes(robot(link("a", SOLID + shape(f'<mesh filename="{what}"/>'))))
    else:
        path = folder / "policy.npz"
        path.write_bytes(POLICIES[what](size))
    started = time.process_time()
    warnings.simplefilter("ignore")
    try:
        if kind == "policy":
            LearnedPolicy.load(path)
        else:
            load_urdf(path, floating=True)
        outcome = "read"
    except Exception as error:
        outcome = f"{type(error).__name__}: {str(error).replace(str(folder), '')}"
    seconds = time.process_time() - started
    return json.dumps([name, round(seconds, 2), most_memory(), outcome[:2000]])


def most_memory() -> int:
    """Peak memory of this process, MB. getrusage would count that of the process which started it, too."""
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) // 1024


if __name__ == "__main__":
    for chosen in sys.argv[2:] or names():
        with tempfile.TemporaryDirectory() as folder:
            print(read(chosen, int(float(sys.argv[1])), Path(folder)), flush=True)
