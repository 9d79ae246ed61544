"""Show the docstrings of the API pages as lists: a line `dt: time step, s` is an entry of one."""

import re
from typing import Any

import griffe

NAMES = r"[a-z_]\w*(?:(?:, | \.\.\. | and )(?:[a-z_]\w*|\.\.\.))*"
ENTRY = re.compile(rf"^({NAMES}): (?=\S)")
STARTS = re.compile(r"^(\([\w, ]+\)|[A-Z])")


def listed(text: str) -> str:
    """Turn lines that explain an argument into entries of a list, and lines after them into parts of these."""
    lines: list[str] = []
    inside = fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        entry = None if fenced else ENTRY.match(line)
        if entry and entry[1] != "note":
            if not inside and lines and lines[-1]:
                lines.append("")
            inside = True
            lines.append(f"- `{entry[1]}`: {line[entry.end() :]}")
        elif not line.strip() or fenced:
            inside = False
            lines.append(line)
        elif inside:
            lines.append(f"    {line.strip()}")
        else:
            lines.append(line)
    return "\n".join(lines)


class Listed(griffe.Extension):
    """Applied by mkdocstrings to every object that a page shows."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite its docstring."""
        if obj.docstring:
            obj.docstring.value = listed(obj.docstring.value)
