"""Restitution in MuJoCo: contacts are springs with dampers, whose damping ratio decides how much they give back."""

import numpy as np


def rebound(damping_ratio: float) -> float:
    """Restitution of a contact that is a spring and a damper, until it would begin to pull.

    y'' + 2 zeta y' + y = 0, y(0) = 0, y'(0) = 1 pushes until y'' = 0. There, with zeta = sin(b),
    y' = -exp(-(pi - 2 b) tan(b)); and, where zeta = cosh(c) > 1, y' = -exp(-2 c / tanh(c)).
    """
    if damping_ratio < 1.0:
        b = np.arcsin(damping_ratio)
        return float(np.exp(-(np.pi - 2 * b) * np.tan(b)))
    c = max(float(np.arccosh(damping_ratio)), 1e-9)
    return float(np.exp(-2 * c / np.tanh(c)))


def bouncing(restitution: float, solref: tuple[float, float]) -> tuple[float, float]:
    """Time constant and damping ratio of contacts as stiff as those of `solref` that rebound; by bisection."""
    low, high = 1e-4, 1e4
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if rebound(middle) > restitution else (low, middle)
    return solref[0] * solref[1] / low, float(low)  # MuJoCo's frequency is 1 / (time constant x damping ratio)
