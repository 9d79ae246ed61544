"""The snippets of docs/urdf.md run, on robots that have the names they use."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "urdf.md"
LEGS = {"FR": "0.2 -0.1 0", "FL": "0.2 0.1 0", "RR": "-0.2 -0.1 0", "RL": "-0.2 0.1 0"}


def link(name: str, shape: str = "") -> str:
    inertial = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>'
    collision = f"<collision><geometry>{shape}</geometry></collision>" if shape else ""
    return f'<link name="{name}">{inertial}{collision}</link>'


def joint(kind: str, parent: str, child: str, xyz: str) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{child} {kind}" type="{kind}">{ends}<origin xyz="{xyz}"/><axis xyz="0 1 0"/></joint>'


def test_the_snippets_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arm = link("base") + link("arm") + joint("continuous", "base", "arm", "0 0 0.5")
    dog = link("trunk", '<box size="0.4 0.2 0.1"/>')
    for name, xyz in LEGS.items():
        dog += link(f"{name}_leg") + joint("continuous", "trunk", f"{name}_leg", xyz)
        dog += link(f"{name}_foot", '<sphere radius="0.02"/>')
        dog += joint("fixed", f"{name}_leg", f"{name}_foot", "0 0 -0.25")
    for name, text in (("arm", arm), ("dog", dog)):
        Path(f"{name}.urdf").write_text(f'<robot name="{name}">{text}</robot>', encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(snippets) == 3
    names: dict = {}
    for snippet in snippets[:2]:  # the second goes on where the first ends
        exec(compile(snippet, PAGE, "exec"), names)
    names["sim"].step()
    assert names["sim"].status.converged.all()
    assert [contact.name for contact in names["dog"].contacts] == [f"{name}_foot" for name in LEGS]
    exec(compile(snippets[2], PAGE, "exec"), names)
    assert [collider.body for collider in names["dog"].colliders if collider.body != "world"]
    assert not names["dog"].contacts
