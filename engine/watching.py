"""Bodies that each body may meet, and from where its motion is seen (kernels/motion_bounds.py)."""

import numpy as np

from vigym.engine.kernels.store import Group

MOST_FREE = 24  # parts that move freely and may touch; of more, each environment has a lane group of its own
FEW_LINKS = 64  # of a part whose bodies are seen from its first one; far ones of a long chain would seem to move more


def watch_tables(m: Group, parts: np.ndarray) -> None:
    """Write the tables of a model's store; parts: for each body (n,), the first of those it is joined with."""
    n = len(parts)
    size = np.bincount(parts, minlength=n)
    m.watch_root[:] = np.append(np.where((size[parts] > 1) & (size[parts] <= FEW_LINKS), parts, n), n)
    body = m.collider_body[np.array([m.couple_first, m.couple_second])]
    root = m.watch_root[body]
    within = (root[0] == root[1]) & (root[0] < n)
    m.watched[body[:, within].ravel(), 0] = m.watched[body[:, ~within].ravel(), 1] = 1.0


def is_crowded(parts: np.ndarray, held: np.ndarray) -> bool:
    """Tell whether so many parts move freely that each environment has a lane group, and an order of elimination
    (collision/links.py), of its own; held: which bodies are held to the world (n,)."""
    return len(np.unique(parts[~held])) > MOST_FREE
