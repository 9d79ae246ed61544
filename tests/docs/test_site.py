"""The site: every page is found, names of other simulators are theirs, and nothing is fetched from elsewhere.

`.ci/run` builds it, with warnings as errors.
"""

import re
import sys
from pathlib import Path

import pytest

import vigym

ROOT = Path(__file__).parents[2]
HOOKS = ROOT / "docs" / "hooks"


def rows(page: str) -> list[str]:
    """First cells of the table of names."""
    text = (ROOT / "docs" / "from" / page).read_text(encoding="utf-8").partition("## Names")[2].partition("\n## ")[0]
    return [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")][1:]


def test_names_of_mujoco_are_its_own() -> None:
    mujoco = pytest.importorskip("mujoco")
    names = " ".join(rows("mujoco.md"))
    functions, fields = re.findall(r"\bmjd?_\w+", names), re.findall(r"\bdata\.(\w+)", names)
    assert len(functions) > 5
    assert len(fields) > 10
    data = mujoco.MjData(mujoco.MjModel.from_xml_string("<mujoco/>"))
    assert not [name for name in functions if not hasattr(mujoco, name)]
    assert not [name for name in fields if not hasattr(data, name)]


def test_names_of_pybullet_are_its_own() -> None:
    pybullet = pytest.importorskip("pybullet")
    names = re.findall(r"\bp\.(\w+)", " ".join(rows("pybullet.md")))
    assert len(names) > 20
    assert not [name for name in names if not hasattr(pybullet, name)]


def test_environments_of_gymnasium_have_ours_beside_them() -> None:
    import gymnasium as gym

    text = (ROOT / "docs" / "from" / "gymnasium.md").read_text(encoding="utf-8")
    theirs, ours = zip(*re.findall(r"^\| `(\w+-v5)` \| `(\w+-v0)` \|", text, re.MULTILINE), strict=True)
    from vigym.envs.registration import CLASSICS

    assert set(ours) == set(CLASSICS)
    assert set(theirs) <= set(gym.registry)


def test_the_reference_has_every_public_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOOKS))
    monkeypatch.delitem(sys.modules, "api", raising=False)
    import api

    shown = {name for _, _, names in api.TOPICS.values() for name in names}
    assert {f"vigym.{name}" for name in vigym.__all__} <= shown
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert not [topic for topic in api.TOPICS if f"api/{topic}.md" not in listed]


def test_arguments_in_docstrings_become_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOOKS))
    pytest.importorskip("griffe")
    from docstrings import listed

    assert listed("Step it.\n\ndt: time, s\nforce, torque: on bodies,\nN\n\nThe end: so it is.") == (
        "Step it.\n\n- `dt`: time, s\n- `force, torque`: on bodies,\n    N\n\nThe end: so it is."
    )
    assert listed("Return it.\nmass: kg") == "Return it.\n\n- `mass`: kg"
    assert listed("```\na: 1\n```") == "```\na: 1\n```"


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert not [name for name in written if name not in text]


def test_nothing_is_fetched_from_elsewhere() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in text
    for path in [ROOT / "mkdocs.yml", *HOOKS.glob("*.py"), ROOT / "docs" / "style.css"]:
        assert "http" not in path.read_text(encoding="utf-8"), path
