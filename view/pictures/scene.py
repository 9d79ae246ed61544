"""Solids and planes of a picture, from a mechanism."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.appearance import colliders_of
from vigym.engine.body import Body
from vigym.engine.collider import Collider
from vigym.engine.errors import InputError
from vigym.engine.height_field import HeightField
from vigym.engine.joint import WORLD, orthonormal_basis
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import from_matrix, rotation_matrix
from vigym.engine.shapes import Box, Capsule, Cylinder, Plane, Shape, Sphere
from vigym.engine.validation import Array, number, suggestion, unit_vector
from vigym.view.pictures import solids as kinds
from vigym.view.pictures.arrays import (
    CASTS,
    COLOR,
    CORE,
    FIRST,
    KIND,
    LAST,
    POSITION,
    REACH,
    ROTATION,
    ROUNDING,
    SIZE,
    WIDTH,
    Solids,
)
from vigym.view.pictures.hierarchy import PER, tree
from vigym.view.pictures.hull import half_spaces

# Colours of bodies whose shapes have none, in turn.
PALETTE = (
    (0.20, 0.47, 0.75),
    (0.93, 0.55, 0.20),
    (0.27, 0.63, 0.44),
    (0.82, 0.31, 0.33),
    (0.53, 0.42, 0.72),
    (0.90, 0.74, 0.26),
    (0.24, 0.66, 0.70),
    (0.80, 0.47, 0.62),
)
STATIC = (0.72, 0.74, 0.77)  # of what stands in the world
COLLIDER = (0.35, 0.80, 0.45)  # of colliders that bodies do not look like
GHOST = np.array([0.90, 0.92, 0.94])  # what faded poses fade to
_THINNEST = 0.05  # of the longest edge: a stand-in stays visible


@dataclass(frozen=True)
class Part:
    """One solid in the frame of a body (-1: in the world); color: as shown, not linear."""

    kind: int
    size: tuple[float, float, float]
    position: Array
    rotation: Array
    color: tuple[float, ...]
    body: int = -1
    facets: Array | None = None
    vertices: Array | None = None
    casts: bool = True
    triangles: tuple[Array, Any] | None = None


def part(shape: Shape | HeightField, color: Sequence[float], body: int = -1) -> Part:
    """A shape; `color` if it has none of its own."""
    if isinstance(shape, HeightField):
        return mesh_part(shape.drawn, color, body)
    if hasattr(shape, "triangles"):
        return mesh_part(shape, color, body)
    if isinstance(shape, Sphere):
        kind, size = kinds.SPHERE, (shape.radius, 0.0, 0.0)
    elif isinstance(shape, Box):
        a, b, c = shape.size
        kind, size = kinds.BOX, (a / 2, b / 2, c / 2)
    elif isinstance(shape, (Capsule, Cylinder)):
        kind = kinds.CAPSULE if isinstance(shape, Capsule) else kinds.CYLINDER
        size = shape.radius, shape.length / 2, 0.0
    else:
        raise InputError(f"pictures cannot show a {type(shape).__name__}")
    rotation = rotation_matrix(np.array(shape.orientation))
    return Part(kind, size, np.array(shape.position), rotation, tuple(shape.color or color)[:3], body)


def mesh_part(shape: Any, color: Sequence[float], body: int = -1) -> Part:
    """A shape that has `triangles()`: vertices (n, 3) in its own frame, and faces (m, 3)."""
    vertices, faces = shape.triangles()
    used = vertices[np.unique(faces)]
    middle = 0.5 * (used.min(axis=0) + used.max(axis=0))
    facets, leaves = tree(vertices - middle, faces)
    rotation = rotation_matrix(np.array(shape.orientation))
    skip = 1e-4 * float(
        np.linalg.norm(used - middle, axis=1).max()
    )  # a point of another solid on it is not in its shade
    return Part(
        kinds.MESH,
        (skip, float(leaves), float(PER)),
        np.array(shape.position) + rotation @ middle,
        rotation,
        tuple(shape.color or color)[:3],
        body,
        facets,
        used - middle,
        triangles=(vertices - middle, faces),
    )


def hull_part(points: ArrayLike, color: Sequence[float], body: int = -1) -> Part:
    """The convex hull of points (n, 3) in the frame of the body."""
    p = np.asarray(points, dtype=float)
    facets = half_spaces(p)
    middle = 0.5 * (p.min(axis=0) + p.max(axis=0))
    facets[:, 3] -= facets[:, :3] @ middle
    return Part(kinds.HULL, (0.0, 0.0, 0.0), middle, np.eye(3), tuple(color)[:3], body, facets, p - middle)


def stand_in(body: Body) -> Box:
    """Return what a body without shapes looks like: the solid box that has its mass and its inertia.

    Principal moments J1, J2, J3 are those of a box with edges sqrt(6 (J2 + J3 - J1) / mass) and so on.
    """
    moments, axes = np.linalg.eigh(body.inertia)
    if np.linalg.det(axes) < 0:
        axes = -axes
    edges = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / body.mass, 0.0))
    edges = np.maximum(edges, _THINNEST * edges.max())
    return Box(tuple(edges.tolist()), orientation=tuple(from_matrix(axes).tolist()))


def parts_of(
    mechanism: Mechanism, hulls: Mapping[str, ArrayLike], scenery: Iterable[Shape], *, colliders: bool = False
) -> list[Part]:
    """All that is drawn: scenery (the mechanism's own, and more) and colliders of the world; bodies, as their shapes,
    else as their colliders, else as a box; `hulls` replace the shapes of the bodies they name. Shapes of opacity 0 are
    left out.

    colliders: also those of bodies that do not look like them
    """
    bodies, solid = mechanism.bodies, colliders_of(mechanism)
    if unknown := set(hulls) - {body.name for body in bodies}:
        name = sorted(unknown)[0]
        raise InputError(f"hulls: body {name!r} is unknown; {suggestion(name, [body.name for body in bodies])}")
    fixed = [collider.shape for collider in solid[WORLD] if not isinstance(collider.shape, Plane)]
    parts = [part(shape, STATIC) for shape in (*mechanism.scenery, *scenery, *fixed) if _visible(shape)]
    for i, body in enumerate(bodies):
        color, shapes = PALETTE[i % len(PALETTE)], body.drawn
        if body.name in hulls:
            own = next((shape.color for shape in shapes if shape.color), color)
            parts.append(hull_part(hulls[body.name], own, i))
        else:
            shapes = shapes or tuple(solids_of(mechanism, solid[body.name])) or (stand_in(body),)
            parts += [part(shape, color, i) for shape in shapes if _visible(shape)]
    return parts + (hidden_colliders(mechanism) if colliders else [])


def hidden_colliders(mechanism: Mechanism) -> list[Part]:
    """Colliders of bodies that are drawn as other shapes, and those of the world that are not drawn."""
    solid = colliders_of(mechanism)
    unseen = [
        collider for collider in solid[WORLD] if not (isinstance(collider.shape, Plane) or _visible(collider.shape))
    ]
    found = [part(replace(shape, color=None), COLLIDER) for shape in solids_of(mechanism, unseen)]
    for i, body in enumerate(mechanism.bodies):
        if shapes := body.drawn:
            unseen = [collider for collider in solid[body.name] if collider.shape not in shapes]
            found += [part(replace(shape, color=None), COLLIDER, i) for shape in solids_of(mechanism, unseen)]
    return found


def solids_of(mechanism: Mechanism, colliders: Iterable[Collider]) -> list[Any]:
    """Shapes of colliders of a body; a plane is a plate of four times the size of the largest other collider."""
    found: list[Any] = []
    for collider in colliders:
        if isinstance(collider.shape, Plane):
            edge = 4.0 * max((other.bound for other in mechanism.colliders), default=0.0) or 1.0
            thick = 0.01 * edge
            centre = np.array(collider.shape.position) - 0.5 * thick * collider.rotation[:, 2]
            placed: dict[str, Any] = {"position": centre, "orientation": collider.shape.orientation}
            found.append(Box((edge, edge, thick), **placed))
        else:
            found.append(collider.shape)
    return found


def _visible(shape: Shape | HeightField) -> bool:
    return shape.color is None or shape.color[3] > 0.0


class Cast:
    """The parts of a picture: what does not change about them, and where they are for given poses of the bodies."""

    def __init__(self, parts: Sequence[Part]) -> None:
        n = len(parts)
        self.position = np.array([p.position for p in parts], float).reshape(n, 3)
        self.rotation = np.array([p.rotation for p in parts], float).reshape(n, 3, 3)
        self.color = np.array([p.color for p in parts], float).reshape(n, 3)
        self.body = np.array([p.body for p in parts], np.int64)
        facets = [np.zeros((0, 4)) if p.facets is None else p.facets for p in parts]
        self.facets = np.concatenate([np.zeros((0, 4)), *facets])
        self.index = np.zeros((n, 4), np.int64)
        last = np.cumsum([len(rows) for rows in facets], dtype=np.int64)
        self.index[:, FIRST], self.index[:, LAST] = last - [len(rows) for rows in facets], last
        self.table = np.zeros((n, WIDTH))
        for row, numbers, p in zip(self.table, self.index, parts, strict=True):
            numbers[KIND], numbers[CASTS] = p.kind, p.casts
            row[SIZE : SIZE + 3] = p.size
            row[CORE : CORE + 3], row[ROUNDING], row[REACH] = kinds.bounds(p.kind, p.size, p.vertices)

    def solids(self, x: Array, q: Array, fade: float = 0.0) -> Solids:
        """Solids at poses x (n_bodies, 3), q (n_bodies, 4); fade: 0 in their own colours to 1, almost white."""
        # the world is one more body, and the last: index -1
        R = np.concatenate([rotation_matrix(q), np.eye(3)[None]])[self.body]
        at = np.concatenate([x, np.zeros((1, 3))])[self.body]
        color = self.color + fade * (GHOST - self.color)
        table = self.table.copy()
        table[:, POSITION : POSITION + 3] = at + (R @ self.position[..., None])[..., 0]
        table[:, ROTATION : ROTATION + 9] = (R @ self.rotation).reshape(-1, 9)
        table[:, COLOR : COLOR + 3] = color * color
        return Solids(table, self.index, self.facets)


def join(several: Sequence[Solids]) -> Solids:
    """All of them as one."""
    if len(several) == 1:
        return several[0]
    indices: list[Any] = []
    facets: list[Array] = []
    first: dict[int, int] = {}
    for solids in several:
        if id(solids.facets) not in first:  # poses of one cast share theirs, which may be large
            first[id(solids.facets)] = sum(len(rows) for rows in facets)
            facets += [solids.facets] if len(solids.facets) else []
        index = solids.numbers.copy()
        index[:, [FIRST, LAST]] += first[id(solids.facets)]
        indices.append(index)
    tables = np.concatenate([solids.table for solids in several])
    all_facets = facets[0] if len(facets) == 1 else np.concatenate([np.zeros((0, 4)), *facets])
    return Solids(tables, np.concatenate(indices), all_facets)


def plane_table(grounds: Iterable[tuple[ArrayLike, float]]) -> Array:
    """(n, 10) for the ray caster, see arrays.py. Tiles lie along the world's x and y where the plane is level."""
    rows = [
        [
            *orthonormal_basis(unit_vector(normal, "planes: normal", InputError)).ravel(),
            number(offset, "planes: offset", InputError),
        ]
        for normal, offset in grounds
    ]
    return np.array(rows, float).reshape(-1, 10)
