"""Parts of a mechanism as they are in another one: renamed, and placed where its world is put."""

from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from vigym.engine.body import Body
from vigym.engine.collider import Collider
from vigym.engine.contact import Contact
from vigym.engine.coupling import Coupling
from vigym.engine.height_field import HeightField
from vigym.engine.joint import WORLD, Joint
from vigym.engine.rotation import Array, multiply, rotate
from vigym.engine.shapes import Plane, Shape
from vigym.engine.validation import read_only

Solid = TypeVar("Solid", bound=Shape | Plane | HeightField)


class Move(NamedTuple):
    """Move of a mechanism into another one.

    prefix: before all names but that of the world. position (3,), orientation (4,): of their world in the new one.
    """

    prefix: str
    position: Array
    orientation: Array

    def name(self, name: str) -> str:
        """The new name of a body."""
        return name if name == WORLD else self.prefix + name

    def place(self, point: Array) -> Array:
        """A point of their world in the new one."""
        return read_only(self.position + rotate(self.orientation, point))

    def turn(self, orientation: Array) -> Array:
        """An orientation in their world in the new one."""
        turned = multiply(self.orientation, orientation)
        return read_only(turned / np.linalg.norm(turned))

    def body(self, body: Body) -> Body:
        """The body, with its initial pose moved."""
        place, turn = self.place(body.position), self.turn(body.orientation)
        return replace(body, name=self.name(body.name), position=place, orientation=turn)

    def joint(self, joint: Joint) -> Joint:
        """The joint; where its parent is the world, its frame there is moved. A floating one has no place."""
        ends = replace(
            joint, name=self.prefix + joint.name, parent=self.name(joint.parent), child=self.name(joint.child)
        )
        if joint.parent != WORLD or joint.kind == "floating":
            return ends
        place, turn = self.place(joint.parent_anchor), self.turn(joint.orientation)
        return replace(ends, parent_anchor=place, orientation=turn)

    def coupling(self, coupling: Coupling) -> Coupling:
        """The coupling, of joints by their new names."""
        follower, *leaders = (axis._replace(joint=self.prefix + axis.joint) for axis in coupling.axes)
        return replace(coupling, name=self.prefix + coupling.name, follower=follower, leaders=tuple(leaders))

    def contact(self, contact: Contact) -> Contact:
        """The contact, with its plane where it was."""
        return replace(contact, name=self.prefix + contact.name, body=self.name(contact.body))

    def shape(self, shape: Solid) -> Solid:
        """A shape of the world, moved."""
        place, turn = self.place(np.array(shape.position)), self.turn(np.array(shape.orientation))
        return replace(shape, position=tuple(place.tolist()), orientation=tuple(turn.tolist()))

    def collider(self, collider: Collider) -> Collider:
        """The collider; a shape of the world is moved."""
        shape = self.shape(collider.shape) if collider.body == WORLD else collider.shape
        return replace(collider, name=self.prefix + collider.name, body=self.name(collider.body), shape=shape)
