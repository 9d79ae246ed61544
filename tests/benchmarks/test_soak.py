"""`vigym soak`: all parts run, failures are told, Ctrl-C ends it with a report."""

import json
from pathlib import Path

import pytest

from vigym.__main__ import main
from vigym.benchmarks.soak import command, kills, memory
from vigym.benchmarks.soak.result import Result
from vigym.envs.registration import ENVIRONMENTS

SHORT = ["soak", "--hours", "0.0005"]


def report(folder: Path) -> dict:
    assert (folder / "soak.md").read_text(encoding="utf-8").startswith("# Soak")
    return json.loads((folder / "soak.json").read_text(encoding="utf-8"))


def test_steps_and_recordings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SHORT, "--parts", "steps", "recordings", "--out", str(tmp_path)]) == 0
    found = report(tmp_path)
    assert all(found["counts"]["steps"][f"{name}: steps"] >= 16 * 50 for name in ENVIRONMENTS)
    assert all(found["counts"]["steps"][f"{name}: failed steps"] == 0 for name in ENVIRONMENTS)
    assert found["worst"]["steps"]["VIQuadruped-v0: deepest penetration, m"] < 1e-9
    assert found["worst"]["recordings"]["frames of the longest recording"] >= 1
    assert found["worst"]["memory"]["largest, MB"] > 50
    assert found["failures"] == []
    assert "0 failures" in capsys.readouterr().out


@pytest.mark.slow
def test_training_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    main(["soak", "--hours", "0.03", "--parts", "training", "--out", str(tmp_path)])
    found = report(tmp_path)
    assert found["counts"]["training"]["processes killed"] >= 2
    assert found["counts"]["training"]["processes that went on"] >= 1
    assert found["counts"]["training"]["runs that ended"] >= 1


def test_training_is_resumed_until_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed before its first checkpoint starts anew; one that ends with an error is told."""
    monkeypatch.setattr(kills, "find_spec", lambda name: name)
    answers = [
        (None, True, ""),
        (1, False, "x has no checkpoint to resume from: start"),
        (None, True, ""),
        (None, True, ""),
        (1, False, "KeyError: 'lost'"),
    ]
    given = []

    def train(arguments: list[str], after: float | None) -> tuple[int | None, bool, str]:
        given.append(arguments)
        if "--out" in arguments:
            folder = (
                Path(arguments[arguments.index("--out") + 1]) / "ppo" / f"VICartPole-v0_{len(given)}" / "VICartPole-v0"
            )
            folder.mkdir(parents=True)
            (folder / "args.yml").touch()
        return answers[len(given) - 1]

    monkeypatch.setattr(kills, "_train", train)
    result = Result(tmp_path, {})
    result.begin("training")
    kills.train(result, 0.0, seed=3)
    assert [arguments[0] for arguments in given] == ["VICartPole-v0", "--resume"] * 2 + ["--resume"]
    assert given[3][1].endswith("VICartPole-v0_3")
    assert result.counts["training"]["processes killed"] == 3
    assert result.counts["training"]["processes that went on"] == 1
    assert len(result.failures) == 1
    assert "KeyError: 'lost'" in result.failures[0]


def test_ctrl_c_ends_it_with_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(result: Result, until: float, seed: int) -> None:
        result.count("begun")
        raise KeyboardInterrupt

    monkeypatch.setitem(command.PARTS, "files", stop)
    assert main([*SHORT, "--parts", "files", "--out", str(tmp_path)]) == 0
    found = report(tmp_path)
    assert found["about"]["ended"] == "by Ctrl-C"
    assert found["counts"]["files"] == {"turns": 1, "begun": 1}


def test_failures_are_the_exit_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(command.PARTS, "files", lambda result, until, seed: result.fail(f"seed {seed}: lost"))
    with pytest.raises(SystemExit) as stop:
        main([*SHORT, "--parts", "files", "--seed", "7", "--out", str(tmp_path)])
    assert stop.value.code == 1
    assert "files: seed 7: lost" in (tmp_path / "soak.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "problem"), [(["--hours", "0"], "--hours must be"), (["--parts", "x"], "--parts")]
)
def test_bad_arguments(tmp_path: Path, arguments: list[str], problem: str) -> None:
    with pytest.raises(SystemExit, match=problem):
        main(["soak", "--out", str(tmp_path / "none"), *arguments])
    assert not (tmp_path / "none").exists()


def test_memory_that_grows_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter([100.0, 300.0, 310.0, 320.0, 500.0, 600.0])
    monkeypatch.setattr(memory, "resident", lambda: next(sizes))
    result, seen = Result(tmp_path, {}), memory.Memory()
    for _ in range(6):
        seen.look(result)
    assert result.failures == ["memory: 190 MB more than after turn 3, now 500 MB"]
    assert result.worst["memory"]["growth since turn 3, MB"] == 290.0
