"""Snippets of the README and of pages run, and its two commands are the ones that are checked."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = (
    "README.md",
    "docs/accuracy.md",
    "docs/contact.md",
    "docs/gradients.md",
    "docs/simulation.md",
    "docs/pictures.md",
    "docs/replay.md",
    "docs/training.md",
    "docs/comparison/README.md",
    "docs/index.md",
    "docs/start/environment.md",
    "docs/start/robot.md",
    "docs/start/training.md",
    "docs/from/mujoco.md",
    "docs/from/pybullet.md",
    "docs/from/gymnasium.md",
    "docs/from/brax.md",
)
SNIPPETS = {  # page and line above the snippet -> snippet
    (page, text.count("\n", 0, found.start(1))): found[1]
    for page in PAGES
    for text in [(ROOT / page).read_text(encoding="utf-8")]
    for found in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
}
MARKDOWN = [
    *ROOT.glob("*.md"),
    *(path for name in ("docs", "benchmarks", "training") for path in ROOT.glob(f"{name}/**/*.md")),
]
COMMANDS = dict(re.findall(r"^<!-- command: (\w+) -->\n```sh\n([^\n]+)\n```$", README, re.MULTILINE))


def steps(name: str) -> list[list[str]]:
    """The parts of a README command that `&&` joins, each split into words."""
    return [shlex.split(part) for part in COMMANDS[name].split("&&")]


def test_the_readme_has_snippets_and_exactly_two_commands() -> None:
    assert {page for page, _ in SNIPPETS} == set(PAGES)
    assert set(COMMANDS) == {"demo", "test"}
    assert README.count("```sh") == len(COMMANDS)


@pytest.mark.parametrize(("page", "line"), SNIPPETS)
def test_snippet_runs(page: str, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for module in ("mujoco", "pybullet", "pybullet_data", "stable_baselines3", "torch"):
        if f"import {module}" in SNIPPETS[page, line]:
            pytest.importorskip(module)
    source = "\n" * line + SNIPPETS[page, line]  # so that a traceback names the line of the page
    exec(compile(source, ROOT / page, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("name", COMMANDS)
def test_ci_runs_the_readme_command_and_has_no_copy_of_it(name: str) -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert f"{name}=$(readme_command {name})" in script
    assert f'bash -euc "${name}"' in script
    assert "pip install" not in script
    assert "pytest" not in script


@pytest.mark.parametrize("name", COMMANDS)
def test_command_makes_a_venv_and_installs_the_pinned_versions(name: str) -> None:
    venv, install, _ = steps(name)
    assert venv == ["python3", "-m", "venv", ".venv"]
    assert install[:2] == [".venv/bin/pip", "install"]
    assert install[install.index("-c") + 1] == "constraints.txt"
    assert re.fullmatch(r"\.\[\w+\]", install[-1])


def test_the_test_command_runs_the_whole_suite() -> None:
    run = steps("test")[-1]
    assert run[:3] == [".venv/bin/python", "-m", "pytest"]
    assert set(run[3:]) <= {"-q", "-n", "2", "--dist", "loadfile"}  # nothing that leaves tests out


def test_the_demo_command_runs(tmp_path: Path) -> None:
    program, *args = steps("demo")[-1]
    assert program == ".venv/bin/vigym"
    command = [sys.executable, "-m", "vigym", *args]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as they are made for links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", sorted(str(path.relative_to(ROOT)) for path in MARKDOWN))
def test_links_lead_somewhere(page: str) -> None:
    here = ROOT / page
    links = re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", here.read_text(encoding="utf-8"))
    assert links or page != "README.md"
    for link, anchor in links:
        there = here.parent / link if link else here
        assert there.exists(), link
        assert not anchor or anchor in anchors(there), f"{link}#{anchor}"
