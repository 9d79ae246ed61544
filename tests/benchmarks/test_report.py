"""Rows to files and back, to tables, pictures and verdicts."""

from dataclasses import replace

import pytest

from vigym.benchmarks import machine, plots, suites, tables
from vigym.benchmarks.bench import write
from vigym.benchmarks.rows import ACCURACY, Row, Table, read
from vigym.benchmarks.scenes.chain import GENTLE, PAPER
from vigym.benchmarks.targets import evaluate, exponent, largest_step, real_time, steepest
from vigym.benchmarks.worker import EVERY, FINE


def timed(suite: str, engine: str, microseconds: float, **values) -> Row:
    row = Row(suite, values.pop("scene", suite), engine, microseconds=microseconds, steps=100, dt=0.01)
    return replace(row, wall=microseconds, steps_per_second=1e6 / microseconds, **values)


def good_rows() -> list[Row]:
    """As if every target was just reached."""
    rows = []
    for n in (10, 100, 1000):
        for drop in (GENTLE, PAPER):
            rows.append(
                timed("chain", "vigym", 3.0 * n, size=n, drop=drop, penetration=0.0, iterations=3.1, failures=0)
            )
        rows.append(timed("disc", "vigym", 1.0 * n, size=n, penetration=1e-10, failures=0))
    rows.append(timed("chain", "mujoco", 300.0 * 15, size=100, drop=GENTLE))
    rows.append(timed("chain", "pybullet", 300.0, size=100, drop=GENTLE, mode="rigid"))
    rows.append(timed("chain", "pybullet", 20000.0, size=100, drop=GENTLE, mode="reduced"))
    for threads in (1, 2):
        each = {"num_envs": 64, "threads": threads, "size": 100, "gain": 1.8 if threads == 2 else None}
        rows.append(timed("batch", "vigym", 75.0 / (each["gain"] or 1), scene="chain", **each))
        rows.append(timed("batch", "vigym", 50.0 / (each["gain"] or 1), scene="disc", **each))
    rows.append(timed("batch", "mujoco", 50.0, scene="disc", num_envs=64, size=100))
    for engine, single, batch, largest in (("vigym", 50.0, 15.0, 0.005), ("mujoco", 10.0, 10.0, 0.001)):
        for dt in (0.001, 0.005):
            rows.append(replace(timed("a1", engine, single, scene="a1-trot"), dt=dt))
            rows.append(replace(timed("a1", engine, batch, scene="a1-trot", num_envs=64), dt=dt))
            swept = replace(
                Row("a1", "a1-trot", engine, dt=dt, steps=10, timing=ACCURACY), foot_error=1e-3, travel_error=0.001
            )
            rows.append(swept if dt <= largest else replace(swept, travel_error=0.5))
    rows.append(Row("startup", "overhead", "vigym", microseconds=4.9, dt=1e-6))
    rows += [Row("startup", "startup", "vigym", mode, seconds=t) for mode, t in (("warm", 1.5), ("cold", 15.0))]
    return rows


def test_all_targets_can_be_reached():
    targets = evaluate(good_rows())
    assert [target.name for target in targets if target.reached is not True] == []
    assert len({target.name for target in targets}) == len(targets)


# Each of these makes one target fail, and no other.
SPOILED = [
    ("chain of 100, MuJoCo", lambda r: r.engine == "mujoco" and r.suite == "chain", {"microseconds": 4400.0}),
    ("chain of 100, PyBullet's over", lambda r: r.mode == "rigid", {"microseconds": 299.9, "note": "and the batch"}),
    ("exponent of the chain", lambda r: r.drop == GENTLE and r.size == 1000, {"microseconds": 3800.0}),
    ("exponent of the chain", lambda r: r.drop == PAPER and r.size == 1000, {"microseconds": 3800.0}),
    ("exponent of the disc", lambda r: r.suite == "disc" and r.size == 1000, {"microseconds": 1300.0}),
    ("disc of 100 in a batch", lambda r: r.engine == "mujoco" and r.scene == "disc", {"microseconds": 49.0}),
    ("overhead", lambda r: r.scene == "overhead", {"microseconds": 5.0}),
    ("warm cache", lambda r: r.mode == "warm", {"seconds": 1.6}),
    ("no cache", lambda r: r.mode == "cold", {"seconds": 15.1}),
    ("penetration", lambda r: r.suite == "disc" and r.size == 10, {"penetration": 2e-9}),
    ("failed solves", lambda r: r.suite == "disc" and r.size == 10, {"failures": 1}),
    ("two threads", lambda r: r.threads == 2 and r.scene == "disc", {"gain": 1.79}),
    ("simulated seconds", lambda r: r.engine == "mujoco" and r.travel_error == 0.5, {"travel_error": 0.001}),
    ("A1 alone", lambda r: r.engine == "vigym" and r.suite == "a1" and r.microseconds == 50.0, {"microseconds": 51.0}),
]


@pytest.mark.parametrize(("name", "which", "values"), SPOILED, ids=[name for name, _, _ in SPOILED])
def test_each_target_can_be_missed(name, which, values):
    rows = [replace(row, **values) if which(row) else row for row in good_rows()]
    missed = [target.name for target in evaluate(rows) if target.reached is False]
    assert any(name in target for target in missed), missed
    allowed = 2 if values.get("note") else 1
    assert len(missed) <= allowed


def test_without_rows_nothing_is_claimed():
    assert not any(target.reached for target in evaluate([]))


def test_exponent():
    rows = [timed("chain", "vigym", 2.0 * n**1.5, size=n) for n in (2, 10, 100, 1000)]
    rows[0].microseconds = 1e6  # too small to count
    assert exponent(rows) == pytest.approx(1.5)
    assert exponent(rows[:3]) is None


def test_the_height_with_the_larger_exponent_counts():
    powers = {GENTLE: 1.0, PAPER: 1.2, 1.0: 1.5}
    rows = [timed("chain", "vigym", n**p, size=n, drop=drop) for drop, p in powers.items() for n in (10, 100, 1000)]
    rows = [row for row in rows if (row.drop, row.size) != (1.0, 1000)]  # two sizes do not count
    assert steepest(rows) == (pytest.approx(1.2), PAPER)
    assert steepest(rows[:3]) == (pytest.approx(1.0), GENTLE)
    assert steepest([]) is None
    (target,) = (target for target in evaluate(rows) if "exponent of the chain" in target.name)
    assert (target.measured, target.reached) == ("1.20, from 0.3 m", False)


def test_a_step_counts_only_if_all_smaller_ones_do():
    row = Row("a1", "a1-trot", "vigym", timing=ACCURACY, foot_error=0.0, travel_error=0.0)
    swept = [replace(row, dt=dt) for dt in (0.1, 0.2, 0.3)]
    assert largest_step(swept, "vigym") == 0.3
    swept[1].foot_error = 0.0021
    assert largest_step(swept, "vigym") == 0.1
    swept[0].status, swept[0].foot_error = "diverged", None
    assert largest_step(swept, "vigym") is None
    batch = [replace(timed("a1", "vigym", 10.0, scene="a1-trot", num_envs=64), dt=dt) for dt in (0.1, 0.2)]
    assert "not close enough" in real_time(swept + batch, "vigym")[1]
    other = [replace(row, mode="other", status="ok", foot_error=0.0) for row in swept]
    slower = [replace(row, mode="other", microseconds=1000.0) for row in batch]
    # a mode that is close enough counts, however slow; at its largest step that was timed
    assert real_time(swept + batch + other + slower, "vigym") == (pytest.approx(200.0), "vigym other at 200 ms")
    reference = [replace(row, dt=FINE) for row in other]
    assert largest_step(reference, "vigym other") is None  # what others are compared with is always close to itself


def test_rows_survive_the_file(tmp_path):
    rows = [*good_rows(), Row("chain", "chain", "mujoco", status="crashed", note='exit -6: "a, b"')]
    table = Table(tmp_path / "new" / "rows.csv")
    for row in rows:
        table.add(row)
    assert [row.status for row in read([table.path])][-1] == "crashed"
    for before, after in zip(rows, read([table.path]), strict=True):
        assert after.label == before.label
        assert after.note == before.note
        assert after.microseconds == (None if before.microseconds is None else pytest.approx(before.microseconds))
        assert (after.size, after.threads, after.failures) == (before.size, before.threads, before.failures)


def test_report(tmp_path):
    rows = [*good_rows(), Row("chain", "chain", "mujoco", size=1000, drop=GENTLE, status="timeout", note="slow")]
    rows.append(replace(timed("free-chain", "vigym", 9.0), energy_error=1e-3))
    text = tables.report(rows, evaluate(rows), "A processor")
    for part in ("# A processor", "## chain", "| timeout |", "slow", "free-chain", "Environment steps a second"):
        assert part in text
    for line in text.splitlines():  # every line of a table has as many cells as its header
        assert not line.startswith("|") or line.endswith("|")
    blocks = [block.splitlines() for block in text.split("\n\n") if block.lstrip().startswith("|")]
    assert len(blocks) >= 6
    for block in blocks:
        assert len({line.count("|") for line in block}) == 1, block
    pytest.importorskip("matplotlib")
    made = plots.draw(rows, tmp_path)
    assert {path.name for path in made} >= {"chain.png", "disc.png", "batch-disc.png", "a1.png", "free-chain.png"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in made)


def test_gains_are_told_with_those_of_simulations_that_share_nothing():
    row = timed("batch", "vigym", 10.0, scene="disc", num_envs=64, threads=2, gain=1.7, apart=1.6)
    better = replace(row, num_envs=256, gain=1.9, apart=None)
    assert "100,000 (1.70x, apart 1.60x) | 100,000 (1.90x) |" in tables.batches([row, better])
    (target,) = (target for target in evaluate([row, better]) if "two threads" in target.name)
    assert (target.measured, target.reached) == ("1.70, 64 of disc; two that share nothing 1.60", False)


def test_penetration_at_every_step():
    row = timed("a1", "mujoco", 10.0, scene="a1-stand", iterations=1.0, failures=0)
    depths = {0.001: 0.0012, 0.002: None, 0.01: 0.0122}
    rows = [replace(row, dt=dt, penetration=depth) for dt, depth in depths.items()]
    rows.append(replace(row, dt=0.005, engine="vigym", energy_error=0.01))
    header, _, mujoco, vigym = (
        [cell.strip() for cell in line.split("|")] for line in tables.by_step(rows).splitlines()
    )
    deepest, energy = header.index("deepest mm"), header.index("energy error")
    assert mujoco[2:6] == ["10", "10", "-", "10"]
    assert mujoco[deepest] == "1.2 / - / 12"  # of the steps that were run
    assert (mujoco[energy], vigym[energy]) == ("-", "1.0e-02")
    assert vigym[deepest] == "-"


def test_steps_tried_again_are_told_where_there_are_any(tmp_path):
    row = timed("chain", "vigym", 10.0, size=10, failures=0, retried=0)
    again = replace(row, size=100, retried=7)
    assert "retried" not in tables.growth([row])
    header, line, ours = tables.growth([row, again]).splitlines()
    assert header.endswith("| failed | retried |")
    assert ours.endswith("| 0 | 7 |")
    assert line.count("|") == header.count("|") == ours.count("|")
    table = Table(tmp_path / "rows.csv")
    table.add(again)
    assert read([table.path]) == [again]
    table.path.write_text("suite,scene,engine,failures\nchain,chain,vigym,0\n", encoding="utf-8")  # an older file
    assert read([table.path]) == [Row("chain", "chain", "vigym", failures=0)]


def test_numbers():
    assert [tables.number(x, 2) for x in (None, 0.0, 0.123, 12.3, 99.7, 1234.5)] == [
        "-",
        "0",
        "0.12",
        "12",
        "100",
        "1,234",
    ]


def test_what_else_lies_in_the_folder_is_left_alone(tmp_path, capsys):
    table = Table(tmp_path / "chain.csv")
    for row in good_rows():
        table.add(row)
    (tmp_path / "envs.csv").write_text("name,steps_per_second\nVIQuadruped-v0,1000\n", encoding="utf-8")
    assert len(write(tmp_path, print_targets=True)) == len(good_rows())
    assert "| target |" in capsys.readouterr().out


def test_names_of_machines():
    assert machine.slug("AMD EPYC 7763 64-Core @ 2.4GHz") == "amd-epyc-7763-64-core-2-4ghz"
    assert machine.slug("***") == "unknown"
    assert machine.cpu() in machine.describe()


def test_targets_measure_the_chain_from_both_heights():
    jobs = [job for job in suites.jobs("targets", False, 3) if (job.suite, job.engine) == ("chain", "vigym")]
    for drop in (GENTLE, PAPER):
        assert {10, 100, 1000} <= {job.size for job in jobs if job.parameters["drop"] == drop}


@pytest.mark.parametrize(("suite", "quick"), [("a1", True), ("a1", False), ("targets", False)])
def test_every_step_of_the_sweep_is_compared_and_timed(suite, quick):
    jobs = [job for job in suites.jobs(suite, quick, 2) if job.suite == "a1"]
    swept = {job.mode or job.engine: set(job.parameters["dts"]) for job in jobs if job.kind == "accuracy"}
    timed_in = {name: set() for name in swept if name != "reduced"}  # PyBullet has no batches
    for job in jobs:
        if job.num_envs > 1:
            timed_in[job.mode or job.engine].add(job.parameters["dt"])
    assert timed_in == {name: swept[name] for name in timed_in}
    for dt in set.union(*swept.values()):
        assert EVERY / dt == pytest.approx(round(EVERY / dt), abs=1e-9)  # heights of feet are of the same moments


@pytest.mark.parametrize("suite", ["all", "targets", *suites.SUITES])
def test_quick_is_part_of_the_full_form(suite):
    quick, full = suites.jobs(suite, True, 2), suites.jobs(suite, False, 5)
    assert 0 < len(quick) <= len(full)
    assert {job.suite for job in quick} <= {job.suite for job in full}
    assert all(job.repeats == 2 for job in quick)
    scenes = {job.scene for job in quick if job.kind in ("speed", "accuracy")}
    assert scenes <= {
        "disc",
        "chain",
        "a1",
        "hopper",
        "free-chain",
        "loops",
        "stack",
        "pinch",
        "heap",
        "cubes",
        "ready",
    }
