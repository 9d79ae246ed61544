"""docs/models.md lists every model with every parameter, counts right, and its snippet runs."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import vigym.assets
from vigym import Simulator

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
MODULES = {
    info.name: importlib.import_module(f"vigym.assets.{info.name}")
    for info in pkgutil.iter_modules(vigym.assets.__path__)
}
MODELS = {name: module for name, module in MODULES.items() if hasattr(module, "build")}
ROWS = {
    row[0]: row for row in re.findall(r"^\| `(\w+)` \| (\d[^|]*|\w[^|]*) \| [^|]* \| ([^|]*) \|$", PAGE, re.MULTILINE)
}


def test_the_page_lists_all_models_and_no_other():
    assert len(MODELS) == 15
    assert set(ROWS) == set(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_parameters_are_keywords_with_defaults_and_on_the_page(name):
    parameters = inspect.signature(MODELS[name].build).parameters
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters.values())
    assert all(parameter.default is not parameter.empty for parameter in parameters.values())
    assert re.findall(r"`(\w+)`", ROWS[name][2]) == list(parameters)


@pytest.mark.parametrize("name", MODELS)
def test_counts_are_those_on_the_page(name):
    m = MODELS[name].build()
    n = {"snake": 10, "scissor_lift": 3, "arch": 11}.get(name, 0)
    terms = ROWS[name][1].replace("2n", f"{2 * n}").replace("3n", f"{3 * n}").replace("n", f"{n}").replace("c", "8")
    expected = [sum(int(term) for term in part.replace("- ", "+ -").split("+")) for part in terms.split("/")]
    assert [len(m.bodies), len(m.joints), len(m.contacts)] == expected


@pytest.mark.parametrize("name", MODELS)
def test_can_be_drawn_and_starts_where_it_may(name):
    m = MODELS[name].build()
    assert all(body.drawn and all(shape.color for shape in body.drawn) for body in m.bodies)
    Simulator(m).step()  # which refuses a start in the ground, with open joints or beyond limits


def test_snippet_runs():
    (snippet,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    exec(snippet, {})
