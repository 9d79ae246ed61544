"""Camera of a picture."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.validation import Array, number, show, vector
from vigym.view.pictures.arrays import Vector, View

FREE, TRACKING = 0, 1  # `type` of MuJoCo's cameras; 2 and 3 are fixed in the model and set by the user


@dataclass(frozen=True)
class Camera:
    """A pinhole camera that looks at a point, with the names, the angles and the defaults of MuJoCo's.

    distance: from the point, m.
    azimuth, elevation: of the direction of view, degrees: it is (cos e cos a, cos e sin a, sin e), so that 90 looks
        along y with x to the right, and a negative elevation looks down.
    lookat: the point (3,), world, m.
    trackbodyid: a body, by name or by its place in the mechanism (from 0), that the camera follows: the point is then
        `lookat` beside the body: its x and y are counted from the body's; its height remains one above z = 0, so that
        the picture does not bounce. None or -1: no body.
    fovy: angle between the lower and the upper edge of the picture, degrees.
    """

    distance: float = 2.0
    azimuth: float = 90.0
    elevation: float = -45.0
    lookat: Vector = (0.0, 0.0, 0.0)
    trackbodyid: int | str | None = None
    fovy: float = 45.0

    def __post_init__(self) -> None:
        for name, above in (("distance", 0.0), ("azimuth", None), ("elevation", None), ("fovy", 0.0)):
            self._store(name, number(getattr(self, name), f"camera: {name}", InputError, above=above))
        self._store("lookat", tuple(vector(self.lookat, (3,), "camera: lookat", InputError).tolist()))
        if not self.fovy < 179.0:
            raise InputError(f"camera: fovy must be below 179 degrees, got {self.fovy:g}")
        if not abs(self.elevation) <= 90.0:
            raise InputError(f"camera: elevation must be -90 to 90 degrees, got {self.elevation:g}")
        body = self.trackbodyid
        if isinstance(body, (int, np.integer)) and not isinstance(body, bool):
            self._store("trackbodyid", None if body == -1 else int(body))
        elif not (body is None or isinstance(body, str)):
            raise InputError(f"camera: trackbodyid must be a body's name or number, got {show(body)}")

    def _store(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)  # the dataclass is frozen

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "Camera":
        """Make a camera from the dictionary that Gymnasium's MuJoCo environments call `default_camera_config`.

        type: 0 is a free camera, also with a trackbodyid; 1, or none given, follows trackbodyid if there is one.
        fixedcamid: -1; mechanisms have no cameras of their own.
        """
        known = {"type", "fixedcamid", "trackbodyid", "distance", "lookat", "azimuth", "elevation", "fovy"}
        if unknown := set(config) - known:
            raise InputError(f"camera: {sorted(unknown)} unknown; known: {', '.join(sorted(known))}")
        values = dict(config)
        kind, fixed = values.pop("type", TRACKING), values.pop("fixedcamid", -1)
        if kind not in (FREE, TRACKING) or fixed != -1:
            raise InputError(f"camera: mechanisms have no fixed cameras, got type {show(kind)}, id {show(fixed)}")
        if kind == FREE:
            values.pop("trackbodyid", None)
        return cls(**values)

    def axes(self) -> tuple[Array, Array, Array]:
        """Unit vectors right, up and forward in the world (forward is the direction of view)."""
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        forward = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
        right = np.array([math.sin(a), -math.cos(a), 0.0])
        return right, np.cross(right, forward), forward

    def view(self, width: int, height: int, at: Array, light: Array) -> View:
        """Return what the ray caster needs to know; `at` (3,) is the point looked at, `light` points towards the
        sun."""
        right, up, forward = self.axes()
        eye = at - self.distance * forward
        pixel = 2.0 * math.tan(math.radians(self.fovy) / 2.0) / height
        axes = _tuple(right), _tuple(up), _tuple(forward)
        return View(_tuple(eye), *axes, pixel, width / 2.0, height / 2.0, _tuple(light))


def _tuple(v: Array) -> Vector:
    x, y, z = v.tolist()
    return x, y, z
