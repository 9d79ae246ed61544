"""Parts of a mechanism made anew with some of their arguments changed; what was not changed stays, to the bit."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from vigym.engine.body import Body, make_body
from vigym.engine.collider import Collider, make_collider
from vigym.engine.contact import Contact, make_contact
from vigym.engine.errors import MechanismError
from vigym.engine.joint import OPTIONS, Joint, make_joint
from vigym.engine.shapes import mass_properties

Part = TypeVar("Part", Body, Joint, Contact, Collider)
Changed = Mapping[str, Any]

# Field of a part -> arguments of which it is made, where these are not just the field
_MADE_OF = {
    "basis": {"kind", "axis", "axis2"},
    "constrained": {"kind", "constrained"},
    "start": {"kind", "constrained", "start", "lower", "upper"},
    "tangents": {"normal"},
    "inertia": {"mass", "inertia", "shapes", "density"},
    "mass": {"mass", "shapes", "density"},
} | {name: {"kind", "constrained", name} for name in OPTIONS if name != "start"}


def check_known(method: str, make: Callable[..., object], changed: Changed, more: Iterable[str] = ()) -> None:
    """TypeError if an argument is changed that the function `make` does not have, nor is among `more`."""
    known = [name for name in signature(make).parameters if name != "name"]
    known = [*(OPTIONS if make is make_joint else ()), *more, *(name for name in known if name != "options")]
    for name in changed:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}"
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}{hint}")


def changed_joint(joint: Joint, changed: Changed) -> Joint:
    """The joint with other arguments of `add_joint`."""
    ends = ("kind", "parent", "child", "parent_anchor", "child_anchor", "orientation")
    arguments = {name: getattr(joint, name) for name in ends}
    kind = changed.get("kind", joint.kind)
    if kind == joint.kind == "custom":
        arguments["constrained"] = joint.constrained
    if kind == joint.kind == "universal" and not changed.keys() & {"axis", "axis2"}:
        arguments |= {"axis": joint.basis[0], "axis2": joint.basis[1]}
    elif joint.kind not in ("fixed", "spherical", "floating"):
        arguments["axis"] = joint.basis[0 if joint.kind == "universal" else 2]
    if joint.n_free:
        arguments |= {name: _for_any(getattr(joint, name)) for name in OPTIONS}
    if (joint.start == np.clip(0.0, joint.lower, joint.upper)).all():  # as of a joint that was given none
        arguments.pop("start", None)
    return _kept(make_joint(joint.name, **arguments | dict(changed)), joint, changed)


def changed_body(body: Body, changed: Changed) -> Body:
    """The body with other arguments of `make_body`. An inertia that was that of the shapes follows them, and mass."""
    arguments: dict[str, Any] = {name: getattr(body, name) for name in ("shapes", "visuals", "position", "orientation")}
    if "density" not in changed:
        arguments["mass"] = body.mass
    if not _of_shapes(body):
        arguments["inertia"] = body.inertia
    return _kept(make_body(body.name, **arguments | dict(changed)), body, changed)


def changed_contact(contact: Contact, changed: Changed) -> Contact:
    """The contact with other arguments of `add_contact`."""
    return _kept(make_contact(contact.name, **_arguments(contact, make_contact) | dict(changed)), contact, changed)


def changed_collider(collider: Collider, changed: Changed) -> Collider:
    """The collider with other arguments of `add_collider`."""
    return make_collider(collider.name, **_arguments(collider, make_collider) | dict(changed))


def _arguments(part: Contact | Collider, make: Callable[..., object]) -> dict[str, Any]:
    """Arguments that make the part again, where each is a field of its own."""
    return {name: getattr(part, name) for name in signature(make).parameters if name != "name"}


def _for_any(values: np.ndarray) -> Any:
    """Values of all free axes; one number if they are alike, which holds for any number of axes."""
    return float(values[0]) if (values == values[0]).all() else values


def _of_shapes(body: Body) -> bool:
    """Whether the inertia is that of the shapes."""
    if not body.shapes:
        return False
    try:
        _, _, inertia = mass_properties(body.shapes, body.mass, None)
    except MechanismError:
        return False
    return bool(np.abs(inertia - body.inertia).max() <= 1e-9 * np.abs(inertia).max())


def _kept(made: Part, before: Part, changed: Changed) -> Part:
    """`made`, with all fields as `before` that do not depend on what was changed: making them again may round them."""
    own = {field.name for field in fields(before) if not _MADE_OF.get(field.name, {field.name}) & changed.keys()}
    return replace(made, **{name: getattr(before, name) for name in own})
