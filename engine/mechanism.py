"""A mechanism: bodies, joints between them, contacts with the ground, gravity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import wraps
from inspect import Parameter, signature
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.body import Body, make_body, shapes_of
from vigym.engine.changes import Changes, lookup
from vigym.engine.collider import Collider, check_couple, make_collider
from vigym.engine.contact import Contact, make_contact
from vigym.engine.coupling import Coupling, in_order, make_coupling
from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD, Joint, make_joint
from vigym.engine.pairing import Pairing, solids
from vigym.engine.shapes import Plane, Shape
from vigym.engine.validation import Array, identifier, read_only, show, vector

Part = TypeVar("Part", Body, Joint, Contact, Collider)
Kind = TypeVar("Kind", bound="Mechanism")
P = ParamSpec("P")


def takes(
    make: Callable[P, Part],
) -> Callable[[Callable[[Mechanism, Part], Part]], Callable[Concatenate[Mechanism, P], Part]]:
    """Give a method that adds a part the arguments, and the documentation, of the function that makes it."""

    def decorate(add: Callable[[Mechanism, Part], Part]) -> Callable[Concatenate[Mechanism, P], Part]:
        parameters = [Parameter("self", Parameter.POSITIONAL_ONLY), *signature(make).parameters.values()]
        known = signature(make).replace(parameters=parameters)

        @wraps(add)
        def method(self: Mechanism, *args: P.args, **kwargs: P.kwargs) -> Part:
            try:
                known.bind(self, *args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{add.__name__}() {error}") from None
            return add(self, make(*args, **kwargs))

        method.__doc__ = make.__doc__
        method.__signature__ = known  # type: ignore[attr-defined]
        return method

    return decorate


class Mechanism(Changes):
    """Bodies, joints, contacts and colliders to be simulated.

    Parts are validated as they are added or replaced; a call that fails changes nothing.

    A body that no joint connects flies freely. Bodies and joints may form kinematic loops.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        self.gravity = gravity
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Joint] = {}
        self._contacts: dict[str, Contact] = {}
        self._pairing = Pairing()
        self._couplings: dict[str, Coupling] = {}
        self._connections: dict[frozenset[str], str] = {}  # {parent, child} -> name of their joint
        self._scenery: tuple[Shape, ...] = ()

    @property
    def gravity(self) -> Array:
        """Acceleration of free fall (3,), world, m/s^2; read-only, but may be assigned as a whole."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = read_only(vector(value, (3,), "gravity"))

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies in the order added."""
        return tuple(self._bodies.values())

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints in the order added."""
        return tuple(self._joints.values())

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """Contacts in the order added."""
        return tuple(self._contacts.values())

    @property
    def colliders(self) -> tuple[Collider, ...]:
        """Colliders in the order added."""
        return tuple(self._pairing.colliders.values())

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """Couplings of joint axes in the order added."""
        return tuple(self._couplings.values())

    @property
    def scenery(self) -> tuple[Shape, ...]:
        """Shapes of the world that are only drawn, in the order added."""
        return self._scenery

    @property
    def couples(self) -> list[tuple[int, int]]:
        """Numbers of the colliders that may touch each other, the one of a body first.

        Not those of one body, nor of the world; nor of two bodies that a joint connects, or that were asked not to. A
        body that a joint leaves free to move in the world touches the shapes of the world."""
        joined = {pair for pair, name in self._connections.items() if self._joints[name].kind != "floating"}
        movable = {pair for pair in joined if WORLD in pair and self._joints[self._connections[pair]].n_free > 0}
        return self._pairing.couples(joined - movable - self._pairing.allowed)

    @property
    def pair_laws(self) -> list[dict[str, float]]:
        """Friction, restitution, compliance and damping that `set_pair` has given to each of `couples`."""
        return self._pairing.own_laws(self.couples)

    @property
    def untouchable(self) -> dict[str, str]:
        """Bodies whose shapes should touch, but are all of kinds that cannot yet; such a kind (a new dict)."""
        return dict(self._pairing.untouchable)

    def body(self, name: str) -> Body:
        """The body of that name."""
        return lookup(self._bodies, name, "body")

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return lookup(self._joints, name, "joint")

    def contact(self, name: str) -> Contact:
        """The contact of that name."""
        return lookup(self._contacts, name, "contact")

    def collider(self, name: str) -> Collider:
        """The collider of that name."""
        return lookup(self._pairing.colliders, name, "collider")

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
        visuals: Iterable[Shape] = (),
        collide: bool = True,
        friction: float = 0.8,
        restitution: float = 0.0,
        compliance: float = 0.0,
        damping: float = 0.0,
        group: int = 1,
        mask: int = -1,
    ) -> Body:
        """Add a rigid body whose frame has its origin at the centre of mass.

        mass: kg; or density: kg/m^3, with shapes.
        inertia: (3, 3), or (3,) for a diagonal, about the centre of mass in the body frame, kg m^2; computed
            from the shapes when left out.
        shapes: solids of the body: they give inertia, are drawn, and touch the solids of others.
        visuals: shapes that are only drawn.
        position, orientation: initial pose in the world, (3,) m and quaternion (4,), scalar first; counts
            only for a body that no joint ties to a parent.
        collide: False lets all shapes pass through others. True makes every Sphere, Capsule, Box, Cylinder and Hull
            among them a collider (see `add_collider`), named as the body; further ones have their number behind it.
        friction ... mask: of these colliders, see `add_collider`.
        """
        body = make_body(name, mass, inertia, shapes, density, position, orientation, visuals)
        if body.name == WORLD:
            raise MechanismError(f"body name {WORLD!r} is reserved for the fixed world; choose another")
        _check_new(self._bodies, body.name, "body")
        law = {"friction": friction, "restitution": restitution, "compliance": compliance, "damping": damping}
        options = solids(collide, law, group, mask, f"body {body.name!r}")
        self._pairing.set_solids(body.name, body.shapes, options)
        self._bodies[body.name] = body
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
        no_load_speed: ArrayLike = np.inf,
        armature: ArrayLike = 0.0,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        velocity_limit: ArrayLike = np.inf,
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
            no_load_speed=no_load_speed,
            armature=armature,
            lower=lower,
            upper=upper,
            velocity_limit=velocity_limit,
            friction=friction,
            **({} if start is None else {"start": start}),
        )
        _check_new(self._joints, joint.name, "joint")
        self._check_ends(joint)
        self._joints[joint.name] = joint
        self._connections[frozenset((joint.parent, joint.child))] = joint.name
        return joint

    def add_coupling(
        self,
        name: str,
        follower: str,
        leader: str | Sequence[str],
        ratio: ArrayLike = 1.0,
        offset: float = 0.0,
        *,
        polynomial: ArrayLike | None = None,
    ) -> Coupling:
        """Let the position of one joint axis follow that of another: follower = ratio leader + offset, without drift.

        follower, leader: names of joints with one free axis, or of axes as in `Simulator.axis_names`. Several leaders
            make a differential: follower = sum of ratios times leaders + offset, with a ratio for each.
        ratio: m or rad of the follower per m or rad of the leader; offset: m or rad.
        polynomial: instead of both, up to five coefficients: c0 + c1 leader + ... + c4 leader^4.

        What acts on either axis acts on both: a gear of ratio r turns an effort on the leader into 1/r of it on the
        follower, and the follower's inertia into r^2 of it at the leader.
        """
        _check_new(self._couplings, identifier(name, "coupling name"), "coupling")
        coupling = make_coupling(name, follower, leader, ratio, offset, polynomial=polynomial, joints=self._joints)
        in_order([*self.couplings, coupling])
        self._couplings[coupling.name] = coupling
        return coupling

    @takes(make_contact)
    def add_contact(self, contact: Contact) -> Contact:
        _check_new(self._contacts, contact.name, "contact")
        self._check_body(contact.body, f"contact {contact.name!r}: body")
        self._contacts[contact.name] = contact
        return contact

    @takes(make_collider)
    def add_collider(self, collider: Collider) -> Collider:
        if collider.body != WORLD:
            self._check_body(collider.body, f"collider {collider.name!r}: body")
        self._pairing.add(collider)
        return collider

    def add_ground(
        self,
        friction: float = 0.8,
        name: str = "ground",
        *,
        restitution: float = 0.0,
        compliance: float = 0.0,
        damping: float = 0.0,
        group: int = 1,
        mask: int = -1,
    ) -> Collider:
        """Let all colliders touch the plane z = 0, from above; options as in `add_collider`."""
        law = {"restitution": restitution, "compliance": compliance, "damping": damping}
        return self.add_collider(name, WORLD, Plane(), friction=friction, **law, group=group, mask=mask)

    def add_scenery(self, shapes: Iterable[Shape]) -> None:
        """Draw shapes that stand in the world and touch nothing, such as the base of an arm."""
        self._scenery += shapes_of(shapes, "add_scenery: shapes")

    def ignore_contact(self, first: str, second: str) -> None:
        """Let two pass through each other: names of bodies or "world", which mean all their colliders, or of
        colliders."""
        self._pairing.ignore(self._pairing.names(first, second, (WORLD, *self._bodies), "ignore_contact"))

    def allow_contact(self, first: str, second: str) -> None:
        """Let two bodies touch that a joint connects, or a body and the "world" to which a joint ties it."""
        for name in (first, second):
            if name != WORLD:
                self._check_body(name, "allow_contact:")
        self._pairing.allowed.add(frozenset((first, second)))

    def ignore_colliders(self, first: str, second: str) -> None:
        """Let two colliders pass through each other, by their names, but not the others of their bodies."""
        self._pairing.ignore(self._pairing.names(first, second, (), "ignore_colliders"))

    def set_pair(
        self,
        first: str,
        second: str,
        *,
        friction: float | None = None,
        restitution: float | None = None,
        compliance: float | None = None,
        damping: float | None = None,
    ) -> None:
        """Give two colliders numbers of their own, instead of those that follow from both (see `add_collider`).

        first, second: names of bodies or "world", which mean all their colliders, also later ones, or of colliders.
        What is None stays as it is. Where several calls mean the same two, the last one counts.
        """
        what = f"set_pair({show(first)}, {show(second)})"
        names = self._pairing.names(first, second, (WORLD, *self._bodies), what)
        law = {"friction": friction, "restitution": restitution, "compliance": compliance, "damping": damping}
        self._pairing.set_law(names, law, what)

    def validate(self) -> None:
        """Raise MechanismError if there is no body, or if two colliders touch that cannot; all else was checked when it
        was added."""
        if not self._bodies:
            raise MechanismError("the mechanism has no bodies; add at least one with add_body")
        for first, second in self.couples:
            check_couple(self.colliders[first], self.colliders[second])

    def copy(self: Kind) -> Kind:
        """An independent mechanism with the same parts (which are immutable, hence shared)."""
        other = copy(self)  # with whatever else a subclass has
        for name in ("_bodies", "_joints", "_contacts", "_couplings", "_connections"):
            setattr(other, name, dict(getattr(self, name)))
        other._pairing = self._pairing.copy()
        return other

    def __repr__(self) -> str:
        counts = f"{len(self._bodies)} bodies, {len(self._joints)} joints, {len(self._contacts)} contacts"
        return f"<Mechanism: {counts}>"


def _check_new(parts: Mapping[str, object], name: str, category: str) -> None:
    if name in parts:
        raise MechanismError(f"{category} {name!r} exists already; names must be unique")
