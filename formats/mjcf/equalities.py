"""Equality constraints of a compiled model: joints that close loops, and couplings of joints."""

from typing import Any

import numpy as np

from vigym.engine.coupling import axis_labels
from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import conjugate, multiply
from vigym.formats.mjcf.build import Axes
from vigym.formats.mjcf.notes import Notes
from vigym.formats.mjcf.rigid import Rigid, names_of
from vigym.formats.mjcf.tendons import arms_of
from vigym.formats.urdf.parts import IDENTITY, Pose

_CONNECT, _WELD, _JOINT, _TENDON = 0, 1, 2, 3  # mjtEq
_KINDS = ("connect", "weld", "joint", "tendon", "flex")
_BODY, _SITE = 1, 6  # mjtObj


def add_equalities(mechanism: Mechanism, model: Any, rigid: Rigid, axes: Axes, notes: Notes) -> None:
    """Add all constraints that are active when a simulation starts."""
    names = names_of(model, "equality", model.neq)
    for k, name in enumerate(names):
        if not model.eq_active0[k]:
            notes.change(f"equality {name!r}, which is not active at the start: left out")
            continue
        kind = int(model.eq_type[k])
        if kind == _JOINT:
            _couple(mechanism, model, k, name, axes, notes)
        elif kind == _TENDON:
            _couple_tendons(mechanism, model, k, name, axes, notes)
        elif kind in (_CONNECT, _WELD) and model.eq_objtype[k] in (_BODY, _SITE):
            _close(mechanism, model, rigid, k, name, notes)
        else:
            notes.refuse(f"equality {name!r} of type {_KINDS[min(kind, 4)]}")


def _frames(model: Any, k: int) -> tuple[tuple[int, Pose], tuple[int, Pose]]:
    """Bodies that a constraint holds together, and the frame in each of them that it brings together."""
    one, two, data = int(model.eq_obj1id[k]), int(model.eq_obj2id[k]), model.eq_data[k]
    if model.eq_objtype[k] == _SITE:
        first, second = (Pose(model.site_pos[s].copy(), model.site_quat[s].copy()) for s in (one, two))
        return (int(model.site_bodyid[one]), first), (int(model.site_bodyid[two]), second)
    unit = IDENTITY.orientation
    if model.eq_type[k] == _CONNECT:
        return (one, Pose(data[:3].copy(), unit)), (two, Pose(data[3:6].copy(), unit))
    return (one, Pose(data[3:6].copy(), data[6:10].copy())), (two, Pose(data[:3].copy(), unit))


def _close(mechanism: Mechanism, model: Any, rigid: Rigid, k: int, name: str, notes: Notes) -> None:
    (one, first), (two, second) = _frames(model, k)
    ends = [(rigid.name(one), rigid.place(one, first)), (rigid.name(two), rigid.place(two, second))]
    if ends[0][0] == ends[1][0]:
        notes.other(f"equality {name!r}: both ends are one body")
        return
    if ends[1][0] == WORLD:
        ends.reverse()
    (parent, there), (child, here) = ends
    taken = {joint.name for joint in mechanism.joints}
    while name in taken:
        name += "'"
    kind = "spherical" if model.eq_type[k] == _CONNECT else "fixed"
    turn = {} if kind == "spherical" else {"orientation": multiply(there.orientation, conjugate(here.orientation))}
    try:
        mechanism.add_joint(name, kind, parent, child, parent_anchor=there.position, child_anchor=here.position, **turn)
    except MechanismError:
        notes.refuse(f"equality {name!r} between {parent!r} and {child!r}, which a joint connects already")
        return
    mechanism.allow_contact(parent, child)


def _couple(mechanism: Mechanism, model: Any, k: int, name: str, axes: Axes, notes: Notes) -> None:
    """q1 - q1_0 = sum c_i (q2 - q2_0)^i, in the engine's coordinates y = s (q - q_0)."""
    one, two, coefficients = int(model.eq_obj1id[k]), int(model.eq_obj2id[k]), model.eq_data[k, :5]
    if two < 0:
        notes.refuse(f"equality {name!r} that holds a joint in its place")
        return
    (first, s1), (second, s2) = (axis_of(model, j, axes, mechanism) for j in (one, two))
    polynomial = s1 * s2 ** np.arange(5) * coefficients
    try:
        mechanism.add_coupling(name, first, second, polynomial=polynomial)
        return
    except MechanismError as cause:
        problem = str(cause)
    offset, ratio, *higher = polynomial
    if ratio and not any(higher):  # the other way round, where the first joint follows already
        try:
            mechanism.add_coupling(name, second, first, ratio=1.0 / ratio, offset=-offset / ratio)
            return
        except MechanismError:
            pass
    notes.refuse(f"equality {name!r} of joints ({problem})")


def _couple_tendons(mechanism: Mechanism, model: Any, k: int, name: str, axes: Axes, notes: Notes) -> None:
    """L1 - L1_0 = c_0 + c_1 (L2 - L2_0) of fixed tendons, or without the second: one joint follows the others.

    With y = s (q - q_0), that is sum_d a_d y_d = c_0, solved for the axis with the largest a that can follow."""
    (constant, slope, *higher), second = model.eq_data[k, :5], int(model.eq_obj2id[k])
    arms = [arms_of(model, t) if t >= 0 else np.zeros(model.nv) for t in (int(model.eq_obj1id[k]), second)]
    if arms[0] is None or arms[1] is None:
        notes.refuse(f"equality {name!r} of spatial tendons")
        return
    whole = arms[0] - (slope * arms[1] if second >= 0 else 0.0)
    if second >= 0 and np.any(higher):
        notes.refuse(f"equality {name!r} of tendons that is not linear")
        return
    joints = [j for j in range(model.njnt) if whole[model.jnt_dofadr[j]] != 0.0 and model.jnt_type[j] > 1]
    ends = [(*axis_of(model, j, axes, mechanism), float(whole[model.jnt_dofadr[j]])) for j in joints]
    weights = {label: sign * weight for label, sign, weight in ends}
    problem = "of a single joint"
    for follower in sorted(weights, key=lambda label: -abs(weights[label])) if len(weights) > 1 else ():
        leaders = [label for label in weights if label != follower]
        ratios = [-weights[label] / weights[follower] for label in leaders]
        try:
            mechanism.add_coupling(name, follower, leaders, ratio=ratios, offset=constant / weights[follower])
            return
        except MechanismError as cause:
            problem = str(cause)
    notes.refuse(f"equality {name!r} of tendons ({problem})")


def axis_of(model: Any, j: int, axes: Axes, mechanism: Mechanism) -> tuple[str, float]:
    """Name of the engine's axis of a scalar joint, and its sign."""
    place = axes.qvel.index(int(model.jnt_dofadr[j]))
    labels = [label for joint in mechanism.joints for label in axis_labels(joint)]
    return labels[axes.axis[place]], axes.sign[place]
