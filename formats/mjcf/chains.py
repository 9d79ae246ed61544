"""Several joints of one body: which of them are one joint of the engine, and where a light body goes between.

MuJoCo moves a body by its joints one after the other. A joint of the engine has the same coordinates, exactly, if all
slides come first and are perpendicular to each other; if at most two hinges follow, perpendicular, on lines that meet;
and if all these axes belong to one right-angled frame. Other joints follow in a further joint, on a body between.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vigym.engine.joint import orthonormal_basis
from vigym.engine.validation import Array

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3  # MuJoCo's numbers of joint types
_SAME = 1e-9  # on cosines of axes, and in m on lines that meet


@dataclass(eq=False)
class Link:
    """Joints of a body that become one joint of the engine.

    members: numbers of MuJoCo's joints, in the order of the engine's axes; signs: of their axes. kind, options: for
    `add_joint`. anchor: (3,) in the frame of the body.
    """

    members: list[int]
    signs: list[float]
    kind: str
    anchor: Array
    options: dict[str, Any] = field(default_factory=dict)


def links(model: Any, joints: Sequence[int]) -> list[Link]:
    """The fewest joints of the engine that are these joints (no free one) of a body, one after the other."""
    found: list[Link] = []
    start = 0
    while start < len(joints):
        for end in range(len(joints), start, -1):
            link = _one(model, list(joints[start:end]))
            if link is not None:
                found.append(link)
                start = end
                break
    return found


def _one(model: Any, joints: list[int]) -> Link | None:
    """These joints as one of the engine; None if there is none."""
    kinds = [int(model.jnt_type[j]) for j in joints]
    axes, points = model.jnt_axis[joints].copy(), model.jnt_pos[joints].copy()
    if len(joints) == 1:
        kind = {BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute"}[kinds[0]]
        return Link(joints, [1.0], kind, points[0], {} if kinds[0] == BALL else {"axis": axes[0]})
    slides = kinds.count(SLIDE)
    hinges = len(kinds) - slides
    if kinds != [SLIDE] * slides + [HINGE] * hinges or hinges > 2 or slides > 3:
        return None
    anchor = _anchor(axes[slides:], points[slides:]) if hinges else points[0]
    if anchor is None:
        return None
    if slides == 0:
        if abs(axes[0] @ axes[1]) > _SAME:
            return None
        return Link(joints, [1.0, 1.0], "universal", anchor, {"axis": axes[0], "axis2": axes[1]})
    for candidate in axes:
        rows = _rows(orthonormal_basis(candidate), axes, slides)
        if rows is None:
            continue
        order = sorted(range(len(joints)), key=lambda k: rows[k][0])
        held = np.ones(6, bool)
        held[[row for row, _ in rows]] = False
        options = {"axis": candidate, "constrained": held}
        return Link([joints[k] for k in order], [rows[k][1] for k in order], "custom", anchor, options)
    return None


def _rows(basis: Array, axes: Array, slides: int) -> list[tuple[int, float]] | None:
    """Row (of six) and sign of each axis; None if one is not along the basis, or hinges are in another order."""
    found = []
    for k, axis in enumerate(axes):
        cosines = basis @ axis
        row = int(np.argmax(np.abs(cosines)))
        if abs(cosines[row]) < 1.0 - _SAME:
            return None
        found.append((row + (3 if k >= slides else 0), float(np.sign(cosines[row]))))
    rows = [row for row, _ in found]
    turns = rows[slides:]
    return found if len(set(rows)) == len(rows) and turns == sorted(turns) else None


def _anchor(axes: Array, points: Array) -> Array | None:
    """The point where the lines of one or two hinges meet; None if they do not."""
    if len(axes) == 1:
        return points[0]
    apart = points[1] - points[0]
    if np.linalg.norm(apart) < _SAME:
        return points[0]
    steps, *_ = np.linalg.lstsq(np.stack([axes[0], -axes[1]], -1), apart, rcond=None)
    first, second = points[0] + steps[0] * axes[0], points[1] + steps[1] * axes[1]
    return first if np.linalg.norm(first - second) < _SAME else None
