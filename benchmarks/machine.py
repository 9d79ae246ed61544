"""The machine that a benchmark ran on."""

import os
import platform
import re
from pathlib import Path


def cpu() -> str:
    """Name of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine() or "unknown"


def slug(name: str) -> str:
    """A name that is fit for a folder: letters, digits and single hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unknown"


def describe() -> str:
    """One line: processor, cores, system, versions of what is compared."""
    from importlib.metadata import PackageNotFoundError, version

    versions = []
    for name in ("vigym", "numba", "mujoco", "pybullet"):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"no {name}")
    return f"{cpu()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, " + ", ".join(
        versions
    )
