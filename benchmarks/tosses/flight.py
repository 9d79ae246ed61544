"""Flights of the cube between its contacts, and impacts of single corners between two flights.

Nothing here depends on a contact law: a flight is a parabola of the centre of mass and a constant rate of turning (the
inertia is that of a ball), and an impact is the difference of two of them.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vigym.assets.cube import MASS
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.cube import UP, Cube
from vigym.benchmarks.tosses.data import RATE, Tosses
from vigym.engine.rotation import conjugate, from_rotation_vector, multiply, rotate, to_rotation_vector

CLEAR, FEWEST = 0.001, 6  # m above the ground, frames: what counts as a flight
BRIEF, NEAREST, ALONE = 4, 10, 0.008  # frames of an impact, and beside it; m by which the other corners are higher


class Flight(NamedTuple):
    """A free flight: toss and first frame; poses (n, 7) of the tracked centre at the times t (n,), s."""

    toss: int
    first: int
    t: Array
    poses: Array


class Motion(NamedTuple):
    """Motion of the centre of mass at the time t: position, orientation, velocity, angular velocity (world)."""

    x: Array
    q: Array
    v: Array
    w: Array


class Impact(NamedTuple):
    """One corner: its arm from the centre of mass, m; change of velocity and of angular velocity (world); velocity
    of the corner before and after."""

    arm: Array
    dv: Array
    dw: Array
    before: Array
    after: Array

    @property
    def moment(self) -> Array:
        """Angular impulse, arm x m dv, N m s."""
        return MASS * np.cross(self.arm, self.dv)

    @property
    def restitution(self) -> float:
        """Normal speed after it over that before."""
        return float(-self.after[2] / self.before[2])

    @property
    def friction(self) -> float:
        """Tangential over normal impulse: at most the coefficient of friction, just that if it slides throughout."""
        return float(np.hypot(*self.dv[:2]) / self.dv[2])

    @property
    def slide(self) -> float:
        """Slower of the sliding speeds before and after, m/s."""
        return float(min(np.hypot(*self.before[:2]), np.hypot(*self.after[:2])))


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


def impacts(known: Cube, found: Sequence[Flight]) -> Iterator[Impact]:
    """Between flights that follow each other, where one corner strikes by itself."""
    for before, after in pairwise(found):
        if before.toss != after.toss or after.first - before.first - len(before.t) > BRIEF:
            continue
        before = before._replace(t=before.t[-NEAREST:], poses=before.poses[-NEAREST:])
        after = after._replace(t=after.t[:NEAREST], poses=after.poses[:NEAREST])
        t = float(before.t[-1] + after.t[0]) / 2
        one, other = fly(known, before, t), fly(known, after, t)
        dv = other.v - one.v
        t -= float((other.x - one.x) @ dv / (dv @ dv))  # where the two paths meet
        one, other = fly(known, before, t), fly(known, after, t)
        arms = rotate(one.q, known.corners - known.com) - known.rounding * UP
        lowest, second = np.partition(arms[:, 2], 1)[:2]
        if second - lowest > ALONE:
            arm = arms[np.argmin(arms[:, 2])]
            velocities = (motion.v + np.cross(motion.w, arm) for motion in (one, other))
            yield Impact(arm, other.v - one.v, other.w - one.w, *velocities)
