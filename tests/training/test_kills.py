"""Trainings that are killed anywhere, also while they write or go on, end as one that is not."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

SCRIPT = Path(__file__).parents[1] / "killed_runs.py"
CALLS = 1000  # on files, in one of the trainings


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("count", [6, pytest.param(150, marks=pytest.mark.slow)])
def test_kills_at_any_call_lose_nothing(count, tmp_path):
    draw = np.random.default_rng(count)
    kills = [f"{first},{second}" for first, second in draw.integers(0, (CALLS, CALLS // 2), size=(count, 2))]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), *kills], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ends = [line.rpartition("] ")[2] for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(ends) == count
    assert sum("-9" in end for end in ends) > count // 2  # most are killed before their end
    assert any("resumed" in end for end in ends)
