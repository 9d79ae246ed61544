"""Files, modules and functions that pages, docstrings and comments name exist.

Names are looked up in the tree by the end of their path, so that moving a folder changes nothing here:
`kernels/loop.py` is any file whose path ends so, `ldu.eliminate` a name in any module called ldu.
"""

import ast
import inspect
import io
import re
import subprocess
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import vigym
from vigym.envs.env import RobotEnv
from vigym.envs.vector import RobotVectorEnv
from vigym.moved import new_name

ROOT = Path(__file__).parents[2]
SKIPPED = {"CHANGELOG.md"}  # tells of what is no more
ENDINGS = ("py", "md", "js", "json", "csv", "toml", "cff", "npz", "png", "urdf", "txt", "jl", "vigym")

PATH = re.compile(rf"(?<![\w*<{{$:/~.-])(?:[\w-]+/)*[\w-]+\.(?:{'|'.join(ENDINGS)})\b(?![*\w(]|\.\w)(?:::(\w+))?")
FOLDER = re.compile(r"(?<![\w*<{$:/~.-])((?:[\w-]+/)+)(?![\w*<{$])")
DOTTED = re.compile(r"(?<![\w./\"'\[\]()-])[a-z]\w*(?:\.[A-Za-z]\w*)+(?![\w/]|\.\w)")
# Names that documents beside the code usually have, and whatever in capitals is to be seen.
DOCUMENTS = (
    "ARCHITECTURE|BRIEF|CHANGELOG|CITATION|CONTRIBUTING|DESIGN|GUIDE|LICENSE|NOTES|PLAN|README|ROADMAP|SPEC|STYLE"
)
DOCUMENT = re.compile(rf"\b({DOCUMENTS})\b|(?<=\b[Ss]ee )([A-Z]{{4,}})\b")
# What stands for a name that the reader chooses, and what a program writes or is given.
MADE_UP = re.compile(r"(^|/)(NAME|robot|runs?|my_\w+|policy|out|page)(\.|/|$)")
# What the examples of the pages call objects of these classes; and what belongs to other packages.
OBJECTS = {
    "sim": vigym.Simulator,
    "env": RobotEnv,
    "envs": RobotVectorEnv,
    "replay": vigym.Replay,
    "m": vigym.Mechanism,
}
OTHERS = {
    ".venv",
    ".git",
    "__pycache__",
    "vigym.egg-info",
    ".pytest_cache",
    ".ruff_cache",
    ".mypy_cache",
    ".hypothesis",
}
FOREIGN = {"data", "jax", "pybullet", "torch"}  # MuJoCo's, and libraries that folders and modules are named after


@cache
def files() -> list[str]:
    """All files of the tree, committed or not, without those that git ignores; as `folder/name`."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        return [name for name in names if name and (ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):  # a copy without its history
        found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        return [path.as_posix() for path in found if not OTHERS.intersection(path.parts)]


@cache
def endings() -> set[str]:
    """Every end of every path, of files and (with a slash at the end) of folders."""
    found = set()
    for name in files():
        parts = name.split("/")
        for last in range(1, len(parts) + 1):
            whole = "/".join(parts[:last]) + ("/" if last < len(parts) else "")
            found |= {"/".join(whole.split("/")[k:]) for k in range(last)}
    return found


@cache
def tops() -> set[str]:
    return {name.split("/")[0] for name in files() if "/" in name}


@cache
def modules() -> dict[str, list[str]]:
    """Name of a module or folder of modules -> its files."""
    found = defaultdict(list)
    for name in files():
        if name.endswith(".py"):
            path = Path(name)
            found[path.parent.name if path.stem == "__init__" else path.stem].append(name)
    return found


@cache
def members(name: str) -> set[str]:
    """Names that a module defines or imports, and the attributes of its classes."""
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    found = {Path(other).stem for other in files() if Path(other).parent == Path(name).parent}
    found = found if name.endswith("__init__.py") else set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=own) | ast.ClassDef(name=own):
                found.add(own)
            case ast.alias(name=own, asname=other):
                found.add(other or own)
            case ast.Name(id=own, ctx=ast.Store()) | ast.Attribute(attr=own, ctx=ast.Store()):
                found.add(own)
            case ast.arg(arg=own):  # fields that a store is made of, as m.add_contact(friction=...)
                found.add(own)
            case ast.Constant(value=str(own)) if own.isidentifier():  # fields that are declared by name
                found.add(own)
    return found


@cache
def constants() -> set[str]:
    """Names in capitals that some module assigns to."""
    trees = (ast.parse((ROOT / name).read_text(encoding="utf-8")) for name in files() if name.endswith(".py"))
    names = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in names if node.id.isupper() and isinstance(node.ctx, ast.Store)}


# -------------------- where names are written


def prose(name: str) -> Iterator[tuple[int, str]]:
    """Lines of a page outside its code blocks; of a module, those of docstrings and comments."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".md"):
        inside = False
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("```"):
                inside = not inside
            elif not inside:
                yield number, line
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            first = node.body[0].lineno
            assert isinstance(node.body[0], ast.Expr)
            assert isinstance(node.body[0].value, ast.Constant)
            yield from enumerate(str(node.body[0].value.value).splitlines(), first)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def pages() -> list[str]:
    """All pages and modules, the tests among them."""
    return [name for name in files() if name.endswith((".md", ".py")) and name not in SKIPPED]


# -------------------- what they name


def missing_paths(line: str, here: str) -> Iterator[str]:
    for found in PATH.finditer(line):
        path = found[0].partition("::")[0].removeprefix("vigym/")
        ours = path.endswith((".py", ".md")) or path.split("/")[0] in tops()  # else written by a program, or an example
        if not ours or MADE_UP.search(path):
            continue
        beside = (Path(here).parent / path).as_posix()
        if path not in endings() and beside not in endings():
            yield path
        elif found[1] and not any(found[1] in members(name) for name in modules()[Path(path).stem]):
            yield found[0]
    for found in FOLDER.finditer(line):
        if found[1].split("/")[0] in tops() and found[1] not in endings() and not MADE_UP.search(found[1]):
            yield found[1]


def missing_names(line: str, here: str) -> Iterator[str]:
    for found in DOTTED.finditer(line):
        first, *rest = found[0].replace(".unwrapped", "").split(".")
        if not rest or rest[-1] in ENDINGS or first in FOREIGN:
            continue
        if first == "vigym":
            known = in_the_package(rest)
        elif any(rest[0] in members(file) for file in modules().get(first, [])):
            known = True
        elif first in OBJECTS and here.endswith(".md"):
            known = has(OBJECTS[first], rest[0])
        else:
            known = first not in modules()
        if not known:
            yield found[0]


def in_the_package(parts: list[str]) -> bool:
    """True if `vigym.` with these parts is a module, or something in one."""
    if moved := new_name(".".join(["vigym", *parts])):
        parts = moved.split(".")[1:]
    folder, file = ROOT, ROOT / "__init__.py"
    for k, part in enumerate(parts):
        if file.name == "__init__.py" and (folder / f"{part}.py").is_file():
            file = folder / f"{part}.py"
        elif file.name == "__init__.py" and (folder / part).is_dir():
            folder = folder / part
            file = folder / "__init__.py"
        elif k == 0 and hasattr(vigym, part):  # some names are made when asked for
            owner = getattr(vigym, part)
            return all(has(owner, name) for name in parts[1:2])
        elif part not in members(file.relative_to(ROOT).as_posix()):
            return False
    return file.is_file()


def has(owner: type, name: str) -> bool:
    """True if objects of a class have it: defined in the class, or set by the module of one of its parents."""
    sources = [Path(inspect.getfile(parent)) for parent in owner.__mro__[:-1] if parent.__module__ != "builtins"]
    ours = [path.relative_to(ROOT).as_posix() for path in sources if path.is_relative_to(ROOT)]
    return hasattr(owner, name) or any(name in members(file) for file in ours)


def missing_documents(line: str) -> Iterator[str]:
    stems = {Path(name).stem.upper() for name in files() if "/" not in name}
    for found in DOCUMENT.finditer(line):
        name = found[1] or found[2]
        if name not in stems and name not in constants():
            yield name


# -------------------- the tests

FOLDERS = sorted({name.split("/")[0] if "/" in name else "." for name in pages()})


def written_in(folder: str) -> Iterator[tuple[str, int, str]]:
    """File, number and text of every line of prose."""
    for name in pages():
        if name.startswith(f"{folder}/") or (folder == "." and "/" not in name):
            for number, line in prose(name):
                yield name, number, line


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_and_folders_exist(folder: str) -> None:
    lines = written_in(folder)
    assert not [f"{name}:{number}: {what}" for name, number, line in lines for what in missing_paths(line, name)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_modules_and_functions_exist(folder: str) -> None:
    lines = written_in(folder)
    assert not [f"{name}:{number}: {what}" for name, number, line in lines for what in missing_names(line, name)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_documents_that_are_cited_are_here(folder: str) -> None:
    lines = written_in(folder)
    assert not [f"{name}:{number}: {what}" for name, number, line in lines for what in missing_documents(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("see `engine/kernels/loop.py`, kernels/loop.py or loop.py", []),
        ("see kernels/lop.py and `engine/kernels/lop.py`", ["kernels/lop.py", "engine/kernels/lop.py"]),
        ("docs/equations.md, `equations.md`, docs/equation.md", ["docs/equation.md"]),
        ("the folders engine/kernels/ and engine/kernel/", ["engine/kernel/"]),
        ("tests/docs/test_names.py::test_files_and_folders_exist and ::test", []),
        ("tests/docs/test_names.py::test_nothing", ["tests/docs/test_names.py::test_nothing"]),
        ("benchmarks/baseline.json, benchmarks/base.json, out.json", ["benchmarks/base.json"]),
        ("`body.move_body`, `ldu.eliminate` and vigym.engine.kernels.ldu.eliminate", []),
        ("`body.move_boddy`", ["body.move_boddy"]),
        ("vigym.engine.kernels.ldo.eliminate", ["vigym.engine.kernels.ldo.eliminate"]),
        ("vigym.engine.kernels.ldu.elimate", ["vigym.engine.kernels.ldu.elimate"]),
        ("vigym.Simulator.step, vigym.to_mjcf", []),
        ("vigym.Simulator.stop", ["vigym.Simulator.stop"]),
        ("`sim.step()`, `sim.dt`, `envs.record(path)`, `np.where`", []),
        ("`sim.stop()`", ["sim.stop"]),
        ("README, see CONTRIBUTING", []),
        ("the ROADMAP, see OUTLINE", ["ROADMAP", "OUTLINE"]),
    ],
)
def test_the_search_itself(line: str, expected: list[str]) -> None:
    found = [*missing_paths(line, "README.md"), *missing_names(line, "README.md"), *missing_documents(line)]
    assert found == expected


def test_functions_and_tests_of_the_equations() -> None:
    """Every row names functions of one module each (`update` after `ldu.eliminate` is in ldu), or files, and tests."""
    page = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]
    header, rows = rows[0], rows[2:]
    assert header == ["equation", "paper", "function", "test", "note"]
    assert len(rows) > 10
    for row in rows:
        functions, tests = (re.findall(r"`([^`]+)`", row[header.index(name)]) for name in ("function", "test"))
        assert functions, row
        assert tests, row
        module: list[str] = []
        for name in functions:
            if name.endswith(".py"):
                module = [file for file in files() if f"/{file}".endswith(f"/{name}")]
                assert module, name
                continue
            if "." in name:
                module = [file for file in modules()[name.split(".")[0]] if "kernels" in file]
            assert any(name.split(".")[-1] in functions_of(file) for file in module), name
        for name in tests:
            assert (ROOT / "tests" / name).is_file(), name


def functions_of(name: str) -> set[str]:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
