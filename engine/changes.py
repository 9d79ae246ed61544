"""Changes of a mechanism before it is simulated: parts replaced, drives set, another mechanism merged in."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import ArrayLike

from vigym.engine.body import Body, make_body
from vigym.engine.collider import Collider, make_collider
from vigym.engine.contact import Contact, make_contact
from vigym.engine.coupling import Coupling, check_axis
from vigym.engine.errors import MechanismError
from vigym.engine.joint import WORLD, Joint, make_joint
from vigym.engine.merging import Move
from vigym.engine.pairing import Pairing, solids
from vigym.engine.replacement import changed_body, changed_collider, changed_contact, changed_joint, check_known
from vigym.engine.shapes import Shape
from vigym.engine.validation import Array, show, suggestion, unit_quaternion, vector

if TYPE_CHECKING:
    from vigym.engine.mechanism import Mechanism

Part = TypeVar("Part", Body, Joint, Contact, Collider)


class Changes:
    """Methods of a `Mechanism` that change what was added. One that raises leaves the mechanism as it was."""

    _bodies: dict[str, Body]
    _joints: dict[str, Joint]
    _contacts: dict[str, Contact]
    _couplings: dict[str, Coupling]
    _scenery: tuple[Shape, ...]
    _connections: dict[frozenset[str], str]
    _pairing: Pairing
    _gravity: Array

    def replace_joint(self, name: str, **changed: Any) -> Joint:
        """Give a joint other arguments of `add_joint`: `m.replace_joint("elbow", damping=0.1)`; the rest stays.

        Where another `kind` has another number of free axes, options that differ between axes must be given anew.
        """
        old = lookup(self._joints, name, "joint")
        check_known("replace_joint", make_joint, changed)
        joint = changed_joint(old, changed)
        self._check_ends(joint)
        for coupling in self._couplings.values():
            for axis in coupling.axes:
                if axis.joint == name:
                    check_axis(joint, axis, f"coupling {coupling.name!r}")
        self._joints[name] = joint
        del self._connections[frozenset((old.parent, old.child))]
        self._connections[frozenset((joint.parent, joint.child))] = name
        return joint

    def set_drive(
        self,
        joint: str,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        effort_limit: ArrayLike | None = None,
        no_load_speed: ArrayLike | None = None,
    ) -> Joint:
        """Put a PD drive on a joint, or change it: numbers, or one per free axis; what is None stays as it is.

        kp: N/m or N m/rad. kd: N s/m or N m s/rad. effort_limit: N or N m. no_load_speed: m/s or rad/s, at which a
        motor whose stall effort is effort_limit has none left (see `Joint`). `step(target=...)` moves it.
        """
        given = {"kp": kp, "kd": kd, "effort_limit": effort_limit, "no_load_speed": no_load_speed}
        return self.replace_joint(joint, **{name: value for name, value in given.items() if value is not None})

    def replace_body(self, name: str, **changed: Any) -> Body:
        """Give a body other arguments of `add_body`: `m.replace_body("cube", mass=0.5)`; the rest stays.

        An inertia that was computed from the shapes is computed again; one that was given stays. Colliders that were
        made of the shapes are made anew if `shapes`, `collide`, or one of their options changes.
        """
        old, before = lookup(self._bodies, name, "body"), self._pairing.solids[name]
        options: dict[str, Any] = {"collide": before.collide, **before.options}
        check_known("replace_body", make_body, changed, options)
        own = {key: value for key, value in changed.items() if key not in options}
        body = changed_body(old, own)
        if changed.keys() & {"shapes", *options}:
            options |= changed
            law = {key: options[key] for key in ("friction", "restitution", "compliance", "damping")}
            made = solids(options["collide"], law, options["group"], options["mask"], f"body {name!r}")
            self._pairing.set_solids(name, body.shapes, made)
        self._bodies[name] = body
        return body

    def replace_contact(self, name: str, **changed: Any) -> Contact:
        """Give a contact other arguments of `add_contact`: `m.replace_contact("foot", friction=1.0)`."""
        old = lookup(self._contacts, name, "contact")
        check_known("replace_contact", make_contact, changed)
        contact = changed_contact(old, changed)
        self._check_body(contact.body, f"contact {name!r}: body")
        self._contacts[name] = contact
        return contact

    def replace_collider(self, name: str, **changed: Any) -> Collider:
        """Give a collider other arguments of `add_collider`: `m.replace_collider("ground", friction=1.0)`."""
        old = lookup(self._pairing.colliders, name, "collider")
        check_known("replace_collider", make_collider, changed)
        collider = changed_collider(old, changed)
        if collider.body != WORLD:
            self._check_body(collider.body, f"collider {name!r}: body")
        self._pairing.colliders[name] = collider
        return collider

    def merge(
        self,
        other: "Mechanism",
        prefix: str = "",
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ) -> None:
        """Add all parts of another mechanism, with `prefix` before their names, placed in this one's world.

        position, orientation: (3,) m and (4,) scalar first, of the other's world in this one. Bodies start there,
            joints to the world, colliders and scenery of the other's world move with it. The planes of `add_contact`
            stay where they are: the ground is that of this world, as for `load_urdf(position=...)`.

        What was said of pairs of colliders (`set_pair`, `ignore_contact`, `allow_contact`) holds here too; where it
        was said of the other's "world", it holds for this one. Gravity must be the same in both.
        """
        if not isinstance(other, Changes):
            raise MechanismError(f"merge: other must be a Mechanism, got {show(other)}")
        if not isinstance(prefix, str):
            raise MechanismError(f"merge: prefix must be a string, got {show(prefix)}")
        if (self._gravity != other._gravity).any():
            gravities = f"{self._gravity.tolist()} here and {other._gravity.tolist()} there"
            raise MechanismError(f"merge: gravity is {gravities}; assign the one to the other first")
        move = Move(
            prefix, vector(position, (3,), "merge: position"), unit_quaternion(orientation, "merge: orientation")
        )
        added = other.copy()  # it may be this one
        bodies = {body.name: body for body in map(move.body, added._bodies.values())}
        joints = {joint.name: joint for joint in map(move.joint, added._joints.values())}
        contacts = {contact.name: contact for contact in map(move.contact, added._contacts.values())}
        couplings = {coupling.name: coupling for coupling in map(move.coupling, added._couplings.values())}
        for category, there, new in (
            ("body", self._bodies, bodies),
            ("joint", self._joints, joints),
            ("contact", self._contacts, contacts),
            ("coupling", self._couplings, couplings),
        ):
            for name in new:
                if name in there or (category, name) == ("body", WORLD):
                    raise MechanismError(f"merge: {category} {name!r} exists already; choose another prefix")
        pairing = self._pairing.copy()
        pairing.merge(added._pairing, move.collider, move.name)
        self._bodies |= bodies
        self._joints |= joints
        self._contacts |= contacts
        self._couplings |= couplings
        self._connections |= {frozenset((joint.parent, joint.child)): name for name, joint in joints.items()}
        self._pairing = pairing
        self._scenery += tuple(map(move.shape, added._scenery))

    def _check_ends(self, joint: Joint) -> None:
        """MechanismError unless its bodies are there, and no other joint connects them."""
        what = f"joint {joint.name!r}"
        if joint.parent != WORLD:
            self._check_body(joint.parent, f"{what}: parent")
        self._check_body(joint.child, f"{what}: child")
        there = self._connections.get(frozenset((joint.parent, joint.child)), joint.name)
        if there != joint.name:
            raise MechanismError(
                f"{what}: {joint.parent!r} and {joint.child!r} would be doubly connected, joint "
                f"{there!r} connects them already; merge them into one joint"
            )

    def _check_body(self, name: str, what: str) -> None:
        if name not in self._bodies:
            hint = suggestion(name, self._bodies)
            raise MechanismError(f"{what} {name!r} is unknown, add the body first; {hint}")


def lookup(parts: Mapping[str, Part], name: str, category: str) -> Part:
    """The part of that name; MechanismError, with the nearest names, if there is none."""
    if not isinstance(name, str):
        raise MechanismError(f"{category} name must be a string, got {show(name)}")
    if name not in parts:
        raise MechanismError(f"{category} {name!r} is unknown; {suggestion(name, parts)}")
    return parts[name]
