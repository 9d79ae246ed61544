"""Nobody but the integrator knows how velocities move poses: with another one in its place, all else still holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


SLOW = [pytest.param(f"unit/{name}.py", marks=pytest.mark.slow) for name in ("test_jacobians", "test_gradients")]


@pytest.mark.parametrize("file", ["toys/cayley_world.py", *SLOW])
def test_another_integrator(file, tmp_path):
    """Closed forms, the tests of all derivatives and those of gradients pass with Cayley's map (toys/cayley.py)."""
    # compiled code of that world must not get among that of this one
    paths = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"VIGYM_CACHE_DIR": str(tmp_path), "PYTHONPATH": paths}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "toys.cayley", "-p", "no:cacheprovider", TESTS / file]
    result = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stdout[-3000:]
    assert " passed" in result.stdout
