"""A rigid body: mass, inertia, shapes and initial pose."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.errors import MechanismError
from vigym.engine.shapes import Shape, mass_properties
from vigym.engine.surface import Surface
from vigym.engine.validation import (
    Array,
    identifier,
    number,
    numeric,
    read_only,
    show,
    unit_quaternion,
    vector,
)

# Relative slacks: inertias from CAD files and URDF are rounded to 6 or so digits.
_SYMMETRY_SLACK = 1e-8
_TRIANGLE_SLACK = 1e-6
# Principal moments are computed with a relative error of about 1e-16 of the largest one.
_SMALLEST_RATIO = 1e-14
# Shapes whose centre of mass is further than this from the body origin are misplaced, m.
_COM_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body. The origin of its frame is its centre of mass. Arrays are read-only.

    name: unique among the bodies.
    mass: kg.
    inertia: (3, 3) about the centre of mass, in the body frame, kg m^2.
    shapes: its solids (and where its inertia came from, if none was given).
    position: initial centre of mass in the world (3,), m.
    orientation: initial orientation, body to world, quaternion (4,), scalar first.
    visuals: what is only drawn.

    The initial pose counts only for a body that no joint ties to a parent.
    """

    name: str
    mass: float
    inertia: Array
    shapes: tuple[Shape, ...]
    position: Array
    orientation: Array
    visuals: tuple[Shape, ...] = ()

    @property
    def drawn(self) -> tuple[Shape, ...]:
        """Shapes and visuals: all that is drawn."""
        return self.shapes + self.visuals


def make_body(
    name: str,
    mass: float | None = None,
    inertia: ArrayLike | None = None,
    shapes: Iterable[Shape] = (),
    density: float | None = None,
    position: ArrayLike = (0.0, 0.0, 0.0),
    orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    visuals: Iterable[Shape] = (),
) -> Body:
    """A validated `Body`.

    Give `mass` (kg), or `density` (kg/m^3) with `shapes`. `inertia` is (3, 3), or (3,) for a diagonal; if
    left out, it is computed from the shapes, whose combined centre of mass must then be the body origin.
    """
    name = identifier(name, "body name")
    what = f"body {name!r}"
    parts = shapes_of(shapes, f"{what}: shapes")
    if any(isinstance(part, Surface) for part in parts):
        raise MechanismError(f"{what}: shapes must be solids; a Surface is only drawn: give it in visuals")
    if mass is not None:
        mass = number(mass, f"{what}: mass", above=0.0)
    if density is not None:
        density = number(density, f"{what}: density", above=0.0)
    if mass is not None and density is not None:
        raise MechanismError(f"{what}: give mass or density, not both")
    if mass is None and density is None:
        raise MechanismError(f"{what}: mass is missing (or density, with shapes)")
    if mass is None and not parts:
        raise MechanismError(f"{what}: density needs shapes; give mass instead")

    if inertia is None and not parts:
        raise MechanismError(f"{what}: neither inertia nor shapes given; one is needed")

    if inertia is None:
        total, com, J = _mass_properties(parts, mass, density, what)
        _check_origin(com, what)
        J = _checked_inertia(J, f"{what}: inertia computed from shapes")
    else:
        total = mass if mass is not None else _mass_properties(parts, None, density, what)[0]
        J = _checked_inertia(inertia, f"{what}: inertia")
    return Body(
        name=name,
        mass=total,
        inertia=read_only(J),
        shapes=parts,
        position=read_only(vector(position, (3,), f"{what}: position")),
        orientation=read_only(unit_quaternion(orientation, f"{what}: orientation")),
        visuals=shapes_of(visuals, f"{what}: visuals"),
    )


def shapes_of(shapes: Any, what: str) -> tuple[Shape, ...]:
    """The shapes of a sequence; MechanismError if it holds anything else."""
    expected = "a sequence of Sphere, Box, Cylinder, Capsule, Hull or Mesh"
    try:
        parts = tuple(shapes)
    except TypeError as cause:
        raise MechanismError(f"{what} must be {expected}, got {show(shapes)}") from cause
    for part in parts:
        if not isinstance(part, Shape):
            raise MechanismError(f"{what} must be {expected}, got {show(part)} in it")
    return parts


def _mass_properties(
    parts: tuple[Shape, ...], mass: float | None, density: float | None, what: str
) -> tuple[float, Array, Array]:
    try:
        return mass_properties(parts, mass, density)
    except MechanismError as cause:
        raise MechanismError(f"{what}: {cause}") from cause


def _check_origin(com: Array, what: str) -> None:
    if np.linalg.norm(com) > _COM_SLACK:
        shift = ", ".join(f"{0.0 - c:.9g}" for c in com)
        raise MechanismError(
            f"{what}: shapes must have their combined centre of mass at the body origin: "
            f"move all of them by ({shift}) m, or give inertia explicitly"
        )


def _checked_inertia(inertia: ArrayLike, what: str) -> Array:
    """The inertia (3, 3), exactly symmetric; an error unless some solid can have it."""
    expected = "finite numbers of shape (3, 3), or (3,) for a diagonal"
    J = numeric(inertia, what, expected)
    if J.shape not in ((3,), (3, 3)) or not np.isfinite(J).all():
        raise MechanismError(f"{what} must be {expected}, got {show(inertia)}")
    if J.shape == (3,):
        J = np.diag(J)
    scale = float(np.abs(J).max())
    unit = J / scale if scale > 0.0 else J  # keeps every number below within range
    if np.abs(unit - unit.T).max() > _SYMMETRY_SLACK:
        raise MechanismError(f"{what} must be symmetric, got {show(J.tolist())}")
    unit = 0.5 * (unit + unit.T)
    moments = np.linalg.eigvalsh(unit).tolist()  # ascending
    principal = ", ".join(f"{scale * moment:.6g}" for moment in moments)
    if not moments[0] > _SMALLEST_RATIO * moments[2]:
        raise MechanismError(f"{what} must be positive definite, but its principal moments are {principal}")
    if moments[0] + moments[1] < moments[2] * (1.0 - _TRIANGLE_SLACK):
        raise MechanismError(
            f"{what} must satisfy the triangle inequality (no principal moment larger than the sum of the "
            f"other two), but its principal moments are {principal}"
        )
    return 0.5 * J + 0.5 * J.T
