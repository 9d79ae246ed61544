"""Pictures look as they did when somebody last looked at them."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pictures import goldens

import vigym
from vigym.assets import cube, hopper, pendulum, snake, unitree_a1
from vigym.view.pictures.picture import Renderer

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", goldens.SCENES)
def test_golden(name):
    """The bytes are the same wherever arithmetic is; a tolerance is for other versions of LLVM and libm."""
    golden = goldens.read_png(goldens.FOLDER / f"{name}.png")
    mean, off = goldens.difference(goldens.draw(name), golden)
    assert mean < 1.0
    assert off <= 0.005


def test_a_golden_picture_notices_a_change():
    """Moved by a pixel and a half, or a little darker: beyond the tolerance."""
    golden = goldens.read_png(goldens.FOLDER / "a1.png")
    renderer, x, q = goldens.SCENES["a1"]()
    pixel = 1.1 * renderer.camera.view(96, 96, np.zeros(3), np.zeros(3)).pixel
    moved = renderer.render(x + 1.5 * pixel * renderer.camera.axes()[0], q)
    assert goldens.difference(moved, golden)[1] > 0.005
    assert goldens.difference(golden * 0.98, golden)[0] > 1.0


@pytest.mark.parametrize("model", [unitree_a1, hopper, snake, cube, pendulum], ids=lambda m: m.__name__.split(".")[-1])
def test_models_are_seen_and_seen_to_move(model):
    m = model.build()
    sim = vigym.Simulator(m)
    x, q = sim.state.x[0], sim.state.q[0]
    r = Renderer(m, 64, 64)
    image = r.render(x, q)
    blank = Renderer(m, 64, 64, r.camera).render(np.add(x, [0, 0, 1e5]), q)
    assert (image != blank).any(axis=-1).mean() > 0.002
    moved = r.render(np.add(x, [0.05 * r.camera.distance, 0, 0]), q)
    assert (image != moved).any(axis=-1).mean() > 0.002


# -------------------- other processes

SCRIPT = """
import sys
import vigym
from vigym.assets import cube
sim = vigym.Simulator(cube.build())
sim.step()
assert not any(name.startswith("vigym.view.pictures") for name in sys.modules), "imported before anything is drawn"

class Closed:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in BARRED:
            raise ImportError(f"{name} must not be needed")

BARRED = {"OpenGL", "glfw", "mujoco", "pyglet", "pygame", "moderngl", "PIL", "matplotlib", "imageio", "cv2", "scipy"}
BARRED |= {"pybullet", "viser", "tkinter", "torch"}
sys.meta_path.insert(0, Closed())
before = set(sys.modules)
from hashlib import sha256
from pictures import goldens
print(sha256(goldens.draw("slope").tobytes()).hexdigest())
new = {name.split(".")[0] for name in set(sys.modules) - before}
outside = new - set(sys.stdlib_module_names) - {"vigym", "pictures", "numba", "llvmlite", "numpy"}
assert not {name for name in outside if not name.startswith("_")}, outside
with open("/proc/self/maps") as file:
    maps = file.read()
assert not [lib for lib in ("libGL", "libEGL", "libX11", "libOSMesa", "libvulkan") if lib in maps]
"""


def picture_elsewhere(**environment):
    """The hash of the picture of `slope` in a new process, without a display or a search path for libraries."""
    bare = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "LD_LIBRARY_PATH")}
    bare |= {"PYTHONPATH": str(ROOT / "tests" / "view")} | environment
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=bare, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def here():
    return hashlib.sha256(goldens.draw("slope").tobytes()).hexdigest()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_two_processes_draw_the_same_to_the_bit(here):
    assert picture_elsewhere() == here


PLAIN = """
import sys
from hashlib import sha256
from pictures import goldens
goldens.SIZE = 40
print(sha256(goldens.draw("slope").tobytes()).hexdigest())
"""


def test_plain_python_draws_the_same_to_the_bit(monkeypatch):
    """The ray caster without Numba: SIMD code gives exactly what its source says."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "view"), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", PLAIN], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(goldens, "SIZE", 40)
    assert done.stdout.strip() == hashlib.sha256(goldens.draw("slope").tobytes()).hexdigest()
