"""`vigym cache`: the folder of compiled code, its size, and how to empty it."""

from collections import Counter
from pathlib import Path
from typing import Literal, NamedTuple

from tyro.conf import Positional

from vigym.engine.kernels import disk


class Kept(NamedTuple):
    """Compiled code on disk: the folder, its files, their bytes, and the number of files of each function."""

    folder: Path
    files: list[Path]
    size: int
    functions: Counter[str]

    def __str__(self) -> str:
        return f"{self.folder}: {len(self.files)} files of {len(self.functions)} functions, {self.size / 1e6:.1f} MB"


def kept() -> Kept:
    """Look at the folder of compiled code; files of other kinds in it do not count."""
    folder = disk.folder()
    files = sorted(path for pattern in ("*.kernel", "*.kernel.*.tmp") for path in folder.glob(pattern))
    names = Counter(path.name.rpartition("-")[0] for path in files if path.suffix == ".kernel")
    return Kept(folder, files, sum(path.lstat().st_size for path in files), names)


def cache(action: Positional[Literal["show", "clear"]] = "show") -> None:
    """Show where compiled code is kept and how much there is, or delete it.

    Clearing is always safe: what is needed again is compiled again, 5 to 20 s for each kind of mechanism. Files that
    vigym did not write stay. Old code is never used again, but not deleted by itself: clear after updates.

    Args:
        action: "show", or "clear".
    """
    try:
        found = kept()
        if action == "clear":
            for path in found.files:
                path.unlink(missing_ok=True)
            print(f"deleted {len(found.files)} files, {found.size / 1e6:.1f} MB, from {found.folder}")
            return
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        raise SystemExit(f"the folder of compiled code cannot be read or emptied: {error}") from None
    print(found)
    for name, count in sorted(found.functions.items()):
        print(f"  {name:<26} {count}")
