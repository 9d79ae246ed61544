"""Run the notebooks beside this file and keep what they show: `python docs/notebooks/run.py [NAME ...]`.

Without Jupyter: cells run in one namespace, in order; what they print, and the value of a last expression, become the
outputs. With VIGYM_SHORT=1 in the environment, as in tests, notebooks take fewer steps.
"""

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def execute(source: str, space: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Run one cell and return its outputs."""
    tree = ast.parse(source, name)
    last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    if last is not None:
        tree.body.pop()
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), space)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), space)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        shown = {"output_type": "display_data", "metadata": {}, "data": data_of(value)}
        outputs.append(shown)
    return outputs


def data_of(value: Any) -> dict[str, Any]:
    """Show a value as notebooks do: a figure as a picture, a replay as a page, anything else as text."""
    data: dict[str, Any] = {"text/plain": [repr(value)]}
    if hasattr(value, "savefig"):
        file = io.BytesIO()
        value.savefig(file, format="png", dpi=80, bbox_inches="tight")
        data["image/png"] = base64.b64encode(file.getvalue()).decode()
    elif hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return data


def run(path: Path) -> dict[str, Any]:
    """Run a notebook from top to bottom and return it with its outputs."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    space: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = execute("".join(cell["source"]), space, f"{path.name}, cell {count}")
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.ipynb")):
        path = HERE / f"{name}.ipynb"
        path.write_text(json.dumps(run(path), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB", flush=True)
