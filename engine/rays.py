"""Rays: distances from points along directions to the first solid, in all environments at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.engine.collider import Collider
from vigym.engine.compiled import compiled
from vigym.engine.height_field import HeightField
from vigym.engine.kernels.collision import rays
from vigym.engine.kernels.collision.nearest import FAR
from vigym.engine.kernels.collision.poses import matrix_of
from vigym.engine.kernels.collision.space import add, dot, is_ground, local, sub, turn
from vigym.engine.model import Model
from vigym.engine.polyhedra import Mesh
from vigym.engine.rotation import Array
from vigym.engine.terrain import of_ground

FACES = 100  # a kind of solids beside those of kernels/collision/space.py: triangles


@dataclass(frozen=True, eq=False)
class Solids:
    """Solids that rays can meet, those of the world behind all bodies; rows are colliders.

    kind, body: (n,). place (n, 3), turn (n, 3, 3), whose rows are the solid's axes, in the frame of its body.
    size: (n, 4) half lengths and radius. bound: (n,) radius of a ball that holds it. part: (n, 2) first triangle and
    the one after the last; of a height field or mesh, its first number and integer.
    """

    kind: NDArray[np.int64]
    body: NDArray[np.int64]
    place: Array
    turn: Array
    size: Array
    bound: Array
    part: NDArray[np.int64]
    triangles: Array
    numbers: Array
    integers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.kind)


def solids_of(model: Model, wanted: Callable[[str], bool]) -> Solids:
    """Colliders of the bodies, or of the world, whose names are `wanted`."""
    chosen = [collider for collider in model.mechanism.colliders if wanted(collider.body)]
    return _solids(chosen, model.bodies)


def _solids(colliders: Iterable[Collider], bodies: dict[str, int]) -> Solids:
    rows, triangles, numbers, integers = [], [np.zeros((0, 9))], [np.zeros(0)], [np.zeros(0, np.int64)]
    for collider in colliders:
        shape, kind, size, bound, part = collider.shape, 0, (0.0,) * 4, np.inf, (0, 0)
        if isinstance(shape, HeightField | Mesh):
            more, counts = of_ground(shape)
            kind, part = collider.kind, (sum(map(len, numbers)), sum(map(len, integers)))
            numbers += more
            integers += [np.array([part[0]]), counts]
        elif callable(corners_of := getattr(shape, "triangles", None)):
            vertices, faces = corners_of()
            first = sum(map(len, triangles))
            triangles.append(vertices[faces].reshape(-1, 9))
            kind, part, bound = FACES, (first, first + len(faces)), float(np.linalg.norm(vertices, axis=1).max())
        else:
            kind, size, bound = collider.kind, collider.size, collider.bound or np.inf
        rows.append((kind, bodies[collider.body], shape.position, collider.rotation.T, size, bound, part))
    n = len(rows)
    kinds, bodies_of, places, turns, sizes, bounds, parts = zip(*rows, strict=True) if rows else [()] * 7
    columns = (
        np.array(kinds, np.int64),
        np.array(bodies_of, np.int64),
        np.array(places, float).reshape(n, 3),
        np.array(turns, float).reshape(n, 3, 3),
        np.array(sizes, float).reshape(n, 4),
        np.array(bounds, float),
        np.array(parts, np.int64).reshape(n, 2),
    )
    more_parts = np.concatenate(triangles), np.concatenate(numbers), np.concatenate(integers)
    return Solids(*columns, *more_parts)


def cast(solids: Solids, x: Array, q: Array, origins: Array, directions: Array, most: float) -> Array:
    """Distances (N, k), at most `most`, along unit `directions` (N, k, 3) from `origins` (N, k, 3), world, m.

    x, q: poses of all bodies (N, n, 3 and 4).
    """
    n = len(x)
    x = np.concatenate([x, np.zeros((n, 1, 3))], 1)
    q = np.concatenate([q, np.tile([1.0, 0.0, 0.0, 0.0], (n, 1, 1))], 1)
    out = np.full(origins.shape[:2], float(most))
    parts = solids.kind, solids.body, solids.place, solids.turn, solids.size, solids.bound, solids.part
    more = solids.triangles, solids.numbers, solids.integers
    arrays = (np.ascontiguousarray(part) for part in (x, q, origins, directions))
    _cast(*parts, *more, *arrays, out)
    return out


@compiled
def _cast(kinds, bodies, place, turns, sizes, bounds, parts, triangles, numbers, integers, x, q, origins, ways, out):
    """Shorten every ray (environment, k) to the first solid that it meets."""
    for n in range(out.shape[0]):
        for s in range(kinds.shape[0]):
            i, kind, bound = bodies[s], kinds[s], bounds[s]
            R = matrix_of((q[n, i, 0], q[n, i, 1], q[n, i, 2], q[n, i, 3]))
            centre = add((x[n, i, 0], x[n, i, 1], x[n, i, 2]), turn(R, (place[s, 0], place[s, 1], place[s, 2])))
            axes = (
                turn(R, (turns[s, 0, 0], turns[s, 0, 1], turns[s, 0, 2])),
                turn(R, (turns[s, 1, 0], turns[s, 1, 1], turns[s, 1, 2])),
                turn(R, (turns[s, 2, 0], turns[s, 2, 1], turns[s, 2, 2])),
            )
            size = (sizes[s, 0], sizes[s, 1], sizes[s, 2], sizes[s, 3])
            for k in range(out.shape[1]):
                off = sub((origins[n, k, 0], origins[n, k, 1], origins[n, k, 2]), centre)
                way = (ways[n, k, 0], ways[n, k, 1], ways[n, k, 2])
                along = dot(off, way)
                if dot(off, off) - along * along > bound * bound:
                    continue
                p, d = local(axes, off), local(axes, way)
                found = FAR
                if kind == FACES:
                    for f in range(parts[s, 0], parts[s, 1]):
                        a = (triangles[f, 0], triangles[f, 1], triangles[f, 2])
                        b = (triangles[f, 3], triangles[f, 4], triangles[f, 5])
                        c = (triangles[f, 6], triangles[f, 7], triangles[f, 8])
                        found = min(found, rays.triangle(p, d, a, b, c))
                elif is_ground(kind):
                    found = rays.ground((kind, numbers, integers, parts[s, 0], parts[s, 1]), p, d)
                else:
                    found = rays.solid(kind, p, d, size)
                out[n, k] = min(out[n, k], found)
