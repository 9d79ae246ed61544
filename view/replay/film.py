"""A replay as a film: MP4 or GIF, drawn by the ray caster, written by the ffmpeg that imageio-ffmpeg brings along."""

import contextlib
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vigym.engine.durable import write_whole
from vigym.engine.errors import InputError
from vigym.engine.validation import count, flag, number
from vigym.view.extra import require

if TYPE_CHECKING:
    from vigym.view.replay.replay import Replay

MP4 = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart"]
GIF = ["-filter_complex", "[0:v]split[a][b];[a]palettegen=max_colors=96[p];[b][p]paletteuse=dither=none"]
MP4_SIZE, GIF_SIZE = (640, 480, 30.0), (400, 300, 20.0)  # width, height, frames a second unless told
MOST_PICTURES = 200_000  # of a film; almost two hours


def film(
    replay: "Replay",
    path: Path,
    *,
    forces: bool = True,
    width: int | None = None,
    height: int | None = None,
    fps: float | None = None,
    speed: float = 1.0,
    colliders: bool = False,
) -> None:
    """Write it as .mp4 (640 x 480, 30 frames a second unless told) or .gif (400 x 300, 20), with a progress bar.

    speed: 0.5 is slow motion
    colliders: draw those of bodies that do not look like them, too
    """
    ffmpeg = require("imageio_ffmpeg", "a film").get_ffmpeg_exe()
    tqdm = require("tqdm", "a film").tqdm
    moving = path.suffix.lower() == ".mp4"
    usual_width, usual_height, usual_fps = MP4_SIZE if moving else GIF_SIZE
    w = count(usual_width if width is None else width, "width")
    h = count(usual_height if height is None else height, "height")
    forces = flag(forces, "forces", InputError)
    if moving and (w % 2 or h % 2):
        raise InputError(f"width and height of an MP4 must be even, got {w} x {h}")
    rate = number(usual_fps if fps is None else fps, "fps", InputError, above=0.0)
    speed = number(speed, "speed", InputError, above=0.0)
    pictures = (replay.time[-1] + 1e-9) * rate / speed
    if pictures > MOST_PICTURES:
        raise InputError(
            f"{path} would have {pictures:.3g} pictures, more than {MOST_PICTURES}: choose another speed or fps"
        )
    times = np.arange(0.0, replay.time[-1] + 1e-9, speed / rate)
    renderer = replay.renderer(w, h, colliders=colliders)

    def draw() -> Iterator[bytes]:
        for time in tqdm(times, desc=path.name, unit="picture"):
            x, q, _ = replay.at(time)
            yield renderer.render(x, q, arrows=replay.arrows(time) if forces else None).tobytes()

    command = [ffmpeg, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{w}x{h}", "-r", f"{rate:g}", "-i", "-", *(MP4 if moving else GIF)]
    write_whole(path, lambda partial: encode(command, draw(), partial, path))


def encode(command: list[str], pictures: Iterable[bytes], partial: Path, path: Path) -> None:
    """Have ffmpeg write the pictures to `partial`, which errors call `path`."""
    with subprocess.Popen([*command, str(partial)], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # ffmpeg says why
            for picture in pictures:
                process.stdin.write(picture)
        complaint = process.communicate()[1].decode(errors="replace").strip().replace(str(partial), str(path))
    if process.returncode:
        raise InputError(f"{path} could not be written: {complaint or f'ffmpeg ended with {process.returncode}'}")
