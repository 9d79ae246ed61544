"""`vigym doctor` finds problems, and says what to do; `vigym cache clear` deletes compiled code and nothing else."""

from pathlib import Path

import pytest

from vigym.__main__ import main
from vigym.benchmarks import doctor
from vigym.engine.kernels import disk


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two pieces of compiled code, and a file of the user's."""
    chosen = tmp_path / "kernels"
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(chosen))
    for name in ("step-0a.kernel", "entry-consult-1b.kernel"):
        disk.write(name, b"code")
    (chosen / "thesis.txt").write_text("mine")
    return chosen


def test_a_machine_that_works(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "SLOW", 1e9)  # whatever else this machine does
    monkeypatch.setattr(doctor, "LARGE", 1e15)
    monkeypatch.setattr(doctor, "settings", list)
    assert main(["doctor"]) == 0
    told = capsys.readouterr().out
    assert told.endswith("everything is in order\n")
    assert "!!" not in told
    for name in ("vigym", "packages", "processor", "compiled code", "self-test", "speed"):
        assert f"ok  {name}" in told


def test_a_problem_has_advice_and_an_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    for name in ("self_test", "speed", "compiled_code"):
        monkeypatch.setattr(doctor, name, list)
    with pytest.raises(SystemExit) as stop:
        doctor.doctor()
    assert stop.value.code == 1
    assert "unset it" in capsys.readouterr().out


def test_slowness_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "SLOW", 0.0)
    assert "slow" in doctor.speed()[0].advice


@pytest.mark.skipif(not disk.POSIX, reason="owners and modes are not checked on Windows")
def test_code_that_others_can_write_is_told(folder: Path) -> None:
    assert not doctor.compiled_code()[0].advice
    folder.chmod(0o777)
    assert "can be written by others" in doctor.compiled_code()[0].advice


def test_damaged_code_is_told(folder: Path) -> None:
    (folder / "entry-consult-1b.kernel").write_bytes(b"x" * 40)
    assert "damaged" in doctor.compiled_code()[0].advice


def test_clearing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache"]) == 0
    assert "2 files of 2 functions" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert "deleted 2 files" in capsys.readouterr().out
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]
    assert main(["cache", "clear"]) == 0
