"""Scene of a recording, as JSON and back: bodies with their shapes, colliders, contacts, scenery, ground.

Files come from anybody: everything that is read is checked, and there are limits to what a file may ask for. What is
recorded is checked by the same rules, so that it can be read.
"""

import json
import struct
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from vigym.engine.appearance import planes_of, usual_weight
from vigym.engine.collider import GROUNDS, KINDS, Collider
from vigym.engine.errors import InputError
from vigym.engine.height_field import HeightField
from vigym.engine.joint import WORLD
from vigym.engine.mechanism import Mechanism
from vigym.engine.polyhedra import Hull, Mesh
from vigym.engine.rotation import Array, rotate
from vigym.engine.shapes import Box, Capsule, Cylinder, Plane, Shape, Sphere
from vigym.engine.surface import Surface
from vigym.engine.validation import number, show, unit_vector, vector

SHAPES: dict[str, type[Shape]] = {kind.__name__: kind for kind in (Box, Capsule, Cylinder, Hull, Sphere)}
SOLIDS: dict[str, Any] = {kind.__name__: kind for kind in KINDS if kind not in GROUNDS}
CONTACT = ("name", "body", "point", "radius", "friction", "normal", "offset")
PLACED = ("position", "orientation", "color")  # of what is made of triangles
COLLIDER = ("name", "body", "friction", "shape")
HEAD = ("title", "dt", "columns", "camera", "scenery", "planes", "gravity", "weight", "bodies", "contacts", "colliders")
MOST_BYTES = 1 << 22  # of the head
MOST_PARTS = 6_000  # bodies, shapes, colliders and contacts: a page of them takes half a gigabyte
MOST_PLANES = 100
MOST_TRIANGLES = 500_000  # of all meshes as often as they are drawn
MESH = struct.Struct("<II")  # vertices and faces of a mesh, before their numbers
MOST_ACTIONS = 100_000


# -------------------------------------------------------------------------------------------- written
def meshes_of(mechanism: Mechanism, scenery: Iterable[Any]) -> dict[str, Surface]:
    """The different meshes of all that is drawn, by their content: each is written once."""
    drawn = [*(shape for body in mechanism.bodies for shape in body.drawn), *scenery]
    forms = (form_of(shape) for shape in (*drawn, *(collider.shape for collider in mechanism.colliders)))
    return {form.content: form for form in forms if form is not None}


def form_of(shape: Any) -> Surface | None:
    """The triangles as which a shape is shown, if it is of some."""
    if isinstance(shape, HeightField | Mesh):
        return Surface(*(shape.drawn if isinstance(shape, HeightField) else shape).triangles())
    return shape if isinstance(shape, Surface) else None


def mesh_to_bytes(surface: Surface) -> bytes:
    """Vertices and faces, as frames.py has them."""
    sizes = MESH.pack(len(surface.vertices), len(surface.faces))
    return sizes + surface.vertices.astype("<f4").tobytes() + surface.faces.astype("<i4").tobytes()


def mechanism_to_json(mechanism: Mechanism, meshes: Iterable[str] = ()) -> dict[str, Any]:
    """Parts of a mechanism that are drawn (bodies with their shapes, colliders, contacts), gravity, a usual weight."""
    known = list(meshes)
    bodies = [
        {
            "name": body.name,
            "mass": body.mass,
            "inertia": body.inertia.tolist(),
            "shapes": [shape_to_json(shape, known) for shape in body.drawn],
        }
        for body in mechanism.bodies
    ]
    contacts = [plain({name: getattr(contact, name) for name in CONTACT}) for contact in mechanism.contacts]
    colliders = [collider_to_json(collider, known) for collider in mechanism.colliders]
    parts = {"bodies": bodies, "contacts": contacts, "colliders": colliders}
    return {"gravity": mechanism.gravity.tolist(), "weight": usual_weight(mechanism)} | parts


def collider_to_json(collider: Collider, meshes: Sequence[str] = ()) -> dict[str, Any]:
    """The collider by its fields, its shape as that of a body."""
    return {name: getattr(collider, name) for name in COLLIDER} | {"shape": shape_to_json(collider.shape, meshes)}


def look_to_json(title: Any, camera: Any, scenery: Any, planes: Any, meshes: Iterable[str] = ()) -> dict[str, Any]:
    """Look of a recording as a user tells it to `Recorder`; InputError if it is anything else."""
    if not isinstance(title, str):
        raise InputError(f"title must be a string, got {show(title)}")
    if not isinstance(camera, Mapping | None):
        raise InputError(f"camera must be a dictionary, got {show(camera)}")
    try:
        view = None if camera is None else json.loads(json.dumps(plain(camera)))
    except Exception as cause:  # numbers of the user's own
        raise InputError(f"camera must be a dictionary of words and numbers, got {show(camera)}") from cause
    try:
        shapes = [shape_to_json(shape, list(meshes)) for shape in scenery]
    except Exception as cause:
        raise InputError(f"scenery must be a list of shapes, got {show(scenery)}") from cause
    try:
        ground = None if planes is None else [[*vector(n, (3,), ""), number(d, "")] for n, d in planes]
    except Exception as cause:
        raise InputError(f"planes must be a list of (normal, offset), got {show(planes)}") from cause
    return {"title": title, "camera": view, "scenery": shapes, "planes": ground}


def shape_to_json(shape: Shape | Plane | HeightField, meshes: Sequence[str] = ()) -> dict[str, Any]:
    """Its kind and its fields; instead of vertices and faces, the place of its mesh among those of the file."""
    kind: dict[str, Any] = {"kind": type(shape).__name__}
    if form := form_of(shape):
        kind |= {"mesh": meshes.index(form.content)} | {name: getattr(shape, name) for name in PLACED}
        if isinstance(shape, HeightField):
            rows, columns = shape.drawn.heights.shape
            kind |= {"rows": rows, "columns": columns, "size": shape.size}
        return kind
    return kind | {field.name: getattr(shape, field.name) for field in fields(shape)}


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays and NumPy's numbers as lists and numbers."""
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}


# -------------------------------------------------------------------------------------------- read
class Scene(NamedTuple):
    """Description that a file holds of itself.

    head: the JSON
    dt: time step, s
    env: number of the environment that was recorded
    weight: a force to compare those of contacts with, N
    columns: shape of every column of the frames, in their order
    mechanism: bodies, colliders and contacts, without joints
    scenery: shapes in the world
    planes: normal and offset of the ground where it is not the planes of the contacts
    """

    head: dict[str, Any]
    dt: float
    env: int
    weight: float
    columns: dict[str, tuple[int, ...]]
    mechanism: Mechanism
    scenery: list[Shape]
    planes: list[tuple[Array, float]] | None


def read_scene(text: bytes, version: int, chunks: Iterable[bytes] = ()) -> Scene:
    """The scene that the JSON of a recording of that version describes; ValueError if there can be none.

    chunks: what follows in the file; the meshes are taken from there
    """
    head = read_head(text, version)
    meshes = read_meshes(head, chunks) if version > 2 else []
    dt = number(head["dt"], "dt", InputError, above=0.0)
    scenery = [read_shape(shape, meshes=meshes) for shape in head["scenery"]]
    env = head.get("env", 0)
    if type(env) is not int or not 0 <= env < 1 << 31:
        raise InputError(f"env must be the number of an environment, got {show(env)}")
    columns, mechanism, planes = read_columns(head, version), read_mechanism(head, meshes), read_planes(head["planes"])
    check_triangles(mechanism, scenery)
    weight = head["weight"]
    if version == 1:
        weight = (np.linalg.norm(mechanism.gravity) or 9.81) * sum(body.mass for body in mechanism.bodies)
    weight = number(weight, "weight", InputError, above=0.0)
    return Scene(head, dt, env, weight, columns, mechanism, scenery, planes)


def read_head(text: bytes, version: int) -> dict[str, Any]:
    """The JSON object at the start of a recording; ValueError unless it has what it needs, of the right types."""
    if len(text) > MOST_BYTES:
        raise InputError(f"its head has {len(text)} bytes, more than {MOST_BYTES}")
    try:
        head = json.loads(text.decode(), parse_constant=_refuse)
    except RecursionError as error:
        raise InputError("its head is nested too deeply") from error
    if version == 1 and isinstance(head, dict):
        head |= {"colliders": [], "weight": None}
    picked(head, HEAD, "its head")
    if not isinstance(head["title"], str):
        raise InputError(f"title must be a string, got {show(head['title'])}")
    head["title"] = readable(head["title"])
    if not isinstance(head["camera"], dict | None):
        raise InputError(f"camera must be an object or null, got {show(head['camera'])}")
    for name in ("bodies", "contacts", "colliders", "scenery"):
        listed(head[name], name)
    shapes = [listed(picked(body, ("shapes",), "a body")["shapes"], "shapes of a body") for body in head["bodies"]]
    parts = sum(map(len, (head["bodies"], head["contacts"], head["colliders"], head["scenery"], *shapes)))
    if parts > MOST_PARTS:
        raise InputError(f"it has {parts} bodies, shapes, colliders and contacts, more than {MOST_PARTS}")
    return head


def read_meshes(head: Mapping[str, Any], chunks: Iterable[bytes]) -> list[Surface]:
    """The meshes that follow the head, as many as it says."""
    n = head.get("meshes")
    if type(n) is not int or not 0 <= n <= MOST_PARTS:
        raise InputError(f"meshes must be their number, 0 to {MOST_PARTS}, got {show(n)}")
    found: list[Surface] = []
    for data in islice(chunks, n):
        vertices, faces = MESH.unpack_from(data) if len(data) >= MESH.size else (0, 0)
        if len(data) != MESH.size + 12 * (vertices + faces):
            raise InputError(f"mesh {len(found)} does not have the size that it says")
        corners = np.frombuffer(data, "<f4", 3 * vertices, MESH.size).reshape(-1, 3)
        places = np.frombuffer(data, "<i4", 3 * faces, MESH.size + 12 * vertices).reshape(-1, 3)
        found.append(Surface(corners, places))
    if len(found) < n:
        raise InputError(f"it ends before its last mesh, {n}")
    return found


def check_triangles(mechanism: Mechanism, scenery: Iterable[Shape]) -> None:
    """InputError if there are too many to be drawn."""
    drawn = [*(shape for body in mechanism.bodies for shape in body.drawn), *scenery]
    total = sum(len(shape.faces) for shape in drawn if isinstance(shape, Surface))
    solids = [collider.shape for collider in mechanism.colliders]
    total += sum(2 * solid.heights.size for solid in solids if isinstance(solid, HeightField))
    total += sum(len(shape.faces) for shape in (*drawn, *solids) if isinstance(shape, Mesh))
    if total > MOST_TRIANGLES:
        raise InputError(f"its meshes have {total:,} triangles, more than {MOST_TRIANGLES:,}")


def read_columns(head: Mapping[str, Any], version: int) -> dict[str, tuple[int, ...]]:
    """Shape of every column of the frames, in their order, which the numbers of bodies and contacts ask for."""
    bodies, contacts = len(head["bodies"]), len(head["contacts"])
    expected: dict[str, Any] = {"x": [bodies, 3], "q": [bodies, 4], "forces": [contacts, 3], "gaps": [contacts]}
    expected |= {"joint_error": [], "action": None, "reward": []}
    if version > 1:
        expected["points"] = [contacts, 3]
    told = picked(head["columns"], expected, "columns")
    if unknown := set(head["columns"]) - set(expected):
        raise InputError(f"column {show(min(unknown))} is unknown")
    actions = listed(told["action"], "column action")
    if len(actions) != 1 or type(actions[0]) is not int or not 0 <= actions[0] <= MOST_ACTIONS:
        raise InputError(f"column action must be [n] with n of 0 to {MOST_ACTIONS}, got {show(actions)}")
    expected["action"] = actions
    for name, shape in expected.items():
        if told[name] != shape:
            raise InputError(f"column {name} must have shape {shape}, got {show(told[name])}")
    return {name: tuple(expected[name]) for name in head["columns"]}


def read_mechanism(head: Mapping[str, Any], meshes: Sequence[Surface] = ()) -> Mechanism:
    """Bodies, colliders and contacts, without joints."""
    mechanism = Mechanism(head["gravity"])
    for body in head["bodies"]:
        told = picked(body, ("name", "mass", "inertia", "shapes"), "a body")
        shapes = [read_shape(shape, meshes=meshes) for shape in told["shapes"]]
        mechanism.add_body(readable(told["name"]), told["mass"], told["inertia"], visuals=shapes)
    mechanism.validate()
    names = {body.name for body in mechanism.bodies}
    for contact in head["contacts"]:
        told = picked(contact, CONTACT, "a contact")
        mechanism.add_contact(**told | carried(told, names, "contact"))
    for collider in head["colliders"]:
        told = picked(collider, COLLIDER, "a collider")
        shape = read_shape(told["shape"], SOLIDS, meshes)
        mechanism.add_collider(**told | carried(told, {*names, WORLD}, "collider") | {"shape": shape})
    if (planes := len(planes_of(mechanism))) > MOST_PLANES:
        raise InputError(f"its contacts and colliders have {planes} different planes, more than {MOST_PLANES}")
    return mechanism


def carried(told: Mapping[str, Any], names: Container[str], what: str) -> dict[str, str]:
    """Name of a contact or collider, and of the body that carries it, which is one of `names`."""
    body = readable(told["body"])
    if not isinstance(body, str) or body not in names:  # asked here: suggestions of long names take long
        raise InputError(f"{what} {show(told['name'])}: body {show(body)} is unknown")
    return {"name": readable(told["name"]), "body": body}


def touching_points(mechanism: Mechanism, x: Array, q: Array) -> Array:
    """Points of the contacts with the ground that touch, or would, (n, n_contacts, 3), x + R(q) point - radius normal;
    files of version 1 do not have them."""
    contacts, place = mechanism.contacts, {body.name: k for k, body in enumerate(mechanism.bodies)}
    body = [place[contact.body] for contact in contacts]
    arm = np.array([contact.point for contact in contacts]).reshape(-1, 3)
    drop = np.array([contact.radius * contact.normal for contact in contacts]).reshape(-1, 3)
    return x[:, body] + rotate(q[:, body], np.broadcast_to(arm, (len(x), *arm.shape))) - drop


def read_planes(saved: Any) -> list[tuple[Array, float]] | None:
    """Normal and offset of every plane of the ground; None if nothing is told of it."""
    if saved is None:
        return None
    rows = listed(saved, "planes")
    if len(rows) > MOST_PLANES:
        raise InputError(f"it has {len(rows)} planes, more than {MOST_PLANES}")
    found = []
    for row in rows:
        *normal, offset = listed(row, "a plane") or [None]
        unit_vector(normal, "normal of a plane", InputError)
        found.append((np.array(normal, float), number(offset, "offset of a plane", InputError)))
    return found


def read_shape(saved: Any, kinds: Mapping[str, Any] = SHAPES, meshes: Sequence[Surface] = ()) -> Any:
    """The shape, of one of these kinds or a surface of one of these meshes, that `shape_to_json` was given."""
    kind = picked(saved, ("kind",), "a shape")["kind"]
    if kind in ("Surface", "Mesh") and meshes:
        told = picked(saved, ("mesh", *PLACED), f"a {kind}")
        k = told.pop("mesh")
        if type(k) is not int or not 0 <= k < len(meshes):
            raise InputError(f"mesh of a {kind} must be 0 to {len(meshes) - 1}, got {show(k)}")
        if kind == "Mesh" and kinds is SOLIDS:
            return Mesh(*meshes[k].triangles(), closed=False, **told)  # type: ignore[arg-type]
        return replace(meshes[k], **told)
    if kind == "HeightField" and meshes and kinds is SOLIDS:
        told = picked(saved, ("mesh", "rows", "columns", "size", *PLACED), "a HeightField")
        k, rows, columns = (told.pop(name) for name in ("mesh", "rows", "columns"))
        whole = type(k) is type(rows) is type(columns) is int and 0 <= k < len(meshes) and min(rows, columns) > 1
        if not whole or rows * columns != len(meshes[k].vertices):
            raise InputError(f"mesh, rows and columns of a HeightField do not agree: {show((k, rows, columns))}")
        return HeightField(meshes[k].vertices[:, 2].reshape(rows, columns), **told)
    if not isinstance(kind, str) or kind not in kinds:
        raise InputError(f"kind of a shape must be one of {', '.join(kinds)}, got {show(kind)}")
    return kinds[kind](**picked(saved, [field.name for field in fields(kinds[kind])], f"a {kind}"))


def picked(value: Any, names: Iterable[str], what: str) -> dict[str, Any]:
    """These fields of an object of JSON; InputError if it is none, or does not have all of them."""
    if not isinstance(value, dict):
        raise InputError(f"{what} must be an object, got {show(value)}")
    if missing := [name for name in names if name not in value]:
        raise InputError(f"{what} has no {missing[0]!r}")
    return {name: value[name] for name in names}


def listed(value: Any, what: str) -> list[Any]:
    """A list of JSON; InputError if it is none."""
    if not isinstance(value, list):
        raise InputError(f"{what} must be a list, got {show(value)}")
    return value


def readable(name: Any) -> Any:
    """A name that can be written as UTF-8: halves of characters, which JSON can hold, become question marks."""
    return name.encode(errors="replace").decode() if isinstance(name, str) else name


def _refuse(constant: str) -> None:
    raise InputError(f"{constant} is not a number of JSON")
