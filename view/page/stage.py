"""A mechanism on a page of viser: its bodies, the world, the ground, arrows for the forces at contacts."""

import contextlib
import io
import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.appearance import planes_of, usual_weight
from vigym.engine.mechanism import Mechanism
from vigym.engine.rotation import Array, from_matrix
from vigym.engine.shapes import Shape
from vigym.view.extra import check
from vigym.view.page.gate import Gate
from vigym.view.page.mesh import Mesh, merge, mesh
from vigym.view.pictures.arrows import force_scale, visible
from vigym.view.pictures.camera import Camera
from vigym.view.pictures.look import tile_size
from vigym.view.pictures.scene import Part, hidden_colliders, parts_of, plane_table

TILES = 48  # along an edge of the ground that is drawn
BRIGHT, DARK = (196, 202, 209), (156, 165, 176)
ARROW = (230, 41, 56)
_NONE = np.full((1, 2, 3), (0.0, 0.0, -1e3))  # where an arrow of no length waits: there is always one


def start_server(gate: Gate | None = None) -> Any:
    """A server of viser behind a gate, by default one that nobody can pass."""
    check("viser", "the page")
    from vigym.view.page.server import start

    return start(gate or Gate())


def stop_server(server: Any) -> None:
    """End it, as silently."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


class Stage:
    """Scene of one mechanism on a server.

    camera: where one looks from at first; a followed body stays in the middle, the world moves instead
    scenery, planes: as for `Renderer`
    weight: a force whose arrow is well visible, N; chosen by the masses unless given
    """

    def __init__(
        self,
        server: Any,
        mechanism: Mechanism,
        camera: Camera,
        scenery: Iterable[Shape] = (),
        planes: Iterable[tuple[ArrayLike, float]] | None = None,
        weight: float | None = None,
    ) -> None:
        self.server, self.mechanism, self.camera = server, mechanism, camera
        self.scale = force_scale(weight or usual_weight(mechanism), camera.distance)
        names = [body.name for body in mechanism.bodies]
        body = camera.trackbodyid
        self.tracked = names.index(body) if isinstance(body, str) else body
        scene = server.scene
        scene.set_up_direction("+z")
        scene.configure_fog(2.0 * camera.distance, 4.0 * camera.distance, color=(255, 255, 255))
        self.world = scene.add_frame("/world", show_axes=False)
        # letters and digits: a slash would make another node, and names may come from a stranger's file
        plain = [re.sub(r"[^\w -]", "_", name)[:80] for name in names]
        self.bodies = [scene.add_frame(f"/world/{k} {name}", show_axes=False) for k, name in enumerate(plain)]
        self.looks = self.add(parts_of(mechanism, {}, scenery), "")
        self.colliders = self.add(hidden_colliders(mechanism), "collider ", opacity=0.5, visible=False)
        self.grounds = [
            Ground(scene, f"/world/ground {k}", row, tile_size(camera.distance))
            for k, row in enumerate(plane_table(planes_of(mechanism) if planes is None else planes))
        ]
        self.arrows: Any = None
        if mechanism.contacts or mechanism.colliders:
            r = 0.006 * camera.distance
            sizes = {"shaft_radius": r, "head_radius": 2.4 * r, "head_length": 5.0 * r}
            self.arrows = scene.add_arrows("/world/forces", _NONE, ARROW, **sizes)
        self._look()

    def add(self, parts: Iterable[Part], name: str, **look: Any) -> list[Any]:
        """Nodes of the solids, one for each body and colour."""
        looks: dict[tuple[int, tuple[float, ...]], list[Mesh]] = {}
        for part in parts:
            looks.setdefault((part.body, part.color), []).append(mesh(part))
        nodes = []
        for k, ((owner, color), meshes) in enumerate(looks.items()):
            node = f"{'/world' if owner < 0 else self.bodies[owner].name}/{name}{k}"
            rgb = tuple(round(255 * c) for c in color)
            nodes.append(self.server.scene.add_mesh_simple(node, *merge(meshes), color=rgb, **look))
        return nodes

    def show_colliders(self, shown: bool) -> None:
        """Show or hide the colliders that bodies do not look like."""
        show_nodes(self.colliders, shown)

    def _look(self) -> None:
        """The camera of whoever opens the page."""
        first = self.server.initial_camera
        forward = self.camera.axes()[2]
        at = np.array(self.camera.lookat)
        first.look_at, first.position = at, at - self.camera.distance * forward
        first.up, first.fov = (0.0, 0.0, 1.0), math.radians(self.camera.fovy)

    def show(self, x: Array, q: Array, forces: tuple[Array, Array] | None = None, *, follow: bool = True) -> None:
        """Poses x (n_bodies, 3), q (n_bodies, 4); and where forces act (n, 3), m, and the forces (n, 3), N, world, if
        they are to be seen."""
        # rounded in the binary system: 0.1 mm, and files that compress well
        x, q = np.round(x * 8192.0) / 8192.0, np.round(q * 16384.0) / 16384.0
        middle = x[self.tracked or 0, :2]
        with self.server.atomic():
            if self.tracked is not None:
                self.world.position = (-middle[0], -middle[1], 0.0) if follow else (0.0, 0.0, 0.0)
            for ground in self.grounds:
                ground.follow(middle)
            for node, position, wxyz in zip(self.bodies, x, q, strict=True):
                node.position, node.wxyz = position, wxyz
            if self.arrows is not None:
                self.arrows.points = _NONE if forces is None else self._arrows(*forces)

    def _arrows(self, points: Array, forces: Array) -> Array:
        """Start and tip of every arrow that can be seen, (n, 2, 3); of one of no length if there is none."""
        start, along = visible(points, forces, self.scale, self.camera.distance)
        return np.round(np.stack([start, start + along], 1) * 1024.0) / 1024.0 if len(start) else _NONE


def show_nodes(nodes: Iterable[Any], shown: bool) -> None:
    """Show or hide nodes; pages hear of it only if it is news."""
    for node in nodes:
        if node.visible != shown:
            node.visible = shown


class Ground:
    """A plane of tiles that goes where it is looked at, by whole pairs of tiles.

    row: of `plane_table`, tangents, normal and offset
    """

    def __init__(self, scene: Any, name: str, row: Array, size: float) -> None:
        self.tangents, self.normal, self.offset, self.step = row[:6].reshape(2, 3), row[6:9], row[9], 2.0 * size
        frame = np.stack([*self.tangents, self.normal], 1)
        self.node = scene.add_frame(name, show_axes=False, wxyz=from_matrix(frame))
        for parity, color in enumerate((BRIGHT, DARK)):
            vertices, faces = tiles(size, parity)
            scene.add_mesh_simple(f"{name}/{parity}", vertices, faces, color=color, cast_shadow=False)
        self.follow(np.zeros(2))

    def follow(self, at: Array) -> None:
        """Have its middle near the point at (2,) of the world's x and y."""
        point = np.array([*at, 0.0])
        point[2] = 0.0 if abs(self.normal[2]) < 1e-9 else (self.offset - self.normal[:2] @ at) / self.normal[2]
        whole = self.step * np.round(self.tangents @ point / self.step)
        self.node.position = whole @ self.tangents + self.offset * self.normal


def tiles(size: float, parity: int) -> Mesh:
    """Every other square of a board about the origin, in the plane z = 0."""
    i, j = np.meshgrid(np.arange(TILES), np.arange(TILES), indexing="ij")
    chosen = (i + j) % 2 == parity
    corner = size * (np.stack([i[chosen], j[chosen], np.zeros(chosen.sum())], -1) - [TILES / 2, TILES / 2, 0.0])
    square = size * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    vertices = (corner[:, None] + square).reshape(-1, 3)
    faces = 4 * np.arange(len(corner))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    return vertices, faces.reshape(-1, 3)
