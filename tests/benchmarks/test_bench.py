"""`vigym bench` itself, on its smallest suite: what it measures, and the files it leaves."""

from importlib.util import find_spec

import pytest

from vigym.__main__ import main
from vigym.benchmarks import suites, tables
from vigym.benchmarks.rows import Job, read
from vigym.benchmarks.worker import run


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


def test_bodies_that_touch():
    """Short runs of the scenes of `vigym bench touching`, and its table."""
    short = {"stack": {"bodies": 3}, "pinch": {}, "heap": {"bodies": 3}, "cubes": {"bodies": 3}}
    assert {job.scene for job in suites.touching(True)} == {*short, "ready"}
    engines = [name for name in ("vigym", "mujoco", "pybullet") if find_spec(name) is not None]
    rows = []
    for engine in engines:
        for scene, parameters in short.items():
            rows += run(Job("touching", engine, scene, parameters, steps=20, repeats=1))
    for row in rows:
        assert row.status == "ok", row.note
        assert row.failures == 0
        # in 0.2 s: what MuJoCo sinks in, and what a ball that has fallen 0.06 m moves in the step in which it lands;
        # cubes land twice as fast, on a corner
        sunk = 0.05 if row.scene == "cubes" else 0.02
        assert row.penetration <= (1e-8 if row.engine == "vigym" else sunk)
        assert (row.creep is None) == (row.scene in ("heap", "cubes"))
        if row.engine == "vigym" and row.scene != "pinch":  # which drives press
            assert row.gained < 1e-6
        if row.engine == "vigym" and row.creep is not None:
            assert row.creep < 1e-9
    table = tables.touching(rows).splitlines()
    assert "us a step | deepest mm | creep mm/s" in table[0]
    assert [line.split(" | ")[0] for line in table[2:]] == [
        f"| {scene}" for scene in ("cubes 3", "heap 3", "pinch", "stack 3") for _ in engines
    ]
