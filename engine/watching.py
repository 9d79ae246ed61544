"""Tables of what each body may meet, and from where its motion is seen: see kernels/motion_bounds.py."""

import numpy as np

from vigym.engine.kernels.store import Group

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
