"""Code is compiled in one module, and never used again after something that it is made of has changed."""

import ast
import gc
import importlib.util
import os
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from weakref import WeakSet

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

from vigym.engine.compiled import compiled, direct
from vigym.engine.kernels import jit, machine_code
from vigym.engine.kernels.cache import SOURCES, DiskCache, describe_type
from vigym.engine.kernels.dependencies import fingerprint
from vigym.engine.kernels.simd import block
from vigym.engine.kernels.store import Store

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "engine" / "kernels" / "jit.py"
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "cfunc", "stencil", "generated_jit", "jit_module"}

# -------------------- what the hash of a function depends on

HELPERS = """
from vigym.engine.compiled import inlined

SCALE = 2.0
TABLE = (1.0, 3.0)
UNUSED = 5.0

@inlined
def inner(x):
    return x + 1.0

@inlined
def outer(x):
    return SCALE * inner(x)

@inlined
def apart(x):
    return x - 1.0
"""
LOOPS = """
import numpy as np
import helpers
from helpers import SCALE, TABLE, apart, inner, outer
from vigym.engine.compiled import compiled

@compiled
def direct(x):
    return inner(x)

@compiled
def indirect(x):
    return outer(x)

@compiled
def by_module(x):
    return helpers.outer(x)

@compiled
def by_value(x):
    def twice(function, y):
        return function(y) + SCALE
    return np.sqrt(SCALE * x)

def made(function):
    @compiled
    def closure(x):
        return function(x)
    return closure

closure = made(outer)

@compiled
def with_table(x):
    return TABLE[0] * x + TABLE[1]

@compiled
def by_itself(x):
    return 4.0 * x

@compiled
def above(x):
    return below(x)

from vigym.engine.compiled import inlined

@inlined
def below(x):
    return apart(x)
"""
FUNCTIONS = ("direct", "indirect", "by_module", "by_value", "closure", "with_table", "by_itself", "above")
USERS = {  # of the helpers
    "inner": {"direct", "indirect", "by_module", "closure"},
    "outer": {"indirect", "by_module", "closure"},
    "apart": {"above"},
    "SCALE": {"indirect", "by_module", "closure", "by_value"},
    "TABLE": {"with_table"},
}


def load(folder: Path, helpers: str, loops: str = LOOPS):
    """The module `loops`, imported anew from these sources."""
    folder.mkdir(exist_ok=True)
    for name, source in (("helpers", helpers), ("loops", loops)):
        file = folder / f"{name}.py"
        file.write_text(source)
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        exec(compile(source, str(file), "exec"), module.__dict__)  # not the bytecode of a file of the same second
    return module


@pytest.fixture(autouse=True)
def forget_modules():
    yield
    for name in ("helpers", "loops"):
        sys.modules.pop(name, None)


def fingerprints(*arguments) -> dict[str, str]:
    module = load(*arguments)
    return {name: fingerprint(getattr(module, name)) for name in FUNCTIONS}


def edited(line: str, new: str) -> str:
    assert HELPERS.count(line) == 1
    return HELPERS.replace(line, new)


@pytest.mark.parametrize(
    ("line", "new", "changed"),
    [
        ("return x + 1.0", "return x + 1.5", USERS["inner"]),
        ("return x + 1.0", "return 1.0 + x", USERS["inner"]),
        ("return SCALE * inner(x)", "return inner(x) * SCALE", USERS["outer"]),
        ("return SCALE * inner(x)", "return SCALE * apart(x)", USERS["outer"]),
        ("return x - 1.0", "return x - 1", USERS["apart"]),
        ("SCALE = 2.0", "SCALE = 2.5", USERS["SCALE"]),
        ("SCALE = 2.0", "SCALE = 2", USERS["SCALE"]),  # an integer gives other code
        ("TABLE = (1.0, 3.0)", "TABLE = (1.0, 3.5)", USERS["TABLE"]),
        ("UNUSED = 5.0", "UNUSED = 6.0", set()),
        ("UNUSED = 5.0", "# a comment, and lines that move\n\n\n", set()),
        ("@inlined\ndef outer", "from vigym.engine.kernels.jit import unkept\n\n@unkept\ndef outer", USERS["outer"]),
    ],
)
def test_a_change_counts_for_all_that_use_it_and_no_others(tmp_path, line, new, changed):
    before, after = fingerprints(tmp_path, HELPERS), fingerprints(tmp_path, edited(line, new))
    assert {name for name in FUNCTIONS if before[name] != after[name]} == changed
    assert len(set(before.values())) == len(FUNCTIONS)


def test_a_change_of_a_function_is_its_own(tmp_path):
    before = fingerprints(tmp_path, HELPERS)
    after = fingerprints(tmp_path, HELPERS, LOOPS.replace("return 4.0 * x", "return 4.5 * x"))
    assert {name for name in FUNCTIONS if before[name] != after[name]} == {"by_itself"}


def test_edited_helpers_are_compiled_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path / "cache"))
    new = edited("return x + 1.0", "return x + 10.0")
    assert [load(tmp_path, source).indirect(1.0) for source in (HELPERS, new, HELPERS)] == [4.0, 22.0, 4.0]
    assert len(list((tmp_path / "cache").glob("loop-indirect-*.kernel"))) == 2


def test_arrays_count_by_their_numbers():
    table = np.array([1.0, 2.0])

    def look(k):
        return table[k]

    before = fingerprint(look)
    assert fingerprint(look) == before
    table[1] = 3.0
    assert fingerprint(look) != before


def test_what_cannot_be_hashed_is_an_error():
    settings = {"scale": 2.0}

    def look(x):
        return settings["scale"] * x

    with pytest.raises(TypeError, match=r"cannot tell when .*scale.* changes"):
        fingerprint(look)


def test_what_is_kept_by_itself_cannot_be_part_of_another(tmp_path):
    """Its code on disk is finished, and cannot be linked."""
    loops = load(
        tmp_path, edited("@inlined\ndef outer", "from vigym.engine.compiled import compiled\n\n@compiled\ndef outer")
    )
    with pytest.raises(TypeError, match="outer is compiled by itself, and cannot be a part of indirect: make it @inl"):
        fingerprint(loops.indirect)


def test_processes_agree():
    """Whatever the seed of Python's hashes; sets and dictionaries are in another order then."""
    program = (
        "from vigym.engine.kernels.dependencies import fingerprint\n"
        "from vigym.engine.motion import forward\nfrom vigym.envs.quadruped_motion import judge\n"
        "print(fingerprint(forward), fingerprint(judge))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_types_of_named_tuples_count_by_their_fields():
    # the machine code knows fields by their places
    kinds = [namedtuple("View", names) for names in ("right up", "up right")]
    one, other = (describe_type(numba.typeof(kind((1.0, 2.0), (3.0, 4.0)))) for kind in kinds)
    assert one[0] == other[0]
    assert one != other
    nested = [describe_type(numba.typeof((kind(1.0, 2.0), 3))) for kind in kinds]
    assert nested[0] != nested[1]


# -------------------- code that nobody uses is freed


def stores(width: int) -> tuple[Store, Store, Store]:
    """Stores of a kind of its own for every width."""
    return tuple(Store(label, 4, 1, None, {"x": (1, width)}) for label in ("m", "s", "t"))  # type: ignore[return-value]


@pytest.fixture
def engines(monkeypatch, tmp_path):
    """Engines that are alive."""
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path))
    alive = WeakSet()

    class Watched(machine_code.Engine):
        def __init__(self, name):
            super().__init__(name)
            alive.add(self)

    monkeypatch.setattr(machine_code, "Engine", Watched)
    return alive


@block
def add_one(m, s, t):
    t.x[0][0] = s.x[0][0] + 1.0


def plus_one(m, s, t):
    add_one(m, s, t)


@pytest.mark.parametrize("kept", [False, True])
def test_the_code_of_many_kinds_is_bounded(engines, monkeypatch, kept):
    """Code in use stays, however many others follow, whether it comes from the compiler or from the disk."""
    monkeypatch.setattr(jit, "KINDS", 3)
    cache = DiskCache(plus_one, "plus", SOURCES, "a test", small=True) if kept else NullCache()
    kernel = jit.Kernel(plus_one, cache)
    used = kernel.code(*stores(1))
    for turn in range(2):
        for width in range(2, 7):
            code = kernel.code(*stores(width))
            del code
            gc.collect()
            assert len(engines) <= 3 + 1, (turn, width)  # and the one in use
    assert len(kernel.codes) == 3
    m, s, t = stores(1)
    used.run(m, s, t)
    assert (t.x == 1.0).all()
    del used
    gc.collect()
    assert len(engines) == 3


def test_the_kinds_used_last_stay(engines, monkeypatch):
    monkeypatch.setattr(jit, "KINDS", 2)
    kernel = jit.Kernel(plus_one, NullCache())
    first, second = (kernel.code(*stores(width)) for width in (1, 2))
    assert kernel.code(*stores(1)) is first
    kernel.code(*stores(3))
    assert kernel.code(*stores(1)) is first
    assert kernel.code(*stores(2)) is not second


# -------------------- without a compiler

FLYING = """
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import vigym
m = vigym.Mechanism()
m.add_body("body", mass=1.0, inertia=(1.0, 2.0, 2.5))
vigym.Simulator(m, compiled=False).step()
print([str(each.message) for each in said if "NUMBA_DISABLE_JIT" in str(each.message)])
vigym.Simulator(m)
"""


def test_numba_that_compiles_nothing():
    """Kernels run uncompiled if that was asked for; otherwise an error says what to do."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", FLYING], env=environment, capture_output=True, text=True)
    assert "Unset it" in done.stdout
    last = done.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: the environment variable NUMBA_DISABLE_JIT is set")
    assert "compiled=False" in last
    assert "--uncompiled" in last


# -------------------- one module calls the compiler


def compilers_in(source: str) -> set[str]:
    """Names of COMPILERS that a module imports from Numba, or looks up in it."""
    tree = ast.parse(source)
    modules, found = {"numba"}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname for alias in node.names if alias.asname and alias.name.split(".")[0] == "numba"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numba":
            found |= {alias.name for alias in node.names} & COMPILERS
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found |= {node.attr} & COMPILERS
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import numba\n@numba.njit\ndef f(): ...", {"njit"}),
        ("import numba as nb\nf = nb.jit(nogil=True)(g)", {"jit"}),
        ("from numba import njit as fast, prange", {"njit"}),
        ("from numba.core.decorators import jit", {"jit"}),
        ("import numba\nnumba.typeof(1)", set()),
        ("from vigym.engine.kernels import jit\nf = jit.kernel(g)", set()),
    ],
)
def test_the_search_for_compilers_itself(source, expected):
    assert compilers_in(source) == expected


def test_one_module_calls_the_compiler():
    files = [path for path in ROOT.rglob("*.py") if not any(part.startswith(".") for part in path.parts)]
    assert POLICY in files
    assert len(files) > 100
    calls = {path.relative_to(ROOT).as_posix() for path in files if compilers_in(path.read_text(encoding="utf-8"))}
    assert calls == {POLICY.relative_to(ROOT).as_posix()}


Pair = namedtuple("Pair", ["table", "row"])


@compiled
def add_up(pair, out):
    for i in range(pair.table.shape[0]):
        for k in range(pair.table.shape[1]):
            out[0] += pair.table[i, k]
    for k in range(len(pair.row)):
        out[0] += pair.row[k]


def test_direct_code_takes_arrays_of_any_strides():
    """One piece of code for whole arrays, parts of them and locked ones, alone or in named tuples."""
    table = np.arange(24.0).reshape(4, 6)
    locked = table[1:3, ::2].view()
    locked.flags.writeable = False
    found = []
    for part in (table, table[::2], table.T, locked):
        out = np.zeros(1)
        direct(add_up, Pair(part, part[0]), out)(Pair(part, part[0]), out)
        found.append(out[0])
    assert found == [part.sum() + part[0].sum() for part in (table, table[::2], table.T, locked)]
    assert len(add_up.overloads) == 1
