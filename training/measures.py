"""Measures of episodes, environment by environment, success first.

A measure gets what the infos told in every step, (steps, episodes, ...) an array, NaN after the end of an
episode, which episodes reached their time limit, and the time of a step, s; it returns arrays (episodes,), among them
"success".
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Seen = Mapping[str, NDArray[Any]]
Flags = NDArray[np.bool_]
Measures = dict[str, NDArray[Any]]


def pendulum(seen: Seen, whole: Flags, dt: float) -> Measures:
    """Upright within 0.2 rad over the last 2 s."""
    worst = np.abs(seen["angle"][-round(2.0 / dt) :]).max(0)
    return {"success": whole & (worst < 0.2), "last angle, rad": worst}


def cartpole(seen: Seen, whole: Flags, dt: float) -> Measures:
    """Upright until the time limit."""
    return {"success": whole, "farthest, m": np.nanmax(np.abs(seen["x_position"]), 0)}


def hopper(seen: Seen, whole: Flags, dt: float) -> Measures:
    """Stands at the end, for at least 1 s: upright within 10 degrees, after a turn of 360 +- 20 degrees."""
    success = whole & (seen["success"][-1] == 1.0)
    return {"success": success, "turn, degrees": seen["turn"][-1], "apex, m": np.nanmax(seen["apex"], 0)}


def hopper_hop(seen: Seen, whole: Flags, dt: float) -> Measures:
    """From 2 s on: no fall, mean velocity within 0.15 m/s of the command, hops of 0.1 m or more on the mean."""
    later = slice(round(2.0 / dt), None)
    velocity = np.stack([np.nanmean(seen[f"{axis}_velocity"][later], 0) for axis in "xy"], -1)
    error = np.linalg.norm(velocity - seen["command"][0], axis=-1)
    height = np.nanmean(seen["hop_height"][later], 0)
    return {"success": whole & (error < 0.15) & (height >= 0.1), "velocity error, m/s": error, "hop, m": height}


def snake(seen: Seen, whole: Flags, dt: float) -> Measures:
    """At least one body length (8 links of 0.15 m) in 10 s."""
    distance = seen["distance"][: round(10.0 / dt)][-1]
    return {"success": whole & (distance >= 1.2), "distance in 10 s, m": distance}


def quadruped(seen: Seen, whole: Flags, dt: float) -> Measures:
    """20 s without a fall, mean velocity within 15 % of the command, all feet lift 3 cm and slide less than 2 cm.

    Velocity over the whole episode; the lowest lift and the longest slide of any foot in any period of the clock, from
    1 s on.
    """
    velocity = np.stack([np.nanmean(seen[f"{axis}_velocity"], 0) for axis in ("forward", "sideways")], -1)
    command = seen["command"][0, :, :2]
    error = np.linalg.norm(velocity - command, axis=-1) / np.linalg.norm(command, axis=-1)
    later = slice(round(1.0 / dt), None)
    lift, slide = np.nanmin(seen["foot_lift"][later], (0, 2)), np.nanmax(seen["foot_slide"][later], (0, 2))
    return {
        "success": whole & (error < 0.15) & (lift >= 0.03) & (slide < 0.02),
        "velocity, m/s": velocity[:, 0],
        "velocity error": error,
        "foot lift, m": lift,
        "foot slide, m": slide,
    }


def runner(seen: Seen, whole: Flags, dt: float) -> Measures:
    """No fall until the time limit, and at least 1 m/s on the mean."""
    way, length = seen["x_position"][-1], dt * len(seen["x_position"])
    return {"success": whole & (way >= length), "mean velocity, m/s": way / length}


def goal(seen: Seen, whole: Flags, dt: float) -> Measures:
    """At the goal when the episode ends."""
    return {"success": whole & (seen["is_success"][-1] == 1.0), "last distance, m": seen["distance"][-1]}


class Entry(NamedTuple):
    """Names of infos, and what is made of them."""

    infos: tuple[str, ...]
    measure: Callable[[Seen, Flags, float], Measures]


MEASURES = {
    "VIPendulum-v0": Entry(("angle",), pendulum),
    "VICartPole-v0": Entry(("x_position",), cartpole),
    "VIHopper-v0": Entry(("success", "turn", "apex"), hopper),
    "VIHopperHop-v0": Entry(("x_velocity", "y_velocity", "command", "hop_height"), hopper_hop),
    "VISnake-v0": Entry(("distance",), snake),
    "VIQuadruped-v0": Entry(("forward_velocity", "sideways_velocity", "command", "foot_lift", "foot_slide"), quadruped),
    **{f"VI{name}-v0": Entry(("x_position",), runner) for name in ("Ant", "HalfCheetah", "Hopper2D", "Walker2d")},
    **{f"VIPanda{name}-v0": Entry(("is_success", "distance"), goal) for name in ("Reach", "Push", "PickAndPlace")},
}


def measured(env_id: str, seen: Seen, whole: Flags, dt: float) -> Measures:
    """The measures of one of vigym's environments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means of nothing, where an episode was too short: NaN
        return MEASURES[env_id].measure(seen, whole, dt)
