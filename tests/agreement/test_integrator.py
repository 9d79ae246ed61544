"""Nobody but the integrator knows how velocities move poses: with another one in its place, all else still holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def run(*command: str, cache: Path) -> subprocess.CompletedProcess:
    environment = os.environ | {"VIGYM_CACHE_DIR": str(cache), "PYTHONPATH": str(TESTS)}
    return subprocess.run(
        [sys.executable, *command], cwd=TESTS.parent, env=environment, capture_output=True, text=True, timeout=600
    )


def test_closed_forms_with_another_integrator(tmp_path):
    """Momentum, rolling, joint velocities, compiled; see tests/toys."""
    result = run(str(TESTS / "toys" / "run_cayley.py"), cache=tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("tests", ["unit/test_jacobians.py", "unit/test_gradients.py"])
def test_derivatives_with_another_integrator(tests, tmp_path):
    """The tests of all derivatives pass with it as they do with the paper's."""
    result = run("-m", "pytest", "-q", "-p", "toys.cayley", "-p", "no:cacheprovider", f"tests/{tests}", cache=tmp_path)
    assert result.returncode == 0, result.stdout[-3000:]
    assert " passed" in result.stdout
