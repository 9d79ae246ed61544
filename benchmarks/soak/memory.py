"""Memory of this process, turn by turn: what grows with every turn is not given back."""

from pathlib import Path

from vigym.benchmarks.soak.result import Result

FIRST = 3  # turns after which everything is compiled, and buffers have their size
MOST_GROWTH = 100.0  # MB since then


def resident() -> float | None:
    """Memory of this process, MB; None where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError):
        return None
    from resource import getpagesize

    return pages * getpagesize() / 1e6


class Memory:
    """Sizes at the end of all turns."""

    def __init__(self) -> None:
        self.sizes: list[float] = []

    def look(self, result: Result) -> None:
        """Note the size now; a failure, once, if it has grown too much since the first turns."""
        result.begin("memory")
        size = resident()
        if size is None:
            result.skip("this system does not tell the memory of a process")
            return
        before = self.growth
        self.sizes.append(size)
        result.most("largest, MB", size)
        if len(self.sizes) > FIRST:
            result.most(f"growth since turn {FIRST}, MB", self.growth)
        if self.growth > MOST_GROWTH >= before:
            result.fail(f"{self.growth:.0f} MB more than after turn {FIRST}, now {size:.0f} MB")

    @property
    def growth(self) -> float:
        """MB since the first turns."""
        return self.sizes[-1] - self.sizes[FIRST - 1] if len(self.sizes) > FIRST else 0.0
