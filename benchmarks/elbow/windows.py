"""Windows of tosses, simulated from motions that are sought with what all of them share: residuals and derivatives.

A window starts with 14 numbers of its own: position and orientation of brick 1's centre of mass, the hinge's angle, and
their rates. The engine gives how each step depends on the one before it, and on masses, inertias, damping and contacts
(`Simulator.gradients` in joint coordinates); the chain of them is how what is measured depends on the start. Anchors
and the axis of the hinge, by which there are no derivatives, are moved a little, both ways.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vigym.benchmarks.elbow.data import turned
from vigym.benchmarks.elbow.linkage import Linkage, Three, three
from vigym.benchmarks.scenes.scene import Array
from vigym.engine.errors import MechanismWarning
from vigym.engine.rotation import from_rotation_vector, multiply, rotate, rotation_matrix
from vigym.engine.simulator import Simulator

RATE = 148.0  # frames a second
NOISE = np.array([5e-4] * 3 + [3e-3] * 3 + [3e-3])  # m, rad: of what is measured in a frame
MOVED = 1e-6  # m and rad, by which anchors and the axis are moved
INPUTS = ("mass", "inertia", "damping", "joint_friction", "gravity")
CONTACTS = ("friction", "compliance", "contact_damping")
DIAGONAL = np.arange(3)


@dataclass
class Windows:
    """measured: (n, frames, 15); the motion at the first frame: x, q, angle, v, w, rate of `Linkage.to_mass`."""

    measured: Array
    motion: list[Array]

    @classmethod
    def of(cls, tosses: Array, which: Sequence[tuple[int, int]], frames: int, linkage: Linkage) -> "Windows":
        """Cut windows of so many frames each, which begin at (toss, frame)."""
        measured = np.stack([tosses[toss, first : first + frames] for toss, first in which])
        return cls(measured, [np.array(part) for part in linkage.to_mass(measured[:, 0])])

    def moved(self, change: Array) -> "Windows":
        """Other motions at the start: changes (n, 14)."""
        x, q, angle, v, w, rate = self.motion
        new = [x + change[:, :3], multiply(q, from_rotation_vector(change[:, 3:6])), angle + change[:, 6]]
        return Windows(self.measured, [*new, v + change[:, 7:10], w + change[:, 10:13], rate + change[:, 13]])


def simulator(linkage: Linkage, n: int, substeps: int, law: Mapping[str, float] | None) -> Simulator:
    """So many linkages; law: of contacts, None for flights."""
    m = linkage.mechanism(law is not None, **(law or {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)  # what flies falls
        return Simulator(m, 1 / RATE / substeps, n, tolerance=1e-9)


def place(sim: Simulator, motion: Sequence[Array]) -> None:
    """Put all linkages where windows start."""
    x, q, angle, v, w, rate = motion
    roots: dict[str, Any] = {
        name: np.repeat(value[:, None], 2, axis=1) for name, value in zip("xqvw", (x, q, v, w), strict=True)
    }
    sim.set_joint_state(angle[:, None], rate[:, None], **roots)


def apart(linkage: Linkage, windows: Windows, sim: Simulator, frame: int) -> Array:
    """Return simulation less measurement in a frame (n, 7): x of brick 1's centre, its rotation, the angle."""
    x, q, seen = sim.state.x[:, 0], sim.state.q[:, 0], windows.measured[:, frame]
    bent = np.remainder(sim.joint_positions()[:, 0] - seen[:, 7] + np.pi, 2 * np.pi) - np.pi
    return np.concatenate([linkage.to_centre(x, q) - seen[:, 4:7], turned(seen[:, :4], q), bent[:, None]], -1)


def residuals(linkage: Linkage, windows: Windows, substeps: int, law: Mapping[str, float] | None = None) -> Array:
    """Differences in all frames (n, frames, 7), in units of the noise."""
    n, frames, _ = windows.measured.shape
    sim = simulator(linkage, n, substeps, law)
    place(sim, windows.motion)
    found = np.empty((n, frames, 7))
    for frame in range(frames):
        if frame:
            sim.step(repeat=substeps)
        found[:, frame] = apart(linkage, windows, sim, frame) / NOISE
    return found


def linearised(
    linkage: Linkage, windows: Windows, substeps: int, law: Mapping[str, float] | None = None
) -> tuple[Array, Array, dict[str, Array]]:
    """Residuals, and their derivatives by the start (n, frames, 7, 14) and by name: those of INPUTS as the engine has
    them, "coms", and, with contacts, CONTACTS, one number each for all corners."""
    n, frames, _ = windows.measured.shape
    sim = simulator(linkage, n, substeps, law)
    place(sim, windows.motion)
    names = [*INPUTS, *(CONTACTS if law else ())]
    found, by_start = np.empty((n, frames, 7)), np.empty((n, frames, 7, 14))
    ahead = np.tile(np.eye(14), (n, 1, 1))
    by: dict[str, Array] = {}
    out: dict[str, list[Array]] = {name: [] for name in (*names, "coms")}
    given = None
    for frame in range(frames):
        for _ in range(substeps if frame else 0):
            sim.step()
            given = sim.gradients(*names, coordinates="joint", out=given)
            step = given.state
            for name in names:
                new = flat(name, given[name])
                by[name] = new + (step @ by[name] if name in by else 0.0)
            ahead = step @ ahead
        found[:, frame] = apart(linkage, windows, sim, frame) / NOISE
        rows, com = read(linkage, sim.state.q[:, 0], found[:, frame, 3:6] * NOISE[3:6])
        by_start[:, frame] = rows @ ahead[:, :7]
        out["coms"].append(com)
        for name in names:
            out[name].append(rows @ by[name][:, :7] if frame else np.zeros((n, 7, width(name))))
    return found, by_start, {name: np.stack(parts, 1) for name, parts in out.items()}


def flat(name: str, value: Array) -> Array:
    """Derivatives by an input as (n, 14, numbers): diagonals of inertias, one number for all contacts."""
    if name == "inertia":
        value = value[..., DIAGONAL, DIAGONAL]
    value = value.reshape(*value.shape[:2], -1)
    return value.sum(-1, keepdims=True) if name in CONTACTS else value


def width(name: str) -> int:
    """Numbers of an input in `flat`."""
    return {"mass": 2, "inertia": 6, "gravity": 3}.get(name, 1)


def read(linkage: Linkage, q: Array, turn: Array) -> tuple[Array, Array]:
    """Derivatives of what is measured by x, rotation and angle (n, 7, 7), and by the centre of mass (n, 7, 3); turn: by
    which the rotation is off (n, 3)."""
    R, com = rotation_matrix(q), np.array(linkage.coms[0])
    rows = np.zeros((len(q), 7, 7))
    rows[:, DIAGONAL, DIAGONAL] = rows[:, 6, 6, None] = 1.0
    off = np.cross(np.eye(3), turn[:, None]).swapaxes(1, 2)  # off @ a = a x turn
    rows[:, 3:6, 3:6] = np.eye(3) - 0.5 * off + off @ off / 12
    cross = np.cross(np.eye(3), com).T  # of com: cross @ a = a x com
    rows[:, :3, 3:6] = -R @ cross
    by_com = np.zeros((len(q), 7, 3))
    by_com[:, :3] = -R
    return rows / NOISE[:, None], by_com / NOISE[:, None]


def by_hinge(linkage: Linkage, windows: Windows, substeps: int, law: Mapping[str, float] | None = None) -> Array:
    """Derivatives of residuals by the hinge as seen from both centres of mass, and by two turns of its axis,
    (n, frames, 7, 8): differences, the motion at the start held."""
    columns = []
    for k in range(8):
        ends = [residuals(bent(linkage, k, sign * MOVED), windows, substeps, law) for sign in (1.0, -1.0)]
        columns.append((ends[0] - ends[1]) / (2 * MOVED))
    return np.stack(columns, -1)


def bent(linkage: Linkage, k: int, change: float) -> Linkage:
    """A linkage whose hinge is elsewhere: in brick 1 (k < 3), in brick 2 (< 6), its axis turned (about x, z)."""
    if k < 3:
        return replace(linkage, hinge=added(linkage.hinge, k, change))
    if k < 6:  # the anchor in brick 2 is minus the arm and the centre of mass
        return replace(linkage, arm=added(linkage.arm, k - 3, -change))
    axis = rotate(from_rotation_vector(change * np.eye(3)[2 * (k - 6)]), np.array(linkage.axis))
    return replace(linkage, axis=three(axis))


def added(values: Sequence[float], k: int, change: float) -> Three:
    """Three numbers, one of them changed."""
    new = np.array(values)
    new[k] += change
    return three(new)


def free(tosses: Array, linkage: Linkage, clear: float, frames: int) -> list[tuple[int, int]]:
    """Windows of so many frames, one after the other, in which no corner is closer to the ground."""
    found = []
    for toss, high in enumerate(linkage.heights(tosses) > clear):
        first = 0
        while first + frames <= len(high):
            if high[first : first + frames].all():
                found.append((toss, first))
                first += frames
            else:
                first += 1
    return found
