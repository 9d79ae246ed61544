"""The fingerprint of states: the same code gives the same bits, and any difference is told."""

import numpy as np
import pytest

from vigym.benchmarks import fingerprint
from vigym.benchmarks.fingerprint import LOOKS, Fingerprint, cases, compare
from vigym.benchmarks.scenes import SCENES
from vigym.envs.registration import ENVIRONMENTS


def test_every_environment_scene_and_cone_has_a_case():
    names = [name for name, _ in cases()]
    assert len(set(names)) == len(names)
    for env_id in ENVIRONMENTS:
        assert sum(name.startswith(env_id) for name in names) == 2  # threads
    for cone in fingerprint.CONES:
        for scene in fingerprint.SCENES:
            assert f"scene {scene} {cone}" in names
    assert set(fingerprint.SCENES) == set(SCENES)


def test_the_same_code_gives_the_same_bits(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(fingerprint, "LOOKS", (1, 2, 5))
    before = tmp_path / "before.npz"
    assert Fingerprint(out=before, only="VIPendulum-v0 1").run() == 0
    assert Fingerprint(against=before, only="VIPendulum-v0 1").run() == 0
    told = capsys.readouterr().out
    assert told.count("equal") == 2  # states and read-outs


def test_differences_are_told():
    old = np.linspace(1.0, 2.0, 12).reshape(3, 4)
    assert compare(old, old) == "equal"
    assert compare(0.0 * old, -0.0 * old) == "equal"
    later = old.copy()
    later[2, 1] += 0.5
    assert compare(later, old) == f"DIFFERS: 0 after one step, 0.5 in {LOOKS[-1]}"
    later[2, 1] = old[2, 1] + 1e-9
    assert compare(later, old).startswith("rounding")
    assert compare(old + 1e-9, old).startswith("DIFFERS: 1e-09 after one step")
    assert compare(old[:2], old).startswith("DIFFERS in shape")
    nan = old.copy()
    nan[0, 0] = np.nan
    assert compare(nan, old).startswith("DIFFERS")


def test_a_name_that_no_case_has():
    with pytest.raises(SystemExit, match="nosuchcase"):
        Fingerprint(only="nosuchcase").run()


def test_a_difference_fails_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "LOOKS", (1, 2))
    before = tmp_path / "before.npz"
    Fingerprint(out=before, only="VIPendulum-v0 1").run()
    changed = {name: values + 1e-6 for name, values in np.load(before).items()}
    np.savez(before, **changed)
    assert Fingerprint(against=before, only="VIPendulum-v0 1").run() == 2
