"""What the rigid model misses: one thing changed at a time, on all tosses, without any fit."""

from collections.abc import Iterator

import numpy as np

from vigym.assets import cube
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.data import RATE, Score, Tosses
from vigym.benchmarks.tosses.engines import FALL, SoftVigymEngine, VigymEngine
from vigym.benchmarks.tosses.fit import steady
from vigym.engine.rotation import conjugate, multiply, rotate, to_rotation_vector

TURNED_AWAY = 45.0  # degrees
CLEAR, FEWEST = 0.005, 8  # m above the ground, frames: what counts as a flight
FARTHEST = 2.8  # rad: rotations beyond are short of half a turn the other way round


def variants(tosses: Tosses, substeps: int, quick: bool = False) -> Iterator[tuple[str, Score]]:
    """(what, score), with the friction that the authors of the data measured, 0.18, unless it says otherwise."""
    plain = VigymEngine(tosses, substeps)
    yield f"exact cone, {substeps} substeps, no restitution", steady(tosses, plain)
    for n in () if quick else (1, 2, 4, 16, 32):
        yield f"{n} substep{'s' * (n > 1)}", steady(tosses, VigymEngine(tosses, n))
    fixed = VigymEngine(tosses, substeps, cone="pyramid")
    yield "pyramid", steady(tosses, fixed)
    if quick:
        return
    yield "pyramid, 1 substep", steady(tosses, VigymEngine(tosses, 1, cone="pyramid"))
    yield "pyramid, friction 0.21", steady(tosses, fixed, friction=0.21)
    yield (
        "pyramid, turned by 45 degrees",
        steady(tosses, VigymEngine(tosses, substeps, cone="pyramid", turn=np.pi / 4)),
    )
    for e in (0.05, 0.1, 0.2, 0.3):
        yield f"restitution {e:g}", steady(tosses, plain, restitution=e)
    for friction in (0.16, 0.17, 0.19, 0.2):
        yield f"friction {friction:g}", steady(tosses, plain, friction=friction)
    yield "ground 2 mm lower", steady(tosses, plain, ground=-0.002)
    yield "corners rounded by 4 mm", steady(tosses, VigymEngine(tosses, substeps, rounding=0.004))
    soft = SoftVigymEngine(tosses, substeps)
    for stiffness, damping in ((3e3, 45.0), (1e4, 70.0), (3e4, 110.0)):
        what = f"soft contacts, {stiffness:g} N/m, {damping:g} N s/m"
        yield what, steady(tosses, soft, stiffness=stiffness, damping=damping)
    flown = in_flight(tosses)
    yield "starts from the whole flight", steady(flown, VigymEngine(flown, substeps))
    late = VigymEngine(tosses, substeps, later=0.5 / RATE - 0.5 * plain.dt)
    yield "velocities half a frame later", steady(tosses, late)
    yield "both", steady(tosses, late, ground=-0.002)


def in_flight(tosses: Tosses) -> Tosses:
    """The same, but the first state is that of a free flight through all frames before the cube comes close to the
    ground; where these are too few, as it was measured."""
    measured = tosses.measured.copy()
    corners = np.array([contact.point for contact in cube.build().contacts])
    for toss, states in enumerate(tosses.measured):
        x, q = states[:, :3], states[:, 3:7]
        lowest = (x[:, None] + rotate(q[:, None], corners))[..., 2].min(1)
        n = int(np.argmax([*~(lowest > CLEAR), True]))
        if n < FEWEST:
            continue
        t = np.arange(n) / RATE
        turned = to_rotation_vector(multiply(conjugate(q[:1]), q[:n]))  # its inertia is that of a ball: w t
        near = np.linalg.norm(turned, axis=-1) < FARTHEST
        near &= np.cumsum(~near) == 0
        v, start = np.polyfit(t, x[:n] - np.outer(0.5 * t * t, FALL[7:10]), 1)
        measured[toss, 0, :3], measured[toss, 0, 7:10] = start, v
        measured[toss, 0, 10:13] = np.polyfit(t[near], turned[near], 1)[0]
    return Tosses(measured, tosses.ids)


def landing(tosses: Tosses, simulated: Array) -> tuple[Array, Array, Array]:
    """Where a cube ends too far along its throw and to the left of it (m), and the direction of the throw (rad)."""
    last = tosses.lengths - 1
    n = np.arange(len(tosses))
    off = simulated[n, last, :2] - tosses.measured[n, last, :2]
    v = tosses.measured[:, 0, 7:9]
    angle = np.arctan2(v[:, 1], v[:, 0])
    along = np.stack([np.cos(angle), np.sin(angle)], -1)
    left = np.stack([-np.sin(angle), np.cos(angle)], -1)
    return (off * along).sum(-1), (off * left).sum(-1), angle


def rotation_over_time(tosses: Tosses, simulated: Array) -> Array:
    """Angle between the measured and the simulated orientation, degrees (n, frames)."""
    same = np.abs((simulated[..., 3:] * tosses.measured[..., 3:7]).sum(-1))
    return np.degrees(2 * np.arccos(np.minimum(same, 1.0)))


def other_face(tosses: Tosses, simulated: Array) -> Array:
    """Tosses whose simulation ends on another face (n,): what is up in the cube differs."""
    last = np.arange(len(tosses)), tosses.lengths - 1
    turns = tosses.measured[..., 3:7][last], simulated[..., 3:][last]
    real, made = (rotate(conjugate(q), np.array([0.0, 0.0, 1.0])) for q in turns)
    return (real * made).sum(-1) < np.cos(np.radians(TURNED_AWAY))
