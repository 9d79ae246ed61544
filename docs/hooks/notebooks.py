"""Notebooks as pages: text, code, and what the code printed and drew when the notebook was last run."""

import html
import json
import re
from pathlib import Path
from typing import Any

FRAME = re.compile(r'<iframe srcdoc="([^"]*)"')


def page(path: Path, frames: list[str]) -> str:
    """Write the page of a notebook; whole pages among its outputs are added to `frames`."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    parts = [cell(each, path.stem, frames) for each in notebook["cells"]]
    title, *rest = "\n\n".join(parts).split("\n\n")
    note = f"*A notebook: `docs/notebooks/{path.name}`, to be run in Jupyter or an editor.*"
    return "\n\n".join([title, note, *rest]).replace(".ipynb)", ".md)")


def cell(given: dict[str, Any], name: str, frames: list[str]) -> str:
    """Write one cell."""
    source = "".join(given["source"]).strip()
    if given["cell_type"] == "markdown":
        return source
    return "\n\n".join([f"```python\n{source}\n```", *(output(each, name, frames) for each in given["outputs"])])


def output(given: dict[str, Any], name: str, frames: list[str]) -> str:
    """Write what a cell showed: a picture, a page, or text."""
    if given["output_type"] == "stream":
        return f"```text\n{''.join(given['text']).rstrip()}\n```"
    data = given["data"]
    if "image/png" in data:
        return f'<img src="data:image/png;base64,{"".join(data["image/png"]).strip()}" alt="Output">'
    if framed := FRAME.search("".join(data.get("text/html", ""))):
        frames.append(html.unescape(framed[1]))
        return f'<iframe class="replay" src="{name}-{len(frames)}.html" loading="lazy" title="Replay"></iframe>'
    return f"```text\n{''.join(data['text/plain']).rstrip()}\n```"


def pages(folder: Path) -> dict[str, str]:
    """Return all pages, and the replays in them, by their place in the site."""
    found = {}
    for path in sorted(folder.glob("*.ipynb")):
        frames: list[str] = []
        found[f"notebooks/{path.stem}.md"] = page(path, frames)
        for k, frame in enumerate(frames, 1):
            found[f"notebooks/{path.stem}-{k}.html"] = frame
    return found
