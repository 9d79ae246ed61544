"""Compiled code on disk: kept once, used again, never stale, never in the way."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from toys.doubling import doubled, kernel

from vigym.engine.kernels import cache, disk, machine_code
from vigym.engine.kernels.jit import compiled

ROOT = Path(__file__).parents[2]
COMPILES = "vigym: compiling the physics"

# One body that flies: the fastest to compile. Eight environments on two threads, which ask for the same code at once.
SCRIPT = """
import hashlib, vigym
m = vigym.Mechanism(gravity=(0, 0, 0))
m.add_body("body", mass=1.0, inertia=(1.0, 2.0, 2.5))
sim = vigym.Simulator(m, num_envs=8)
sim.set_state(v=[(1.0, 2.0, 3.0)], w=[(0.1, 5.0, 0.2)])
sim.step(repeat=10)
print(vigym.__file__, sim.status.iterations[0], hashlib.sha256(sim.save()).hexdigest())
"""


def start(folder: Path, package: Path | None = None) -> subprocess.Popen:
    """A process that steps with its compiled code in `folder`; `package`: a folder with another copy of vigym."""
    environment = os.environ | {"VIGYM_CACHE_DIR": str(folder)}
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment, cwd=folder.anchor, text=True, **pipes)


def finish(process: subprocess.Popen) -> tuple[list[str], str]:
    """(file of the package, iterations, hash of the state), stderr."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.split(), err


def run(folder: Path, package: Path | None = None) -> tuple[list[str], str]:
    return finish(start(folder, package))


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The folder that the first process of a machine leaves behind, and what that process said."""
    folder = tmp_path_factory.mktemp("machine") / "not" / "there" / "yet"
    return folder, *run(folder)


def test_the_first_process_compiles_and_says_so(first):
    folder, (_, iterations, _), err = first
    around, before, after = err.splitlines()
    assert around.startswith("vigym: compiling what surrounds the physics")  # several loops, said once
    assert before.startswith(COMPILES)
    assert after.startswith("vigym: compiled in ")
    assert str(folder) in after
    assert int(iterations) >= 1
    assert {file.suffix for file in folder.iterdir()} == {".kernel"}
    assert len(list(folder.glob("step-*"))) == 1


def test_the_second_process_is_silent(first):
    folder, out, _ = first
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert run(folder) == (out, "")
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before


def test_changed_sources_do_not_use_old_code(first, tmp_path):
    """A copy of the package whose step reports 1000 iterations more, with the cache of the original."""
    original, out, _ = first
    folder, package = tmp_path / "cache", tmp_path / "package"
    shutil.copytree(original, folder)
    for path in [
        *ROOT.glob("*.py"),
        *(p for part in ("engine", "envs", "assets") for p in (ROOT / part).rglob("*.py")),
    ]:
        copy = package / "vigym" / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    step = package / "vigym" / "engine" / "kernels" / "step.py"
    line = "    s.converged = 1.0\n    s.iterations = s.residual = s.substeps = s.relaxed = 0.0\n"
    assert step.read_text().count(line) == 1
    step.write_text(step.read_text().replace(line, line + "    s.iterations = 1000.0\n"))

    changed, err = run(folder, package)
    assert COMPILES in err
    assert Path(changed[0]).is_relative_to(package)
    assert int(changed[1]) == int(out[1]) + 1000
    assert len(list(folder.glob("step-*"))) == 2
    assert run(folder) == (out, "")  # and the original still finds its own


def test_processes_that_start_at_once(first, tmp_path):
    folder = tmp_path / "cache"
    results = [finish(process) for process in [start(folder) for _ in range(4)]]
    assert all(out == first[1] for out, _ in results)
    assert {file.suffix for file in folder.iterdir()} == {".kernel"}  # the code, and nothing temporary
    assert len(list(folder.glob("step-*"))) == 1
    assert run(folder) == (first[1], "")


def test_a_folder_that_cannot_be_written(first, tmp_path):
    file = tmp_path / "a file"
    file.write_text("not a folder")
    out, err = run(file / "below")
    assert out == first[1]
    assert COMPILES in err
    assert "not kept on disk" in err
    assert file.read_text() == "not a folder"


# -------------------- in this process, with a smaller kernel


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache.DiskCache, "told", set())  # this process has said nothing yet
    return tmp_path / "cache"


def flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGES = {
    "empty": lambda data: b"",
    "cut off": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "one bit flipped": flip,
    "ends in zeros": lambda data: data[: len(data) // 2] + bytes(len(data) - len(data) // 2),
    "noise": lambda data: np.random.default_rng(0).bytes(len(data)),
    "text": lambda data: b"cos\nsystem\n(S'exit 1'\ntR.",
    "a pickle": lambda data: pickle.dumps({"a": 1}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_ignored_and_replaced(folder, capsys, damage):
    assert doubled()
    (file,) = folder.iterdir()
    good = file.read_bytes()
    file.write_bytes(DAMAGES[damage](good))
    capsys.readouterr()

    with pytest.warns(RuntimeWarning, match=f"{file.name} is damaged; it is replaced"):
        assert doubled()
    assert capsys.readouterr().err.startswith(COMPILES)
    assert [path.name for path in folder.iterdir()] == [file.name]
    assert doubled()
    assert capsys.readouterr().err == ""  # the file is good again


def touch(path):
    Path(path).touch()


class Planted:
    """A pickle that does something when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return touch, (str(self.path),)


def test_nothing_is_unpickled(folder, tmp_path):
    """Not even from a file that is in order in all other ways."""
    assert doubled()
    (file,) = folder.iterdir()
    disk.write(file.name, pickle.dumps(Planted(tmp_path / "ran")))
    with pytest.warns(RuntimeWarning, match="cannot be read"):
        assert doubled()
    assert not (tmp_path / "ran").exists()
    pickle.loads(pickle.dumps(Planted(tmp_path / "ran")))
    assert (tmp_path / "ran").exists()  # it would have


def test_files_that_change_places_are_damaged(folder):
    disk.write("a.kernel", b"code of a")
    os.replace(folder / "a.kernel", folder / "b.kernel")
    with pytest.raises(disk.RefusedError, match="damaged"):
        disk.read("b.kernel")


def test_what_holds_python_objects_is_not_kept(folder):
    """A loop that returns an array holds the type of its numbers."""
    double = compiled(lambda x: 2.0 * x, None)
    double._cache = cache.DiskCache(double.py_func, "loop", cache.SOURCES, "a loop", small=True)
    with pytest.warns(RuntimeWarning, match="not kept on disk .it holds Python objects"):
        assert (double(np.ones(3)) == 2.0).all()
    assert not folder.exists()


# -------------------- the name of a file says all that code depends on

SETTINGS = {
    "OPT": 0,
    "CPU_NAME": "generic",
    "LOOP_VECTORIZE": 0,
    "SLP_VECTORIZE": 1,
    "ENABLE_AVX": 0,
    "BOUNDSCHECK": 1,
    "DEBUGINFO_DEFAULT": 1,
    "DISABLE_INTEL_SVML": 1,
    "USING_SVML": True,
    "DEBUG_NRT": 1,
    "LLVM_REFPRUNE_FLAGS": "",
    "EXTEND_VARIABLE_LIFETIMES": 1,
    "A_SETTING_OF_THE_FUTURE": 1,
}
UNRELATED = {"NUMBA_NUM_THREADS": 99, "CACHE_DIR": "/elsewhere", "DUMP_LLVM": 1, "CUDA_DRIVER": "x", "GDB_BINARY": "x"}


def named() -> str:
    """The name of a file."""
    made = cache.DiskCache(kernel, "double", "sources", "the physics")
    return made.file_name((numba.float64,), numba.core.registry.cpu_target.target_context)


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_of_the_compiler_count(monkeypatch, setting):
    before = named()
    assert named() == before
    monkeypatch.setattr(numba.core.config, setting, SETTINGS[setting], raising=False)
    assert named() != before


@pytest.mark.parametrize("setting", UNRELATED)
def test_settings_that_change_no_code_do_not(monkeypatch, setting):
    before = named()
    monkeypatch.setattr(numba.core.config, setting, UNRELATED[setting], raising=True)
    assert named() == before


@pytest.mark.parametrize("module", [numba, machine_code.llvmlite, np])
def test_versions_count(monkeypatch, module):
    before = named()
    monkeypatch.setattr(module, "__version__", "0.0")
    assert named() != before


def test_who_filled_the_folder_does_not_matter(first, tmp_path, monkeypatch):
    """A process that optimises otherwise neither finds code of this one, nor leaves any to it."""
    folder = tmp_path / "cache"
    shutil.copytree(first[0], folder)
    monkeypatch.setenv("NUMBA_OPT", "0")
    assert COMPILES in run(folder)[1]
    assert len(list(folder.glob("step-*"))) == 2
    monkeypatch.delenv("NUMBA_OPT")
    assert run(folder) == (first[1], "")


def test_where_code_is_kept(monkeypatch, tmp_path):
    monkeypatch.delenv("VIGYM_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform.startswith("linux"):
        assert disk.folder() == tmp_path / "vigym"
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path / "chosen"))
    assert disk.folder() == tmp_path / "chosen"
    monkeypatch.setenv("VIGYM_CACHE_DIR", "~/chosen")
    assert disk.folder() == Path.home() / "chosen"


def test_the_hash_sees_every_kernel(tmp_path):
    names = sorted(path.name for path in Path(cache.__file__).parent.glob("*.py"))
    assert "step.py" in names
    seen = set()
    for k in range(len(names) + 1):
        copy = tmp_path / str(k)
        shutil.copytree(Path(cache.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if k < len(names):
            with (copy / names[k]).open("a") as file:
                file.write("\n")
        seen.add(cache.source_hash(copy))
    assert len(seen) == len(names) + 1
