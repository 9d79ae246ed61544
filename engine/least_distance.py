"""The point nearest to the origin among those that linear inequalities allow (Lawson and Hanson, Solving Least Squares
Problems, chapter 23)."""

import numpy as np

from vigym.engine.rotation import Array

ROUNDING = 1e-12  # of numbers of size 1


def least_distance(E: Array, c: Array) -> Array | None:
    """u (n,) of the smallest |u| with E u >= c; None if there is none.

    With the multipliers y >= 0 that minimise |E^T y|^2 + (c . y - 1)^2, it is u = E^T y / (1 - c . y).
    """
    size = np.linalg.norm(E, axis=1)
    if (c[size == 0.0] > 0.0).any():
        return None
    E, c = E[size > 0.0] / size[size > 0.0, None], c[size > 0.0] / size[size > 0.0]
    scale = c.max(initial=0.0)
    if scale == 0.0:
        return np.zeros(E.shape[1])
    c = np.maximum(c / scale, -1.0 / ROUNDING)
    y = nonnegative(np.vstack([E.T, c]), np.append(np.zeros(E.shape[1]), 1.0))
    rest = 1.0 - c @ y
    return scale * (E.T @ y) / rest if rest > ROUNDING else None


def nonnegative(A: Array, f: Array) -> Array:
    """y >= 0 of the smallest |A y - f|: rows enter one by one, the one that gains most first; those that would become
    negative leave."""
    y, used = np.zeros(A.shape[1]), np.zeros(A.shape[1], bool)
    for _ in range(3 * A.shape[1]):
        gain = np.where(used, 0.0, A.T @ (f - A @ y))
        k = int(gain.argmax())
        if gain[k] <= ROUNDING * np.abs(A[:, k]).max():
            break
        used[k] = True
        while used.any():
            new = np.zeros_like(y)
            new[used] = np.linalg.lstsq(A[:, used], f, rcond=None)[0]
            falling = used & (new <= 0.0)
            if not falling.any():
                y = new
                break
            way = np.min(y[falling] / np.maximum(y[falling] - new[falling], 1e-300))
            y += way * (new - y)
            used &= y > ROUNDING
            y[~used] = 0.0
    return y
