"""A collider: a solid of a body, or of the world, that touches others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vigym.engine.errors import MechanismError
from vigym.engine.height_field import HeightField
from vigym.engine.hulls import check_corners, middle, polytope_of
from vigym.engine.joint import WORLD
from vigym.engine.polyhedra import Hull, Mesh, check_areas
from vigym.engine.rotation import rotation_matrix
from vigym.engine.shapes import Box, Capsule, Cylinder, Plane, Shape, Sphere
from vigym.engine.validation import Array, identifier, number, show, sliding_friction

KINDS = (
    Sphere,
    Capsule,
    Box,
    Plane,
    Cylinder,
    Hull,
    HeightField,
    Mesh,
)  # their numbers in the kernels, collision/space.py
GROUNDS = (HeightField, Mesh)  # of triangles; of the world alone
ON_GROUND = (Sphere, Capsule, Box, Hull)  # kinds that touch it
LAW = ("friction", "restitution", "compliance", "damping")  # numbers that two colliders share


class PairLaw(NamedTuple):
    """Numbers of two colliders that touch: friction, restitution, compliance in m/N, damping in N s/m."""

    friction: float
    restitution: float
    compliance: float
    damping: float


@dataclass(frozen=True, eq=False)
class Collider:
    """A shape that other colliders cannot pass.

    name: unique among the colliders.
    body: name of the body that carries it, or "world".
    shape: Sphere, Capsule, Box, Cylinder, Hull or Plane, placed in the body's frame; of the world, also a HeightField
        or a Mesh.
    friction: Coulomb coefficient; that of two is the square root of their product.
    restitution: impulse of the rebound over that of the impact, 0 to 1; that of two is the larger one.
    compliance, damping: as of contacts with the ground; that of two is the sum, and the larger one.
    group, mask: two colliders touch if the group of each has a bit in common with the mask of the other.
    """

    name: str
    body: str
    shape: Shape | Plane | HeightField
    friction: float = 0.8
    restitution: float = 0.0
    compliance: float = 0.0
    damping: float = 0.0
    group: int = 1
    mask: int = -1

    @property
    def kind(self) -> int:
        """The number of its kind of shape."""
        return [isinstance(self.shape, kind) for kind in KINDS].index(True)

    @property
    def rotation(self) -> Array:
        """Shape frame to body frame (3, 3)."""
        return rotation_matrix(np.array(self.shape.orientation))

    @cached_property
    def place(self) -> Array:
        """Centre of the solid in the body's frame (3,), m; of a hull, the middle of the box around it."""
        position = np.array(self.shape.position)
        return position + self.rotation @ middle(self.shape) if isinstance(self.shape, Hull) else position

    @cached_property
    def size(self) -> tuple[float, float, float, float]:
        """Half lengths of the core, of a hull half its thickness, and the radius around it, m."""
        match self.shape:
            case Sphere(radius=radius):
                return 0.0, 0.0, 0.0, radius
            case Capsule(radius=radius, length=length):
                return 0.0, 0.0, 0.5 * length, radius
            case Box(size=(a, b, c)):
                return 0.5 * a, 0.5 * b, 0.5 * c, 0.0
            case Cylinder(radius=radius, length=length):
                return radius, radius, 0.5 * length, 0.0
            case Hull():
                half = 0.5 * polytope_of(self.shape).thickness
                return half, half, half, 0.0
        return 0.0, 0.0, 0.0, 0.0

    @property
    def span(self) -> float:
        """Largest distance of its points from the origin of the body's frame, m."""
        return float(np.linalg.norm(self.place)) + self.bound

    @cached_property
    def bound(self) -> float:
        """Radius of a ball around its centre that holds it, m."""
        *half, radius = self.size
        if isinstance(self.shape, Cylinder):
            return float(np.hypot(half[0], half[2]))
        if isinstance(self.shape, Hull):
            return float(np.linalg.norm(np.array(self.shape.points) - middle(self.shape), axis=1).max())
        return float(np.linalg.norm(half)) + radius


def make_collider(
    name: str,
    body: str,
    shape: Shape | Plane | HeightField,
    *,
    friction: float = 0.8,
    restitution: float = 0.0,
    compliance: float = 0.0,
    damping: float = 0.0,
    group: int = 1,
    mask: int = -1,
) -> Collider:
    """Let a shape of a body, or of the "world", touch those of others.

    shape: Sphere, Capsule, Box, Cylinder, Hull or Plane, placed in the frame of the body, which was added before; of
        the world, also a HeightField or a Mesh.
    friction: Coulomb coefficient; two colliders have the square root of the product of theirs.
    restitution: impulse of the rebound over that of the impact, 0 to 1; two have the larger one.
    compliance: m/N, damping: N s/m: of colliders that give way; two have the sum, and the larger damping.
    group, mask: bits; two touch if the group of each has a bit in common with the mask of the other.
    """
    name = identifier(name, "collider name")
    what = f"collider {name!r}"
    if not isinstance(shape, KINDS):
        kinds = ", ".join(kind.__name__ for kind in KINDS[:-1])
        raise MechanismError(f"{what}: shape must be a {kinds} or {KINDS[-1].__name__}, got {show(shape)}")
    if isinstance(shape, GROUNDS) and body != WORLD:
        instead = "; Hulls of its convex parts can move" if isinstance(shape, Mesh) else ""
        raise MechanismError(
            f"{what}: a {type(shape).__name__} is ground of the {WORLD!r}, body must be that, got {show(body)}{instead}"
        )
    if isinstance(shape, Hull):
        check_corners(shape, what)
    if isinstance(shape, Mesh):
        check_areas(shape, what)
    law = checked_law(
        {"friction": friction, "restitution": restitution, "compliance": compliance, "damping": damping}, what
    )
    return Collider(
        name=name,
        body=identifier(body, f"{what}: body"),
        shape=shape,
        **law,
        group=bits(group, f"{what}: group"),
        mask=bits(mask, f"{what}: mask"),
    )


def check_couple(a: Collider, b: Collider) -> None:
    """Raise MechanismError if a touches ground b that its shape cannot touch."""
    if isinstance(b.shape, GROUNDS) and not isinstance(a.shape, ON_GROUND):
        kinds = ", ".join(kind.__name__ for kind in ON_GROUND)
        raise MechanismError(
            f"collider {a.name!r}, a {type(a.shape).__name__}, cannot touch {b.name!r}, a {type(b.shape).__name__}, "
            f"which {kinds} can; ignore_contact({a.name!r}, {b.name!r}) leaves it out"
        )


def checked_law(given: Mapping[str, object], what: str) -> dict[str, float]:
    """Numbers of LAW that were given, checked."""
    law = {name: number(value, f"{what}: {name}", at_least=0.0) for name, value in given.items() if name != "friction"}
    if "friction" in given:
        law["friction"] = sliding_friction(given["friction"], f"{what}: friction")
    if law.get("restitution", 0.0) > 1.0:
        raise MechanismError(
            f"{what}: restitution must be at most 1, got {law['restitution']:g}: bodies do not gain speed"
        )
    if law.get("restitution", 0.0) > 0.0 and law.get("compliance", 0.0) > 0.0:
        raise MechanismError(f"{what}: a soft collider rebounds by its compliance and damping; leave restitution out")
    return law


def pair_law(a: Collider, b: Collider, own: Mapping[str, float]) -> PairLaw:
    """Law of two colliders: numbers of `own` where it has them, else those of both by the rules of `Collider`.

    What is soft rebounds by its compliance, so it has no restitution."""
    rules = {
        "friction": (a.friction * b.friction) ** 0.5,
        "restitution": max(a.restitution, b.restitution),
        "compliance": a.compliance + b.compliance,
        "damping": max(a.damping, b.damping),
    }
    law = PairLaw(**(rules | dict(own)))
    return law._replace(restitution=0.0) if law.compliance > 0.0 else law


def has_rims(colliders: Sequence[Collider], couples: Iterable[tuple[int, int]]) -> bool:
    """Tell if cylinders are among the couples."""
    return any(isinstance(colliders[k].shape, Cylinder) for couple in couples for k in couple)


def bits(value: int, what: str) -> int:
    """A group or mask, checked."""
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise MechanismError(f"{what} must be an integer of 64 bits, got {show(value)}")
    return value
