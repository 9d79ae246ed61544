"""Collision elements as colliders: solids as they are, meshes as their convex hulls, or as several of parts of them."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from gymnasium.error import DependencyNotInstalled

from vigym.engine.collisions import ignore_overlapping
from vigym.engine.errors import InputError, MechanismError
from vigym.engine.joint import WORLD
from vigym.engine.mechanism import Mechanism
from vigym.engine.polyhedra import Hull
from vigym.engine.shapes import Shape
from vigym.engine.surface import Surface
from vigym.formats.hulls import EXTRA, HAS_SCIPY, hull_of
from vigym.formats.meshes import read_surfaces
from vigym.formats.urdf.build import place_of
from vigym.formats.urdf.parts import Geometry, Link, MeshPart, Pose, placed
from vigym.formats.urdf.tree import Arrangement
from vigym.formats.urdf.xml import Element

MOST_FACES = 200_000  # of a mesh; larger ones are simplified first
MOST_COLLIDERS = 2_000
HIDDEN = (0.0, 0.0, 0.0, 0.0)


class Solids:
    """Reads collision elements; each mesh is read once."""

    def __init__(self, decompose: bool) -> None:
        self.decompose = decompose
        self._read: dict[tuple[str, str, bytes], list[Hull]] = {}

    def of(self, geometry: Geometry) -> list[Shape]:
        """Solids of a collision element, in the link frame."""
        if geometry.solid is not None:
            return [geometry.solid]
        if geometry.mesh is None:
            return []
        mesh, element = geometry.mesh, geometry.element
        if mesh.path is None:
            raise element.error(
                f"mesh {mesh.filename!r} is not found; put it beside the file, or give its package's folder: packages="
            )
        key = os.path.realpath(mesh.path), mesh.path.suffix, mesh.scale.tobytes()
        if key not in self._read:
            try:
                self._read[key] = self._hulls(read_surfaces(mesh.path, MOST_FACES), mesh, element)
            except (InputError, DependencyNotInstalled) as cause:
                raise element.error(f"mesh {mesh.filename!r} cannot be read: {cause}") from cause
        return [placed(hull, geometry.pose) for hull in self._read[key]]

    def _hulls(self, surfaces: Sequence[Surface], mesh: MeshPart, element: Element) -> list[Hull]:
        """Convex hulls of a mesh, or of its parts."""
        if not HAS_SCIPY:
            raise element.error(f"the convex hull of mesh {mesh.filename!r} {EXTRA}")
        start = np.cumsum([0, *(len(surface.vertices) for surface in surfaces)])
        vertices = np.concatenate([surface.vertices for surface in surfaces]) * mesh.scale
        faces = np.concatenate([surface.faces + first for surface, first in zip(surfaces, start, strict=False)])
        clouds = convex_parts(vertices, faces) if self.decompose else [vertices]
        found = []
        for points in clouds:
            try:
                found.append(hull_of(points))
            except MechanismError as cause:
                element.note(f"mesh {mesh.filename!r} has no solid hull, left out: {cause}")
        return found


def convex_parts(vertices: np.ndarray, faces: np.ndarray) -> list[np.ndarray]:
    """Corners of nearly convex parts of a mesh, by CoACD; DependencyNotInstalled without it."""
    try:
        import coacd  # type: ignore[import-not-found]
    except ImportError as cause:
        raise DependencyNotInstalled("decompose=True needs CoACD: pip install coacd") from cause
    coacd.set_log_level("error")
    return [np.array(part[0], float) for part in coacd.run_coacd(coacd.Mesh(vertices, faces), seed=0)]


def add_solids(
    mechanism: Mechanism, arrangement: Arrangement, links: Iterable[Link], friction: float, decompose: bool
) -> list[tuple[str, str]]:
    """Colliders of all links, named after the link, with a number where it has several; returns those that overlap
    where the robot starts, which do not touch each other."""
    solids, count = Solids(decompose), 0
    for link in links:
        group, pose = arrangement.group[link.name], arrangement.inside[link.name]
        shapes = [shape for geometry in link.collisions for shape in solids.of(geometry)]
        count += len(shapes)
        if count > MOST_COLLIDERS:
            raise link.element.error(f"there are more than {MOST_COLLIDERS:,} colliders")
        for k, shape in enumerate(shapes):
            there = group.place(pose @ Pose(np.array(shape.position), np.array(shape.orientation)))
            if group.name == WORLD:  # which would be drawn, beside what the link looks like
                shape = replace(shape, color=HIDDEN)
            with place_of(link.element):
                mechanism.add_collider(
                    name=link.name if len(shapes) == 1 else f"{link.name} {k}",
                    body=group.name,
                    shape=placed(shape, there),
                    friction=friction if link.friction is None else link.friction,
                )
    return ignore_overlapping(mechanism)
