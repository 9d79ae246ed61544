"""Parameters that may differ between environments: masses, friction, planes, gains, effort limits.

The kernels hold them in lanes; what the mechanism does not use is not compiled, so a gain, a limit or a friction can
only be changed on axes that have one.
"""

from typing import NamedTuple

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.lanes import Indices, Lanes
from vigym.engine.model import Model
from vigym.engine.rotation import Array

SIX = ([0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2])  # of a symmetric matrix
NINE = [0, 1, 2, 1, 3, 4, 2, 4, 5]


class Place(NamedTuple):
    """Where a parameter is kept: columns of a field."""

    field: str
    columns: tuple[int, ...] = (0,)


PLACES = {
    "mass": Place("mass"),
    "inertia": Place("inertia", (0, 1, 2, 3, 4, 5)),
    "friction": Place("friction"),
    "restitution": Place("restitution"),
    "compliance": Place("compliance"),
    "contact_damping": Place("contact_damping"),
    "offset": Place("offset"),
    "stiffness": Place("stiffness"),
    "damping": Place("damping"),
    "kp": Place("kp"),
    "kd": Place("kd"),
    "effort_limit": Place("effort_limit"),
    "joint_friction": Place("dry_friction"),
}


OF_CONTACTS = ("friction", "restitution", "compliance", "contact_damping", "offset")


def shape(model: Model, name: str) -> tuple[int, ...]:
    """Shape of a parameter in one environment."""
    if name not in PLACES:
        raise InputError(f"parameter {name!r} is unknown; known: {', '.join(PLACES)}")
    parts = {"mass": (model.n_bodies,), "inertia": (model.n_bodies, 3, 3)}
    parts |= dict.fromkeys(OF_CONTACTS, (model.n_contacts,))
    return parts.get(name, (model.n_axes,))


def read(lanes: Lanes, name: str) -> Array:
    """A parameter of all environments (num_envs, *shape)."""
    place = PLACES[name]
    values = lanes.get(place.field)
    if name == "inertia":
        return values[..., NINE].reshape(*values.shape[:-1], 3, 3)
    if name == "effort_limit":
        values[values == 0.0] = np.inf
    return values[..., place.columns[0]]


def write(lanes: Lanes, name: str, value: Array, env: Indices) -> None:
    """Set a parameter (len(env), *shape), which was checked, of the environments `env`."""
    place = PLACES[name]
    if name == "effort_limit":
        value = np.where(np.isfinite(value), value, 0.0)
    field = lanes.get(place.field)[env]
    if name == "inertia":
        field = value[..., SIX[0], SIX[1]]
    else:
        field[..., place.columns] = value[..., None]
    lanes.set(place.field, field, env)


def check(model: Model, name: str, value: Array, env: Indices) -> None:
    """InputError if a body, contact or axis cannot have that parameter."""
    if name == "inertia":
        skew = np.abs(value - np.swapaxes(value, -1, -2)).max((-1, -2)) > 1e-8 * np.abs(value).max((-1, -2))
        moments = np.linalg.eigvalsh(value)
        bad = skew | (moments[..., 0] <= 0) | (moments[..., :2].sum(-1) < moments[..., 2] * (1 - 1e-6))
        rule = "symmetric, positive definite, no principal moment larger than the sum of the other two"
    else:
        least = name in ("mass", "effort_limit", "compliance")
        bad, rule = (value <= 0 if least else value < 0), "> 0" if least else ">= 0"
        bad &= name != "offset"
        cannot, why = np.zeros((0, 2), bool), ""
        if name == "restitution":
            bad, rule = bad | (value > 1), "0 to 1"
            cannot, why = (
                (value > 0) & (model.soft | (not model.features.bounce)),
                ("no contact of the mechanism has any, or this one is soft; give a hard one a restitution > 0"),
            )
        elif name in ("compliance", "contact_damping"):
            bad &= model.soft
            cannot, why = (value != 0) & ~model.soft, "it is hard; give it a compliance > 0"
        for k, c in np.argwhere(cannot)[:1]:
            contact = model.mechanism.contacts[c].name
            raise InputError(f"{name} of contact {contact!r} (environment {env[k]}) cannot be changed: {why}")
    if name in ("mass", "inertia"):
        names = [f"body {body.name!r}" for body in model.mechanism.bodies]
    elif name in OF_CONTACTS:
        names = [f"contact {contact.name!r}" for contact in model.mechanism.contacts]
    else:
        names = [repr(axis) for axis in model.axis_names]
        nominal = model.per_axis(name.removeprefix("joint_"))
        absent = ~((nominal > 0) & np.isfinite(nominal))
        for k, a in np.argwhere(absent & (value != nominal))[:1]:
            raise InputError(
                f"{name} of {names[a]} (environment {env[k]}) cannot be changed: the mechanism has none there; "
                f"give the joint a finite {name.removeprefix('joint_')} > 0"
            )
    for k, i in np.argwhere(bad)[:1]:
        raise InputError(f"{name} of {names[i]} (environment {env[k]}) must be {rule}, got {value[k, i].tolist()}")
