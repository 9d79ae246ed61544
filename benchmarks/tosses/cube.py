"""The cube that was thrown: as its authors describe it, and as their measurements show it.

Free flight, rest and impulses tell what the cube is before any contact law is chosen:

    half width    height of the tracked centre at rest on a face
    gravity, com  flights of the tracked centre are  x(t) = x0 + v0 t - gravity t^2/2 up - R(t) com
    inertia       one corner that strikes takes the impulse m dv at a known arm: inertia dw = arm x m dv

`com` is the centre of mass in the frame of the cube, from the centre that is tracked. Lengths that were measured too
short by a factor show as a smaller half width and as less gravity, by the same factor.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vigym.assets import cube
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.data import RATE, Tosses
from vigym.engine.errors import InputError
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, rotate, to_rotation_vector

UP = np.array([0.0, 0.0, 1.0])
SIGNS = np.sign([contact.point for contact in cube.build().contacts])  # of the corners
CLEAR, FEWEST = 0.001, 6  # m above the ground, frames: what counts as a flight
LAST, FLAT = 5, np.cos(np.radians(3.0))  # frames at the end of a toss; a face is down
BRIEF, NEAREST, ALONE = 4, 10, 0.008  # frames of an impact, and beside it; m by which the other corners are higher
NOISE, SPIN = 1e-4, 0.5  # m, rad/s: usual errors of a flight and of its spin
NEEDED = 4  # flights, and impacts


@dataclass(frozen=True)
class Cube:
    """half: half the width, m; gravity: m/s^2; com: centre of mass, m; inertia: about each axis, kg m^2; rounding:
    radius of the corners, m."""

    half: float = cube.SIDE / 2
    gravity: float = 9.81
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: float = cube.INERTIA
    rounding: float = 0.0

    def mechanism(self, **contact: float) -> Mechanism:
        """One body, on the ground, with contacts in the corners: points, or spheres inside them."""
        m = Mechanism(gravity=(0.0, 0.0, -self.gravity))
        m.add_body("cube", cube.MASS, (self.inertia,) * 3, position=(0.0, 0.0, self.half + self.com[2]))
        for number, corner in enumerate(self.corners - self.com):
            law = {"friction": cube.FRICTION, **contact}
            m.add_contact(f"corner {number}", "cube", corner, radius=self.rounding, **law)
        return m

    @property
    def corners(self) -> Array:
        """Of the contacts, from the tracked centre, m (8, 3)."""
        return SIGNS * (self.half - self.rounding)

    def height(self, states: Array) -> Array:
        """Of the lowest corner, were all of them sharp, m; states (..., 7 or more)."""
        return states[..., 2] - self.half * np.abs(rotate(conjugate(states[..., 3:7]), UP)).sum(-1)

    def to_mass(self, states: Array) -> Array:
        """States (..., 13) of the tracked centre as those of the centre of mass."""
        com, q = np.array(self.com), states[..., 3:7]
        moved = states.copy()
        moved[..., :3] += rotate(q, com)
        moved[..., 7:10] += rotate(q, np.cross(states[..., 10:13], com))
        return moved

    def to_centre(self, poses: Array) -> Array:
        """Poses (..., 7) of the centre of mass as those of the tracked centre."""
        return np.concatenate([poses[..., :3] - rotate(poses[..., 3:], np.array(self.com)), poses[..., 3:]], axis=-1)


DESCRIBED = Cube()


class Flight(NamedTuple):
    """A free flight: toss and first frame; poses (n, 7) of the tracked centre at the times t (n,), s."""

    toss: int
    first: int
    t: Array
    poses: Array


class Motion(NamedTuple):
    """Of the centre of mass at the time t: position, orientation, velocity, angular velocity (world)."""

    x: Array
    q: Array
    v: Array
    w: Array


def measured(tosses: Tosses) -> Cube:
    """The cube that these tosses show."""
    from scipy.optimize import least_squares

    half = resting_height(tosses)
    found = list(flights(tosses, half))
    if len(found) < NEEDED:
        raise InputError(f"{len(found)} free flights in these tosses; {NEEDED} are needed to measure the cube")
    parts = [linear(flight) for flight in found]
    A, b = (np.concatenate(part) for part in zip(*parts, strict=True))
    gravity, *com = least_squares(lambda p: A @ p - b, [9.81, 0.0, 0.0, 0.0], loss="soft_l1", f_scale=NOISE).x
    known = Cube(half, float(gravity), (float(com[0]), float(com[1]), float(com[2])))
    sides = [side for pair in pairwise(found) for side in impulse(known, *pair)]
    if len(sides) < NEEDED:
        raise InputError(f"{len(sides)} impacts of single corners in these tosses; {NEEDED} are needed")
    torque, turned = (np.concatenate(part) for part in zip(*sides, strict=True))
    start = cube.INERTIA
    scale = SPIN * start
    inertia = least_squares(lambda p: (torque - p[0] * start * turned) / scale, [1.0], loss="soft_l1").x[0] * start
    return Cube(half, known.gravity, known.com, float(inertia))


def resting_height(tosses: Tosses) -> float:
    """Of the centre, at the end of the tosses that end on a face, m: the median."""
    ends = np.array([row[n - LAST : n].mean(0) for row, n in zip(tosses.measured, tosses.lengths, strict=True)])
    flat = np.abs(rotate(conjugate(ends[:, 3:7] / np.linalg.norm(ends[:, 3:7], axis=-1, keepdims=True)), UP)).max(-1)
    if not (flat > FLAT).any():
        raise InputError("no toss ends on a face; the width of the cube cannot be measured")
    return float(np.median(ends[flat > FLAT, 2]))


def flights(tosses: Tosses, half: float) -> Iterator[Flight]:
    """Frames in a row between which there is no contact."""
    for toss, states in enumerate(tosses.measured):
        height = Cube(half).height(states[: tosses.lengths[toss]])
        touched = np.minimum(height[:-1], height[1:]) < CLEAR
        # an impact between two frames: where the cube would be in the next one, and where it would come from
        touched[1:] |= 2 * height[1:-1] - height[:-2] < CLEAR
        touched[:-1] |= 2 * height[1:-1] - height[2:] < CLEAR
        for frames in np.split(np.arange(len(height)), np.flatnonzero(touched) + 1):
            if len(frames) >= FEWEST:
                yield Flight(toss, int(frames[0]), frames / RATE, states[frames, :7])


def linear(flight: Flight) -> tuple[Array, Array]:
    """Rows (3 n, 4) and right side of gravity and com: x + t^2/2 gravity up + R com is a straight line in time."""
    n, t = len(flight.t), flight.t - flight.t.mean()
    line = np.stack([np.ones(n), t], axis=-1)
    bent = np.eye(n) - line @ np.linalg.pinv(line)  # what no straight line can be
    R = rotate(flight.poses[:, None, 3:], np.eye(3)).swapaxes(1, 2)
    columns = np.concatenate([np.multiply.outer(0.5 * t * t, UP)[..., None], R], axis=-1)
    return -np.einsum("ab,bij->aij", bent, columns).reshape(-1, 4), (bent @ flight.poses[:, :3]).ravel()


def fly(known: Cube, flight: Flight, t: float) -> Motion:
    """The free flight through these poses, at the time t. Its inertia is that of a ball: w is constant."""
    time, poses = flight.t - t, flight.poses
    q = poses[:, 3:]
    x = poses[:, :3] + rotate(q, np.array(known.com)) + np.multiply.outer(0.5 * known.gravity * time * time, UP)
    v, x0 = np.polyfit(time, x, 1)
    turned = np.cumsum(to_rotation_vector(multiply(conjugate(q[:-1]), q[1:])), axis=0)  # about one axis
    w, angle = np.polyfit(time, np.concatenate([np.zeros((1, 3)), turned]), 1)
    q0 = multiply(q[0], from_rotation_vector(angle))
    return Motion(x0, q0, v, rotate(q0, w))


def impulse(known: Cube, before: Flight, after: Flight) -> Iterator[tuple[Array, Array]]:
    """Angular impulse arm x m dv (3,) and dw (3,) of an impact of one corner between two flights, where it is one."""
    gone = after.first - before.first - len(before.t)
    if before.toss != after.toss or gone > BRIEF:
        return
    before = before._replace(t=before.t[-NEAREST:], poses=before.poses[-NEAREST:])
    after = after._replace(t=after.t[:NEAREST], poses=after.poses[:NEAREST])
    t = (before.t[-1] + after.t[0]) / 2
    one, other = fly(known, before, t), fly(known, after, t)
    dv = other.v - one.v
    t -= float((other.x - one.x) @ dv / (dv @ dv))  # where the two paths meet
    one, other = fly(known, before, t), fly(known, after, t)
    arms = rotate(one.q, known.corners - known.com) - known.rounding * UP
    heights = np.sort(arms[:, 2])
    if heights[1] - heights[0] > ALONE:
        arm = arms[np.argmin(arms[:, 2])]
        yield cube.MASS * np.cross(arm, other.v - one.v), other.w - one.w
