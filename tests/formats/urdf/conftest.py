"""Fixtures of the URDF loader's tests."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def urdf(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes a robot: the text between <robot name="r"> (line 1) and </robot>, one element a line."""

    def write(inside: str, name: str = "robot.urdf") -> Path:
        path = tmp_path / name
        path.write_text(f'<robot name="r">\n{inside}\n</robot>', encoding="utf-8")
        return path

    return write
