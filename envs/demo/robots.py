"""Environments that the demo shows under names of their own: a row of `ROBOTS` for each."""

from typing import Any, NamedTuple

from vigym.envs.demo.strip import Strip


class Robot(NamedTuple):
    """An environment, seconds to simulate (one episode, unless given), options of its reset, the film strip, and
    arguments of the environment."""

    env_id: str
    seconds: float | None = None
    options: dict[str, Any] = {}  # noqa: RUF012, a NamedTuple's default, which nobody changes
    strip: Strip | None = None
    arguments: dict[str, Any] = {}  # noqa: RUF012


HOPPER_CAMERA = {"distance": 4.2, "azimuth": 90.0, "elevation": -8.0, "lookat": (2.0, 0.0, 0.9)}
A1_CAMERA = {"distance": 3.6, "azimuth": 100.0, "elevation": -12.0, "lookat": (2.0, 0.0, 0.3)}
PANDA_CAMERA = {"distance": 1.2, "azimuth": 140.0, "elevation": -20.0, "lookat": (-0.25, 0.0, 0.25)}
SNAKE_CAMERA = {"distance": 3.6, "azimuth": 90.0, "elevation": -35.0, "lookat": (2.2, 0.0, 0.0)}
AHEAD = {"command": (0.5, 0.0, 0.0)}

ROBOTS = {
    "hopper": Robot("VIHopper-v0", 3.0, strip=Strip(9, (0.1, 1.3), 0.5, HOPPER_CAMERA)),
    "quadruped": Robot("VIQuadruped-v0", 8.0, AHEAD, Strip(5, (0.0, 8.0), 0.0, A1_CAMERA)),
    "panda": Robot("VIPandaPickAndPlace-v0", 2.0, strip=Strip(1, (0.7, 2.0), 0.0, PANDA_CAMERA)),
    "rough": Robot("VIQuadruped-v0", 8.0, AHEAD, arguments={"terrain": "rough", "bump_level": 0.5}),
    "snake": Robot("VISnake-v0", 10.0, strip=Strip(5, (0.5, 1.7), 0.35, SNAKE_CAMERA)),
}
