"""A recording that can be looked at: `Replay.load(path)`; a notebook shows it as it is."""

import html
import os
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.engine.appearance import is_furnished
from vigym.engine.durable import write_whole
from vigym.engine.errors import InputError
from vigym.engine.recording import Recording, unreadable
from vigym.engine.rotation import Array
from vigym.engine.validation import file_path, flag, number, show

if TYPE_CHECKING:
    from vigym.view.pictures.arrows import Arrows
    from vigym.view.pictures.camera import Camera

SUFFIXES = (".html", ".mp4", ".gif", ".png")


class Replay(Recording):
    """A recording and what can be made of it: a page, a film, a film strip."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Replay":
        """Read a file that `record` wrote; InputError if nothing of it can be shown."""
        recording = super().load(path)
        with unreadable(path):
            if not len(recording):
                raise InputError(f"it has no frame: {recording.damage or 'it ends before the first one'}")
            check_camera(recording)
        return recording  # type: ignore[return-value]

    @property
    def rate(self) -> float:
        """Frames a second."""
        return (len(self) - 1) / self.time[-1] if len(self) > 1 and self.time[-1] > 0.0 else 1.0

    @cached_property
    def camera(self) -> "Camera":
        """The one that was recorded; or one that frames the first pose, and follows the first body if that leaves and
        there is nothing but ground in the world."""
        from vigym.view.pictures.picture import Camera, framing
        from vigym.view.pictures.scene import Cast, parts_of

        if self.head["camera"] is not None:
            return Camera.from_config(self.head["camera"])
        cast = Cast(parts_of(self.mechanism, {}, self.scenery))
        camera = framing(cast.solids(self.x[0], self.q[0]), cast.body, 1.0)
        away = np.linalg.norm(self.x[:, 0, :2] - self.x[0, 0, :2], axis=-1).max()
        if away < 0.25 * camera.distance or is_furnished(self.mechanism):
            return camera
        at = np.array(camera.lookat) - [*self.x[0, 0, :2], 0.0]
        return replace(camera, lookat=tuple(at.tolist()), trackbodyid=0)

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """Poses and forces of the ground in between, straight from frame to frame, but not across the start of an
        episode."""
        k, s = self._between(number(time, "time", InputError))
        if s == 0.0:
            return self.x[k], self.q[k], self.forces[k]
        near = np.where((self.q[k] * self.q[k + 1]).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)  # q and -q are one turn
        x, q, forces = (
            (1.0 - s) * now + s * then
            for now, then in (
                (self.x[k], self.x[k + 1]),
                (self.q[k], near * self.q[k + 1]),
                (self.forces[k], self.forces[k + 1]),
            )
        )
        return x, q / np.linalg.norm(q, axis=-1, keepdims=True), forces

    def _between(self, time: float) -> tuple[int, float]:
        """The last frame that is not after a time, and how far it is from there to the next one, 0 to 1; 0 if that
        starts an episode."""
        k = int(np.clip(np.searchsorted(self.time, time, side="right") - 1, 0, len(self) - 1))
        if k + 1 == len(self) or self.start[k + 1] or time <= self.time[k]:
            return k, 0.0
        return k, float((time - self.time[k]) / (self.time[k + 1] - self.time[k]))

    def thinned(self, rate: float = 50.0) -> np.ndarray:
        """Indices of frames of which no more than about `rate` come in a second; the first and the last are there."""
        rate = number(rate, "rate", InputError, above=0.0)
        slots = np.floor(self.time * rate * 1.001)
        keep = np.diff(slots, append=np.inf) > 0
        keep[0] = True
        return np.flatnonzero(keep)

    def renderer(self, width: int, height: int, camera: "Camera | None" = None, *, colliders: bool = False) -> Any:
        """Renderer for pictures of it, from its own camera unless told."""
        from vigym.view.pictures.picture import Renderer

        scene: dict[str, Any] = {"planes": self.planes, "scenery": self.scenery, "colliders": colliders}
        return Renderer(self.mechanism, width, height, camera or self.camera, **scene)

    def forces_of(self, frame: int, between: float = 0.0) -> tuple[Array, Array]:
        """Contact forces on bodies: where they act (n, 3), m, and the forces (n, 3), N, world.

        between: 0 to 1, on the way to the next frame; contacts between colliders, which come and go, are those of the
            nearer one
        """
        from vigym.view.pictures.arrows import gather

        k, then = frame, frame + (between > 0.0)
        points, forces = ((1.0 - between) * part[k] + between * part[then] for part in (self.points, self.forces))
        return gather(self.mechanism, points, forces, self.contacts(then if between > 0.5 else k))

    def arrows(self, time: float) -> "Arrows":
        """Forces at the contacts at a time, as long as on the page."""
        from vigym.view.pictures.arrows import Arrows, force_scale, visible

        distance = self.camera.distance
        return Arrows(
            *visible(*self.forces_of(*self._between(time)), force_scale(self.scene.weight, distance), distance)
        )

    def html(self, *, forces: bool = True, colliders: bool = False) -> str:
        """One page that plays it offline, with a timeline, arrows and plots; it shows colliders that bodies do not look
        like at first if `colliders`, and has a switch for that."""
        from vigym.view.replay.html import page

        return page(self, forces=flag(forces, "forces", InputError), colliders=flag(colliders, "colliders", InputError))

    def save(self, path: str | os.PathLike[str], *, forces: bool = True, **options: Any) -> Path:
        """Write it as .html (a page), .mp4 or .gif (a film), or .png (a film strip); options: see `film`, `strip`.

        The file has its name when all of it is on the disk; until then, one that was there stays.
        """
        path = Path(file_path(path))
        kind = path.suffix.lower()
        if kind == ".html":
            write_whole(path, self.html(forces=forces, **options))
        elif kind in (".mp4", ".gif"):
            from vigym.view.replay.film import film

            film(self, path, forces=forces, **options)
        elif kind == ".png":
            from vigym.view.replay.strip import strip

            strip(self, path, forces=forces, **options)
        else:
            raise InputError(f"path {path}: write a replay as one of {', '.join(SUFFIXES)}")
        return path

    def _repr_html_(self) -> str:
        """Page that notebooks show."""
        source = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{source}" width="100%" height="520" style="border:1px solid #ddd"></iframe>'


def check_camera(recording: Recording) -> None:
    """Raise InputError if the camera that was recorded cannot be."""
    from vigym.view.pictures.camera import Camera

    if recording.head["camera"] is None:
        return
    body = Camera.from_config(recording.head["camera"]).trackbodyid
    names = {body.name for body in recording.mechanism.bodies}
    if not (body is None or (body in names if isinstance(body, str) else 0 <= body < len(names))):
        raise InputError(f"its camera follows body {show(body)}, which is unknown")
