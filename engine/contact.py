"""A contact: a point or sphere on a body against a plane that is fixed in the world."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD, orthonormal_basis
from vigym.engine.validation import Array, identifier, number, read_only, sliding_friction, unit_vector, vector

LEVEL = (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0)  # normal and tangents of a horizontal plane


@dataclass(frozen=True, eq=False)
class Contact:
    """A sphere of `radius` around `point` that stays above a plane. Arrays are read-only.

    With the pose x, R of the body, the gap is

        phi = normal . (x + R point) - offset - radius >= 0

    name: unique among the contacts.
    body: name of the body that carries it.
    point: (3,) in the body frame, m.
    radius: m; 0 is a point.
    friction: Coulomb coefficient cf.
    restitution: impulse of the rebound over that of the impact, 0 to 1; for a ball, speed after it over that before. It
        is lowered where an impact would create energy; what falls for less than two steps does not bounce.
    compliance: m/N; 0 is hard. Otherwise the gap may be negative, and a spring of stiffness 1/compliance acts there.
    damping: N s/m, of a contact with compliance.
    normal: (3,) in the world frame, unit, out of the ground.
    offset: m; the plane is normal . p = offset.
    tangents: (2, 3) rows t1, t2 in the world frame; t1, t2, normal are orthonormal and right-handed.
    """

    name: str
    body: str
    point: Array
    radius: float
    friction: float
    normal: Array
    offset: float
    tangents: Array
    restitution: float = 0.0
    compliance: float = 0.0
    damping: float = 0.0

    @property
    def kind(self) -> str:
        """Its row in the table of kernels/geometry: planes that are level need less arithmetic than others."""
        axes = (*self.normal.tolist(), *self.tangents.ravel().tolist())
        return "level plane" if axes == LEVEL else "plane"


def make_contact(
    name: str,
    body: str,
    point: ArrayLike = (0.0, 0.0, 0.0),
    *,
    radius: float = 0.0,
    friction: float = 0.8,
    normal: ArrayLike = (0.0, 0.0, 1.0),
    offset: float = 0.0,
    restitution: float = 0.0,
    compliance: float = 0.0,
    damping: float = 0.0,
) -> Contact:
    """Keep a point of a body, or a sphere around it, above the plane `normal . p = offset`.

    point: (3,) in the frame of the body, which was added before, m. radius: m.
    friction: Coulomb coefficient. normal: (3,) world, towards the free side. offset: m.
    restitution: impulse of the rebound over that of the impact, 0 to 1; for a ball, speed after it over that before.
    compliance: m/N; a contact is hard unless it has one, and then gives way, as a spring of stiffness 1/compliance
    with this damping (N s/m) does.
    """
    name = identifier(name, "contact name")
    what = f"contact {name!r}"
    body = identifier(body, f"{what}: body")
    if body == WORLD:
        raise MechanismError(f"{what}: body must be a body of the mechanism, not the world")
    basis = orthonormal_basis(unit_vector(normal, f"{what}: normal"))
    restitution = number(restitution, f"{what}: restitution", at_least=0.0)
    if restitution > 1.0:
        raise MechanismError(f"{what}: restitution must be at most 1, got {restitution:g}: bodies do not gain speed")
    compliance = number(compliance, f"{what}: compliance", at_least=0.0)
    damping = number(damping, f"{what}: damping", at_least=0.0)
    if damping > 0 and not compliance:
        raise MechanismError(f"{what}: damping has no effect on a hard contact; give it a compliance > 0")
    if restitution > 0 and compliance > 0:
        raise MechanismError(f"{what}: a soft contact rebounds by its compliance and damping; leave restitution out")
    return Contact(
        name=name,
        body=body,
        point=read_only(vector(point, (3,), f"{what}: point")),
        radius=number(radius, f"{what}: radius", at_least=0.0),
        friction=sliding_friction(friction, f"{what}: friction"),
        normal=read_only(basis[2]),
        offset=number(offset, f"{what}: offset"),
        tangents=read_only(basis[:2]),
        restitution=restitution,
        compliance=compliance,
        damping=damping,
    )
