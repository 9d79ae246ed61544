"""Fixed tendons of a compiled model: sums  L = sum c_d q_d  of coordinates, with springs, dampers and limits.

What a tendon of a single joint does is added to what its axis has itself. A tendon of several joints is a slider
(sliders.py).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vigym.engine.validation import Array
from vigym.formats.mjcf.notes import Notes
from vigym.formats.mjcf.rigid import names_of

_WRAP_JOINT = 1  # mjtWrap
_ACTING = ("stiffness", "damping", "frictionloss", "armature", "limited", "stiffnesspoly", "dampingpoly")


@dataclass(eq=False)
class Tendons:
    """All that tendons of one joint add to its axis, in MuJoCo's coordinates, (nv,).

    stiffness; pull, by which springs push where qpos is 0; damping, friction, armature; low and high ends.
    several: tendons of several joints that act.
    """

    stiffness: Array
    pull: Array
    damping: Array
    friction: Array
    armature: Array
    low: Array
    high: Array
    several: list[int] = field(default_factory=list)


def arms_of(model: Any, tendon: int) -> Array | None:
    """Coefficients (nv,) of a fixed tendon; None of a spatial one."""
    arms, first = np.zeros(model.nv), int(model.tendon_adr[tendon])
    parts = range(first, first + int(model.tendon_num[tendon]))
    if any(model.wrap_type[k] != _WRAP_JOINT for k in parts):
        return None
    for k in parts:
        arms[model.jnt_dofadr[model.wrap_objid[k]]] += model.wrap_prm[k]
    return arms


def read_tendons(model: Any, notes: Notes) -> Tendons:
    """All tendons that do something by themselves; what is refused does nothing."""
    n = model.nv
    stiffness, pull, damping, friction, armature = np.zeros((5, n))
    found = Tendons(stiffness, pull, damping, friction, armature, np.full(n, -np.inf), np.full(n, np.inf))
    for t, name in enumerate(names_of(model, "tendon", model.ntendon)):
        acting = {key: np.asarray(getattr(model, f"tendon_{key}", np.zeros(model.ntendon)))[t] for key in _ACTING}
        if not any(np.any(value) for value in acting.values()):
            continue
        arms = arms_of(model, t)
        if problem := _problem(model, t, arms, acting):
            notes.refuse(f"tendon {name!r}: {problem}")
        elif arms is not None and np.count_nonzero(arms) > 1:
            found.several.append(t)
        elif arms is not None:
            _add(found, model, t, arms, acting)
    return found


def _problem(model: Any, t: int, arms: Array | None, acting: dict[str, Any]) -> str:
    if arms is None:
        return "a spatial tendon with a spring, damper, friction, armature or limit"
    ends = model.tendon_lengthspring[t]
    if acting["stiffness"] and ends[0] != ends[1]:
        return "a spring that is slack between two lengths"
    if np.any(acting["stiffnesspoly"]) or np.any(acting["dampingpoly"]):
        return "a nonlinear spring or damper"
    return ""


def _add(found: Tendons, model: Any, t: int, arms: Array, acting: dict[str, Any]) -> None:
    """Add a tendon of one joint to its axis."""
    k = float(acting["stiffness"])
    found.stiffness += k * arms**2
    found.pull += k * arms * float(model.tendon_lengthspring[t, 0])
    found.damping += float(acting["damping"]) * arms**2
    found.friction += np.abs(arms) * float(acting["frictionloss"])
    found.armature += arms**2 * float(acting["armature"])
    if acting["limited"]:
        for axis in np.flatnonzero(arms):
            low, high = sorted(model.tendon_range[t] / arms[axis])
            found.low[axis], found.high[axis] = max(found.low[axis], low), min(found.high[axis], high)
