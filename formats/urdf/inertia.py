"""Mass, centre of mass and inertia of links that move as one, and how tensors that no solid can have are mended.

A tensor with principal moments a <= b <= c belongs to a solid if a > 0 and a + b >= c. Files break this by rounding,
by mixing up units, or by writing zeros. What is changed, and no more:

    b -> max(b, c / 2)      a -> max(a, c (1 + MARGIN) - b, SMALLEST c)     principal axes stay
    all zero                the solid box around the shapes, of the same mass
"""

from collections.abc import Iterable

import numpy as np

from vigym.engine.validation import Array

SMALLEST = 1e-4  # of the largest moment: a rod a hundred times as long as thick
MARGIN = 1e-6  # so that what was mended stays possible when it is rounded or turned
_THINNEST = 1e-9  # of the largest moment: below that, a zero was meant
_SLACK = 1e-6  # on a + b >= c: rounding to six digits


def combine(parts: Iterable[tuple[float, Array, Array]]) -> tuple[float, Array, Array]:
    """Mass, centre of mass (3,) and inertia (3, 3) about it of (mass, com, inertia) in one frame: sums, and Steiner."""
    parts = list(parts)
    total = sum(mass for mass, _, _ in parts)
    if total == 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    centre = sum((mass * com for mass, com, _ in parts), np.zeros(3)) / total
    J = np.zeros((3, 3))
    for mass, com, inertia in parts:
        d = com - centre
        J += inertia + mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    return total, centre, J


def possible(inertia: Array) -> bool:
    """Return whether some solid has this inertia."""
    a, b, c = np.linalg.eigvalsh(inertia)
    return bool(a > _THINNEST * c and a > 0.0 and a + b >= c * (1.0 - _SLACK))


def repair(inertia: Array) -> Array:
    """The nearest possible inertia with the same axes and the same largest moment, which must be positive."""
    (a, b, c), axes = np.linalg.eigh(inertia)
    b = max(b, 0.5 * c)
    a = max(a, c * (1.0 + MARGIN) - b, SMALLEST * c)
    J = axes @ np.diag([a, b, c]) @ axes.T
    return 0.5 * (J + J.T)


def box_inertia(mass: float, size: Array) -> Array:
    """Inertia (3, 3) of a solid box about its centre."""
    squares = size * size
    return mass / 12.0 * np.diag(squares.sum() - squares)
