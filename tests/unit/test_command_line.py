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


OWN = """
import numpy as np
import vigym
from gymnasium.envs.registration import register
from vigym.envs.cartpole import CartPole

register("Own-v0", "vigym.envs.vigym:RobotEnv", max_episode_steps=20, kwargs={"task": "own_poles:Own"})


class Own(CartPole):
    pass
"""


def test_the_demo_of_an_environment_of_ones_own(tmp_path, monkeypatch, capsys):
    (tmp_path / "own_poles.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    main(["demo", "own_poles:Own-v0", "--env-kwargs", "frame_skip=2", "--no-picture", "--out", "out"])
    assert "Own-v0 under random actions" in capsys.readouterr().out
    replay = vigym.Replay.load(tmp_path / "out" / "Own-v0.vigym")
    assert 1 < len(replay) <= 21


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["no-such-scene"], "neither one of hopper, .*arch"),
        (["VIHoper-v0"], "neither one of"),
        (["nowhere:Own-v0"], "cannot be imported"),
        (["CartPole-v1"], "not an environment of vigym"),
        (["quadruped", "--env-kwargs", "terain=rough"], "did you mean 'terrain'"),
        (["arch", "--env-kwargs", "stones=3"], "--env-kwargs is for environments"),
        (["VIAnt-v0", "--controller", "scripted"], "VIAnt-v0 has no scripted controller"),
    ],
)
def test_the_demo_says_what_is_wrong_with_a_name(args, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=message):
        main(["demo", *args])
