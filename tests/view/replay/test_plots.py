"""Lines of the plots beside a replay."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import vigym
from vigym.view.replay.html import series


@dataclass
class Run:
    """Two frames, as `series` reads them."""

    mechanism: vigym.Mechanism
    forces: np.ndarray
    gaps: np.ndarray
    joint_error: np.ndarray = field(default_factory=lambda: np.zeros(2))
    reward: np.ndarray = field(default_factory=lambda: np.zeros(2))
    time: np.ndarray = field(default_factory=lambda: np.arange(2.0))
    head: dict[str, Any] = field(default_factory=lambda: {"title": ""})

    def __len__(self) -> int:
        return 2


@pytest.mark.parametrize("n", [4, 6])
def test_contacts_are_told_by_name(n: int) -> None:
    """All of four; of more, the three that are pressed most, after the sum of all."""
    m = vigym.Mechanism()
    m.add_body("a", mass=1.0, inertia=[1.0, 1.0, 1.0])
    for k in range(n):
        m.add_contact(f"foot {k}", body="a", point=(0.1 * k, 0.0, 0.0))
    forces = np.zeros((2, n, 3))
    forces[:, :, 2] = [5.0, 1.0, 4.0, 0.0, 3.0, 0.5][:n]
    replay: Any = Run(m, forces, np.ones((2, n)))
    gap, force, *_ = series(replay)["plots"]
    told = [f"foot {k}" for k in (range(4) if n == 4 else (0, 2, 4))]
    assert [line["name"] for line in gap["lines"]] == ["smallest"] * (n > 4) + told
    assert [line["name"] for line in force["lines"]] == ["sum"] * (n > 4) + told
    assert [line["values"][0] for line in force["lines"]] == ([13.5, 5, 4, 3] if n > 4 else [5, 1, 4, 0])
