"""Robots of MuJoCo Menagerie, where they are, and mechanisms written as MJCF again."""

import os
from pathlib import Path

from vigym import MjcfModel
from vigym.formats.mjcf.write import to_mjcf

FOLDER = os.environ.get("VIGYM_MENAGERIE")
MENAGERIE = Path(FOLDER) if FOLDER else Path(__file__).parents[2].parent / "shared" / "menagerie"


def round_trip(ours: MjcfModel) -> str:
    """The mechanism as MJCF again."""
    return to_mjcf(ours.mechanism, integrator="implicitfast")
