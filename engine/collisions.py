"""Colliders of a batch of environments: distances, overlap, and what touches."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine import coordinates
from vigym.engine.compiled import compiled
from vigym.engine.errors import InputError
from vigym.engine.joint import WORLD
from vigym.engine.kernels.collision import asking, distance, ground_distance, hull_distance, rounds
from vigym.engine.kernels.collision.ground import seen_from
from vigym.engine.kernels.collision.manifold import KEYS
from vigym.engine.lanes import Lanes
from vigym.engine.mechanism import Mechanism
from vigym.engine.model import Model
from vigym.engine.rotation import Array, multiply, rotate, rotation_matrix
from vigym.engine.validation import indices, words

ALLOWED = 1e-6  # m that a state may be set with colliders in each other; 1e-3 of the size of small ones


@dataclass(frozen=True)
class Contacts:
    """Contacts that touch, or are near, after the last step: one row each.

    env: (k,) number of the environment. collider: (k, 2) numbers in `mechanism.colliders`.
    position: (k, 3) where the first collider touches, or would, at the end of the step, world, m.
    normal: (k, 3) from the second collider to the first, there, unit.
    gap: (k,) m. force: (k, 3) on the body of the first, mean of the last step, world, N.
    Rows are in the order of environments, then of the colliders, then of the features by which they touch.
    """

    env: NDArray[np.int64]
    collider: NDArray[np.int64]
    position: Array
    normal: Array
    gap: Array
    force: Array

    def __len__(self) -> int:
        return len(self.env)


def contacts(model: Model, lanes: Lanes, dt: float, env: int | None) -> Contacts:
    """Contacts between colliders that `lanes` remember, of one environment or of all."""
    couples = np.array(model.couples, np.int64).reshape(-1, 2)
    which = range(lanes.num_envs) if env is None else indices([env], "env", lanes.num_envs)
    found = remembered(lanes, which, {"key": 1, "gap": 1, "point": 3, "normal": 3, "impulse": 3})
    return Contacts(
        env=found["env"].astype(np.int64),
        collider=couples[couple_of(found["key"][:, 0])],
        position=found["point"],
        normal=found["normal"],
        gap=found["gap"][:, 0],
        force=found["impulse"] / dt,
    )


def remembered(lanes: Lanes, which: Iterable[int], sizes: Mapping[str, int]) -> dict[str, Array]:
    """Return what the last step left of contacts, one row each, by name: columns of the memory, and the environment
    (k,)."""
    parts = {"env": [np.zeros(0)]} | {name: [np.zeros((0, size))] for name, size in sizes.items()}
    for number in which:
        group, lane = divmod(number, lanes.lanes)
        memory = lanes.memory(group)
        if not memory or lanes.row("fresh", number):
            continue
        used = memory["memory_key"][:, 0, lane] > 0
        parts["env"].append(np.full(used.sum(), number))
        for name in sizes:
            parts[name].append(memory[f"memory_{name}"][used, :, lane])
    return {name: np.concatenate(rows) for name, rows in parts.items()}


def couple_of(key: Array) -> NDArray[np.int64]:
    """Numbers of the couples whose contacts have these keys."""
    return ((key - 1) // KEYS).astype(np.int64)


def stored_energy(model: Model, lanes: Lanes) -> Array:
    """Energy of the springs of soft couples, as the last step left them, J (num_envs,)."""
    energy = np.zeros(lanes.num_envs)
    found = remembered(lanes, range(lanes.num_envs), {"key": 1, "gap": 1})
    env, couple, gap = found["env"].astype(np.int64), couple_of(found["key"][:, 0]), found["gap"][:, 0]
    first, second = np.array(model.couples).T
    own = np.array([law.get("compliance", -1.0) for law in model.own_laws])
    compliance = lanes.values("collider_compliance")
    compliance = np.where(own < 0.0, compliance[:, first] + compliance[:, second], own)[env, couple]
    soft = compliance > 0.0
    np.add.at(energy, env[soft], 0.5 * np.minimum(gap[soft], 0.0) ** 2 / compliance[soft])
    return energy


def net_forces(model: Model, lanes: Lanes, forces: Array, dt: float) -> Array:
    """Sum (num_envs, n_bodies, 3) of the forces of contacts with the ground, (num_envs, n_contacts, 3), and of those
    between bodies, on every body, N."""
    net = np.zeros((lanes.num_envs, model.n_bodies, 3))
    if model.touches:
        made = lanes.get("fresh") == 0.0
        net[made] = lanes.get("pushed")[made, : model.n_bodies] / dt
    for c, contact in enumerate(model.mechanism.contacts):
        net[:, model.bodies[contact.body]] += forces[:, c]
    return net


@compiled
def _distances(kinds, centres, axes, sizes, couples, out):
    """Distances of couples of solids (environments, couples); axes: rows are the unit vectors of a solid's frame."""
    for n in range(out.shape[0]):
        for k in range(out.shape[1]):
            a, b = couples[k, 0], couples[k, 1]
            out[n, k] = distance.solids(
                kinds[a], distance.solid(centres[n, a], axes[n, a], sizes[a]),
                kinds[b], distance.solid(centres[n, b], axes[n, b], sizes[b]),
            )  # fmt: skip


@compiled
def _ground_distances(kinds, centres, axes, sizes, numbers, integers, first, flat, faces, start, couples, out):
    """Distances of couples of a solid and ground of triangles, (N, couples)."""
    for n in range(out.shape[0]):
        for k in range(out.shape[1]):
            a, b = couples[k, 0], couples[k, 1]
            h = (flat, faces, start[a])
            base = distance.solid(centres[n, b], axes[n, b], sizes[b])
            ground = (kinds[b], numbers, integers, integers[first[b]], first[b])
            solid = seen_from((base[0], base[1]), distance.solid(centres[n, a], axes[n, a], sizes[a]))
            out[n, k] = ground_distance.distance(kinds[a], h, solid, ground, distance.FAR, True)


@compiled
def _table_distances(kinds, centres, axes, sizes, numbers, integers, first, couples, out):
    """Distances of couples of solids of which one has many faces, (N, couples)."""
    for n in range(out.shape[0]):
        for k in range(out.shape[1]):
            a, b = couples[k, 0], couples[k, 1]
            out[n, k] = hull_distance.solids(
                kinds[a], (numbers, integers, first[a]), distance.solid(centres[n, a], axes[n, a], sizes[a]),
                kinds[b], (numbers, integers, first[b]), distance.solid(centres[n, b], axes[n, b], sizes[b]),
                True,
            )  # fmt: skip


@compiled
def _rim_distances(kinds, centres, axes, sizes, numbers, integers, first, couples, out):
    """Distances of couples of solids of which one is a cylinder and none a plane, (N, couples)."""
    for n in range(out.shape[0]):
        for k in range(out.shape[1]):
            a, b = couples[k, 0], couples[k, 1]
            out[n, k] = rounds.solids(
                kinds[a], (numbers, integers, first[a]), distance.solid(centres[n, a], axes[n, a], sizes[a]),
                kinds[b], (numbers, integers, first[b]), distance.solid(centres[n, b], axes[n, b], sizes[b]),
                True,
            )  # fmt: skip


def by_kind(model: Model, couples: NDArray[np.int64]) -> list[tuple[NDArray[np.bool_], Any]]:
    """Masks of the couples (k, 2) of two simple solids, and of those that kernels ask for elsewhere (asking.py), each
    with the tables that it needs."""
    kinds = [collider.kind for collider in model.colliders]
    place = np.array([asking.place_of(kinds[a], kinds[b]) for a, b in couples.tolist()], int)
    tables = (), (*model.terrain, *model.hulls[:3]), model.hulls[:3], model.hulls[:3]
    return [(place == which, own) for which, own in zip((asking.SIMPLE, *asking.PLACES), tables, strict=True)]


def placed(model: Model, x: Array, q: Array) -> tuple[Array, Array, Array, Array]:
    """Kinds of the colliders, centres (N, n, 3) and axes (N, n, 3, 3) at the poses x, q of bodies, and sizes."""
    colliders, n = model.mechanism.colliders, len(x)
    body = [model.bodies[collider.body] for collider in colliders]
    x = np.concatenate([x, np.zeros((n, 1, 3))], 1)[:, body]
    q = np.concatenate([q, np.tile([1.0, 0.0, 0.0, 0.0], (n, 1, 1))], 1)[:, body]
    place = np.array([collider.place for collider in colliders])
    turn = np.array([collider.shape.orientation for collider in colliders])
    axes = np.swapaxes(rotation_matrix(multiply(q, np.broadcast_to(turn, q.shape))), -1, -2)
    kinds, sizes = np.array([c.kind for c in colliders]), np.array([c.size for c in colliders])
    centres = x + rotate(q, np.broadcast_to(place, x.shape))
    return kinds, np.ascontiguousarray(centres), np.ascontiguousarray(axes), sizes


def distances(model: Model, x: Array, q: Array, couples: NDArray[np.int64]) -> Array:
    """Distances of couples of colliders (N, couples) at the poses x, q of bodies, m; negative where they overlap."""
    out, couples = np.zeros((len(x), len(couples))), couples.reshape(-1, 2)
    couples = np.where(model.terrain.first[couples[:, :1]] > 0, couples[:, ::-1], couples)
    loops = (_distances, _ground_distances, _table_distances, _rim_distances)
    for (which, more), loop in zip(by_kind(model, couples), loops, strict=True):
        if which.any() and len(x):
            part = np.zeros((len(x), int(which.sum())))
            loop(*placed(model, x, q), *more, np.ascontiguousarray(couples[which]), part)
            out[:, which] = part
    return out


def distance_between(model: Model, x: Array, q: Array, first: str, second: str) -> Array:
    """Distance of the colliders of two bodies (N,), or of one and the world; infinite where either has none."""
    words((first, second), "first and second", InputError)
    of = {name: [k for k, c in enumerate(model.mechanism.colliders) if c.body == name] for name in (first, second)}
    for name in (first, second):
        if name != WORLD:
            model.mechanism.body(name)
    if first == second:
        raise InputError(f"distance takes two different bodies, got {first!r} twice")
    couples = np.array([(a, b) for a in of[first] for b in of[second]], np.int64).reshape(-1, 2)
    return distances(model, x, q, couples).min(-1, initial=np.inf)


def hard(model: Model) -> NDArray[np.bool_]:
    """Mask of the couples that do not give way (couples,)."""
    return np.array([law.compliance == 0.0 for law in model.pair_laws], bool)


def least_sizes(model: Model) -> Array:
    """The size of the smaller collider of each couple, m (couples,)."""
    bounds = np.array([collider.bound or np.inf for collider in model.colliders])
    return bounds[np.array(model.couples, int).reshape(-1, 2)].min(-1)


def overlaps(model: Model, x: Array, q: Array) -> tuple[int, str, str, float] | None:
    """The deepest two hard colliders that overlap by more than a state may have: row of x, their names, depth in m."""
    if not model.touches:
        return None
    couples, colliders = np.array(model.couples, np.int64), model.mechanism.colliders
    found = distances(model, x, q, couples)
    excess = np.where(hard(model), -found - np.minimum(ALLOWED, 1e-3 * least_sizes(model)), -1.0)
    k, c = np.unravel_index(excess.argmax(), excess.shape)
    if excess[k, c] <= 0.0:
        return None
    a, b = couples[c]
    return int(k), colliders[a].name, colliders[b].name, float(-found[k, c])


def ignore_overlapping(mechanism: Mechanism, of_robot: Collection[str] | None = None) -> list[tuple[str, str]]:
    """Let colliders of bodies that overlap where environments start pass through each other, and return their names.

    For loaders: in files of robots, solids of links that are no neighbours often overlap in the reference pose. Those
    that overlap with the world are left as they are: a robot must not fall through a floor in which it starts.
    of_robot: names of the world's colliders that are parts of the robot, such as its base; None are all.
    """
    if not mechanism.couples:
        return []
    model = Model(mechanism)
    x, q, _ = coordinates.start(model)
    floor = {c.name for c in model.colliders if c.body == WORLD and of_robot is not None and c.name not in of_robot}
    kept = [(a, b) for a, b in model.couples if model.colliders[b].name not in floor]
    couples = np.array(kept, np.int64).reshape(-1, 2)
    room = distances(model, x, q, couples)[0]
    pairs = [(model.colliders[a].name, model.colliders[b].name) for a, b in couples[room < -ALLOWED]]
    for first, second in pairs:
        mechanism.ignore_colliders(first, second)
    return pairs
