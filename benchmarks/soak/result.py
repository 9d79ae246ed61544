"""Result of a soak: counts, worst values, failures; written as JSON and Markdown whenever a turn is over."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from vigym.benchmarks.tables import markdown

MOST_FAILURES = 1000  # that are told one by one; all are counted


class Result:
    """Counts, worst values and failures of each part of a soak.

    folder: for the report, and for files that failed
    about: of the run: seed, hours, machine
    """

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        self.folder, self.about = folder, about
        self.counts: dict[str, Counter[str]] = {}
        self.worst: dict[str, dict[str, float]] = {}
        self.failures: list[str] = []
        self.skipped: dict[str, str] = {}
        self.part = ""
        folder.mkdir(parents=True, exist_ok=True)

    def begin(self, part: str) -> None:
        """Book what follows under that part."""
        self.part = part
        self.counts.setdefault(part, Counter())
        self.worst.setdefault(part, {})
        self.count("turns")

    def count(self, what: str, by: int = 1) -> None:
        """Add to a count; one of zero is shown as well."""
        self.counts[self.part][what] += int(by)

    def most(self, what: str, value: float) -> None:
        """Keep the largest value."""
        known = self.worst[self.part]
        known[what] = max(known.get(what, float(value)), float(value))

    def fail(self, what: str) -> None:
        """Note something that should not happen."""
        self.count("failures")
        if len(self.failures) < MOST_FAILURES:
            self.failures.append(f"{self.part}: {what}")

    def skip(self, why: str) -> None:
        """Note that a part cannot run here."""
        self.skipped[self.part] = why

    def keep(self, name: str, data: bytes) -> None:
        """Keep a file that failed."""
        (self.folder / "failed").mkdir(exist_ok=True)
        (self.folder / "failed" / name).write_bytes(data)

    @property
    def n_failures(self) -> int:
        """Number of failures in all parts."""
        return sum(counts["failures"] for counts in self.counts.values())

    def write(self) -> list[Path]:
        """The report, as JSON and as Markdown."""
        table, page = self.folder / "soak.json", self.folder / "soak.md"
        values = {"about": self.about, "counts": self.counts, "worst": self.worst, "skipped": self.skipped}
        table.write_text(json.dumps(values | {"failures": self.failures}, indent=2) + "\n", encoding="utf-8")
        page.write_text(self.text(), encoding="utf-8")
        return [table, page]

    def text(self) -> str:
        """The report as Markdown."""
        about = ", ".join(f"{name} {value}" for name, value in self.about.items())
        parts = [f"# Soak\n\n{about}\n\n{self.n_failures} failures"]
        for part, counts in self.counts.items():
            rows = [[name, f"{value:,}"] for name, value in sorted(counts.items())]
            rows += [[name, f"{value:.4g}"] for name, value in sorted(self.worst[part].items())]
            parts.append(f"## {part}\n\n{markdown(['', ''], rows)}")
            if part in self.skipped:
                parts.append(f"Left out: {self.skipped[part]}")
        if self.failures:
            parts.append("## Failures\n\n" + "\n".join(f"- {failure}" for failure in self.failures))
        return "\n\n".join(parts) + "\n"
