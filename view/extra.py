"""Packages of the extra `render`, imported when they are needed, with a message that says how to get them."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from gymnasium.error import DependencyNotInstalled


def require(module: str, what: str) -> Any:
    """Import a module of the extra; `what` is what needs it."""
    check(module, what)
    return import_module(module)


def check(module: str, what: str) -> None:
    """DependencyNotInstalled, with the command that helps, unless the module is there."""
    if find_spec(module) is None:
        raise DependencyNotInstalled(f'{what} needs {module}: pip install "vigym[render]"')
