"""The table of a training's episodes, 0.monitor.csv, which only grows, beside checkpoints, which know how far it was.

It is forced to the disk before a checkpoint is written. Rows of later episodes are cut off when a run goes on from the
checkpoint, since these come again.
"""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from stable_baselines3.common.monitor import ResultsWriter
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from vigym.engine.durable import naming, write_whole
from vigym.engine.errors import InputError
from vigym.engine.files import open_regular

NAME = "0.monitor.csv"
HEAD = 2  # lines: when and what, names of the columns
COLUMNS = b"r,l,t\n"


def monitored(env: VecEnv, folder: Path, *, append: bool = False) -> VecMonitor:
    """The environments with their episodes written to the table; `append` goes on with the one that is there."""
    if not append:
        return VecMonitor(env, str(folder / NAME))
    wrapped = VecMonitor(env)
    wrapped.results_writer = ResultsWriter(str(folder / NAME), override_existing=False)
    return wrapped


def secured(env: VecMonitor, folder: Path) -> dict[str, Any]:
    """Force the table to the disk: its length, lines and checksum now."""
    assert env.results_writer is not None
    path = folder / NAME
    with naming(path):
        os.fsync(env.results_writer.file_handler.fileno())
        data = content(path)
    return {"length": len(data), "lines": data.count(b"\n"), "sha256": digest(data)}


def content(path: Path) -> bytes:
    """All of a table; errors name it."""
    try:
        with naming(path), open_regular(path) as file:
            return file.read()
    except InputError as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def restore(folder: Path, env_id: str, kept: dict[str, Any]) -> None:
    """Cut the table to what `secured` found. If that is damaged, keep the rows that are whole, and say how many."""
    path = folder / NAME
    data = content(path) if path.exists() else b""
    cut = data[: kept["length"]]
    if digest(cut) != kept["sha256"]:
        cut = repaired(cut, env_id)
        here, before = (lines - HEAD for lines in (cut.count(b"\n"), kept["lines"]))
        print(
            f"{path} is damaged: it does not match the checksum in the checkpoint; going on with the {here} rows of "
            f"{before} episodes that are whole",
            file=sys.stderr,
        )
    if cut != data:
        write_whole(path, cut)


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def repaired(data: bytes, env_id: str) -> bytes:
    """Head and whole rows of a table."""
    lines = data.splitlines(keepends=True)
    head = lines[0] if lines and lines[0].startswith(b"#{") and lines[0].endswith(b"}\n") else b""
    head = head or f"#{json.dumps({'t_start': 0.0, 'env_id': env_id})}\n".encode()
    return head + COLUMNS + b"".join(line for line in lines if is_row(line))


def is_row(line: bytes) -> bool:
    """Return whether a line is return, length and time of an episode, and ends."""
    try:
        return line.endswith(b"\n") and len([float(word) for word in line.split(b",")]) == 3
    except ValueError:
        return False
