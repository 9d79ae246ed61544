"""Sensors that look: range finders and height scans, by exact ray casts against colliders and ground."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.engine.errors import InputError
from vigym.engine.joint import WORLD
from vigym.engine.kernels.collision.nearest import FAR
from vigym.engine.rays import cast, solids_of
from vigym.engine.rotation import Array, rotate
from vigym.engine.sensors.sensor import Sensor, mount
from vigym.engine.simulator import Simulator
from vigym.engine.validation import number, numeric, show, words


class _Rays(Sensor):
    """Rays against the colliders of chosen bodies, and the planes of contacts, which are ground of the world."""

    _most: float

    def _look_at(self, sim: Simulator, ignored: Iterable[str]) -> None:
        self._solids = solids_of(sim.model, lambda name: name not in ignored)
        contacts = [] if WORLD in ignored else list(enumerate(sim.model.mechanism.contacts))
        planes = {(*contact.normal.tolist(), contact.offset): k for k, contact in reversed(contacts)}
        self._planes = list(planes.values())
        self._normals = np.array([sim.model.mechanism.contacts[k].normal for k in self._planes]).reshape(-1, 3)

    def _distances(self, origins: Array, ways: Array) -> Array:
        """Distances (num_envs, k) along unit `ways` from `origins`, (num_envs, k, 3)."""
        state = self.sim.state
        found = cast(self._solids, state.x, state.q, origins, ways, self._most)
        if self._planes:
            offsets = self.sim.parameter("offset")[:, self._planes]
            height, slope = origins @ self._normals.T - offsets[:, None], ways @ self._normals.T
            along = np.divide(-height, slope, out=np.full(slope.shape, FAR), where=slope < 0.0)
            found = np.minimum(found, np.where(height > 0.0, along, 0.0).min(-1))
        return found


class RangeFinder(_Rays):
    """Distances along rays from a point of a body to the first collider, or plane of contacts, m: (num_envs, k).

    At most `max_distance`; 0 where it begins inside a solid. The body itself, and those of `ignore`, are not seen.

    body, point: as of `Imu`. directions: (k, 3) or (3,), in the body's frame, of any length. Further arguments: see
    `Sensor`.
    """

    def __init__(
        self,
        sim: Simulator,
        body: str,
        point: ArrayLike = (0.0, 0.0, 0.0),
        directions: ArrayLike = (0.0, 0.0, -1.0),
        *,
        max_distance: float = 100.0,
        ignore: Iterable[str] = (),
        **options: Any,
    ) -> None:
        self._body, self._point, _ = mount(sim, body, point, (1.0, 0.0, 0.0, 0.0))
        expected = "directions must be finite vectors other than 0, of shape (3,) or (k, 3)"
        ways = np.atleast_2d(numeric(directions, "directions", "an array of numbers of shape (k, 3)", InputError))
        size = np.linalg.norm(ways, axis=-1, keepdims=True) if ways.ndim == 2 else np.zeros(1)
        if ways.ndim != 2 or ways.shape[1] != 3 or not len(ways) or not (np.isfinite(size) & (size > 0.0)).all():
            raise InputError(f"{expected}, got {show(directions)}")
        self._ways = ways / size
        self._most = number(max_distance, "max_distance", InputError, above=0.0)
        self._look_at(sim, {body, *words(ignore, "ignore", InputError)})
        super().__init__(sim, (len(ways),), **options)

    def _measure(self, began: Array, passed: Array) -> Array:
        x, q = self.sim.state.x[:, self._body], self.sim.state.q[:, self._body, None]
        shape = (len(x), len(self._ways), 3)
        origins = np.broadcast_to((x + rotate(q[:, 0], self._point))[:, None], shape)
        return self._distances(origins, rotate(q, np.broadcast_to(self._ways, shape)))


class HeightScan(_Rays):
    """Heights of the ground around a body, above the world's z = 0 less the body's own height, m: (num_envs, k).

    Rays fall from `above` over the body at points around it, which turn with it about the world's z axis alone; they
    meet colliders of the world and planes of contacts, no other bodies. Where there is nothing, -max_depth.

    points: (k, 2), m. above, max_depth: m, over and under the body's centre of mass. Further arguments: see `Sensor`.
    """

    def __init__(
        self,
        sim: Simulator,
        body: str,
        points: ArrayLike,
        *,
        above: float = 10.0,
        max_depth: float = 100.0,
        **options: Any,
    ) -> None:
        self._body, _, _ = mount(sim, body, (0, 0, 0), (1, 0, 0, 0))
        given = numeric(points, "points", "an array of numbers of shape (k, 2)", InputError)
        if given.ndim != 2 or given.shape[1] != 2 or not len(given) or not np.isfinite(given).all():
            raise InputError(f"points must be finite, of shape (k, 2), got {show(points)}")
        self._points = given
        self._above = number(above, "above", InputError, at_least=0.0)
        self._most = self._above + number(max_depth, "max_depth", InputError, above=0.0)
        self._look_at(sim, set(sim.body_names))
        super().__init__(sim, (len(given),), **options)

    def _measure(self, began: Array, passed: Array) -> Array:
        x, q = self.sim.state.x[:, self._body], self.sim.state.q[:, self._body]
        heading = rotate(q, np.array([1.0, 0.0, 0.0]))[:, :2]
        size = np.linalg.norm(heading, axis=-1, keepdims=True)
        c, s = np.where(size > 0.0, heading / np.where(size > 0.0, size, 1.0), [1.0, 0.0]).T[..., None]
        a, b = self._points.T
        origins = np.stack([c * a - s * b, s * a + c * b, np.full((len(x), len(a)), self._above)], -1) + x[:, None]
        down = np.broadcast_to([0.0, 0.0, -1.0], origins.shape)
        return self._above - self._distances(origins, down)
