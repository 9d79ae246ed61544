"""The cube that was really thrown: friction, restitution, centre of mass and inertia by Gauss-Newton on short windows
around its impacts.

Every window has a start of its own, 12 numbers, which is eliminated; all share the six parameters. Frames that fit
badly count less, as the law of a real impact is not quite that of any engine. Half width and gravity are those that
flights and tosses at rest show (docs/comparison/tosses.md), from which nothing else is taken.
"""

import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vigym.benchmarks.elbow.data import turned
from vigym.benchmarks.scenes.scene import Array
from vigym.benchmarks.tosses.cube import Cube
from vigym.benchmarks.tosses.data import RATE, Tosses
from vigym.engine.rotation import from_rotation_vector, multiply, rotation_matrix
from vigym.engine.simulator import Simulator

HALF, GRAVITY = 0.05121, 9.598  # m, m/s^2, as measured
NAMES = "friction", "restitution", "com x", "com y", "com z", "inertia"
UNITS = np.array([1.0, 1.0, 1e-3, 1e-3, 1e-3, 1e-3])  # of what is told: mm, g m^2
SPREAD = np.array([0.1, 0.2, 5e-3, 5e-3, 5e-3, 2e-4])  # in which parameters are sought, and their prior
BEFORE, FRAMES, SUBSTEPS, TOUCH = 4, 12, 4, 2e-3  # frames before an impact, in all; m above the ground
NOISE = np.array([5e-4] * 3 + [3e-3] * 3)  # m, rad
TAIL, WEAK, TURNS = 3.0, 1e-6, 12
MOVED = 1e-7  # m, by which the centre of mass is moved

# What was told without an engine, and its spread: slides on a face, single corners, flights (docs/comparison/tosses.md)
TOLD = (0.23, 0.01), (0.27, 0.015), (0.32e-3, 0.2e-3), (-0.23e-3, 0.2e-3), (5.69e-3, 0.2e-3), (1.032e-3, 1e-5)


class Guess(NamedTuple):
    """friction, restitution, centre of mass (3), m, inertia, kg m^2."""

    values: Array

    @property
    def cube(self) -> Cube:
        """The cube, as the scene has it."""
        x, y, z = map(float, self.values[2:5])
        return replace(Cube(half=HALF, gravity=GRAVITY), com=(x, y, z), inertia=float(self.values[5]))

    def simulator(self, n: int) -> Simulator:
        """So many cubes."""
        friction, restitution = map(float, self.values[:2])
        m = self.cube.mechanism(friction=friction, restitution=restitution)
        return Simulator(m, 1.0 / RATE / SUBSTEPS, n, tolerance=1e-7)


FIRST = Guess(np.array([0.3, 0.5, 0.0, 0.0, 0.0, 8.1e-4]))


class Found(NamedTuple):
    """values and uncertainties of NAMES; median residuals, in units of the noise, at every turn; seconds."""

    values: Array
    sigmas: Array
    errors: list[float]
    seconds: float


def windows(tosses: Tosses, most: int) -> Array:
    """Cut frames around the first impact of each toss, (n, FRAMES, 13)."""
    found = []
    for toss in tosses.measured:
        low = np.flatnonzero(Cube(half=HALF).height(toss) < TOUCH)
        first = low[0] - BEFORE if len(low) else -1
        part = toss[first : first + FRAMES]
        if first >= 0 and len(part) == FRAMES and np.isfinite(part).all():
            found.append(part)
    return np.array(found[:most])


def simulated(guess: Guess, starts: Array, measured: Array, gradients: bool = False) -> tuple[Simulator, Array, Array]:
    """Simulate windows that start at `starts`, motions of the centre of mass (n, 13): the simulator, residuals
    (n, FRAMES, 6) and rotation matrices (n, FRAMES, 3, 3)."""
    sim = guess.simulator(len(measured))
    start = {name: part[:, None] for name, part in parts(starts).items()}
    sim.set_state(x=start["x"], q=start["q"], v=start["v"], w=start["w"])
    read = sim.rollout(steps=FRAMES - 1, repeat=SUBSTEPS, read=["x", "q"], gradients=gradients)
    x, q = (
        np.concatenate([first[None], read[name][:, :, 0]]).swapaxes(0, 1)
        for name, first in zip("xq", np.split(starts[:, :7], [3], -1), strict=True)
    )
    R = rotation_matrix(q)
    off = x - R @ np.array(guess.cube.com) - measured[..., :3]
    return sim, np.concatenate([off, turned(measured[..., 3:7], q)], -1) / NOISE, R


def linearised(guess: Guess, starts: Array, measured: Array) -> tuple[Array, Array, Array]:
    """Residuals (n, rows), and derivatives by the starts (n, rows, 12) and by the parameters in units of SPREAD: one
    backward pass a row. The centre of mass, by which shapes and readings change, is moved both ways."""
    n = len(measured)
    sim, found, R = simulated(guess, starts, measured, gradients=True)
    by_start, by = np.zeros((n, FRAMES, 6, 12)), np.zeros((n, FRAMES, 6, 6))
    cross = np.cross(np.eye(3), np.array(guess.cube.com)).T
    rows = np.zeros((n, FRAMES, 6, 12))
    rows[..., :3, :3] = rows[..., 3:, 3:6] = np.eye(3)
    rows[..., :3, 3:6] = -R @ cross
    by_start[:, 0] = rows[:, 0]
    for frame in range(1, FRAMES):
        for k in range(6):
            bar = np.zeros((FRAMES - 1, n, 12))
            bar[frame - 1] = rows[:, frame, k]
            pulled = sim.rollout_vjp(bar, "friction", "restitution", "inertia")
            by_start[:, frame, k] = pulled["state"]
            by[:, frame, k, 0], by[:, frame, k, 1] = pulled["friction"].sum(-1), pulled["restitution"].sum(-1)
            by[:, frame, k, 5] = np.trace(pulled["inertia"][:, 0], axis1=-2, axis2=-1)
    by_start, by = by_start / NOISE[:, None], by / NOISE[:, None] * SPREAD
    for k in (2, 3, 4):
        ends = [simulated(Guess(guess.values + sign * MOVED * np.eye(6)[k]), starts, measured)[1] for sign in (1, -1)]
        by[..., k] = SPREAD[k] * (ends[0] - ends[1]) / (2 * MOVED)
    return found.reshape(n, -1), by_start.reshape(n, -1, 12), by.reshape(n, -1, 6)


def parts(starts: Array) -> dict[str, Array]:
    """x, q, v, w of states (n, 13)."""
    return dict(zip("xqvw", np.split(starts, [3, 7, 10], axis=-1), strict=True))


def moved(starts: Array, change: Array) -> Array:
    """Other starts: changes (n, 12)."""
    x, q, v, w = parts(starts).values()
    turn = multiply(q, from_rotation_vector(change[:, 3:6]))
    return np.concatenate([x + change[:, :3], turn, v + change[:, 6:9], w + change[:, 9:]], -1)


def cost(found: Array, shift: Array) -> float:
    """Sum that grows slowly for bad frames, and the prior."""
    return float(TAIL**2 * np.log1p((found / TAIL) ** 2).sum() + shift @ shift)


def identify(measured: Array, first: Guess = FIRST, turns: int = TURNS) -> Found:
    """Parameters of the cube from windows (n, FRAMES, 13)."""
    began, errors = time.perf_counter(), []
    guess, starts, damping = first, first.cube.to_mass(measured[:, 0]), 1e-2
    for _ in range(turns):
        found, by_start, by = linearised(guess, starts, measured)
        errors.append(float(np.sqrt(np.median(found**2))))
        w = 1.0 / (1.0 + (found / TAIL) ** 2)[..., None]
        A = by_start.swapaxes(1, 2) @ (w * by_start)
        A += WEAK * np.einsum("nii->ni", A)[:, :, None] * np.eye(12)
        B, a = by_start.swapaxes(1, 2) @ (w * by), by_start.swapaxes(1, 2) @ (w * found[..., None])
        solved = np.linalg.solve(A, np.concatenate([B, a], -1))
        from_p, from_start = solved[..., :-1], solved[..., -1]
        H = np.einsum("nrk,nrl->kl", by, w * by) - np.einsum("nsk,nsl->kl", B, from_p)
        g = np.einsum("nrk,nr->k", by, w[..., 0] * found) - np.einsum("nsk,ns->k", B, from_start)
        shift = (guess.values - first.values) / SPREAD
        for _ in range(5):
            step = -np.linalg.solve(H + np.eye(6) + damping * np.diag(np.diag(H)), g + shift)
            step = np.clip(step, -1.0, 1.0)
            other = moved(starts, np.clip(-from_start - from_p @ step, -0.3, 0.3))
            tried = Guess(np.maximum(guess.values + step * SPREAD, [0.01, 0.0, -1, -1, -1, 1e-4]))
            if cost(simulated(tried, other, measured)[1].reshape(found.shape), shift + step) < cost(found, shift):
                guess, starts, damping = tried, other, 0.3 * damping
                break
            damping *= 10.0
        else:
            break
    sigmas = np.sqrt(np.diag(np.linalg.inv(H + np.eye(6)))) * SPREAD
    return Found(guess.values, sigmas, errors, time.perf_counter() - began)


def draw(measured: Array, path: Path) -> Found:
    """Fit with half of the windows, then with all; the parameters beside what flights and impulses told."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    halves = [identify(part) for part in (measured[0::2], measured[1::2])]
    found = identify(measured)
    figure, axes = plt.subplots(1, 1 + len(NAMES), figsize=(12, 3), layout="constrained")
    axes[0].semilogy(found.errors, "o-")
    axes[0].set(xlabel="turn", title="median residual / noise")
    for k, (ax, name) in enumerate(zip(axes[1:], NAMES, strict=True)):
        for x, one in enumerate((found, *halves)):
            ax.errorbar(
                x, one.values[k] / UNITS[k], one.sigmas[k] / UNITS[k], fmt="o", color="tab:red" if x == 0 else "gray"
            )
        told, spread = TOLD[k]
        ax.axhspan((told - spread) / UNITS[k], (told + spread) / UNITS[k], color="tab:blue", alpha=0.3)
        ax.axhline(FIRST.values[k] / UNITS[k], color="black", ls=":")
        unit = {1e-3: ", mm"}.get(UNITS[k], "") if k < 5 else ", g m^2"
        ax.set(title=name + unit, xticks=range(3), xticklabels=["all", "1/2", "2/2"])
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return found
