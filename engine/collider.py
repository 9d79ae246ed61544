"""A collider: a solid of a body, or of the world, that touches others."""

from dataclasses import dataclass

import numpy as np

from vigym.engine.errors import MechanismError
from vigym.engine.rotation import rotation_matrix
from vigym.engine.shapes import Box, Capsule, Plane, Shape, Sphere
from vigym.engine.validation import Array, identifier, number, show

KINDS = (Sphere, Capsule, Box, Plane)  # their numbers in the kernels, collision/space.py


@dataclass(frozen=True, eq=False)
class Collider:
    """A shape that other colliders cannot pass.

    name: unique among the colliders.
    body: name of the body that carries it, or "world".
    shape: Sphere, Capsule, Box or Plane, placed in the body's frame.
    friction: Coulomb coefficient; that of two is the square root of their product.
    restitution: as of contacts with the ground; that of two is the larger one.
    compliance, damping: as of contacts with the ground; that of two is the sum, and the larger one.
    group, mask: two colliders touch if the group of each has a bit in common with the mask of the other.
    """

    name: str
    body: str
    shape: Shape | Plane
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

    @property
    def size(self) -> tuple[float, float, float, float]:
        """Half lengths of the core, and the radius around it, m."""
        match self.shape:
            case Sphere(radius=radius):
                return 0.0, 0.0, 0.0, radius
            case Capsule(radius=radius, length=length):
                return 0.0, 0.0, 0.5 * length, radius
            case Box(size=(a, b, c)):
                return 0.5 * a, 0.5 * b, 0.5 * c, 0.0
        return 0.0, 0.0, 0.0, 0.0

    @property
    def bound(self) -> float:
        """Radius of a ball around its centre that holds it, m."""
        *half, radius = self.size
        return float(np.linalg.norm(half)) + radius

    def meets(self, other: "Collider") -> bool:
        """True if groups and masks let the two touch."""
        return bool(self.group & other.mask) and bool(other.group & self.mask)


def make_collider(
    name: str,
    body: str,
    shape: Shape | Plane,
    *,
    friction: float = 0.8,
    restitution: float = 0.0,
    compliance: float = 0.0,
    damping: float = 0.0,
    group: int = 1,
    mask: int = -1,
) -> Collider:
    """Let a shape of a body, or of the "world", touch those of others.

    shape: Sphere, Capsule, Box or Plane, placed in the frame of the body, which was added before.
    friction: Coulomb coefficient; two colliders have the square root of the product of theirs.
    restitution: impulse of a rebound over that of the impact, 0 to 1; two colliders have the larger one.
    compliance: m/N, damping: N s/m: of colliders that give way; two have the sum, and the larger damping.
    group, mask: bits; two touch if the group of each has a bit in common with the mask of the other.
    """
    name = identifier(name, "collider name")
    what = f"collider {name!r}"
    if not isinstance(shape, KINDS):
        raise MechanismError(f"{what}: shape must be a Sphere, Capsule, Box or Plane, got {show(shape)}")
    for bits, given in (("group", group), ("mask", mask)):
        if type(given) is not int:
            raise MechanismError(f"{what}: {bits} must be an integer, got {show(given)}")
    restitution = number(restitution, f"{what}: restitution", at_least=0.0)
    compliance = number(compliance, f"{what}: compliance", at_least=0.0)
    if restitution > 1.0:
        raise MechanismError(f"{what}: restitution must be at most 1, got {restitution:g}: bodies do not gain speed")
    if restitution > 0.0 and compliance > 0.0:
        raise MechanismError(f"{what}: a soft collider rebounds by its compliance and damping; leave restitution out")
    return Collider(
        name=name,
        body=identifier(body, f"{what}: body"),
        shape=shape,
        friction=number(friction, f"{what}: friction", at_least=0.0),
        restitution=restitution,
        compliance=compliance,
        damping=number(damping, f"{what}: damping", at_least=0.0),
        group=group,
        mask=mask,
    )
