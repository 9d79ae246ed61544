"""The linkage from its tosses: first from flights, which know no contact, then contacts from windows that have some.

Gauss-Newton: every window has a start of its own, which is eliminated, and all share the parameters. Parameters have
priors (SPREAD) as wide as bricks of that size allow, so that what the tosses do not tell stays as described; frames
that fit badly count less.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vigym.benchmarks.elbow.linkage import MASS, Linkage, three
from vigym.benchmarks.elbow.windows import Windows, added, bent, by_hinge, linearised, residuals
from vigym.benchmarks.scenes.scene import Array

# In units of these the parameters are sought: share, logarithms of second moments of mass (6), anchors (6), axis (2),
# centre of mass of brick 1 (3), logarithms of damping and dry friction, gravity
NAMES = ("share", *(f"extent {k}.{axis}" for k in (1, 2) for axis in "xyz"), *(f"hinge 1 {axis}" for axis in "xyz"),
         *(f"hinge 2 {axis}" for axis in "xyz"), "axis x", "axis z", *(f"com 1 {axis}" for axis in "xyz"),
         "damping", "rubbing", "gravity")  # fmt: skip
SPREAD = np.array([0.1, *[1.0] * 6, *[5e-3] * 6, *[0.05] * 2, *[5e-3] * 3, 3.0, 3.0, 0.3])
LAWS = ("friction", "compliance", "contact_damping")
OTHERS = 1.0 - np.eye(3)  # moments about axes are sums of second moments along the other two
TURNS = 8  # of Gauss-Newton
WEAK = 1e-6  # added to the diagonal of a start's equations
TAIL = 3.0  # units of noise beyond which a frame counts less


class Found(NamedTuple):
    """A linkage, with the values and the uncertainties of its parameters (NAMES), and how well windows fit: root mean
    squares in units of the noise, before and after."""

    linkage: Linkage
    values: Array
    sigmas: Array
    before: float
    after: float


def changed(base: Linkage, p: Array) -> Linkage:
    """A linkage whose parameters differ by p, (len(NAMES),), as `SPREAD` has them."""
    new = replace(base, share=base.share + float(p[0]), gravity=base.gravity + float(p[20]))
    moments = (second(base) * np.exp(p[1:7].reshape(2, 3))) @ OTHERS
    new = replace(new, moments=(three(moments[0]), three(moments[1])))
    new = replace(new, damping=base.damping * float(np.exp(p[18])), rubbing=base.rubbing * float(np.exp(p[19])))
    for k in range(8):
        new = bent(new, k, float(p[7 + k]))
    for k in range(3):  # the hinge keeps its place in brick 1 as seen from the centre of mass
        coms = added(new.coms[0], k, float(p[15 + k])), new.coms[1]
        new = replace(new, coms=coms, hinge=added(new.hinge, k, float(p[15 + k])))
    return new


def second(linkage: Linkage) -> Array:
    """Second moments of mass along the axes of each brick, (2, 3), kg m^2."""
    moments = np.array(linkage.moments)
    return moments.sum(-1, keepdims=True) / 2 - moments


def centred(linkage: Linkage, described: Linkage) -> Linkage:
    """The same motion with the centre of brick 2 where it is described: the rest of the arm is its centre of mass."""
    off = np.array(linkage.arm) - described.arm
    com = np.array(linkage.coms[1]) + off
    return replace(linkage, arm=described.arm, coms=(linkage.coms[0], three(com)))


def columns(linkage: Linkage, windows: Windows, substeps: int, law) -> tuple[Array, Array, Array]:
    """Residuals (n, rows), and their derivatives by the start (n, rows, 14) and by the parameters in units of their
    spread (n, rows, len(NAMES) + those of contacts)."""
    found, by_start, by = linearised(linkage, windows, substeps, law)
    n = len(found)
    mass = 2 * MASS * (by["mass"][..., 0] - by["mass"][..., 1])
    inertia = by["inertia"].reshape(*found.shape, 2, 3) @ OTHERS * second(linkage)
    hinge = by_hinge(linkage, windows, substeps, law)
    logs = [by["damping"] * linkage.damping, by["joint_friction"] * linkage.rubbing, -by["gravity"][..., 2:]]
    parts = [mass[..., None], inertia.reshape(*found.shape, 6), hinge, by["coms"], *logs]
    whole = np.concatenate(parts, -1) * SPREAD
    if law:
        values = law["friction"], law["compliance"], law["damping"]
        whole = np.concatenate([whole, *(by[name] * v for name, v in zip(LAWS, values, strict=True))], -1)
    return found.reshape(n, -1), by_start.reshape(n, -1, 14), whole.reshape(n, -1, whole.shape[-1])


def weights(found: Array) -> Array:
    """Weights of each residual, (n, rows): less for those of bad frames."""
    return 1.0 / (1.0 + (found / TAIL) ** 2)


def cost(found: Array, p: Array) -> float:
    """Objective of the fit: a sum that grows slowly for bad frames, and the prior."""
    return float(TAIL**2 * np.log1p((found / TAIL) ** 2).sum() + p @ p)


def reduced(found: Array, by_start: Array, by: Array) -> tuple[Array, Array, Array, Array]:
    """Equations of the parameters with every start eliminated, H and g; and what a start follows from."""
    w = weights(found)[..., None]
    A = by_start.swapaxes(1, 2) @ (w * by_start)
    scale = np.einsum("nii->ni", A) + 1e-12
    A = A + WEAK * scale[:, :, None] * np.eye(14)
    B, a = by_start.swapaxes(1, 2) @ (w * by), np.einsum("nrk,nr->nk", by_start, w[..., 0] * found)
    solved = np.linalg.solve(A, np.concatenate([B, a[..., None]], -1))
    H = np.einsum("nrk,nrl->kl", by, w * by) - np.einsum("nsk,nsl->kl", B, solved[..., :-1])
    g = np.einsum("nrk,nr->k", by, w[..., 0] * found) - np.einsum("nsk,ns->k", B, solved[..., -1])
    return H, g, solved[..., :-1], solved[..., -1]


def from_flights(described: Linkage, tosses: Array, which: Sequence[tuple[int, int]], frames: int, substeps: int = 2):
    """The linkage that windows without contact show."""
    windows, p = Windows.of(tosses, which, frames, described), np.zeros(len(NAMES))
    damping, first, linkage = 1e-3, None, described
    H = np.eye(len(p))
    for _ in range(TURNS):
        found, by_start, by = columns(linkage, windows, substeps, None)
        first = first or float(np.sqrt(np.median(found**2)))
        H, g, from_p, from_start = reduced(found, by_start, by)
        for _ in range(4):
            step = -np.linalg.solve(H + np.eye(len(p)) + damping * np.diag(np.diag(H)), g + p)
            starts = -from_start - from_p @ step
            there, other = changed(described, (p + step) * SPREAD), windows.moved(starts)
            tried = residuals(there, other, substeps).reshape(found.shape)
            if cost(tried, p + step) < cost(found, p):
                p, windows, linkage, damping = p + step, other, there, 0.3 * damping
                break
            damping *= 10.0
        else:
            break
    sigmas = np.sqrt(np.diag(np.linalg.inv(H + np.eye(len(p))))) * SPREAD
    last = float(np.sqrt(np.median(residuals(linkage, windows, substeps) ** 2)))
    return Found(centred(linkage, described), p * SPREAD, sigmas, first or np.nan, last)


def from_contacts(
    linkage: Linkage,
    law: dict[str, float],
    tosses: Array,
    which: Sequence[tuple[int, int]],
    frames: int,
    substeps: int = 4,
    turns: int = TURNS,
) -> tuple[dict[str, float], list[float]]:
    """The law of the contacts that windows with contact show, and the cost at every turn; starts are sought, too."""
    windows, q, damping, told = Windows.of(tosses, which, frames, linkage), np.zeros(3), 1e-2, []
    guess = dict(law)
    for _ in range(turns):
        found, by_start, by = columns(linkage, windows, substeps, law)
        told.append(cost(found, np.zeros(1)))
        H, g, from_p, from_start = reduced(found, by_start, by[..., -3:])
        for _ in range(4):
            step = -np.linalg.solve(H + damping * np.diag(np.diag(H)) + 1e-3 * np.eye(3), g)
            step = np.clip(step, -1.0, 1.0)
            other = windows.moved(np.clip(-from_start - from_p @ step, -0.2, 0.2))
            there = {name: guess[name] * float(np.exp(v)) for name, v in zip(law, q + step, strict=True)}
            if cost(residuals(linkage, other, substeps, there), np.zeros(1)) < told[-1]:
                q, windows, law, damping = q + step, other, there, 0.3 * damping
                break
            damping *= 10.0
        else:
            break
    return law, told
