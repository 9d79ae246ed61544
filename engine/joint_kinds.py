"""Joints as the kernels know them: which laws act on their axes, their kind, their frames."""

from collections.abc import Collection

import numpy as np

from vigym.engine import rotation
from vigym.engine.coupling import Coupling
from vigym.engine.joint import Joint
from vigym.engine.kernels import axis
from vigym.engine.kernels.joint import GEAR
from vigym.engine.kernels.store import Group

FLOATING = 15  # kind of a body without constraint, see kernels/joint.py


def driven(joint: Joint) -> np.ndarray:
    """Mask of free axes with a motor: a PD drive, or one whose effort falls with speed."""
    return (joint.kp > 0) | (joint.kd > 0) | np.isfinite(joint.no_load_speed)


def axis_pairs(joint: Joint) -> set[int]:
    """Complementary pairs of the free axes: position limits, effort limits of drives, dry friction."""
    cut, dry = driven(joint) & np.isfinite(joint.effort_limit), joint.friction > 0
    slow = np.isfinite(joint.velocity_limit)
    there = {axis.LOW: np.isfinite(joint.lower) | slow, axis.HIGH: np.isfinite(joint.upper) | slow}
    there |= {axis.CUT: cut, axis.UNCUT: cut, axis.SLIP: dry, axis.BACK: dry}
    return {pair for pair, axes in there.items() if axes.any()}


def has_law(joint: Joint) -> bool:
    """Return whether anything but a plain effort acts on a free axis."""
    acting = (joint.stiffness > 0) | (joint.damping > 0) | (joint.armature > 0) | driven(joint)
    return bool(acting.any()) or bool(axis_pairs(joint))


def kind_of(joint: Joint | Coupling | None, coupled: Collection[str] = ()) -> int:
    """The number by which the kernels know this kind of joint; those of `coupled` names must know their coordinates."""
    if joint is None:
        return FLOATING
    if isinstance(joint, Coupling):
        return GEAR
    translations, rotations = (~joint.constrained[:3]).sum(), (~joint.constrained[3:]).sum()
    return int(16 * (has_law(joint) or joint.name in coupled) + 4 * translations + rotations)


def frames(m: Group, i: int, joint: Joint) -> None:
    """Anchors and frames of body i's joint, the free axes put where the kernels expect them."""
    R = rotation.rotation_matrix(joint.orientation)
    held, turning = joint.constrained[:3], ~joint.constrained[3:]
    free_turns = joint.basis[turning]
    if len(free_turns) == 1:
        first = joint.basis[~turning][0]
        axes = np.array([first, np.cross(free_turns[0], first), free_turns[0]])
    elif len(free_turns) == 2:
        axes = np.array([*free_turns, np.cross(*free_turns)])
    else:
        axes = joint.basis
    m.child_anchor[i], m.parent_anchor[i] = joint.child_anchor, joint.parent_anchor
    m.child_axes[i], m.parent_axes[i] = axes, axes @ R.T
    m.child_frame[i] = rotation.from_matrix(axes.T)
    m.parent_frame[i] = rotation.multiply(joint.orientation, m.child_frame[i])
    m.slide[i] = np.concatenate([joint.basis[held], joint.basis[~held]]) @ R.T
