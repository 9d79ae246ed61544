"""The snippets of docs/robots.md run, each by itself; what they print and assert is what the page says."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "robots.md"
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_first_robot_stands_in_ten_lines() -> None:
    lines = [line for line in SNIPPETS[0].splitlines() if line.strip() and not line.startswith(("import", "assert"))]
    assert len(lines) <= 10


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
@pytest.mark.filterwarnings("ignore::vigym.UrdfWarning")
def test_the_snippets_run(snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "assert" in snippet
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, PAGE, "exec"), {"__name__": "__main__"})
