"""`vigym` and `python -m vigym`."""

import sys

import pytest

import vigym
from vigym.__main__ import COMMANDS, load, main


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"vigym {vigym.__version__}\n"


@pytest.mark.parametrize("args", [[], ["--help"]])
def test_help_lists_every_command(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(args)
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_the_summary_of_its_docstring(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = COMMANDS[command][1]
    assert (load(command).__doc__ or "").splitlines()[0] == summary
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"usage: vigym {command}" in capsys.readouterr().out


def test_an_unknown_command_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["no-such-command"])
    assert stop.value.code == 2
    assert "no-such-command" in capsys.readouterr().err


def test_without_tyro_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tyro", None)
    assert main(["demo"]) == 2
    err = capsys.readouterr().err
    assert 'pip install "vigym[cli]"' in err
    assert err.count("\n") == 1
