"""Facts that the measurements give before any contact law is chosen: the cube, and how it strikes and slides.

    half width    height of the tracked centre at rest on a face
    gravity, com  flights of the tracked centre are  x(t) = x0 + v0 t - gravity t^2/2 up - R(t) com
    inertia       one corner that strikes takes the impulse m dv at a known arm: inertia dw = arm x m dv
    restitution, friction of impacts: of the velocities of that corner, and of its impulse
    friction of a face that slides: how fast it gets slower

Lengths that were measured too short by a factor show as a smaller half width and as less gravity, by the same factor.
"""

from dataclasses import replace

import numpy as np

from vigym.assets.cube import INERTIA
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.cube import UP, Cube
from vigym.benchmarks.tosses.data import RATE, Tosses
from vigym.benchmarks.tosses.flight import flights, impacts, linear
from vigym.engine.errors import InputError
from vigym.engine.rotation import conjugate, rotate

LAST, FLAT = 5, np.cos(np.radians(3.0))  # frames at the end of a toss; a face is down
NOISE, SPIN = 1e-4, 0.5  # m, rad/s: usual errors of a flight and of its spin
NEEDED = 4  # flights, and impacts
LOW, WINDOW = 0.002, 10  # m above the height at rest, frames: sliding on a face
SLIDES, TURNS = 0.2, 1.5  # m/s at least, rad/s at most


def measured(tosses: Tosses) -> Cube:
    """The cube that these tosses show."""
    from scipy.optimize import least_squares

    half = resting_height(tosses)
    found = list(flights(tosses, half))
    if len(found) < NEEDED:
        raise InputError(f"{len(found)} free flights in these tosses; {NEEDED} are needed to measure the cube")
    parts = [linear(flight) for flight in found]
    A, b = (np.concatenate(part) for part in zip(*parts, strict=True))
    gravity, *com = least_squares(lambda p: A @ p - b, [9.81, 0.0, 0.0, 0.0], loss="soft_l1", f_scale=NOISE).x
    known = Cube(half, float(gravity), (float(com[0]), float(com[1]), float(com[2])))
    struck = list(impacts(known, found))
    if len(struck) < NEEDED:
        raise InputError(f"{len(struck)} impacts of single corners in these tosses; {NEEDED} are needed")
    turn, spin = np.array([one.moment for one in struck]) / INERTIA, np.array([one.dw for one in struck])
    share = least_squares(lambda p: (turn - p[0] * spin).ravel(), [1.0], loss="soft_l1", f_scale=SPIN).x[0]
    return replace(known, inertia=float(share * INERTIA))


def resting_height(tosses: Tosses) -> float:
    """Height of the centre, at the end of the tosses that end on a face, m: the median."""
    ends = np.array([row[n - LAST : n].mean(0) for row, n in zip(tosses.measured, tosses.lengths, strict=True)])
    down = flat(ends)
    if not down.any():
        raise InputError("no toss ends on a face; the width of the cube cannot be measured")
    return float(np.median(ends[down, 2]))


def flat(states: Array) -> Array:
    """Return whether a face of the cube is horizontal (...); states (..., 7 or more)."""
    q = states[..., 3:7]
    return np.abs(rotate(conjugate(q / np.linalg.norm(q, axis=-1, keepdims=True)), UP)).max(-1) > FLAT


def strikes(tosses: Tosses, cube: Cube) -> tuple[Array, Array]:
    """Restitution of all impacts of single corners, and friction of those that slide throughout."""
    struck = list(impacts(cube, list(flights(tosses, cube.half))))
    friction = [one.friction for one in struck if one.slide > SLIDES]
    return np.array([one.restitution for one in struck]), np.array(friction)


def slides(tosses: Tosses, cube: Cube) -> Array:
    """Friction while the cube slides on a face without turning much: deceleration over gravity, a value a window."""
    found, t = [], (np.arange(WINDOW) - (WINDOW - 1) / 2) / RATE
    for states in tosses.measured:
        ready = flat(states) & (states[:, 2] < cube.half + LOW) & (np.linalg.norm(states[:, 10:13], axis=-1) < TURNS)
        frame = 0
        while frame + WINDOW <= len(states):
            if not ready[frame : frame + WINDOW].all():
                frame += 1
                continue
            half_a, v, _ = np.polyfit(t, states[frame : frame + WINDOW, :2], 2)
            if (speed := np.hypot(*v)) > SLIDES:
                found.append(-2 * (half_a @ v) / speed / cube.gravity)
            frame += WINDOW
    return np.array(found)
