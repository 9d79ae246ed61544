"""Wheel and sdist hold what they should and nothing else; files that describe the project agree."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import vigym

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SKIPPED = shutil.ignore_patterns(
    ".git", ".venv*", ".typecheck", "*.egg-info", "site", "build", "dist", "logs", "__pycache__"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build both from a copy, with the setuptools that is here."""
    pytest.importorskip("setuptools", minversion="77")
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT, folder / "tree", ignore=SKIPPED)
    program = "from setuptools.build_meta import *; build_sdist('../dist'); build_wheel('../dist')"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder / "tree", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "dist"


def test_the_wheel_holds_the_package_and_its_data(built: Path) -> None:
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(next(name for name in names if name.endswith("METADATA"))).decode()
    for package in PROJECT["tool"]["setuptools"]["packages"]:
        folder = ROOT.joinpath(*package.split(".")[1:])
        modules = {f"{package.replace('.', '/')}/{module.name}" for module in folder.glob("*.py")}
        assert modules <= names, package
    data = ["py.typed", "assets/policies/VIHopper-v0.npz", "view/replay/plots.js", "benchmarks/baseline.json"]
    assert {f"vigym/{name}" for name in data} <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"vigym", f"vigym-{vigym.__version__}.dist-info"}
    inside = {name.split("/")[1] for name in names if name.startswith("vigym/")}
    assert not inside & {"tests", "docs", "site", "conftest.py"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "License-Expression: MIT" in metadata


def test_the_sdist_holds_what_the_checks_need(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    needed = ["README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "constraints.txt", "mkdocs.yml"]
    assert {*needed, ".ci/run", "constraints-oldest.txt", "docs/index.md", "docs/hooks/site.py"} <= names
    assert "tests/docs/test_package.py" in names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".git/", "site/"))]


def test_versions_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["project"]["version"] == vigym.__version__
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE)[1] == vigym.__version__  # type: ignore[index]


def test_the_oldest_versions_are_those_that_are_allowed() -> None:
    text = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", text, re.MULTILINE))
    allowed = PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["cli"]
    for requirement in allowed:
        name, least = re.match(r"([\w-]+)>=([\d.]+)", requirement).groups()  # type: ignore[union-attr]
        assert [int(part) for part in pinned[name].split(".")][:2] == [int(part) for part in least.split(".")][:2], name


def test_all_extras_are_explained() -> None:
    page = (ROOT / "docs" / "start" / "install.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert explained == set(PROJECT["project"]["optional-dependencies"])


def test_workflows_are_yaml_and_name_what_is_here() -> None:
    yaml = pytest.importorskip("yaml")
    for path in [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml"]:
        assert yaml.safe_load(path.read_text(encoding="utf-8")), path
        for script in re.findall(r"(?<=run: )\.ci/\w+", path.read_text(encoding="utf-8")):
            assert (ROOT / script).is_file(), script
