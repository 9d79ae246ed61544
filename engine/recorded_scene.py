"""Scene of a recording, as JSON and back: bodies with their shapes, contacts, scenery, ground.

Files come from anybody: everything that is read is checked, and there are limits to what a file may ask for. What is
recorded is checked by the same rules, so that it can be read.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import Array
from vigym.engine.shapes import Box, Capsule, Cylinder, Shape, Sphere
from vigym.engine.validation import number, show, unit_vector, vector

SHAPES: dict[str, type[Shape]] = {kind.__name__: kind for kind in (Box, Capsule, Cylinder, Sphere)}
CONTACT = ("name", "body", "point", "radius", "friction", "normal", "offset")
HEAD = ("title", "dt", "columns", "camera", "scenery", "planes", "gravity", "bodies", "contacts")
MOST_BYTES = 1 << 22  # of the head
MOST_PARTS = 6_000  # bodies, shapes and contacts: a page of them takes half a gigabyte
MOST_PLANES = 100
MOST_ACTIONS = 100_000


# -------------------------------------------------------------------------------------------- written
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
    contacts = [plain({name: getattr(contact, name) for name in CONTACT}) for contact in mechanism.contacts]
    return {"gravity": mechanism.gravity.tolist(), "bodies": bodies, "contacts": contacts}


def look_to_json(title: Any, camera: Any, scenery: Any, planes: Any) -> dict[str, Any]:
    """What a user tells of the look of a recording, as `Recorder` takes it; InputError if it is anything else."""
    if not isinstance(title, str):
        raise InputError(f"title must be a string, got {show(title)}")
    if not isinstance(camera, Mapping | None):
        raise InputError(f"camera must be a dictionary, got {show(camera)}")
    try:
        view = None if camera is None else json.loads(json.dumps(plain(camera)))
    except Exception as cause:  # numbers of the user's own
        raise InputError(f"camera must be a dictionary of words and numbers, got {show(camera)}") from cause
    try:
        shapes = [shape_to_json(shape) for shape in scenery]
    except Exception as cause:
        raise InputError(f"scenery must be a list of shapes, got {show(scenery)}") from cause
    try:
        ground = None if planes is None else [[*vector(n, (3,), ""), number(d, "")] for n, d in planes]
    except Exception as cause:
        raise InputError(f"planes must be a list of (normal, offset), got {show(planes)}") from cause
    return {"title": title, "camera": view, "scenery": shapes, "planes": ground}


def shape_to_json(shape: Shape) -> dict[str, Any]:
    """Its kind and its fields."""
    return {"kind": type(shape).__name__} | {field.name: getattr(shape, field.name) for field in fields(shape)}


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays and NumPy's numbers as lists and numbers."""
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}


# -------------------------------------------------------------------------------------------- read
class Scene(NamedTuple):
    """What a file says of itself.

    head: the JSON
    dt: time step, s
    columns: shape of every column of the frames, in their order
    mechanism: bodies and contacts, without joints
    scenery: shapes in the world
    planes: normal and offset of the ground where it is not the planes of the contacts
    """

    head: dict[str, Any]
    dt: float
    columns: dict[str, tuple[int, ...]]
    mechanism: Mechanism
    scenery: list[Shape]
    planes: list[tuple[Array, float]] | None


def read_scene(text: bytes) -> Scene:
    """The scene that the JSON of a recording describes; ValueError if there can be none."""
    head = read_head(text)
    dt = number(head["dt"], "dt", InputError, above=0.0)
    scenery = [read_shape(shape) for shape in head["scenery"]]
    return Scene(head, dt, read_columns(head), read_mechanism(head), scenery, read_planes(head["planes"]))


def read_head(text: bytes) -> dict[str, Any]:
    """The JSON object at the start of a recording; ValueError unless it has what it needs, of the right types."""
    if len(text) > MOST_BYTES:
        raise InputError(f"its head has {len(text)} bytes, more than {MOST_BYTES}")
    try:
        head = json.loads(text.decode(), parse_constant=_refuse)
    except RecursionError as error:
        raise InputError("its head is nested too deeply") from error
    picked(head, HEAD, "its head")
    if not isinstance(head["title"], str):
        raise InputError(f"title must be a string, got {show(head['title'])}")
    head["title"] = readable(head["title"])
    if not isinstance(head["camera"], dict | None):
        raise InputError(f"camera must be an object or null, got {show(head['camera'])}")
    for name in ("bodies", "contacts", "scenery"):
        listed(head[name], name)
    shapes = [listed(picked(body, ("shapes",), "a body")["shapes"], "shapes of a body") for body in head["bodies"]]
    parts = sum(map(len, (head["bodies"], head["contacts"], head["scenery"], *shapes)))
    if parts > MOST_PARTS:
        raise InputError(f"it has {parts} bodies, shapes and contacts, more than {MOST_PARTS}")
    return head


def read_columns(head: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Shape of every column of the frames, in their order, which the numbers of bodies and contacts ask for."""
    bodies, contacts = len(head["bodies"]), len(head["contacts"])
    expected: dict[str, Any] = {"x": [bodies, 3], "q": [bodies, 4], "forces": [contacts, 3], "gaps": [contacts]}
    expected |= {"joint_error": [], "action": None, "reward": []}
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


def read_mechanism(head: Mapping[str, Any]) -> Mechanism:
    """Bodies and contacts, without joints."""
    mechanism = Mechanism(head["gravity"])
    for body in head["bodies"]:
        told = picked(body, ("name", "mass", "inertia", "shapes"), "a body")
        shapes = [read_shape(shape) for shape in told["shapes"]]
        mechanism.add_body(readable(told["name"]), told["mass"], told["inertia"], shapes)
    mechanism.validate()
    names = {body.name for body in mechanism.bodies}
    for contact in head["contacts"]:
        told = picked(contact, CONTACT, "a contact")
        body = readable(told["body"])
        if not isinstance(body, str) or body not in names:  # asked here: suggestions of long names take long
            raise InputError(f"contact {show(told['name'])}: body {show(body)} is unknown")
        mechanism.add_contact(**told | {"name": readable(told["name"]), "body": body})
    planes = {(*contact.normal.tolist(), contact.offset) for contact in mechanism.contacts}
    if len(planes) > MOST_PLANES:
        raise InputError(f"its contacts have {len(planes)} different planes, more than {MOST_PLANES}")
    return mechanism


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


def read_shape(saved: Any) -> Shape:
    """What `shape_to_json` was given."""
    kind = picked(saved, ("kind",), "a shape")["kind"]
    if not isinstance(kind, str) or kind not in SHAPES:
        raise InputError(f"kind of a shape must be one of {', '.join(SHAPES)}, got {show(kind)}")
    return SHAPES[kind](**picked(saved, [field.name for field in fields(SHAPES[kind])], f"a {kind}"))


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
