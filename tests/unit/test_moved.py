"""Old import paths that were documented, or that saved trainings name, lead to the same modules as the new ones."""

import pickle
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

import vigym
from vigym.moved import MOVED, Moved, new_name

# As the pages showed them, at the time: path, names.
SHOWN = {
    "vigym.engine.urdf": ("read_urdf", "load_urdf", "UrdfError", "UrdfModel", "UrdfWarning"),
    "vigym.envs.view.picture": ("Arrows", "Camera", "Renderer", "save_png", "tile"),
    "vigym.training.vec_env": ("NativeVecEnv",),
}


@pytest.mark.parametrize("old", SHOWN)
def test_documented_names_are_where_they_were(old: str) -> None:
    if old == "vigym.training.vec_env":
        pytest.importorskip("stable_baselines3")
    new = new_name(old)
    assert new is not None
    for name in SHOWN[old]:
        assert getattr(import_module(old), name) is getattr(import_module(new), name)


@pytest.mark.parametrize("old", MOVED)
def test_the_new_place_exists_and_the_old_one_does_not(old: str) -> None:
    """So that neither a typing error nor a folder that has come back hides behind the table."""
    assert find_spec(MOVED[old]) is not None
    for finder in sys.meta_path:
        if not isinstance(finder, Moved) and old.rpartition(".")[0] in sys.modules:
            assert finder.find_spec(old, sys.modules[old.rpartition(".")[0]].__path__) is None


def test_old_and_new_are_one_module_in_any_order() -> None:
    code = """
import sys
import vigym
assert "vigym.view.pictures" not in sys.modules, "an old name must not load what it stands for"
from vigym.envs import view
from vigym.envs.view import camera
import vigym.view.pictures.camera
import vigym.envs.view.camera as again
assert view is vigym.view.pictures and camera is again is vigym.view.pictures.camera
assert camera.__name__ == camera.__spec__.name == "vigym.view.pictures.camera"
import vigym.engine.urdf.xml
assert vigym.engine.urdf.xml.UrdfError is vigym.UrdfError
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_does_not_exist_does_not_exist_under_its_old_name() -> None:
    for name in ("vigym.engine.urdf.nothing", "vigym.engine.urdfs", "vigym.envs.views"):
        with pytest.raises(ModuleNotFoundError, match=r"\.nothing|\.urdfs|\.views"):
            import_module(name)


def test_errors_pickled_under_the_old_name() -> None:
    assert pickle.loads(b"cvigym.engine.urdf.xml\nUrdfError\n.") is vigym.UrdfError


def test_schedules_in_models_saved_by_earlier_versions() -> None:
    """A model of SB3 holds its learning rate as a pickle, which named vigym.training.sb3 when that was one file."""
    schedule = pickle.loads(b"cvigym.training.sb3\nLinear\n(F0.001\nF0.1\ntR.")  # Linear(0.001, 0.1)
    assert schedule(1.0) == 1e-3
    assert schedule(0.0) == pytest.approx(1e-4)
