"""The files of a run: damage is found and told, the table of episodes is mended, and no fault loses a checkpoint."""

import itertools
import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("stable_baselines3")

import tiny_runs as tiny
from faults import Crash, Faults, run_with_faults
from stable_baselines3.common.monitor import ResultsWriter
from stable_baselines3.common.vec_env import VecMonitor

from vigym import InputError
from vigym.__main__ import main
from vigym.engine.durable import read_checked
from vigym.envs.controllers.learned import LearnedPolicy
from vigym.training import plain
from vigym.training.runs import Run, read_json, write_json
from vigym.training.sb3 import checkpoints, models, monitor, state

MONITOR = "0.monitor.csv"


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A run that was killed after its last checkpoint, and what becomes of it without damage."""
    folder = tiny.interrupted(tmp_path_factory.mktemp("killed"))
    whole = tmp_path_factory.mktemp("whole") / "run"
    shutil.copytree(folder, whole)
    assert main(["train", "--resume", str(whole)]) == 0
    return folder, tiny.outcome(whole)


@pytest.fixture
def folder(killed, tmp_path):
    """A copy of it."""
    return Path(shutil.copytree(killed[0], tmp_path / "run"))


def damages(path: Path):
    """Every kind of damage, as functions: bits here and there, the end missing, nothing left, zeros, more."""
    data = path.read_bytes()
    for k in range(0, len(data), max(1, len(data) // 40)):
        yield lambda k=k: tiny.flip(path, k)
    for content in (data[:-1], data[: len(data) // 2], b"", bytes(len(data)), data + b"\0"):
        yield lambda content=content: path.write_bytes(content)


def test_no_damage_of_a_checkpoint_is_silent(folder):
    """Flipped bits are noticed: 36 of 80 were not when checkpoints had no checksum."""
    before, last = checkpoints.found(folder)
    path = checkpoints.path_of(folder, last)
    data = path.read_bytes()
    count = 0
    for damage in damages(path):
        damage()
        with pytest.raises(InputError, match=f"checkpoint_{last}.npz is damaged"):
            plain.load(path)
        path.write_bytes(data)
        count += 1
    assert count >= 40
    assert plain.load(path)["callbacks"]
    tiny.flip(path)
    assert checkpoints.last(folder)[0] == before
    assert sorted(path.name for path in folder.glob("checkpoint*")) == [
        f"checkpoint_{last}.npz.damaged",
        f"checkpoint_{before}.npz",
    ]


@pytest.mark.parametrize(
    "damaged", ["last checkpoint", "description", "its copy", "best policy", "evaluations", MONITOR]
)
def test_a_damaged_file_is_told_or_made_anew(damaged, folder, killed, capsys):
    last = checkpoints.found(folder)[-1]
    path = {
        "last checkpoint": checkpoints.path_of(folder, last),
        "description": folder / "run.json",
        "its copy": folder / tiny.ENV / "run.json",
        "best policy": folder / "best_policy.npz",
        "evaluations": folder / "evaluations.npz",
        MONITOR: folder / MONITOR,
    }[damaged]
    tiny.flip(path, 3)
    capsys.readouterr()
    assert main(["train", "--resume", str(folder)]) == 0
    told = capsys.readouterr().err
    found = tiny.outcome(folder)
    if damaged in ("last checkpoint", "description", MONITOR):
        assert f"{path.name} is damaged: " in told
        assert "instead" in told or damaged == MONITOR
    assert found == killed[1]


def test_both_descriptions_damaged_is_one_error(folder):
    for path in (folder / "run.json", folder / tiny.ENV / "run.json"):
        tiny.flip(path)
    with pytest.raises(SystemExit, match=r"cannot be read: .*run.json is damaged.*; .*run.json is damaged"):
        main(["train", "--resume", str(folder)])


LACKING = object()
RUN_KEYS = [
    *(("algo",), ("seed",), ("vigym",), ("vigym", "backend"), ("vigym", "threads"), ("vigym", "eval_every")),
    *(("vigym", "eval_episodes"), ("vigym", "checkpoint_every"), ("settings", "n_timesteps"), ("settings", "n_envs")),
    *(("settings", "n_epochs"), ("settings", "gamma")),
]
CHECKPOINT_KEYS = [
    *(("model",), ("monitor",), ("monitor", "length"), ("monitor", "sha256"), ("callbacks",), ("callbacks", "spent")),
    *(("callbacks", "spent", "cpu"), ("callbacks", "evaluations"), ("callbacks", "evaluations", "history")),
    *(("callbacks", "evaluations", "best"), ("callbacks", "evaluations", "policy"), ("model", "networks")),
    *(("model", "attributes", "num_timesteps"), ("model", "env"), ("model", "normalisation"), ("model", "recent")),
    *(("model", "generators", "numpy"), ("model", "networks", "policy.optimizer", "state", 0, "exp_avg")),
]


def changed(tree, keys, value):
    """A copy of nested dictionaries with another value under these keys, or none."""
    first, *rest = keys
    new = changed(tree[first], rest, value) if rest else value
    return {key: item for key, item in tree.items() if key != first} | ({} if new is LACKING else {first: new})


@pytest.mark.parametrize("keys", RUN_KEYS, ids="-".join)
def test_descriptions_of_strangers_are_refused_by_key(keys, folder):
    """Checksums find damage, not intent: they are those of what is there."""
    told = read_json(folder / "run.json")
    optional = {"n_epochs": (LACKING, 10**30), "gamma": (LACKING, -1, 0.5, 10**30)}.get(keys[-1], ())
    for value in (LACKING, None, "x", -1, [], {"x": 1}, 0.5, float("nan"), 10**30):
        if value in optional:
            continue
        for path in (folder / "run.json", folder / tiny.ENV / "run.json"):
            write_json(path, changed(told, keys, value))
        with pytest.raises(SystemExit) as end:
            main(["train", "--resume", str(folder)])
        assert keys[-1] in str(end.value), value
        assert optional or str(folder) in str(end.value)


@pytest.mark.parametrize("keys", CHECKPOINT_KEYS, ids=lambda keys: "-".join(map(str, keys)))
def test_checkpoints_of_strangers_are_refused_by_key(keys, folder):
    before, last = (checkpoints.path_of(folder, steps) for steps in checkpoints.found(folder))
    before.unlink()
    state = plain.load(last)
    for value in (LACKING, None, {"x": 1}, *([] if keys[-1] == "history" else [[]])):
        plain.save(last, changed(state, keys, value))
        with pytest.raises(SystemExit) as end:
            main(["train", "--resume", str(folder)])
        assert last.name in str(end.value), value


def test_a_checkpoint_that_lacks_something_is_passed_over(folder, killed, capsys):
    last = checkpoints.path_of(folder, checkpoints.found(folder)[-1])
    plain.save(last, changed(plain.load(last), ("callbacks", "spent"), LACKING))
    assert main(["train", "--resume", str(folder)]) == 0
    assert f"{last}, callbacks is not what `vigym train` writes: it has no 'spent'; going on" in capsys.readouterr().err
    assert tiny.outcome(folder) == killed[1]


def test_no_damage_of_a_policy_is_silent(folder):
    path = folder / "best_policy.npz"
    data = path.read_bytes()
    for damage in damages(path):
        damage()
        with pytest.raises(SystemExit, match=r"best_policy.npz is (damaged|not a policy)"):
            main(["evaluate", tiny.ENV, "--policy", str(folder), "--episodes", "1"])
        path.write_bytes(data)


def test_a_policy_without_a_checksum_is_read_with_a_warning(folder):
    path = folder / "best_policy.npz"
    path.write_bytes(read_checked(path))
    with pytest.warns(UserWarning, match="has no checksum"):
        LearnedPolicy.load(path)


@pytest.mark.parametrize("left", [0, 1, 60, -1, -20])
def test_a_cut_table_of_episodes_is_mended_to_whole_lines(left, folder, killed, capsys):
    path = folder / MONITOR
    kept = plain.load(checkpoints.path_of(folder, checkpoints.found(folder)[-1]))["monitor"]
    data = path.read_bytes()[: kept["length"]]
    path.write_bytes(data[:left])
    monitor.restore(folder, tiny.ENV, kept)
    mended = path.read_bytes()
    assert b"\0" not in mended
    assert mended.splitlines()[1] == b"r,l,t"
    rows = mended.splitlines(keepends=True)[2:]
    assert rows == [line for line in data[:left].splitlines(keepends=True)[2:] if line.endswith(b"\n")]
    assert f"the {len(rows)} rows of {kept['lines'] - 2} episodes that are whole" in capsys.readouterr().err
    monitor.restore(folder, tiny.ENV, kept | {"length": len(mended), "sha256": monitor.digest(mended)})
    assert path.read_bytes() == mended


def test_rows_of_later_episodes_are_cut_off(folder, capsys):
    path = folder / MONITOR
    kept = plain.load(checkpoints.path_of(folder, checkpoints.found(folder)[-1]))["monitor"]
    expected = path.read_bytes()[: kept["length"]]
    path.write_bytes(expected + b"1.0,2,3.0\n4.0,5")
    monitor.restore(folder, tiny.ENV, kept)
    assert path.read_bytes() == expected
    assert not capsys.readouterr().err


def test_no_fault_while_a_checkpoint_is_written_loses_the_one_before(folder, tmp_path):
    """Every call to the system fails in turn, in every way."""
    steps, content = checkpoints.last(folder)
    model = models.build(Run.read(folder))
    state.set_state(model, content["model"])
    model.num_timesteps = steps + 1

    def prepare(there):
        shutil.copyfile(checkpoints.path_of(folder, steps), checkpoints.path_of(there, steps))
        state.wrapper(model, VecMonitor).results_writer = ResultsWriter(str(there / MONITOR))

    def check(there, outcome):
        at, found = checkpoints.last(there)
        assert at == steps + 1 if outcome.succeeded else at in (steps, steps + 1)
        assert found["model"]["networks"].keys() == content["model"]["networks"].keys()

    names = [f"checkpoint_{at}.npz" for at in (steps, steps + 1)]
    runs = run_with_faults(
        tmp_path,
        lambda there: checkpoints.save(there, model, content["callbacks"]),
        check,
        prepare=prepare,
        makes=(*names, MONITOR),
        kinds=("error", "crash"),
    )
    assert runs > 50


def attempt(out: Path, words: list[str], n: int, kind: str) -> tuple[str | None, bool]:
    """Train with a fault at the n-th call: what was told at the end (None: nothing), and whether it was reached."""
    with Faults(out, n, kind) as faults:
        try:
            main(words)
        except SystemExit as end:
            return str(end), faults.fired
        except Crash:
            return "killed", faults.fired
    return None, faults.fired


@pytest.mark.parametrize("kind", ["error", "full", "short"])
@pytest.mark.parametrize("step", [pytest.param(397, id="some"), pytest.param(7, id="many", marks=pytest.mark.slow)])
def test_whatever_fails_in_a_training_it_can_be_resumed(kind, step, killed, tmp_path):
    for n in itertools.count(step // 2, step):
        out = tmp_path / str(n)
        out.mkdir()
        told, fired = attempt(out, tiny.command(out), n, kind)
        folder = tiny.folder_in(out)
        if told is not None:
            assert any(word in told for word in ("has stopped: ", "cannot be written", "no folder can be made")), (
                n,
                told,
            )
            if not folder.exists() or not checkpoints.found(folder):
                continue
            if not Run.read(folder).is_finished:  # only the last call failed
                assert main(["train", "--resume", str(folder)]) == 0
        assert tiny.outcome(folder) == killed[1], n
        shutil.rmtree(out)
        if not fired:
            break
    assert n > 1000


def test_a_full_disk_is_one_line_and_the_run_goes_on_later(tmp_path, killed, monkeypatch):
    """Not one call but the file system itself, if this one has it: /dev/full."""
    folder = tiny.folder_in(tmp_path)
    real = plain.write_whole

    def full(path, content, **options):
        if path.name == "checkpoint_96.npz":
            with open("/dev/full", "wb", buffering=0) as file:
                file.write(b"0")
        real(path, content, **options)

    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with monkeypatch.context() as patch:
        patch.setattr(plain, "write_whole", full)
        with pytest.raises(SystemExit, match=rf"No space left on device; vigym train --resume {folder} goes on"):
            main(tiny.command(tmp_path))
    assert checkpoints.found(folder) == [32, 64]
    assert main(["train", "--resume", str(folder)]) == 0
    assert tiny.outcome(folder) == killed[1]
