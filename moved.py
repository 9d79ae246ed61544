"""Import paths that are not where the files are: old ones that pages of the documentation showed, or that saved
trainings name; and short ones of modules that cannot be at the root: `import torch` would find them there."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "vigym.engine.urdf": "vigym.formats.urdf",  # docs/urdf.md
    "vigym.envs.view": "vigym.view.pictures",  # docs/pictures.md
    "vigym.training.rllib_config": "vigym.training.rllib.config",  # checkpoints of --backend ray
    "vigym.training.rllib_normalize": "vigym.training.rllib.normalize",  # the same
    "vigym.training.vec_env": "vigym.training.sb3.vec_env",  # docs/training.md
    "vigym.jax": "vigym.bridges.jax",
    "vigym.torch": "vigym.bridges.torch",
}


def new_name(name: str) -> str | None:
    """Return where a module is now, or a module below it; None if it has not moved."""
    for old, new in MOVED.items():
        if name == old or name.startswith(f"{old}."):
            return new + name.removeprefix(old)
    return None


class Moved(MetaPathFinder, Loader):
    """Imports a module that has moved from where it is now: old and new name are one and the same module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for old names only."""
        return None if new_name(fullname) is None else ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Put the module itself in the place of the empty one that was made for the old name."""
        sys.modules[module.__name__] = import_module(str(new_name(module.__name__)))


def install() -> None:
    """Let `import` know the old names. First in line: a folder under its old name would be loaded a second time."""
    if not any(isinstance(finder, Moved) for finder in sys.meta_path):
        sys.meta_path.insert(0, Moved())
