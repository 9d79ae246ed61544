"""A robot from the frames of its links, as public descriptions give them: where each hangs on the one before, its mass,
centre of mass and inertia in its own frame. In the engine the origin of a body is its centre of mass.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import from_rotation_vector, multiply, rotate, rotation_matrix
from vigym.engine.shapes import Shape
from vigym.engine.validation import Array


class Link(NamedTuple):
    """mass: kg; com: (3,) in the link frame, m; inertia: (3, 3) about the centre of mass, kg m^2."""

    mass: float
    com: Array
    inertia: Array


def link_of(mass: float, com: ArrayLike, xx: float, xy: float, xz: float, yy: float, yz: float, zz: float) -> Link:
    """A link from the six numbers of its inertia."""
    return Link(mass, np.array(com), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def principal(mass: float, com: ArrayLike, turn: ArrayLike, moments: ArrayLike) -> Link:
    """A link from its principal moments of inertia, and the orientation (4,) of their axes."""
    R = rotation_matrix(unit(turn))
    return Link(mass, np.array(com, float), R @ np.diag(np.asarray(moments, float)) @ R.T)


def mirrored(link: Link, x: int, y: int) -> Link:
    """The mirror image for signs -1 of x or y: com -> S com, inertia -> S inertia S, with S = diag(x, y, 1)."""
    S = np.array([x, y, 1])
    return Link(link.mass, S * link.com, S[:, None] * link.inertia * S)


def moved(link: Link, at: ArrayLike, turn: ArrayLike) -> Link:
    """A link in the frame in which its own has this origin and orientation."""
    R = rotation_matrix(unit(turn))
    return Link(link.mass, np.asarray(at, float) + R @ link.com, R @ link.inertia @ R.T)


def together(a: Link, b: Link) -> Link:
    """Two links of the same frame as one."""
    mass = a.mass + b.mass
    com = (a.mass * a.com + b.mass * b.com) / mass
    inertia = np.zeros((3, 3))
    for part in (a, b):
        d = part.com - com
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Link(mass, com, inertia)


def from_com(shapes: Iterable[Shape], com: Array) -> list[Shape]:
    """Shapes of a link frame in the frame of the body, whose origin is the centre of mass."""
    x, y, z = com.tolist()
    return [replace(s, position=(s.position[0] - x, s.position[1] - y, s.position[2] - z)) for s in shapes]


def unit(turn: ArrayLike) -> Array:
    """A quaternion (4,) of length 1."""
    q = np.array(turn, float)
    return q / np.linalg.norm(q)


class Frame(NamedTuple):
    """Origin (3,), m, and orientation (4,) of a link frame in the world where the robot starts."""

    at: Array
    turn: Array


class Motor(NamedTuple):
    """A joint with one free axis, where the robot starts: a point of the axis and its direction in the world."""

    body: str
    slides: bool
    point: Array
    axis: Array
    start: float


class Links:
    """Adds links to `mechanism`, each at its joint's start.

    solids: arguments of `Mechanism.add_body` that say how its solids touch, the same for all links
    """

    def __init__(self, **solids: Any) -> None:
        self.mechanism, self.solids = Mechanism(), solids
        self.frames = {"world": Frame(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))}
        self.links: dict[str, Link] = {}
        self.parents: dict[str, str] = {}
        self.motors: dict[str, Motor] = {}

    def base(
        self, name: str, link: Link, at: ArrayLike, shapes: Sequence[Shape] = (), visuals: Sequence[Shape] = ()
    ) -> None:
        """Add a link that floats, level, with its frame's origin `at` in the world."""
        self.frames[name] = Frame(np.array(at, float), np.array([1.0, 0.0, 0.0, 0.0]))
        self._body(name, link, shapes, visuals, position=self.frames[name].at + link.com)

    def joint(
        self,
        name: str,
        parent: str,
        child: str,
        link: Link,
        shapes: Sequence[Shape] = (),
        visuals: Sequence[Shape] = (),
        *,
        at: ArrayLike = (0.0, 0.0, 0.0),
        turn: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        pivot: ArrayLike = (0.0, 0.0, 0.0),
        kind: str = "revolute",
        axis: ArrayLike = (0.0, 0.0, 1.0),
        start: float = 0.0,
        **options: Any,
    ) -> None:
        """Add a link that a joint of one axis connects to its parent.

        at, turn: origin and orientation of its frame in the parent's (the world's) at zero; pivot: where the joint is,
        in its own frame; axis: (3,) in its own frame; start: rad or m; options: those of `Mechanism.add_joint`
        """
        q, pivot, axis = unit(turn), np.asarray(pivot, float), np.asarray(axis, float)
        anchor = np.asarray(at, float) + rotate(q, pivot)
        self._body(child, link, shapes, visuals)
        self.mechanism.add_joint(
            name,
            kind,
            parent,
            child,
            axis=axis,
            parent_anchor=anchor - (self.links[parent].com if parent in self.links else 0.0),
            child_anchor=pivot - link.com,
            orientation=q,
            start=start,
            **options,
        )
        there = self.frames[parent]
        slides, turned = kind == "prismatic", multiply(there.turn, q)
        point, direction = there.at + rotate(there.turn, anchor), rotate(turned, axis)
        if slides:
            point = point + start * direction
        else:
            turned = multiply(turned, from_rotation_vector(start * axis))
        self.frames[child], self.parents[child] = Frame(point - rotate(turned, pivot), turned), parent
        self.motors[name] = Motor(child, slides, point, direction, start)

    def holding_efforts(self, feet: Mapping[str, Sequence[ArrayLike]] | None = None) -> dict[str, float]:
        """Efforts that keep the robot where it starts, N or N m; feet: points of links, in link frames, that press
        straight down on the ground.

        The feet share the weight so that its moments about x and y balance (of all ways, the one with the smallest sum
        of squares). A joint then holds what hangs on it: with its axis a through p, and forces F at points r beyond it
        (weights, and forces on feet), -a . sum (r - p) x F, or -a . sum F if it slides.
        """
        bodies = list(self.links)
        points = [self.place(body, self.links[body].com) for body in bodies]
        loads = [-9.81 * self.links[body].mass for body in bodies]
        if feet:
            pressed = [(body, self.place(body, point)) for body, at in feet.items() for point in at]
            rows = np.array([[1.0, point[0], point[1]] for _, point in pressed]).T
            weight = np.array([load * np.array([1.0, *at[:2]]) for load, at in zip(loads, points, strict=True)])
            bodies += [body for body, _ in pressed]
            points += [point for _, point in pressed]
            loads += (np.linalg.pinv(rows) @ -weight.sum(0)).tolist()
        efforts = {}
        for name, motor in self.motors.items():
            effort = 0.0
            for body, point, load in zip(bodies, points, loads, strict=True):
                if self._carries(motor.body, body):
                    force = np.array([0.0, 0.0, load])
                    effort -= float(motor.axis @ (force if motor.slides else np.cross(point - motor.point, force)))
            efforts[name] = effort
        return efforts

    def hold(self, efforts: Mapping[str, float]) -> None:
        """Set targets of drives such that they hold the pose with these efforts; joints without a drive stay."""
        for name, effort in efforts.items():
            kp = self.mechanism.joint(name).kp[0]
            if kp > 0:
                self.mechanism.replace_joint(name, target=self.motors[name].start + effort / kp)

    def place(self, body: str, point: ArrayLike) -> Array:
        """A point of a link's frame in the world where the robot starts, m."""
        frame = self.frames[body]
        return frame.at + rotate(frame.turn, np.asarray(point, float))

    def _carries(self, first: str, body: str | None) -> bool:
        """Tell if a link is the first one, or hangs on it."""
        while body is not None and body != first:
            body = self.parents.get(body)
        return body == first

    def _body(self, name: str, link: Link, shapes: Sequence[Shape], visuals: Sequence[Shape], **options: Any) -> None:
        self.links[name] = link
        around, drawn = from_com(shapes, link.com), from_com(visuals, link.com)
        self.mechanism.add_body(name, link.mass, link.inertia, around, visuals=drawn, **{**self.solids, **options})
