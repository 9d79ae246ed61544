"""A film strip: several poses of a run in one picture, the earlier ones paler; or side by side. Needs no extra."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vigym.engine.appearance import is_furnished
from vigym.engine.errors import InputError
from vigym.engine.rotation import Array
from vigym.engine.validation import count, number, vector
from vigym.view.pictures.arrays import POSITION, REACH, Solids
from vigym.view.pictures.camera import Camera
from vigym.view.pictures.image import grid_shape, save_png, tile
from vigym.view.pictures.picture import framed
from vigym.view.pictures.scene import Cast, join, parts_of

if TYPE_CHECKING:
    from vigym.view.replay.replay import Replay


def strip(
    replay: "Replay",
    path: Path,
    *,
    poses: int = 6,
    window: tuple[float, float] | None = None,
    spread: float | None = None,
    camera: Mapping[str, Any] | None = None,
    width: int = 960,
    height: int = 400,
    forces: bool = True,
    colliders: bool = False,
) -> None:
    """Write a PNG. Where bodies may touch solids of the world, which cannot move with them, every pose has a picture of
    its own.

    poses: how many
    window: from and to when, s; all of it, unless given
    spread: how far each pose is moved to the right of the one before, m; as far as it takes to keep them apart
    camera: as `default_camera_config`; unless given, on all poses, from the side if they go somewhere
    forces: draw those at contacts where every pose has a picture of its own
    colliders: draw those of bodies that do not look like them, too
    """
    n, width, height = count(poses, "poses"), count(width, "width"), count(height, "height")
    first, last = (0.0, replay.time[-1]) if window is None else vector(window, (2,), "window", InputError)
    if not 0.0 <= first <= last:
        raise InputError(f"window must be two times, the earlier one first, got {window!r}")
    times = np.linspace(first, min(last, replay.time[-1]), n)
    shown = [replay.at(time) for time in times]
    x, q = (np.stack([pose[k] for pose in shown]) for k in range(2))
    eye = replace(replay.camera if camera is None else Camera.from_config(camera), trackbodyid=None)
    if is_furnished(replay.mechanism):
        columns, lines = grid_shape(n)
        w, h = count(width // columns, "width / columns"), count(height // lines, "height / rows")
        if camera is None:
            cast = Cast(parts_of(replay.mechanism, {}, replay.scenery))
            solids = join([cast.solids(*pose) for pose in zip(x, q, strict=True)])
            eye = fitted(eye, solids, framed(solids, np.tile(cast.body, n)), w / h)
        renderer = replay.renderer(w, h, eye, colliders=colliders)
        arrows = [replay.arrows(time) if forces else None for time in times]
        image = tile([renderer.render(*pose, arrows=some) for *pose, some in zip(x, q, arrows, strict=True)])
    else:
        if camera is None:
            eye = beside(eye, x)
        cast = Cast([part for part in parts_of(replay.mechanism, {}, ()) if part.body >= 0])
        right = eye.axes()[0]
        way = apart(cast, x, q, right) if spread is None else number(spread, "spread", InputError)
        x = x + way * np.arange(n)[:, None, None] * right
        if camera is None:
            solids = join([cast.solids(*pose) for pose in zip(x, q, strict=True)])
            eye = fitted(eye, solids, np.ones(len(solids.table), bool), width / height)
        renderer = replay.renderer(width, height, eye, colliders=colliders)
        image = renderer.render(x, q, fade=np.linspace(0.55, 0.0, n))
    save_png(path, image)


def beside(camera: Camera, x: Array) -> Camera:
    """The camera, turned to look from the side at bodies x (n, n_bodies, 3) that go somewhere."""
    travel = (x[-1] - x[0]).mean(0)
    if np.hypot(*travel[:2]) <= 0.3 * camera.distance:
        return camera
    return replace(camera, azimuth=math.degrees(math.atan2(travel[1], travel[0])) + 90.0)


def apart(cast: Cast, x: Array, q: Array, right: Array) -> float:
    """How far each of n poses must be moved to the right of the one before to keep them apart, m."""
    one = cast.solids(x[0], q[0]).table
    along = one[:, POSITION : POSITION + 3] @ right
    size = (along + one[:, REACH]).max() - (along - one[:, REACH]).min()
    moved = float((x[-1] - x[0]).mean(0) @ right) / max(1, len(x) - 1)
    return math.copysign(max(0.0, size - abs(moved)), moved)


def fitted(camera: Camera, solids: Solids, seen: NDArray[np.bool_], aspect: float) -> Camera:
    """The camera moved to where the solids that should be seen just fit into a picture of that width / height."""
    axes = np.array(camera.axes())  # right, up, forward
    table = solids.table[seen]
    position, reach = table[:, POSITION : POSITION + 3] @ axes.T, table[:, REACH, None]
    low, high = (position - reach).min(0), (position + reach).max(0)
    middle, (wide, tall, deep) = (low + high) / 2, 1.05 * (high - low) / 2
    tangent = math.tan(math.radians(camera.fovy) / 2)
    distance = max(wide / aspect, tall) / tangent + deep
    return replace(camera, distance=float(distance), lookat=tuple((middle @ axes).tolist()))
