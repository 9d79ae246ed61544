"""Pytest set-up shared by all tests."""

from pathlib import Path

import pytest

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
    # Registered as a plugin because hooks of this file see only what lies below its own folder.
    config.pluginmanager.register(RootIsNotATestPackage())


@pytest.fixture(autouse=True)
def no_browser_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Live pages do not open in the browser of whoever runs the tests."""
    monkeypatch.setattr("webbrowser.open", lambda url: False)
