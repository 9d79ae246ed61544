"""`vigym bench` itself, on its smallest suite: what it measures, and the files it leaves."""

from importlib.util import find_spec

import pytest

from vigym.__main__ import main
from vigym.benchmarks.rows import read


def test_bench_disc(tmp_path):
    assert main(["bench", "disc", "--quick", "--repeats", "1", "--out", str(tmp_path)]) == 0
    rows = read([tmp_path / "disc.csv"])
    assert {(row.suite, row.engine) for row in rows} == {("disc", name) for name in ("vigym", "mujoco", "pybullet")}
    assert {row.size for row in rows if row.engine == "vigym"} == {2, 10, 100, 1000}
    for row in rows:
        if find_spec(row.engine) is None:
            assert row.status == "missing"
            continue
        assert row.status == "ok", row.note
        assert row.microseconds is not None
        assert row.separation == 0.0  # there are no joints
        assert row.failures == 0
        assert row.penetration <= (1e-9 if row.engine == "vigym" else 0.01)
        assert (row.iterations is None) == (row.engine == "pybullet")
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    table = [[cell.strip() for cell in line.split("|")] for line in page.splitlines() if line.startswith("|")]
    header = next(line for line in table if "us a step" in line)
    ours = dict(zip(header, next(line for line in table if line[1] == "vigym"), strict=True))
    assert float(ours["deepest mm"]) <= 1e-6
    assert (ours["joints open mm"], ours["failed"]) == ("0", "0")
    assert 1 < float(ours["iterations"]) < 10
    for row in rows:
        if row.engine == "vigym":
            assert float(ours[str(row.size)].replace(",", "")) == pytest.approx(
                row.microseconds, rel=0.05
            )  # two digits
    if find_spec("matplotlib") is not None:
        assert (tmp_path / "disc.png").read_bytes().startswith(b"\x89PNG")
