"""The experiments by name, in the order of the report; each is loaded when it runs."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Literal

from vigym.benchmarks.reproduction.result import Result

Name = Literal["disc", "chain", "structure", "hopper", "quadruped", "drift", "energy", "corrections"]

# name -> module:function and title
EXPERIMENTS: dict[Name, tuple[str, str]] = {
    "disc": ("scaling:disc", "A single body with c contacts"),
    "chain": ("scaling:chain", "A chain of n links with n + 1 contacts"),
    "structure": ("structure:structure", "Structure of the Newton matrix, and counted operations"),
    "hopper": ("hopper:hopper", "The hopper, a jump with a full turn"),
    "quadruped": ("quadruped:quadruped", "The Unitree A1, walking"),
    "drift": ("drift:drift", "Drift of joints"),
    "energy": ("energy:energy", "Energy and momentum of a free chain"),
    "corrections": ("corrections:corrections", "What the published code gets wrong"),
}


def function(name: Name) -> Callable[[Path, bool], Result]:
    """The experiment itself: (folder, quick) -> Result; it writes its CSV and PNG files into the folder."""
    module, attribute = EXPERIMENTS[name][0].split(":")
    return getattr(import_module(f"vigym.benchmarks.reproduction.{module}"), attribute)
