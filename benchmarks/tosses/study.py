"""Shortcomings of the rigid model: one thing changed at a time, on all tosses, without any fit."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.cube import DESCRIBED, UP, Cube
from vigym.benchmarks.tosses.data import RATE, Score, Tosses
from vigym.benchmarks.tosses.engines import SoftVigymEngine, VigymEngine
from vigym.benchmarks.tosses.fit import steady
from vigym.benchmarks.tosses.flight import flights, fly
from vigym.engine.rotation import conjugate, rotate

TURNED_AWAY = 45.0  # degrees
FEWEST = 8  # frames of a flight that a start is taken from


def variants(tosses: Tosses, substeps: int, cube: Cube, quick: bool = False) -> Iterator[tuple[str, Score]]:
    """(what, score), with the friction that the authors of the data measured, 0.18, unless it says otherwise."""
    plain = VigymEngine(tosses, substeps, cube=cube)
    yield f"exact cone, {substeps} substeps, no restitution", steady(tosses, plain)
    for n in () if quick else (1, 2, 4, 16):
        yield f"{n} substep{'s' * (n > 1)}", steady(tosses, VigymEngine(tosses, n, cube=cube))
    fixed = VigymEngine(tosses, substeps, cube=cube, cone="pyramid")
    yield "pyramid", steady(tosses, fixed)
    if quick:
        return
    yield "pyramid, 1 substep", steady(tosses, VigymEngine(tosses, 1, cube=cube, cone="pyramid"))
    yield "pyramid, friction 0.21", steady(tosses, fixed, friction=0.21)
    turned = VigymEngine(tosses, substeps, cube=cube, cone="pyramid", turn=np.pi / 4)
    yield "pyramid, turned by 45 degrees", steady(tosses, turned)
    for e in (0.1, 0.2, 0.25, 0.3, 0.4):
        yield f"restitution {e:g}", steady(tosses, plain, restitution=e)
    for friction in (0.17, 0.19, 0.2):
        yield f"friction {friction:g}", steady(tosses, plain, friction=friction)
    for mm in (2, 4):
        rounded = VigymEngine(tosses, substeps, cube=replace(cube, rounding=1e-3 * mm))
        yield f"corners rounded by {mm} mm", steady(tosses, rounded)
    soft = SoftVigymEngine(tosses, substeps, cube=cube)
    for stiffness, damping in ((1e4, 70.0), (6e4, 80.0)):
        what = f"soft contacts, {stiffness:g} N/m, {damping:g} N s/m"
        yield what, steady(tosses, soft, stiffness=stiffness, damping=damping)
    late = VigymEngine(tosses, substeps, later=0.5 / RATE - 0.5 * plain.dt, cube=cube)
    yield "velocities half a frame later", steady(tosses, late)
    flown = VigymEngine(in_flight(tosses, cube), substeps, cube=cube)
    yield "starts from the whole flight", steady(tosses, flown)
    yield "the same, restitution 0.25", steady(tosses, flown, restitution=0.25)


def steps_between(tosses: Tosses, substeps: int, cube: Cube) -> Iterator[tuple[str, Score]]:
    """(what, score) of the cube as described but for one thing, which is as in `cube`."""
    for what, changed in (
        ("centre of mass as measured", replace(DESCRIBED, com=cube.com)),
        ("inertia as measured", replace(DESCRIBED, inertia=cube.inertia)),
        ("width and gravity as measured", replace(DESCRIBED, half=cube.half, gravity=cube.gravity)),
    ):
        yield what, steady(tosses, VigymEngine(tosses, substeps, cube=changed))


def in_flight(tosses: Tosses, cube: Cube) -> Tosses:
    """The same, but the first state is that of a free flight through all frames before the cube comes close to the
    ground; where these are too few, as it was measured."""
    states, com = tosses.measured.copy(), np.array(cube.com)
    for flight in flights(tosses, cube.half):
        if flight.first == 0 and len(flight.t) >= FEWEST:
            x, q, v, w = fly(cube, flight, 0.0)
            off = rotate(q, com)
            states[flight.toss, 0] = np.concatenate([x - off, q, v - np.cross(w, off), rotate(conjugate(q), w)])
    return Tosses(states, tosses.ids)


def landing(tosses: Tosses, simulated: Array) -> tuple[Array, Array, Array]:
    """Return how far a cube ends beyond the real one, along its throw and to the left (m), and its direction (rad)."""
    last = tosses.lengths - 1
    n = np.arange(len(tosses))
    off = simulated[n, last, :2] - tosses.measured[n, last, :2]
    v = tosses.measured[:, 0, 7:9]
    angle = np.arctan2(v[:, 1], v[:, 0])
    along = np.stack([np.cos(angle), np.sin(angle)], -1)
    left = np.stack([-np.sin(angle), np.cos(angle)], -1)
    return (off * along).sum(-1), (off * left).sum(-1), angle


def other_face(tosses: Tosses, simulated: Array) -> Array:
    """Tosses whose simulation ends on another face (n,): what is up in the cube differs."""
    last = np.arange(len(tosses)), tosses.lengths - 1
    turns = tosses.measured[..., 3:7][last], simulated[..., 3:][last]
    real, made = (rotate(conjugate(q), UP) for q in turns)
    return (real * made).sum(-1) < np.cos(np.radians(TURNED_AWAY))


def heavy_side(tosses: Tosses, cube: Cube) -> Array:
    """Return whether the face that is nearest to the centre of mass ends down (1), up (-1), or neither (0): (n,)."""
    axis = int(np.argmax(np.abs(cube.com)))
    last = np.arange(len(tosses)), tosses.lengths - 1
    up = rotate(conjugate(tosses.measured[..., 3:7][last]), UP)[:, axis] * np.sign(cube.com[axis])
    return np.where(np.abs(up) > np.cos(np.radians(TURNED_AWAY)), -np.sign(up), 0.0)
