"""The files of pinned versions agree with one another, and leave nothing out."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TORCH = "torch"  # builds for processors and for graphics cards share a version, not a hash


def pins(name: str) -> dict[str, str]:
    """Version by package; names as pip compares them."""
    found = re.findall(r"^([\w.-]+)==([^\s;\\]+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", package).lower(): version for package, version in found}


def test_every_pinned_version_but_torch_has_hashes() -> None:
    constraints, locked = pins("constraints.txt"), pins(".ci/locked.txt")
    assert locked == {package: version for package, version in constraints.items() if package != TORCH}, "run .ci/lock"
    text = (ROOT / ".ci" / "locked.txt").read_text(encoding="utf-8")
    for block in re.split(r"^(?=[\w-])", text, flags=re.MULTILINE)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block


@pytest.mark.parametrize("name", ["constraints.txt", ".ci/locked.txt", ".ci/rllib.txt", ".ci/zoo.txt"])
def test_versions_name_no_place_to_fetch_them_from(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert "index-url" not in text


def test_moviepy_is_only_where_it_is_needed() -> None:
    """It needs a pillow below 12."""
    assert "moviepy" not in pins("constraints.txt")
    assert "moviepy" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "moviepy" in pins(".ci/zoo.txt")
