"""The table of docs/urdf.md: which files of pybullet_data load, and what is to be said about them.

`python tests/formats/urdf/table.py` writes it into the page; test_table.py compares the two.
"""

import re
import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for when this file is run by itself

from urdf.peer import DATA, FILES, read

from vigym.formats.urdf import UrdfError, UrdfModel, UrdfWarning, read_urdf

PAGE = Path(__file__).parents[3] / "docs" / "urdf.md"
START, END = "<!-- table: pybullet_data -->\n", "<!-- end of table -->"
HEAD = "| file | loads | bodies | joints | contacts | remarks |\n|---|---|---|---|---|---|\n"
# Part of a warning -> what the table says, with the number of such warnings.
REMARKS = {
    "; mended to ": "{} inertias mended",
    "taken from the box around its shapes": "{} inertias from shapes",
    "moves without limits": "{} joints without a range",
    "mean nothing for type": "{} ranges left out",
    "effort=0": "{} efforts of 0",
    "velocity=0": "{} velocities of 0",
    "numbers separated by spaces": "{} numbers mended",
    "has two points": "{} numbers mended",
    "radius must be a finite number > 0": "{} shapes without size",
    "is not found, so it will not be seen": "{} visual meshes missing",
    "there may be only one": "{} elements given twice",
    "blank space before": "blank space before the XML",
    "zero bytes at the end": "zero byte after the XML",
}


def load(path: Path, floating: bool) -> UrdfModel | str:
    """The model, or the reason why there is none: the error without its place and its advice."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        try:
            return read_urdf(path, floating=floating, meshes=False)
        except UrdfError as error:
            return str(error).split(">: ", 1)[1].split(";")[0]


def remarks(model: UrdfModel) -> list[str]:
    found: Counter[str] = Counter()
    for text in model.warnings:
        (kind,) = [remark for part, remark in REMARKS.items() if part in text]
        found[kind] += 1
    said = [remark.format(count) for remark, count in found.items()]
    return [re.sub(r"^1 (\w+?)s\b", r"1 \1", text) for text in said]


def mass(path: Path, floating: bool, default_mass: float) -> float:
    return sum(body.mass for body in read(path, floating, default_mass=default_mass).mechanism.bodies)


def row(file: str, label: str | None = None) -> str:
    label = label or file
    ways = {name: load(DATA / file, name == "floating") for name in ("floating", "fixed")}
    models = {name: model for name, model in ways.items() if isinstance(model, UrdfModel)}
    if not models:
        reasons = dict.fromkeys(str(reason) for reason in ways.values())
        return f"| {label} | no | | | | {', '.join(reasons)} |\n"
    model = next(iter(models.values()))
    m = model.mechanism
    said = remarks(model)
    if any(frame.mass == 0 for frame in model.links.values()):
        bare = round(mass(DATA / file, "floating" in models, 1.0) - mass(DATA / file, "floating" in models, 0.0))
        said += [f"{bare} links without `<inertial>`"] if bare else []
    if "fixed" in models and ways["floating"] not in models.values():
        said.append(f"not floating: {ways['floating']}")
    counts = f"{len(m.bodies)} | {len(m.joints)} | {len(m.contacts)}"
    return f"| {label} | {', '.join(models)} | {counts} | {', '.join(said)} |\n"


def table() -> str:
    objects = sorted((DATA / "random_urdfs").glob("*/*.urdf"))
    first = objects[0].relative_to(DATA).as_posix()  # they are all alike
    return HEAD + "".join(map(row, FILES)) + row(first, f"random_urdfs/\\*/\\*.urdf ({len(objects)} files)")


def written() -> str:
    """The table as the page has it."""
    return PAGE.read_text(encoding="utf-8").split(START)[1].split(END)[0]


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page.replace(written(), table()), encoding="utf-8")
