"""Parameters that may differ between environments: masses, laws of contacts and colliders, planes, gains, limits.

The kernels hold them in lanes; what the mechanism does not use is not compiled, so a gain, a limit or a friction can
only be changed on axes that have one.
"""

import numpy as np
from numpy.typing import NDArray

from vigym.engine.collider import LAW
from vigym.engine.errors import InputError
from vigym.engine.kernels.axis import CUT, FAR, HIGH, LOW, UNCUT
from vigym.engine.lanes import Indices, Lanes
from vigym.engine.model import Model, finite_limit, kept_limit, limit_of
from vigym.engine.rotation import Array
from vigym.engine.validation import show

SIX = ([0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2])  # of a symmetric matrix
NINE = [0, 1, 2, 1, 3, 4, 2, 4, 5]
Mask = NDArray[np.bool_]

OF_BODIES = ("mass", "inertia")
OF_CONTACTS = ("friction", "restitution", "compliance", "contact_damping", "offset")
OF_COLLIDERS = tuple(f"collider_{name}" for name in LAW)
OF_DRIVES = ("kp", "kd", "effort_limit")
OF_SPEED = ("velocity_limit", "no_load_speed")
UNLIMITED = ("effort_limit", *OF_SPEED)  # which may be infinite
OF_AXES = ("stiffness", "damping", *OF_DRIVES, "joint_friction", "armature", *OF_SPEED)
# Parameter -> field of the state store
FIELDS = {name: name for name in OF_BODIES + OF_CONTACTS + OF_COLLIDERS + OF_AXES} | {"joint_friction": "dry_friction"}


def shape(model: Model, name: str) -> tuple[int, ...]:
    """Shape of a parameter in one environment."""
    if not isinstance(name, str) or name not in FIELDS:
        raise InputError(f"parameter {show(name)} is unknown; known: {', '.join(FIELDS)}")
    parts = {"mass": (model.n_bodies,), "inertia": (model.n_bodies, 3, 3)}
    parts |= dict.fromkeys(OF_CONTACTS, (model.n_contacts,))
    if name in OF_COLLIDERS:
        if not model.touches:
            raise InputError(f"parameter {name!r} has no effect: no two colliders of the mechanism can touch")
        return (len(model.colliders),)
    return parts.get(name, (model.n_axes,))


def read(lanes: Lanes, name: str) -> Array:
    """A parameter of all environments (num_envs, *shape)."""
    if name == "inertia":
        values = lanes.get(name)
        return values[..., NINE].reshape(*values.shape[:-1], 3, 3)
    values = lanes.values(FIELDS[name])
    if name in OF_SPEED:
        return np.where(values < FAR, values, np.inf)
    return limit_of(values) if name == "effort_limit" else values


def write(model: Model, lanes: Lanes, name: str, value: Array, env: Indices) -> None:
    """Set a parameter (len(env), *shape), which was checked, of the environments `env`."""
    if name == "effort_limit":
        bounded = lanes.get("bounded")[env]
        bounded[..., [CUT, UNCUT]] = (np.isfinite(value) & model.driven_axes)[..., None]
        lanes.put(env, bounded=bounded)
        value = kept_limit(value)
    if name in OF_SPEED:
        value = finite_limit(value)
    if name == "velocity_limit" and model.features.speeds:
        bounded, bounds = lanes.get("bounded")[env], lanes.get("bounds")[env]
        bounded[..., [LOW, HIGH]] = (np.abs(bounds) < FAR) | (value < FAR)[..., None]
        lanes.put(env, bounded=bounded)
    if name == "mass":
        lanes.put(env, heft=model.heft(value)[..., None])
    lanes.put(env, **{FIELDS[name]: value[..., SIX[0], SIX[1]] if name == "inertia" else value[..., None]})


def check(model: Model, name: str, value: Array, env: Indices) -> None:
    """InputError if a body, contact, collider or axis cannot have that parameter."""
    if name == "inertia":
        skew = np.abs(value - np.swapaxes(value, -1, -2)).max((-1, -2)) > 1e-8 * np.abs(value).max((-1, -2))
        moments = np.linalg.eigvalsh(value)
        bad = skew | (moments[..., 0] <= 0) | (moments[..., :2].sum(-1) < moments[..., 2] * (1 - 1e-6))
        rule = "symmetric, positive definite, no principal moment larger than the sum of the other two"
    else:
        least = name in ("mass", "compliance", "collider_compliance", *UNLIMITED)
        bad, rule = (value <= 0 if least else value < 0), "> 0" if least else ">= 0"
        bad &= name != "offset"
    if name in OF_BODIES:
        names = [f"body {body.name!r}" for body in model.mechanism.bodies]
    elif name in OF_CONTACTS:
        names = [f"contact {contact.name!r}" for contact in model.mechanism.contacts]
        bad, rule = check_law(model, name, value, env, names, model.soft, bad, rule)
    elif name in OF_COLLIDERS:
        names = [f"collider {collider.name!r}" for collider in model.colliders]
        soft = np.array([collider.compliance > 0 for collider in model.colliders])
        bad, rule = check_law(model, name, value, env, names, soft, bad, rule)
    else:
        names = [repr(axis) for axis in model.axis_names]
        check_axes(model, name, value, env, names)
        for axes in model.joint_table.ball_axes if name == "armature" else ():
            turns = value[:, axes.rows]
            for k in np.flatnonzero(np.ptp(turns, axis=-1) > 0)[:1]:
                joint = model.axis_owners[np.arange(model.n_axes)[axes.rows][0]]
                raise InputError(
                    f"armature of joint {joint!r} (environment {env[k]}) must be the same about its three free "
                    f"rotations, got {turns[k].tolist()}"
                )
    for k, i in np.argwhere(bad)[:1]:
        raise InputError(f"{name} of {names[i]} (environment {env[k]}) must be {rule}, got {value[k, i].tolist()}")


def check_law(
    model: Model, name: str, value: Array, env: Indices, names: list[str], soft: Mask, bad: Mask, rule: str
) -> tuple[Mask, str]:
    """Values that contacts or colliders, of which some are `soft`, must not have, and the rule; InputError where
    a number would have no effect, as the kernels are compiled without it."""
    cannot, why = np.zeros((0, 2), bool), ""
    if name.endswith("restitution"):
        bad, rule = bad | (value > 1), "0 to 1"
        cannot = (value > 0) & (soft | (not model.features.bounce))
        why = "nothing in the mechanism has any, or this one is soft; give a hard one a restitution > 0"
    elif name == "collider_damping":  # a hard one may have the damping of its soft partners
        cannot = (value > 0) & (not model.features.soft)
        why = "no collider is soft; give one a compliance > 0"
    elif name.endswith(("compliance", "damping")):
        bad = bad & soft
        cannot, why = (value != 0) & ~soft, "it is hard; give it a compliance > 0"
    for k, c in np.argwhere(cannot)[:1]:
        raise InputError(f"{name} of {names[c]} (environment {env[k]}) cannot be changed: {why} before it is simulated")
    return bad, rule


def check_axes(model: Model, name: str, value: Array, env: Indices, names: list[str]) -> None:
    """InputError where an axis has no such spring, drive, limit or friction to change."""
    nominal = model.per_axis(name.removeprefix("joint_"))
    absent = ~((nominal > 0) & np.isfinite(nominal))
    for k, a in np.argwhere(absent & (value != nominal))[:1]:
        option, joint = name.removeprefix("joint_"), model.axis_owners[a]
        method = "set_drive" if name in OF_DRIVES else "replace_joint"
        raise InputError(
            f"{name} of {names[a]} (environment {env[k]}) cannot be changed: the mechanism has none there; "
            f"give the joint a finite {option} > 0 before it is simulated, with "
            f"mechanism.{method}({joint!r}, {option}=...)"
        )
