"""Pytest set-up shared by all tests."""

import os
from pathlib import Path

import pytest

# The reference solves matrices of a few hundred rows: on one thread in milliseconds, on several ones that wait for each
# other on a busy machine in seconds. Set before NumPy is imported, and inherited by the workers of pytest-xdist.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    import hypothesis
except ModuleNotFoundError:  # tests/rllib runs where hypothesis is not installed, and does not use it
    pass
else:
    # One commit gives one verdict, on any machine and however busy it is:
    # - deadline and too_slow compare wall-clock times with fixed limits, so they fail on a loaded machine;
    # - derandomize draws the same examples in every run, and so keeps no database either.
    # To look for new examples: pytest --hypothesis-profile=search
    hypothesis.settings.register_profile(
        "vigym", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    hypothesis.settings.register_profile(
        "search", hypothesis.settings.get_profile("vigym"), derandomize=False, print_blob=True
    )
    hypothesis.settings.load_profile("vigym")

ROOT = Path(__file__).parents[1]


class RootIsNotATestPackage:
    """Keep pytest from importing the root's `__init__.py`, which is vigym's, under the folder's name too."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        return pytest.Dir.from_parent(parent, path=path) if path == ROOT else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--uncompiled", action="store_true", help="run all kernels as plain Python, where indices are checked"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--uncompiled"):
        from vigym import Simulator

        Simulator.__init__.__kwdefaults__["compiled"] = False
    # free fall is what many tests are about; those of the warning ask for it with pytest.warns
    config.addinivalue_line("filterwarnings", "ignore::vigym.MechanismWarning")
    # Registered as a plugin because hooks of this file see only what lies below its own folder.
    config.pluginmanager.register(RootIsNotATestPackage())


@pytest.fixture(autouse=True)
def no_browser_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Live pages do not open in the browser of whoever runs the tests."""
    monkeypatch.setattr("webbrowser.open", lambda url: False)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the distances of all colliders with another library, after every step that a test makes."""
    from apart import Judge

    from vigym import Simulator

    judge = Judge()
    monkeypatch.setattr(Simulator, "step", lambda sim, *args, **controls: judge(sim, *args, **controls))
