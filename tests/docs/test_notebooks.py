"""Notebooks run from top to bottom, in a short form, and hold what they showed when they ran in full."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
NEEDS = ("matplotlib", "mujoco", "stable_baselines3")


def test_there_are_five() -> None:
    assert NOTEBOOKS == ["compare_engines", "first_steps", "gradients", "train_a_hopper", "your_robot"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("VIGYM_SHORT", "1")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.delitem(sys.modules, "run", raising=False)
    import run

    path = FOLDER / f"{name}.ipynb"
    text = path.read_text(encoding="utf-8")
    for module in NEEDS:
        if f"import {module}" in text or f"from {module}" in text:
            pytest.importorskip(module)
    assert any(cell.get("outputs") for cell in run.run(path)["cells"])


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_one_that_editors_open_and_has_its_outputs(name: str) -> None:
    notebook = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert any(cell["outputs"] for cell in code)
    assert notebook["cells"][0]["source"][0].startswith("# ")
