"""Trainings that are killed (SIGKILL) at chosen calls on their files, and resumed: each in a process of its own.

    python tests/killed_runs.py FOLDER 100,50 700

trains in FOLDER once without interruption; then so that it is killed at its 100th call, resumed and killed at its 50th,
and resumed again; and so on. Prints a line each; ends with an error if one does not come to the same.

A process of its own, so that it can be forked after all imports, before there are threads.
"""

import os
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

import tiny_runs as tiny
from faults import Faults

from vigym.__main__ import main
from vigym.training.sb3 import checkpoints


class Kill(Faults):
    """Ends the process at call number `n`, without any handler."""

    def call(self, name: str, size: int = 0) -> int:
        self.log.append(name)
        if len(self.log) > self.n:
            os.kill(os.getpid(), signal.SIGKILL)
        return size


def in_child(words: list[str], out: Path, n: int | None) -> int:
    """Run a command in a process that is killed at the n-th call: how it ended."""
    child = os.fork()
    if child == 0:
        with Kill(out, n, "crash") if n is not None else nullcontext():
            os._exit(main(words))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_and_kill(out: Path, kills: list[int]) -> str:
    """Train, kill, resume and kill as often as told, and resume; in words."""
    folder = tiny.folder_in(out)
    told = []
    for n in (*kills, None):
        begun = folder.exists() and bool(checkpoints.found(folder))
        if not begun and folder.exists():  # killed before the first checkpoint
            os.rename(folder, out / f"{n}")
        ended = in_child(["train", "--resume", str(folder)] if begun else tiny.command(out), out, n)
        told.append(f"{'resumed' if begun else 'trained'}: {ended}")
        assert ended in ((0,) if n is None else (0, -signal.SIGKILL)), told
        if ended == 0:
            break
    return ", ".join(told)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    expected = tiny.outcome(tiny.trained(place / "whole"))  # which also loads all that the others need
    for k, word in enumerate(sys.argv[2:]):
        kills = [int(n) for n in word.split(",")]
        (place / str(k)).mkdir()
        print(kills, run_and_kill(place / str(k), kills), flush=True)
        assert tiny.outcome(tiny.folder_in(place / str(k))) == expected, kills
