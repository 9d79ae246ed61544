"""What the rigid model misses: one thing changed at a time, on all tosses, without any fit."""

from collections.abc import Iterator

import numpy as np

from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.data import RATE, Score, Tosses
from vigym.benchmarks.tosses.engines import VigymEngine
from vigym.benchmarks.tosses.fit import steady

TURNED_AWAY = 45.0  # degrees at the end: the cube lies on another face


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
    late = VigymEngine(tosses, substeps, later=0.5 / RATE - 0.5 * plain.dt)
    yield "velocities half a frame later", steady(tosses, late)
    yield "both", steady(tosses, late, ground=-0.002)


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
    """Tosses whose simulation ends on another face (n,)."""
    return rotation_over_time(tosses, simulated)[np.arange(len(tosses)), tosses.lengths - 1] > TURNED_AWAY
