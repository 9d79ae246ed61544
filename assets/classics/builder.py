"""A mechanism from frames like MuJoCo's: a body's frame is where its joint's author put it, not its centre of mass."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import rotate
from vigym.engine.shapes import Capsule, Shape, mass_properties

ROBOT, WORLD = 1, 2  # groups of colliders


def capsule(start: ArrayLike, end: ArrayLike, radius: float) -> Capsule:
    """A capsule whose cylinder goes from one point to the other."""
    a, b = np.asarray(start, float), np.asarray(end, float)
    way = b - a
    length = float(np.linalg.norm(way))
    z = way / length
    # half way between z and the direction is the axis of half a turn; upright ones are not turned
    turn = np.array([1.0 + z[2], -z[1], z[0], 0.0]) if z[2] > -1.0 + 1e-12 else np.array([0.0, 1.0, 0.0, 0.0])
    turn /= np.linalg.norm(turn)
    return Capsule(radius, length, position=tuple(0.5 * (a + b)), orientation=tuple(turn))


def pitched(radius: float, half: float, position: ArrayLike, angle: float) -> Capsule:
    """A capsule of half a length `half`, turned about y by an angle from upright."""
    turn = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
    return Capsule(radius, 2 * half, position=tuple(np.asarray(position, float)), orientation=turn)


class Builder:
    """Adds bodies and joints to `mechanism`.

    density: of all shapes, kg/m^3
    touches_itself: let the robot's bodies touch each other, not only the world
    """

    def __init__(
        self, density: float = 1000.0, gravity: ArrayLike = (0.0, 0.0, -9.81), *, touches_itself: bool = False
    ) -> None:
        self.mechanism, self.density = Mechanism(gravity), density
        self.mask = WORLD | ROBOT if touches_itself else WORLD
        self.centres: dict[str, np.ndarray] = {"world": np.zeros(3)}

    def ground(self) -> None:
        """Add the floor, z = 0, which all solid bodies touch."""
        self.mechanism.add_ground(friction=1.0, group=WORLD, mask=ROBOT)

    def body(
        self,
        name: str,
        shapes: Sequence[Shape],
        *,
        at: ArrayLike = (0.0, 0.0, 0.0),
        solid: bool = True,
        friction: float = 1.0,
        density: float | None = None,
    ) -> None:
        """Add a body with shapes in its own frame, whose origin is `at` in the world if no joint says otherwise.

        friction: with the floor, whatever the floor's own is
        """
        mass, centre, inertia = mass_properties(shapes, density=density or self.density)
        self.centres[name] = centre
        around = [replace(shape, position=tuple(np.asarray(shape.position) - centre)) for shape in shapes]
        self.mechanism.add_body(
            name,
            mass,
            inertia,
            around,
            position=np.asarray(at, float) + centre,
            collide=solid,
            friction=0.0,  # of the robot's own bodies with each other
            group=ROBOT,
            mask=self.mask,
        )
        if solid and any(collider.name == "ground" for collider in self.mechanism.colliders):
            self.mechanism.set_pair(name, "world", friction=friction)

    def joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        at: ArrayLike = (0.0, 0.0, 0.0),
        *,
        pivot: ArrayLike = (0.0, 0.0, 0.0),
        turn: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        **options: Any,
    ) -> None:
        """Join two bodies. at, turn: origin and orientation of the child's frame in the parent's at zero coordinates;
        pivot: where the joint is, in the child's frame; options: those of `Mechanism.add_joint`."""
        pivot, q = np.asarray(pivot, float), np.asarray(turn, float)
        q = q / np.linalg.norm(q)
        self.mechanism.add_joint(
            name,
            kind,
            parent,
            child,
            parent_anchor=np.asarray(at, float) + rotate(q, pivot) - self.centres[parent],
            child_anchor=pivot - self.centres[child],
            orientation=q,
            **options,
        )

    def hinge(
        self,
        name: str,
        parent: str,
        child: str,
        at: ArrayLike,
        limits: ArrayLike,
        *,
        axis: ArrayLike = (0.0, -1.0, 0.0),
        **options: Any,
    ) -> None:
        """Join two bodies by a hinge with limits, rad."""
        lower, upper = np.asarray(limits, float)
        self.joint(name, "revolute", parent, child, at, axis=axis, lower=lower, upper=upper, **options)

    def plane_root(self, body: str, height: float) -> None:
        """Let a body move in the plane of x and z, and turn about y, from a height, m, at which it starts. The joint's
        coordinates are z, x, angle."""
        self.joint("root", "planar", "world", body, axis=(0.0, 1.0, 0.0), start=(height, 0.0, 0.0))
