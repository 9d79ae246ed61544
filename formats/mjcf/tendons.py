"""Fixed tendons of a compiled model: sums  L = sum c_d q_d  of coordinates, with springs, dampers and limits.

What an axis feels of its own position and rate is a spring, damper, limit, ... of its joint, which the engine treats
implicitly: all there is, where a tendon is of a single joint. What an axis feels of the others is given in each step.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.engine.validation import Array
from vigym.formats.mjcf.notes import Notes
from vigym.formats.mjcf.rigid import names_of

_WRAP_JOINT = 1  # mjtWrap
_ACTING = ("stiffness", "damping", "frictionloss", "armature", "limited", "stiffnesspoly", "dampingpoly")


@dataclass(eq=False)
class Tendons:
    """What tendons add to axes, in MuJoCo's coordinates, (nv,): stiffness; pull, by which springs push where qpos is 0;
    damping, friction, armature; low and high ends. And of tendons of several joints: arms (n, nv), springs (n,),
    lengths (n,) without tension, dampers (n,).
    """

    stiffness: Array
    pull: Array
    damping: Array
    friction: Array
    armature: Array
    low: Array
    high: Array
    arms: Array
    springs: Array
    lengths: Array
    dampers: Array

    def efforts(self, qpos: Array, qvel: Array, qpos0: Array) -> Array:
        """What axes feel of the others (..., nv); qpos (..., nv) are coordinates of scalar joints, qpos0 (nv,) those
        about which their own springs act."""
        tension = self.springs * (self.lengths - qpos @ self.arms.T) - self.dampers * (qvel @ self.arms.T)
        own = self.springs @ self.arms**2 * (qpos - qpos0) + self.dampers @ self.arms**2 * qvel
        found: Array = tension @ self.arms + own
        return found


def arms_of(model: Any, tendon: int) -> Array | None:
    """Coefficients (nv,) of a fixed tendon; None of a spatial one."""
    arms, first = np.zeros(model.nv), int(model.tendon_adr[tendon])
    parts = range(first, first + int(model.tendon_num[tendon]))
    if any(model.wrap_type[k] != _WRAP_JOINT for k in parts):
        return None
    for k in parts:
        arms[model.jnt_dofadr[model.wrap_objid[k]]] += model.wrap_prm[k]
    return arms


def coordinates0(model: Any) -> Array:
    """qpos0 of scalar joints, by their velocities (nv,); 0 of others."""
    found = np.zeros(model.nv)
    scalar = model.jnt_type > 1
    found[model.jnt_dofadr[scalar]] = model.qpos0[model.jnt_qposadr[scalar]]
    return found


def read_tendons(model: Any, notes: Notes) -> Tendons:
    """All that tendons do by themselves; what is refused does nothing."""
    n, start = model.nv, coordinates0(model)
    found = Tendons(
        *(np.zeros(n) for _ in range(5)),
        np.full(n, -np.inf),
        np.full(n, np.inf),
        np.zeros((0, n)),
        *(np.zeros(0) for _ in range(3)),
    )
    for t, name in enumerate(names_of(model, "tendon", model.ntendon)):
        acting = {key: np.asarray(getattr(model, f"tendon_{key}", np.zeros(model.ntendon)))[t] for key in _ACTING}
        if not any(np.any(value) for value in acting.values()):
            continue
        arms = arms_of(model, t)
        problem = _problem(model, t, arms, acting)
        if problem or arms is None:
            notes.refuse(f"tendon {name!r}: {problem}")
            continue
        _add(found, model, t, arms, acting, start)
    return found


def _problem(model: Any, t: int, arms: Array | None, acting: dict[str, Any]) -> str:
    if arms is None:
        return "a spatial tendon with a spring, damper, friction, armature or limit"
    ends = model.tendon_lengthspring[t]
    if acting["stiffness"] and ends[0] != ends[1]:
        return "a spring that is slack between two lengths"
    if np.any(acting["stiffnesspoly"]) or np.any(acting["dampingpoly"]):
        return "a nonlinear spring or damper"
    if np.count_nonzero(arms) > 1 and (acting["frictionloss"] or acting["armature"] or acting["limited"]):
        return "friction, armature or a limit of a tendon of several joints"
    return ""


def _add(found: Tendons, model: Any, t: int, arms: Array, acting: dict[str, Any], start: Array) -> None:
    """Add a fixed tendon: all of it to its axis if there is one, else what each axis feels of itself."""
    k, d, length = float(acting["stiffness"]), float(acting["damping"]), float(model.tendon_lengthspring[t, 0])
    found.stiffness += k * arms**2
    found.damping += d * arms**2
    if np.count_nonzero(arms) > 1:
        found.pull += k * arms**2 * start
        found.arms = np.concatenate([found.arms, arms[None]])
        for name, value in (("springs", k), ("lengths", length), ("dampers", d)):
            setattr(found, name, np.append(getattr(found, name), value))
        return
    found.pull += k * arms * length
    found.friction += np.abs(arms) * float(acting["frictionloss"])
    found.armature += arms**2 * float(acting["armature"])
    if acting["limited"]:
        for axis in np.flatnonzero(arms):
            low, high = sorted(model.tendon_range[t] / arms[axis])
            found.low[axis], found.high[axis] = max(found.low[axis], low), min(found.high[axis], high)
