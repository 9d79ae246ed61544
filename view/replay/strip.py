"""A film strip: several poses of a run in one picture, the earlier ones paler. Needs no extra."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.engine.errors import InputError
from vigym.engine.validation import count, number, vector
from vigym.view.pictures.arrays import POSITION, REACH, Solids
from vigym.view.pictures.camera import Camera
from vigym.view.pictures.image import save_png
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
) -> None:
    """Write a PNG.

    poses: how many
    window: from and to when, s; all of it, unless given
    spread: how far each pose is moved to the right of the one before, m; as far as it takes to keep them apart
    camera: as `default_camera_config`; unless given, on all poses, from the side if they go somewhere
    """
    n, width, height = count(poses, "poses"), count(width, "width"), count(height, "height")
    first, last = (0.0, replay.time[-1]) if window is None else vector(window, (2,), "window", InputError)
    if not 0.0 <= first <= last:
        raise InputError(f"window must be two times, the earlier one first, got {window!r}")
    shown = [replay.at(time) for time in np.linspace(first, min(last, replay.time[-1]), n)]
    x, q = (np.stack([pose[k] for pose in shown]) for k in range(2))
    eye = replace(replay.camera if camera is None else Camera.from_config(camera), trackbodyid=None)
    cast = Cast(parts_of(replay.mechanism, {}, ()))
    travel = (x[-1] - x[0]).mean(0)
    if camera is None and np.hypot(*travel[:2]) > 0.3 * eye.distance:
        eye = replace(eye, azimuth=math.degrees(math.atan2(travel[1], travel[0])) + 90.0)
    right = eye.axes()[0]
    if spread is not None:
        spread = number(spread, "spread", InputError)
    else:
        one = cast.solids(x[0], q[0]).table
        along = one[:, POSITION : POSITION + 3] @ right
        size = (along + one[:, REACH]).max() - (along - one[:, REACH]).min()
        moved = float(travel @ right) / max(1, n - 1)
        spread = math.copysign(max(0.0, size - abs(moved)), moved)
    x = x + spread * np.arange(n)[:, None, None] * right
    if camera is None:
        solids = join([cast.solids(*pose) for pose in zip(x, q, strict=True)])
        eye = fitted(eye, solids, width / height)
    renderer = replay.renderer(width, height, eye)
    save_png(path, renderer.render(x, q, fade=np.linspace(0.55, 0.0, n)))


def fitted(camera: Camera, solids: Solids, aspect: float) -> Camera:
    """The camera moved to where all solids just fit into a picture of that width / height."""
    axes = np.array(camera.axes())  # right, up, forward
    position, reach = solids.table[:, POSITION : POSITION + 3] @ axes.T, solids.table[:, REACH, None]
    low, high = (position - reach).min(0), (position + reach).max(0)
    middle, (wide, tall, deep) = (low + high) / 2, 1.05 * (high - low) / 2
    tangent = math.tan(math.radians(camera.fovy) / 2)
    distance = max(wide / aspect, tall) / tangent + deep
    return replace(camera, distance=float(distance), lookat=tuple((middle @ axes).tolist()))
