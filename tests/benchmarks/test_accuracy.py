"""The benchmark of accuracy: orders are those of the method, and docs/accuracy.md has what it measures."""

import re
from pathlib import Path

import pytest

from vigym.benchmarks import accuracy
from vigym.benchmarks.accuracy import EXACT, LOSSES, PROBLEMS, QUICK, SIZES, STEPS, Accuracy, step_for

PAGE = (Path(__file__).parents[2] / "docs" / "accuracy.md").read_text(encoding="utf-8")
# At 5 and 10 ms, errors that are not small yet, or that depend on how many reversals there were, hide their order:
# rebounds of the soft contact fall with exp(-pi h w), and the spring with dry friction has a part of second order.
COARSE = {"soft_bounce", "dry_spring"}


def rows(table: str) -> dict[str, list[str]]:
    """Cells by the first one of each row, without header and rule."""
    lines = [re.split(r"\s*\|\s*", line.strip(" |")) for line in table.strip().splitlines()]
    return {line[0]: line[1:] for line in lines[2:]}


def on_page(first: str) -> dict[str, list[str]]:
    """Rows of the table of the page whose header begins with `first`."""
    (table,) = re.findall(rf"^\| {re.escape(first)} \|.*(?:\n\|.*)+", PAGE, re.MULTILINE)
    return rows(table)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.error.__name__)
def test_orders_are_those_of_the_method_and_errors_those_of_the_page(problem):
    steps = STEPS[-3:] if problem.error.__name__ in COARSE else QUICK
    errors = [problem.error(h) for h in steps]
    order = accuracy.observed_order(errors)
    if problem.order:
        assert order == pytest.approx(problem.order, abs=0.2)
    else:
        assert max(errors) < EXACT
        assert order is None
    told = on_page("relative error")[problem.name]
    for h, error in zip(steps, errors, strict=True):
        # two digits; 1.0e-2 stands for anything from 0.95e-2 on
        assert float(told[STEPS.index(h)]) == pytest.approx(0.0 if error < EXACT else error, rel=0.055)


def test_the_command_prints_the_tables_of_the_page(capsys):
    assert Accuracy(quick=True).run() == 0
    errors, steps, losses, sizes = (rows(table) for table in capsys.readouterr().out.strip().split("\n\n"))
    assert list(errors) == list(on_page("relative error")) == [problem.name for problem in PROBLEMS]
    assert list(steps) == list(on_page("longest step to stay"))
    assert list(losses) == list(on_page("kept, of 1")) == [loss.name for loss in LOSSES]
    assert list(sizes) == list(on_page("falling rod")) == list(SIZES.values())
    for name, cells in losses.items():
        told = on_page("kept, of 1")[name][: len(QUICK)]
        assert [float(cell) for cell in told] == pytest.approx([float(cell) for cell in cells], abs=0.011)
    for cells in sizes.values():  # what a tolerance changes falls with it, alike for every size up to 1 m
        assert all(float(cell) < 1e-3 * tol for cell, tol in zip(cells, accuracy.TOLERANCES, strict=True))


def test_steps_for_an_error():
    steps = (0.02, 0.01, 0.005)
    assert step_for(1e-3, steps, (4e-3, 1e-3, 2.5e-4), 2) == pytest.approx(0.01)
    assert step_for(5e-4, steps, (4e-3, 1e-3, 2.5e-4), 2) == pytest.approx(0.01 / 2**0.5)
    assert step_for(2.5e-6, steps, (4e-3, 1e-3, 2.5e-4), 2) == pytest.approx(5e-4)
    assert step_for(8e-3, steps, (4e-3, 2e-3, 1e-3), 1) == pytest.approx(0.04)
    assert accuracy.milliseconds(0.00399, 0.02) == "3.9 ms"  # rounded down, to stay within
    assert accuracy.milliseconds(0.01, 0.02) == "10 ms"
    assert accuracy.milliseconds(0.03, 0.02) == "20 ms or more"


def test_without_scipy_it_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(accuracy, "find_spec", lambda name: None)
    assert Accuracy(quick=True).run() == 2
    assert "vigym[compare]" in capsys.readouterr().err
