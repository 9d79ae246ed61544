"""Result of an experiment, and the file that keeps it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vigym.engine.durable import write_rows, write_whole

# How a measurement stands to the paper
AGREES, DIFFERS, NEW = "agrees", "differs", "not in the paper"


@dataclass
class Claim:
    """One statement: what is asked, what the paper says, what was measured, and one of the words above."""

    what: str
    paper: str
    measured: str
    verdict: str


@dataclass
class Picture:
    """A PNG file of the folder, and what it shows."""

    file: str
    caption: str


@dataclass
class Result:
    """Result of one experiment.

    form: "quick" or "full"; status: "ok" or "failed", then `error` says why.
    method: paragraphs that say what was done; notes: what differs from the paper and why, what is missing.
    against: what the claims are of. files: CSV files of the folder. machine: what it ran on; seconds: how long it took.
    """

    name: str
    title: str = ""
    form: str = "full"
    status: str = "ok"
    error: str = ""
    method: list[str] = field(default_factory=list)
    against: str = "the paper"
    claims: list[Claim] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    machine: str = ""
    seconds: float = 0.0

    def claim(self, what: str, paper: str, measured: str, verdict: str) -> None:
        """Add one line to the comparison."""
        if verdict not in (AGREES, DIFFERS, NEW):
            raise ValueError(f"verdict must be {AGREES!r}, {DIFFERS!r} or {NEW!r}, got {verdict!r}")
        self.claims.append(Claim(what, paper, measured, verdict))

    def save(self, folder: Path) -> Path:
        """Write NAME.json: its being there means that the experiment has ended."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        write_whole(path, json.dumps(asdict(self), indent=1) + "\n")
        return path


def load(folder: Path, name: str) -> Result | None:
    """Return what `save` wrote; None if there is nothing, or nothing that can be read."""
    try:
        values: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        values["claims"] = [Claim(**claim) for claim in values["claims"]]
        values["pictures"] = [Picture(**picture) for picture in values["pictures"]]
        return Result(**values)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_csv(folder: Path, name: str, header: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """A table of numbers with six digits; returns the name of the file."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = ([f"{cell:.6g}" if isinstance(cell, float) else cell for cell in line] for line in lines)
    write_rows(folder / name, [header, *cells])
    return name
