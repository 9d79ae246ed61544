"""Film environments and scenes of the demo: `python docs/hooks/films.py [NAME ...]` writes docs/films/NAME.webp.

An environment moves under its scripted controller or its learned policy, whichever is better, if it has one, and under
random actions otherwise.
"""

import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

import vigym
from vigym.envs.demo.command import run_scene
from vigym.envs.demo.scenes import SCENES
from vigym.envs.registration import ENVIRONMENTS
from vigym.envs.view_command import run
from vigym.view.pictures.camera import Camera

FOLDER = Path(__file__).parents[1] / "films"
WIDTH, HEIGHT, RATE, SECONDS = 400, 300, 20, 4.0
LONGER = {"VIQuadruped-v0": 6.0, "VISnake-v0": 6.0}
NEARER = 0.7  # than the camera of the environment, as films are small


def film(name: str, seconds: float) -> Path:
    """Write a film that repeats itself, as WebP."""
    camera = None
    with TemporaryDirectory() as folder:
        recording = Path(folder) / "run.vigym"
        if name in SCENES:
            recording, strip = run_scene(name, None, Path(folder))
            camera = Camera.from_config(strip.camera) if strip else None
        else:
            run(name, seconds, 3, None, record=recording)
        replay = vigym.Replay.load(recording)
    camera = camera or replace(replay.camera, distance=NEARER * replay.camera.distance)
    renderer = replay.renderer(WIDTH, HEIGHT, camera)
    times = np.arange(0.0, replay.time[-1], 1.0 / RATE)
    pictures = [Image.fromarray(renderer.render(*replay.at(time)[:2])) for time in times]
    path = FOLDER / f"{name}.webp"
    first, *others = pictures
    options = {"duration": 1000 // RATE, "loop": 0, "quality": 60, "method": 4, "minimize_size": True}
    first.save(path, save_all=True, append_images=others, **options)
    return path


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or ENVIRONMENTS:
        path = film(name, LONGER.get(name, SECONDS))
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB", flush=True)
