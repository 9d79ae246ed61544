"""Layers of a page that explain a mechanism: inertia boxes, centres of mass, contact points."""

from collections.abc import Callable
from typing import Any

import numpy as np

from vigym.engine.shapes import Sphere
from vigym.engine.simulator import Simulator
from vigym.engine.validation import Array
from vigym.view.page.stage import Stage, show_nodes
from vigym.view.pictures.arrows import forces_of
from vigym.view.pictures.scene import part, stand_in

INERTIA, CENTRE, WHOLE, POINT = (0.93, 0.62, 0.18), (0.10, 0.10, 0.12), (0.86, 0.15, 0.20), (0.75, 0.20, 0.80)
SMALL, LARGE = 0.006, 0.012  # radii of marks, of the camera's distance
_NOWHERE = np.array([[0.0, 0.0, -1e3]])  # a cloud has at least one point


class Layers:
    """Layers that a stage can show beside the looks of bodies; `names` in the order in which pages list them."""

    def __init__(self, stage: Stage) -> None:
        self.stage, scene = stage, stage.server.scene
        mechanism, distance = stage.mechanism, stage.camera.distance
        bodies = mechanism.bodies
        place = {body.name: k for k, body in enumerate(bodies)}
        self._mass = np.array([body.mass for body in bodies])
        boxes = [part(stand_in(body), INERTIA, k) for k, body in enumerate(bodies)]
        centres = [part(Sphere(SMALL * distance), CENTRE, k) for k in range(len(bodies))]
        points = [
            part(Sphere(max(c.radius, SMALL * distance), position=tuple(c.point)), POINT, place[c.body])
            for c in mechanism.contacts
        ]
        whole = [round(255 * c) for c in WHOLE]
        self._whole = scene.add_icosphere("/world/whole", LARGE * distance, tuple(whole), visible=False)
        size, color = 1.5 * LARGE * distance, tuple(round(255 * c) for c in POINT)
        self._touching = scene.add_point_cloud(
            "/world/touching",
            _NOWHERE,
            color,
            point_size=size,
            point_shape="circle",
            precision="float32",
            visible=False,
        )
        nodes: dict[str, list[Any]] = {
            "Looks": stage.looks,
            "Colliders": stage.colliders,
            "Contact points": [*stage.add(points, "contact ", opacity=0.7, visible=False), self._touching],
            "Inertia boxes": stage.add(boxes, "inertia ", opacity=0.5, visible=False),
            "Centres of mass": [*stage.add(centres, "centre ", visible=False), self._whole],
        }
        self._nodes = {name: found for name, found in nodes.items() if found}
        self.names = tuple(self._nodes)

    def show(self, sim: Simulator, wanted: Callable[[str], bool]) -> None:
        """Show the layers of which wanted(name) is true, for the state of a simulator."""
        x = sim.state.x[0]
        for name, nodes in self._nodes.items():
            show_nodes(nodes, wanted(name))
        if wanted("Centres of mass"):
            self._whole.position = self._mass @ x / self._mass.sum()
        if wanted("Contact points"):
            self._touching.points = touching(sim)


def touching(sim: Simulator) -> Array:
    """Points (n, 3) where forces act between colliders, or with the ground; one that nobody sees if there is none."""
    points, forces = forces_of(sim, 0)
    pressed = points[np.linalg.norm(forces, axis=-1) > 0.0]
    return (pressed if len(pressed) else _NOWHERE).astype(np.float32)
