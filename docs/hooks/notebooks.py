"""Notebooks as pages: text, code, and what the code printed and drew when the notebook was last run."""

import base64
import json
from pathlib import Path
from typing import Any


def page(path: Path) -> str:
    """Write the page of a notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    parts = [cell(each) for each in notebook["cells"]]
    title, *rest = parts
    note = f"*A notebook: `docs/notebooks/{path.name}`, to be run in Jupyter or any editor.*\n"
    return "\n\n".join([title, note, *rest])


def cell(given: dict[str, Any]) -> str:
    """Write one cell."""
    source = "".join(given["source"]).strip()
    if given["cell_type"] == "markdown":
        return source
    return "\n\n".join([f"```python\n{source}\n```", *(output(each) for each in given["outputs"])])


def output(given: dict[str, Any]) -> str:
    """Write what a cell showed: a picture, a page, or text."""
    if given["output_type"] == "stream":
        return f"```text\n{''.join(given['text']).rstrip()}\n```"
    data = given["data"]
    if "image/png" in data:
        return f'<img src="data:image/png;base64,{"".join(data["image/png"]).strip()}" alt="Output">'
    if "text/html" in data:
        return "".join(data["text/html"])
    return f"```text\n{''.join(data['text/plain']).rstrip()}\n```"


def encoded(picture: bytes) -> str:
    """Write a picture as notebooks keep it."""
    return base64.b64encode(picture).decode()


def pages(folder: Path) -> dict[str, str]:
    """Return all pages, by their place in the site."""
    return {f"notebooks/{path.stem}.md": page(path) for path in sorted(folder.glob("*.ipynb"))}
