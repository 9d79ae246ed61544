"""Looks of the geoms of a compiled model: shapes, and surfaces of meshes, in the colours of their materials."""

from dataclasses import replace
from typing import Any

import numpy as np

from vigym.engine.errors import MechanismError
from vigym.engine.shapes import Color, Shape
from vigym.engine.surface import Surface
from vigym.engine.validation import Array
from vigym.formats.meshes import simplified
from vigym.formats.mjcf.notes import Notes
from vigym.formats.mjcf.rigid import Rigid
from vigym.formats.urdf.parts import Pose, placed

MOST_FACES = 20_000  # of a mesh; larger ones are simplified
MOST_IN_ALL = 200_000  # of a model
_HFIELD, _ELLIPSOID, _MESH = 1, 4, 7  # mjtGeom
_SHOWN_GROUPS = 3  # MuJoCo's viewer shows groups 0 to 2; models have what only collides in higher ones
_RGB_ROLE = 1  # mjTEXROLE_RGB
_AROUND, _ALONG = 24, 12  # edges of an ellipsoid


class Looks:
    """Looks of geoms: `of(geom, shape)`; each mesh is read once, for all of its geoms."""

    def __init__(self, model: Any, rigid: Rigid, notes: Notes) -> None:
        self.model, self.rigid, self.notes = model, rigid, notes
        self._forms: dict[tuple[int, int], Surface | None] = {}
        drawn = sum(model.geom_type[g] in (_MESH, _HFIELD) for g in range(model.ngeom))
        self._most = min(MOST_FACES, MOST_IN_ALL // max(1, drawn))

    def shown(self, g: int) -> bool:
        """Return whether MuJoCo's viewer draws a geom; others are drawn where a body has nothing else."""
        return bool(self.model.geom_group[g] < _SHOWN_GROUPS) and self.color(g)[3] > 0.0

    def of(self, g: int, shape: Shape | None) -> Shape | None:
        """The geom to be drawn, in the frame of the mechanism's body; its `shape` unless it has a finer one."""
        model = self.model
        kind = int(model.geom_type[g])
        if kind not in (_MESH, _HFIELD, _ELLIPSOID):
            return shape
        key = kind, g if kind == _ELLIPSOID else int(model.geom_dataid[g])
        if key not in self._forms:
            vertices, faces = self._triangles(g, kind)
            try:
                self._forms[key] = Surface(*simplified(vertices, faces, self._most))
            except MechanismError:  # of no area
                self.notes.other("a mesh without area is not drawn")
                self._forms[key] = None
        form = self._forms[key]
        if form is None:
            return shape
        pose = self.rigid.place(model.geom_bodyid[g], Pose(model.geom_pos[g].copy(), model.geom_quat[g].copy()))
        return placed(replace(form, color=self.color(g)), pose)

    def color(self, g: int) -> Color:
        """Colour of a geom: its own unless it is MuJoCo's default; that of its material, with its texture's mean."""
        model, material = self.model, int(self.model.geom_matid[g])
        rgba = model.geom_rgba[g].astype(float)
        if material >= 0 and np.allclose(rgba, (0.5, 0.5, 0.5, 1.0)):
            rgba = model.mat_rgba[material].astype(float)
            texture = int(model.mat_texid[material, _RGB_ROLE])
            if texture >= 0:
                rgba[:3] *= self._mean(texture)
        red, green, blue, opacity = np.clip(rgba, 0.0, 1.0).tolist()
        return red, green, blue, opacity

    def _mean(self, texture: int) -> Array:
        """Mean red, green and blue of a texture, which itself is not drawn."""
        model = self.model
        channels = int(model.tex_nchannel[texture])
        size = int(model.tex_width[texture]) * int(model.tex_height[texture]) * channels
        start = int(model.tex_adr[texture])
        mean = model.tex_data[start : start + size].reshape(-1, channels).mean(axis=0) / 255.0
        self.notes.other("textures: their mean colour is drawn")
        return mean[:3] if channels >= 3 else np.full(3, mean[0])

    def _triangles(self, g: int, kind: int) -> tuple[Array, Any]:
        """Vertices (n, 3) in the geom's frame, and faces (m, 3)."""
        model, data = self.model, int(self.model.geom_dataid[g])
        if kind == _ELLIPSOID:
            return _ellipsoid(model.geom_size[g].astype(float))
        if kind == _HFIELD:
            start, rows, columns = (
                int(field[data]) for field in (model.hfield_adr, model.hfield_nrow, model.hfield_ncol)
            )
            heights = model.hfield_data[start : start + rows * columns].reshape(rows, columns).astype(float)
            x, y, z, _ = model.hfield_size[data].astype(float)
            return _grid(np.linspace(-x, x, columns), np.linspace(-y, y, rows), z * heights)
        points = slice(model.mesh_vertadr[data], model.mesh_vertadr[data] + model.mesh_vertnum[data])
        faces = slice(model.mesh_faceadr[data], model.mesh_faceadr[data] + model.mesh_facenum[data])
        return model.mesh_vert[points].astype(float), model.mesh_face[faces].astype(np.int64)


def _grid(x: Array, y: Array, z: Array) -> tuple[Array, Any]:
    """Triangles of heights z (len(y), len(x)) above a grid."""
    vertices = np.stack([*np.meshgrid(x, y), z], -1).reshape(-1, 3)
    a = (np.arange(len(y) - 1)[:, None] * len(x) + np.arange(len(x) - 1)).reshape(-1)
    first, second = np.stack([a, a + 1, a + 1 + len(x)], 1), np.stack([a, a + 1 + len(x), a + len(x)], 1)
    return vertices, np.concatenate([first, second])


def _ellipsoid(radii: Array) -> tuple[Array, Any]:
    """Triangles of an ellipsoid; those at the poles have no area, which surfaces leave out."""
    turn, angle = np.meshgrid(
        np.linspace(0.0, 2.0 * np.pi, _AROUND + 1), np.linspace(-0.5 * np.pi, 0.5 * np.pi, _ALONG + 1)
    )
    unit = np.stack([np.cos(angle) * np.cos(turn), np.cos(angle) * np.sin(turn), np.sin(angle)], -1)
    return unit.reshape(-1, 3) * radii, _grid(turn[0], angle[:, 0], angle)[1]
