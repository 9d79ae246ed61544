"""Peers are installed where vigym is developed, so that no test of them is skipped unseen."""

import sys
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["matplotlib", "mujoco", "pybullet"])
def test_peers_are_installed(name):
    if name == "pybullet" and sys.version_info >= (3, 12):
        pytest.skip("PyBullet has no packages for Python 3.12 and newer")
    try:
        import_module(name)
    except ImportError as error:
        pytest.fail(f'{error}; pip install -e ".[dev]" brings it, and tests that need it are skipped without')
