"""The documentation's table of files is what the loader does."""

import pytest

pytest.importorskip("pybullet", reason="the peer; pip install vigym[compare] (Python < 3.12)")

from urdf.table import table, written


def test_the_table_is_true() -> None:
    """The page has the table. If not: `python tests/formats/urdf/table.py` writes it anew; look at what changed."""
    assert written() == table()
