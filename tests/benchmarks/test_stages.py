"""The measured stages are the step."""

import ast
import inspect
import textwrap
from collections import Counter
from typing import Any

import pytest

from vigym.benchmarks import stages
from vigym.benchmarks.flops import Counted
from vigym.engine.kernels import interior_point, step

# Functions of which an iteration is made; all they do is to call others.
MADE_OF_OTHERS = [interior_point.residual, interior_point.measure, interior_point.newton_step]
MADE_OF_OTHERS += [interior_point.factorize, interior_point.substitute, interior_point.correct, interior_point.update]


@pytest.fixture(scope="module")
def bench() -> stages.Bench:
    return stages.Bench("A1 standing")


def calls(function: Any) -> Counter:
    """Count the functions that a composed one calls in the end; those of loops are left out."""
    (source,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(source, ast.FunctionDef)
    found: Counter = Counter()
    for statement in source.body:
        if isinstance(statement, ast.If) and "loops" in ast.unparse(statement.test):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                called = eval(ast.unparse(node.func), vars(interior_point))
                found += calls(called) if called in MADE_OF_OTHERS else Counter([called])
    assert found
    return found


def test_a_newton_iteration_is_made_of_the_stages(bench):
    """Each function of a stage as often as the stage says; the others hardly cost anything."""
    parts = interior_point.residual, interior_point.measure, interior_point.newton_step
    called = sum(map(calls, parts), Counter())
    known = {function: times for functions, times in stages.STAGES.values() for function in functions if times}
    assert {function.__name__: called[function] for function in known} == {f.__name__: n for f, n in known.items()}
    costs = {function: times * bench.flops(function) for function, times in called.items()}
    others = {function.__name__: cost for function, cost in costs.items() if function not in known}
    assert sum(others.values()) < 0.01 * sum(costs.values()), others


def test_the_stages_add_up_to_a_step(bench):
    """Operations: those of a whole step, uncompiled, but for the small functions.

    The last residual finds that the step has converged: its stages are counted once more than iterations.
    """
    per_stage = {
        name: times * sum(map(bench.flops, functions)) if times else sum(map(bench.flops, functions))
        for name, (functions, times) in stages.STAGES.items()
    }
    once = sum(flops for name, flops in per_stage.items() if not stages.STAGES[name][1])
    last = sum(flops for name, flops in per_stage.items() if name.startswith("residual"))
    iteration = sum(per_stage.values()) - once
    slow = bench.sims[1]
    bench.restore(slow)
    Counted.start()
    slow.step()
    iterations = int(slow.status.iterations.max())
    assert once + iterations * iteration + last == pytest.approx(Counted.operations, rel=0.01)


def test_the_time_of_a_call_is_that_of_many_divided_by_their_number(bench, monkeypatch):
    ticks = iter([10.0, 13.0, 20.0, 21.0])  # two tries, of 3 s and of 1 s
    monkeypatch.setattr(stages, "process_time", lambda: next(ticks))
    assert bench.ns(step.begin_step, repeat=4, tries=2) == 1e9 / 4
