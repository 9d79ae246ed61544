"""One report of all experiments, as Markdown and as HTML, from the same blocks."""

import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from vigym.benchmarks.reproduction.catalogue import EXPERIMENTS
from vigym.benchmarks.reproduction.result import AGREES, DIFFERS, NEW, Result, load
from vigym.benchmarks.tables import markdown
from vigym.engine.durable import write_whole

PAPER = (
    '"Linear-Time Contact and Friction Dynamics in Maximal Coordinates using Variational Integrators" '
    "(Brüdigam, Janeva, Sosnowski, Hirche)"
)
STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; width: 100%; }
th, td { border: 1px solid #ccc; padding: .35em .6em; text-align: left; vertical-align: top; }
th { background: #f0f0f0; } td.differs, td.failed { background: #fde2d8; } td.agrees { background: #e2f3e2; }
img { max-width: 100%; } figure { margin: 1.2em 0; } figcaption { color: #555; font-size: .9em; }
code { background: #f3f3f3; padding: 0 .2em; }
"""


class Heading(NamedTuple):
    text: str
    level: int


class Text(NamedTuple):
    text: str


class TableBlock(NamedTuple):
    header: Sequence[str]
    lines: Sequence[Sequence[str]]


class Image(NamedTuple):
    file: str
    caption: str


Block = Heading | Text | TableBlock | Image


def summary(results: Sequence[Result]) -> list[Block]:
    """Title, what this is, and one line for each experiment."""
    done: dict[str, Result] = {result.name: result for result in results}
    lines = []
    for number, (name, (_, title)) in enumerate(EXPERIMENTS.items(), 1):
        result = done.get(name)
        if result is None:
            lines.append([str(number), f"{title} (`{name}`)", "-", "-", "-", "not run"])
            continue
        main = [result.claims[0].paper, result.claims[0].measured] if result.claims else ["-", "-"]
        words = {AGREES: "agree", DIFFERS: "differ", NEW: NEW}
        count = [f"{sum(claim.verdict == k for claim in result.claims)} {word}" for k, word in words.items()]
        state = f"{result.form}, {result.seconds:.0f} s" if result.status == "ok" else "FAILED"
        lines.append([str(number), f"{title} (`{name}`)", *main, ", ".join(count), state])
    machines = list(dict.fromkeys(result.machine for result in results))
    return [
        Heading("The paper, reproduced", 1),
        Text(
            f"Every experiment of {PAPER}, what the paper claims and what was measured here, and what its published "
            "code gets wrong. Made by `vigym reproduce`; `vigym reproduce --quick` is a short form of the same."
        ),
        *(Text(f"Machine: {machine}.") for machine in machines),
        TableBlock(["", "experiment", "first claim of the paper", "measured here", "all claims", "run"], lines),
    ]


def section(number: int, result: Result) -> list[Block]:
    """One experiment."""
    blocks: list[Block] = [Heading(f"{number}. {result.title} (`{result.name}`)", 2)]
    if result.status != "ok":
        blocks.append(Text(f"This experiment FAILED, and there is no result of it: {result.error}"))
        return blocks
    if result.form == "quick":
        blocks.append(Text("Short form: fewer sizes, steps and runs than the experiment has."))
    blocks += [Text(text) for text in result.method]
    lines = [[claim.what, claim.paper, claim.measured, claim.verdict] for claim in result.claims]
    blocks.append(TableBlock(["", result.against, "measured here", "verdict"], lines))
    blocks += [Image(picture.file, picture.caption) for picture in result.pictures]
    blocks += [Text(text) for text in result.notes]
    if result.files:
        blocks.append(Text("Numbers: " + ", ".join(f"[{name}]({name})" for name in result.files) + "."))
    return blocks


def to_markdown(blocks: Sequence[Block]) -> str:
    """Blocks as Markdown."""
    parts = []
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"{'#' * block.level} {block.text}\n")
        elif isinstance(block, Text):
            parts.append(f"{block.text}\n")
        elif isinstance(block, Image):
            parts.append(f"![{block.caption}]({block.file})\n\n*{block.caption}*\n")
        else:
            safe = [[cell.replace("|", "\\|") for cell in line] for line in block.lines]
            parts.append(markdown(block.header, safe))
    return "\n".join(parts)


def inline(text: str) -> str:
    """Code and links of a line of Markdown; everything else is text."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", text)
    return re.sub(r"\[([^]]*)\]\(([^)]*)\)", r'<a href="\2">\1</a>', text)


def to_html(blocks: Sequence[Block], title: str) -> str:
    """Blocks as one page; pictures stay files beside it."""
    parts = [f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>']
    parts.append(f"<style>{STYLE}</style>")
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"<h{block.level}>{inline(block.text)}</h{block.level}>")
        elif isinstance(block, Text):
            parts.append(f"<p>{inline(block.text)}</p>")
        elif isinstance(block, Image):
            words = inline(block.caption)
            alt = html.escape(block.caption)
            parts.append(f'<figure><img src="{block.file}" alt="{alt}"><figcaption>{words}</figcaption></figure>')
        else:
            head = "".join(f"<th>{inline(cell)}</th>" for cell in block.header)
            body = "".join(f"<tr>{''.join(map(_cell, line))}</tr>\n" for line in block.lines)
            parts.append(f"<table>\n<tr>{head}</tr>\n{body}</table>")
    return "\n".join(parts) + "\n</html>\n"


def _cell(text: str) -> str:
    kind = text.lower() if text.lower() in (AGREES, DIFFERS, "failed") else ""
    return f'<td class="{kind}">{inline(text)}</td>' if kind else f"<td>{inline(text)}</td>"


def write(folder: Path) -> list[Path]:
    """report.md and report.html of all experiments that the folder holds, failed ones too."""
    results = [result for name in EXPERIMENTS if (result := load(folder, name)) is not None]
    blocks = summary(results)
    names: list[str] = list(EXPERIMENTS)
    for result in results:
        blocks += section(1 + names.index(result.name), result)
    files = folder / "report.md", folder / "report.html"
    write_whole(files[0], to_markdown(blocks))
    write_whole(files[1], to_html(blocks, "vigym: the paper, reproduced"))
    return list(files)
