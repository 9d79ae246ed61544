"""Trajectories of this machine are those recorded for its class of processors, to the bit."""

import os
import subprocess
import sys

import pytest

from vigym.benchmarks import platforms

REMEDY = "after a change that changes results: python -m vigym.benchmarks.platforms --record, see CONTRIBUTING.md"


def check(names: tuple[str, ...]) -> None:
    known, name = platforms.recorded(), platforms.class_of()
    if name not in known:
        pytest.skip(f"nothing is recorded for {name}, only for {', '.join(known)}")
    if known[name]["llvm"] != platforms.llvm():
        pytest.skip(f"recorded with LLVM {known[name]['llvm']}, this is {platforms.llvm()}")
    assert platforms.hashes(names) == {case: known[name]["hashes"][case] for case in names}, REMEDY


def test_this_machine_is_like_its_class():
    check(platforms.TELLING[:2])


@pytest.mark.slow
def test_this_machine_is_like_its_class_in_all_cases():
    check(platforms.TELLING)


def test_classes_are_told_apart():
    """A generic x86-64 has no FMA, whatever this machine has."""
    if not platforms.class_of().startswith("x86-64"):
        pytest.skip("x86-64 only")
    program = "from vigym.benchmarks import platforms\nprint(platforms.class_of())"
    environment = os.environ | {"NUMBA_CPU_NAME": "generic"}
    environment.pop("NUMBA_CPU_FEATURES", None)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "x86-64 without FMA"


def test_only_fma_makes_a_difference():
    """As docs/accuracy.md says: of x86-64, all with FMA agree, and none without does."""
    known = {name: one["hashes"] for name, one in platforms.recorded().items() if name.startswith("x86-64")}
    fused = [one for name, one in known.items() if "with FMA" in name]
    assert len(known) == 3
    assert fused[0] == fused[1]
    assert not set(fused[0].values()) & set(known["x86-64 without FMA"].values())


def test_a_record_is_compared(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(platforms, "RECORD", tmp_path / "platforms.json")
    monkeypatch.setattr(platforms, "hashes", lambda: {"a": "1", "b": "2"})
    assert platforms.Platforms(record=True).run() == 0
    monkeypatch.setattr(platforms, "hashes", lambda: {"a": "1", "b": "3"})
    assert platforms.Platforms().run() == 1
    assert capsys.readouterr().out.count("DIFFERS") == 1
