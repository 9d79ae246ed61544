"""Film strips of the demo."""

from pathlib import Path
from typing import Any, NamedTuple

from vigym.view.replay.replay import Replay


class Strip(NamedTuple):
    """Number of poses, from and to when, s, how far each is moved along x, m (None: apart from the others), the camera,
    and whether forces are drawn."""

    poses: int
    window: tuple[float, float]
    spread: float | None
    camera: dict[str, Any]
    forces: bool = True


def write(recording: Path, strip: Strip | None) -> None:
    """Write the film strip of a recording beside it; of all of the run, with six poses, unless told otherwise."""
    options = strip._asdict() if strip else {}
    print(f"wrote {Replay.load(recording).save(recording.with_suffix('.png'), **options)}")
