"""Bodies and joints of a compiled model, as those of a mechanism, and where each coordinate went."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import to_rotation_vector
from vigym.engine.validation import Array
from vigym.formats.mjcf.actuators import Actuators
from vigym.formats.mjcf.chains import BALL, FREE, Link, links
from vigym.formats.mjcf.mocap import add_mocap
from vigym.formats.mjcf.notes import Notes
from vigym.formats.mjcf.rigid import Rigid, names_of
from vigym.formats.mjcf.tendons import Tendons
from vigym.formats.urdf.parts import IDENTITY, Pose

LIGHT = 1e-6  # of the mass and inertia that a light body carries: relative error of its motion


class Acting(NamedTuple):
    """Drives and tendons, which act on the axes of joints."""

    drives: Actuators
    tendons: Tendons


@dataclass(eq=False)
class Axes:
    """Places of MuJoCo's coordinates in the mechanism.

    axis, qpos, qvel, sign: number of each scalar joint's axis in the mechanism and in MuJoCo, and the sign between.
    balls: (axis, qpos, qvel) of each ball, the first of several. free: (body, qpos, qvel, com) of each free joint;
    drag: (body, damping, com) of those that are damped. mocap: (axis, rest) by MuJoCo's number, see mocap.py.
    """

    axis: list[int] = field(default_factory=list)
    qpos: list[int] = field(default_factory=list)
    qvel: list[int] = field(default_factory=list)
    sign: list[float] = field(default_factory=list)
    balls: list[tuple[int, int, int]] = field(default_factory=list)
    free: list[tuple[int, int, int, Array]] = field(default_factory=list)
    drag: list[tuple[int, float, Array]] = field(default_factory=list)
    mocap: dict[int, tuple[int, Pose]] = field(default_factory=dict)
    count: int = 0


def add_bodies(mechanism: Mechanism, model: Any, rigid: Rigid, acting: Acting, notes: Notes) -> Axes:
    """Add all bodies that move, and their joints."""
    names, axes = names_of(model, "joint", model.njnt), Axes()
    for b, group in rigid.groups.items():
        joints = list(range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b]))
        above = model.body_parentid[b]
        rest = rigid.place(above, Pose(model.body_pos[b].copy(), model.body_quat[b].copy()))
        if model.body_mocapid[b] >= 0:
            axes.mocap[int(model.body_mocapid[b])] = axes.count, rest
            add_mocap(mechanism, group, rest, float(model.opt.timestep))
            notes.other(f"mocap body {group.name!r}: controls(ctrl, sim, mocap_pos=..., mocap_quat=...) moves it")
            axes.count += 6
            continue
        if model.jnt_type[joints[0]] == FREE:
            p, d = model.jnt_qposadr[joints[0]], model.jnt_dofadr[joints[0]]
            rest = Pose(model.qpos0[p : p + 3].copy(), model.qpos0[p + 3 : p + 7].copy())
            axes.free.append((len(mechanism.bodies), int(p), int(d), group.com))
            if model.jnt_stiffness[joints[0]]:
                notes.refuse(f"joint {names[joints[0]]!r}: stiffness of a free joint")
            if damping := float(model.dof_damping[d]):
                axes.drag.append((len(mechanism.bodies), damping, group.com))
                notes.other(f"joint {names[joints[0]]!r}: its damping acts by controls(ctrl, sim)")
            if np.any(model.dof_frictionloss[d : d + 6]) or np.any(model.dof_armature[d : d + 6]):
                notes.refuse(f"joint {names[joints[0]]!r}: friction or armature of a free joint")
            joints = joints[1:]
        chain, parent, origin = links(model, joints), rigid.name(above), np.zeros(3)
        for k, link in enumerate(chain[:-1]):
            body = _between(mechanism, model, b, rigid, chain[k + 1], names, notes)
            _add_joint(mechanism, model, link, parent, body, rest, origin, link.anchor, names, acting, axes, notes)
            parent, rest, origin = body, IDENTITY, link.anchor
        start = Pose(rest.apply(group.com), rest.orientation)
        mechanism.add_body(
            group.name,
            group.mass,
            group.inertia,
            position=start.position,
            orientation=start.orientation,
            collide=False,
        )
        if chain:
            _add_joint(
                mechanism,
                model,
                chain[-1],
                parent,
                group.name,
                rest,
                origin,
                group.com,
                names,
                acting,
                axes,
                notes,
            )
    return axes


def _between(
    mechanism: Mechanism, model: Any, body: int, rigid: Rigid, after: Link, names: list[str], notes: Notes
) -> str:
    """A light body between two joints of one body: LIGHT of all that it carries, around its own centre."""
    name = f"{rigid.names[body]} before {names[after.members[0]]}"
    while name in rigid.names:
        name += "'"
    mass = float(model.body_subtreemass[body])
    group = rigid.groups[body]
    arm = group.com - after.anchor
    inertia = float(np.linalg.eigvalsh(group.inertia)[0] + group.mass * (arm @ arm))
    mechanism.add_body(name, LIGHT * mass, [LIGHT * inertia] * 3, collide=False)
    notes.other(f"body {name!r} was added, with {LIGHT:g} of the mass that it carries")
    return name


def _add_joint(
    mechanism: Mechanism,
    model: Any,
    link: Link,
    parent: str,
    child: str,
    rest: Pose,
    origin: Array,
    centre: Array,
    names: list[str],
    acting: Acting,
    axes: Axes,
    notes: Notes,
) -> None:
    """Add a joint; rest: the frame of MuJoCo's body in the parent, `origin` off; centre: the child's, in that frame."""
    options = dict(link.options)
    values: dict[str, list[float]] = {}
    for j, sign in zip(link.members, link.signs, strict=True):
        p, d = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        if model.jnt_type[j] == BALL:
            axes.balls.append((axes.count, p, d))
            if model.jnt_limited[j]:
                notes.refuse(f"joint {names[j]!r}: limits of a ball joint")
            axes.count += 3
            for k in range(3):
                _append(values, _laws(model, j, d + k, 1.0, acting, ball=k))
            continue
        axes.axis.append(axes.count)
        axes.qpos.append(p)
        axes.qvel.append(d)
        axes.sign.append(sign)
        axes.count += 1
        _append(values, _laws(model, j, d, sign, acting))
    mechanism.add_joint(
        "+".join(names[j] for j in sorted(link.members)),
        link.kind,
        parent,
        child,
        parent_anchor=rest.apply(link.anchor) - origin,
        child_anchor=link.anchor - centre,
        orientation=rest.orientation,
        **options,
        **values,
    )


def _append(values: dict[str, list[float]], more: dict[str, float]) -> None:
    for key, value in more.items():
        values.setdefault(key, []).append(value)


def _laws(model: Any, j: int, d: int, sign: float, acting: Acting, ball: int | None = None) -> dict[str, float]:
    """Return what acts along one axis, whose coordinate is sign (qpos - qpos0); zero of a ball is that of the file."""
    drives, tendons = acting
    own, p = float(model.jnt_stiffness[j]), int(model.jnt_qposadr[j])
    stiffness = own + float(tendons.stiffness[d])
    found = {
        "stiffness": stiffness,
        "damping": float(model.dof_damping[d] + drives.damping[d] + tendons.damping[d]),
        "friction": float(model.dof_frictionloss[d] + tendons.friction[d]),
        "kp": float(drives.kp[d]),
        "kd": float(drives.kd[d]),
        "effort_limit": float(drives.limit[d]),
        "armature": float(model.dof_armature[d] + drives.armature[d] + tendons.armature[d]),
        "rest": 0.0,
        "lower": -np.inf,
        "upper": np.inf,
    }
    if ball is None:
        if stiffness:
            free = (own * model.qpos_spring[p] + tendons.pull[d]) / stiffness  # where springs do not push
            found["rest"] = sign * float(free - model.qpos0[p])
        low, high = model.jnt_range[j] if model.jnt_limited[j] else (-np.inf, np.inf)
        ends = sorted(sign * (np.array([max(low, tendons.low[d]), min(high, tendons.high[d])]) - model.qpos0[p]))
        found |= {"lower": float(ends[0]), "upper": float(ends[1])}
    elif stiffness:
        found["rest"] = float(to_rotation_vector(model.qpos_spring[p : p + 4])[ball])
    return found
