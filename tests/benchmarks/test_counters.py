"""The continuous check: what it counts, when it fails, and that the committed figures hold."""

import json

import numpy as np
import pytest

from vigym.benchmarks import counters
from vigym.benchmarks.compile_time import packed_share
from vigym.benchmarks.flops import Counted
from vigym.engine.lanes import LANES


def test_operations_are_counted():
    x = np.arange(1.0, 1.0 + LANES).view(Counted)
    block = np.ones((3, LANES)).view(Counted)
    Counted.start()
    y = x * x + 2.0 / x - x  # 4
    z = np.sqrt(y) * 0.5  # 2
    w = np.where(z < x, -z, x * 1.0) + 0.0  # none: comparison, selection, sign, and what the compiler folds
    assert Counted.operations == 6
    assert isinstance(w, Counted)
    block * x  # a number in each of three rows
    assert Counted.operations == 9
    (block * x, x * 0.0 + y, (x - x) + 1.0, (x - x) + 1.0)  # seen; folded; zeros are not known to be the same
    assert Counted.operations == 9 + 3
    block[0] = x  # nothing is known to be the same any more
    block * x
    assert Counted.operations == 12 + 3
    n = np.arange(1.0, 1.0 + LANES)
    np.testing.assert_allclose(z.view(np.ndarray), 0.5 * np.sqrt(n * n + 2 / n - n))


def test_packed_instructions():
    assembly = "\tvmulpd %ymm0, %ymm1, %ymm2\n\tvfmadd213pd (%rsi), %ymm1, %ymm0\n\tvaddsd %xmm0, %xmm1, %xmm2\n"
    assert packed_share(assembly + "\tvmovupd (%rdi), %ymm0\n\taddq $1, %rax\nlabel:\n\taddpd %xmm0, %xmm1\n") == 0.75
    assert packed_share("") == 0.0


def test_ten_percent_worse_fails():
    before = {"a: iterations": 4.0, "packed share": 0.99}
    good = {name: ok for name, _, _, ok in counters.compare({"a: iterations": 4.39, "packed share": 0.91}, before)}
    assert good == {"a: iterations": True, "packed share": True}
    bad = {name: ok for name, _, _, ok in counters.compare({"a: iterations": 4.41, "packed share": 0.89}, before)}
    assert bad == {"a: iterations": False, "packed share": False}
    assert counters.compare({"a: iterations": 2.0, "packed share": 1.0}, before)[0][3]
    assert not all(ok for *_, ok in counters.compare({"a: iterations": 4.0}, before))


def test_check_fails_and_updates(tmp_path, monkeypatch, capsys):
    path = tmp_path / "baseline.json"
    now = {"a: iterations": 4.123456789, "packed share": 0.99}
    monkeypatch.setattr(counters, "figures", lambda before=None: dict(now))
    assert counters.check(update=True, path=path)
    assert json.loads(path.read_text())["a: iterations"] == 4.12346
    now["a: iterations"] = 5.0
    assert not counters.check(path=path)
    assert "WORSE a: iterations" in capsys.readouterr().out


def test_a_noisy_compile_time_is_measured_again(monkeypatch):
    times = iter([2.0, 1.2, 1.0])
    monkeypatch.setattr(counters, "_compile_figures", lambda: {"compile time": next(times), "packed share": 0.9})
    assert counters.compile_figures(most=1.3) == {"compile time": 1.2, "packed share": 0.9}
    assert next(times) == 1.0


@pytest.mark.parametrize("name", list(counters.SCENES))
def test_iterations_and_flops_hold(name):
    """Committed figures in benchmarks/baseline.json; after an intended change: vigym bench check --update."""
    now = counters.scene_figures(name)
    before = json.loads(counters.BASELINE.read_text())
    for key, value in now.items():
        assert counters.worse(key, value, before[key]) <= counters.SLACK, f"{key}: {before[key]} -> {value}"


@pytest.mark.skipif(not counters.X86, reason="only instructions of x86 processors are known")
def test_packed_share_holds():
    before = json.loads(counters.BASELINE.read_text())["packed share"]
    now = counters.compile_figures(tries=1)["packed share"]
    assert counters.worse("packed share", now, before) <= counters.SLACK, f"{before} -> {now}"


@pytest.mark.timing
def test_compile_time_holds():
    before = json.loads(counters.BASELINE.read_text())["compile time"]
    now = counters.compile_figures(most=before * (1 + counters.SLACK))["compile time"]
    assert counters.worse("compile time", now, before) <= counters.SLACK, f"{before} -> {now}"
