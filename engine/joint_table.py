"""Joints as arrays, so that one NumPy expression serves all of them; see coordinates.py for slots and coordinates."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.engine.joint import Joint
from vigym.engine.rotation import Array, rotate

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


class BallAxes(NamedTuple):
    """Rows, in the arrays of free axes, of the three rotations of joint `joint` of the table."""

    joint: int
    rows: slice


class JointTable(NamedTuple):
    """J joints, one row each; bodies by index, the world is the last one."""

    number: Indices  # (J,) among the mechanism's joints
    parent: Indices  # (J,)
    child: Indices
    parent_anchor: Array  # (J, 3)
    child_anchor: Array
    orientation: Array  # (J, 4)
    basis: Array  # (J, 3, 3) rows e1, e2, e3 in the joint frame
    slides: Array  # (J, 3, 3) the same in the parent's frame
    constrained: Flags  # (J, 6) slots
    axis: Indices  # (J, 6) row in the arrays of free axes; -1 where constrained
    turns: Indices  # (J,) number of free rotations
    hinges: Indices  # joints with one free rotation, (H,)
    hinge_axis: Array  # (H, 3)
    hooke: Indices  # joints with two, (U,)
    first_turn: Array  # (U, 3)
    second_turn: Array
    is_first_turn: Flags  # (U, 3) which of the three is the first
    balls: Indices  # joints with three, (B,)
    ball_axes: list[BallAxes]
    winds: Flags  # (n_axes,) angles, of which full turns are counted
    middle: Array  # (n_axes,) in whose turn they are to be read

    @property
    def free(self) -> Flags:
        """(J, 6) slots that are coordinates; in order, they are the arrays of free axes."""
        return ~self.constrained

    @property
    def is_slide(self) -> Flags:
        """(n_axes,) which free axes are translations."""
        return np.broadcast_to(np.arange(6) < 3, self.constrained.shape)[self.free]


def joint_table(
    joints: Sequence[Joint], numbers: Sequence[int], bodies: Mapping[str, int], first_axis: Indices
) -> JointTable:
    """A table of these joints, which are the mechanism's `numbers`; none of them floating."""

    def column(values: list, *shape: int, dtype: type = float) -> np.ndarray:
        return np.array(values, dtype).reshape(len(values), *shape)

    basis = column([joint.basis for joint in joints], 3, 3)
    orientation = column([joint.orientation for joint in joints], 4)
    constrained = column([joint.constrained for joint in joints], 6, dtype=bool)
    turning = ~constrained[:, 3:]
    turns = turning.sum(-1)
    hinges, hooke, balls = (np.flatnonzero(turns == k) for k in (1, 2, 3))
    axis = np.full((len(joints), 6), -1)
    for k, (joint, number) in enumerate(zip(joints, numbers, strict=True)):
        axis[k, ~constrained[k]] = first_axis[number] + np.arange(joint.n_free)
    first = turning[hooke] & (np.cumsum(turning[hooke], -1) == 1)
    wound, middle = _turns(joints, turns)
    return JointTable(
        number=np.array(numbers, int),
        parent=column([bodies[joint.parent] for joint in joints], dtype=int),
        child=column([bodies[joint.child] for joint in joints], dtype=int),
        parent_anchor=column([joint.parent_anchor for joint in joints], 3),
        child_anchor=column([joint.child_anchor for joint in joints], 3),
        orientation=orientation,
        basis=basis,
        slides=rotate(orientation[:, None], basis),
        constrained=constrained,
        axis=axis,
        turns=turns,
        hinges=hinges,
        hinge_axis=basis[hinges][turning[hinges]],
        hooke=hooke,
        first_turn=basis[hooke][first],
        second_turn=basis[hooke][turning[hooke] & ~first],
        is_first_turn=first,
        balls=balls,
        ball_axes=[BallAxes(int(k), slice(int(axis[k, 3]), int(axis[k, 3]) + 3)) for k in balls],
        winds=wound,
        middle=middle,
    )


def _turns(joints: Sequence[Joint], turns: Indices) -> tuple[Flags, Array]:
    """Mask of coordinates that are winding angles, and the middle of the turn in which to read them."""
    wound, middles = [np.zeros(0, bool)], [np.zeros(0)]
    for joint, count in zip(joints, turns, strict=True):
        angle = np.array([motion == "rotation" for motion, _ in joint.free_axes], bool)
        # half a turn beyond a single limit that excludes zero
        low = np.where(np.isfinite(joint.lower), joint.lower, np.minimum(joint.upper - 2 * np.pi, -np.pi))
        high = np.where(np.isfinite(joint.upper), joint.upper, np.maximum(joint.lower + 2 * np.pi, np.pi))
        both = np.isfinite(joint.lower) & np.isfinite(joint.upper)
        wound.append(angle & (count < 3))
        middles.append(np.where(both | (low > 0) | (high < 0), 0.5 * (low + high), 0.0))
    return np.concatenate(wound), np.concatenate(middles)
