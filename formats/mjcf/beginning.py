"""Where a model that was read begins: coordinates, targets of drives, and overlaps of the file's pose."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vigym.engine import coordinates
from vigym.engine.collisions import ignore_overlapping
from vigym.engine.mechanism import Mechanism
from vigym.engine.model import Model
from vigym.formats.mjcf.notes import Notes

if TYPE_CHECKING:
    from vigym.formats.mjcf.read import MjcfModel


def let_pass(mechanism: Mechanism, of_robot: set[str], notes: Notes) -> None:
    """Let geoms of a robot that overlap in the file's pose pass through each other, and tell so in one remark."""
    if pairs := ignore_overlapping(mechanism, of_robot):
        shown = ", ".join(f"{first!r} and {second!r}" for first, second in pairs[:3])
        more = f" and {len(pairs) - 3} more pairs" if len(pairs) > 3 else ""
        notes.change(f"geoms that overlap in the file's pose do not touch each other: {shown}{more}")


def start_within_limits(found: "MjcfModel") -> list[str]:
    """Start at the first keyframe if closing loops takes the file's pose beyond limits of joints; return a remark."""
    if found._open is None or not found.keyframes:
        return []
    model = Model(found.mechanism)
    phi, slack = coordinates.start(model)[2][0], 1e-6  # rad or m
    if not ((phi < model.per_axis("lower") - slack) | (phi > model.per_axis("upper") + slack)).any():
        return []
    name, key = next(iter(found.keyframes.items()))
    positions = found.joint_state(key.qpos, mocap_pos=key.mocap_pos, mocap_quat=key.mocap_quat)["positions"]
    first = 0
    for joint in found.mechanism.joints:
        if joint.n_free:
            found.mechanism.replace_joint(joint.name, start=positions[first : first + joint.n_free])
        first += joint.n_free
    return [f"environments start at keyframe {name!r}: loops, once closed, are beyond limits in the file's pose"]


def set_targets(found: "MjcfModel") -> None:
    """Let drives start with the targets of zero controls."""
    if found._drives.cross.any() or not found._drives.kp.any():
        return
    zero = np.zeros(len(found.actuators))
    targets = _replace_state(found).controls(zero).get("target", np.zeros(0))
    first = 0
    for joint in found.mechanism.joints:
        own = np.where(joint.kp > 0.0, targets[first : first + joint.n_free], 0.0)
        first += joint.n_free
        if own.any():
            found.mechanism.replace_joint(joint.name, target=own)


def _replace_state(found: "MjcfModel") -> "MjcfModel":
    """The same model without forces that depend on the state."""
    quiet = replace(found._drives, thrusters=[])
    return replace(found, _lifts=(), _drives=quiet, _axes=replace(found._axes, drag=[]))
