"""Visual meshes of a URDF file as surfaces to draw: few enough triangles in all, each file read once."""

import os
from dataclasses import replace

import numpy as np
from gymnasium.error import DependencyNotInstalled

from vigym.engine.errors import InputError, MechanismError
from vigym.engine.surface import Surface
from vigym.formats.meshes import read_surfaces
from vigym.formats.urdf.parts import Geometry, Surfaces, placed
from vigym.formats.urdf.xml import Element

MOST_FACES = 20_000  # of a mesh; larger ones are simplified
MOST_IN_ALL = 200_000  # of a robot
MOST_FILES = 2_000


def visual_surfaces(robot: Element) -> Surfaces:
    """A reader of the visual meshes of this robot; a mesh that cannot be read is a warning, and has no surfaces."""
    meshes = sum(1 for link in robot.all("link") for visual in link.all("visual") if _is_mesh(visual))
    most = min(MOST_FACES, MOST_IN_ALL // max(1, meshes))
    read: dict[tuple[str, str], list[Surface] | str] = {}

    def surfaces(visual: Geometry) -> tuple[Surface, ...]:
        mesh, element = visual.mesh, visual.element
        assert mesh is not None
        if mesh.path is None:  # which is told elsewhere
            return ()
        key = os.path.realpath(mesh.path), mesh.path.suffix
        if key not in read:
            try:
                if len(read) >= MOST_FILES:
                    raise InputError(f"at most {MOST_FILES:,} files of meshes are read")
                read[key] = read_surfaces(mesh.path, most)
            except (InputError, DependencyNotInstalled) as cause:
                read[key] = str(cause)
        found = read[key]
        if isinstance(found, str):
            element.note(f"mesh {mesh.filename!r} is not drawn: {found}")
            return ()
        try:
            return tuple(_scaled(surface, visual, mesh.scale) for surface in found)
        except MechanismError as cause:
            element.note(f"mesh {mesh.filename!r} is not drawn: {cause}")
            return ()

    return surfaces


def _is_mesh(visual: Element) -> bool:
    return any(part.tag == "mesh" for geometry in visual.all("geometry") for part in geometry.elements)


def _scaled(surface: Surface, visual: Geometry, scale: np.ndarray) -> Surface:
    """The surface in the link frame, in the colour that the URDF file gives it, else its own."""
    color = surface.color if visual.color is None else visual.color
    if (scale == 1.0).all():
        sized = replace(surface, color=color)
    else:
        sized = Surface(surface.vertices * scale, surface.faces, color=color)
    found = placed(sized, visual.pose)
    assert isinstance(found, Surface)
    return found
