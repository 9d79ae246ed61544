"""Pages of the site beside docs/: made of docstrings, results, notebooks and the tables of the tree.

MkDocs calls the functions named `on_...`. Pages keep the links that work on GitHub; those that leave docs/ are turned
here into links to pages of the site, or into names of files.
"""

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

import api
import charts
import environments
import notebooks
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
# Pages of the tree outside docs/ -> where they are in the site
OUTSIDE = {
    "CHANGELOG.md": "about/changelog.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "SECURITY.md": "about/security.md",
    "README.md": "index.md",
}
RESULTS = ("benchmarks/results", "training/results")
KINDS = {".md", ".png", ".webp", ".csv", ".html", ".json"}
# Marks in pages -> what the site has in their place
MADE = {"<!-- gallery -->": environments.gallery, "<!-- names -->": api.index}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)


def outside() -> dict[str, str]:
    """Path in the tree -> path in the site, of all files that come from elsewhere than docs/."""
    found = dict(OUTSIDE)
    for folder in RESULTS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in KINDS:
                name = path.relative_to(ROOT).as_posix()
                found[name] = name.replace("README.md", "index.md")
    return found


def on_config(config: Any) -> Any:
    """Add to the navigation what it would otherwise have to repeat."""
    for section in config.nav:
        for name, entries in section.items():
            if name == "Environments":
                entries += environments.navigation()
            if name == "Benchmarks":
                results = sorted((ROOT / "training" / "results").glob("*/README.md"))
                pages = [f"training/results/{path.parent.name}/index.md" for path in results]
                entries.append({"Learned policies": pages})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made, and those of other folders."""
    for name, place in outside().items():
        if name == "README.md":
            continue
        if name.endswith(".md"):
            text = (ROOT / name).read_text(encoding="utf-8")
            files.append(File.generated(config, place, content=text))
        else:
            files.append(File.generated(config, place, abs_src_path=str(ROOT / name)))
    pages = {**environments.pages(), **api.pages(), **notebooks.pages(ROOT / "docs" / "notebooks")}
    for place, content in pages.items():
        files.append(File.generated(config, place, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lead links where they lead in the site."""
    place = page.file.src_uri
    source = next((name for name, there in outside().items() if there == place and name != "README.md"), None)
    here = PurePosixPath(source or f"docs/{place}")
    for mark, made in MADE.items():
        if mark in markdown:
            markdown = markdown.replace(mark, made())
    parts = FENCE.split(charts.drawn(markdown))
    return "".join(part if part.startswith("```") else spaced(relink(part, here, place)) for part in parts)


def spaced(text: str) -> str:
    """Put an empty line before each list that has none: GitHub needs none, Python-Markdown does."""
    return re.sub(r"^(?![-*] |\d+\. |  |\||$|#)(.+)\n(?=(?:[-*]|\d+\.) )", r"\1\n\n", text, flags=re.MULTILINE)


def relink(text: str, here: PurePosixPath, place: str) -> str:
    """Rewrite the links of a page that is `here` in the tree and at `place` in the site."""
    known = outside()

    def link(found: re.Match[str]) -> str:
        mark, shown, target = found.groups()
        path, hash_, anchor = target.partition("#")
        if "://" in target or not path or target.startswith("mailto:"):
            return found[0]
        there = os.path.normpath(here.parent / path)
        if there.startswith("docs/"):
            there = there.removeprefix("docs/")
        elif there in known:
            hash_, anchor = ("", "") if there == "README.md" else (hash_, anchor)  # the site begins in another way
            there = known[there]
        elif (ROOT / there).exists() and not mark:
            return shown if shown.startswith("`") else f"`{shown}`"  # source code, which the site does not have
        else:
            return found[0]
        return f"{mark}[{shown}]({os.path.relpath(there, PurePosixPath(place).parent)}{hash_}{anchor})"

    return LINK.sub(link, text)
