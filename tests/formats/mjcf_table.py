"""Which MJCF files load, and why others do not: python tests/formats/mjcf_table.py FOLDER [--omit]"""

import re
import sys
import warnings
from collections import Counter
from pathlib import Path

from vigym import MjcfError, Simulator, read_mjcf


def row(path: Path, root: Path, unsupported: str) -> tuple[str, str]:
    """What became of a file, and the reason or its remarks."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = read_mjcf(path, root=root, unsupported=unsupported)
            Simulator(model.mechanism, dt=model.dt, compiled=False, num_envs=1)
    except MjcfError as error:
        text = str(error)
        kind = "no model" if "does not compile" in text or "nothing in it can move" in text else "refused"
        return kind, re.sub(r"^.*?\.xml[:\d]*: ", "", text)[:120]
    except Exception as error:
        return "FAILED", f"{type(error).__name__}: {str(error)[:120]}"
    return "loaded", f"{len(model.mechanism.bodies)} bodies, {len(model.warnings)} remarks"


def main(arguments: list[str]) -> None:
    unsupported = "omit" if "--omit" in arguments else "error"
    counts: Counter[str] = Counter()
    for folder in (Path(argument) for argument in arguments if not argument.startswith("--")):
        for path in sorted(folder.rglob("*.xml")):
            if b"<mujoco" not in path.read_bytes()[:20_000]:
                continue
            kind, remark = row(path, folder, unsupported)
            counts[kind] += 1
            print(f"| {path.relative_to(folder)} | {kind} | {remark} |", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main(sys.argv[1:])
