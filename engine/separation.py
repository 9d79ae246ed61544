"""Poses in which hard colliders or contacts overlap, moved apart by the smallest motion that joints allow:

    min 1/2 d^T M d      with    gap(d) >= 0

d: changes of joint coordinates and, for each body without a joint, of its position and of its rotation vector, world.
M: mass matrix at the pose that was given, so that of two bodies the lighter one gives way.
gap: of the features by which colliders touch, as in a step; of contacts; of joint coordinates to their limits.

Gaps are linear about the last solution, round after round. Where that does not end (solids that lie deep in each other
have several ways out), the nearest way from the last solution is taken, and then again the shortest one near it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.engine import collisions, coordinates
from vigym.engine.features import Features, near_features
from vigym.engine.kernels.axis import FAR, HIGH, LOW
from vigym.engine.least_distance import least_distance
from vigym.engine.model import Model
from vigym.engine.rotation import (
    Array,
    conjugate,
    cross,
    from_rotation_vector,
    multiply,
    rotate,
    rotation_matrix,
    to_rotation_vector,
)

CLOSE = 1e-9  # m that bodies may still overlap by; of the size of small ones
MOST_TURN = 0.3  # rad, in a round
# Rounds, and whether the way from where bodies were is to be the shortest, or else that from where they are
PHASES = ((15, True), (40, False), (15, True))
SETTLED = 1e-7  # of the motion, less is no change
DIFFERENCE = 1e-6  # of coordinates, for derivatives of poses


class Environment(NamedTuple):
    """Parameters of one environment: planes of the contacts (n_contacts,); bounds and flags of the free axes."""

    offset: Array
    bounds: Array
    bounded: Array


def separated(model: Model, x: Array, q: Array, phi: Array, env: Environment) -> tuple[Array, Array, Array] | None:
    """Poses x, q and joint coordinates of one environment, moved apart; None if no way was found."""

    def depth_of(x: Array, q: Array) -> float:
        return float(deepest(model, x[None], q[None], env.offset[None])[0])

    chart, reach = Chart(model, x, q, phi), 2.0 * max(depth_of(x, q), CLOSE)
    root = np.asarray(np.linalg.cholesky(chart.mass_matrix()), np.float64)
    d, best = np.zeros(chart.size), None
    for rounds, is_nearest in PHASES:
        for _ in range(rounds):
            centre = np.zeros(chart.size) if is_nearest else d
            change = chart.way_out(d, centre, root, env, reach)
            if change is None:
                break
            d = d + change
            if depth_of(*chart.pose(d)[:2]) <= 0.0:
                if best is None or np.linalg.norm(root.T @ d) < np.linalg.norm(root.T @ best):
                    best = d
                if not is_nearest:
                    break
                if np.linalg.norm(root.T @ change) <= SETTLED * np.linalg.norm(root.T @ d):
                    return chart.pose(best)
    return None if best is None else chart.pose(best)


class Chart:
    """Poses of one environment as a function of d, about the pose x, q with the joint coordinates phi."""

    def __init__(self, model: Model, x: Array, q: Array, phi: Array) -> None:
        self.model, self.x, self.q, self.phi = model, x, q, phi
        self.floats = np.array([i for i, joint in enumerate(model.tree.joints) if joint is None], int)
        self.size = model.n_axes + 6 * len(self.floats)
        turns = np.tile(np.arange(6) >= 3, len(self.floats))
        self.is_angle = np.concatenate([~model.joint_table.is_slide, turns])

    def pose(self, d: Array) -> tuple[Array, Array, Array]:
        """x, q and joint coordinates at d (..., size)."""
        n, rows = self.model.n_axes, np.atleast_2d(d)
        x, q = (np.tile(value, (len(rows), 1, 1)) for value in (self.x, self.q))
        moved = rows[:, n:].reshape(len(rows), -1, 6)
        x[:, self.floats] += moved[..., :3]
        q[:, self.floats] = multiply(from_rotation_vector(moved[..., 3:]), q[:, self.floats])
        phi = self.phi + rows[:, :n]
        x, q = coordinates.forward(self.model, phi, x, q)
        return (x, q, phi) if d.ndim > 1 else (x[0], q[0], phi[0])

    def way_out(self, d: Array, centre: Array, root: Array, env: Environment, reach: float) -> Array | None:
        """Go from d to the point nearest to `centre` at which all gaps, linear about d, are open; no angle changes by
        more than MOST_TURN. None if there is no such point. root: Cholesky factor of the mass matrix."""
        x, q, _ = self.pose(d)
        near = gaps(self.model, x, q, env, reach)
        by_d, (limits, room) = np.tensordot(near.motion, self.jacobian(d), 2), self.limits(env)
        G = np.concatenate([by_d, limits])
        least = np.concatenate([by_d @ (d - centre) - near.gap, -room - limits @ centre])
        u = least_distance(np.linalg.solve(root, G.T).T, least)
        if u is None:
            return None
        change = centre + np.linalg.solve(root.T, u) - d
        turn = np.abs(change[self.is_angle]).max(initial=0.0)
        return change * min(1.0, MOST_TURN / max(turn, 1e-300))

    def jacobian(self, d: Array) -> Array:
        """Motion of all bodies, velocity and angular velocity, world, by d (n_bodies, 6, size)."""
        step = DIFFERENCE * np.eye(self.size)
        (xa, qa, _), (xb, qb, _) = self.pose(d + step), self.pose(d - step)
        way = np.concatenate([xa - xb, to_rotation_vector(multiply(qa, conjugate(qb)))], -1)
        return np.moveaxis(way, 0, -1) / (2.0 * DIFFERENCE)

    def mass_matrix(self) -> Array:
        """Mass matrix at d = 0, of twice the kinetic energy by the rates of d (size, size)."""
        J, R = self.jacobian(np.zeros(self.size)), rotation_matrix(self.q)
        M = np.zeros((self.size, self.size))
        for body, turn, own in zip(self.model.mechanism.bodies, R, J, strict=True):
            M += body.mass * own[:3].T @ own[:3] + own[3:].T @ turn @ body.inertia @ turn.T @ own[3:]
        return M

    def limits(self, env: Environment) -> tuple[Array, Array]:
        """Derivatives of the distances to limits by d (k, size), and the distances; 0 where they are negative."""
        sides = (LOW, 1.0), (HIGH, -1.0)
        rows, room = np.zeros((0, self.size)), np.zeros(0)
        for side, sign in sides:
            axes = np.flatnonzero((env.bounded[:, side] > 0) & (np.abs(env.bounds[:, side]) < FAR))
            rows = np.concatenate([rows, sign * np.eye(self.size)[axes]])
            room = np.concatenate([room, sign * (self.phi - env.bounds[:, side])[axes]])
        return rows, np.maximum(room, 0.0)


def deepest(model: Model, x: Array, q: Array, offset: Array) -> Array:
    """Largest depth beyond CLOSE of hard colliders and contacts (N,), m; negative if nothing overlaps.

    x, q: poses (N, n_bodies, ...); offset: planes of the contacts (N, n_contacts)"""
    depth = -contact_gaps(model, x, q, offset) - CLOSE
    if model.touches:
        room = collisions.distances(model, x, q, np.array(model.couples, np.int64))
        inside = -room - CLOSE * np.minimum(1.0, collisions.least_sizes(model))
        depth = np.concatenate([depth, inside[:, collisions.hard(model)]], 1)
    return depth.max(1, initial=-1.0)


def gaps(model: Model, x: Array, q: Array, env: Environment, reach: float) -> Features:
    """Gaps that are less than `reach`, of colliders and contacts that are hard."""
    found, contacts = near_features(model, x, q, reach), contact_rows(model, x, q, env)
    near = contacts.gap < reach
    return Features(*(np.concatenate([a, b[near]]) for a, b in zip(found, contacts, strict=True)))


class HardContacts(NamedTuple):
    """Contacts that are hard and can move: their numbers, numbers of their bodies, normals, points, radii."""

    number: NDArray[np.int64]
    body: NDArray[np.int64]
    normal: Array
    point: Array
    radius: Array


def hard_contacts(model: Model) -> HardContacts:
    """Hard contacts of a mechanism."""
    number = np.flatnonzero(~model.soft & ~model.held).astype(np.int64)
    found = [model.mechanism.contacts[k] for k in number]
    normal, point = (np.array([getattr(c, name) for c in found]).reshape(-1, 3) for name in ("normal", "point"))
    body = np.array([model.bodies[contact.body] for contact in found], np.int64)
    return HardContacts(number, body, normal, point, np.array([contact.radius for contact in found]))


def contact_gaps(model: Model, x: Array, q: Array, offset: Array) -> Array:
    """Gaps (N, k), m, of the contacts that are hard and can move."""
    hard = hard_contacts(model)
    reach = x[:, hard.body] + rotate(q[:, hard.body], np.tile(hard.point, (len(q), 1, 1)))
    return (hard.normal * reach).sum(-1) - offset[:, hard.number] - hard.radius


def contact_rows(model: Model, x: Array, q: Array, env: Environment) -> Features:
    """Gaps of one environment, with derivatives."""
    hard = hard_contacts(model)
    motion = np.zeros((len(hard.number), model.n_bodies, 6))
    arm = rotate(q[hard.body], hard.point)
    motion[np.arange(len(motion)), hard.body] = np.concatenate([hard.normal, cross(arm, hard.normal)], -1)
    return Features(contact_gaps(model, x[None], q[None], env.offset[None])[0], motion)
