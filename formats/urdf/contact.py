"""Contact points and spheres from collision shapes: what of a link may touch the ground."""

import os
from itertools import product

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.shapes import Box, Capsule, Cylinder, Shape, Sphere
from vigym.engine.validation import Array
from vigym.formats.urdf.mesh import bounds
from vigym.formats.urdf.parts import Geometry, Pose

CYLINDERS = ("rim", "spheres")
_SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))


def mesh_box(geometry: Geometry) -> tuple[Array, Array] | None:
    """Centre (3,), in the frame of the geometry, and size (3,) of the box around a mesh; None if it cannot be read."""
    mesh, element = geometry.mesh, geometry.element
    assert mesh is not None
    if mesh.path is None:
        raise element.error(
            f"mesh {mesh.filename!r} is not found; put it beside the file, name its package's folder in packages=, "
            "or choose other links with contacts="
        )
    boxes, key = element.document.boxes, (os.path.realpath(mesh.path), mesh.path.suffix)
    try:
        if key not in boxes:  # however often a file names it
            boxes[key] = bounds(mesh.path)
    except InputError as cause:
        raise element.error(f"mesh {str(mesh.path)!r} cannot be read: {cause}; export it again") from cause
    box = boxes[key]
    if box is None:
        element.note(f"mesh {mesh.filename!r} has a format that is not read (OBJ and STL are), no shape made from it")
        return None
    low, high = np.sort(box * mesh.scale, axis=0)
    if not np.isfinite(high - low).all():
        raise element.error(f"mesh {mesh.filename!r} is too large to compute with; give a smaller scale")
    return 0.5 * (low + high), high - low


def touching(geometry: Geometry, cylinders: str, rim_points: int) -> tuple[Array, float]:
    """Points (n, 3) in the link frame and the radius of the spheres around them, m.

    sphere: its centre, its radius. box, and the box around a mesh: 8 corners. capsule: the centres of its two ends.
    cylinder: "rim", `rim_points` evenly around each end; or "spheres", two of its radius that end where it ends, or
    one in the middle of a wheel (a cylinder shorter than wide).
    """
    solid = geometry.solid
    if solid is not None:
        local, radius = _of_solid(solid, cylinders, rim_points)
    elif geometry.mesh is not None and (box := mesh_box(geometry)) is not None:
        local, radius = box[0] + 0.5 * _SIGNS * box[1], 0.0
    else:
        return np.zeros((0, 3)), 0.0
    return geometry.pose.apply(local), radius


def _of_solid(solid: Shape, cylinders: str, rim_points: int) -> tuple[Array, float]:
    if isinstance(solid, Sphere):
        return np.zeros((1, 3)), solid.radius
    if isinstance(solid, Box):
        return 0.5 * _SIGNS * solid.size, 0.0
    assert isinstance(solid, (Capsule, Cylinder))
    half = 0.5 * solid.length
    if isinstance(solid, Capsule):
        return np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]), solid.radius
    if cylinders == "spheres":
        half = max(half - solid.radius, 0.0)
        ends = [[0.0, 0.0, -half], [0.0, 0.0, half]]
        return np.array(ends[: 2 if half > 0.0 else 1]), solid.radius
    angle = 2.0 * np.pi * np.arange(rim_points) / rim_points
    circle = [solid.radius * np.cos(angle), solid.radius * np.sin(angle)]
    return np.concatenate([np.column_stack([*circle, np.full(rim_points, z)]) for z in (-half, half)]), 0.0


def extent(geometry: Geometry, frame: Pose) -> Array:
    """Lowest and highest coordinates (2, 3), seen from outside of `frame`, of a shape that is given in it."""
    points, radius = touching(geometry, "rim", 8)
    if not len(points):
        return np.zeros((0, 3))
    placed = frame.apply(points)
    return np.array([placed.min(axis=0) - radius, placed.max(axis=0) + radius])
