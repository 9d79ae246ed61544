"""Pictures of a mechanism, on any machine: no display, no graphics library, nothing but NumPy and Numba.

renderer = Renderer(mechanism, width=480, height=480, camera=Camera(distance=2.0, azimuth=130.0, elevation=-20.0))
image = renderer.render(sim.state.x[0], sim.state.q[0])  # uint8 (480, 480, 3)
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.engine.appearance import planes_of
from vigym.engine.errors import InputError
from vigym.engine.mechanism import Mechanism
from vigym.engine.shapes import Shape
from vigym.engine.validation import Array, count, numeric, show, suggestion, unit_vector, vector
from vigym.view.pictures.arrays import POSITION, REACH, Solids, View, buffers
from vigym.view.pictures.arrows import Arrows
from vigym.view.pictures.camera import Camera
from vigym.view.pictures.edges import smooth
from vigym.view.pictures.image import save_png, tile
from vigym.view.pictures.look import light, look
from vigym.view.pictures.project import plan
from vigym.view.pictures.raycast import draw
from vigym.view.pictures.scene import Cast, join, parts_of, plane_table

__all__ = ["Arrows", "Camera", "Renderer", "save_png", "tile"]

# Points of a pixel at an edge: every column and every row of the grid has one, in sixteenths of a pixel.
SAMPLES = {
    1: ((8, 8),),
    4: ((6, 2), (14, 6), (2, 10), (10, 14)),
    8: ((9, 5), (7, 11), (13, 9), (5, 3), (3, 13), (1, 7), (11, 15), (15, 1)),
}
_ARROW = 0.006  # radius of an arrow, seen from a distance of 1
_FLOOR = 2.0  # times the size of all bodies: larger things of the world need not be seen as a whole
_MARGIN = 1.05  # of a picture that frames the mechanism by itself


class Renderer:
    """Draws one mechanism.

    mechanism: its bodies are drawn as their shapes (a body without any as its colliders, or as the solid box with its
        mass and inertia), colliders of the world as they are, the ground as the different planes of contacts and of the
        world (z = 0 if nothing is fixed in it), each seen from above only.
    width, height: of the pictures, pixels.
    camera: None frames the bodies where they are in the first picture, and stays there.
    samples: rays through each pixel at an edge, 1, 4 or 8.
    sun: direction (3,) towards it; None is over the viewer's left shoulder.
    planes: (normal, offset) of each ground, instead of those of the mechanism.
    hulls: points (n, 3), in the body's frame, for bodies (by name) that are drawn as the convex hull of these.
    scenery: further shapes, placed in the world.
    colliders: draw those of bodies that do not look like them, too, in green.

    One Renderer draws one picture at a time; threads need one each.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        width: int = 480,
        height: int = 480,
        camera: Camera | None = None,
        *,
        samples: int = 4,
        sun: ArrayLike | None = None,
        planes: Iterable[tuple[ArrayLike, float]] | None = None,
        hulls: Mapping[str, ArrayLike] | None = None,
        scenery: Iterable[Shape] = (),
        colliders: bool = False,
    ) -> None:
        self.width, self.height = count(width, "width"), count(height, "height")
        if samples not in SAMPLES:
            raise InputError(f"samples must be one of {', '.join(map(str, SAMPLES))}, got {show(samples)}")
        if camera is not None and not isinstance(camera, Camera):
            raise InputError(f"camera must be a Camera, got {show(camera)}")
        self.camera = camera
        self._names = [body.name for body in mechanism.bodies]
        if camera is not None:
            self._tracked(camera)
        self._sun = None if sun is None else unit_vector(sun, "sun", InputError)
        self._offsets = np.array(SAMPLES[samples], float) / 16.0
        self._cast = Cast(parts_of(mechanism, hulls or {}, scenery, colliders=colliders))
        self._planes = plane_table(planes_of(mechanism) if planes is None else planes)
        self._buffers = buffers(self.width, self.height)

    def render(
        self,
        x: ArrayLike,
        q: ArrayLike,
        *,
        arrows: Arrows | Sequence[Arrows] | None = None,
        fade: ArrayLike | None = None,
    ) -> NDArray[np.uint8]:
        """A picture (height, width, 3), red, green, blue; a new array each time.

        x, q: (n_bodies, 3) m and (n_bodies, 4), scalar first; or (n, n_bodies, 3 and 4), n poses in one picture.
        arrows: what else to draw.
        fade: (n,) from 0, a pose in its own colours, to 1, almost white; the camera follows the last pose.
        """
        x, q = self._poses(x, q)
        camera, solids = self._solids(x, q, fade)
        if arrows is not None:
            drawn = [arrows] if isinstance(arrows, Arrows) else arrows
            parts = [part for some in drawn for part in some.parts(_ARROW * camera.distance)]
            solids = join([solids, Cast(parts).solids(x[0], q[0])])
        image = np.empty((self.height, self.width, 3), np.uint8)
        self._draw(image, np.empty((0, 0), np.float32), camera, x, solids)
        return image

    def depth(self, x: ArrayLike, q: ArrayLike) -> NDArray[np.float32]:
        """Return how far away everything is (height, width), m along the camera's axis; infinite where there is only
        sky."""
        x, q = self._poses(x, q)
        camera, solids = self._solids(x, q)
        image = np.empty((self.height, self.width), np.float32)
        self._draw(np.empty((0, 0, 3), np.uint8), image, camera, x, solids)
        return image

    def _draw(
        self, image: NDArray[np.uint8], depths: NDArray[np.float32], camera: Camera, x: Array, solids: Solids
    ) -> None:
        view = self._view(camera, x)
        saved = plan(view, solids, self._planes, self.width, self.height)
        colors = look(camera.distance)
        work = self._buffers
        draw(image, depths, view, solids, self._planes, colors, saved, work)
        if image.size and len(self._offsets) > 1:
            smooth(image, view, solids, self._planes, colors, saved.local, self._offsets, work)

    def _poses(self, x: ArrayLike, q: ArrayLike) -> tuple[Array, Array]:
        """(n, n_bodies, 3) and (n, n_bodies, 4)"""
        poses = []
        for name, value, size in (("x", x, 3), ("q", q, 4)):
            shape = (len(self._names), size)
            expected = f"finite numbers of shape {shape}, or (n, {len(self._names)}, {size})"
            pose = numeric(value, name, expected, InputError)
            if pose.ndim not in (2, 3) or pose.shape[-2:] != shape or not pose.size or not np.isfinite(pose).all():
                raise InputError(f"{name} must be {expected}, got shape {pose.shape}: {show(value)}")
            poses.append(pose.reshape(-1, *shape))
        if len(poses[0]) != len(poses[1]):
            raise InputError(f"x has {len(poses[0])} poses, but q has {len(poses[1])}")
        return poses[0], poses[1]

    def _solids(self, x: Array, q: Array, fade: ArrayLike | None = None) -> tuple[Camera, Solids]:
        """The mechanism in all its poses, and the camera, which is made now if there is none yet."""
        amount = np.zeros(len(x)) if fade is None else vector(fade, (len(x),), "fade", InputError)
        solids = join([self._cast.solids(*pose) for pose in zip(x, q, amount.clip(0.0, 1.0).tolist(), strict=True)])
        if self.camera is None:
            self.camera = framing(solids, np.tile(self._cast.body, len(x)), self.width / self.height)
        return self.camera, solids

    def _view(self, camera: Camera, x: Array) -> View:
        at = np.array(camera.lookat)
        if (body := self._tracked(camera)) is not None:
            at[:2] += x[-1, body, :2]
        sun = light(camera.azimuth) if self._sun is None else self._sun
        return camera.view(self.width, self.height, at, sun)

    def _tracked(self, camera: Camera) -> int | None:
        """The place of the body that the camera follows."""
        body = camera.trackbodyid
        if isinstance(body, str):
            if body not in self._names:
                raise InputError(f"camera: body {body!r} is unknown; {suggestion(body, self._names)}")
            return self._names.index(body)
        if body is not None and not 0 <= body < len(self._names):
            raise InputError(f"camera: trackbodyid must be 0 to {len(self._names) - 1}, got {body}")
        return body


def framing(solids: Solids, body: NDArray[np.int64], aspect: float) -> Camera:
    """A camera that sees the solids, of these bodies (-1: the world), from the front right and a little above; aspect:
    width / height of the picture."""
    if not len(solids.table):
        return Camera()
    seen = framed(solids, body)
    middle, radius = ball(solids.table[seen, POSITION : POSITION + 3], solids.table[seen, REACH])
    half = math.radians(Camera.fovy / 2.0)
    narrow = math.atan(math.tan(half) * min(1.0, aspect))
    return Camera(_MARGIN * radius / math.sin(narrow), 130.0, -20.0, tuple(middle.tolist()))


def framed(solids: Solids, body: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The solids that a picture should show as a whole: all but those of the world (body -1) that are larger than the
    bodies together, such as a floor."""
    position, reach, seen = solids.table[:, POSITION : POSITION + 3], solids.table[:, REACH], body >= 0
    if not seen.any():
        return ~seen
    return seen | (reach < _FLOOR * ball(position[seen], reach[seen])[1])


def ball(position: Array, reach: Array) -> tuple[Array, float]:
    """Centre and radius of a ball that holds those of radius `reach` (n,) at `position` (n, 3)."""
    middle = 0.5 * ((position - reach[:, None]).min(axis=0) + (position + reach[:, None]).max(axis=0))
    return middle, float((np.linalg.norm(position - middle, axis=1) + reach).max())
