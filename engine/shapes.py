"""Solid primitives: they draw a body and give it mass and inertia.

    solid               volume                       unit inertia (mass 1), about its centre
    sphere r            4/3 pi r^3                   2/5 r^2
    box a, b, c         a b c                        (b^2 + c^2)/12, ...
    cylinder r, l       pi r^2 l                     r^2/4 + l^2/12 across, r^2/2 along z
    capsule r, l        pi r^2 l + 4/3 pi r^3        cylinder and two hemispheres, see `Capsule`

Lengths in m, volumes in m^3, unit inertias in m^2.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.engine.errors import MechanismError
from vigym.engine.rotation import rotation_matrix
from vigym.engine.validation import Array, number, numeric, show, unit_quaternion, vector

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Color = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class Shape(ABC):
    """A solid of uniform density, placed in a body frame.

    position: origin of the shape's frame in the body frame (3,), m; the solid's centre, but for hulls and meshes.
    orientation: shape frame to body frame, quaternion (4,), scalar first; normalised.
    color: None, or red, green, blue and optionally opacity, each in [0, 1]; stored with opacity.
    """

    position: Vector3 = (0.0, 0.0, 0.0)
    orientation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    color: Color | None = None

    def __post_init__(self) -> None:
        self._store("position", vector(self.position, (3,), self._what("position")))
        self._store("orientation", unit_quaternion(self.orientation, self._what("orientation")))
        if self.color is not None:
            self._store("color", checked_color(self.color, self._what("color")))
        self._check_sizes()
        self._check_inertia()

    def _check_inertia(self) -> None:
        unit_inertia = self.unit_inertia() if 0.0 < self.volume() < math.inf else np.zeros((3, 3))
        if not (np.isfinite(unit_inertia).all() and unit_inertia.diagonal().min() > 0.0):
            raise MechanismError(f"{self}: size out of range, its volume or inertia overflows or vanishes")

    @abstractmethod
    def _check_sizes(self) -> None:
        """Validate and store the fields that are particular to this kind of solid."""

    @abstractmethod
    def volume(self) -> float:
        """Volume, m^3."""

    @abstractmethod
    def unit_inertia(self) -> Array:
        """Inertia (3, 3) of the solid with mass 1, about its own centre, in its own frame, m^2."""

    def centre(self) -> Array:
        """Centre of mass (3,) in the shape's frame, m."""
        return np.zeros(3)

    def _what(self, field: str) -> str:
        return f"{type(self).__name__}: {field}"

    def _store(self, field: str, value: float | Array) -> None:
        # Tuples instead of arrays: shapes then compare and hash by value.
        stored = tuple(value.tolist()) if isinstance(value, np.ndarray) else value
        object.__setattr__(self, field, stored)  # the dataclass is frozen

    def _store_length(self, field: str) -> None:
        self._store(field, number(getattr(self, field), self._what(field), above=0.0))


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball of the given radius, m."""

    radius: float

    def _check_sizes(self) -> None:
        self._store_length("radius")

    def volume(self) -> float:
        return 4.0 / 3.0 * math.pi * self.radius * self.radius * self.radius

    def unit_inertia(self) -> Array:
        return 0.4 * self.radius * self.radius * np.eye(3)


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid; `size` are its full edge lengths along x, y, z, m."""

    size: Vector3

    def _check_sizes(self) -> None:
        size = vector(self.size, (3,), self._what("size"))
        if not (size > 0.0).all():
            raise MechanismError(f"{self._what('size')} must be three lengths > 0, got {show(self.size)}")
        self._store("size", size)

    def volume(self) -> float:
        return self.size[0] * self.size[1] * self.size[2]

    def unit_inertia(self) -> Array:
        a, b, c = (edge * edge / 12.0 for edge in self.size)
        return np.diag([b + c, a + c, a + b])


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along its z axis, m."""

    radius: float
    length: float

    def _check_sizes(self) -> None:
        self._store_length("radius")
        self._store_length("length")

    def volume(self) -> float:
        return math.pi * self.radius * self.radius * self.length

    def unit_inertia(self) -> Array:
        # r^2/4 across: the paper's published code has r^2/2 there.
        rr, ll = self.radius * self.radius, self.length * self.length
        across = rr / 4.0 + ll / 12.0
        return np.diag([across, across, rr / 2.0])


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along its z axis with a hemisphere on each end; `length` is that of the cylinder alone, m.

    With the share c of the mass in the cylinder and b = 1 - c in the two hemispheres,

        along z   c r^2/2 + b 2/5 r^2
        across    c (r^2/4 + l^2/12) + b (2/5 r^2 + l^2/4 + 3/8 l r)

    where the last bracket is the hemisphere's `2/5 r^2` about the centre of its flat face, moved to its own
    centre of mass (3/8 r further out) and from there to the capsule's centre (parallel axis theorem, twice).
    """

    radius: float
    length: float

    def _check_sizes(self) -> None:
        self._store_length("radius")
        self._store_length("length")

    def volume(self) -> float:
        return math.pi * self.radius * self.radius * (self.length + 4.0 / 3.0 * self.radius)

    def unit_inertia(self) -> Array:
        r, length = self.radius, self.length
        c = length / (length + 4.0 / 3.0 * r)
        b = 1.0 - c
        along = c * r * r / 2.0 + b * 0.4 * r * r
        across = c * (r * r / 4.0 + length * length / 12.0)
        across += b * (0.4 * r * r + length * length / 4.0 + 0.375 * length * r)
        return np.diag([across, across, along])


@dataclass(frozen=True, kw_only=True)
class Plane:
    """A half space that ends at a plane through `position` (3,), m; its free side is along z of `orientation` (4,).

    It has no mass: a collider of the world, or of a body, and nothing to draw but the ground."""

    position: Vector3 = (0.0, 0.0, 0.0)
    orientation: Quaternion = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        position = vector(self.position, (3,), "Plane: position")
        orientation = unit_quaternion(self.orientation, "Plane: orientation")
        object.__setattr__(self, "position", tuple(position.tolist()))
        object.__setattr__(self, "orientation", tuple(orientation.tolist()))


def mass_properties(
    shapes: Sequence[Shape], mass: float | None = None, density: float | None = None
) -> tuple[float, Array, Array]:
    """Mass (kg), centre of mass (3,) in the body frame (m) and inertia (3, 3) of several shapes taken as one.

    The mass is spread over the shapes by volume (uniform density); where shapes overlap, it counts twice.
    Give the total `mass` (kg) or the `density` (kg/m^3). The inertia (kg m^2) is about the combined centre
    of mass, with the axes of the body frame.
    """
    if not shapes:
        raise MechanismError("shapes must hold at least one shape to compute mass properties from")
    if (mass is None) == (density is None):
        raise MechanismError("give mass or density, " + ("one is needed" if mass is None else "not both"))
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is judged at the end
        volumes = np.array([shape.volume() for shape in shapes])
        shares = volumes / volumes.sum()
        if mass is not None:
            total = number(mass, "mass", above=0.0)
        else:
            total = number(density, "density", above=0.0) * float(volumes.sum())
        turns = [rotation_matrix(np.array(shape.orientation)) for shape in shapes]
        positions = np.array([shape.position + R @ shape.centre() for shape, R in zip(shapes, turns, strict=True)])
        com = shares @ positions
        inertia = np.zeros((3, 3))
        for shape, R, m, d in zip(shapes, turns, total * shares, positions - com, strict=True):
            inertia += m * (R @ shape.unit_inertia() @ R.T + (d @ d) * np.eye(3) - np.outer(d, d))
    if not 0.0 < total < math.inf:
        raise MechanismError(f"mass must be a finite number > 0, but density times volume gives {total:g}")
    if not (np.isfinite(com).all() and np.isfinite(inertia).all()):
        raise MechanismError("shapes: sizes or positions out of range, the combined inertia overflows")
    return total, com, inertia


def checked_color(color: Any, what: str) -> Array:
    """Red, green, blue and opacity."""
    expected = "three or four numbers in [0, 1]"
    values = numeric(color, what, expected)
    if values.shape not in ((3,), (4,)) or not ((values >= 0.0) & (values <= 1.0)).all():
        raise MechanismError(f"{what} must be {expected}, got {show(color)}")
    return np.append(values, 1.0)[:4]
