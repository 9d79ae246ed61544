"""A mechanism: bodies, joints between them, contacts with the ground, gravity."""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import wraps
from inspect import Parameter, signature
from itertools import repeat
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.body import Body, make_body
from vigym.engine.collider import Collider, make_collider
from vigym.engine.contact import Contact, make_contact
from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD, Joint, make_joint
from vigym.engine.shapes import Plane, Shape
from vigym.engine.validation import Array, flag, identifier, read_only, show, suggestion, vector

Part = TypeVar("Part", Body, Joint, Contact, Collider)
Kind = TypeVar("Kind", bound="Mechanism")
P = ParamSpec("P")


def takes(
    make: Callable[P, Part],
) -> Callable[[Callable[["Mechanism", Part], Part]], Callable[Concatenate["Mechanism", P], Part]]:
    """Give a method that adds a part the arguments, and the documentation, of the function that makes it."""

    def decorate(add: Callable[["Mechanism", Part], Part]) -> Callable[Concatenate["Mechanism", P], Part]:
        parameters = [Parameter("self", Parameter.POSITIONAL_ONLY), *signature(make).parameters.values()]
        known = signature(make).replace(parameters=parameters)

        @wraps(add)
        def method(self: "Mechanism", *args: P.args, **kwargs: P.kwargs) -> Part:
            try:
                known.bind(self, *args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{add.__name__}() {error}") from None
            return add(self, make(*args, **kwargs))

        method.__doc__ = make.__doc__
        method.__signature__ = known  # type: ignore[attr-defined]
        return method

    return decorate


class Mechanism:
    """What is simulated. Parts are validated as they are added; an `add_...` that fails changes nothing.

    A body that no joint connects flies freely. Bodies and joints may form kinematic loops.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        self.gravity = gravity
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Joint] = {}
        self._contacts: dict[str, Contact] = {}
        self._colliders: dict[str, Collider] = {}
        self._ignored: set[frozenset[str]] = set()  # pairs of bodies that do not touch
        self._connections: dict[frozenset[str], str] = {}  # {parent, child} -> name of their joint

    @property
    def gravity(self) -> Array:
        """Acceleration of free fall (3,), world, m/s^2; read-only, but may be assigned as a whole."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = read_only(vector(value, (3,), "gravity"))

    @property
    def bodies(self) -> list[Body]:
        """Bodies in the order added (a new list)."""
        return list(self._bodies.values())

    @property
    def joints(self) -> list[Joint]:
        """Joints in the order added (a new list)."""
        return list(self._joints.values())

    @property
    def contacts(self) -> list[Contact]:
        """Contacts in the order added (a new list)."""
        return list(self._contacts.values())

    @property
    def colliders(self) -> list[Collider]:
        """Colliders in the order added (a new list)."""
        return list(self._colliders.values())

    @property
    def couples(self) -> list[tuple[int, int]]:
        """Numbers of the colliders that may touch each other, the one of a body first.

        Not those of one body, nor of the world; nor of two bodies that a joint connects, or that were asked not to."""
        found, colliders = [], self.colliders
        for i, a in enumerate(colliders):
            for j, b in enumerate(colliders[:i]):
                pair = frozenset((a.body, b.body))
                apart = len(pair) == 2 and pair not in self._connections and pair not in self._ignored
                planes = isinstance(a.shape, Plane) and isinstance(b.shape, Plane)
                if apart and not planes and a.meets(b):
                    found.append((i, j) if b.body == WORLD else (j, i))
        return sorted(found)

    def body(self, name: str) -> Body:
        """The body of that name."""
        return _lookup(self._bodies, name, "body")

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return _lookup(self._joints, name, "joint")

    def contact(self, name: str) -> Contact:
        """The contact of that name."""
        return _lookup(self._contacts, name, "contact")

    def add_body(
        self,
        name: str,
        mass: float | None = None,
        inertia: ArrayLike | None = None,
        shapes: Iterable[Shape] = (),
        density: float | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        *,
        collide: bool = False,
        friction: float = 0.8,
    ) -> Body:
        """Add a rigid body whose frame has its origin at the centre of mass.

        mass: kg; or density: kg/m^3, with shapes.
        inertia: (3, 3), or (3,) for a diagonal, about the centre of mass in the body frame, kg m^2; computed
            from the shapes when left out.
        position, orientation: initial pose in the world, (3,) m and quaternion (4,), scalar first; counts
            only for a body that no joint ties to a parent.
        collide: make every shape a collider (`add_collider`) with this friction, named as the body; further ones
            have their number behind it.
        """
        body = make_body(name, mass, inertia, shapes, density, position, orientation)
        if body.name == WORLD:
            raise MechanismError(f"body name {WORLD!r} is reserved for the fixed world; choose another")
        _check_new(self._bodies, body.name, "body")
        colliders = []
        if flag(collide, f"body {body.name!r}: collide"):
            names = [body.name if k == 0 else f"{body.name} {k}" for k in range(len(body.shapes))]
            colliders = [make_collider(*part, friction=friction) for part in zip(names, repeat(name), body.shapes)]
            for collider in colliders:
                _check_new(self._colliders, collider.name, "collider")
        self._bodies[body.name] = body
        self._colliders |= {collider.name: collider for collider in colliders}
        return body

    def add_joint(
        self,
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
        stiffness: ArrayLike = 0.0,
        rest: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
        kp: ArrayLike = 0.0,
        kd: ArrayLike = 0.0,
        target: ArrayLike = 0.0,
        target_velocity: ArrayLike = 0.0,
        effort_limit: ArrayLike = np.inf,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        friction: ArrayLike = 0.0,
        start: ArrayLike | None = None,
    ) -> Joint:
        """Connect two bodies that were added before, or a body (the child) to "world" (the parent).

        kind: fixed, revolute, prismatic, cylindrical, planar, universal, spherical, floating, or custom with
            `constrained` (six booleans).
        axis: (3,) in the joint frame, which is the child's frame at zero coordinates: the line of the free
            motion, the normal of a planar joint, the first axis of a universal one; axis2: its second.
        parent_anchor, child_anchor: (3,) the points that the joint brings together, in the parent's (or the
            world's) and in the child's frame, m.
        orientation: (4,) of the child in the parent frame at zero coordinates, scalar first.
        stiffness ... start: scalars, or one value per free axis, translations first; see `Joint`.
        """
        joint = make_joint(
            name,
            kind,
            parent,
            child,
            axis=axis,
            axis2=axis2,
            parent_anchor=parent_anchor,
            child_anchor=child_anchor,
            orientation=orientation,
            constrained=constrained,
            stiffness=stiffness,
            rest=rest,
            damping=damping,
            kp=kp,
            kd=kd,
            target=target,
            target_velocity=target_velocity,
            effort_limit=effort_limit,
            lower=lower,
            upper=upper,
            friction=friction,
            **({} if start is None else {"start": start}),
        )
        what = f"joint {joint.name!r}"
        _check_new(self._joints, joint.name, "joint")
        if joint.parent != WORLD:
            self._check_body(joint.parent, f"{what}: parent")
        self._check_body(joint.child, f"{what}: child")
        pair = frozenset((joint.parent, joint.child))
        if pair in self._connections:
            raise MechanismError(
                f"{what}: {joint.parent!r} and {joint.child!r} would be doubly connected, joint "
                f"{self._connections[pair]!r} connects them already; merge them into one joint"
            )
        self._joints[joint.name] = joint
        self._connections[pair] = joint.name
        return joint

    @takes(make_contact)
    def add_contact(self, contact: Contact) -> Contact:
        _check_new(self._contacts, contact.name, "contact")
        self._check_body(contact.body, f"contact {contact.name!r}: body")
        self._contacts[contact.name] = contact
        return contact

    @takes(make_collider)
    def add_collider(self, collider: Collider) -> Collider:
        _check_new(self._colliders, collider.name, "collider")
        if collider.body != WORLD:
            self._check_body(collider.body, f"collider {collider.name!r}: body")
        self._colliders[collider.name] = collider
        return collider

    def add_ground(self, friction: float = 0.8, name: str = "ground") -> Collider:
        """Let all colliders touch the plane z = 0, from above."""
        return self.add_collider(name, WORLD, Plane(), friction=friction)

    def ignore_contact(self, first: str, second: str) -> None:
        """Let the colliders of two bodies (or of one and the "world") pass through each other."""
        for what, name in (("first", first), ("second", second)):
            if identifier(name, f"ignore_contact: {what}") != WORLD:
                self._check_body(name, f"ignore_contact: {what}")
        self._ignored.add(frozenset((first, second)))

    def validate(self) -> None:
        """Raise MechanismError if there is no body; all else was checked when it was added."""
        if not self._bodies:
            raise MechanismError("the mechanism has no bodies; add at least one with add_body")

    def copy(self: Kind) -> Kind:
        """An independent mechanism with the same parts (which are immutable, hence shared)."""
        other = copy(self)  # with whatever else a subclass has
        for name in ("_bodies", "_joints", "_contacts", "_connections", "_colliders"):
            setattr(other, name, dict(getattr(self, name)))
        other._ignored = set(self._ignored)
        return other

    def __repr__(self) -> str:
        counts = f"{len(self._bodies)} bodies, {len(self._joints)} joints, {len(self._contacts)} contacts"
        return f"<Mechanism: {counts}>"

    def _check_body(self, name: str, what: str) -> None:
        if name not in self._bodies:
            hint = suggestion(name, self._bodies)
            raise MechanismError(f"{what} {name!r} is unknown, add the body first; {hint}")


def _lookup(parts: Mapping[str, Part], name: str, category: str) -> Part:
    if not isinstance(name, str):
        raise MechanismError(f"{category} name must be a string, got {show(name)}")
    if name not in parts:
        raise MechanismError(f"{category} {name!r} is unknown; {suggestion(name, parts)}")
    return parts[name]


def _check_new(parts: Mapping[str, object], name: str, category: str) -> None:
    if name in parts:
        raise MechanismError(f"{category} {name!r} exists already; names must be unique")
