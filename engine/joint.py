"""A joint: which of the six relative motions of two bodies are constrained, and what acts on the free ones.

The JOINT FRAME is the parent frame turned by `orientation` (q_off): the child's frame when all coordinates
are zero, as in URDF. `basis` holds the rows e1, e2, e3 in that frame. The six rows of a joint are

    translation   e_i . R(q_off)^T Rp^T (xc + Rc ac - xp - Rp ap)      i = 1, 2, 3
    rotation      e_i . Im(q_off^-1 qp^-1 qc)                          i = 1, 2, 3

and `constrained` says which of them are held at zero. The others are the joint's free axes. With exactly
two free rotations, a1 and a2, the rotation row is `a1 . R(q_off^-1 qp^-1 qc) a2` instead: a Hooke joint,
which turns about a1 fixed in the parent and a2 fixed in the child (`Im` would not allow that).

    kind          basis                       free axes
    fixed         identity                    none
    revolute      b1, b2, axis                rotation e3
    prismatic     b1, b2, axis                translation e3
    cylindrical   b1, b2, axis                translation e3, rotation e3
    planar        b1, b2, axis                translation e1, e2, rotation e3      (axis: the plane's normal)
    universal     axis, axis2, axis x axis2   rotation e1, e2
    spherical     identity                    rotation e1, e2, e3
    floating      identity                    all
    custom        b1, b2, axis                whatever `constrained=` leaves free
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine.errors import MechanismError
from vigym.engine.validation import (
    Array,
    identifier,
    numeric,
    read_only,
    show,
    suggestion,
    unit_quaternion,
    unit_vector,
    vector,
)

WORLD = "world"
_PERPENDICULAR_SLACK = 1e-6  # on the cosine between the axes of a universal joint

# Constrained (1) or free (0): translation along e1, e2, e3, then rotation about e1, e2, e3.
_CONSTRAINED = {
    "fixed": (1, 1, 1, 1, 1, 1),
    "revolute": (1, 1, 1, 1, 1, 0),
    "prismatic": (1, 1, 0, 1, 1, 1),
    "cylindrical": (1, 1, 0, 1, 1, 0),
    "planar": (0, 0, 1, 1, 1, 0),
    "universal": (1, 1, 1, 0, 0, 1),
    "spherical": (1, 1, 1, 0, 0, 0),
    "floating": (0, 0, 0, 0, 0, 0),
}
KINDS = (*_CONSTRAINED, "custom")

# Option of a free axis -> (default, what it must be).
_ANY, _NOT_NEGATIVE, _POSITIVE, _LIMIT = "finite", "finite and >= 0", "> 0", "not NaN"
OPTIONS = {
    "stiffness": (0.0, _NOT_NEGATIVE),
    "rest": (0.0, _ANY),
    "damping": (0.0, _NOT_NEGATIVE),
    "kp": (0.0, _NOT_NEGATIVE),
    "kd": (0.0, _NOT_NEGATIVE),
    "target": (0.0, _ANY),
    "target_velocity": (0.0, _ANY),
    "effort_limit": (np.inf, _POSITIVE),
    "no_load_speed": (np.inf, _POSITIVE),
    "armature": (0.0, _NOT_NEGATIVE),
    "lower": (-np.inf, _LIMIT),
    "upper": (np.inf, _LIMIT),
    "velocity_limit": (np.inf, _POSITIVE),
    "friction": (0.0, _NOT_NEGATIVE),
    "start": (0.0, _ANY),
}
# Option -> the one without which it has no effect.
_NEEDED = {"rest": "stiffness", "target": "kp", "target_velocity": "kd"}


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint with everything resolved to numbers (module docstring: frames and rows). Arrays are read-only.

    name, kind, parent ("world" or a body's name), child (a body's name).
    parent_anchor, child_anchor: (3,) in the frame of the parent (of the world) and of the child, m.
    orientation: q_off (4,), unit, scalar first; the child in the parent frame at zero coordinates.
    basis: (3, 3), rows e1, e2, e3 in the joint frame, orthonormal, right-handed.
    constrained: (6,) bool; translation along e1, e2, e3, then rotation about e1, e2, e3.

    One entry per free axis (n_free,), translations first; SI units, N and m or N m and rad:
    stiffness, rest: spring, effort -stiffness (coordinate - rest); variational, it keeps its energy.
    damping: damper, effort -damping velocity; like drives, it acts at the end of a step, stable at any gain.
    kp, kd, target, target_velocity: PD drive; effort_limit: the largest magnitude of its effort.
    no_load_speed: of a DC motor with a limited voltage, whose stall effort is effort_limit: drive and applied effort
        together are at most effort_limit (1 - velocity/no_load_speed), at least -effort_limit (1 + velocity/
        no_load_speed); m/s or rad/s.
    armature: inertia that moves with the axis alone, kg or kg m^2, such as a motor's rotor times the square of its gear
        ratio: energy armature velocity^2 / 2. One for all axes where three rotations are free.
    lower, upper: range of the coordinate; infinite when there is no limit.
    velocity_limit: the largest magnitude of the velocity, m/s or rad/s; whatever effort it takes keeps to it.
    friction: dry friction, the largest magnitude of its effort.
    start: coordinate at which environments start; 0, or the limit next to it, unless given.

    Where three rotations are free, the coordinates are the rotation vector, the shorter way round, and velocities the
    relative angular velocity along the child's axes, about which damping, kd, friction and effort_limit act. rest and
    target are rotation vectors too; springs and kp act on the rotation vector from there, the shorter way round.
    """

    name: str
    kind: str
    parent: str
    child: str
    parent_anchor: Array
    child_anchor: Array
    orientation: Array
    basis: Array
    constrained: NDArray[np.bool_]
    stiffness: Array
    rest: Array
    damping: Array
    kp: Array
    kd: Array
    target: Array
    target_velocity: Array
    effort_limit: Array
    no_load_speed: Array
    armature: Array
    lower: Array
    upper: Array
    velocity_limit: Array
    friction: Array
    start: Array

    @property
    def n_free(self) -> int:
        """Number of free axes, 0 to 6."""
        return 6 - int(self.constrained.sum())

    @property
    def free_axes(self) -> list[tuple[str, int]]:
        """Free axes in order, as ("translation" | "rotation", row of `basis`)."""
        rows = [(motion, row) for motion in ("translation", "rotation") for row in range(3)]
        return [axis for axis, held in zip(rows, self.constrained, strict=True) if not held]


def orthonormal_basis(axis: ArrayLike) -> Array:
    """Rows b1, b2, axis/|axis| (3, 3), right-handed; axes x, y, z give cyclic permutations of x, y, z.

    b1 is the coordinate axis that follows the largest component of `axis` (cyclically), made perpendicular;
    it is never closer than 45 degrees to `axis`, so nothing cancels.
    """
    e3 = unit_vector(axis, "axis")
    e1 = np.zeros(3)
    e1[(int(np.argmax(np.abs(e3))) + 1) % 3] = 1.0
    e1 -= (e1 @ e3) * e3
    e1 /= np.linalg.norm(e1)
    return np.array([e1, np.cross(e3, e1), e3])


def make_joint(
    name: str,
    kind: str,
    parent: str,
    child: str,
    *,
    axis: ArrayLike = (0.0, 0.0, 1.0),
    axis2: ArrayLike | None = None,
    parent_anchor: ArrayLike = (0.0, 0.0, 0.0),
    child_anchor: ArrayLike = (0.0, 0.0, 0.0),
    orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    constrained: ArrayLike | None = None,
    **options: ArrayLike,
) -> Joint:
    """A validated `Joint`; whether its bodies exist is the mechanism's to check.

    `axis` and `axis2` are in the joint frame and are normalised; fixed, spherical and floating joints have no
    use for `axis`, only a universal joint takes `axis2` (perpendicular to `axis`; by default any that is).
    `constrained` (six booleans) is for kind "custom" only. `options` are the per-axis fields of `Joint`,
    scalars or (n_free,).
    """
    name = identifier(name, "joint name")
    what = f"joint {name!r}"
    kind = identifier(kind, f"{what}: kind")
    if kind not in KINDS:
        raise MechanismError(f"{what}: kind {kind!r} is unknown; {suggestion(kind, KINDS)}")
    parent = identifier(parent, f"{what}: parent")
    child = identifier(child, f"{what}: child")
    if child == WORLD:
        raise MechanismError(f"{what}: child must be a body, not the world; make the world its parent")
    if parent == child:
        raise MechanismError(f"{what}: parent and child are the same body, {child!r}")
    if axis2 is not None and kind != "universal":
        raise MechanismError(f"{what}: axis2 is for universal joints only, not for kind {kind!r}")

    held = _constrained_rows(constrained, kind, what)
    parent_point = vector(parent_anchor, (3,), f"{what}: parent_anchor")
    child_point = vector(child_anchor, (3,), f"{what}: child_anchor")
    if kind == "floating" and (parent_point.any() or child_point.any()):
        raise MechanismError(f"{what}: a floating joint brings no points together; leave its anchors out")
    return Joint(
        name=name,
        kind=kind,
        parent=parent,
        child=child,
        parent_anchor=read_only(parent_point),
        child_anchor=read_only(child_point),
        orientation=read_only(unit_quaternion(orientation, f"{what}: orientation")),
        basis=read_only(_basis(kind, axis, axis2, what)),
        constrained=held,
        **_axis_options(options, kind, held, what),
    )


def _constrained_rows(constrained: Any, kind: str, what: str) -> NDArray[np.bool_]:
    if kind != "custom":
        if constrained is not None:
            raise MechanismError(f"{what}: constrained is for kind 'custom' only, not for kind {kind!r}")
        return read_only(np.array(_CONSTRAINED[kind], dtype=bool))
    expected = "six booleans (translation along, then rotation about e1, e2, e3)"
    if constrained is None:
        raise MechanismError(f"{what}: kind 'custom' needs constrained, {expected}")
    rows = numeric(constrained, f"{what}: constrained", expected)
    if rows.shape != (6,) or not np.isin(rows, (0.0, 1.0)).all():
        raise MechanismError(f"{what}: constrained must be {expected}, got {show(constrained)}")
    if not rows.any():
        raise MechanismError(f"{what}: constrained leaves everything free: use kind 'floating'")
    return read_only(rows.astype(bool))


def _basis(kind: str, axis: ArrayLike, axis2: ArrayLike | None, what: str) -> Array:
    """Rows e1, e2, e3 (3, 3), see the module docstring. The axes are checked even where they are not used."""
    unit = unit_vector(axis, f"{what}: axis")
    if kind in ("fixed", "spherical", "floating"):
        return np.eye(3)
    basis = orthonormal_basis(unit)
    if kind != "universal":
        return basis
    if axis2 is None:
        return np.roll(basis, 1, axis=0)  # axis, b1, b2
    unit2 = unit_vector(axis2, f"{what}: axis2")
    if abs(unit @ unit2) > _PERPENDICULAR_SLACK:
        raise MechanismError(f"{what}: axis2 must be perpendicular to axis, but their cosine is {unit @ unit2:.3g}")
    unit2 -= (unit @ unit2) * unit  # perpendicular to round-off, not just within the slack
    unit2 /= np.linalg.norm(unit2)
    return np.array([unit, unit2, np.cross(unit, unit2)])


def _allowed(values: Array, rule: str) -> bool:
    if rule == _LIMIT:
        return True  # NaN was rejected before
    if rule == _POSITIVE:
        return bool((values > 0.0).all())
    return bool(np.isfinite(values).all() and (rule == _ANY or (values >= 0.0).all()))


def _axis_options(options: dict[str, ArrayLike], kind: str, held: NDArray[np.bool_], what: str) -> dict[str, Array]:
    """Every option of `OPTIONS` as an array (n_free,): given and checked, or at its default."""
    n_free, three_turns = 6 - int(held.sum()), not held[3:].any()
    if unknown := options.keys() - OPTIONS.keys():
        raise TypeError(f"unexpected joint options: {', '.join(sorted(unknown))}")
    resolved = {}
    for option, (default, rule) in OPTIONS.items():
        expected = f"{rule}, a number or one per free axis (shape ({n_free},))"
        given = options.get(option, default)
        values = numeric(given, f"{what}: {option}", expected)
        if values.shape not in ((), (n_free,)) or not _allowed(values, rule):
            raise MechanismError(f"{what}: {option} must be {expected}, got {show(given)}")
        # A value that would have no effect is a mistake: a fixed joint has no axis to put it on, and a
        # floating joint stands for the absence of any connection.
        if (kind == "floating" or n_free == 0) and (values != default).any():
            raise MechanismError(f"{what}: {option} has no free axis to act on in a joint of kind {kind!r}")
        resolved[option] = read_only(np.array(np.broadcast_to(values, (n_free,))))
    if not (resolved["lower"] < resolved["upper"]).all():
        lower, upper = resolved["lower"].tolist(), resolved["upper"].tolist()
        raise MechanismError(f"{what}: lower must be less than upper, got lower {lower} and upper {upper}")
    for option, gain in _NEEDED.items():
        if ((resolved[option] != 0.0) & (resolved[gain] == 0.0)).any():
            raise MechanismError(f"{what}: {option} has no effect without {gain}; give both")
    if (np.isfinite(resolved["no_load_speed"]) & np.isinf(resolved["effort_limit"])).any():
        raise MechanismError(f"{what}: no_load_speed needs the motor's stall effort; give effort_limit, too")
    for option in ("no_load_speed", "velocity_limit") if three_turns else ():
        if np.isfinite(resolved[option][-3:]).any():
            raise MechanismError(
                f"{what}: {option} is not available about three free rotations, got {resolved[option]}"
            )
    turns = resolved["armature"][-3:] if three_turns else np.zeros(1)
    if np.ptp(turns) > 0:
        raise MechanismError(f"{what}: armature must be the same about three free rotations, got {turns.tolist()}")
    within = np.clip(resolved["start"], resolved["lower"], resolved["upper"])
    if "start" in options and (within != resolved["start"]).any():
        raise MechanismError(f"{what}: start must lie within lower and upper, got {show(options['start'])}")
    return resolved | {"start": read_only(within)}
