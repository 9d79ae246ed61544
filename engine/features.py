"""Features by which hard colliders touch, or overlap, at a pose: gap, normal, point; outside the kernels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.engine.collisions import by_kind, distances, hard, placed
from vigym.engine.compiled import compiled
from vigym.engine.kernels.collision import distance, hulls, over_ground, rounds
from vigym.engine.kernels.collision import kinds as kinds_of
from vigym.engine.kernels.collision.ground import seen_from
from vigym.engine.kernels.collision.manifold import (
    CODE,
    COLUMNS,
    EDGES,
    FACE,
    FOUND,
    LINE,
    OWNER,
    OWNER_RADIUS,
    OWNER_WAY,
    PARTNER,
    PARTNER_RADIUS,
    PARTNER_WAY,
    RIM,
    SWAP,
)
from vigym.engine.model import Model
from vigym.engine.rotation import Array, cross, from_rotation_vector, multiply

NO_LENGTH = 1e-12  # m, of a vector without a direction
SEEN = 0.5  # of the depth of two solids that their features must show
MOVED = 1e-7  # m and rad, for derivatives of distances


class Features(NamedTuple):
    """k features: gap (k,), m, and its derivatives by the motion of all bodies, (k, n_bodies, 6), world."""

    gap: Array
    motion: Array


@compiled
def _features(kinds, centres, axes, sizes, couples, reach, found, counts):
    """Features of couples of solids, into `found` (couples, FOUND, COLUMNS), and how many."""
    for k in range(len(couples)):
        a, b = couples[k, 0], couples[k, 1]
        first = distance.solid(centres[a], axes[a], sizes[a])
        second = distance.solid(centres[b], axes[b], sizes[b])
        counts[k] = kinds_of.features(found[k], kinds[a], first, first, kinds[b], second, second, reach)


@compiled
def _ground_features(
    kinds, centres, axes, sizes, numbers, integers, first, flat, faces, start, couples, reach, found, counts
):
    """The same of couples of a solid and ground of triangles."""
    for k in range(len(couples)):
        a, b = couples[k, 0], couples[k, 1]
        h = (flat, faces, start[a])
        base = distance.solid(centres[b], axes[b], sizes[b])
        frame, ground = (base[0], base[1]), (kinds[b], numbers, integers, integers[first[b]], first[b])
        solid = seen_from(frame, distance.solid(centres[a], axes[a], sizes[a]))
        counts[k] = over_ground.features(found[k], 0, kinds[a], h, solid, solid, ground, frame, reach)


@compiled
def _table_features(kinds, centres, axes, sizes, numbers, integers, first, couples, reach, found, counts):
    """The same of couples of solids of which one has many faces."""
    for k in range(len(couples)):
        a, b = couples[k, 0], couples[k, 1]
        one = distance.solid(centres[a], axes[a], sizes[a])
        other = distance.solid(centres[b], axes[b], sizes[b])
        h, g = (numbers, integers, first[a]), (numbers, integers, first[b])
        counts[k] = hulls.features(found[k], kinds[a], h, one, one, kinds[b], g, other, other, reach)


@compiled
def _rim_features(kinds, centres, axes, sizes, numbers, integers, first, couples, reach, found, counts):
    """The same of couples of solids of which one is a cylinder."""
    for k in range(len(couples)):
        a, b = couples[k, 0], couples[k, 1]
        one = distance.solid(centres[a], axes[a], sizes[a])
        other = distance.solid(centres[b], axes[b], sizes[b])
        h, g = (numbers, integers, first[a]), (numbers, integers, first[b])
        counts[k] = rounds.features(found[k], kinds[a], h, one, one, kinds[b], g, other, other, reach)


def near_features(model: Model, x: Array, q: Array, reach: float) -> Features:
    """Features of hard couples with gaps of less than `reach`, bodies being at x (n, 3), q (n, 4)."""
    couples = np.array(model.couples, np.int64).reshape(-1, 2)[hard(model)]
    room = distances(model, x[None], q[None], couples)[0]
    couples, room = couples[room < reach], room[room < reach]
    found, counts = np.zeros((len(couples), FOUND, COLUMNS)), np.zeros(len(couples), np.int64)
    if len(couples):
        kinds, centres, axes, sizes = placed(model, x[None], q[None])
        loops = (_features, _ground_features, _table_features, _rim_features)
        for (mask, tables), loop in zip(by_kind(model, couples), loops, strict=True):
            if mask.any():
                part, number = found[mask], counts[mask]
                loop(
                    kinds, centres[0], axes[0], sizes, *tables, np.ascontiguousarray(couples[mask]), reach, part, number
                )
                found[mask], counts[mask] = part, number
    which, k = np.nonzero(np.arange(FOUND) < counts[:, None])
    rows = found[which, k]
    normal, point = _touch(rows)
    gap = (normal * (point - rows[:, PARTNER : PARTNER + 3])).sum(-1)
    gap -= rows[:, OWNER_RADIUS] + rows[:, PARTNER_RADIUS]
    body = np.array([model.bodies[collider.body] for collider in model.colliders], int)
    sides = body[couples[which]]
    sides[rows[:, SWAP] > 0.5] = sides[rows[:, SWAP] > 0.5, ::-1]  # owner, partner
    motion, each = np.zeros((len(rows), model.n_bodies + 1, 6)), np.arange(len(rows))
    centre = np.concatenate([x, np.zeros((1, 3))])
    for sign, side in ((1.0, sides[:, 0]), (-1.0, sides[:, 1])):
        motion[each, side] += sign * np.concatenate([normal, cross(point - centre[side], normal)], -1)
    least = np.full(len(couples), np.inf)
    np.minimum.at(least, which, gap)
    deep = (room < 0.0) & (least > SEEN * room)  # features do not show how deep
    more = [by_distance(model, x, q, couple) for couple in couples[deep]]
    return Features(
        np.concatenate([gap[~deep[which]], room[deep]]),
        np.concatenate([motion[~deep[which], :-1], np.array(more).reshape(-1, model.n_bodies, 6)]),
    )


def _touch(rows: Array) -> tuple[Array, Array]:
    """Normals (k, 3), from partner to owner, and points (k, 3) of features; see kernels/between.py."""
    owner, partner, way, mine = (rows[:, at : at + 3] for at in (OWNER, PARTNER, PARTNER_WAY, OWNER_WAY))
    d, code = owner - partner, rows[:, CODE, None]
    across = d - np.where(code == LINE, (d * way).sum(-1, keepdims=True) * way, 0.0)
    n = np.where((code == FACE) | (code == RIM), way, np.where(code == EDGES, cross(way, mine), across))
    size = np.linalg.norm(n, axis=-1, keepdims=True)
    any_one = np.eye(3)[np.abs(way).argmin(-1)]  # where points coincide: any direction across the line
    any_one = any_one - (any_one * way).sum(-1, keepdims=True) * way
    any_one /= np.linalg.norm(any_one, axis=-1, keepdims=True)
    normal = np.where(size > NO_LENGTH, n / np.maximum(size, NO_LENGTH), any_one)
    both, dw, dm = ((a * b).sum(-1, keepdims=True) for a, b in ((way, mine), (d, way), (d, mine)))
    along = np.where(code == EDGES, (both * dw - dm) / np.maximum(1.0 - both * both, NO_LENGTH), 0.0)
    turned = (mine * mine).sum(-1, keepdims=True) * normal - (normal * mine).sum(-1, keepdims=True) * mine
    under = np.sqrt(np.maximum((turned * normal).sum(-1, keepdims=True), NO_LENGTH**2))
    return normal, np.where(code == RIM, owner - turned / under, owner + along * mine)


def by_distance(model: Model, x: Array, q: Array, couple: NDArray[np.int64]) -> Array:
    """Derivatives of the distance of two solids by the motion of all bodies, (n_bodies, 6), by differences to one side:
    where solids lie so deep in each other that features do not show the way out.

    Of the first body; a common motion changes nothing, which gives those of the second."""
    motion = np.zeros((model.n_bodies + 1, 6))
    first, second = (model.bodies[model.colliders[k].body] for k in couple)
    xs, qs = np.tile(x, (7, 1, 1)), np.tile(q, (7, 1, 1))
    xs[1:4, first] += MOVED * np.eye(3)
    qs[4:, first] = multiply(from_rotation_vector(MOVED * np.eye(3)), qs[4:, first])
    room = distances(model, xs, qs, couple[None])[:, 0]
    motion[first] = (room[1:] - room[0]) / MOVED
    arm = x[first] - np.concatenate([x, np.zeros((1, 3))])[second]
    motion[second] -= motion[first] + [0.0, 0.0, 0.0, *cross(arm, motion[first, :3])]
    return motion[:-1]
