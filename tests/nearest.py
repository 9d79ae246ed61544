"""Distances by brute force."""

import numpy as np
from scipy.optimize import nnls


def least_norm(points):
    """Length of the shortest vector of a convex hull: of all sums with weights >= 0, that which minimises
    |sum|^2 + (1 - weights)^2 is a multiple of it."""
    scale = np.abs(points).max()
    weights, _ = nnls(np.vstack([points.T / scale, np.ones(len(points))]), np.array([0.0, 0.0, 0.0, 1.0]))
    return float(np.linalg.norm(points.T @ weights) / weights.sum())
