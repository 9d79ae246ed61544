"""A coupling: the coordinate of one free axis, the follower, is a polynomial of those of others, its leaders.

    follower = offset + sum over leaders of  c1 phi + c2 phi^2 + c3 phi^3 + c4 phi^4

Mimic joints and gears have one leader and c1 alone, the ratio; a differential has two leaders. It is a constraint on
positions, solved with those of the joints (kernels/gear.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.errors import MechanismError
from vigym.engine.joint import Joint
from vigym.engine.validation import Array, identifier, numeric, read_only, show, suggestion

DEGREE = 4  # of polynomials


class Axis(NamedTuple):
    """A free axis: its joint's name, and its number among the free axes of that joint."""

    joint: str
    number: int


@dataclass(frozen=True, eq=False)
class Coupling:
    """A coupling with everything resolved to numbers (module docstring). Arrays are read-only.

    name. follower: the axis that follows. leaders: those that it follows. offset: m or rad, where all leaders are at
    zero. coefficients: (n_leaders, 4), of the first to fourth power of each leader's coordinate.
    """

    name: str
    follower: Axis
    leaders: tuple[Axis, ...]
    offset: float
    coefficients: Array

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The follower, then the leaders."""
        return self.follower, *self.leaders

    def followed(self, phi: Array) -> tuple[Array, Array]:
        """Coordinate of the follower (...), and its derivatives by those of the leaders, phi (..., n_leaders)."""
        value, slope = np.full(phi.shape[:-1], self.offset), np.zeros(phi.shape)
        for k in range(DEGREE):
            value = value + (self.coefficients[:, k] * phi ** (k + 1)).sum(-1)
            slope = slope + (k + 1) * self.coefficients[:, k] * phi**k
        return value, slope


def axis_labels(joint: Joint) -> list[str]:
    """Names of a joint's free axes: its own name if there is one, else with the motion and the row behind a dot."""
    if joint.kind == "floating":
        return []
    if joint.n_free == 1:
        return [joint.name]
    return [f"{joint.name}.{motion[0]}{'xyz'[row]}" for motion, row in joint.free_axes]


def make_coupling(
    name: str,
    follower: str,
    leader: str | Sequence[str],
    ratio: ArrayLike = 1.0,
    offset: float = 0.0,
    *,
    polynomial: ArrayLike | None = None,
    joints: Mapping[str, Joint],
) -> Coupling:
    """A validated `Coupling` of axes of `joints`; see `Mechanism.add_coupling`."""
    name = identifier(name, "coupling name")
    what = f"coupling {name!r}"
    names = [leader] if isinstance(leader, str) else leader
    if not isinstance(names, Sequence) or not names:
        raise MechanismError(f"{what}: leader must be the name of an axis, or a list of them, got {show(leader)}")
    axes = [_axis(follower, joints, f"{what}: follower"), *(_axis(one, joints, f"{what}: leader") for one in names)]
    if len(set(axes)) < len(axes):
        raise MechanismError(f"{what}: couples an axis with itself; follower and leaders must all be different axes")
    coefficients = np.zeros((len(names), DEGREE))
    rule = "finite, one number or one per leader"
    if polynomial is None:
        ratios = numeric(ratio, f"{what}: ratio", rule)
        if ratios.shape not in ((), (len(names),)) or not np.isfinite(ratios).all():
            raise MechanismError(f"{what}: ratio must be {rule}, got {show(ratio)}")
        coefficients[:, 0] = ratios
        start = numeric(offset, f"{what}: offset", "a finite number")
    else:
        rule = f"at most {DEGREE + 1} finite coefficients, that of the constant first, for one leader"
        given = numeric(polynomial, f"{what}: polynomial", rule)
        if given.ndim != 1 or not 0 < given.size <= DEGREE + 1 or len(names) > 1 or not np.isfinite(given).all():
            raise MechanismError(f"{what}: polynomial must be {rule}, got {show(polynomial)}")
        if np.any(ratio != 1.0) or offset != 0.0:
            raise MechanismError(f"{what}: polynomial stands for ratio and offset; leave them out")
        start, coefficients[0, : given.size - 1] = given[0], given[1:]
    if start.shape or not np.isfinite(start):
        raise MechanismError(f"{what}: offset must be a finite number, got {show(offset)}")
    return Coupling(name, axes[0], tuple(axes[1:]), float(start), read_only(coefficients))


def _axis(name: str, joints: Mapping[str, Joint], what: str) -> Axis:
    """The axis of that name; MechanismError if there is none that can be coupled."""
    name = identifier(name, what)
    found = {label: Axis(joint.name, k) for joint in joints.values() for k, label in enumerate(axis_labels(joint))}
    if name not in found:
        raise MechanismError(f"{what} {name!r} is no free axis of a joint; {suggestion(name, found)}")
    check_axis(joints[found[name].joint], found[name], what)
    return found[name]


def check_axis(joint: Joint, axis: Axis, what: str) -> None:
    """MechanismError if the joint does not have that axis, or has it about three free rotations."""
    if joint.kind == "floating" or axis.number >= joint.n_free:
        raise MechanismError(f"{what}: joint {joint.name!r} has no free axis {axis.number}")
    if joint.free_axes[axis.number][0] == "rotation" and not joint.constrained[3:].any():
        raise MechanismError(f"{what}: joint {joint.name!r} turns freely about three axes, which cannot be coupled")


def in_order(couplings: Sequence[Coupling]) -> list[Coupling]:
    """Couplings, those that others depend on first; MechanismError if an axis follows twice, or itself."""
    by_follower: dict[Axis, Coupling] = {}
    for coupling in couplings:
        if other := by_follower.get(coupling.follower):
            raise MechanismError(
                f"coupling {coupling.name!r}: its follower, of joint {coupling.follower.joint!r}, follows in coupling "
                f"{other.name!r} already; exchange follower and leader of one of them"
            )
        by_follower[coupling.follower] = coupling
    order: list[Coupling] = []
    begun: set[str] = set()

    def visit(coupling: Coupling) -> None:
        if coupling in order:
            return
        if coupling.name in begun:
            raise MechanismError(f"coupling {coupling.name!r}: its follower leads itself, through other couplings")
        begun.add(coupling.name)
        for leader in coupling.leaders:
            if leader in by_follower:
                visit(by_follower[leader])
        order.append(coupling)

    for coupling in couplings:
        visit(coupling)
    return order
