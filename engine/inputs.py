"""Inputs of a step, by which it has derivatives: the state, controls, parameters, gravity, shapes of contacts, and
what is kept beside the state."""

from vigym.engine import parameters
from vigym.engine.controls import CONTROLS
from vigym.engine.errors import InputError
from vigym.engine.kernels import geometry
from vigym.engine.model import Model

SEVERAL = {"force": 3, "torque": 3, "inertia": 6}  # numbers a body
OF_SHAPES = {"contact_point": 3, "contact_radius": 1}  # numbers a contact
# Length of the last step; joint coordinates, turns counted, and their rates; impulses of which a rebound is due
KEPT = {"last_dt": "h0", "last_positions": "angle", "last_velocities": "rate", "due_impulse": "struck"}
ALONE = ("restitution", *KEPT)  # of which compiled kernels know nothing
FIELDS = parameters.FIELDS | KEPT | {"contact_point": "point", "contact_radius": "radius"}


def check(model: Model, name: str) -> None:
    """InputError if a step has no derivatives by an input."""
    if name in parameters.OF_COLLIDERS:
        raise InputError(f"there are no derivatives by {name!r} yet: laws of colliders take no part in them")
    if name in OF_SHAPES and any(geometry.of(kind).fixed_axes is None for kind in model.features.contact_kinds):
        raise InputError(f"derivatives by {name!r} cover contacts with planes only")
    if name not in ("state", "gravity", *CONTROLS, *OF_SHAPES, *KEPT):
        parameters.shape(model, name)  # InputError if there is no such parameter


def size(model: Model, name: str) -> int:
    """Numbers of an input in one environment, as the state store has them."""
    bodies, contacts = model.n_bodies, model.n_contacts
    sizes = {"state": 12 * bodies, "gravity": 3, "mass": bodies, "last_dt": 1}
    sizes |= {key: numbers * bodies for key, numbers in SEVERAL.items()}
    sizes |= {key: numbers * contacts for key, numbers in OF_SHAPES.items()}
    sizes |= dict.fromkeys(parameters.OF_CONTACTS, contacts)
    sizes["due_impulse"] = contacts if model.features.bounce else 0
    return sizes.get(name, model.n_axes)


def entries(model: Model, name: str) -> list[tuple[str, int, int]]:
    """All numbers of an input, in the order of its array: field, entity, column."""
    counts = {"state": 12, "inertia": 6} | SEVERAL | OF_SHAPES
    columns = counts.get(name, 1)
    return [(FIELDS.get(name, name), k // columns, k % columns) for k in range(size(model, name))]
