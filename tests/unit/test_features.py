"""Features by which solids touch: a key stands for one feature, whatever the poses are."""

import numpy as np
import pytest

from vigym.engine.kernels.collision import kinds
from vigym.engine.kernels.collision.distance import boxes_parted
from vigym.engine.kernels.collision.manifold import CODE, COLUMNS, EDGES, FACE, FOUND, KEY, OWNER, PARTNER, SWAP
from vigym.engine.kernels.collision.space import BOX, CAPSULE
from vigym.engine.rotation import rotation_matrix

SIZES = {BOX: (0.11, 0.07, 0.05, 0.0), CAPSULE: (0.0, 0.0, 0.09, 0.02)}
FACES, SHALLOW = 2048.0, 400.0  # which box has the plane; from the second on, FACE is where edges of boxes cross


def placed(kind: int, centre: np.ndarray, q: np.ndarray) -> tuple:
    """A solid as kernels have it, see collision/space.py."""
    axes = rotation_matrix(q).T
    *half, radius = SIZES[kind]
    return tuple(centre), tuple(tuple(axis) for axis in axes), tuple(half), radius


@pytest.mark.parametrize("pair", [(BOX, BOX), (CAPSULE, BOX), (BOX, CAPSULE), (CAPSULE, CAPSULE)])
def test_a_key_stands_for_one_feature(pair):
    # The point of the owner and that of its partner, each in its own body's frame, are functions of the key: what is
    # found under a known key is not looked at again (detect.replace_features), and takes the force that it carried.
    rng, known, crossed = np.random.default_rng(1), {}, 0
    for _ in range(1000):
        turns = rng.normal(size=(2, 4))
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        way = rng.normal(size=3)
        way *= rng.uniform(0.05, 0.2) / np.linalg.norm(way)
        centres = np.array([np.zeros(3), way])
        a, b = (placed(kind, *pose) for kind, pose in zip(pair, zip(centres, turns, strict=True), strict=True))
        if pair == (BOX, BOX) and boxes_parted(a, b) < -0.01:
            continue
        found = np.zeros((FOUND, COLUMNS))
        for row in found[: kinds.features_of(found, pair[0], a, a, pair[1], b, b, 0.1)]:
            if row[CODE] not in (FACE, EDGES) or (row[CODE] == FACE and row[KEY] % FACES >= SHALLOW):
                continue
            crossed += int(row[CODE] == EDGES)
            o, p = (1, 0) if row[SWAP] > 0.5 else (0, 1)
            points = [
                rotation_matrix(turns[body]).T @ (row[first : first + 3] - centres[body])
                for body, first in ((o, OWNER), (p, PARTNER))
            ]
            code, *others = known.setdefault(row[KEY], (row[CODE], o, *points))
            assert code == row[CODE]
            assert others[0] == o
            np.testing.assert_allclose(others[1:], points, atol=1e-12)
    assert crossed > 50
