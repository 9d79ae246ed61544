"""The tree shows the architecture: imports go one way, files stay small, every folder is installed."""

import ast
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
FOLDERS = ("bridges", "engine", "envs", "view", "formats", "assets", "training", "benchmarks")
MAX_LINES = 400

# What a module of each layer may import of vigym. "vigym" is the public list itself, for the layers
# that use the package as its users do.
MAY_IMPORT = {
    "vigym.engine.kernels": ("vigym.engine.kernels",),
    "vigym.engine": ("vigym.engine",),
    "vigym.view": ("vigym.view", "vigym.engine"),
    "vigym.formats": ("vigym.formats", "vigym.engine"),
    "vigym.bridges": ("vigym.bridges", "vigym.engine"),
    "vigym.assets": ("vigym.assets", "vigym.formats", "vigym.engine"),
    "vigym.envs": ("vigym.envs", "vigym.view", "vigym.assets", "vigym.formats", "vigym.engine"),
    "vigym.training": ("vigym", "vigym.training", "vigym.envs", "vigym.assets", "vigym.engine"),
    "vigym.benchmarks": ("vigym", *(f"vigym.{folder}" for folder in FOLDERS)),
}
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = ("vigym", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(name: str) -> bool:
    """Tell whether `name`, such as vigym.engine.body, is a file or folder of the tree."""
    path = ROOT.joinpath(*name.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


def imports(source: str, package: str) -> set[str]:
    """Modules that `source`, which lives in `package`, imports anywhere, by their absolute names."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")
            above = above[: len(above) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:  # `from vigym import envs` imports vigym.envs, not only vigym
                name = f"{base}.{alias.name}"
                found.add(name if base.split(".")[0] == "vigym" and is_module(name) else base)
    return found


def is_loaded_from(module: object, file: Path) -> bool:
    origin = getattr(module, "__file__", None)
    return isinstance(origin, str) and Path(origin).resolve() in (file, ROOT / "__init__.py")


def within(module: str, layer: str) -> bool:
    return module == layer or (layer != "vigym" and module.startswith(f"{layer}."))


def violations(source: str, module: str, package: str) -> set[str]:
    """Imports of `source` that its layer may not have."""
    layer = max((name for name in MAY_IMPORT if within(module, name)), key=len)
    return {
        name
        for name in imports(source, package)
        # `import engine` works by accident where the root is on the path, and loads everything twice.
        if name.split(".")[0] in FOLDERS
        or (name.split(".")[0] == "vigym" and not any(within(name, allowed) for allowed in MAY_IMPORT[layer]))
    }


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    module = module_name(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    assert not violations(path.read_text(encoding="utf-8"), module, package)


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.py")), ids=lambda path: path.name)
def test_the_root_does_not_import_benchmarks(path: Path) -> None:
    """The root may import every other folder."""
    found = imports(path.read_text(encoding="utf-8"), "vigym")
    assert not {name for name in found if within(name, "vigym.benchmarks")}


@pytest.mark.parametrize(
    ("package", "source", "expected"),
    [
        ("vigym.engine.kernels", "from vigym.engine import Simulator", {"vigym.engine"}),
        ("vigym.engine.kernels", "from .. import kernels", set()),
        ("vigym.engine.kernels", "from ..model import Model", {"vigym.engine.model"}),
        ("vigym.engine.kernels", "from . import simd\nimport numba", set()),
        ("vigym.engine", "def f():\n    import vigym.envs.demo.command", {"vigym.envs.demo.command"}),
        ("vigym.engine", "from vigym import envs", {"vigym.envs"}),
        ("vigym.engine", "from vigym import __version__", {"vigym"}),
        ("vigym.engine", "from .kernels import step", set()),
        ("vigym.engine", "import engine.body", {"engine.body"}),
        ("vigym.envs", "from ..training import anything", {"vigym.training"}),
        ("vigym.envs", "from vigym.engine import Simulator", set()),
        ("vigym.training", "import vigym\nfrom vigym.envs import demo", set()),
        ("vigym.training", "import vigym.benchmarks", {"vigym.benchmarks"}),
        ("vigym.view", "from ..engine import shapes", set()),
        ("vigym.view", "from ..envs.task import Task", {"vigym.envs.task"}),
        ("vigym.formats", "import vigym.envs", {"vigym.envs"}),
        ("vigym.formats", "from vigym.view import pictures", {"vigym.view.pictures"}),
        ("vigym.assets", "from vigym.formats.urdf import load_urdf", set()),
        ("vigym.envs", "from ..benchmarks import scenes", {"vigym.benchmarks.scenes"}),
        ("vigym.benchmarks", "from ..training import anything", set()),
    ],
)
def test_the_import_rule_itself(package: str, source: str, expected: set[str]) -> None:
    assert violations(source, f"{package}.some_module", package) == expected


def test_no_long_files() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in (*SOURCES, *ROOT.glob("*.py"))
    }
    assert lengths
    assert not {name: lines for name, lines in lengths.items() if lines > MAX_LINES}


def test_every_folder_of_modules_is_installed() -> None:
    """`packages` in pyproject.toml is written out by hand: it must name each folder with modules."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {module_name(path.parent) for path in SOURCES}
    assert set(settings["tool"]["setuptools"]["packages"]) == folders | {"vigym"}
    assert folders <= {module_name(path) for path in SOURCES if path.name == "__init__.py"}
    assert {f"vigym.{folder}" for folder in FOLDERS} == set(settings["tool"]["mypy"]["packages"])


def test_version_is_the_same_everywhere() -> None:
    import vigym

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["version"] == vigym.__version__
    assert f"\nversion: {vigym.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_package_is_loaded_once() -> None:
    """The root's `__init__.py` is vigym and nothing else, whatever the folder of the clone is called."""
    import vigym

    file = Path(vigym.__file__).resolve()
    loaded = {name for name, module in sys.modules.items() if is_loaded_from(module, file)}
    assert loaded == {"vigym"}
